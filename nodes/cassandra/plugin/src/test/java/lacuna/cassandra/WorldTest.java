package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

import lacuna.cassandra.Faults.Kind;

/**
 * The history of {@link HistoryFaultsTest} in a cluster as operators have it: 16 tokens a node, G1, TLS between nodes, hints, repairs under
 * load, and many nodes with small heaps.
 *
 * <p>{@code -Dlacuna.world=12 -Dlacuna.checks=20000}, in the long tests only: twelve nodes, each with {@code -Dlacuna.heap=384} megabytes. On a
 * machine with 24 GB they are to take no more than half of it.
 */
public class WorldTest
{
    private static final int NODES = Integer.getInteger("lacuna.world", 0);
    private static final int HEAP = Integer.getInteger("lacuna.heap", 384);
    private static final int CHECKS = Math.max(500, Integer.getInteger("lacuna.checks", 0));
    private static final int TOKENS = 16;
    /** The longest lease: two processors wake twelve nodes late. */
    private static final String[] PROPERTIES = { "-Dlacuna.lease_millis=5000", Node.FLAWED, "-Dlacuna.test.damage_every=40",
                                                 "-Dcassandra.migration_delay_ms=1000", "-Dlacuna.water_mark_rows=2" };
    private static final long CALM_MILLIS = 8_000;
    private static final long DAY_SECONDS = 86_400;

    private final long seed = Long.getLong("lacuna.seed", 8);

    @Test
    public void everyAnswerIsThatOfAModelInAClusterOfOperators() throws Exception
    {
        Assume.assumeTrue("a long test", NODES >= 3);
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("world-" + System.nanoTime());
        try (Cluster cluster = new Cluster(work, NODES, Setup.ofOperators(HEAP)).start(true, PROPERTIES))
        {
            List<Session> sessions = cluster.nodes.stream().map(cluster::session).toList();
            ClusterUnderTest place = new ClusterUnderTest(cluster, sessions, PROPERTIES);
            for (int node = 0; node < NODES; node++)
                isOfOperators(place.node(node), place.session(node));
            Faults faults = new Faults(place, List.of(Kind.values()), Flaw.asked(), true, new Random(seed));
            HistoryUnderFaults history = new HistoryUnderFaults(place, faults, "world", seed);
            history.prepare();
            history.run(CHECKS, DAY_SECONDS, CALM_MILLIS);
            System.out.printf("world: %d nodes with heaps of %d MB take %d MB%n", NODES, HEAP, cluster.nodes.stream().mapToLong(Node::residentMegabytes).sum());
            assertEquals("without the comment: " + history.wrongInStock(), "[]", history.wrong().toString());
            assertEquals("the store errs, or the model", "[]", history.wrongInStock().toString());
            assertEquals("the test breaks", "[]", history.broken().toString());
            long skipped = faults.counted("reads_skipped");
            assertTrue("only " + skipped + " of " + history.checks() + " were skipped, seed " + seed, skipped * 100 >= history.checks());
            for (Session session : sessions)
                session.execute("SELECT active, reason FROM lacuna.switches").forEach(row -> assertTrue(row.toString(), row.getBool(0)));
        }
    }

    private static void isOfOperators(Node node, Session session) throws IOException
    {
        assertEquals(TOKENS, session.execute("SELECT tokens FROM system.local").one().getSet(0, String.class).size());
        assertTrue(node.jmx.has("java.lang:type=GarbageCollector,name=G1 Young Generation"));
        assertTrue(node.log(), node.log().contains("encryption = encrypted("));
        assertFalse(node.log(), node.log().contains("encryption = unencrypted"));
    }
}
