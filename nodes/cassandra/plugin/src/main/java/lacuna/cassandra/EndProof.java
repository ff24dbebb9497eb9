package lacuna.cassandra;

import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
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
 * Reads from an end of a partition on, or from where this node knows already that it is dead, to the first live row. Static values are no
 * rows, and what has expired counts as alive until it is purged.
 *
 * <p>A proof that has not read what was known relies on the {@link #mark}. It may end before the proof counts: a row of an SSTable that
 * is being imported, in which this proof has not looked, ends it when the SSTable is loaded.
 */
final class EndProof
{
    /** Deleted rows that make a mark worth its place on every node: a read walks over fewer in no time that can be measured. */
    private static final int MIN_ROWS = Math.toIntExact(Setting.of("lacuna.water_mark_rows", 16, 1, 10_000));

    private final TableGuard guard;
    private final DecoratedKey key;
    private final PartitionEnd end;
    private long mark = -1;

    EndProof(TableGuard guard, DecoratedKey key, PartitionEnd end)
    {
        this.guard = guard;
        this.key = key;
        this.end = end;
    }

    /** This node's own mark, beyond which it has read; below 0 if it has read the whole stretch. */
    long mark()
    {
        return mark;
    }

    /** How much of the stretch is dead, from its end of the partition on; null if that is no news worth telling. */
    Slice within(Slice stretch)
    {
        Slice unknown = unknown(stretch);
        if (unknown.isEmpty(guard.table.metadata().comparator))
            return null;
        TableMetadata metadata = guard.table.metadata();
        var filter = new ClusteringIndexSliceFilter(Slices.with(metadata.comparator, unknown), end == PartitionEnd.LAST);
        var command = SinglePartitionReadCommand.create(metadata, FBUtilities.nowInSeconds(), key, ColumnFilter.all(metadata), filter);
        try (ReadExecutionController controller = command.executionController();
             UnfilteredRowIterator rows = command.queryMemtableAndDisk(guard.table, controller))
        {
            return deadPart(rows, stretch);
        }
    }

    /** What lies beyond the mark that is known already. */
    private Slice unknown(Slice stretch)
    {
        long known = guard.filter.ownWaterMark(key, end);
        ClusteringBound<?> bound = known < 0 ? null : WaterMarks.beyond(guard.filter.positions, end, known);
        if (bound == null)
            return stretch;
        mark = known;
        return end.from(bound, stretch);
    }

    private Slice deadPart(UnfilteredRowIterator rows, Slice stretch)
    {
        Clustering<?> last = null;
        int dead = 0;
        for (int met = 0; rows.hasNext() && met < guard.options.maxRows; met++)
        {
            Unfiltered next = rows.next();
            if (next.isRow() && !DeadData.isTombstone((Row) next))
                return dead < MIN_ROWS ? null : end.upTo(before((Clustering<?>) next.clustering()), stretch);
            // A deleted range may hide any number of rows, which a read walks over.
            dead += next.isRow() ? 1 : MIN_ROWS;
            last = next.isRow() ? (Clustering<?>) next.clustering() : last;
        }
        // More than one proof reads: the next one goes on from here.
        Slice proven = !rows.hasNext() ? stretch : last == null ? null : end.upTo(including(last), stretch);
        return dead < MIN_ROWS ? null : proven;
    }

    private ClusteringBound<?> before(Clustering<?> live)
    {
        return end == PartitionEnd.FIRST ? ClusteringBound.exclusiveEndOf(live) : ClusteringBound.exclusiveStartOf(live);
    }

    private ClusteringBound<?> including(Clustering<?> dead)
    {
        return end == PartitionEnd.FIRST ? ClusteringBound.inclusiveEndOf(dead) : ClusteringBound.inclusiveStartOf(dead);
    }
}
