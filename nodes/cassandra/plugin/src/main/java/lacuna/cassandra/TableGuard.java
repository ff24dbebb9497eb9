package lacuna.cassandra;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.apache.cassandra.db.BufferDecoratedKey;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.FBUtilities;

/**
 * What this node knows to be dead in one table: regions of partitions, each with its tombstones.
 *
 * <p>The argument that an answer is right: a region's tombstones are all that reading it would yield when it was proven.
 * Whatever adds information afterwards is seen here first. A write takes the region away after it reached the memtable
 * and before it is acknowledged, hence before it can be in any SSTable, since a flush waits for writes under way; and
 * memtables are always read. An SSTable that came otherwise (stream, import) is not in {@link #known}, so it is read, until
 * everything was forgotten. Compaction only merges what is known, and purges nothing that is still in its grace.
 */
final class TableGuard
{
    /** Regions of one partition; the oldest makes room. */
    private static final int MAX_REGIONS = 16;
    /** A partition with as many is asked for no gaps: their proofs must not take the place of regions. */
    private static final int MAX_BEFORE_GAPS = MAX_REGIONS / 2;
    /** What a key, its list and its map entry weigh beside the tombstones. */
    private static final int KEY_BYTES = 160;

    final ColumnFamilyStore table;
    final TableOptions options;
    final TableFilter filter;
    final Learning learning;
    /** The same for gaps from row to row. */
    final Learning gaps;
    final WaterMarks marks;
    private final Prover prover;
    private final ConcurrentHashMap<DecoratedKey, List<Region>> regions = new ConcurrentHashMap<>();
    private final Set<Descriptor> known = ConcurrentHashMap.newKeySet();
    private final AtomicLong bytes = new AtomicLong();
    private Iterator<DecoratedKey> hand = Collections.emptyIterator();

    TableGuard(ColumnFamilyStore table, TableOptions options, Prover prover)
    {
        this.table = table;
        this.options = options;
        this.filter = new TableFilter(table, options);
        this.learning = new Learning(options.learnEvery);
        this.gaps = Learning.ofGaps(options.learnEvery);
        this.marks = new WaterMarks(this);
        this.prover = prover;
    }

    /** The tombstones to answer instead of this SSTable, or null: then it must be read. */
    DeadData answerFor(SSTableReader sstable, DecoratedKey key, Supplier<Slices> slices)
    {
        List<Region> candidates = regions.get(key);
        if (candidates == null || !known.contains(sstable.descriptor) || TrackedReads.isAsked())
            return null;
        Slices asked = slices.get();
        for (Region region : candidates)
        {
            DeadData dead = region.dead();
            if (dead != null && region.contains(table.metadata().comparator, asked))
                return dead.isInGrace(FBUtilities.nowInSeconds(), table.metadata().params.gcGraceSeconds) ? dead : null;
        }
        return null;
    }

    /** Called for every applied write, before its acknowledgement: forgets what it touches, proposes what it deletes. */
    void afterWrite(PartitionUpdate update)
    {
        if (regions.containsKey(update.partitionKey()) && Waits.current().endsRegions())
            takeAway(update.partitionKey(), region -> region.isTouchedBy(table.metadata().comparator, update));
        if (!update.partitionLevelDeletion().isLive())
            propose(update.partitionKey(), Slice.ALL);
        else if (update.deletionInfo().hasRanges() && update.deletionInfo().rangeCount() <= 4)
            update.deletionInfo().rangeIterator(false).forEachRemaining(range -> propose(update.partitionKey(), range.deletedSlice()));
        marks.deleted(update);
    }

    /** Before a write is visible: pending proofs of its key are dropped, and the key is announced. Ends of partitions wait for the rows. */
    void beforeWrite(DecoratedKey key)
    {
        if (regions.containsKey(key))
            takeAway(key, region -> region.dead() == null && region.end == null);
        filter.beforeWrite(key, null);
    }

    /** The same for a row of it, where rows are known. */
    void beforeWrite(DecoratedKey key, Row row)
    {
        if (regions.containsKey(key) && !row.isStatic())
            takeAway(key, region -> region.end != null && region.isEnlivenedBy(table.metadata().comparator, row));
        filter.beforeWrite(key, row);
    }

    private void takeAway(DecoratedKey key, Predicate<Region> which)
    {
        regions.computeIfPresent(key, (same, present) ->
        {
            List<Region> kept = new ArrayList<>(present);
            kept.removeIf(which);
            Lacuna.COUNTERS.forgotten.add(present.size() - kept.size());
            return replaced(present, kept);
        });
    }

    /**
     * A read of these slices met an SSTable: perhaps there is nothing alive in them. Of one that holds no rows of the partition's
     * Cassandra asks for the deletion, by no slices: perhaps nothing at all is alive.
     */
    void suspect(DecoratedKey key, Slices slices)
    {
        if (slices.isEmpty())
            propose(key, Slice.ALL);
        else if (slices.size() == 1)
            propose(key, slices.get(0));
        marks.read(key, slices);
    }

    /** Rows from an end of the partition on may be dead. */
    void suspectEnd(DecoratedKey key, PartitionEnd end, Slice stretch)
    {
        if (!isCrowded(key))
            propose(key, Region.ofEnd(stretch, end));
    }

    private boolean isCrowded(DecoratedKey key)
    {
        List<Region> present = regions.get(key);
        return present != null && present.size() >= MAX_BEFORE_GAPS;
    }

    /** A read has found no row in the slice, though filters did not say so. */
    void suspectGap(DecoratedKey key, Slice slice)
    {
        if (isCrowded(key) || !gaps.isNext())
            return;
        Slice wider = filter.positions.widened(slice);
        propose(key, Region.ofGap(slice, wider == null ? slice : wider));
    }

    private void propose(DecoratedKey key, Slice slice)
    {
        propose(key, new Region(isAll(slice) ? Slice.ALL : slice, false));
    }

    private void propose(DecoratedKey key, Region region)
    {
        if (isCovered(key, region))
            return;
        DecoratedKey owned = new BufferDecoratedKey(key.getToken(), ByteBufferUtil.clone(key.getKey()));
        regions.compute(owned, (same, present) -> replaced(present, with(present, region)));
        if (!prover.offer(this, owned, region))
            withdraw(owned, region);
    }

    private static boolean isAll(Slice slice)
    {
        return slice.start().isBottom() && slice.end().isTop();
    }

    /** A proven region says nothing of the margins of buckets, and a gap's proof is not kept. */
    private boolean isCovered(DecoratedKey key, Region wanted)
    {
        List<Region> present = regions.get(key);
        if (present == null)
            return false;
        Slices slices = Slices.with(table.metadata().comparator, wanted.slice);
        return present.stream().filter(region -> region.isLike(wanted))
                      .anyMatch(region -> region.contains(table.metadata().comparator, slices));
    }

    private static List<Region> with(List<Region> present, Region region)
    {
        List<Region> grown = new ArrayList<>(present == null ? List.of() : present);
        if (grown.size() == MAX_REGIONS)
            grown.remove(0);
        grown.add(region);
        return grown;
    }

    /** Keeps the account of bytes; an empty list is no entry. */
    private List<Region> replaced(List<Region> before, List<Region> after)
    {
        bytes.addAndGet(weight(after) - weight(before));
        return after.isEmpty() ? null : List.copyOf(after);
    }

    private static long weight(List<Region> list)
    {
        if (list == null || list.isEmpty())
            return 0;
        long sum = KEY_BYTES;
        for (Region region : list)
            sum += region.dead() == null ? 0 : region.dead().bytes;
        return sum;
    }

    /**
     * The end of a proof, on the prover's thread: it counts only if nothing has touched the region since it was proposed. A region
     * that is not kept here may still be new to other nodes.
     */
    void conclude(DecoratedKey key, Region region, DeadData dead, boolean isToKeep)
    {
        boolean[] counted = { false };
        regions.computeIfPresent(key, (same, present) ->
        {
            if (!present.contains(region))
                return present;
            // While this key is locked no write can be between its own forgetting and its mark in the filter.
            if (region.isWhole())
                filter.bury(key, dead.partitionDeletion().markedForDeleteAt());
            else
                filter.buryRows(key, region.slice);
            counted[0] = true;
            if (!isToKeep)
                return without(present, region);
            List<Region> kept = new ArrayList<>(present);
            kept.removeIf(other -> region.replaces(table.metadata().comparator, other));
            List<Region> after = replaced(present, kept);
            region.prove(dead);
            bytes.addAndGet(dead.bytes);
            return after;
        });
        (counted[0] ? Lacuna.COUNTERS.proven : Lacuna.COUNTERS.overtaken).increment();
        if (counted[0])
            proposeWidened(key, region);
        makeRoom();
    }

    /** The same for a gap, or an end of a partition: other nodes learn of it as far as it was proven, and nothing is kept here. */
    void concludeStretch(DecoratedKey key, Region region, Slice proven)
    {
        concludeStretch(key, region, () -> filter.buryRows(key, proven));
    }

    /** The same for an end of a partition of which a proof has read what lies beyond a mark. */
    void concludeBeyond(DecoratedKey key, Region region, Slice proven, long mark)
    {
        concludeStretch(key, region, () -> filter.buryRowsBeyond(key, proven, region.end, mark));
    }

    private void concludeStretch(DecoratedKey key, Region region, Runnable bury)
    {
        boolean[] counted = { false };
        regions.computeIfPresent(key, (same, present) ->
        {
            counted[0] = present.contains(region);
            if (counted[0])
                bury.run();
            return without(present, region);
        });
        if (!counted[0])
            Lacuna.COUNTERS.overtaken.increment();
        else
            (region.end == null ? Lacuna.COUNTERS.gapsProven : Lacuna.COUNTERS.waterMarksProven).increment();
    }

    /** Whole buckets are what other nodes can know; the rows up to their borders may be dead too. */
    private void proposeWidened(DecoratedKey key, Region region)
    {
        Slice wider = filter.positions == null || region.isWhole() || region.isWidened ? null : filter.positions.widened(region.slice);
        if (wider != null)
            propose(key, new Region(wider, true));
    }

    /** Forgets the next partitions in a circle, as the CLOCK algorithm does. Called by the prover's thread only. */
    private void makeRoom()
    {
        while (bytes.get() > options.maxBytes && !regions.isEmpty())
        {
            if (!hand.hasNext())
                hand = regions.keySet().iterator();
            if (hand.hasNext() && regions.computeIfPresent(hand.next(), (key, present) -> replaced(present, List.of())) == null)
                Lacuna.COUNTERS.evicted.increment();
        }
    }

    void withdraw(DecoratedKey key, Region region)
    {
        regions.computeIfPresent(key, (same, present) -> without(present, region));
    }

    private List<Region> without(List<Region> present, Region region)
    {
        List<Region> kept = new ArrayList<>(present);
        kept.remove(region);
        return replaced(present, kept);
    }

    /** What may be given of each partition. */
    Map<DecoratedKey, List<Region>> proven(long nowSeconds)
    {
        long grace = table.metadata().params.gcGraceSeconds;
        Map<DecoratedKey, List<Region>> proven = new LinkedHashMap<>();
        regions.forEach((key, present) ->
        {
            List<Region> given = new ArrayList<>(present);
            given.removeIf(region -> region.dead() == null || !region.dead().isInGrace(nowSeconds, grace));
            if (!given.isEmpty())
                proven.put(key, given);
        });
        return proven;
    }

    /** Puts back what the node's last life has proven of a partition; false if there is no room. Called before reads and writes find the table. */
    boolean restore(DecoratedKey key, List<Region> proven)
    {
        if (bytes.get() + weight(proven) > options.maxBytes || proven.size() > MAX_REGIONS)
            return false;
        regions.compute(key, (same, present) -> replaced(present, proven));
        return true;
    }

    /** Forgets all that is known to be dead; pending proofs are overtaken too. */
    void forgetAll()
    {
        for (DecoratedKey key : regions.keySet())
            regions.computeIfPresent(key, (same, present) -> replaced(present, List.of()));
    }

    void forgetKeysCompactedWithoutGrace()
    {
        for (DecoratedKey key : regions.keySet())
            if (table.shouldIgnoreGcGraceForKey(key))
                regions.computeIfPresent(key, (same, present) -> replaced(present, List.of()));
    }

    Set<Descriptor> known()
    {
        return known;
    }

    int keyCount()
    {
        return regions.size();
    }

    long bytes()
    {
        return bytes.get();
    }
}
