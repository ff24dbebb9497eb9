package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import org.junit.Test;

/**
 * A row that a client has read, although its write is not acknowledged yet, is never denied afterwards. One frame in forty
 * arrives damaged, so that some keys are announced a tenth of a second late.
 */
public class ExchangedSeenTest extends WithFilters
{
    private static final int KEYS = 40;

    @Test
    public void partitionThatWasSeenIsNeverDenied() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        isNeverDenied(t, "INSERT INTO " + t + " (p, c, v) VALUES (%d, 1, 1)", "SELECT * FROM " + t + " WHERE p = %d");
    }

    @Test
    public void rowThatWasSeenIsNeverDenied() throws Exception
    {
        String t = unguarded(1) + "_rows";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c))");
        ddl(TakingPart.begin(t, "mode=safe bucket=16 back_off=1"));
        for (int p = 0; p < 8; p++)
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", -100, 1)", ConsistencyLevel.ONE);
        becomesKnown("reads_skipped", t);
        isNeverDenied(t, "INSERT INTO " + t + " (p, c, v) VALUES (%2$d, %1$d00, 1)",
                      "SELECT * FROM " + t + " WHERE p = %2$d AND c >= %1$d00 AND c <= %1$d10");
    }

    @Test
    public void whatAScanHasSeenIsNeverDenied() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        isNeverDenied(t, "INSERT INTO " + t + " (p, c, v) VALUES (%d, 1, 1)", "SELECT * FROM " + t + " WHERE p = %d",
                      "SELECT * FROM " + t + " WHERE token(p) >= token(%1$d) AND token(p) <= token(%1$d)");
    }

    /** Reads and overwrites look at a word then, and call nothing. New keys are the control. */
    @Test
    public void nothingIsAskedForWhileNothingIsNew() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        long before = askedFor();
        writeAndRead(t);
        assertTrue("new keys are asked for", askedFor() > before);
        // A filter may be made anew meanwhile, and a frame may be lost.
        long fewest = Long.MAX_VALUE;
        for (int pass = 0; pass < 8 && fewest > 0; pass++)
        {
            Thread.sleep(200);
            before = askedFor();
            writeAndRead(t);
            fewest = Math.min(fewest, askedFor() - before);
        }
        assertEquals(0, fewest);
    }

    private static long askedFor()
    {
        return coordinators.stream().mapToLong(node -> counter(node, "news_asked_for")).sum();
    }

    private static void writeAndRead(String t)
    {
        for (int p = 0; p < KEYS; p++)
        {
            insert(coordinators.get(p % NODES), t, p);
            assertEquals(1, read(coordinators.get((p + 1) % NODES), t, p));
        }
    }

    private static void isNeverDenied(String t, String insert, String read)
    {
        isNeverDenied(t, insert, read, read);
    }

    /** One client reads all the time while the write is under way; then others read. */
    private static void isNeverDenied(String t, String insert, String read, String look)
    {
        int early = 0;
        for (int key = 0; key < KEYS; key++)
        {
            String ask = filled(read, key);
            ResultSetFuture write = coordinators.get(key % NODES).executeAsync(filled(insert, key));
            Session first = coordinators.get((key + 1) % NODES);
            long end = System.nanoTime() + 60_000_000_000L;
            while (at(first, filled(look, key), ConsistencyLevel.ONE) == 0)
                assertTrue("key " + key + " is never seen", System.nanoTime() < end);
            early += write.isDone() ? 0 : 1;
            for (Session other : coordinators)
                assertEquals("key " + key + " through " + other.getCluster().getMetadata().getAllHosts(), 1, at(other, ask, ConsistencyLevel.ONE));
            write.getUninterruptibly();
        }
        System.out.printf("seen: %d of %d before the acknowledgement%n", early, KEYS);
        assertNotEquals("filters were used", 0, everywhere("reads_skipped"));
    }

    private static String filled(String statement, int key)
    {
        return String.format(statement, key, key % 8);
    }
}
