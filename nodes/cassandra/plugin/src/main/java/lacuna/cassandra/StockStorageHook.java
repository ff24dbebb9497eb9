package lacuna.cassandra;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.StorageHook;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIteratorWithLowerBound;
import org.apache.cassandra.io.sstable.SSTableReadsListener;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.TableId;

/** What Cassandra does without a hook: it reads the SSTable. */
final class StockStorageHook implements StorageHook
{
    @Override
    public void reportWrite(TableId id, PartitionUpdate update) {}

    @Override
    public void reportRead(TableId id, DecoratedKey key) {}

    @Override
    public UnfilteredRowIteratorWithLowerBound makeRowIteratorWithLowerBound(ColumnFamilyStore table,
                                                                             SSTableReader sstable,
                                                                             DecoratedKey key,
                                                                             ClusteringIndexFilter filter,
                                                                             ColumnFilter columns,
                                                                             SSTableReadsListener listener)
    {
        return new UnfilteredRowIteratorWithLowerBound(key, sstable, filter, columns, listener);
    }

    @Override
    public UnfilteredRowIterator makeRowIterator(ColumnFamilyStore table,
                                                 SSTableReader sstable,
                                                 DecoratedKey key,
                                                 Slices slices,
                                                 ColumnFilter columns,
                                                 boolean reversed,
                                                 SSTableReadsListener listener)
    {
        return sstable.rowIterator(key, slices, columns, reversed, listener);
    }
}
