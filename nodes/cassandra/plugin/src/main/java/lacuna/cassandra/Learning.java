package lacuna.cassandra;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Which reads of a table are examined for deletions: one in {@code every}; half as many after each twelve in a row that found live
 * data, down to a thirty-second part; all of them again after one that found none.
 */
final class Learning
{
    private static final int PATIENCE = 12;
    private static final int RAREST = 32;

    private final int every;
    private final boolean isFixed;
    private final AtomicLong reads = new AtomicLong();
    private volatile int factor = 1;
    /** Only the prover's thread counts. */
    private int alive;

    /** 1 for every read, whatever it finds; 0 for none. */
    Learning(int every)
    {
        this(every, every == 1);
    }

    private Learning(int every, boolean isFixed)
    {
        this.every = every;
        this.isFixed = isFixed;
    }

    /** Every gap that a read has met, fewer while proofs find none; no gap of a table that examines no read. */
    static Learning ofGaps(int every)
    {
        return new Learning(Math.min(every, 1), false);
    }

    /** Whether this read is to be examined. */
    boolean isNext()
    {
        return every > 0 && reads.incrementAndGet() % ((long) every * factor) == 0;
    }

    /** The result of an examination, also of one after a deletion. */
    void record(boolean isDead)
    {
        alive = isDead ? 0 : alive + 1;
        if (isDead)
            factor = 1;
        else if (!isFixed && alive % PATIENCE == 0)
            factor = Math.min(2 * factor, RAREST);
    }
}
