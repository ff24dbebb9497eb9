package lacuna.cassandra;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertNull;

import java.nio.ByteBuffer;
import java.util.UUID;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.ReversedType;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.BeforeClass;
import org.junit.Test;

/** Rows as numbers: what lies whole inside a slice of them. */
public class RowPositionsTest
{
    private static final ByteBuffer EMPTY = ByteBufferUtil.EMPTY_BYTE_BUFFER;
    private static final ByteBuffer SMALLEST = ByteBufferUtil.bytes(Long.MIN_VALUE);

    @BeforeClass
    public static void standAlone()
    {
        DatabaseDescriptor.clientInitialization(false);
    }

    private static RowPositions places(AbstractType<Long> type)
    {
        TableMetadata table = TableMetadata.builder("k", "t", TableId.fromUUID(new UUID(1, 2))).addPartitionKeyColumn("p", LongType.instance)
                                           .addClusteringColumn("c", type).build();
        return RowPositions.of(table, 16);
    }

    private static Slice slice(ByteBuffer first, boolean isFirstIn, ByteBuffer last, boolean isLastIn)
    {
        return Slice.make(bound(true, isFirstIn, first), bound(false, isLastIn, last));
    }

    private static ClusteringBound<?> bound(boolean isStart, boolean isInclusive, ByteBuffer value)
    {
        ByteBuffer[] values = value == null ? new ByteBuffer[0] : new ByteBuffer[] { value };
        return BufferClusteringBound.create(ClusteringBound.boundKind(isStart, isInclusive), values);
    }

    @Test
    public void boundsAreInsideIfTheyAreInclusive()
    {
        RowPositions places = places(LongType.instance);
        ByteBuffer three = ByteBufferUtil.bytes(3L);
        ByteBuffer nine = ByteBufferUtil.bytes(9L);
        long zero = Long.MIN_VALUE;
        assertArrayEquals(new long[] { zero + 3, zero + 9 }, places.inside(slice(three, true, nine, true)));
        assertArrayEquals(new long[] { zero + 4, zero + 8 }, places.inside(slice(three, false, nine, false)));
        assertArrayEquals(new long[] { 0, zero + 8 }, places.inside(slice(null, true, nine, false)));
        assertNull(places.inside(slice(three, false, three, true)));
    }

    /** The empty value sorts before the smallest one and shares its place: a deletion that begins at the one leaves the other alive. */
    @Test
    public void aPlaceThatTwoValuesShareIsInsideOnlyOfWhatIsOpen()
    {
        RowPositions places = places(LongType.instance);
        ByteBuffer nine = ByteBufferUtil.bytes(9L);
        long last = Long.MIN_VALUE + 8;
        assertArrayEquals(new long[] { 1, last }, places.inside(slice(SMALLEST, true, nine, false)));
        assertArrayEquals(new long[] { 0, last }, places.inside(slice(null, true, nine, false)));
        assertNull(places.inside(slice(null, true, EMPTY, true)));
        assertNull(places.inside(slice(null, true, SMALLEST, false)));
    }

    @Test
    public void aPlaceThatTwoValuesShareIsTheLastOneIfRowsDescend()
    {
        RowPositions places = places(ReversedType.getInstance(LongType.instance));
        ByteBuffer nine = ByteBufferUtil.bytes(9L);
        long first = places.of(Clustering.make(nine)) + 1;
        assertArrayEquals(new long[] { first, -2 }, places.inside(slice(nine, false, SMALLEST, true)));
        assertArrayEquals(new long[] { first, -1 }, places.inside(slice(nine, false, null, true)));
        assertNull(places.inside(slice(EMPTY, true, null, true)));
    }
}
