package lacuna.cassandra;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.CountDownLatch;

import org.junit.Test;

/** Who waits for the exchange's thread goes on as long as that works. */
public class RoundsTest
{
    /** Released after four times as long as a caller waits for a thread that does nothing. */
    @Test
    public void slowRoundsAreWaitedFor() throws Exception
    {
        Rounds rounds = new Rounds();
        CountDownLatch latch = new CountDownLatch(1);
        Thread worker = new Thread(() ->
        {
            long end = System.nanoTime() + 4_000_000_000L;
            while (System.nanoTime() < end)
            {
                rounds.record();
                Thread.onSpinWait();
            }
            latch.countDown();
        });
        worker.start();
        assertTrue(rounds.await(latch, 1_000));
        worker.join();
    }

    @Test
    public void endedRoundsAreNoticed() throws Exception
    {
        Rounds rounds = new Rounds();
        rounds.record();
        assertFalse(rounds.await(new CountDownLatch(1), 200));
    }
}
