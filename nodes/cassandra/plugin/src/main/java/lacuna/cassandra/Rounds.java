package lacuna.cassandra;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Rounds of a thread that others wait for. A process that is stopped for a while makes none, and neither does anybody wait: so time
 * alone does not tell that the thread has ended.
 */
final class Rounds
{
    private static final int LOOKS = 100;

    private volatile long count;

    /** Called by the one thread. */
    void made()
    {
        count = count + 1;
    }

    /**
     * Waits for {@code told} while rounds are made; false after a hundred looks in a row, {@code millis} in all, at which no round had
     * been made since the look before. A stop of the process, however long, is at most one look.
     */
    boolean await(CountDownLatch told, long millis) throws InterruptedException
    {
        long last = count;
        for (int without = 0; without < LOOKS; without++)
        {
            if (told.await(Math.max(1, millis / LOOKS), TimeUnit.MILLISECONDS))
                return true;
            long now = count;
            if (now != last)
                without = 0;
            last = now;
        }
        return false;
    }
}
