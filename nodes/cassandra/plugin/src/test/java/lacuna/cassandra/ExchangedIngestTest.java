package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

/** Mode safe while new keys stream into a table: parts of it are open for them, their writes do not wait, and none is denied. */
public class ExchangedIngestTest extends WithFilters
{
    private static final int WORKERS = 8;
    private static final int KEYS = 2_000;
    private static final int ABSENT = 1 << 28;

    /** Each worker writes through one node and reads through all. */
    @Test
    public void acknowledgedKeysOfAStreamAreSeenThroughEveryCoordinator() throws Exception
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
        String t = guarded(1, "safe ingest=256");
        becomesKnown("reads_skipped", t);
        long streamed = everywhere("writes_streamed");
        long opened = everywhere("slots_opened");
        AtomicInteger nextKey = new AtomicInteger();
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        Thread[] workers = new Thread[WORKERS];
        for (int worker = 0; worker < WORKERS; worker++)
        {
            Session writer = coordinators.get(worker % NODES);
            workers[worker] = new Thread(() -> stream(writer, t, nextKey, wrong));
            workers[worker].start();
        }
        for (Thread worker : workers)
            worker.join();
        streamed = everywhere("writes_streamed") - streamed;
        opened = everywhere("slots_opened") - opened;
        long forwarded = forwarded(t);
        System.out.printf("ingest: of %d new keys %d came to open parts, of which %d were opened; %d reads were forwarded for one%n", KEYS, streamed,
                          opened, forwarded);
        assertEquals("[]", wrong.toString());
        assertTrue(streamed + " of " + KEYS, streamed * 20 > KEYS);
        assertTrue(opened > 0 && forwarded > 0);
        // The stream has ended, so absent keys are skipped again, in every part of the table.
        becomesKnown("reads_skipped", t);
        for (Session coordinator : coordinators)
            for (int p = 1; p <= KEYS; p += 7)
                assertEquals("key " + p, 1, read(coordinator, t, p));
    }

    private static void stream(Session writer, String t, AtomicInteger nextKey, Queue<String> wrong)
    {
        for (int p = nextKey.incrementAndGet(); p <= KEYS; p = nextKey.incrementAndGet())
        {
            insert(writer, t, p);
            for (Session reader : coordinators)
                if (read(reader, t, p) != 1)
                    wrong.add("key " + p + " through " + coordinators.indexOf(reader));
            read(coordinators.get(0), t, ABSENT + p);
        }
    }

    /** Reads through the first node that went to replicas because of open parts. */
    private static long forwarded(String t)
    {
        String[] names = t.split("\\.");
        Row row = coordinators.get(0).execute("SELECT reads FROM lacuna.reasons WHERE keyspace_name = ? AND table_name = ? AND reason = 'ingest'",
                                              names[0], names[1]).one();
        return row == null ? 0 : row.getLong(0);
    }

    @Test
    public void rowsOfAStreamAreSeenThroughEveryCoordinator() throws Exception
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
        String t = unguarded(1);
        ddl(TakingPart.begin(t, "mode=safe bucket=16 ingest=256 back_off=1"));
        becomesKnown("reads_skipped", t);
        long streamed = everywhere("writes_streamed");
        for (int c = 0; c < 400; c++)
        {
            int p = c % 5;
            String row = " WHERE p = " + p + " AND c >= " + 16 * c + " AND c < " + (16 * c + 16);
            at(coordinators.get(c % NODES), "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + (16 * c + 3) + ", 1)", ConsistencyLevel.ONE);
            assertEquals("bucket " + c, 1, at(coordinators.get((c + 1) % NODES), "SELECT * FROM " + t + row, ConsistencyLevel.ONE));
        }
        assertTrue("no row came to an open part", everywhere("writes_streamed") > streamed);
    }

    @Test
    public void nothingStreamsWhereTheOptionSaysSo() throws Exception
    {
        String t = guarded(1, "safe ingest=0");
        becomesKnown("reads_skipped", t);
        long opened = everywhere("slots_opened");
        each(0, 600, ConsistencyLevel.ONE, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
        assertEquals(opened, everywhere("slots_opened"));
    }
}
