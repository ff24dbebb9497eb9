package lacuna.cassandra;

import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.rows.Row;

import java.util.Iterator;

/**
 * A stretch of one partition that holds no live data on this node: the whole partition or one slice of it.
 *
 * <p>No two are equal, not even of one slice: each is one proposal, and a proof counts for its own only.
 *
 * <p>Born <em>pending</em>, it becomes <em>proven</em> when a read of it found tombstones only; {@link #dead} then holds
 * them. A write that touches it takes it out of its {@link TableGuard}, proven or not, so a proof that was overtaken by
 * a write is worth nothing and is thrown away.
 */
final class Region
{
    final Slice slice;
    /** Whether it is another, proven region with whole buckets at its ends; no read has asked for it. */
    final boolean isWidened;
    /** What a read has asked for, if it is a gap that shall be known from row to row; else null. It is never kept. */
    final Slice gap;
    /** The end of the partition that it reaches from, if it shall be known how far that is dead; else null. It is never kept. */
    final PartitionEnd end;
    private volatile DeadData dead;

    Region(Slice slice, boolean isWidened)
    {
        this(slice, isWidened, null, null);
    }

    private Region(Slice slice, boolean isWidened, Slice gap, PartitionEnd end)
    {
        this.slice = slice;
        this.isWidened = isWidened;
        this.gap = gap;
        this.end = end;
    }

    /** A gap, of which a proof may tell as much as lies in {@code widest}: whatever is written there overtakes it. */
    static Region ofGap(Slice gap, Slice widest)
    {
        return new Region(widest, false, gap, null);
    }

    /** A stretch from one end of the partition, of which a proof tells how much is dead. */
    static Region ofEnd(Slice stretch, PartitionEnd end)
    {
        return new Region(stretch, false, null, end);
    }

    boolean isWhole()
    {
        return slice == Slice.ALL && end == null;
    }

    /** Whether its proof is of the same kind. */
    boolean isLike(Region other)
    {
        return (gap == null) == (other.gap == null) && end == other.end;
    }

    /** What reading this region would yield from all sources together; null while nothing is proven. */
    DeadData dead()
    {
        return dead;
    }

    void prove(DeadData found)
    {
        dead = found;
    }

    /** Whether all asked slices lie inside; no slices at all (only deletion and static row are asked) always do. */
    boolean contains(ClusteringComparator comparator, Slices asked)
    {
        if (isWhole())
            return true;
        for (Slice one : asked)
            if (comparator.compare(slice.start(), one.start()) > 0 || comparator.compare(slice.end(), one.end()) < 0)
                return false;
        return true;
    }

    /** Whether the other one is proven and lies inside: this one, once proven, says all that it says. */
    boolean replaces(ClusteringComparator comparator, Region other)
    {
        return other != this && other.dead != null && !other.isWhole() && contains(comparator, Slices.with(comparator, other.slice));
    }

    /** Whether the update writes anything that a read of this region could see. */
    boolean isTouchedBy(ClusteringComparator comparator, PartitionUpdate update)
    {
        if (end != null)
            return isEnlivenedBy(comparator, update);
        if (isWhole() || !update.partitionLevelDeletion().isLive() || !update.staticRow().isEmpty())
            return true;
        return isTouchedByRange(comparator, update) || isTouchedByRow(comparator, update);
    }

    /** Whether a row of it may be alive by the update: a deletion alone, of whatever, makes none alive. */
    private boolean isEnlivenedBy(ClusteringComparator comparator, PartitionUpdate update)
    {
        for (Row row : update)
            if (isEnlivenedBy(comparator, row))
                return true;
        return false;
    }

    boolean isEnlivenedBy(ClusteringComparator comparator, Row row)
    {
        return !DeadData.isTombstone(row) && slice.includes(comparator, row.clustering());
    }

    private boolean isTouchedByRange(ClusteringComparator comparator, PartitionUpdate update)
    {
        Iterator<RangeTombstone> ranges = update.deletionInfo().rangeIterator(false);
        while (ranges.hasNext())
            if (slice.intersects(comparator, ranges.next().deletedSlice()))
                return true;
        return false;
    }

    private boolean isTouchedByRow(ClusteringComparator comparator, PartitionUpdate update)
    {
        for (Row row : update)
            if (slice.includes(comparator, row.clustering()))
                return true;
        return false;
    }
}
