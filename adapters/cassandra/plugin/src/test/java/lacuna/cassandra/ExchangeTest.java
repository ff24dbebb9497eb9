package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;
import org.junit.After;
import org.junit.BeforeClass;
import org.junit.Test;

/** Node filters between real nodes, while one frame in forty arrives damaged: what coordinators answer, and what they must not. */
public class ExchangeTest extends OnOneCluster
{
    private static final int PRESENT = 40;
    private static final List<ConsistencyLevel> LEVELS =
        List.of(ConsistencyLevel.ONE, ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.LOCAL_QUORUM, ConsistencyLevel.ALL);
    private static final List<Session> coordinators = new ArrayList<>();
    private static int tables;

    @BeforeClass
    public static void keyspaces()
    {
        cluster.nodes.forEach(node -> coordinators.add(cluster.session(node)));
        for (int copies = 1; copies <= Math.min(2, NODES); copies++)
            ddl("CREATE KEYSPACE x" + copies + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + copies + "}");
    }

    @After
    public void stillActiveEverywhere()
    {
        for (Session coordinator : coordinators)
            for (Row state : coordinator.execute("SELECT * FROM lacuna.switches"))
                assertTrue(state.toString(), state.getBool("active"));
    }

    private static String guarded(int copies, String mode)
    {
        String name = unguarded(copies);
        index(name, mode);
        return name;
    }

    private static String unguarded(int copies)
    {
        String name = "x" + Math.min(copies, NODES) + ".t" + tables++;
        ddl("CREATE TABLE " + name + " (p int, c int, s int static, v int, PRIMARY KEY (p, c))");
        return name;
    }

    private static void index(String table, String mode)
    {
        ddl("CREATE CUSTOM INDEX ON " + table + " () USING 'lacuna.cassandra.LacunaIndex' WITH OPTIONS = {'mode': '" + mode
            + "', 'learn_every': '1'}");
    }

    private static void insert(Session through, String table, int p)
    {
        at(through, "INSERT INTO " + table + " (p, c, v) VALUES (" + p + ", 1, " + p + ")", ConsistencyLevel.ONE);
    }

    private static int at(Session through, String cql, ConsistencyLevel level)
    {
        return through.execute(new SimpleStatement(cql).setConsistencyLevel(level)).all().size();
    }

    private static int read(Session through, String table, int p)
    {
        return at(through, "SELECT * FROM " + table + " WHERE p = " + p, ConsistencyLevel.ONE);
    }

    private static long counter(Session of, String name)
    {
        return of.execute("SELECT value FROM lacuna.counters WHERE name = '" + name + "'").one().getLong(0);
    }

    private static boolean isCounted(Session through, String counter, String table, int p)
    {
        long before = counter(through, counter);
        assertEquals(0, read(through, table, p));
        return counter(through, counter) > before;
    }

    /** Reads partitions that nobody holds, until every coordinator knows that for one of them. */
    private static void becomesKnown(String counter, String table) throws InterruptedException
    {
        for (Session coordinator : coordinators)
        {
            int attempt = 0;
            while (!isCounted(coordinator, counter, table, 1_000_000 + attempt))
            {
                assertTrue("no filters: " + coordinator.execute("SELECT * FROM lacuna.filters").all()
                           + coordinator.execute("SELECT * FROM lacuna.peers").all(), attempt++ < 600);
                Thread.sleep(50);
            }
        }
    }

    @Test
    public void absentPartitionsAreSkippedAtEveryLevel() throws Exception
    {
        for (int copies : new int[] { 1, 2 })
        {
            String t = guarded(copies, "safe");
            for (int p = 0; p < PRESENT; p++)
                insert(session, t, p);
            becomesKnown("reads_skipped", t);
            for (Session coordinator : coordinators)
                for (ConsistencyLevel level : LEVELS)
                {
                    long before = counter(coordinator, "reads_skipped");
                    for (int p = 0; p < 2 * PRESENT; p++)
                        assertEquals(p < PRESENT ? 1 : 0, at(coordinator, "SELECT * FROM " + t + " WHERE p = " + p, level));
                    long skipped = counter(coordinator, "reads_skipped") - before;
                    assertTrue(level + ": " + skipped, skipped >= PRESENT / 5 && skipped <= PRESENT);
                }
        }
    }

    /** The promise of mode safe, at one replica: whoever reads after the acknowledgement, through whomever, sees the row. */
    @Test
    public void acknowledgedWriteIsSeenThroughEveryCoordinator() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        int skipped = 0;
        for (int p = 0; p < 120; p++)
        {
            Session writer = coordinators.get(p % NODES);
            Session reader = coordinators.get((p / NODES) % NODES);
            skipped += isCounted(reader, "reads_skipped", t, p) ? 1 : 0;
            insert(writer, t, p);
            assertEquals("key " + p, 1, read(reader, t, p));
        }
        assertTrue(skipped + " of 120 were skipped before", skipped >= 120 / 5);
    }

    @Test
    public void conditionalAndBatchedWritesAreSeenToo() throws Exception
    {
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", t);
        for (int p = 0; p < 20; p++)
        {
            Session writer = coordinators.get(p % NODES);
            Session reader = coordinators.get((p + 1) % NODES);
            assertEquals(0, read(reader, t, p));
            String insert = "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)";
            writer.execute(p % 2 == 0 ? insert + " IF NOT EXISTS" : "BEGIN BATCH " + insert + "; APPLY BATCH");
            assertEquals("key " + p, 1, at(reader, "SELECT * FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL));
        }
    }

    @Test
    public void deletedPartitionIsSkippedUntilItIsWritten() throws Exception
    {
        String t = guarded(2, "safe");
        insert(session, t, 1);
        insert(session, t, 2);
        at(session, "DELETE FROM " + t + " WHERE p = 1", ConsistencyLevel.ALL);
        for (int round = 0; round < 3; round++)
        {
            becomesSkipped(t, 1);
            insert(coordinators.get(round % NODES), t, 1);
            for (Session coordinator : coordinators)
                assertEquals(1, read(coordinator, t, 1));
            at(session, "DELETE FROM " + t + " WHERE p = 1", ConsistencyLevel.ALL);
        }
        assertEquals(1, read(session, t, 2));
    }

    private static void becomesSkipped(String t, int p) throws InterruptedException
    {
        for (Session coordinator : coordinators)
        {
            int attempt = 0;
            while (!isCounted(coordinator, "reads_skipped", t, p))
            {
                assertTrue("never skipped", attempt++ < 600);
                // A replica that has not yet tried to prove it is asked to.
                at(coordinator, "SELECT * FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL);
                Thread.sleep(50);
            }
        }
    }

    @Test
    public void olderDeletionIsNoProof() throws Exception
    {
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", t);
        session.execute("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 1) USING TIMESTAMP 1000");
        session.execute("DELETE FROM " + t + " USING TIMESTAMP 500 WHERE p = 1");
        session.execute("DELETE FROM " + t + " WHERE p = 7");
        for (Session coordinator : coordinators)
            for (int round = 0; round < 10; round++)
                assertEquals(1, read(coordinator, t, 1));
    }

    @Test
    public void shadowCountsAndAsks() throws Exception
    {
        String t = guarded(2, "shadow");
        for (int p = 0; p < PRESENT; p++)
            insert(session, t, p);
        becomesKnown("reads_shadowed", t);
        long skipped = everywhere("reads_skipped");
        for (Session coordinator : coordinators)
            for (int p = 0; p < 2 * PRESENT; p++)
                assertEquals(p < PRESENT ? 1 : 0, read(coordinator, t, p));
        assertEquals(skipped, everywhere("reads_skipped"));
        assertEquals(0, everywhere("contradictions"));
    }

    @Test
    public void eventualSeesItsOwnWritesAtOnceAndOthersSoon() throws Exception
    {
        String t = guarded(1, "eventual");
        becomesKnown("reads_skipped", t);
        for (int p = 0; p < 60; p++)
        {
            Session coordinator = coordinators.get(p % NODES);
            insert(coordinator, t, p);
            assertEquals("key " + p, 1, read(coordinator, t, p));
        }
        for (Session coordinator : coordinators)
            for (int p = 0; p < 60; p++)
                for (int attempt = 0; read(coordinator, t, p) == 0; attempt++)
                {
                    assertTrue("key " + p + " is never seen", attempt < 300);
                    Thread.sleep(50);
                }
        assertFalse("only levels of one and two replicas", skips(t, ConsistencyLevel.QUORUM));
    }

    private static boolean skips(String t, ConsistencyLevel level)
    {
        long before = everywhere("reads_skipped");
        for (Session coordinator : coordinators)
            at(coordinator, "SELECT * FROM " + t + " WHERE p = 5000000", level);
        return everywhere("reads_skipped") > before;
    }

    @Test
    public void tableThatWasFilledBeforeIsReadFirst() throws Exception
    {
        String t = unguarded(2);
        for (int p = 0; p < PRESENT; p++)
        {
            insert(session, t, p);
            if (p == PRESENT / 2)
                cluster.flush(t.substring(0, 2));
        }
        index(t, "safe");
        becomesKnown("reads_skipped", t);
        for (Session coordinator : coordinators)
            for (int p = 0; p < PRESENT; p++)
                assertEquals(1, read(coordinator, t, p));
    }

    @Test
    public void truncatedTableTakesKeysAgain() throws Exception
    {
        String t = guarded(2, "safe");
        for (int p = 0; p < PRESENT; p++)
            insert(session, t, p);
        becomesKnown("reads_skipped", t);
        session.execute("TRUNCATE " + t);
        for (int p = PRESENT; p < PRESENT + 10; p++)
            insert(session, t, p);
        becomesSkipped(t, 1);
        for (Session coordinator : coordinators)
            for (int p = 0; p < PRESENT + 10; p++)
                assertEquals(p < PRESENT ? 0 : 1, read(coordinator, t, p));
    }

    @Test
    public void importedSstablesAreSeen() throws Exception
    {
        String source = unguarded(2);
        for (int p = 0; p < PRESENT; p++)
            insert(session, source, p);
        cluster.flush(source.substring(0, 2));
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", t);
        for (Node node : cluster.nodes)
            node.importSstables(t.substring(0, 2), source.substring(3), t.substring(3));
        Thread.sleep(500);
        for (Session coordinator : coordinators)
            for (int p = 0; p < PRESENT; p++)
                assertEquals(1, read(coordinator, t, p));
    }

    @Test
    public void whoDropsTheIndexIsNoLongerReliedOn() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        session.execute("DROP INDEX " + t + "_idx");
        for (int p = 0; p < 60; p++)
        {
            insert(coordinators.get(p % NODES), t, p);
            assertEquals(1, read(coordinators.get((p + 1) % NODES), t, p));
        }
    }

    @Test
    public void killSwitchAndRequestAskTheReplicas() throws Exception
    {
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", t);
        long before = counter(session, "reads_skipped");
        SimpleStatement read = new SimpleStatement("SELECT * FROM " + t + " WHERE p = 77");
        read.setOutgoingPayload(Map.of("lacuna", ByteBuffer.wrap("off".getBytes(StandardCharsets.UTF_8))));
        session.execute(read);
        session.execute("UPDATE lacuna.switches SET enabled = false WHERE name = 'answers'");
        try
        {
            read(session, t, 77);
            assertEquals(before, counter(session, "reads_skipped"));
        }
        finally
        {
            session.execute("UPDATE lacuna.switches SET enabled = true WHERE name = 'answers'");
        }
        assertTrue(isCounted(session, "reads_skipped", t, 77));
    }

    @Test
    public void inAndStaticsAndShapesAreStocks() throws Exception
    {
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", t);
        session.execute("UPDATE " + t + " SET s = 5 WHERE p = 1");
        assertEquals(1, session.execute("SELECT * FROM " + t + " WHERE p IN (1, 2, 3)").all().size());
        assertEquals(0, session.execute("SELECT count(*) FROM " + t + " WHERE p = 9").one().getLong(0));
        assertEquals(0, session.execute("SELECT * FROM " + t + " WHERE p = ? LIMIT ?", 9, 3).all().size());
        assertEquals(0, session.execute(session.prepare("SELECT v FROM " + t + " WHERE p = ? LIMIT ?").bind(9, 3)).all().size());
        assertEquals(1, session.execute("SELECT p, s FROM " + t + " WHERE p = 1").all().size());
        long before = counter(session, "reads_skipped");
        assertEquals(0, session.execute("SELECT * FROM " + t + " WHERE p IN (7, 8, 9)").all().size());
        assertTrue(counter(session, "reads_skipped") > before);
    }

    @Test
    public void virtualTablesShowPeersAndFilters() throws Exception
    {
        String t = guarded(2, "safe");
        for (int p = 0; p < PRESENT; p++)
            insert(session, t, p);
        becomesKnown("reads_skipped", t);
        List<Row> peers = session.execute("SELECT * FROM lacuna.peers").all();
        assertEquals(NODES - 1, peers.size());
        assertTrue(peers.toString(), peers.stream().allMatch(peer -> peer.getBool("ready")));
        Set<String> shown = new HashSet<>();
        for (Row row : session.execute("SELECT * FROM lacuna.filters WHERE keyspace_name = '" + t.substring(0, 2)
                                       + "' AND table_name = '" + t.substring(3) + "'"))
        {
            shown.add(row.getString("node"));
            assertEquals("safe", row.getString("mode"));
            assertTrue(row.toString(), row.getLong("keys") <= PRESENT && row.getLong("bytes") > 0 && row.getDouble("expected_rate") <= 0.01);
        }
        assertEquals(shown.toString(), NODES, shown.size());
        assertTrue("frames were damaged on their way", NODES == 1 || everywhere("frames_damaged") > 0);
    }

    /** Longer than a lease: writers wait for it once, and when it wakes it does not answer from what it knew before. */
    @Test
    public void pausedHolderNeitherStopsWritersNorLies() throws Exception
    {
        org.junit.Assume.assumeTrue("wants another node", NODES > 1);
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        int[] written = { 0 };
        Thread writer = new Thread(() ->
        {
            long end = System.nanoTime() + 7_000_000_000L;
            while (System.nanoTime() < end)
                if (isWritten(t, written[0]))
                    written[0]++;
        });
        writer.start();
        cluster.nodes.get(1).pause(6_000);
        writer.join();
        assertTrue("nothing was written", written[0] > 0);
        Session woken = coordinators.get(1);
        for (int p = 0; p < written[0]; p++)
            assertEquals("key " + p + " of " + written[0], 1, read(woken, t, p));
    }

    /** A write whose replica is the paused node waits or fails, which is no acknowledgement. */
    private static boolean isWritten(String t, int p)
    {
        try
        {
            insert(session, t, p);
            return true;
        }
        catch (com.datastax.driver.core.exceptions.DriverException failed)
        {
            return false;
        }
    }

    @Test(expected = InvalidConfigurationInQueryException.class)
    public void unknownModeIsRefused()
    {
        index(unguarded(1), "sure");
    }
}
