package lacuna.cassandra;

import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexSliceFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.FBUtilities;

/**
 * Reads a gap on this node, and on to the next live row on either side, or to the border of its bucket: two short reads, however many
 * rows the buckets have. Static values are no rows, and what has expired counts as alive until it is purged.
 */
final class GapProof
{
    /** In place of a row: there were more tombstones than a region may have. */
    private static final Clustering<?> TOO_MANY = Clustering.EMPTY;

    private final TableGuard guard;
    private final DecoratedKey key;

    GapProof(TableGuard guard, DecoratedKey key)
    {
        this.guard = guard;
        this.key = key;
    }

    /** The slice around the asked one in which nothing is alive; null if there is a live row in the asked one. */
    Slice around(Slice asked, Slice widest)
    {
        ClusteringComparator comparator = guard.table.metadata().comparator;
        Clustering<?> next = firstLive(Slice.make(asked.start(), widest.end()), false);
        if (next == TOO_MANY || next != null && asked.includes(comparator, next))
            return null;
        Slice before = Slice.make(widest.start(), asked.start().invert());
        Clustering<?> last = before.isEmpty(comparator) ? null : firstLive(before, true);
        ClusteringBound<?> start = last == null ? widest.start() : last == TOO_MANY ? asked.start() : ClusteringBound.exclusiveStartOf(last);
        return Slice.make(start, next == null ? widest.end() : ClusteringBound.exclusiveEndOf(next));
    }

    private Clustering<?> firstLive(Slice slice, boolean isReversed)
    {
        TableMetadata metadata = guard.table.metadata();
        var filter = new ClusteringIndexSliceFilter(Slices.with(metadata.comparator, slice), isReversed);
        var command = SinglePartitionReadCommand.create(metadata, FBUtilities.nowInSeconds(), key, ColumnFilter.all(metadata), filter);
        try (ReadExecutionController controller = command.executionController();
             UnfilteredRowIterator rows = command.queryMemtableAndDisk(guard.table, controller))
        {
            return firstLive(rows, guard.options.maxRows);
        }
    }

    private static Clustering<?> firstLive(UnfilteredRowIterator rows, int maxTombstones)
    {
        for (int tombstones = 0; rows.hasNext(); tombstones++)
        {
            Unfiltered next = rows.next();
            if (next.isRow() && !DeadData.isTombstone((Row) next))
                return (Clustering<?>) next.clustering();
            if (tombstones == maxTombstones)
                return TOO_MANY;
        }
        return null;
    }
}
