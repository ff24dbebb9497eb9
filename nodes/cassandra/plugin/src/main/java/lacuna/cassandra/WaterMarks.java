package lacuna.cassandra;

import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;

/**
 * How far the ends of partitions are dead on this node: which stretches are looked into, and what of a slice lies beyond a mark.
 *
 * <p>A mark is a place of {@link RowPositions} without its lowest bit, as the native library keeps it: the stretch from the partition's
 * first row on, or from its last one back, in which no row is alive.
 */
final class WaterMarks
{
    private static final int MAX_RANGES = 4;

    private final TableGuard guard;
    /** By {@link PartitionEnd}: most tables delete at one end only, if at any. */
    private final Learning[] learning;

    WaterMarks(TableGuard guard)
    {
        this.guard = guard;
        this.learning = new Learning[] { Learning.ofGaps(guard.options.learnEvery), Learning.ofGaps(guard.options.learnEvery) };
    }

    /** A deletion proposes its proof: that everything up to it, from one end of the partition, is dead. */
    void deleted(PartitionUpdate update)
    {
        if (!Gaps.areKnown(guard.filter))
            return;
        Row first = null;
        Row last = null;
        for (Row row : update)
            if (DeadData.isTombstone(row))
            {
                first = first == null ? row : first;
                last = row;
            }
        if (first != null)
            suspect(update.partitionKey(), Slice.make(ClusteringBound.inclusiveStartOf(first.clustering()), ClusteringBound.inclusiveEndOf(last.clustering())));
        if (update.deletionInfo().hasRanges() && update.deletionInfo().rangeCount() <= MAX_RANGES)
            update.deletionInfo().rangeIterator(false).forEachRemaining(range -> suspect(update.partitionKey(), range.deletedSlice()));
    }

    private void suspect(DecoratedKey key, Slice deleted)
    {
        for (PartitionEnd end : PartitionEnd.values())
            suspect(key, end, end.stretch(deleted));
    }

    private void suspect(DecoratedKey key, PartitionEnd end, Slice stretch)
    {
        if (of(end).isNext())
            guard.suspectEnd(key, end, stretch);
    }

    /** A read that met an SSTable began at an end of the partition. */
    void read(DecoratedKey key, Slices slices)
    {
        if (slices.size() == 0 || !Gaps.areKnown(guard.filter))
            return;
        if (PartitionEnd.FIRST.isOpen(slices.get(0)))
            suspect(key, PartitionEnd.FIRST, slices.get(0));
        if (PartitionEnd.LAST.isOpen(slices.get(slices.size() - 1)))
            suspect(key, PartitionEnd.LAST, slices.get(slices.size() - 1));
    }

    Learning of(PartitionEnd end)
    {
        return learning[end.ordinal()];
    }

    /** The bound of the rows beyond a mark; null if it tells nothing, or leaves nothing. */
    static ClusteringBound<?> beyond(RowPositions positions, PartitionEnd end, long pair)
    {
        return end == PartitionEnd.FIRST ? positions.startAfter(pair << 1 | 1) : positions.endBefore(pair << 1);
    }

    /** What of the slices is not known to be dead; null if that is all of them, or nothing. */
    static Slices narrowed(ClusteringComparator comparator, Slices asked, PartitionEnd end, ClusteringBound<?> bound)
    {
        Slices.Builder kept = new Slices.Builder(comparator, asked.size());
        boolean isNarrower = false;
        for (Slice slice : asked)
        {
            int order = comparator.compare(bound, end == PartitionEnd.FIRST ? slice.start() : slice.end());
            boolean isCut = end == PartitionEnd.FIRST ? order > 0 : order < 0;
            Slice rest = isCut ? end.from(bound, slice) : slice;
            isNarrower |= isCut;
            if (!rest.isEmpty(comparator))
                kept.add(rest);
        }
        return isNarrower && kept.size() > 0 ? kept.build() : null;
    }
}
