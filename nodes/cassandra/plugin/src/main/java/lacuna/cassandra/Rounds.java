package lacuna.cassandra;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Counts the rounds of a thread that other threads wait for. A stopped process makes no rounds, but its other threads do not run
 * either: so passed time alone does not show that the thread has ended.
 */
final class Rounds
{
    private static final int LOOKS = 100;

    private volatile long count;

    /** Called by the one thread. */
    void record()
    {
        count = count + 1;
    }

    /**
     * Waits for {@code latch} while rounds are made; false after a hundred looks in a row, {@code millis} in all, at which no round had
     * been made since the look before. A stop of the process, however long, is at most one look.
     */
    boolean await(CountDownLatch latch, long millis) throws InterruptedException
    {
        long last = count;
        for (int without = 0; without < LOOKS; without++)
        {
            if (latch.await(Math.max(1, millis / LOOKS), TimeUnit.MILLISECONDS))
                return true;
            long now = count;
            if (now != last)
                without = 0;
            last = now;
        }
        return false;
    }
}
