package lacuna.cassandra;

import java.util.Iterator;

import org.apache.cassandra.db.Columns;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.partitions.ImmutableBTreePartition;
import org.apache.cassandra.db.rows.RangeTombstoneMarker;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.WrappingUnfilteredRowIterator;
import org.apache.cassandra.utils.memory.HeapCloner;

/**
 * The tombstones of a {@link Region} that has no live data, as one merged read of memtables and SSTables found them.
 *
 * <p>They are answered instead of the SSTables. Because they are the real ones, digests and merges with other replicas
 * come out as without the plug-in, at every consistency level; a bare "empty" would show rows that were deleted
 * elsewhere. They may be forgotten by compaction once their grace is over, so nothing is answered from then on.
 */
final class DeadData
{
    /** Estimates of what each takes beside the bytes of its key and its clustering columns. */
    private static final int REGION_BYTES = 256;
    private static final int ROW_BYTES = 128;
    private static final int RANGE_END_BYTES = 96;

    private final ImmutableBTreePartition tombstones;
    private final long earliestDeletionSeconds;
    /** What a person wants to know about it. */
    final String reason;
    final long bytes;

    private DeadData(ImmutableBTreePartition tombstones, long bytes)
    {
        this.tombstones = tombstones;
        this.earliestDeletionSeconds = earliest(tombstones);
        this.reason = describe();
        this.bytes = bytes;
    }

    /**
     * Reads it to the end, or to the first thing that is not a tombstone, or that is one too many: then null. Ends of deleted ranges
     * count as rows, and it takes at most {@code maxBytes} at any moment.
     */
    static DeadData read(UnfilteredRowIterator merged, int maxRows, long maxBytes)
    {
        if (!merged.staticRow().isEmpty())
            return null;
        try
        {
            TombstonesOnly only = new TombstonesOnly(merged, maxRows, maxBytes);
            return new DeadData(ImmutableBTreePartition.create(only), only.bytes);
        }
        catch (NotDead found)
        {
            return null;
        }
    }

    /** Whether no tombstone can have been purged yet: compaction keeps them for the table's grace. */
    boolean isInGrace(long nowSeconds, long graceSeconds)
    {
        return earliestDeletionSeconds == Long.MAX_VALUE || earliestDeletionSeconds + graceSeconds > nowSeconds;
    }

    UnfilteredRowIterator iterator(ColumnFilter columns, Slices slices, boolean reversed)
    {
        return tombstones.unfilteredIterator(columns, slices, reversed);
    }

    DeletionTime partitionDeletion()
    {
        return tombstones.partitionLevelDeletion();
    }

    /** Whether there are no tombstones either. */
    boolean isEmpty()
    {
        return tombstones.isEmpty();
    }

    /** Whether a row is its deletion, and nothing else. */
    static boolean isTombstone(Row row)
    {
        boolean isDead = row.primaryKeyLivenessInfo().isEmpty() && row.columnCount() == 0 && !row.deletion().isLive();
        return isDead && !row.deletion().isShadowable();
    }

    private String describe()
    {
        int ranges = tombstones.deletionInfo().rangeCount();
        if (!partitionDeletion().isLive())
            return "deleted partition";
        if (isEmpty())
            return "nothing there";
        return ranges + " deleted ranges, " + tombstones.rowCount() + " deleted rows";
    }

    private static long earliest(ImmutableBTreePartition partition)
    {
        long seconds = partition.partitionLevelDeletion().localDeletionTime();
        Iterator<RangeTombstone> ranges = partition.deletionInfo().rangeIterator(false);
        while (ranges.hasNext())
            seconds = Math.min(seconds, ranges.next().deletionTime().localDeletionTime());
        for (Row row : partition)
            seconds = Math.min(seconds, row.deletion().time().localDeletionTime());
        return seconds;
    }

    /** Thrown at the first live thing, and at one too many, to leave Cassandra's builder. */
    private static final class NotDead extends RuntimeException
    {
        private static final long serialVersionUID = 1;
        static final NotDead INSTANCE = new NotDead();

        private NotDead()
        {
            super("live data, or too much", null, false, false);
        }
    }

    /** Copies row tombstones to the heap, because a memtable's rows may die with it. */
    private static final class TombstonesOnly implements WrappingUnfilteredRowIterator
    {
        private final UnfilteredRowIterator merged;
        private final long maxBytes;
        private int rowsLeft;
        private long bytes;

        TombstonesOnly(UnfilteredRowIterator merged, int maxRows, long maxBytes)
        {
            this.merged = merged;
            this.maxBytes = maxBytes;
            this.rowsLeft = maxRows;
            this.bytes = REGION_BYTES + merged.partitionKey().getKeyLength();
        }

        @Override
        public UnfilteredRowIterator wrapped()
        {
            return merged;
        }

        @Override
        public RegularAndStaticColumns columns()
        {
            return new RegularAndStaticColumns(Columns.NONE, Columns.NONE);
        }

        @Override
        public Unfiltered next()
        {
            Unfiltered next = merged.next();
            count(next);
            return next.isRow() ? deadRow((Row) next) : next;
        }

        private void count(Unfiltered next)
        {
            bytes += next.isRow() ? ROW_BYTES + next.clustering().dataSize() : ends((RangeTombstoneMarker) next);
            if (rowsLeft-- == 0 || bytes > maxBytes)
                throw NotDead.INSTANCE;
        }

        /** Where one range ends and the next begins are two. */
        private static long ends(RangeTombstoneMarker marker)
        {
            return (marker.isBoundary() ? 2L : 1L) * (RANGE_END_BYTES + marker.clustering().dataSize());
        }

        private Row deadRow(Row row)
        {
            if (!isTombstone(row))
                throw NotDead.INSTANCE;
            return row.clone(HeapCloner.instance);
        }
    }
}
