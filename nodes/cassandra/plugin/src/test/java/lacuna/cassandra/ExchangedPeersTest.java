package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;
import org.junit.Assume;
import org.junit.Test;

/** Whose filters are fetched: {@code 'peers': 'replicas'} leaves out nodes that share no range of tokens. */
public class ExchangedPeersTest extends WithFilters
{
    private static final int KEYS = 30;

    private static String sharing(int copies)
    {
        String t = unguarded(copies);
        ddl(TakingPart.begin(t, "mode=safe peers=replicas"));
        return t;
    }

    private static int filters(Session node, String t)
    {
        return node.execute("SELECT node FROM lacuna.filters WHERE keyspace_name = '" + t.substring(0, 2) + "' AND table_name = '"
                            + t.substring(3) + "'").all().size();
    }

    private static boolean isSkipped(int node, String t, int p)
    {
        return isCounted(coordinators.get(node), "reads_skipped", t, p);
    }

    /** One copy of each partition: no two nodes share a range, so each knows its own filter only. */
    @Test
    public void nodesThatShareNothingKnowNothingOfEachOther()
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
        String t = sharing(1);
        String control = guarded(1, "safe");
        int[] absent = IntStream.range(1_000, 1_030).toArray();
        for (int p : absent)
            Cluster.until("the holder knows what it does not hold", () -> isSkipped(holder(t, p), t, p));
        for (int p : absent)
            Cluster.until("others know the filter where all are wanted", () -> isSkipped((holder(control, p) + 1) % NODES, control, p));
        for (int p : absent)
            assertTrue("has a filter that holds " + p, !isSkipped((holder(t, p) + 1) % NODES, t, p));
        for (Session node : coordinators)
        {
            Cluster.until("all filters are there where they are wanted", () -> filters(node, control) == NODES);
            assertEquals(1, filters(node, t));
        }
        everythingIsFound(t);
    }

    /** Two copies on three nodes: each shares ranges with both others. */
    @Test
    public void nodesThatShareRangesAreAsked() throws Exception
    {
        String t = sharing(2);
        becomesKnown("reads_skipped", t);
        for (Session node : coordinators)
            Cluster.until("all filters are there", () -> filters(node, t) == NODES);
        everythingIsFound(t);
    }

    private static void everythingIsFound(String t)
    {
        for (int p = 0; p < KEYS; p++)
        {
            insert(coordinators.get(p % NODES), t, p);
            for (Session node : coordinators)
                assertEquals("key " + p, 1, at(node, "SELECT * FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL));
        }
    }

    @Test(expected = InvalidConfigurationInQueryException.class)
    public void unknownPeersAreRefused()
    {
        ddl(TakingPart.begin(unguarded(1), "peers=some"));
    }
}
