package lacuna.cassandra;

import java.util.concurrent.locks.LockSupport;

import org.apache.cassandra.db.DecoratedKey;

/**
 * Mode safe: what a read has found of a new partition is shown to nobody before everybody who relies on this node knows the
 * partition, so that no later read is told "empty". All other reads pay one lookup in a map that is nearly empty.
 */
final class Revealing
{
    private static final long LOOK_AGAIN_NANOS = 100_000;

    private Revealing() {}

    /**
     * Called by a read that has looked at all memtables and has answered nobody yet. It waits for a batched round trip as a
     * rule, for a lease at most.
     */
    static void await(TableFilter filter, DecoratedKey key)
    {
        if (filter.mode != Mode.SAFE || !Waits.current().forReads(filter))
            return;
        long[] hash = TableFilter.hash(key);
        if (isAllowed(filter, hash))
            return;
        Lacuna.COUNTERS.readsHeld.increment();
        Exchange.wake();
        while (!isAllowed(filter, hash))
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
    }

    /**
     * Whether everybody who relies on this node has heard that a table has no filter any more. That was the last that was to be
     * told of it, so it speaks for all keys.
     */
    static boolean isTold(TableFilter dropped)
    {
        return isAllowed(dropped, new long[2]);
    }

    /** A dropped filter is asked like any other: until others know, they take its keys for absent. */
    private static boolean isAllowed(TableFilter filter, long[] hash)
    {
        if (!Exchange.isActive() || !Exchange.mayRely())
            return Acknowledgements.isOverAfterFailure();
        try
        {
            return Exchange.checked(Native.mayReveal(Exchange.hub(), filter.mode.number(), filter.high(), filter.low(), hash[0],
                                                     hash[1], Exchange.now())) == 1;
        }
        catch (Throwable failure)
        {
            Exchange.failed("reveal", failure);
            return false;
        }
    }
}
