package lacuna.cassandra;

import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/**
 * Mode shadow, for one table: what its reads through this node would have saved in mode safe, and what its writes here would have
 * waited. Counted on a sample of the partitions.
 *
 * <p>What a new key costs in mode safe is a round trip that its writer waits for. That time is not there to be measured, so a write
 * that would have waited counts as much as a read takes, which is a round trip too.
 */
final class Report
{
    /** Fewer reads of the sample say nothing. */
    static final int MIN_READS = 1_000;
    private static final double NANOS_PER_MILLI = 1e6;
    /** Worth a round trip of every writer, and the trouble. */
    private static final double CLEARLY = 2;
    private static final double MIN_SHARE = 0.05;

    final int sample;
    final long since = System.currentTimeMillis();
    private final LongAdder looks = new LongAdder();
    private final LongAdder lookNanos = new LongAdder();
    private final LongAdder fullLooks = new LongAdder();
    private final LongAdder fullLookNanos = new LongAdder();
    private final LongAdder reads = new LongAdder();
    private final LongAdder readNanos = new LongAdder();
    private final LongAdder skippable = new LongAdder();
    private final LongAdder skippableNanos = new LongAdder();
    private final LongAdder replicaReads = new LongAdder();
    private final LongAdder writes = new LongAdder();
    private final LongAdder waiting = new LongAdder();

    Report(int sample)
    {
        this.sample = sample;
    }

    /** Before any read of the table; {@code isFull} if its partition is of the sample. */
    void looked(long nanos, boolean isFull)
    {
        looks.increment();
        lookNanos.add(nanos);
        if (!isFull)
            return;
        fullLooks.increment();
        fullLookNanos.add(nanos);
    }

    /** A read of the sample; it would have saved that many replicas a read, 0 if it would not have been skipped. */
    void read(long nanos, int savedReplicaReads)
    {
        reads.increment();
        readNanos.add(nanos);
        if (savedReplicaReads == 0)
            return;
        skippable.increment();
        skippableNanos.add(nanos);
        replicaReads.add(savedReplicaReads);
    }

    /** A write of the sample, at one of its replicas; {@code isNews} if its acknowledgement would have waited. */
    void wrote(boolean isNews)
    {
        writes.increment();
        if (isNews)
            waiting.increment();
    }

    /** What is known so far, for all partitions. Each write is counted by {@code copies} nodes, each read by one. */
    Sums sums(int copies)
    {
        return new Sums(this, copies);
    }

    private static double mean(long nanos, long count)
    {
        return count == 0 ? 0 : nanos / NANOS_PER_MILLI / count;
    }

    /** Estimates for all partitions, times in milliseconds. */
    static final class Sums
    {
        /** How many reads it rests on. */
        final long sampled;
        final long reads;
        final long skippable;
        final long replicaReads;
        final double perRead;
        final double savedMillis;
        /** What looks at all reads would cost in mode safe. */
        final double lookMillis;
        /** What the look at a read costs now, with few of them in the sample. */
        final double perLook;
        final long writes;
        final long waiting;
        final double insertMillis;

        private Sums(Report report, int copies)
        {
            sampled = report.reads.sum();
            reads = report.sample * sampled;
            skippable = report.sample * report.skippable.sum();
            replicaReads = report.sample * report.replicaReads.sum();
            perRead = mean(report.readNanos.sum(), sampled);
            savedMillis = report.sample * (report.skippableNanos.sum() / NANOS_PER_MILLI);
            lookMillis = reads * mean(report.fullLookNanos.sum(), report.fullLooks.sum());
            perLook = mean(report.lookNanos.sum(), report.looks.sum());
            writes = report.sample * report.writes.sum();
            waiting = report.sample * report.waiting.sum();
            insertMillis = waiting * perRead / Math.max(1, copies);
        }

        double share()
        {
            return reads == 0 ? 0 : (double) skippable / reads;
        }

        /** How much of a read's time the look takes in mode shadow. */
        double lookShare()
        {
            return perRead == 0 ? 0 : perLook / perRead;
        }

        double waitingShare()
        {
            return writes == 0 ? 0 : (double) waiting / writes;
        }

        /** Whether mode safe is worth it, in words. */
        String advice()
        {
            double cost = lookMillis + insertMillis;
            if (sampled < MIN_READS)
                return String.format(Locale.ROOT, "too early to say: %d of %d reads of the sample", sampled, MIN_READS);
            if (share() < MIN_SHARE)
                return String.format(Locale.ROOT, "no: only %.1f %% of the reads could be skipped", 100 * share());
            if (savedMillis >= CLEARLY * cost)
                return String.format(Locale.ROOT, "yes, mode safe: it saves %.1f times the time that it costs", savedMillis / Math.max(1e-9, cost));
            if (savedMillis > cost)
                return String.format(Locale.ROOT, "hardly: it saves only %.1f times the time that it costs", savedMillis / cost);
            return insertMillis > lookMillis ? "no: new keys would wait longer than reads would save" : "no: looks would take longer than reads would save";
        }
    }
}
