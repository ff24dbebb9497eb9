package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;
import org.junit.Test;

/** Which reads a coordinator answers by the filters of other nodes, in which mode, and which it never does. */
public class ExchangeTest extends WithFilters
{
    private static final List<ConsistencyLevel> LEVELS =
        List.of(ConsistencyLevel.ONE, ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.LOCAL_QUORUM,
                ConsistencyLevel.ALL);

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
                    // A lease may have ended on a busy machine.
                    long skipped = 0;
                    for (int attempt = 0; attempt < 20 && skipped < PRESENT / 5; attempt++)
                        skipped = skipped(coordinator, t, level);
                    assertTrue(level + ": " + skipped, skipped >= PRESENT / 5 && skipped <= PRESENT);
                }
        }
    }

    /** How many reads of what is there, and of as many that are not, were answered without asking. */
    private static long skipped(Session coordinator, String t, ConsistencyLevel level)
    {
        long before = counter(coordinator, "reads_skipped");
        for (int p = 0; p < 2 * PRESENT; p++)
            assertEquals(p < PRESENT ? 1 : 0, at(coordinator, "SELECT * FROM " + t + " WHERE p = " + p, level));
        return counter(coordinator, "reads_skipped") - before;
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
                isNotDenied(coordinator, t, 1);
            at(session, "DELETE FROM " + t + " WHERE p = 1", ConsistencyLevel.ALL);
        }
        assertEquals(1, read(session, t, 2));
    }

    /** Compaction reports no purge; a read that finds nothing proves it. */
    @Test
    public void expiredAndPurgedPartitionsAreSkippedAgain() throws Exception
    {
        String t = guarded(2, "safe");
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        for (int p = 0; p < PRESENT; p++)
            insert(session, t, p);
        for (int p = PRESENT; p < PRESENT + 10; p++)
            session.execute("INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1) USING TTL 1");
        Thread.sleep(2_500);
        cluster.flush(t.substring(0, 2));
        cluster.compact(t.substring(0, 2));
        becomesKnown("reads_skipped", t);
        for (int attempt = 0, skipped = 0; skipped < 5; attempt++)
        {
            assertTrue("only " + skipped, attempt < 2_000);
            skipped = 0;
            for (int p = PRESENT; p < PRESENT + 10; p++)
            {
                assertEquals(0, at(session, "SELECT * FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL));
                skipped += isCounted(session, "reads_skipped", t, p) ? 1 : 0;
            }
        }
        for (int p = 0; p < PRESENT; p++)
            assertEquals(1, read(session, t, p));
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
                isNotDenied(coordinator, t, 1);
    }

    @Test
    public void shadowCountsAndAsks() throws Exception
    {
        String t = guarded(2, "shadow sample=1");
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
                    assertTrue("key " + p + " is never seen", attempt < 2_400);
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
        Cluster.until("skipped again", () -> isCounted(session, "reads_skipped", t, 77));
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
        Cluster.until("one of several is skipped", () ->
        {
            long before = counter(session, "reads_skipped");
            assertEquals(0, session.execute("SELECT * FROM " + t + " WHERE p IN (7, 8, 9)").all().size());
            return counter(session, "reads_skipped") > before;
        });
    }

    @Test
    public void virtualTablesShowPeersAndFilters() throws Exception
    {
        String t = guarded(2, "safe");
        for (int p = 0; p < PRESENT; p++)
            insert(session, t, p);
        becomesKnown("reads_skipped", t);
        assertEquals(NODES - 1, session.execute("SELECT * FROM lacuna.peers").all().size());
        Cluster.until("all are ready", () -> session.execute("SELECT * FROM lacuna.peers").all().stream().allMatch(peer -> peer.getBool("ready")));
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

    @Test(expected = InvalidConfigurationInQueryException.class)
    public void unknownModeIsRefused()
    {
        index(unguarded(1), "sure");
    }
}
