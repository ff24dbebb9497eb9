package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import org.junit.Assume;
import org.junit.Test;

/**
 * Two nodes here, one there: filters go between nodes of one datacentre, of keyspaces that it holds, and only levels that stay in
 * it are answered. {@code -Dlacuna.checks=20000}, in the long tests only, since it has a cluster of its own.
 */
public class DatacentresTest
{
    private static final int KEYS = 40;
    private static final List<ConsistencyLevel> LOCAL = List.of(ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.LOCAL_QUORUM);

    private final List<Session> sessions = new ArrayList<>();
    private Cluster cluster;

    @Test
    public void filtersStayInTheirDatacentre() throws Exception
    {
        Assume.assumeTrue("a long test", Integer.getInteger("lacuna.checks", 0) > 0);
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("datacentres-" + System.nanoTime());
        try (Cluster started = new Cluster(work, List.of("here", "here", "there")).start(true, OnOneCluster.PROPERTIES))
        {
            cluster = started;
            cluster.nodes.forEach(node -> sessions.add(cluster.session(node)));
            table("both", "'here': 1, 'there': 1");
            table("away", "'there': 1");
            localLevelsAreAnsweredInBoth();
            aKeyspaceIsNotPublishedWhereItIsNotHeld();
            aKeyspaceThatComesIsPublished();
        }
    }

    private void table(String keyspace, String replicas)
    {
        Session ddl = sessions.get(0);
        cluster.schema(ddl, "CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'NetworkTopologyStrategy', " + replicas + "}");
        cluster.schema(ddl, "CREATE TABLE " + keyspace + ".t (p int PRIMARY KEY, v int)");
        cluster.schema(ddl, TakingPart.begin(keyspace + ".t", "mode=safe"));
    }

    private void localLevelsAreAnsweredInBoth()
    {
        for (int node = 0; node < 3; node++)
            for (ConsistencyLevel level : LOCAL)
                becomesSkipped(node, "both.t", level);
        for (int p = 0; p < KEYS; p++)
        {
            insert(p % 3, "both.t", p, ConsistencyLevel.ALL);
            for (int node = 0; node < 3; node++)
                for (ConsistencyLevel level : LOCAL)
                    assertEquals(level + ", key " + p, 1, rows(node, "both.t", p, level));
        }
        for (int node = 0; node < 3; node++)
        {
            long before = skipped(node);
            for (ConsistencyLevel level : List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL))
                assertEquals(0, rows(node, "both.t", KEYS, level));
            assertEquals("the other datacentre's replica is not known", before, skipped(node));
        }
    }

    private void aKeyspaceIsNotPublishedWhereItIsNotHeld()
    {
        Cluster.until("the node there shows its filter", () -> filters(2, "away").equals(Set.of("own")));
        assertEquals(Set.of(), filters(0, "away"));
        assertEquals(Set.of(), filters(1, "away"));
        for (int p = 0; p < KEYS; p++)
        {
            insert(p % 3, "away.t", p, ConsistencyLevel.ONE);
            for (int node = 0; node < 3; node++)
                assertEquals("key " + p, 1, rows(node, "away.t", p, ConsistencyLevel.ONE));
        }
        becomesSkipped(2, "away.t", ConsistencyLevel.LOCAL_ONE);
    }

    /** With what is written from then on; what was there before comes by a rebuild, in stock too. */
    private void aKeyspaceThatComesIsPublished()
    {
        cluster.schema(sessions.get(0), "ALTER KEYSPACE away WITH replication = {'class': 'NetworkTopologyStrategy', 'here': 2, 'there': 1}");
        for (int node = 0; node < 2; node++)
            for (ConsistencyLevel level : LOCAL)
                becomesSkipped(node, "away.t", level);
        assertEquals(2, filters(0, "away").size());
        for (int p = KEYS; p < 2 * KEYS; p++)
        {
            insert(p % 3, "away.t", p, ConsistencyLevel.ALL);
            for (int node = 0; node < 3; node++)
                for (ConsistencyLevel level : LOCAL)
                    assertEquals(level + ", key " + p, 1, rows(node, "away.t", p, level));
        }
    }

    /** Whose filters of a keyspace's table a node has. */
    private Set<String> filters(int node, String keyspace)
    {
        return sessions.get(node).execute("SELECT node FROM lacuna.filters WHERE keyspace_name = '" + keyspace + "'").all().stream()
                       .map(row -> row.getString(0)).collect(Collectors.toSet());
    }

    private void becomesSkipped(int node, String table, ConsistencyLevel level)
    {
        int[] absent = { 1_000_000 };
        Cluster.until(table + " is known to node " + node, () ->
        {
            long before = skipped(node);
            assertEquals(0, rows(node, table, absent[0]++, level));
            assertTrue("never skipped", absent[0] < 1_010_000);
            return skipped(node) > before;
        });
    }

    private long skipped(int node)
    {
        return sessions.get(node).execute("SELECT value FROM lacuna.counters WHERE name = 'reads_skipped'").one().getLong(0);
    }

    private void insert(int through, String table, int p, ConsistencyLevel level)
    {
        sessions.get(through).execute(new SimpleStatement("INSERT INTO " + table + " (p, v) VALUES (" + p + ", 1)").setConsistencyLevel(level));
    }

    private int rows(int through, String table, int p, ConsistencyLevel level)
    {
        return sessions.get(through).execute(new SimpleStatement("SELECT * FROM " + table + " WHERE p = " + p).setConsistencyLevel(level))
                       .all().size();
    }
}
