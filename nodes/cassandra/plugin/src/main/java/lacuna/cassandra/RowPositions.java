package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.NavigableSet;

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
 * Rows of a partition as unsigned numbers in their order: the first clustering column, turned around if it descends.
 *
 * <p>A row that lies in a slice has a number between those of the slice's ends, whatever the other columns are.
 */
final class RowPositions
{
    private final AbstractType<?> type;
    private final boolean isReversed;
    /** The finest buckets hold two to this power of places. */
    final long finest;

    private RowPositions(AbstractType<?> type, long bucket)
    {
        this.type = type.unwrap();
        this.isReversed = type.isReversed();
        this.finest = Long.SIZE - Long.numberOfLeadingZeros(bucket - 1);
    }

    /** Null if the table's rows have no buckets. */
    static RowPositions of(TableMetadata table, long bucket)
    {
        if (bucket == 0)
            return null;
        AbstractType<?> first = table.clusteringColumns().isEmpty() ? null : table.clusteringColumns().get(0).type;
        AbstractType<?> plain = first == null ? null : first.unwrap();
        if (plain != Int32Type.instance && plain != LongType.instance && plain != TimestampType.instance)
            throw new ConfigurationException("bucket needs a first clustering column of type int, bigint or timestamp");
        return new RowPositions(first, bucket);
    }

    long of(ClusteringPrefix<?> prefix)
    {
        ByteBuffer value = prefix.bufferAt(0);
        long ascending = value == null || !value.hasRemaining() ? 0 : number(value) ^ Long.MIN_VALUE;
        return isReversed ? ~ascending : ascending;
    }

    private long number(ByteBuffer value)
    {
        return type == Int32Type.instance ? ByteBufferUtil.toInt(value) : ByteBufferUtil.toLong(value);
    }

    /** First and last place all of whose rows lie in the slice; null if there are none. */
    long[] inside(Slice slice)
    {
        ClusteringBound<?> start = slice.start();
        ClusteringBound<?> end = slice.end();
        long first = start.size() == 0 ? 0 : of(start);
        long last = end.size() == 0 ? -1 : of(end);
        boolean isFirstIn = start.size() == 0 || takesWhole(start, first);
        boolean isLastIn = end.size() == 0 || takesWhole(end, last);
        if (Long.compareUnsigned(first, last) > 0 || (!isFirstIn || !isLastIn) && first == last)
            return null;
        first += isFirstIn ? 0 : 1;
        last -= isLastIn ? 0 : 1;
        return Long.compareUnsigned(first, last) > 0 ? null : new long[] { first, last };
    }

    /**
     * A bound of one column takes its place whole or not at all; further columns cut through it. So does the bound itself where two
     * values share a place: the empty one, which sorts before all others, has that of the smallest.
     */
    private boolean takesWhole(ClusteringBound<?> bound, long place)
    {
        return bound.size() == 1 && bound.isInclusive() && place != (isReversed ? -1 : 0);
    }

    /** First and last place of some rows, in the order of the table; null if there are none, or one is named by no value of ours. */
    long[] of(NavigableSet<Clustering<?>> rows)
    {
        if (rows.isEmpty() || rows.first().size() == 0 || rows.last().size() == 0)
            return null;
        return new long[] { of(rows.first()), of(rows.last()) };
    }

    /** First and last place of some slices; null if one of them is everything. */
    long[] of(Slices slices)
    {
        long[] ends = { -1, 0 };
        for (Slice slice : slices)
        {
            boolean hasFirst = slice.start().size() > 0;
            boolean hasLast = slice.end().size() > 0;
            if (!hasFirst && !hasLast)
                return null;
            long first = hasFirst ? of(slice.start()) : 0;
            long last = hasLast ? of(slice.end()) : -1;
            ends[0] = Long.compareUnsigned(first, ends[0]) < 0 ? first : ends[0];
            ends[1] = Long.compareUnsigned(last, ends[1]) > 0 ? last : ends[1];
        }
        return slices.size() == 0 ? null : ends;
    }
}
