package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class LearningTest
{
    private static final int READS = 128 * 32;

    private static int looks(Learning learning)
    {
        int looks = 0;
        for (int read = 0; read < READS; read++)
            looks += learning.isNext() ? 1 : 0;
        return looks;
    }

    private static Learning after(int every, int alive)
    {
        Learning learning = new Learning(every);
        for (int look = 0; look < alive; look++)
            learning.record(false);
        return learning;
    }

    @Test
    public void fewerReadsAreLookedIntoWhileAllIsAlive()
    {
        assertEquals(READS / 4, looks(after(4, 11)));
        assertEquals(READS / 8, looks(after(4, 12)));
        assertEquals(READS / 16, looks(after(4, 24)));
        assertEquals("no fewer", READS / 128, looks(after(4, 1_000)));
    }

    @Test
    public void oneDeathIsEnoughToLookAsOftenAsEver()
    {
        Learning learning = after(4, 1_000);
        learning.record(true);
        assertEquals(READS / 4, looks(learning));
        for (int look = 0; look < 11; look++)
            learning.record(false);
        assertEquals(READS / 4, looks(learning));
    }

    @Test
    public void everyReadOrNoneIsWhatWasAskedFor()
    {
        assertEquals(READS, looks(after(1, 1_000)));
        assertEquals(0, looks(after(0, 1_000)));
    }

    @Test
    public void everyGapIsLookedIntoUnlessProofsFindNone()
    {
        assertEquals(READS, looks(Learning.ofGaps(32)));
        assertEquals(0, looks(Learning.ofGaps(0)));
        Learning gaps = Learning.ofGaps(1);
        for (int look = 0; look < 12; look++)
            gaps.record(false);
        assertEquals(READS / 2, looks(gaps));
        gaps.record(true);
        assertEquals(READS, looks(gaps));
    }
}
