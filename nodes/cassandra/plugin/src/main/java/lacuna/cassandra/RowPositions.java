package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.NavigableSet;
import java.util.OptionalLong;
import java.util.function.LongConsumer;

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
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * Rows of a partition as unsigned numbers in their order, by the first clustering column, turned around if it descends.
 *
 * <p>A place is the number of a bucket and, in the lowest {@link #bits}, how far the value is into it: with {@code bucket} 100, value 205 has
 * bucket 2 and place 2 * 128 + 5, above those of negative values. So a bucket has a power of two of places, some of which no value has.
 * A row that lies in a slice has a place between those of the slice's ends, whatever its other columns are. The empty value, which
 * sorts before all others, has the place of the smallest.
 */
final class RowPositions
{
    /** With the levels above the finest, a place has no more. Rows of wider buckets have the place of their bucket. */
    private static final int MAX_BITS = 47;

    private final AbstractType<?> type;
    private final boolean isReversed;
    private final BucketWidth width;
    /** Of a place, how many tell rows of a bucket apart. */
    private final int bits;

    private RowPositions(AbstractType<?> type, BucketWidth width)
    {
        this.type = type.unwrap();
        this.isReversed = type.isReversed();
        this.width = width;
        this.bits = width.width > 1L << MAX_BITS ? 0 : Long.SIZE - Long.numberOfLeadingZeros(width.width - 1);
    }

    /** Null if the table's rows have no buckets. */
    static RowPositions of(TableMetadata table, TableOptions options)
    {
        return options.mode == Mode.OFF ? null : of(table, options.bucket);
    }

    static RowPositions of(TableMetadata table, BucketWidth width)
    {
        if (width.width == 0)
            return null;
        AbstractType<?> first = table.clusteringColumns().isEmpty() ? null : table.clusteringColumns().get(0).type;
        AbstractType<?> plain = first == null ? null : first.unwrap();
        if (plain != Int32Type.instance && plain != LongType.instance && plain != TimestampType.instance)
            throw new ConfigurationException("bucket needs a first clustering column of type int, bigint or timestamp");
        if (width.isTime && plain != TimestampType.instance)
            throw new ConfigurationException("bucket and origin have a unit of time, but the first clustering column is no timestamp: give "
                                             + "numbers in the units of the column");
        return new RowPositions(first, width);
    }

    /** Tells the names of buckets of one width from those of another. */
    long code()
    {
        return width.code();
    }

    int bits()
    {
        return bits;
    }

    /** The bucket that a place is in. */
    long bucket(long place)
    {
        return place >>> bits;
    }

    /** Whether a slice without rows tells anything of its buckets: some lie inside, or it reaches a border of one. */
    boolean reachesBorder(Slice slice)
    {
        long[] ends = inside(slice);
        long within = (1L << bits) - 1;
        return ends != null && (bucket(ends[0]) != bucket(ends[1]) || (ends[0] & within) == 0 || (ends[1] & within) == within);
    }

    long of(ClusteringPrefix<?> prefix)
    {
        long place = place(value(prefix));
        return isReversed ? ~place : place;
    }

    /**
     * Of each bucket the places of its first and its last row, which are given in their order: what lies between them is in no margin of
     * the bucket that neither of the two is in.
     */
    void each(Iterator<? extends Unfiltered> rows, LongConsumer mark)
    {
        boolean isMarked = true;
        long last = 0;
        for (boolean isFirstOfAll = true; rows.hasNext();)
        {
            Unfiltered next = rows.next();
            if (!next.isRow())
                continue;
            long place = of(next.clustering());
            boolean isFirst = isFirstOfAll || bucket(place) != bucket(last);
            if (isFirst && !isMarked)
                mark.accept(last);
            if (isFirst)
                mark.accept(place);
            isMarked = isFirst || isMarked && place == last;
            last = place;
            isFirstOfAll = false;
        }
        if (!isMarked)
            mark.accept(last);
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

    /** After the last value of a bucket, places that no value has. */
    private long lastWhole(long value)
    {
        boolean isWhole = value == Long.MAX_VALUE || place(value + 1) != place(value);
        boolean isLast = bits > 0 && width.offset(value) == width.width - 1;
        return isWhole ? place(value) | (isLast ? (1L << bits) - 1 : 0) : place(value) - 1;
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
        long to = high.size() == 0 ? 0 : largest(high) - width.offset(largest(high)) + width.width - 1;
        // The empty value is below the first bucket's.
        boolean isFromNew = low.size() > 0 && !isEmpty(low) && from <= smallest(low) && isValue(from) && (from < smallest(low) || low.size() > 1);
        boolean isToNew = high.size() > 0 && to >= largest(high) && isValue(to) && (to > largest(high) || high.size() > 1);
        if (!isFromNew && !isToNew)
            return null;
        return isReversed ? Slice.make(isToNew ? bound(true, to) : high, isFromNew ? bound(false, from) : low)
                          : Slice.make(isFromNew ? bound(true, from) : low, isToNew ? bound(false, to) : high);
    }

    /** Where the rows of later places begin, in the order of the table; null if that is no bound: no place before it is left out. */
    ClusteringBound<?> startAfter(long place)
    {
        if (place == -1)
            return null;
        OptionalLong value = isReversed ? valueBelow(~place) : firstFrom(place + 1);
        return value.isPresent() ? bound(true, value.getAsLong()) : null;
    }

    /** Where the rows of earlier places end. */
    ClusteringBound<?> endBefore(long place)
    {
        if (place == 0)
            return null;
        OptionalLong value = isReversed ? firstFrom(~place + 1) : valueBelow(place);
        return value.isPresent() ? bound(false, value.getAsLong()) : null;
    }

    /** The last value whose place is below; places as they are in ascending order. */
    private OptionalLong valueBelow(long place)
    {
        OptionalLong first = firstFrom(place);
        return first.isPresent() ? OptionalLong.of(first.getAsLong() - 1) : first;
    }

    /** The first value whose place is at least this one, if there is a value before it. */
    private OptionalLong firstFrom(long place)
    {
        long number = place ^ Long.MIN_VALUE;
        long within = bits == 0 ? 0 : number & (1L << bits) - 1;
        long bucket = bits == 0 ? number : number >> bits;
        try
        {
            // Places after the last value of a bucket have none.
            long value = within < width.width ? Math.addExact(width.first(bucket), within) : width.first(bucket + 1);
            boolean isFirst = isValue(value) && value > least() && Long.compareUnsigned(place(value), place) >= 0
                              && Long.compareUnsigned(place(value - 1), place) < 0;
            return isFirst ? OptionalLong.of(value) : OptionalLong.empty();
        }
        catch (ArithmeticException beyondAllValues)
        {
            return OptionalLong.empty();
        }
    }

    private long least()
    {
        return type == Int32Type.instance ? Integer.MIN_VALUE : Long.MIN_VALUE;
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

    /**
     * As unsigned numbers are ordered. The largest and smallest values of 64 bits have one place each if they are too many; neither is
     * the first or the last of all, so that there is a place beside it.
     */
    private long place(long value)
    {
        long number = width.number(value);
        long end = 1L << Long.SIZE - 1 - bits;
        if (bits == 0)
            return number ^ Long.MIN_VALUE;
        if (number <= -end)
            return (1L << bits) - 1;
        if (number >= end - 1)
            return -1L << bits;
        return (number << bits | width.offset(value)) ^ Long.MIN_VALUE;
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
