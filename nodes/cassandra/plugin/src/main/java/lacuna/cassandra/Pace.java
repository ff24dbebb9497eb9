package lacuna.cassandra;

import com.google.common.util.concurrent.RateLimiter;
import org.apache.cassandra.db.compaction.CompactionManager;

/** How fast one SSTable is read: Cassandra's limit for compactions ({@code compaction_throughput}) is shared with them. */
class Pace
{
    /** No limit, for what others wait for. */
    static final Pace FREE = new Pace()
    {
        @Override
        void read(long upTo) {}
    };
    /** A limiter costs a lock. */
    private static final long STEP = 1 << 16;

    private long before;

    private Pace() {}

    static Pace ofCompactions()
    {
        return new Pace();
    }

    /** As many bytes have been read by now: waits until that may be. */
    void read(long upTo)
    {
        long more = upTo - before;
        if (more < STEP)
            return;
        before = upTo;
        RateLimiter limiter = CompactionManager.instance.getRateLimiter();
        limiter.acquire((int) Math.min(more, Integer.MAX_VALUE));
    }
}
