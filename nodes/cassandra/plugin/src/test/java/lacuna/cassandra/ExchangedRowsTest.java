package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;
import org.junit.Test;

/** Ranges of rows that no replica holds, inside partitions that there are. */
public class ExchangedRowsTest extends WithFilters
{
    /** Rows 0 to 90 by ten, and from 10,000 on again; buckets of 16. */
    private static String filled(String type, String order, boolean isIndexedFirst) throws InterruptedException
    {
        String t = unguarded(2) + "_rows";
        ddl("CREATE TABLE " + t + " (p int, c " + type + ", s int static, v int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c " + order + ")");
        if (isIndexedFirst)
            index(t);
        for (int row = 0; row < 10; row++)
            for (int start : new int[] { 0, 10_000 })
                write(session, t, start + 10 * row);
        session.execute("UPDATE " + t + " SET s = 1 WHERE p = 1");
        if (!isIndexedFirst)
        {
            cluster.flush(t.substring(0, 2));
            index(t);
        }
        becomesKnown("reads_skipped", t);
        return t;
    }

    private static void index(String t)
    {
        ddl(TakingPart.begin(t, "mode=safe bucket=16 back_off=1"));
    }

    private static void write(Session through, String t, int c)
    {
        at(through, "INSERT INTO " + t + " (p, c, v) VALUES (1, " + c + ", 1)", ConsistencyLevel.ONE);
    }

    private static int rows(Session through, String t, String where)
    {
        return at(through, "SELECT c, s, v FROM " + t + " WHERE p = 1 AND " + where, ConsistencyLevel.QUORUM);
    }

    /** How many of a hundred ranges between the rows were answered without asking. */
    private static long skipped(String t)
    {
        Session through = coordinators.get(NODES - 1);
        long before = counter(through, "reads_skipped");
        for (int start = 1_000; start < 9_000; start += 80)
            assertEquals(0, rows(through, t, "c >= " + start + " AND c < " + (start + 70)));
        return counter(through, "reads_skipped") - before;
    }

    private static void answersRight(String t)
    {
        for (Session through : coordinators)
        {
            assertEquals(20, rows(through, t, "c > -1000000"));
            assertEquals(10, rows(through, t, "c < 10000"));
            assertEquals(10, rows(through, t, "c > 90"));
            assertEquals(1, rows(through, t, "c = 50"));
            assertEquals(0, rows(through, t, "c = 51"));
            assertEquals(2, rows(through, t, "c IN (10, 500, 10010)"));
            assertEquals(3, rows(through, t, "c >= 90 AND c <= 10010"));
            assertEquals(2, at(through, "SELECT c, v FROM " + t + " WHERE p = 1 AND c > 15 AND c <= 35 ORDER BY c DESC", ConsistencyLevel.ONE));
            assertEquals(1, at(through, "SELECT DISTINCT p, s FROM " + t + " WHERE p = 1", ConsistencyLevel.ONE));
        }
        // A copy may just be on its way, or a lease have ended on a busy machine.
        long skipped = 0;
        for (int attempt = 0; attempt < 20 && skipped < 50; attempt++)
            skipped = skipped(t);
        assertTrue(skipped + " of 100 ranges were skipped", skipped >= 50);
    }

    @Test
    public void absentRangesAreSkippedInEitherOrder() throws Exception
    {
        answersRight(filled("int", "ASC", true));
        answersRight(filled("bigint", "DESC", true));
    }

    @Test
    public void rowsThatWereThereBeforeAreRead() throws Exception
    {
        answersRight(filled("timestamp", "ASC", false));
    }

    @Test
    public void acknowledgedRowIsSeenThroughEveryCoordinator() throws Exception
    {
        String t = filled("int", "DESC", true);
        for (int row = 0; row < 60; row++)
        {
            int c = 2_000 + 40 * row;
            Session reader = coordinators.get(row % NODES);
            assertEquals(0, rows(reader, t, "c >= " + (c - 20) + " AND c <= " + (c + 10)));
            write(coordinators.get((row + 1) % NODES), t, c);
            assertEquals("row " + c, 1, rows(reader, t, "c >= " + (c - 20) + " AND c <= " + (c + 10)));
        }
    }

    /** Rows 0 to 1,990 by ten; 400 to 1,599 are deleted one by one, or at once. */
    @Test
    public void deadRangesAreSkippedUntilTheyAreWritten() throws Exception
    {
        String t = unguarded(2) + "_rows";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c))");
        ddl(TakingPart.begin(t, "mode=safe bucket=16 learn_every=1 back_off=1"));
        each(0, 400, ConsistencyLevel.ALL, i -> "INSERT INTO " + t + " (p, c, v) VALUES (" + (1 + i / 200) + ", " + i % 200 * 10 + ", 1)");
        cluster.flush(t.substring(0, 2));
        becomesKnown("reads_skipped", t);
        at(session, "DELETE FROM " + t + " WHERE p = 1 AND c >= 400 AND c < 1600", ConsistencyLevel.ALL);
        each(40, 160, ConsistencyLevel.ALL, i -> "DELETE FROM " + t + " WHERE p = 2 AND c = " + 10 * i);
        cluster.flush(t.substring(0, 2));
        for (int p = 1; p <= 2; p++)
        {
            String dead = "SELECT c FROM " + t + " WHERE p = " + p + " AND c >= 500 AND c < 1500";
            for (Session through : coordinators)
                becomesSkippedRange(through, dead, "SELECT c FROM " + t + " WHERE p = " + p + " AND c >= 400 AND c < 1600");
            for (Session through : coordinators)
            {
                assertEquals(80, at(through, "SELECT c FROM " + t + " WHERE p = " + p + " AND c >= 0", ConsistencyLevel.QUORUM));
                assertEquals(1, at(through, "SELECT c FROM " + t + " WHERE p = " + p + " AND c >= 390 AND c < 1600", ConsistencyLevel.ONE));
            }
            Session writer = coordinators.get(p % NODES);
            at(writer, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 705, 1)", ConsistencyLevel.ONE);
            for (Session through : coordinators)
                assertEquals(1, at(through, dead, ConsistencyLevel.ALL));
        }
    }

    /** The ends of the slice are no borders of buckets: 0 to 1,990 is dead, and asked for; the next live row is 2,500. */
    @Test
    public void deadRangesAreKnownToTheBordersOfTheirBuckets() throws Exception
    {
        String t = unguarded(2) + "_rows";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c))");
        ddl(TakingPart.begin(t, "mode=safe bucket=64 learn_every=1 back_off=1"));
        each(0, 200, ConsistencyLevel.ALL, i -> "INSERT INTO " + t + " (p, c, v) VALUES (1, " + 10 * i + ", 1)");
        at(session, "INSERT INTO " + t + " (p, c, v) VALUES (1, 2500, 1)", ConsistencyLevel.ALL);
        cluster.flush(t.substring(0, 2));
        becomesKnown("reads_skipped", t);
        each(0, 200, ConsistencyLevel.ALL, i -> "DELETE FROM " + t + " WHERE p = 1 AND c = " + 10 * i);
        cluster.flush(t.substring(0, 2));
        String dead = "SELECT c FROM " + t + " WHERE p = 1 AND c >= 0 AND c < 2000";
        for (Session through : coordinators)
            becomesSkippedRange(through, dead, dead);
        at(coordinators.get(NODES - 1), "INSERT INTO " + t + " (p, c, v) VALUES (1, 1999, 1)", ConsistencyLevel.ONE);
        for (Session through : coordinators)
            assertEquals(1, at(through, dead, ConsistencyLevel.ALL));
    }

    private static void becomesSkippedRange(Session through, String dead, String around) throws InterruptedException
    {
        for (int attempt = 0; attempt < 2_400; attempt++)
        {
            long before = counter(through, "reads_skipped");
            assertEquals(0, at(through, dead, ConsistencyLevel.ONE));
            if (counter(through, "reads_skipped") > before)
                return;
            // Replicas that have not yet tried to prove it are asked to.
            at(through, around, ConsistencyLevel.ALL);
            Thread.sleep(50);
        }
        throw new AssertionError("never skipped: " + dead);
    }

    @Test
    public void bucketsWantNumbers()
    {
        String t = unguarded(1) + "_words";
        ddl("CREATE TABLE " + t + " (p int, c text, PRIMARY KEY (p, c))");
        assertThrows(InvalidConfigurationInQueryException.class, () -> index(t));
    }
}
