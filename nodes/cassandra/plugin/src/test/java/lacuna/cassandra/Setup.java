package lacuna.cassandra;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * How all nodes of a cluster are set up.
 *
 * @param tokenCount   of a node; a single one is chosen so that nodes hold equal shares
 * @param collector    the option of the JVM that names its collector of garbage
 * @param hasTls       whether nodes speak to each other by TLS alone
 * @param setupSeconds until the first node makes the default user, for which it tries again as often while a node is down
 */
record Setup(int tokenCount, String collector, int heapMegabytes, boolean keepsHints, boolean hasTls, int setupSeconds)
{
    /** Quick to start: one token, the smallest collector, no hints. */
    static final Setup OF_TESTS = new Setup(1, "-XX:+UseSerialGC", 512, false, false, 0);
    /** The same with Cassandra's own hints and user. */
    static final Setup OF_TRIALS = new Setup(1, "-XX:+UseSerialGC", 512, true, false, 10);

    /** As operators have it: 16 tokens a node, G1, hints, TLS between nodes; with heaps of this size. */
    static Setup ofOperators(int heapMegabytes)
    {
        return new Setup(16, "-XX:+UseG1GC", heapMegabytes, true, true, 0);
    }

    /** What the configuration says of tokens, with this one if a node has only one. */
    String tokens(long token)
    {
        return "num_tokens: " + tokenCount + (tokenCount == 1 ? "\ninitial_token: '" + token + "'" : "");
    }

    /** For the configuration of nodes whose cluster has this folder. */
    Map<String, String> settings(Path folder) throws IOException
    {
        return Map.of("hints", Boolean.toString(keepsHints), "encryption", hasTls ? Tls.yaml(folder) : "", "collector", collector,
                      "heap", Integer.toString(heapMegabytes), "setup_delay", Integer.toString(1_000 * setupSeconds));
    }
}
