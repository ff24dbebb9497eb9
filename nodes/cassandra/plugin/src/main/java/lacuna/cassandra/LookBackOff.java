package lacuna.cassandra;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Which reads of one table look at the node filters at their coordinator: all of them; one in two after {@link #PATIENCE} looks in a row
 * that allowed no skip; one in four after as many again, and so on up to a bound; all again after one skip.
 *
 * <p>A read that does not look goes to the replicas, so the answer is the same. Of each {@code n} reads one looks, at a place that
 * changes: a client may ask for an absent key with one request in four, and every 64th read might never be that one. So two looks
 * are less than {@code 2 n} reads apart. A read that did not look and found nothing looks afterwards ({@link #missed}), so most
 * tables that become sparse are noticed by the first such read.
 */
final class LookBackOff
{
    /** A table of which one read in twenty can be skipped has a run of 128 looks without a skip once in 14,000 looks. */
    static final int PATIENCE = 128;

    private final int max;
    /** Looks in a row from which on the bound is reached. */
    private final int enough;
    /** Looks in a row that allowed no skip. */
    private final AtomicInteger fruitless = new AtomicInteger();
    /** Reads while not all look. */
    private final AtomicLong reads = new AtomicLong();

    private final LongAdder looks = new LongAdder();
    private final LongAdder leftOut = new LongAdder();
    private final LongAdder missed = new LongAdder();

    /** At least one read in {@code max} looks; 1 for every read. */
    LookBackOff(int max)
    {
        this.max = max;
        this.enough = PATIENCE * (Integer.SIZE - Integer.numberOfLeadingZeros(max - 1));
    }

    /** Whether the next read is to look. */
    boolean isNext()
    {
        int every = every();
        boolean isChosen = every == 1 || isChosen(reads.getAndIncrement(), every);
        (isChosen ? looks : leftOut).increment();
        if (!isChosen)
            Lacuna.COUNTERS.looksLeftOut.increment();
        return isChosen;
    }

    private static boolean isChosen(long read, int every)
    {
        return read % every == Long.remainderUnsigned(scattered(read / every), every);
    }

    /** The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). */
    private static long scattered(long number)
    {
        long z = (number + 1) * 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** One in this many reads looks now. */
    int every()
    {
        return Math.min(1 << fruitless.get() / PATIENCE, max);
    }

    /** The outcome of a look: whether its read was skipped, or at least spared dead rows. */
    void looked(boolean isOfUse)
    {
        if (!isOfUse)
            fruitless.updateAndGet(count -> Math.min(count + 1, enough));
        else if (fruitless.get() != 0)
            fruitless.set(0);
    }

    /** A read that did not look could have been skipped. */
    void missed()
    {
        missed.increment();
        Lacuna.COUNTERS.skipsMissed.increment();
        looked(true);
    }

    long looks()
    {
        return looks.sum();
    }

    long leftOutCount()
    {
        return leftOut.sum();
    }

    long missedCount()
    {
        return missed.sum();
    }
}
