package lacuna.cassandra;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

import com.google.common.base.Function;
import com.google.common.collect.Iterables;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.lifecycle.SSTableSet;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.io.sstable.ISSTableScanner;
import org.apache.cassandra.io.sstable.KeyIterator;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/**
 * Fills a filter with what this node holds on disk: keys alone, or rows if they have buckets. It stops silently when the filter is
 * not used any more; such a filter must not be published ({@link TableFilter#finish}).
 */
final class FilterFill
{
    private FilterFill() {}

    /**
     * With everything that was written before the filter took writes. Such a write may be under way, in no memtable yet, and where there is
     * nothing in the memtables a flush waits for none; so they are waited for here, and then memtables are flushed.
     *
     * @return about how many partitions were read, those in several SSTables counted once
     */
    static long withAll(TableFilter filter, long isRebuild, FilterContents contents) throws IOException
    {
        try (ColumnFamilyStore.RefViewFragment view = flushed(filter.table, List.of()))
        {
            if (isRebuild == 0)
                contents.begin(view.sstables);
            // What is compacted meanwhile stays on disk until it is read. Compactions take small ones first.
            List<SSTableReader> all = new ArrayList<>(view.sstables);
            all.sort(Comparator.comparingLong(SSTableReader::onDiskLength));
            // Files may go as soon as they are read.
            long partitions = partitions(all);
            int read = 0;
            for (SSTableReader sstable : all)
            {
                Waits.current().beforeSSTable(read);
                if (isRebuild == 1 || !contents.isRestored(sstable))
                    with(filter, sstable, isRebuild, Pace.ofCompactions());
                view.refs.release(sstable);
                contents.read(++read);
            }
            return partitions;
        }
    }

    /** Once more with all that is there, into a filter that has it. What is gone is not read: no reference to it can be had any more. */
    static void again(TableFilter filter, Collection<SSTableReader> gone) throws IOException
    {
        try (ColumnFamilyStore.RefViewFragment view = flushed(filter.table, gone))
        {
            for (SSTableReader sstable : view.sstables)
            {
                with(filter, sstable, 0, Pace.ofCompactions());
                view.refs.release(sstable);
            }
        }
    }

    /** All SSTables but some, which are looked up in each try, when everything that was written is in one. */
    private static ColumnFamilyStore.RefViewFragment flushed(ColumnFamilyStore table, Collection<SSTableReader> gone)
    {
        Prover.awaitWritesUnderWay();
        table.forceBlockingFlush(ColumnFamilyStore.FlushReason.INDEX_BUILD_STARTED);
        Function<View, Iterable<SSTableReader>> canonical = View.selectFunction(SSTableSet.CANONICAL);
        return table.selectAndReference(view -> Iterables.filter(canonical.apply(view), sstable -> !gone.contains(sstable)));
    }

    /** About how many partitions SSTables have, those in several counted once. */
    static long partitions(Collection<SSTableReader> sstables)
    {
        return Math.max(0, SSTableReader.getApproximateKeyCount(sstables));
    }

    static void with(TableFilter filter, SSTableReader sstable, long isRebuild, Pace pace) throws IOException
    {
        Lacuna.COUNTERS.sstablesLoaded.increment();
        if (filter.positions == null)
            withKeys(filter, sstable, isRebuild, pace);
        else
            withRows(filter, sstable, isRebuild, pace);
    }

    private static void withKeys(TableFilter filter, SSTableReader sstable, long isRebuild, Pace pace) throws IOException
    {
        try (KeyIterator keys = sstable.keyIterator())
        {
            while (keys.hasNext() && filter.isUsed())
            {
                filter.load(TableFilter.hash(keys.next()), 0, 0, isRebuild);
                pace.read(keys.getBytesRead());
            }
        }
    }

    private static void withRows(TableFilter filter, SSTableReader sstable, long isRebuild, Pace pace)
    {
        try (ISSTableScanner partitions = sstable.getScanner())
        {
            while (partitions.hasNext() && filter.isUsed())
                try (UnfilteredRowIterator partition = partitions.next())
                {
                    long[] hash = TableFilter.hash(partition.partitionKey());
                    if (filter.isInSample(hash))
                        filter.each(partition, (hasPlace, place) -> filter.load(hash, hasPlace, place, isRebuild));
                    pace.read(onDisk(partitions.getBytesScanned(), sstable.onDiskLength(), sstable.uncompressedLength()));
                }
        }
    }

    /** About how many bytes of a file of this length hold this much of its data. The product of two lengths may have no number. */
    static long onDisk(long bytes, long onDiskLength, long uncompressedLength)
    {
        return (long) ((double) bytes / Math.max(1, uncompressedLength) * onDiskLength);
    }
}
