package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Map;
import java.util.stream.IntStream;

import org.apache.cassandra.exceptions.ConfigurationException;
import org.junit.Test;

/** Which reads of a table look at the node filters. */
public class LookBackOffTest
{
    private static final int MAX = 64;
    /** Until one read in 64 looks: 128 looks each at one in 1, 2, 4, 8, 16 and 32. */
    private static final int READS_TO_MAX = LookBackOff.PATIENCE * (MAX - 1);

    /** Reads that cannot be skipped. */
    private static int looks(LookBackOff backOff, int reads)
    {
        int looks = 0;
        for (int read = 0; read < reads; read++)
            looks += reads(backOff, false) ? 1 : 0;
        return looks;
    }

    /** Whether it looked. */
    private static boolean reads(LookBackOff backOff, boolean isAbsent)
    {
        boolean isLooking = backOff.isNext();
        if (isLooking)
            backOff.looked(isAbsent);
        return isLooking;
    }

    private static LookBackOff atMax()
    {
        LookBackOff backOff = new LookBackOff(MAX);
        looks(backOff, READS_TO_MAX + 2 * MAX);
        assertEquals(MAX, backOff.every());
        return backOff;
    }

    @Test
    public void everyReadLooksUntilManyLookedInVain()
    {
        LookBackOff backOff = new LookBackOff(MAX);
        assertEquals(LookBackOff.PATIENCE, looks(backOff, LookBackOff.PATIENCE));
        for (int every = 2; every <= MAX; every *= 2)
        {
            assertEquals(every, backOff.every());
            int reads = LookBackOff.PATIENCE * every;
            assertEquals("one in " + every, LookBackOff.PATIENCE, looks(backOff, reads), 1);
            // The last of them may come one block later.
            for (int read = 0; backOff.every() == every && every < MAX; read++)
            {
                assertTrue(read < 2 * every);
                reads(backOff, false);
            }
        }
        assertEquals("no fewer", 1_000, looks(backOff, 1_000 * MAX), 1);
    }

    @Test
    public void everyReadIsCountedOnce()
    {
        LookBackOff backOff = new LookBackOff(MAX);
        int looks = looks(backOff, 100_000);
        assertEquals(looks, backOff.looks());
        assertEquals(100_000 - looks, backOff.leftOutCount());
        assertEquals(0, backOff.missedCount());
        assertEquals(6 * LookBackOff.PATIENCE + (100_000 - READS_TO_MAX) / MAX, looks, 7);
    }

    @Test
    public void readsSideBySideAreCountedOnce()
    {
        LookBackOff backOff = atMax();
        long before = backOff.looks() + backOff.leftOutCount();
        long looksBefore = backOff.looks();
        int looks = IntStream.range(0, 4).parallel().map(thread -> looks(backOff, 16_000)).sum();
        assertEquals(64_000, backOff.looks() + backOff.leftOutCount() - before);
        assertEquals(looks, backOff.looks() - looksBefore);
        assertEquals(64_000 / MAX, looks, 1);
    }

    @Test
    public void aTableThatBecomesSparseIsNoticedWithin127Reads()
    {
        for (int more = 0; more < 10 * MAX; more++)
        {
            LookBackOff backOff = atMax();
            looks(backOff, more);
            int reads = 1;
            while (!reads(backOff, true))
                assertTrue("after " + reads, ++reads < 2 * MAX);
            assertEquals("all look again", 100, looks(backOff, 100));
        }
    }

    @Test
    public void aReadThatMissedItsSkipIsEnough()
    {
        LookBackOff backOff = atMax();
        backOff.missed();
        assertEquals(1, backOff.missedCount());
        assertEquals(1, backOff.every());
        assertEquals("a whole run is needed again", LookBackOff.PATIENCE, looks(backOff, LookBackOff.PATIENCE));
        assertEquals(2, backOff.every());
    }

    @Test
    public void oneSkipInTwentyReadsKeepsAllLooking()
    {
        LookBackOff backOff = new LookBackOff(MAX);
        for (int read = 0; read < 10_000; read++)
            assertTrue(reads(backOff, read % 20 == 19));
    }

    /** A client may ask for what is absent with every second, third or 64th request. */
    @Test
    public void noRhythmOfReadsIsOverlooked()
    {
        for (int rhythm = 2; rhythm <= MAX; rhythm++)
            for (int phase = 0; phase < rhythm; phase++)
            {
                LookBackOff backOff = atMax();
                int read = 0;
                while (backOff.every() == MAX)
                {
                    reads(backOff, read % rhythm == phase);
                    assertTrue("one in " + rhythm + " from " + phase, ++read < 16 * MAX * rhythm);
                }
            }
    }

    @Test
    public void tablesHaveNothingInCommon()
    {
        LookBackOff other = new LookBackOff(MAX);
        atMax();
        assertEquals(1, other.every());
        assertEquals(0, other.looks() + other.leftOutCount());
    }

    @Test
    public void oneIsForEveryRead()
    {
        assertEquals(10_000, looks(new LookBackOff(1), 10_000));
        assertEquals("no power of two", 1, looks(new LookBackOff(100), 50_000) / 1_000);
        assertEquals(64, TableOptions.of(Map.of("mode", "safe")).backOff);
        assertEquals(1, TableOptions.of(Map.of("mode", "safe", "back_off", "1")).backOff);
        assertThrows(ConfigurationException.class, () -> TableOptions.of(Map.of("mode", "safe", "back_off", "0")));
    }
}
