package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.NavigableSet;

import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * Rows of a partition as unsigned numbers in their order: the bucket of the first clustering column, turned around if it descends.
 *
 * <p>A place is the number of a bucket. With {@code bucket} 64, values 0 to 63 have the first place above those of negative values.
 * A row that lies in a slice has a place between those of the slice's ends, whatever its other columns are. The empty value, which
 * sorts before all others, has the place of the smallest.
 */
final class RowPositions
{
    private final AbstractType<?> type;
    private final boolean isReversed;
    private final BucketWidth width;

    private RowPositions(AbstractType<?> type, BucketWidth width)
    {
        this.type = type.unwrap();
        this.isReversed = type.isReversed();
        this.width = width;
    }

    /** Null if the table's rows have no buckets. */
    static RowPositions of(TableMetadata table, BucketWidth width)
    {
        if (width.width() == 0)
            return null;
        AbstractType<?> first = table.clusteringColumns().isEmpty() ? null : table.clusteringColumns().get(0).type;
        AbstractType<?> plain = first == null ? null : first.unwrap();
        if (plain != Int32Type.instance && plain != LongType.instance && plain != TimestampType.instance)
            throw new ConfigurationException("bucket needs a first clustering column of type int, bigint or timestamp");
        if (width.isTime() && plain != TimestampType.instance)
            throw new ConfigurationException("bucket and origin have a unit of time, but the first clustering column is no timestamp: give "
                                             + "numbers in the units of the column");
        return new RowPositions(first, width);
    }

    /** Tells the names of buckets of one width from those of another. */
    long code()
    {
        return width.code();
    }

    long of(ClusteringPrefix<?> prefix)
    {
        long place = place(value(prefix));
        return isReversed ? ~place : place;
    }

    /** First and last place all of whose rows lie in the slice; null if there are none. */
    long[] inside(Slice slice)
    {
        ClusteringBound<?> low = low(slice);
        ClusteringBound<?> high = high(slice);
        if (low.size() > 0 && !takesWhole(low) && value(low) == Long.MAX_VALUE
            || high.size() > 0 && (isEmpty(high) || !takesWhole(high) && value(high) == Long.MIN_VALUE))
            return null;
        long first = low.size() == 0 ? 0 : firstWhole(value(low) + (takesWhole(low) ? 0 : 1));
        long last = high.size() == 0 ? -1 : lastWhole(value(high) - (takesWhole(high) ? 0 : 1));
        return Long.compareUnsigned(first, last) > 0 ? null : inOrder(first, last);
    }

    /** The first place all of whose values are at least this one; the empty value is below every other. */
    private long firstWhole(long value)
    {
        boolean isWhole = value > Long.MIN_VALUE && place(value - 1) != place(value);
        return place(value) + (isWhole ? 0 : 1);
    }

    private long lastWhole(long value)
    {
        boolean isWhole = value == Long.MAX_VALUE || place(value + 1) != place(value);
        return place(value) - (isWhole ? 0 : 1);
    }

    /** A bound of one column takes its value whole or not at all; further columns cut through it. */
    private static boolean takesWhole(ClusteringBound<?> bound)
    {
        return bound.size() == 1 && bound.isInclusive();
    }

    /** First and last place of some rows, in the order of the table; null if there are none, or one is named by no value of ours. */
    long[] of(NavigableSet<Clustering<?>> rows)
    {
        if (rows.isEmpty() || rows.first().size() == 0 || rows.last().size() == 0)
            return null;
        return new long[] { of(rows.first()), of(rows.last()) };
    }

    /** First and last place of some slices, in this order if any row may lie in them; null if one of them is everything. */
    long[] of(Slices slices)
    {
        long[] ends = { -1, 0 };
        for (Slice slice : slices)
        {
            ClusteringBound<?> low = low(slice);
            ClusteringBound<?> high = high(slice);
            if (low.size() == 0 && high.size() == 0)
                return null;
            long[] places = inOrder(low.size() == 0 ? 0 : place(smallest(low)), high.size() == 0 ? -1 : place(largest(high)));
            ends[0] = Long.compareUnsigned(places[0], ends[0]) < 0 ? places[0] : ends[0];
            ends[1] = Long.compareUnsigned(places[1], ends[1]) > 0 ? places[1] : ends[1];
        }
        return slices.size() == 0 ? null : ends;
    }

    /**
     * The slice with whole buckets at both ends, so that what a read of it proves is known of whole buckets too; null if it has them
     * already. An end that is open, or whose bucket ends beyond all values, stays.
     */
    Slice widened(Slice slice)
    {
        ClusteringBound<?> low = low(slice);
        ClusteringBound<?> high = high(slice);
        long from = low.size() == 0 ? 0 : smallest(low) - width.offset(smallest(low));
        long to = high.size() == 0 ? 0 : largest(high) - width.offset(largest(high)) + width.width() - 1;
        // The empty value is below the first bucket's.
        boolean isFromNew = low.size() > 0 && !isEmpty(low) && from <= smallest(low) && isValue(from) && (from < smallest(low) || low.size() > 1);
        boolean isToNew = high.size() > 0 && to >= largest(high) && isValue(to) && (to > largest(high) || high.size() > 1);
        if (!isFromNew && !isToNew)
            return null;
        return isReversed ? Slice.make(isToNew ? bound(true, to) : high, isFromNew ? bound(false, from) : low)
                          : Slice.make(isFromNew ? bound(true, from) : low, isToNew ? bound(false, to) : high);
    }

    private ClusteringBound<?> bound(boolean isStart, long value)
    {
        ByteBuffer bytes = type == Int32Type.instance ? ByteBufferUtil.bytes((int) value) : ByteBufferUtil.bytes(value);
        return BufferClusteringBound.create(ClusteringBound.boundKind(isStart, true), new ByteBuffer[] { bytes });
    }

    private boolean isValue(long number)
    {
        return type != Int32Type.instance || number == (int) number;
    }

    /** The smallest value of rows above the bound. No value is next to the empty one, and none above the largest. */
    private long smallest(ClusteringBound<?> low)
    {
        long value = value(low);
        return isNextTaken(low) && value < Long.MAX_VALUE ? value + 1 : value;
    }

    private long largest(ClusteringBound<?> high)
    {
        long value = value(high);
        return isNextTaken(high) && value > Long.MIN_VALUE ? value - 1 : value;
    }

    private static boolean isNextTaken(ClusteringBound<?> bound)
    {
        return bound.size() == 1 && !bound.isInclusive() && !isEmpty(bound);
    }

    /** The bound below the slice's values, whatever the order of the table. */
    private ClusteringBound<?> low(Slice slice)
    {
        return isReversed ? slice.end() : slice.start();
    }

    private ClusteringBound<?> high(Slice slice)
    {
        return isReversed ? slice.start() : slice.end();
    }

    private long[] inOrder(long first, long last)
    {
        return isReversed ? new long[] { ~last, ~first } : new long[] { first, last };
    }

    /** The bucket of a value, as unsigned numbers are ordered. */
    private long place(long value)
    {
        return width.number(value) ^ Long.MIN_VALUE;
    }

    private static boolean isEmpty(ClusteringPrefix<?> prefix)
    {
        ByteBuffer bytes = prefix.bufferAt(0);
        return bytes == null || !bytes.hasRemaining();
    }

    private long value(ClusteringPrefix<?> prefix)
    {
        if (isEmpty(prefix))
            return Long.MIN_VALUE;
        ByteBuffer bytes = prefix.bufferAt(0);
        return type == Int32Type.instance ? ByteBufferUtil.toInt(bytes) : ByteBufferUtil.toLong(bytes);
    }
}
