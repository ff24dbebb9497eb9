package lacuna.cassandra;

import java.nio.ByteBuffer;

import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.Slices;

/**
 * A read that begins at rows which no replica holds alive, and how far.
 *
 * @param stamp what the mark relied on: another one as soon as any of it has ended
 */
record Narrowing(PartitionEnd end, long pair, long stamp, NarrowedSelect statement)
{
    /** The end of the partition from which the statement reads. */
    static PartitionEnd end(SelectStatement statement)
    {
        return NarrowedSelect.isReversed(statement) ? PartitionEnd.LAST : PartitionEnd.FIRST;
    }

    /** Null if the mark leaves the slices as they are, or leaves nothing of them. */
    static Narrowing of(SelectStatement statement, RowPositions positions, ByteBuffer key, Slices asked, PartitionEnd end, long pair, long stamp)
    {
        ClusteringBound<?> bound = WaterMarks.beyond(positions, end, pair);
        Slices slices = bound == null ? null : WaterMarks.narrowed(statement.table.comparator, asked, end, bound);
        return slices == null ? null : new Narrowing(end, pair, stamp, new NarrowedSelect(statement, key, slices));
    }

    /**
     * Whether the answer counts, if this is what the mark is now. Replicas were read after it was looked up; what they have shown meanwhile
     * of a write at or before the mark, this node has heard of before their answers left.
     */
    boolean isConfirmed(long pairNow, long stampNow)
    {
        return pairNow >= 0 && stampNow == stamp && (end == PartitionEnd.FIRST ? pairNow >= pair : pairNow <= pair);
    }
}
