package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.Stream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** Builds of filters keep to what Cassandra allows compactions: how fast they read, and how many run at once. */
public class ExchangedBuildsTest extends WithFilters
{
    private static final String THROUGHPUT = "CompactionThroughputMbPerSec";
    private static final int MEBIBYTE = 1 << 20;
    private static final int ROWS = 6_000;
    /** What the limiter has saved up before a build: a second of its rate; and another one for what it asks last. */
    private static final double SAVED_SECONDS = 2;
    private static final int MAX_BUILDERS = 4;

    private final Node node = cluster.nodes.get(0);
    private final Session own = coordinators.get(0);

    /** Some six mebibytes, at one in a second. */
    @Test
    public void aBuildReadsNoFasterThanCompactionsMay()
    {
        String keyspace = "x" + Math.min(3, NODES);
        String t = keyspace + ".paced";
        ddl("CREATE TABLE " + t + " (p int, c int, body text, PRIMARY KEY (p, c)) WITH compression = {'enabled': 'false'}"
            + " AND compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}");
        String body = "x".repeat(1_000);
        each(0, ROWS, ConsistencyLevel.ALL, i -> "INSERT INTO " + t + " (p, c, body) VALUES (" + i % 50 + ", " + i + ", '" + body + "')");
        cluster.flush(keyspace);
        double mebibytes = (double) Upkeep.bytesOnDisk(node, keyspace, "paced") / MEBIBYTE;
        Object before = node.jmx.attribute(Jmx.STORAGE_SERVICE, THROUGHPUT);
        try
        {
            node.jmx.set(Jmx.STORAGE_SERVICE, THROUGHPUT, 1);
            long start = System.nanoTime();
            ddl(TakingPart.begin(t, "mode=safe bucket=100"));
            Cluster.until("it is built", () -> isBuilt(t));
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.printf("builds: %.1f MiB in %.1f s, at 1 MiB a second%n", mebibytes, seconds);
            assertTrue(mebibytes + " MiB in " + seconds + " s", mebibytes > 5 && seconds > mebibytes - SAVED_SECONDS);
        }
        finally
        {
            node.jmx.set(Jmx.STORAGE_SERVICE, THROUGHPUT, before);
        }
    }

    @Test
    public void noMoreTablesAreBuiltAtOnceThanThereMayBeCompactions() throws Exception
    {
        int limit = Math.min(MAX_BUILDERS, (Integer) node.jmx.attribute(Jmx.STORAGE_SERVICE, "ConcurrentCompactors"));
        assertTrue("side by side", limit > 1);
        List<String> tables = Stream.generate(() -> unguarded(1)).limit(limit + 1).toList();
        try
        {
            set(own, Flaw.BUILDS_DO_NOT_BEGIN, true);
            tables.forEach(t -> index(t, "safe"));
            Cluster.until("they stand still", () -> standing(own, Flaw.BUILDS_DO_NOT_BEGIN) == limit);
            Thread.sleep(1_000);
            assertEquals("one waits", limit, standing(own, Flaw.BUILDS_DO_NOT_BEGIN));
            assertEquals(0, tables.stream().filter(this::isBuilt).count());
        }
        finally
        {
            set(own, Flaw.BUILDS_DO_NOT_BEGIN, false);
        }
        for (String t : tables)
            becomesKnown("reads_skipped", t);
    }

    /** It stands still between two SSTables; the other table has none. */
    @Test
    public void aTableIsBuiltWhileTheBuildOfAnotherStandsStill() throws Exception
    {
        String slow = unguarded(1);
        String other = unguarded(1);
        for (int c = 0; c < 2; c++)
        {
            int row = c;
            each(0, PRESENT, ConsistencyLevel.ALL, p -> "INSERT INTO " + slow + " (p, c, v) VALUES (" + p + ", " + row + ", 1)");
            cluster.flush("x1");
        }
        try
        {
            set(own, Flaw.BUILDS_DO_NOT_GO_ON, true);
            index(slow, "safe");
            Cluster.until("it stands still", () -> isAwaited(own, Flaw.BUILDS_DO_NOT_GO_ON));
            index(other, "safe");
            Cluster.until("the other is built", () -> isBuilt(other));
            assertFalse(isBuilt(slow));
        }
        finally
        {
            set(own, Flaw.BUILDS_DO_NOT_GO_ON, false);
        }
        for (String t : List.of(slow, other))
            becomesKnown("reads_skipped", t);
    }

    /** Whether other nodes may rely on the node's filter of the table. */
    private boolean isBuilt(String t)
    {
        String[] names = t.split("\\.");
        Row row = own.execute("SELECT state FROM lacuna.tables WHERE keyspace_name = ? AND table_name = ?", names[0], names[1]).one();
        return row != null && !row.getString(0).contains("its own filter is being filled");
    }
}
