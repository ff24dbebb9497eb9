package lacuna.cassandra;

import java.util.function.Supplier;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.StorageHook;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIteratorWithLowerBound;
import org.apache.cassandra.dht.LocalPartitioner;
import org.apache.cassandra.io.sstable.SSTableReadsListener;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.TableId;

/**
 * {@code -Dcassandra.storage_hook=lacuna.cassandra.LacunaStorageHook}: dead regions are answered from memory.
 *
 * <p>Cassandra asks here for the rows of each (SSTable, partition) that a single-partition read meets, and reports every
 * applied write. Compaction, repair and scans over many partitions do not pass, so nothing on disk changes its meaning:
 * a tombstone is never purged because of an answer given here.
 *
 * <p>A secondary index is kept in a table of its own, which has the id of the base table and other keys. Its reads and writes pass here too,
 * and are left alone: only tables of indexes have keys of a local partitioner.
 *
 * <p>{@code -Dlacuna.inner_storage_hook=CLASS} names another hook, which gets every read that is not answered here.
 */
public final class LacunaStorageHook implements StorageHook
{
    private final StorageHook inner;
    private final ThreadLocal<ReadUnderWay> underWay = ThreadLocal.withInitial(ReadUnderWay::new);

    /** Called by Cassandra when it starts. */
    public LacunaStorageHook()
    {
        Installation.recordHook();
        inner = Inner.construct("lacuna.inner_storage_hook", StorageHook.class, new StockStorageHook());
        try
        {
            SelfTest.run();
        }
        catch (Throwable moved)
        {
            Lacuna.fail("self-test", moved);
        }
        SchemaWatch.start();
    }

    @Override
    public void reportWrite(TableId id, PartitionUpdate update)
    {
        try
        {
            inner.reportWrite(id, update);
        }
        finally
        {
            // The write is visible, even if the other hook failed.
            afterWrite(id, update);
        }
    }

    private static void afterWrite(TableId id, PartitionUpdate update)
    {
        TableGuard guard = update.metadata().isIndex() ? null : Lacuna.guard(id);
        if (guard == null)
            return;
        try
        {
            guard.afterWrite(update);
        }
        catch (Throwable failure)
        {
            Lacuna.fail("write", failure);
        }
        // After the regions: a proof that ends in between is then known to be overtaken here too.
        guard.filter.afterWrite(update);
    }

    @Override
    public void reportRead(TableId id, DecoratedKey key)
    {
        inner.reportRead(id, key);
        if (key.getPartitioner() instanceof LocalPartitioner)
            return;
        TableGuard guard = Lacuna.guard(id);
        if (guard != null)
            underWay.get().end(key);
        // Also beside the filter with new options, which may be of another mode.
        TableFilter leaving = Lacuna.leaving(id);
        boolean isOwn = Lacuna.PROVER.isCurrentThread();
        if (guard != null && !isOwn)
            Revealing.await(guard.filter, key);
        if (leaving != null && !isOwn)
            Revealing.await(leaving, key);
    }

    @Override
    public UnfilteredRowIteratorWithLowerBound makeRowIteratorWithLowerBound(ColumnFamilyStore table,
                                                                             SSTableReader sstable,
                                                                             DecoratedKey key,
                                                                             ClusteringIndexFilter filter,
                                                                             ColumnFilter columns,
                                                                             SSTableReadsListener listener)
    {
        DeadData dead = answer(table, sstable, key, () -> filter.getSlices(table.metadata()));
        return dead == null ? inner.makeRowIteratorWithLowerBound(table, sstable, key, filter, columns, listener)
                            : new DeadRows(dead, underWay.get().gives(dead, listener), sstable, key, filter, columns, listener);
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
        DeadData dead = answer(table, sstable, key, () -> slices);
        return dead == null ? inner.makeRowIterator(table, sstable, key, slices, columns, reversed, listener)
                            : dead.iterator(columns, slices, reversed);
    }

    /** Slices cost something to make, and most keys have nothing dead. */
    private DeadData answer(ColumnFamilyStore table, SSTableReader sstable, DecoratedKey key, Supplier<Slices> slices)
    {
        TableGuard guard = Lacuna.guard(table.metadata.id);
        if (guard == null || guard.table != table || !Lacuna.mayAnswer() || Lacuna.PROVER.isCurrentThread())
            return null;
        try
        {
            return OptOut.isAsked() ? null : answerAndCount(guard, sstable, key, slices);
        }
        catch (Throwable failure)
        {
            Lacuna.fail("read", failure);
            return null;
        }
    }

    private DeadData answerAndCount(TableGuard guard, SSTableReader sstable, DecoratedKey key, Supplier<Slices> slices)
    {
        DeadData dead = guard.answerFor(sstable, key, slices);
        underWay.get().met(key, dead != null);
        if (dead == null)
        {
            if (guard.learning.isNext())
                guard.suspect(key, slices.get());
            return null;
        }
        Lacuna.DECISIONS.add(guard.table, key, dead);
        return Waits.current().given(dead, guard.table.metadata(), key);
    }
}
