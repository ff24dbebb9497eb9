package lacuna.cassandra;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Which reads of a table are looked into for deletions: one in so many; half as many with each dozen that find something alive, down
 * to a thirty-second part; as many as ever once one finds nothing alive.
 */
final class Learning
{
    private static final int PATIENCE = 12;
    private static final int RAREST = 32;

    private final int every;
    private final AtomicLong reads = new AtomicLong();
    private volatile int factor = 1;
    /** Only the prover's thread counts. */
    private int alive;

    /** 1 for every read, whatever it finds; 0 for none. */
    Learning(int every)
    {
        this.every = every;
    }

    /** Whether this read is one to look into. */
    boolean isNext()
    {
        return every > 0 && reads.incrementAndGet() % ((long) every * factor) == 0;
    }

    /** What a look has found, also one after a deletion. */
    void found(boolean isDead)
    {
        alive = isDead ? 0 : alive + 1;
        if (isDead)
            factor = 1;
        else if (every > 1 && alive % PATIENCE == 0)
            factor = Math.min(2 * factor, RAREST);
    }
}
