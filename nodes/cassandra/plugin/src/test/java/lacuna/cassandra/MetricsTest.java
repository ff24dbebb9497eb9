package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** What an operator sees without asking the plug-in's own tables: the log, and Cassandra's metrics. */
public class MetricsTest extends WithFilters
{
    private static final String OURS = "org.apache.cassandra.metrics:type=Lacuna,name=";

    private static long metric(String bean, String attribute)
    {
        return ((Number) cluster.nodes.get(0).jmx.attribute(bean, attribute)).longValue();
    }

    @Test
    public void skippedReadsAreInCassandrasMetrics() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        String table = "org.apache.cassandra.metrics:type=Table,keyspace=" + t.replace(".", ",scope=") + ",name=CoordinatorReadLatency";
        long skipped = metric(OURS + "ReadsSkipped", "Value");
        long measured = metric(OURS + "SkippedReadLatency", "Count");
        long reads = metric(table, "Count");
        for (int p = 500; p < 600; p++)
            assertEquals(0, read(coordinators.get(0), t, p));
        assertTrue(metric(OURS + "ReadsSkipped", "Value") > skipped + 50);
        assertTrue(metric(OURS + "SkippedReadLatency", "Count") > measured + 50);
        assertEquals("every read counts once", reads + 100, metric(table, "Count"));
        assertEquals(1, metric(OURS + "Active", "Value"));
        assertEquals(1, metric(OURS + "ExchangeActive", "Value"));
    }

    @Test
    public void gaugesShowFiltersAndLeases() throws Exception
    {
        String t = guarded(NODES, "safe");
        for (int p = 0; p < PRESENT; p++)
            insert(coordinators.get(0), t, p);
        becomesKnown("reads_skipped", t);
        assertTrue(metric(OURS + "OwnFilterBytes", "Value") > 0);
        for (String name : new String[] { "PeersAsked", "PeersWithLease", "LeaseHolders" })
            Cluster.until(name, () -> metric(OURS + name, "Value") == NODES - 1);
        assertEquals("copies of other nodes", NODES > 1, metric(OURS + "CopyBytes", "Value") > 0);
        for (String name : new String[] { "TablesUnfilled", "BuildsWaiting", "AcknowledgementsWaiting", "ProofsWaiting" })
            Cluster.until(name, () -> metric(OURS + name, "Value") == 0);
        set(coordinators.get(0), Flaw.BUILDS_DO_NOT_BEGIN, true);
        index(unguarded(1), "safe");
        Cluster.until("a table waits for its build", () -> metric(OURS + "TablesUnfilled", "Value") == 1 && metric(OURS + "BuildsWaiting", "Value") >= 1);
        set(coordinators.get(0), Flaw.BUILDS_DO_NOT_BEGIN, false);
        Cluster.until("it is built", () -> metric(OURS + "TablesUnfilled", "Value") == 0);
    }

    /** An empty slice of a live partition says nothing about the filter of partitions. */
    @Test
    public void theMeasuredRateIsOfWholePartitions() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        Session through = coordinators.get(0);
        insert(through, t, 1);
        for (int c = 100; c < 150; c++)
            assertEquals(0, at(through, "SELECT * FROM " + t + " WHERE p = 1 AND c = " + c, ConsistencyLevel.ONE));
        String[] names = t.split("\\.");
        Row own = through.execute("SELECT * FROM lacuna.filters WHERE keyspace_name = ? AND table_name = ? AND node = 'own'", names[0], names[1]).one();
        assertTrue(own.toString(), own.getLong("skipped") > 0 && own.getDouble("measured_rate") < 0.25);
    }

    @Test
    public void theLogNamesVersionTablesAndModes() throws IOException
    {
        String t = guarded(1, "eventual");
        String log = cluster.nodes.get(0).log();
        assertTrue(log.contains("Lacuna 0.1.0 (native library " + Native.VERSION + "): answers from memory active"));
        assertTrue(log.contains("Lacuna: table " + t + " takes part in mode eventual, options {back_off=1, learn_every=1, mode=eventual}"));
    }
}
