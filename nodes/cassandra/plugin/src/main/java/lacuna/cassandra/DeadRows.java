package lacuna.cassandra;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.rows.Rows;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIteratorWithLowerBound;
import org.apache.cassandra.io.sstable.SSTableReadsListener;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/**
 * Tombstones in the shape of an SSTable's rows, for reads that merge with lower bounds; the SSTable stays closed.
 *
 * <p>A region's tombstones are those of all SSTables together and such a read merges all it is given, so one of them gives all and
 * the others only the partition's deletion, by which Cassandra knows which SSTables it need not ask for.
 */
final class DeadRows extends UnfilteredRowIteratorWithLowerBound
{
    private final DeadData dead;
    private final boolean isFirst;
    private final Slices slices;
    private final ColumnFilter columns;
    private final boolean reversed;

    DeadRows(DeadData dead, boolean isFirst, SSTableReader sstable, DecoratedKey key, ClusteringIndexFilter filter,
             ColumnFilter columns, SSTableReadsListener listener)
    {
        super(key, sstable, filter, columns, listener);
        this.dead = dead;
        this.isFirst = isFirst;
        this.slices = filter.getSlices(sstable.metadata());
        this.columns = columns;
        this.reversed = filter.isReversed();
    }

    @Override
    protected UnfilteredRowIterator initializeIterator()
    {
        return isFirst ? dead.iterator(columns, slices, reversed)
                       : EmptyIterators.unfilteredRow(metadata(), partitionKey(), reversed);
    }

    /** None: the SSTable's own says nothing about tombstones that came from others. */
    @Override
    public Unfiltered lowerBound()
    {
        return null;
    }

    @Override
    public DeletionTime partitionLevelDeletion()
    {
        return dead.partitionDeletion();
    }

    @Override
    public Row staticRow()
    {
        return Rows.EMPTY_STATIC_ROW;
    }
}
