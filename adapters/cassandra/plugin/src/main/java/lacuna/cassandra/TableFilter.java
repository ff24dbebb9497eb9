package lacuna.cassandra;

import java.util.Iterator;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/**
 * This node's filter of one table: every partition that it holds anything of, and which of them are dead.
 *
 * <p>Keys come by writes, before their acknowledgement; by SSTables that were there or were streamed; never by flushes and
 * compactions, which hold nothing else. Until everything that was there has been read, nobody is shown the filter: first it
 * takes writes, then memtables are flushed, then SSTables are read. A write is in one of these, whenever it came.
 */
final class TableFilter
{
    private static final int READY = 0;
    private static final int REBUILT = 1;
    private static final int DROPPED = 2;
    private static final long LEAST_CAPACITY = 4_096;
    private static final ExecutorService BUILDER = Executors.newSingleThreadExecutor(work ->
    {
        Thread thread = new Thread(work, "lacuna-builder");
        thread.setDaemon(true);
        return thread;
    });

    final ColumnFamilyStore table;
    final Mode mode;
    private final double rate;
    /** Null if only whole partitions are known. */
    final Places places;
    private final long high;
    private final long low;
    private volatile boolean dropped;

    /** What this node decided about reads of the table as their coordinator. */
    final LongAdder skipped = new LongAdder();
    final LongAdder falsePositives = new LongAdder();

    TableFilter(ColumnFamilyStore table, TableOptions options)
    {
        this.table = table;
        this.mode = options.mode;
        this.rate = options.rate;
        this.places = options.mode == Mode.OFF ? null : Places.of(table.metadata(), options.bucket);
        UUID id = table.metadata.id.asUUID();
        this.high = id.getMostSignificantBits();
        this.low = id.getLeastSignificantBits();
    }

    long high()
    {
        return high;
    }

    long low()
    {
        return low;
    }

    boolean isUsed()
    {
        return mode != Mode.OFF && Exchange.isActive() && !dropped;
    }

    /** From now on it takes writes. */
    void begin()
    {
        // Even if the exchange is inactive: this node's last life may be relied on for a moment.
        if (mode == Mode.SAFE)
            Acknowledgements.safeTableCame();
        if (mode != Mode.OFF)
            Exchange.start();
        if (!isUsed())
            return;
        long finest = places == null ? -1 : places.finest;
        guarded("create", () -> Native.create(Exchange.hub(), mode.number(), high, low, capacity(), rate, finest));
    }

    /** Shows it to others, once all that is there has been read. */
    void build()
    {
        if (isUsed())
            fill(0, READY);
    }

    /** As after a truncation: what is there now, anew, and whatever is written meanwhile. */
    void rebuild()
    {
        if (isUsed())
            BUILDER.execute(() ->
            {
                guarded("rebuild", () -> Native.beginRebuild(Exchange.hub(), mode.number(), high, low, capacity(), rate));
                fill(1, REBUILT);
            });
    }

    private void fill(long isRebuild, int finish)
    {
        try
        {
            FilterFill.withAll(this, isRebuild);
            guarded("finish", () -> Native.table(Exchange.hub(), mode.number(), high, low, finish));
        }
        catch (Exception unreadable)
        {
            // A damaged SSTable, or a table that is being dropped. The filter stays as it was: unseen, or holding more.
            Lacuna.COUNTERS.buildsFailed.increment();
        }
    }

    /** Marks keys of a file in the filter, or in the one that is being rebuilt. */
    void load(long[] hash, long hasPlace, long place, long isRebuild)
    {
        Exchange.checked(Native.load(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], hasPlace, place, isRebuild));
    }

    /** Takes the partition, or one of its rows and the partition. */
    interface Marker
    {
        void mark(long hasPlace, long place);

        default void wholePartition()
        {
            mark(0, 0);
        }
    }

    /** Marks the partition and the bucket of every row. */
    void each(Iterator<? extends Unfiltered> rows, Marker marker)
    {
        marker.wholePartition();
        boolean isFirst = true;
        long last = 0;
        while (places != null && rows.hasNext())
        {
            Unfiltered next = rows.next();
            if (!next.isRow())
                continue;
            long place = places.of(next.clustering());
            long bucket = place >>> places.finest;
            if (isFirst || bucket != last)
                marker.mark(1, place);
            isFirst = false;
            last = bucket;
        }
    }

    private long capacity()
    {
        long keys = 0;
        for (SSTableReader sstable : table.getLiveSSTables())
            keys += sstable.estimatedKeys();
        return Math.max(LEAST_CAPACITY, keys + keys / 4);
    }

    /** An SSTable that came by itself, already live; what cannot be read makes the filter unknown. */
    void streamed(Iterable<SSTableReader> sstables)
    {
        if (!isUsed())
            return;
        try
        {
            for (SSTableReader sstable : sstables)
            {
                // A rebuild under way may have listed the SSTables before.
                FilterFill.with(this, sstable, 0);
                FilterFill.with(this, sstable, 1);
            }
        }
        catch (Exception unreadable)
        {
            Exchange.failed("streamed SSTable", unreadable);
        }
    }

    /** Before the write's acknowledgement, after it is visible. */
    void wrote(PartitionUpdate update)
    {
        if (!isUsed())
            return;
        long[] hash = hash(update.partitionKey());
        guarded("write", () ->
        {
            each(update.iterator(), (hasPlace, place) -> write(hash, hasPlace, place));
            return 0;
        });
    }

    private void write(long[] hash, long hasPlace, long place)
    {
        long isToTell = Exchange.checked(Native.write(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], hasPlace, place,
                                                      Exchange.now()));
        if (isToTell == 1 && mode == Mode.SAFE)
            Exchange.wake();
    }

    /**
     * The whole partition holds tombstones only, or nothing any more, and no write has come since that was read. The filter learns
     * it if it says otherwise: of a deletion, of what expired and was purged, of a false positive.
     */
    void bury(DecoratedKey key, long micros)
    {
        if (!isUsed() || !Lacuna.isActive())
            return;
        long[] hash = hash(key);
        guarded("bury", () -> Native.isEmpty(Exchange.hub(), mode.number(), high, low, hash[0], hash[1]) == 1 ? 0
                              : Native.bury(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], Math.max(0, micros)));
    }

    /** This node is about to send the write to a peer. */
    void forwarded(PartitionUpdate update, UUID peer)
    {
        long[] hash = hash(update.partitionKey());
        guarded("forwarded", () ->
        {
            each(update.iterator(), (hasPlace, place) -> Exchange.checked(
                Native.forwarded(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], hasPlace, place, Exchange.now(),
                                 peer.getMostSignificantBits(), peer.getLeastSignificantBits())));
            return 0;
        });
    }

    synchronized void drop()
    {
        if (dropped)
            return;
        if (isUsed())
            guarded("drop", () -> Native.table(Exchange.hub(), mode.number(), high, low, DROPPED));
        dropped = true;
        if (mode == Mode.SAFE)
            Acknowledgements.safeTableWent();
    }

    /** Keys, bytes, dead keys, expected rate of false positives in thousand millionths; -1 if there is no filter. */
    long number(UUID peer, int what)
    {
        if (!isUsed())
            return -1;
        return peer == null ? Native.ofOwn(Exchange.hub(), mode.number(), high, low, what)
                            : Native.ofPeer(Exchange.hub(), mode.number(), high, low, peer.getMostSignificantBits(),
                                            peer.getLeastSignificantBits(), what);
    }

    static long[] hash(DecoratedKey key)
    {
        long[] hash = new long[2];
        key.filterHash(hash);
        return hash;
    }

    private static void guarded(String what, java.util.function.LongSupplier call)
    {
        try
        {
            Exchange.checked(call.getAsLong());
        }
        catch (Throwable failure)
        {
            Exchange.failed(what, failure);
        }
    }
}
