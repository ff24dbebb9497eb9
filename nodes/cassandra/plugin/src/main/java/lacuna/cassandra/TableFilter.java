package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.utils.memory.MemoryUtil;

/**
 * This node's filter of one table: every partition that it holds anything of, and which of them are dead.
 *
 * <p>Keys come by writes, before their acknowledgement; by SSTables that were there or were streamed; never by flushes and
 * compactions, which hold nothing else. The filter is published only when all existing data has been read: first it
 * takes writes, then memtables are flushed, then SSTables are read. Every write is in one of these, whenever it arrived.
 */
final class TableFilter
{
    private static final int DROPPED = 2;
    /** Of {@link #number}: the memory of the filter, which is about its length on disk. */
    static final int BYTES = 1;
    /** Of {@link #number}: 1 if the filter knows nothing. */
    private static final int IS_UNKNOWN = 4;
    /** Of {@link #number}: how many of the table's 256 parts are open for streams of new keys. */
    static final int OPEN_SLOTS = 7;
    private static final int SLACK = 1 << 16;
    final ColumnFamilyStore table;
    final Mode mode;
    final double rate;
    private final long maxBytes;
    private final long slotWrites;
    /** In mode shadow: what would have been, for {@code lacuna.report}; else null. */
    final Report report;
    private final int sample;
    /** Which reads look at the filters at their coordinator; in mode shadow all of the sample, since the report counts them. */
    final LookBackOff backOff;
    final FilterBuilds builds = new FilterBuilds(this);
    /** Null if only whole partitions are known. */
    final RowPositions positions;
    private final long high;
    /** Of the table's id and of the width of its buckets ({@link #named}). */
    private final long low;
    /** Whether copies are of use only of nodes that share a range of tokens. */
    final boolean ofReplicasOnly;
    /** By what the wanted copies were last chosen; used by the exchange's thread alone. */
    Sharing.Basis basis;
    /** The nodes whose filters are fetched. */
    volatile Set<UUID> wanted = Set.of();
    /** Whether this datacentre has replicas; once it has, the filter stays. */
    private volatile boolean isHere;
    volatile boolean dropped;

    /** What this node decided about reads of the table as their coordinator. */
    final Reasons reasons = new Reasons();
    final LongAdder skipped = new LongAdder();
    /** Those of whole partitions: skipped, and empty although a filter said otherwise. */
    final LongAdder partitionsSkipped = new LongAdder();
    final LongAdder falsePositives = new LongAdder();

    TableFilter(ColumnFamilyStore table, TableOptions options)
    {
        this.table = table;
        this.mode = options.mode;
        this.rate = options.rate;
        this.maxBytes = options.maxFilterBytes;
        this.slotWrites = options.slotWrites;
        this.sample = options.sample;
        this.report = options.mode == Mode.SHADOW ? new Report(options.sample) : null;
        this.backOff = new LookBackOff(options.mode == Mode.SHADOW ? 1 : options.backOff);
        this.ofReplicasOnly = options.ofReplicasOnly;
        this.positions = RowPositions.of(table.metadata(), options);
        SavedFilter.Name name = SavedFilter.Name.of(table.metadata(), options);
        this.high = name.high;
        this.low = name.low;
    }

    /**
     * Buckets of another width have other names in a filter, so one width must never be looked up in a filter of another: for a node
     * that missed that the table was given another {@code bucket}, the filters of the other nodes are filters of a
     * table that it does not know. Without buckets it is the table's own id.
     */
    static long named(long low, long code)
    {
        return low ^ code;
    }

    /** How many places a bucket of the finest level has, as a power of two; -1 if rows have no buckets. */
    private long finest()
    {
        return positions == null ? -1 : positions.bits();
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
        return isHere && mayTakePart();
    }

    private boolean mayTakePart()
    {
        return Exchange.isActive() && !dropped && (mode != Mode.SAFE || Exchange.mayRely());
    }

    /** From now on it takes writes. */
    void begin()
    {
        // Even if the exchange is inactive: other nodes may still hold leases of this node's last life.
        if (mode == Mode.SAFE)
            Acknowledgements.addSafeTable();
        if (mode == Mode.OFF)
            return;
        Exchange.start();
        if (Sharing.isReplicatedHere(table.keyspace.getReplicationStrategy()))
            join();
    }

    private void join()
    {
        if (mayTakePart())
        {
            guarded("create", () -> Native.create(Exchange.hub(), mode.number(), high, low, builds.capacity(), rate, finest(), maxBytes));
            guarded("ingest", () -> Native.ingest(Exchange.hub(), mode.number(), high, low, slotWrites));
            builds.contents.restore();
        }
        isHere = true;
    }

    /** The keyspace may have got its first replicas in this datacentre. */
    synchronized void joinIf(boolean isReplicatedHere)
    {
        if (isHere || dropped || !isReplicatedHere)
            return;
        join();
        builds.buildSoon();
    }

    /** What tells this filter from those of other tables, modes and options: one of them is of no use in its place. */
    SavedFilter.Name name()
    {
        return new SavedFilter.Name(high, low, mode.number(), rate, sample);
    }

    /** Puts bytes of a file in place of the filter, which was created just now; false if they are none. */
    boolean restore(ByteBuffer bytes, boolean keepsDead)
    {
        long address = MemoryUtil.getAddress(bytes) + bytes.position();
        return Exchange.checked(Native.restore(Exchange.hub(), mode.number(), high, low, address, bytes.remaining(), keepsDead ? 1 : 0)) == 1;
    }

    /** The filter as bytes, or null while it is not filled. */
    ByteBuffer saved()
    {
        long room = number(null, BYTES) + SLACK;
        while (room > 0 && room <= SavedFilter.MAX_BYTES)
        {
            ByteBuffer bytes = ByteBuffer.allocateDirect(Math.toIntExact(room));
            long length = Exchange.checked(Native.save(Exchange.hub(), mode.number(), high, low, MemoryUtil.getAddress(bytes), room));
            if (length >= 0)
                return length == 0 ? null : bytes.limit(Math.toIntExact(length));
            // It has grown since.
            room = SLACK - length;
        }
        return null;
    }

    /** From now on writes go to a second filter too, which will stand in for this one; false if this one was dropped. */
    boolean beginRebuild(long capacity)
    {
        return whileUsed("rebuild", () -> Native.beginRebuild(Exchange.hub(), mode.number(), high, low, capacity, rate));
    }

    /** The end of a build: {@code what} is what the native library does with a whole table. False if this filter was dropped. */
    boolean finish(int what)
    {
        return whileUsed("finish", () -> Native.table(Exchange.hub(), mode.number(), high, low, what));
    }

    /**
     * A build may outlive its filter, and the library knows filters by mode and table only: the build would then change the table's
     * next filter, which is not filled yet. A filter is dropped before the next one is created, and a dropped
     * one never returns.
     */
    private synchronized boolean whileUsed(String what, LongSupplier call)
    {
        if (!isUsed())
            return false;
        guarded(what, call);
        return true;
    }

    /** Whether the filter knows this partition: in mode shadow one in some, else all. */
    boolean isInSample(long[] hash)
    {
        return sample == 1 || Long.remainderUnsigned(hash[1], sample) == 0;
    }

    int sample()
    {
        return sample;
    }

    /** Marks keys of a file in the filter, or in the one that is being rebuilt. */
    void load(long[] hash, long hasPlace, long place, long isRebuild)
    {
        if (!isInSample(hash))
            return;
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

    /** Marks the partition and its rows. */
    void each(Iterator<? extends Unfiltered> rows, Marker marker)
    {
        marker.wholePartition();
        if (positions != null)
            positions.each(rows, place -> marker.mark(1, place));
    }

    /** Whether a write has to be marked before it is visible too. */
    boolean isMarkedBefore()
    {
        return mode == Mode.SAFE && isUsed() && Waits.current().marksBeforeWrites();
    }

    /** Before a write is visible: of the partition, or of its row. */
    void beforeWrite(DecoratedKey key, Row row)
    {
        long[] hash = hash(key);
        boolean hasPlace = row != null && positions != null && !row.isStatic();
        guarded("write", () ->
        {
            write(hash, hasPlace ? kind(DeadData.isTombstone(row)) : 0, hasPlace ? positions.of(row.clustering()) : 0);
            return 0;
        });
    }

    /** Before the write's acknowledgement, after it is visible. */
    void afterWrite(PartitionUpdate update)
    {
        if (!isUsed() || !Waits.current().marksAfterWrites())
            return;
        long[] hash = hash(update.partitionKey());
        if (!isInSample(hash))
            return;
        boolean[] isNews = { false };
        guarded("write", () ->
        {
            // Of many rows only some are marked, for those between them too.
            long kind = kind(areTombstones(update));
            each(update.iterator(), (hasPlace, place) -> isNews[0] |= write(hash, hasPlace == 0 ? 0 : kind, place));
            return 0;
        });
        if (report != null)
            report.wrote(isNews[0]);
    }

    /** Of a row, as the native library numbers what is written: a deletion alone leaves alone what is known to be dead. */
    private static long kind(boolean isTombstone)
    {
        return isTombstone ? 2 : 1;
    }

    private static boolean areTombstones(PartitionUpdate update)
    {
        for (Row row : update)
            if (!DeadData.isTombstone(row))
                return false;
        return true;
    }

    /** Whether other nodes do not know it yet. */
    private boolean write(long[] hash, long hasPlace, long place)
    {
        long isToTell = Exchange.checked(Native.write(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], hasPlace, place,
                                                      Exchange.now()));
        if (isToTell == 1 && mode == Mode.SAFE)
            Exchange.wake();
        return isToTell == 1;
    }

    /**
     * The whole partition holds tombstones only, or nothing any more, and no write has come since that was read. If the filter says
     * otherwise, it learns it: after a deletion, after expiry and purge, after a false positive.
     */
    void bury(DecoratedKey key, long micros)
    {
        if (!Lacuna.isActive())
            return;
        long[] hash = hash(key);
        if (!isInSample(hash))
            return;
        whileUsed("bury", () -> Native.isEmpty(Exchange.hub(), mode.number(), high, low, hash[0], hash[1]) == 1 ? 0
                                : Native.bury(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], Math.max(0, micros)));
    }

    /** As {@link #bury} for the rows of a slice, as far as they fill buckets or reach a border of them. */
    void buryRows(DecoratedKey key, Slice slice)
    {
        buryRows(key, slice, (hash, ends) -> Native.buryRows(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], ends[0], ends[1], 0));
    }

    /** The same where only rows beyond this node's own mark were read: nothing is entered if the mark does not reach as far any more. */
    void buryRowsBeyond(DecoratedKey key, Slice slice, PartitionEnd end, long pair)
    {
        buryRows(key, slice, (hash, ends) -> Native.buryRowsBeyond(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], end.number(), pair,
                                                                   ends[0], ends[1], 0));
    }

    private void buryRows(DecoratedKey key, Slice slice, ToLongBiFunction<long[], long[]> bury)
    {
        long[] ends = positions == null || !Lacuna.isActive() ? null : positions.inside(slice);
        if (ends == null)
            return;
        long[] hash = hash(key);
        if (!isInSample(hash))
            return;
        whileUsed("bury", () -> bury.applyAsLong(hash, ends));
    }

    /** How far a partition is known to be dead here, from one end on; below 0 if nothing is. */
    long ownWaterMark(DecoratedKey key, PartitionEnd end)
    {
        long[] hash = hash(key);
        return isUsed() ? Exchange.checked(Native.ownWaterMark(Exchange.hub(), mode.number(), high, low, hash[0], hash[1], end.number())) : -1;
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

    /** Its file may stay for a filter of the same name, which is created next. */
    void drop(boolean keepsFile)
    {
        if (!isDroppedNow())
            return;
        // Waits for a file that is being written, which proofs and writes must not wait for.
        builds.contents.forget(keepsFile);
    }

    private synchronized boolean isDroppedNow()
    {
        if (dropped)
            return false;
        if (isUsed())
            guarded("drop", () -> Native.table(Exchange.hub(), mode.number(), high, low, DROPPED));
        dropped = true;
        if (mode == Mode.SAFE)
            Acknowledgements.removeSafeTable();
        return true;
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

    /** Whether this node's filter, or the copy of a peer's, was given up for want of memory. */
    boolean isUnknown(UUID peer)
    {
        return number(peer, IS_UNKNOWN) == 1;
    }

    static long[] hash(DecoratedKey key)
    {
        long[] hash = new long[2];
        key.filterHash(hash);
        return hash;
    }

    static void guarded(String what, LongSupplier call)
    {
        try
        {
            Exchange.checked(call.getAsLong());
        }
        catch (Throwable failure)
        {
            Exchange.fail(what, failure);
        }
    }
}
