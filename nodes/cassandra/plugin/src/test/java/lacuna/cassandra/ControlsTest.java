package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;
import com.datastax.driver.core.exceptions.InvalidQueryException;
import org.junit.Assume;
import org.junit.Test;

/** How the plug-in is looked at, switched off, and got rid of. */
public class ControlsTest extends OnOneCluster
{
    @Test
    public void killSwitchStopsAnswersAtOnce() throws Exception
    {
        String t = deadPartition();
        switchAll(false);
        try
        {
            assertFalse(isAnswered(one(t)));
            all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5)");
            flush();
        }
        finally
        {
            switchAll(true);
        }
        assertEquals(1, rows(one(t)));
    }

    @Test
    public void switchesTakeNothingButTrueAndFalse()
    {
        for (String value : new String[] { "null", "blob_as_boolean(0x)" })
            for (String row : new String[] { "answers", "exchange" })
                isRefusedAsValue(value, row);
        isRefusedAsValue("false", "other");
        session.execute("UPDATE lacuna.switches SET enabled = true WHERE name = 'exchange'");
        for (Row state : session.execute("SELECT * FROM lacuna.switches"))
            assertTrue(state.toString(), state.getBool("enabled") && state.getBool("active"));
    }

    private static void isRefusedAsValue(String value, String row)
    {
        String update = "UPDATE lacuna.switches SET enabled = " + value + " WHERE name = '" + row + "'";
        assertThrows(update, InvalidQueryException.class, () -> session.execute(update));
    }

    private static void switchAll(boolean on)
    {
        for (Node node : cluster.nodes)
            try (var driver = cluster.driver(node); Session own = driver.connect())
            {
                own.execute("UPDATE lacuna.switches SET enabled = " + on + " WHERE name = 'answers'");
            }
    }

    @Test
    public void requestMayOptOut() throws Exception
    {
        String t = deadPartition();
        SimpleStatement read = new SimpleStatement(one(t));
        read.setOutgoingPayload(Map.of("lacuna", ByteBuffer.wrap("off".getBytes(StandardCharsets.UTF_8))));
        read.setConsistencyLevel(ConsistencyLevel.ALL);
        long before = answeredEverywhere();
        assertEquals(0, session.execute(read).all().size());
        assertEquals(before, answeredEverywhere());
        assertTrue(isAnswered(one(t)));
    }

    /** The coordinator asks for digests of repaired data by its own setting, when answers of replicas differ. */
    @Test
    public void readsThatTheCoordinatorTracksMeetSstables() throws Exception
    {
        Assume.assumeTrue("wants other replicas", NODES > 1);
        String t = deadPartition();
        // Else the first read would end the difference.
        ddl("ALTER TABLE " + t + " WITH read_repair = 'NONE'");
        String source = table();
        all("INSERT INTO " + source + " (p, c, v) VALUES (1, 1, 5)");
        flush();
        Node first = cluster.nodes.get(0);
        Node second = cluster.nodes.get(1);
        first.importSstables("k", source.substring(2), t.substring(2));
        try (var driver = cluster.driver(second); Session own = driver.connect())
        {
            Cluster.until("both reads of a difference are answered", () -> answered(own, t) == 2);
            track(first, "enable");
            for (int round = 0; round < 5; round++)
                assertEquals(1, answered(own, t));
        }
        finally
        {
            track(first, "disable");
        }
    }

    private static void track(Node node, String how)
    {
        node.jmx.invoke("org.apache.cassandra.db:type=StorageProxy", how + "RepairedDataTrackingForPartitionReads", new Object[0]);
    }

    /** How many reads of partition 1 the replica answers from memory for one of the client. */
    private static long answered(Session replica, String t)
    {
        String query = "SELECT value FROM lacuna.counters WHERE name = 'reads_answered'";
        long before = replica.execute(query).one().getLong(0);
        assertEquals(1, rows(one(t)));
        return replica.execute(query).one().getLong(0) - before;
    }

    @Test
    public void decisionsSayWhy() throws Exception
    {
        String t = deadPartition();
        all(one(t));
        Row newest = session.execute("SELECT * FROM lacuna.decisions WHERE back = 0").one();
        assertEquals(t, newest.getString("keyspace_name") + "." + newest.getString("table_name"));
        assertEquals("1", newest.getString("key"));
        assertEquals("deleted partition", newest.getString("reason"));
    }

    @Test
    public void tableWithoutPartIsStock() throws Exception
    {
        String t = deadPartition();
        ddl(TakingPart.end(t));
        assertFalse(isAnswered(one(t)));
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
        String left = session.execute("SELECT table_name FROM lacuna.tables").all().toString();
        assertFalse(left, left.contains("[" + t.substring(2) + "]"));
    }

    @Test
    public void droppedTableLeavesNoTrace() throws Exception
    {
        String t = table();
        for (int p = 0; p < 50; p++)
            session.execute("DELETE FROM " + t + " WHERE p = " + p);
        ddl("DROP TABLE " + t);
        assertFalse(session.execute("SELECT table_name FROM lacuna.tables").all().toString().contains("[" + t.substring(2) + "]"));
    }

    @Test
    public void countersTakeNoPart()
    {
        ddl("CREATE TABLE k.counts (p int PRIMARY KEY, n counter)");
        isRefused(TakingPart.begin("k.counts", "mode=off"), "counters");
    }

    @Test
    public void commentsThatCannotBeFollowedAreRefused()
    {
        ddl("CREATE TABLE k.options (p int, c text, PRIMARY KEY (p, c))");
        isRefused(TakingPart.begin("k.options", "byte=1"), "[byte]");
        isRefused(TakingPart.begin("k.options", "mode=sure"), "sure");
        isRefused(TakingPart.begin("k.options", "mode = safe"), "[lacuna mode=safe bucket=1h]");
        isRefused(TakingPart.begin("k.options", "mode=safe bucket=1h"), "bucket");
        isRefused("CREATE TABLE k.begun (p int PRIMARY KEY) WITH comment = '[lacuna mode=safe] [lacuna]'", "one text");
        ddl("CREATE TABLE k.begun (p int PRIMARY KEY) WITH comment = '[lacuna learn_every=3]'");
        assertEquals("{learn_every=3}", inTables("begun", "options"));
    }

    private static void isRefused(String statement, String reason)
    {
        var refused = assertThrows(statement, InvalidConfigurationInQueryException.class, () -> ddl(statement));
        assertTrue(refused.getMessage(), refused.getMessage().contains(reason));
    }

    private static String inTables(String table, String column)
    {
        return session.execute("SELECT " + column + " FROM lacuna.tables WHERE keyspace_name = 'k' AND table_name = '" + table + "'")
                      .one().getString(0);
    }
}
