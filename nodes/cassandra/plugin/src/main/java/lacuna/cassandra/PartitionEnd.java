package lacuna.cassandra;

import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.Slice;

/** An end of a partition, in the order of its table, from which on its rows may be dead. */
enum PartitionEnd
{
    FIRST, LAST;

    /** As the native library numbers them. */
    long number()
    {
        return ordinal();
    }

    /** The stretch from this end of the partition to the bound, which is the other end of the slice. */
    Slice stretch(Slice slice)
    {
        return this == FIRST ? Slice.make(ClusteringBound.BOTTOM, slice.end()) : Slice.make(slice.start(), ClusteringBound.TOP);
    }

    /** Whether the slice is open at this end. */
    boolean isOpen(Slice slice)
    {
        return this == FIRST ? slice.start().isBottom() : slice.end().isTop();
    }

    /** The slice with another bound at this end. */
    Slice from(ClusteringBound<?> bound, Slice slice)
    {
        return this == FIRST ? Slice.make(bound, slice.end()) : Slice.make(slice.start(), bound);
    }

    /** The slice with another bound at the other end. */
    Slice upTo(ClusteringBound<?> bound, Slice slice)
    {
        return this == FIRST ? Slice.make(slice.start(), bound) : Slice.make(bound, slice.end());
    }
}
