package lacuna.cassandra;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.CountDownLatch;

import org.junit.Test;

/** Who waits for the exchange's thread goes on as long as that works. */
public class RoundsTest
{
    /** Told after four times as long as anybody waits for a thread that does nothing. */
    @Test
    public void slowRoundsAreWaitedFor() throws Exception
    {
        Rounds rounds = new Rounds();
        CountDownLatch told = new CountDownLatch(1);
        Thread worker = new Thread(() ->
        {
            long end = System.nanoTime() + 4_000_000_000L;
            while (System.nanoTime() < end)
            {
                rounds.made();
                Thread.onSpinWait();
            }
            told.countDown();
        });
        worker.start();
        assertTrue(rounds.await(told, 1_000));
        worker.join();
    }

    @Test
    public void endedRoundsAreNoticed() throws Exception
    {
        Rounds rounds = new Rounds();
        rounds.made();
        assertFalse(rounds.await(new CountDownLatch(1), 200));
    }
}
