package lacuna.cassandra;

import java.util.Iterator;

import org.apache.cassandra.db.Columns;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.partitions.ImmutableBTreePartition;
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
    private final ImmutableBTreePartition tombstones;
    private final long earliestDeletionSeconds;
    final int bytes;

    private DeadData(ImmutableBTreePartition tombstones)
    {
        this.tombstones = tombstones;
        this.earliestDeletionSeconds = earliest(tombstones);
        this.bytes = 256 + tombstones.partitionKey().getKeyLength() + 128 * tombstones.rowCount()
                     + 192 * tombstones.deletionInfo().rangeCount();
    }

    /** Reads it to the end, or to the first thing that is not a tombstone: then null. */
    static DeadData read(UnfilteredRowIterator merged, int maxRows)
    {
        if (!merged.staticRow().isEmpty())
            return null;
        try
        {
            return new DeadData(ImmutableBTreePartition.create(new TombstonesOnly(merged, maxRows)));
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

    /** What a person wants to know about it. */
    String describe()
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

    /** Thrown at the first live thing, to leave Cassandra's builder. */
    private static final class NotDead extends RuntimeException
    {
        private static final long serialVersionUID = 1;
        static final NotDead INSTANCE = new NotDead();

        private NotDead()
        {
            super("live data", null, false, false);
        }
    }

    /** Copies row tombstones to the heap, because a memtable's rows may die with it. */
    private static final class TombstonesOnly implements WrappingUnfilteredRowIterator
    {
        private final UnfilteredRowIterator merged;
        private int rowsLeft;

        TombstonesOnly(UnfilteredRowIterator merged, int maxRows)
        {
            this.merged = merged;
            this.rowsLeft = maxRows;
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
            return next.isRow() ? deadRow((Row) next) : next;
        }

        private Row deadRow(Row row)
        {
            boolean dead = row.primaryKeyLivenessInfo().isEmpty() && row.columnCount() == 0 && !row.deletion().isLive();
            if (!dead || row.deletion().isShadowable() || rowsLeft-- == 0)
                throw NotDead.INSTANCE;
            return row.clone(HeapCloner.instance);
        }
    }
}
