package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

/**
 * Mode safe: rows come to a node that missed them by hints, by the repair of a read, or by streams. From then on no node denies
 * them, and until then the answers are those of tables without the comment. {@code -Dlacuna.checks=20000}, in the long tests only.
 */
public class ExchangedMissedTest extends WithFilters
{
    private static final String CREATE = "CREATE TABLE %s (p int PRIMARY KEY, v int)";
    private static final String INSERT = "INSERT INTO %%s (p, v) VALUES (%d, 1)";
    private static final String READ = "SELECT * FROM %%s WHERE p = %d";
    private static final List<ConsistencyLevel> LEVELS =
        List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL);
    /** The node that misses rows. */
    private static final int LAST = NODES - 1;
    private static final int DEAD = 5;

    private final List<Client> clients = coordinators.stream().map(Client::new).collect(Collectors.toList());
    private final int[] keys = IntStream.range(0, PRESENT).toArray();

    /** Stops and starts a node once, hence one test for all ways. */
    @Test
    public void missedRowsAreSeenOnceTheyCame() throws Exception
    {
        Assume.assumeTrue("a long test", Integer.getInteger("lacuna.checks", 0) > 0 && NODES == 3);
        Pair alone = pair("x1.alone");
        Pair hinted = pair("x3.hinted");
        Pair mended = pair("x3.mended");
        Pair streamed = pair("x3.streamed");
        int[] lasts = IntStream.iterate(0, p -> p + 1).filter(p -> holder(alone.guarded(), p) == LAST).limit(PRESENT).toArray();
        for (int i = 0; i < DEAD; i++)
            dies(alone, lasts[i]);

        cluster.nodes.get(LAST).kill();
        Cluster.until("its end is known", () -> others().allMatch(node -> node.liveNodes() == LAST));
        others().forEach(node -> Upkeep.keepHints(node, true));
        write(hinted, keys, ConsistencyLevel.QUORUM);
        write(alone, lasts, ConsistencyLevel.ANY);
        others().forEach(node -> Upkeep.keepHints(node, false));
        write(mended, keys, ConsistencyLevel.QUORUM);
        write(streamed, keys, ConsistencyLevel.QUORUM);
        for (Pair pair : List.of(hinted, mended, streamed))
            areAlike(clients.subList(0, LAST), pair, keys);
        areAlike(clients.subList(0, LAST), alone, lasts);

        others().forEach(node -> Upkeep.dispatchHints(node, false));
        cluster.nodes.get(LAST).start(true, PROPERTIES);
        cluster.awaitAll();
        answersAgain(coordinators.get(LAST));
        for (int p : lasts)
            becomesSkipped(alone.guarded(), p);
        othersDeliverHints();
        areThere(hinted, keys);
        areThere(alone, lasts);
        comesByReads(mended);
        comesByStreams(streamed);
    }

    private static Pair pair(String name) throws InterruptedException
    {
        Pair pair = Pair.create(cluster, session, name, CREATE, "mode=safe learn_every=1");
        becomesKnown("reads_skipped", pair.guarded());
        return pair;
    }

    private static Stream<Node> others()
    {
        return cluster.nodes.subList(0, LAST).stream();
    }

    /** A partition of the past: what comes has to end its death. */
    private void dies(Pair pair, int p) throws InterruptedException
    {
        pair.alike(clients.get(0), String.format(INSERT, p), ConsistencyLevel.ALL);
        pair.alike(clients.get(0), String.format("DELETE FROM %%s WHERE p = %d", p), ConsistencyLevel.ALL);
        becomesSkipped(pair.guarded(), p);
    }

    /** Through the nodes that are there. */
    private void write(Pair pair, int[] keys, ConsistencyLevel level)
    {
        for (int i = 0; i < keys.length; i++)
        {
            Answer answer = pair.alike(clients.get(i % LAST), String.format(INSERT, keys[i]), level);
            assertTrue(answer.toString(), !answer.isError());
        }
    }

    /** Rows, no rows, or the refusal, whichever it is. */
    private void areAlike(List<Client> through, Pair pair, int[] keys)
    {
        for (Client client : through)
            for (ConsistencyLevel level : LEVELS)
                for (int p : keys)
                {
                    pair.alike(client, String.format(READ, p), level);
                    pair.alike(client, String.format(READ, 1_000_000 + p), level);
                }
    }

    private void areThere(Pair pair, int[] keys)
    {
        for (Client client : clients)
            for (ConsistencyLevel level : LEVELS)
                for (int p : keys)
                    assertEquals(pair + " " + p, 1, pair.alike(client, String.format(READ, p), level).rows().size());
    }

    /** Returns when the node has said of every hint that it is written. */
    private static void othersDeliverHints()
    {
        others().forEach(node -> Upkeep.dispatchHints(node, true));
        Cluster.until("hints are delivered",
                      () -> others().allMatch(node -> Upkeep.hintsDelivered(node) >= Upkeep.hintsKept(node)));
    }

    private void comesByReads(Pair pair)
    {
        assertEquals("it missed all", 0, ownKeys(pair));
        for (int p : keys)
            assertEquals(1, pair.alike(clients.get(p % NODES), String.format(READ, p), ConsistencyLevel.ALL).rows().size());
        assertEquals(PRESENT, ownKeys(pair));
        areThere(pair, keys);
    }

    private void comesByStreams(Pair pair)
    {
        assertEquals("it missed all", 0, ownKeys(pair));
        for (String table : new String[] { pair.name() + "_stock", pair.name() })
            Upkeep.repair(cluster.nodes.get(0), pair.keyspace(), table);
        assertEquals(PRESENT, ownKeys(pair));
        areThere(pair, keys);
    }

    /** In the filter of the node that missed rows. */
    private static long ownKeys(Pair pair)
    {
        Session through = coordinators.get(LAST);
        return through.execute("SELECT keys FROM lacuna.filters WHERE keyspace_name = ? AND table_name = ? AND node = 'own'",
                               pair.keyspace(), pair.name()).one().getLong(0);
    }
}
