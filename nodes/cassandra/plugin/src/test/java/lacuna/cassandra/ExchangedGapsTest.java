package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Test;

/**
 * A row every second, with gaps of random length at random times, which know nothing of buckets: how many gaps of two buckets or more
 * are answered without a replica, by what is asked, and how many from row to row once they were asked for. {@code -Dlacuna.seed=8}
 */
public class ExchangedGapsTest extends WithFilters
{
    private static final long SECOND = 1_000;
    private static final long BUCKET = 10 * SECOND;
    private static final int SENSORS = 2;
    private static final boolean IS_LONG = Integer.getInteger("lacuna.checks", 0) > 0;
    private static final int GAPS = IS_LONG ? 200 : 20;
    private static final int MAX_GAP_SECONDS = 90;
    private static final int PERCENT = 90;

    private final long seed = Long.getLong("lacuna.seed", 8);

    /** Values of a sensor without a row: the rows at both ends are outside. */
    private record Gap(int sensor, long last, long next)
    {
        long firstBucket()
        {
            return Math.floorDiv(last, BUCKET) * BUCKET + BUCKET;
        }

        long endOfBuckets()
        {
            return Math.floorDiv(next, BUCKET) * BUCKET;
        }
    }

    private interface Question
    {
        /** First value, and the first one after the last. */
        long[] of(Gap gap);
    }

    private static final Question ROW_TO_ROW = gap -> new long[] { gap.last + 1, gap.next };

    @Test
    public void gapsOfTwoBucketsAreSkippedFromRowToRowOnceTheyWereAskedFor() throws Exception
    {
        String t = unguarded(3) + "_gaps";
        ddl("CREATE TABLE " + t + " (p int, c timestamp, v int, PRIMARY KEY (p, c)) WITH comment = '" + TakingPart.comment("mode=safe bucket=10s back_off=1") + "'");
        List<Gap> gaps = series(t);
        becomesKnown("reads_skipped", t);
        Random random = new Random(seed);
        Question window = gap ->
        {
            long from = gap.last + 1 + random.nextInt((int) (gap.next - gap.last - BUCKET));
            return new long[] { from, from + BUCKET };
        };
        long whole = best(t, gaps, gap -> new long[] { gap.firstBucket(), gap.endOfBuckets() });
        long firstWindow = IS_LONG ? withoutLearning(t, gaps, window) : -1;
        long first = share(t, gaps, ROW_TO_ROW);
        // Replicas prove it, and tell it to all.
        Thread.sleep(1_000);
        long again = best(t, gaps, ROW_TO_ROW);
        long secondWindow = best(t, gaps, window);
        System.out.printf("gaps: of %d gaps of two buckets or more, skipped by whole buckets %d %%, a window of one bucket's width %s %%, "
                          + "from row to row %d %%; after one question from row to row %d %% and %d %%, seed %d%n",
                          gaps.size(), whole, IS_LONG ? firstWindow : "(not asked)", first, secondWindow, again, seed);
        assertTrue(whole + " % by whole buckets, seed " + seed, whole >= PERCENT);
        assertTrue(first + " % from row to row at the first question, seed " + seed, first < 10);
        assertTrue(again + " % from row to row at the second question, seed " + seed, again >= PERCENT);
        assertTrue(secondWindow + " % of windows, seed " + seed, secondWindow >= PERCENT);
        rowsInGapsAreSeenAtOnce(t, gaps);
    }

    /** Replicas have read the gap and found nothing; before that counts, a row is written into it. */
    @Test
    public void aProofThatAWriteOvertakesDeniesNothing()
    {
        String t = unguarded(3);
        ddl(TakingPart.begin(t, "mode=safe bucket=16 back_off=1"));
        for (int c : new int[] { 3, 40 })
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (1, " + c + ", 1)", ConsistencyLevel.ALL);
        for (Session through : coordinators)
            Cluster.until("filters are known", () -> isCounted(through, "reads_skipped", t, 7));
        String gap = "SELECT v FROM " + t + " WHERE p = 1 AND c > 3 AND c < 40";
        long proven = sum("gaps_proven");
        long ended = proven + sum("regions_overtaken");
        switchEverywhere(Flaw.PROOFS_DO_NOT_END, true);
        try
        {
            // Damaged questions are lost.
            long asked = sum("regions_proposed");
            Cluster.until("all replicas prove it", () -> at(session, gap, ConsistencyLevel.ALL) == 0 && sum("regions_proposed") >= asked + NODES);
            Cluster.until("they have begun", () -> sum("proofs_waiting") == 0);
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (1, 9, 1)", ConsistencyLevel.ALL);
        }
        finally
        {
            switchEverywhere(Flaw.PROOFS_DO_NOT_END, false);
        }
        Cluster.until("the proofs have ended", () -> sum("regions_overtaken") + sum("gaps_proven") >= ended + NODES);
        for (int round = 0; round < 300; round++)
            assertEquals(1, at(coordinators.get(round % NODES), gap, ConsistencyLevel.ONE));
        assertEquals("none counted", proven, sum("gaps_proven"));
    }

    /** What is known of the table is forgotten before and after. */
    private long withoutLearning(String t, List<Gap> gaps, Question question) throws InterruptedException
    {
        ddl(TakingPart.begin(t, "mode=safe bucket=10s learn_every=0 back_off=1"));
        becomesKnown("reads_skipped", t);
        long share = share(t, gaps, question);
        ddl(TakingPart.begin(t, "mode=safe bucket=10s back_off=1"));
        becomesKnown("reads_skipped", t);
        return share;
    }

    /** Of each gap that is known, rows at its ends, beside them and in the middle. */
    private void rowsInGapsAreSeenAtOnce(String t, List<Gap> gaps)
    {
        Random random = new Random(seed);
        for (int i = 0; i < gaps.size(); i++)
        {
            Gap gap = gaps.get(i);
            long[] rows = { gap.last + 1, gap.next - 1, gap.firstBucket() - 1, gap.firstBucket(), gap.last + 1 + random.nextInt((int) (gap.next - gap.last - 1)) };
            long row = rows[random.nextInt(rows.length)];
            Session through = coordinators.get(i % NODES);
            at(coordinators.get((i + 1) % NODES), "INSERT INTO " + t + " (p, c, v) VALUES (" + gap.sensor + ", " + row + ", 2)", ConsistencyLevel.QUORUM);
            assertEquals(gap + ", row " + row + ", seed " + seed, 1, read(through, t, gap.sensor, gap.last + 1, gap.next));
            assertEquals(gap + ", row " + row + ", seed " + seed, 1, read(through, t, gap.sensor, row, row + 1));
            at(through, "DELETE FROM " + t + " WHERE p = " + gap.sensor + " AND c = " + row, ConsistencyLevel.ALL);
        }
    }

    /** Writes it; the gaps of two buckets or more. */
    private List<Gap> series(String t)
    {
        List<Gap> gaps = new ArrayList<>();
        Random random = new Random(seed);
        for (int sensor = 0; sensor < SENSORS; sensor++)
        {
            // Before and after 1970.
            long start = -1_500 * SECOND + random.nextInt(1_000);
            for (int gap = 0; gap < GAPS; gap++)
            {
                long last = start + random.nextInt(30) * SECOND;
                at(session, rows(t, sensor, start, last), ConsistencyLevel.ALL);
                start = last + (1 + random.nextInt(MAX_GAP_SECONDS)) * SECOND;
                if (start - last >= 2 * BUCKET)
                    gaps.add(new Gap(sensor, last, start));
            }
            at(session, rows(t, sensor, start, start), ConsistencyLevel.ALL);
        }
        return gaps;
    }

    private static String rows(String t, int sensor, long first, long last)
    {
        return LongStream.iterate(first, c -> c <= last, c -> c + SECOND)
                         .mapToObj(c -> "INSERT INTO " + t + " (p, c, v) VALUES (" + sensor + ", " + c + ", 1);")
                         .collect(Collectors.joining(" ", "BEGIN UNLOGGED BATCH ", " APPLY BATCH"));
    }

    /** Of some passes: a lease may end on a busy machine. */
    private long best(String t, List<Gap> gaps, Question question) throws InterruptedException
    {
        long best = 0;
        for (int pass = 0; pass < 3 && best < PERCENT; pass++)
        {
            if (pass > 0)
                Thread.sleep(500);
            best = Math.max(best, share(t, gaps, question));
        }
        return best;
    }

    /** Of a counter, over all nodes. */
    private static long sum(String name)
    {
        return coordinators.stream().mapToLong(node -> counter(node, name)).sum();
    }

    /** In percent. */
    private long share(String t, List<Gap> gaps, Question question)
    {
        long before = sum("reads_skipped");
        for (int i = 0; i < gaps.size(); i++)
        {
            Session through = coordinators.get(i % NODES);
            Gap gap = gaps.get(i);
            long[] ends = question.of(gap);
            assertEquals(gap + ", seed " + seed, 0, read(through, t, gap.sensor, ends[0], ends[1]));
            // The rows beside it are not denied.
            assertEquals(gap + ", seed " + seed, 2, read(through, t, gap.sensor, gap.last, gap.next + 1));
        }
        return (sum("reads_skipped") - before) * 100 / gaps.size();
    }

    private static int read(Session through, String t, int p, long from, long to)
    {
        return at(through, "SELECT v FROM " + t + " WHERE p = " + p + " AND c >= " + from + " AND c < " + to, ConsistencyLevel.QUORUM);
    }
}
