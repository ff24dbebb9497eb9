package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** Two tables of which one is read for what is there: its reads stop looking at the node filters, the other's do not. */
public class ExchangedBackOffTest extends WithFilters
{
    private static final int MAX = 4;
    /** 128 looks of all reads, 128 of every second, and a block of four at least. */
    private static final int READS = 3 * LookBackOff.PATIENCE + 4 * MAX;

    private record Looks(int every, long looks, long leftOut, long missed)
    {
        long reads()
        {
            return looks + leftOut;
        }
    }

    private static Looks looks(String t)
    {
        String[] names = t.split("\\.");
        Row row = coordinators.get(0).execute("SELECT * FROM lacuna.tables WHERE keyspace_name = ? AND table_name = ?", names[0], names[1]).one();
        return new Looks(row.getInt("look_every"), row.getLong("looks"), row.getLong("looks_left_out"), row.getLong("skips_missed"));
    }

    /** Some rows are there, and filters are known. */
    private static String filled() throws InterruptedException
    {
        String t = unguarded(3);
        ddl(TakingPart.begin(t, "mode=safe back_off=" + MAX));
        for (int p = 0; p < PRESENT; p++)
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)", ConsistencyLevel.ALL);
        becomesKnown("reads_skipped", t);
        return t;
    }

    private static void readPresent(String t, int reads)
    {
        for (int read = 0; read < reads; read++)
            assertEquals(1, read(coordinators.get(0), t, read % PRESENT));
    }

    /** No read looks at all when nothing is to be gained: each is found. */
    private static void backsOff(String t)
    {
        Looks before = looks(t);
        readPresent(t, READS);
        Looks after = looks(t);
        assertEquals("every read is counted once", READS, after.reads() - before.reads());
        assertEquals(MAX, after.every());
        assertEquals("nothing could have been skipped", before.missed(), after.missed());
        readPresent(t, 25 * MAX);
        assertEquals("one read in " + MAX, 25, looks(t).looks() - after.looks(), 1);
    }

    @Test
    public void oneTableBacksOffAndTheOtherDoesNot() throws Exception
    {
        String dense = filled();
        String sparse = filled();
        Looks before = looks(sparse);
        backsOff(dense);
        assertEquals("not touched", before, looks(sparse));
        long skipped = counter(coordinators.get(0), "reads_skipped");
        for (int p = 2_000; p < 2_050; p++)
            assertEquals(0, read(coordinators.get(0), sparse, p));
        // A machine that stops for a moment ends leases; a read then looks in vain.
        assertTrue(counter(coordinators.get(0), "reads_skipped") > skipped + 25);
        assertEquals(new Looks(1, before.looks() + 50, before.leftOut(), before.missed()), looks(sparse));
        assertEquals("a skip of the other changes nothing", MAX, looks(dense).every());
    }

    @Test
    public void theFirstReadThatFindsNothingEndsIt() throws Exception
    {
        String t = filled();
        // Unless a lease ended at that moment; and the first may be one that looks.
        for (int attempt = 0; attempt < 5; attempt++)
        {
            backsOff(t);
            Looks before = looks(t);
            long skipped = counter(coordinators.get(0), "reads_skipped");
            assertEquals(0, read(coordinators.get(0), t, 3_000 + attempt));
            Looks after = looks(t);
            boolean isSkipped = counter(coordinators.get(0), "reads_skipped") == skipped + 1;
            boolean isMissed = after.missed() == before.missed() + 1;
            assertEquals("looked, or did afterwards: " + after, isSkipped || isMissed, after.every() == 1);
            if (isMissed)
                return;
        }
        throw new AssertionError("no read that did not look was noticed: " + looks(t));
    }

    /** A count has a row in any case, so it shows nothing unless it looks. */
    @Test
    public void countsOfNothingAreNoticedWithinTwiceTheBound() throws Exception
    {
        String t = filled();
        backsOff(t);
        int reads = 0;
        for (; looks(t).every() != 1; reads++)
        {
            Row count = coordinators.get(0).execute("SELECT count(*) FROM " + t + " WHERE p = " + (4_000 + reads)).one();
            assertEquals(0, count.getLong(0));
            // One more round: a lease may have ended when a read looked.
            assertTrue("after " + reads, reads < 4 * MAX);
        }
        System.out.println("back-off: ended by count " + reads + " of absent partitions");
        assertEquals("counts are not looked at afterwards", 0, looks(t).missed());
    }

    /** What a client gets does not depend on whether its read looked. */
    @Test
    public void deletedAndWrittenRowsAreReadAsTheyAre() throws Exception
    {
        String t = filled();
        backsOff(t);
        Session through = coordinators.get(0);
        for (int p = 0; p < PRESENT; p++)
        {
            at(session, "DELETE FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL);
            assertEquals(0, read(through, t, p));
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 2)", ConsistencyLevel.ALL);
            assertEquals(1, read(through, t, p));
        }
    }
}
