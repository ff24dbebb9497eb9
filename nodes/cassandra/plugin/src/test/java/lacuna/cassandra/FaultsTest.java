package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.DriverException;
import org.junit.Assume;
import org.junit.Test;

/**
 * Mode safe while nodes are killed, or stopped beyond their leases, and one frame in forty arrives damaged: a read
 * through any node finds what was acknowledged. Of two tables one is open for streams of new keys.
 *
 * <p>One replica a partition, so that every answer is the store's only one; each write is on disk before it is acknowledged
 * ({@link CommitLog#SYNCED}), so that a kill loses none. {@code -Dlacuna.checks=20000}, in the long tests only.
 */
public class FaultsTest extends WithFilters
{
    private static final int CHECKS = Integer.getInteger("lacuna.checks", 0);
    private static final int WORKERS = 6;
    /** Two stops, then a kill. */
    private static final int KINDS = 3;
    private static final int CALM_CHECKS = 300;
    private static final int ABSENT = 1 << 28;
    /** A lease, and a start's waiting, are over. */
    private static final long CALM_AFTER_MILLIS = 15_000;

    private final long seed = Long.getLong("lacuna.seed", 8);
    private final AtomicInteger nextKey = new AtomicInteger();
    private final AtomicInteger checks = new AtomicInteger();
    private final AtomicLong absentReads = new AtomicLong();
    private long calmReads;
    private long calmSkips;
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private volatile boolean isDone;

    @Test
    public void noAcknowledgedWriteIsDenied() throws Exception
    {
        Assume.assumeTrue("a long test", CHECKS > 0 && NODES == 3);
        String[] tables = { guarded(1, "safe"), guarded(1, "safe ingest=256") };
        for (String t : tables)
            becomesKnown("reads_skipped", t);
        Thread[] workers = new Thread[WORKERS];
        for (int worker = 0; worker < WORKERS; worker++)
        {
            Random random = new Random(seed + worker);
            workers[worker] = new Thread(() -> work(tables, random));
            workers[worker].start();
        }
        int faults = breakThings(new Random(seed));
        isDone = true;
        for (Thread worker : workers)
            worker.join();
        for (Session coordinator : coordinators)
            answersAgain(coordinator);
        // Of the lives that run now.
        long streamed = everywhere("writes_streamed");
        System.out.printf("faults: %d checks, %d faults, %d of %d absent keys skipped outside them, %d writes into open parts, seed %d%n",
                          checks.get(), faults, calmSkips, calmReads, streamed, seed);
        assertEquals("seed " + seed, "[]", wrong.toString());
        assertTrue("no key has streamed", streamed > 0);
        assertTrue(calmReads > 100 && calmSkips * 10 >= calmReads * 8);
    }

    /** Faults and calm by turns until enough was checked. */
    private int breakThings(Random random) throws Exception
    {
        int faults = 0;
        while ((checks.get() < CHECKS || faults < KINDS) && wrong.isEmpty())
        {
            Node node = cluster.nodes.get(1 + random.nextInt(NODES - 1));
            if (faults++ % KINDS == KINDS - 1)
            {
                node.kill();
                node.start(true, PROPERTIES);
                cluster.awaitAll();
            }
            else
                node.pause(4_000 + random.nextInt(4_000));
            Thread.sleep(CALM_AFTER_MILLIS);
            calm();
        }
        return faults;
    }

    /** The first node is never broken, and only absent keys are skipped through it. */
    private void calm() throws InterruptedException
    {
        long reads = absentReads.get();
        long skips = counter(coordinators.get(0), "reads_skipped");
        for (int end = checks.get() + Math.max(CALM_CHECKS, CHECKS / 40); checks.get() < end && wrong.isEmpty();)
            Thread.sleep(20);
        calmReads += absentReads.get() - reads;
        calmSkips += counter(coordinators.get(0), "reads_skipped") - skips;
    }

    private void work(String[] tables, Random random)
    {
        while (!isDone)
        {
            int p = nextKey.incrementAndGet();
            String t = tables[random.nextInt(tables.length)];
            Session writer = coordinators.get(random.nextInt(NODES));
            try
            {
                insert(writer, t, p);
            }
            catch (DriverException notAcknowledged)
            {
                continue;
            }
            for (Session reader : coordinators)
                check(reader, t, p);
            absent(coordinators.get(0), tables[0], ABSENT + random.nextInt(ABSENT));
        }
    }

    private void check(Session reader, String t, int p)
    {
        try
        {
            if (read(reader, t, p) != 1)
                wrong.add("key " + p + " through " + coordinators.indexOf(reader));
            checks.incrementAndGet();
        }
        catch (DriverException notNow)
        {
            // The replica or the coordinator is down: no answer is no lie.
        }
    }

    private void absent(Session through, String t, int p)
    {
        try
        {
            assertEquals(0, read(through, t, p));
            absentReads.incrementAndGet();
        }
        catch (DriverException notNow)
        {
            // As above.
        }
    }
}
