package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.DriverException;
import org.junit.Assume;
import org.junit.Test;

/** Mode safe: whatever was acknowledged, or was there before, is found by the next read through any coordinator. */
public class ExchangedWritesTest extends WithFilters
{
    /** The promise of mode safe, at one replica: a read after the acknowledgement, through any coordinator, sees the row. */
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

    /** Longer than a lease: writers wait for it once, and when it wakes it does not answer from what it knew before. */
    @Test
    public void pausedHolderNeitherStopsWritersNorLies() throws Exception
    {
        Assume.assumeTrue("wants another node", NODES > 1);
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
        catch (DriverException failed)
        {
            return false;
        }
    }

    @Test
    public void nodeThatEndsItsPartIsNoLongerReliedOn() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        session.execute(TakingPart.end(t));
        for (int p = 0; p < 60; p++)
        {
            insert(coordinators.get(p % NODES), t, p);
            assertEquals(1, read(coordinators.get((p + 1) % NODES), t, p));
        }
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
        each(0, PRESENT, ConsistencyLevel.ALL, p -> "INSERT INTO " + source + " (p, c, v) VALUES (" + p + ", 1, 1)");
        cluster.flush(source.substring(0, 2));
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", t);
        for (int i = 0; i < NODES; i++)
        {
            Node node = cluster.nodes.get(i);
            long before = counter(coordinators.get(i), "sstables_loaded");
            node.importSstables(t.substring(0, 2), source.substring(3), t.substring(3));
            assertEquals("each is read once", before + Upkeep.sstables(node, t.substring(0, 2), source.substring(3)),
                         counter(coordinators.get(i), "sstables_loaded"));
        }
        // An import ends when every node that relies on this one knows the imported keys.
        for (Session coordinator : coordinators)
            for (int p = 0; p < PRESENT; p++)
                assertEquals(1, read(coordinator, t, p));
    }
}
