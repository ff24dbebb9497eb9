package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.List;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.QueryTrace;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.InvalidQueryException;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;
import org.junit.After;
import org.junit.Test;

/** The plug-in's jar in stock nodes: what it answers, what it leaves alone, and how it gets out of the way. */
public class AnswersTest extends OnOneCluster
{
    /** Nothing that a test does may have turned the plug-in off. */
    @After
    public void stillActive()
    {
        Row state = session.execute("SELECT * FROM lacuna.switches").one();
        assertTrue(state.getString("reason"), state.getBool("active"));
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
    public void deletedPartitionReadsNoSstable() throws Exception
    {
        String t = table();
        fill(t, 1);
        fill(t, 2);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1");
        fill(t, 2);
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 1");
        for (ConsistencyLevel level : List.of(ConsistencyLevel.ONE, ConsistencyLevel.ALL))
            tracesNoSstable("SELECT * FROM " + t + " WHERE p = 1", level);
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
    }

    /** In the end at every replica: each proves the region for itself. */
    private static void tracesNoSstable(String query, ConsistencyLevel level) throws InterruptedException
    {
        String last = "";
        for (int attempt = 0; attempt < 100; attempt++)
        {
            ResultSet result = session.execute(new SimpleStatement(query).setConsistencyLevel(level).enableTracing());
            assertEquals(0, result.all().size());
            List<String> merges = result.getExecutionInfo().getQueryTrace().getEvents().stream()
                .map(QueryTrace.Event::getDescription).filter(event -> event.startsWith("Merged data from")).toList();
            if (!merges.isEmpty() && merges.stream().allMatch(event -> event.endsWith(" and 0 sstables")))
                return;
            last = merges.toString();
            Thread.sleep(50);
        }
        throw new AssertionError(level + ": " + last);
    }

    @Test
    public void deletedRangeReadsNoSstable() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1 AND c >= 2 AND c < 8");
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 1 AND c >= 3 AND c < 6");
        assertTrue(isAnswered("SELECT * FROM " + t + " WHERE p = 1 AND c = 4"));
        assertTrue(isAnswered("SELECT v FROM " + t + " WHERE p = 1 AND c > 2 AND c <= 7 ORDER BY c DESC"));
        assertEquals(4, rows("SELECT * FROM " + t + " WHERE p = 1"));
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1 AND c >= 3 AND c <= 8"));
    }

    @Test
    public void deletedRowsAreAnsweredWithTheirTombstones() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        for (int row = 0; row < 10; row++)
            all("DELETE FROM " + t + " WHERE p = 1 AND c = " + row);
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 1 AND c > 2");
        assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = 1 AND c > 2"));
    }

    @Test
    public void writtenAgainIsSeenAtOnce() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        for (int round = 0; round < 5; round++)
        {
            all("DELETE FROM " + t + " WHERE p = 1");
            flush();
            becomesAnswered("SELECT * FROM " + t + " WHERE p = 1");
            all("INSERT INTO " + t + " (p, c, v) VALUES (1, 3, " + round + ")");
            flush();
            assertEquals(round, all("SELECT v FROM " + t + " WHERE p = 1").one().getInt(0));
        }
    }

    @Test
    public void deletionWithOlderTimestampHidesNothing() throws Exception
    {
        String t = table();
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 1) USING TIMESTAMP 1000");
        flush();
        all("DELETE FROM " + t + " USING TIMESTAMP 500 WHERE p = 1");
        flush();
        for (int read = 0; read < 20; read++)
            assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
        assertFalse(isAnswered("SELECT * FROM " + t + " WHERE p = 1"));
    }

    @Test
    public void olderTombstoneBesideNewerRowsIsKept() throws Exception
    {
        String t = table();
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 1) USING TIMESTAMP 1000");
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 2, 1) USING TIMESTAMP 100");
        flush();
        all("DELETE FROM " + t + " USING TIMESTAMP 500 WHERE p = 1");
        flush();
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
        becomesAnswered("SELECT v FROM " + t + " WHERE p = 1 AND c = 2");
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 2, 7) USING TIMESTAMP 600");
        assertEquals(7, all("SELECT v FROM " + t + " WHERE p = 1 AND c = 2").one().getInt(0));
    }

    @Test
    public void partialDeletionLeavesTheRest() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        all("DELETE v FROM " + t + " WHERE p = 1 AND c = 1");
        all("DELETE FROM " + t + " WHERE p = 1 AND c = 2");
        flush();
        for (int read = 0; read < 20; read++)
        {
            assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = 1 AND c = 2"));
            assertEquals(9, rows("SELECT * FROM " + t + " WHERE p = 1"));
        }
    }

    @Test
    public void staticRowOfADeadRangeIsShown() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1 AND c >= 0");
        flush();
        becomesAnswered("SELECT s, v FROM " + t + " WHERE p = 1 AND c >= 0");
        all("INSERT INTO " + t + " (p, s) VALUES (1, 42)");
        flush();
        assertEquals(42, all("SELECT s FROM " + t + " WHERE p = 1").one().getInt(0));
        assertEquals(0, rows("SELECT s, v FROM " + t + " WHERE p = 1 AND c >= 0"));
    }

    @Test
    public void tombstonesPastTheirGraceAreNotAnswered() throws Exception
    {
        String t = table(" WITH gc_grace_seconds = 0");
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1");
        flush();
        for (int read = 0; read < 20; read++)
            assertFalse(isAnswered("SELECT * FROM " + t + " WHERE p = 1"));
        graceEnds();
        cluster.compact("k");
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5) USING TIMESTAMP 1");
        flush();
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
    }

    /** Compaction drops a tombstone only when a later second than the deletion's has begun, even with a grace of none. */
    private static void graceEnds() throws InterruptedException
    {
        Thread.sleep(2_000);
    }

    @Test
    public void changedGraceForgetsEverything() throws Exception
    {
        String t = deadPartition();
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        assertFalse(isAnswered("SELECT * FROM " + t + " WHERE p = 1"));
        graceEnds();
        cluster.compact("k");
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5) USING TIMESTAMP 1");
        flush();
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
    }

    @Test
    public void truncationForgetsDeletions() throws Exception
    {
        String t = deadPartition();
        session.execute("TRUNCATE " + t);
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5) USING TIMESTAMP 1");
        flush();
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
    }

    @Test
    public void compactionKeepsTheDeletedDead() throws Exception
    {
        String t = deadPartition();
        cluster.compact("k");
        assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = 1"));
        assertEquals(10, rows("SELECT * FROM " + t));
        assertTrue(isAnswered("SELECT * FROM " + t + " WHERE p = 1"));
    }

    @Test
    public void compactionWithoutGraceForgets() throws Exception
    {
        String t = deadPartition();
        for (Node node : cluster.nodes)
            node.storageService("forceCompactionKeysIgnoringGcGrace",
                                new Object[] { "k", t.substring(2), new String[] { "1" } },
                                String.class.getName(), String.class.getName(), String[].class.getName());
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5) USING TIMESTAMP 1");
        flush();
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
    }

    /** SSTables that came by another way than writes may hold newer rows of a partition that was dead. */
    @Test
    public void importedSstablesAreRead() throws Exception
    {
        String t = deadPartition();
        String source = table();
        all("INSERT INTO " + source + " (p, c, v) VALUES (1, 1, 5)");
        flush();
        for (Node node : cluster.nodes)
            node.importSstables("k", source.substring(2), t.substring(2));
        assertEquals(5, all("SELECT v FROM " + t + " WHERE p = 1").one().getInt(0));
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
    }

    @Test
    public void purgeDoesNotResurrect() throws Exception
    {
        String t = deadPartition();
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        Thread.sleep(1_100);
        for (Node node : cluster.nodes)
            node.compactNewest("k", t.substring(2));
        assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = 1"));
        assertEquals(10, rows("SELECT * FROM " + t));
    }

    @Test
    public void expiringRowsAreNotTakenForDead() throws Exception
    {
        String t = table();
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5) USING TTL 2");
        flush();
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
        Thread.sleep(3_000);
        assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = 1"));
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 6)");
        flush();
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
    }

    @Test
    public void indexOnAFilledTableAnswersRight() throws Exception
    {
        String t = "k.filled";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c))");
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1");
        fill(t, 2);
        ddl("CREATE CUSTOM INDEX ON " + t + " () USING 'lacuna.cassandra.LacunaIndex' WITH OPTIONS = {'learn_every': '1'}");
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 1");
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
    }

    @Test
    public void memoryCapRefusesButStaysRight() throws Exception
    {
        String t = "k.capped";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c))");
        ddl("CREATE CUSTOM INDEX ON " + t + " () USING 'lacuna.cassandra.LacunaIndex' "
                        + "WITH OPTIONS = {'learn_every': '1', 'bytes': '2000'}");
        for (int p = 0; p < 50; p++)
        {
            all("INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
            all("DELETE FROM " + t + " WHERE p = " + p);
        }
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 0");
        for (int p = 0; p < 50; p++)
            assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = " + p));
        Row used = session.execute("SELECT bytes, max_bytes FROM lacuna.tables WHERE keyspace_name = 'k' AND table_name = 'capped'").one();
        assertTrue(used.toString(), used.getLong(0) > 0 && used.getLong(0) < 4_000 && used.getLong(1) == 2_000);
    }

    @Test
    public void droppedIndexLeavesStock() throws Exception
    {
        String t = deadPartition();
        ddl("DROP INDEX " + t + "_idx");
        assertFalse(isAnswered("SELECT * FROM " + t + " WHERE p = 1"));
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
        String left = session.execute("SELECT table_name FROM lacuna.tables").all().toString();
        assertFalse(left, left.contains("[" + t.substring(2) + "]"));
    }

    @Test
    public void killSwitchStopsAnswersAtOnce() throws Exception
    {
        String t = deadPartition();
        switchAll(false);
        try
        {
            assertFalse(isAnswered("SELECT * FROM " + t + " WHERE p = 1"));
            all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5)");
            flush();
        }
        finally
        {
            switchAll(true);
        }
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1"));
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
        SimpleStatement read = new SimpleStatement("SELECT * FROM " + t + " WHERE p = 1");
        read.setOutgoingPayload(Map.of("lacuna", ByteBuffer.wrap("off".getBytes(StandardCharsets.UTF_8))));
        read.setConsistencyLevel(ConsistencyLevel.ALL);
        long before = answeredEverywhere();
        assertEquals(0, session.execute(read).all().size());
        assertEquals(before, answeredEverywhere());
        assertTrue(isAnswered("SELECT * FROM " + t + " WHERE p = 1"));
    }

    @Test
    public void decisionsSayWhy() throws Exception
    {
        String t = deadPartition();
        all("SELECT * FROM " + t + " WHERE p = 1");
        Row newest = session.execute("SELECT * FROM lacuna.decisions WHERE back = 0").one();
        assertEquals(t, newest.getString("keyspace_name") + "." + newest.getString("table_name"));
        assertEquals("1", newest.getString("key"));
        assertEquals("deleted partition", newest.getString("reason"));
    }

    @Test(expected = InvalidQueryException.class)
    public void countersHaveNoIndex()
    {
        ddl("CREATE TABLE k.counts (p int PRIMARY KEY, n counter)");
        ddl("CREATE CUSTOM INDEX ON k.counts () USING 'lacuna.cassandra.LacunaIndex'");
    }

    @Test
    public void unknownOptionsAreRefused()
    {
        ddl("CREATE TABLE k.options (p int PRIMARY KEY)");
        try
        {
            ddl("CREATE CUSTOM INDEX ON k.options () USING 'lacuna.cassandra.LacunaIndex' "
                            + "WITH OPTIONS = {'byte': '1'}");
            throw new AssertionError("'byte' was taken");
        }
        catch (InvalidConfigurationInQueryException refused)
        {
            assertTrue(refused.getMessage(), refused.getMessage().contains("[byte]"));
        }
    }
}
