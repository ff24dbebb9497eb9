package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Queue;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.DriverException;
import org.junit.Assume;
import org.junit.Test;

/**
 * Queues of three replicas, written and read at QUORUM through any node, while nodes are killed, or stopped beyond their leases: rows
 * are added at either end and put back at the head, deleted one by one and by ranges; a read of either end shows what a model says.
 * {@code -Dlacuna.checks=20000}, in the long tests only; {@code -Dlacuna.flaws=NO_MARKS_BEFORE_WRITES,NO_MARKS_AFTER_WRITES} to see that
 * those are found.
 */
public class HeadsFaultsTest extends WithFilters
{
    private static final int CHECKS = Integer.getInteger("lacuna.checks", 0);
    private static final int WORKERS = 6;
    private static final int KINDS = 3;
    private static final long CALM_MILLIS = 8_000;
    private static final int MIDDLE = 1 << 20;

    private final long seed = Long.getLong("lacuna.seed", 8);
    private final AtomicLong clock = new AtomicLong(System.currentTimeMillis() * 1_000);
    private final AtomicInteger nextPartition = new AtomicInteger();
    private final AtomicInteger checks = new AtomicInteger();
    private final AtomicInteger empty = new AtomicInteger();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private volatile boolean isDone;

    @Test
    public void noQueueIsDeniedItsEnds() throws Exception
    {
        Assume.assumeTrue("a long test", CHECKS > 0 && NODES == 3);
        String t = unguarded(3);
        ddl(TakingPart.begin(t, "mode=safe bucket=64 learn_every=4 back_off=1"));
        becomesKnown("reads_skipped", t);
        Flaw.asked().forEach(flaw -> switchEverywhere(flaw, true));
        Thread[] workers = new Thread[WORKERS];
        for (int worker = 0; worker < WORKERS; worker++)
        {
            Worker each = new Worker(t, new Random(seed + worker));
            workers[worker] = new Thread(each::run);
            workers[worker].start();
        }
        int faults = breakThings(new Random(seed));
        isDone = true;
        for (Thread worker : workers)
            worker.join();
        for (Session coordinator : coordinators)
            answersAgain(coordinator);
        long narrowed = counter(coordinators.get(0), "reads_narrowed");
        System.out.printf("heads: %d checks, %d of them empty, %d faults, %d queues; through the node that was never broken %d reads narrowed, "
                          + "%d repeated, seed %d%n", checks.get(), empty.get(), faults, nextPartition.get(), narrowed,
                          counter(coordinators.get(0), "reads_repeated"), seed);
        assertEquals("seed " + seed, "[]", wrong.toString());
        assertTrue(narrowed + " reads narrowed", narrowed * 30 >= checks.get());
    }

    /** The first node is never broken. */
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
                node.pause(2_000 + random.nextInt(4_000));
            Thread.sleep(CALM_MILLIS);
            if (faults % 2 == 0)
                cluster.nodes.get(0).flush("x3");
        }
        return faults;
    }

    /** One queue after the other: of one whose write was not acknowledged nothing is known. */
    private final class Worker
    {
        private final String t;
        private final Random random;
        private int p;
        private TreeSet<Integer> rows;
        private int low;
        private int high;

        Worker(String t, Random random)
        {
            this.t = t;
            this.random = random;
        }

        void run()
        {
            while (!isDone)
            {
                p = nextPartition.incrementAndGet();
                rows = new TreeSet<>();
                low = MIDDLE;
                high = MIDDLE;
                try
                {
                    while (!isDone && high - low < 3_000)
                    {
                        write();
                        check();
                    }
                }
                catch (DriverException notAcknowledged)
                {
                    // The next one.
                }
            }
        }

        private void write()
        {
            switch (random.nextInt(12))
            {
                case 0, 1, 2 -> insert(high++);
                case 3 -> insert(--low);
                case 4, 5, 6, 7 -> delete(rows.isEmpty() ? high : rows.first());
                case 8 -> delete(rows.isEmpty() ? low : rows.last());
                case 9 -> moveToHead();
                case 10 -> deleteBelow(low + random.nextInt(8));
                default -> execute("INSERT INTO " + t + " (p, s) VALUES (" + p + ", 1) USING TIMESTAMP " + clock.incrementAndGet());
            }
        }

        private void insert(int c)
        {
            execute("INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + c + ", " + c + ") USING TIMESTAMP " + clock.incrementAndGet());
            rows.add(c);
        }

        private void delete(int c)
        {
            execute("DELETE FROM " + t + " USING TIMESTAMP " + clock.incrementAndGet() + " WHERE p = " + p + " AND c = " + c);
            rows.remove(c);
        }

        private void moveToHead()
        {
            if (rows.isEmpty())
                return;
            int from = rows.last();
            int to = rows.first() - 1 - random.nextInt(5);
            execute("BEGIN BATCH USING TIMESTAMP " + clock.incrementAndGet() + " DELETE FROM " + t + " WHERE p = " + p + " AND c = " + from
                    + "; INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + to + ", " + to + "); APPLY BATCH");
            rows.remove(from);
            rows.add(to);
            low = Math.min(low, to);
        }

        private void deleteBelow(int c)
        {
            execute("DELETE FROM " + t + " USING TIMESTAMP " + clock.incrementAndGet() + " WHERE p = " + p + " AND c < " + c);
            rows.headSet(c).clear();
        }

        private void execute(String cql)
        {
            at(any(), cql, ConsistencyLevel.QUORUM);
        }

        private Session any()
        {
            return coordinators.get(random.nextInt(NODES));
        }

        private void check()
        {
            boolean isFirst = random.nextInt(3) > 0;
            int from = low + random.nextInt(4);
            String order = isFirst ? " AND c >= " + from : " AND c > " + (from - 1) + " ORDER BY c DESC";
            Stream<Integer> expected = (isFirst ? rows.tailSet(from, true) : rows.tailSet(from, true).descendingSet()).stream().limit(2);
            boolean isAll = random.nextBoolean() && from == low;
            String query = "SELECT v FROM " + t + " WHERE p = " + p + (isAll ? isFirst ? "" : " ORDER BY c DESC" : order) + " LIMIT 2";
            try
            {
                var found = any().execute(new SimpleStatement(query).setConsistencyLevel(ConsistencyLevel.QUORUM)).all().stream()
                                 .filter(row -> !row.isNull(0)).map(row -> row.getInt(0)).toList();
                if (!found.equals(expected.toList()))
                    wrong.add(query + ": " + found + " of " + rows);
                checks.incrementAndGet();
                empty.addAndGet(found.isEmpty() ? 1 : 0);
            }
            catch (DriverException notNow)
            {
                // No answer is no lie.
            }
        }
    }
}
