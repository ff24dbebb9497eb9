package lacuna.cassandra;

import java.util.concurrent.locks.LockSupport;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.view.TableViews;

/**
 * Mode safe: a read of a new partition is answered only when every node that relies on this one knows the partition, so that no
 * later read gets "empty". While nothing is new a read pays a look at one word, else a lookup in a map that is nearly empty.
 */
final class Revealing
{
    private static final long LOOK_AGAIN_NANOS = 100_000;

    private Revealing() {}

    /**
     * Called by a read that has looked at all memtables and is not answered yet. It waits for a batched round trip as a
     * rule, for a lease at most.
     */
    static void await(TableFilter filter, DecoratedKey key)
    {
        if (filter.mode != Mode.SAFE || Exchange.isQuiet() || !Waits.current().forReads(filter))
            return;
        long[] hash = TableFilter.hash(key);
        if (isAllowed(filter, hash) || isForView())
            return;
        Lacuna.COUNTERS.readsHeld.increment();
        Exchange.wake();
        while (!isAllowed(filter, hash))
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
    }

    /**
     * Whether a write reads the rows there are, to change the views of the table: no client is shown them, and it would hold a lock and one of
     * the few threads for writes. What becomes visible in a view waits for nothing in any case.
     */
    private static boolean isForView()
    {
        return StackWalker.getInstance().walk(frames -> frames.anyMatch(frame -> frame.getClassName().equals(TableViews.class.getName())));
    }

    /**
     * Whether every node that relies on this one knows that a table has no filter any more. That was the last announcement about
     * the table, so it covers all keys.
     */
    static boolean knowDrop(TableFilter dropped)
    {
        return isAllowed(dropped, new long[2]);
    }

    /** A dropped filter is treated like any other: until other nodes know of the drop, they take its keys for absent. */
    private static boolean isAllowed(TableFilter filter, long[] hash)
    {
        if (!Exchange.isActive() || !Exchange.mayRely())
            return Acknowledgements.isOverAfterFailure();
        Lacuna.COUNTERS.newsAskedFor.increment();
        try
        {
            return Exchange.checked(Native.mayReveal(Exchange.hub(), filter.mode.number(), filter.high(), filter.low(), hash[0],
                                                     hash[1], Exchange.now())) == 1;
        }
        catch (Throwable failure)
        {
            Exchange.fail("reveal", failure);
            return false;
        }
    }
}
