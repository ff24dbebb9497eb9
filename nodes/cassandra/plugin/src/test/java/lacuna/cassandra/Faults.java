package lacuna.cassandra;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What goes wrong in a cluster under load, one after the other, and what operators do to it meanwhile. Any node is stopped, and any but
 * the first is killed.
 */
final class Faults
{
    enum Kind
    {
        /** A node is stopped for a while, within its lease or beyond. */
        STOP,
        /** A node writes its memtables. */
        FLUSH,
        /** A node is killed, and comes back after the others have missed it. */
        KILL,
        /** A node merges its SSTables. */
        COMPACT,
        /** A node is killed and comes back at once. */
        RESTART,
        /** Replicas are compared, and what one of them lacks is streamed. */
        REPAIR
    }

    private static final int MIN_STOP_MILLIS = 500;
    private static final int MAX_STOP_MILLIS = 6_000;
    /** How long others know that a node is gone, and keep hints for it. */
    private static final long MISSED_MILLIS = 4_000;
    private static final List<String> COUNTERS =
        List.of("reads_skipped", "reads_narrowed", "partitions_left_out", "reads_repeated", "reads_answered", "sstables_loaded");

    private final ClusterUnderTest place;
    private final List<Kind> kinds;
    private final List<Flaw> flaws;
    private final boolean keepsHints;
    private final Random random;
    /** Numbers of nodes. */
    private final Set<Integer> down = ConcurrentHashMap.newKeySet();
    private final int[] happened = new int[Kind.values().length];
    /** Of all nodes in all of their lives since the start. */
    private final long[] counted = new long[COUNTERS.size()];
    private List<String> tables = List.of();
    private List<String> repaired = List.of();
    private volatile String now = "before the first fault";
    private int next;

    /** Of these kinds in turn, where nodes have these flaws, and keep hints or not. */
    Faults(ClusterUnderTest place, List<Kind> kinds, List<Flaw> flaws, boolean keepsHints, Random random)
    {
        this.place = place;
        this.kinds = kinds;
        this.flaws = flaws;
        this.keepsHints = keepsHints;
        this.random = random;
    }

    /** In a cluster with these tables, of which some may be repaired. */
    void begin(List<String> all, List<String> ofSeveralReplicas)
    {
        tables = all;
        repaired = ofSeveralReplicas;
        for (int node = 0; node < place.size(); node++)
        {
            count(node, -1);
            setUp(node);
        }
    }

    /** Nodes are as they were, but for what they have written. */
    void end()
    {
        for (int node = 0; node < place.size(); node++)
        {
            count(node, 1);
            haveFlaws(node, false);
            Upkeep.keepHints(place.node(node), false);
        }
    }

    private void setUp(int node)
    {
        haveFlaws(node, true);
        Upkeep.keepHints(place.node(node), keepsHints);
    }

    private void haveFlaws(int node, boolean on)
    {
        flaws.forEach(flaw -> ClusterUnderTest.set(place.session(node), flaw, on));
    }

    /** Each life of a node begins with zeros. */
    private void count(int node, int sign)
    {
        for (int i = 0; i < counted.length; i++)
            counted[i] += sign * Twins.counter(place.session(node), COUNTERS.get(i));
    }

    /** The sum of a counter over all nodes and lives, once all is over. */
    long counted(String counter)
    {
        return counted[COUNTERS.indexOf(counter)];
    }

    boolean haveAllHappened()
    {
        return next >= kinds.size();
    }

    /** What happens now, or has happened last. */
    String now()
    {
        return now;
    }

    /** The number of a node that is up. */
    int anyNode(Random choice)
    {
        int node = choice.nextInt(place.size());
        while (down.contains(node))
            node = choice.nextInt(place.size());
        return node;
    }

    /** The next one; returns when it is over. */
    void next() throws Exception
    {
        if (kinds.isEmpty())
            return;
        Kind kind = kinds.get(next++ % kinds.size());
        boolean isKill = kind == Kind.KILL || kind == Kind.RESTART;
        int victim = isKill ? 1 + random.nextInt(place.size() - 1) : random.nextInt(place.size());
        now = kind + " of node " + (victim + 1);
        switch (kind)
        {
            case STOP -> place.node(victim).pause(MIN_STOP_MILLIS + random.nextInt(MAX_STOP_MILLIS - MIN_STOP_MILLIS));
            case FLUSH -> flush(place.node(victim));
            case COMPACT -> keyspaces().forEach(place.node(victim)::compact);
            case REPAIR -> repair(place.node(victim), repaired.get(random.nextInt(repaired.size())));
            default -> kill(victim, kind == Kind.KILL);
        }
        happened[kind.ordinal()]++;
        now = "after " + now;
    }

    private void flush(Node node)
    {
        keyspaces().forEach(node::flush);
    }

    private Stream<String> keyspaces()
    {
        return tables.stream().map(table -> table.substring(0, table.indexOf('.'))).distinct();
    }

    private static void repair(Node node, String table)
    {
        int dot = table.indexOf('.');
        Upkeep.repair(node, table.substring(0, dot), table.substring(dot + 1));
    }

    private void kill(int victim, boolean isMissed) throws Exception
    {
        Node node = place.node(victim);
        count(victim, 1);
        down.add(victim);
        node.kill();
        if (isMissed)
        {
            Cluster.until("its end is known", () -> others(victim).allMatch(other -> other.liveNodes() == place.size() - 1));
            Thread.sleep(MISSED_MILLIS);
            // What it has missed is in SSTables of some of the others.
            others(victim).skip(random.nextInt(2)).forEach(this::flush);
        }
        node.start(true, place.properties());
        place.cluster().awaitAll();
        ClusterUnderTest.answersAgain(place.session(victim));
        setUp(victim);
        down.remove(victim);
    }

    private Stream<Node> others(int victim)
    {
        return IntStream.range(0, place.size()).filter(node -> node != victim).mapToObj(place::node);
    }

    @Override
    public String toString()
    {
        String all = Arrays.stream(Kind.values()).map(kind -> kind + " " + happened[kind.ordinal()]).collect(Collectors.joining(", "));
        return all + "; of all nodes in all lives "
               + IntStream.range(0, counted.length).mapToObj(i -> COUNTERS.get(i) + " " + counted[i]).collect(Collectors.joining(", "));
    }
}
