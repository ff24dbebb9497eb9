package lacuna.cassandra;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.ReversedType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.BeforeClass;
import org.junit.Test;

/** Rows as numbers: which a slice may hold, and which lie whole inside. */
public class RowPositionsTest
{
    private static final ByteBuffer EMPTY = ByteBufferUtil.EMPTY_BYTE_BUFFER;
    private static final ByteBuffer SMALLEST = ByteBufferUtil.bytes(Long.MIN_VALUE);

    @BeforeClass
    public static void standAlone()
    {
        DatabaseDescriptor.clientInitialization(false);
    }

    private static TableMetadata table(AbstractType<?> type)
    {
        return TableMetadata.builder("k", "t", TableId.fromUUID(new UUID(1, 2))).addPartitionKeyColumn("p", LongType.instance)
                            .addClusteringColumn("c", type).addClusteringColumn("d", Int32Type.instance).build();
    }

    private static RowPositions places(AbstractType<?> type, String bucket, String origin)
    {
        return RowPositions.of(table(type), BucketWidth.of(bucket, origin));
    }

    private static Slice slice(ByteBuffer first, boolean isFirstIn, ByteBuffer last, boolean isLastIn)
    {
        return Slice.make(bound(true, isFirstIn, first), bound(false, isLastIn, last));
    }

    private static ClusteringBound<?> bound(boolean isStart, boolean isInclusive, ByteBuffer... values)
    {
        ByteBuffer[] given = values[0] == null ? new ByteBuffer[0] : values;
        return BufferClusteringBound.create(ClusteringBound.boundKind(isStart, isInclusive), given);
    }

    private static ByteBuffer number(long value)
    {
        return ByteBufferUtil.bytes(value);
    }

    private static Slices only(AbstractType<?> type, Slice slice)
    {
        return Slices.with(table(type).comparator, slice);
    }

    /** First and last bucket that a slice may have rows in, from that of 0. */
    private static List<Long> buckets(RowPositions places, Slice slice)
    {
        long[] ends = places.of(only(LongType.instance, slice));
        long zero = places.of(Clustering.make(number(0)));
        return List.of(places.bucket(ends[0]) - places.bucket(zero), places.bucket(ends[1]) - places.bucket(zero));
    }

    @Test
    public void anHourIsAskedForOneBucketWhateverItsEnds()
    {
        RowPositions places = places(LongType.instance, "3600000", "0");
        long hour = 3_600_000;
        assertEquals(List.of(7L, 7L), buckets(places, slice(number(7 * hour), true, number(8 * hour), false)));
        assertEquals(List.of(7L, 7L), buckets(places, slice(number(7 * hour - 1), false, number(8 * hour - 1), true)));
        assertEquals(List.of(7L, 8L), buckets(places, slice(number(7 * hour), true, number(8 * hour), true)));
        assertEquals(List.of(-2L, -2L), buckets(places, slice(number(-2 * hour), true, number(-hour), false)));
    }

    @Test
    public void bucketsAreInsideIfAllTheirValuesAre()
    {
        RowPositions places = places(LongType.instance, "1", "0");
        long zero = Long.MIN_VALUE;
        assertArrayEquals(new long[] { zero + 3, zero + 9 }, places.inside(slice(number(3), true, number(9), true)));
        assertArrayEquals(new long[] { zero + 4, zero + 8 }, places.inside(slice(number(3), false, number(9), false)));
        assertArrayEquals(new long[] { 0, zero + 8 }, places.inside(slice(null, true, number(9), false)));
        assertNull(places.inside(slice(number(3), false, number(3), true)));
        RowPositions pairs = places(LongType.instance, "2", "0");
        assertArrayEquals(new long[] { zero + 3, zero + 8 }, pairs.inside(slice(number(3), true, number(8), true)));
    }

    /** The empty value sorts before the smallest one and shares its place: a deletion that begins at the one leaves the other alive. */
    @Test
    public void aPlaceThatTwoValuesShareIsInsideOnlyOfWhatIsOpen()
    {
        RowPositions places = places(LongType.instance, "1", "0");
        long last = Long.MIN_VALUE + 8;
        assertArrayEquals(new long[] { 1, last }, places.inside(slice(SMALLEST, true, number(9), false)));
        assertArrayEquals(new long[] { 0, last }, places.inside(slice(null, true, number(9), false)));
        assertNull(places.inside(slice(null, true, EMPTY, true)));
        assertNull(places.inside(slice(null, true, SMALLEST, false)));
    }

    @Test
    public void aPlaceThatTwoValuesShareIsTheLastOneIfRowsDescend()
    {
        RowPositions places = places(ReversedType.getInstance(LongType.instance), "1", "0");
        long first = places.of(Clustering.make(number(9))) + 1;
        assertArrayEquals(new long[] { first, -2 }, places.inside(slice(number(9), false, SMALLEST, true)));
        assertArrayEquals(new long[] { first, -1 }, places.inside(slice(number(9), false, null, true)));
        assertNull(places.inside(slice(EMPTY, true, null, true)));
    }

    @Test
    public void unitsOfTimeWantTimestamps()
    {
        assertThrows(ConfigurationException.class, () -> places(LongType.instance, "1h", "0"));
        assertThrows(ConfigurationException.class, () -> places(Int32Type.instance, "16", "1d"));
        RowPositions hours = places(TimestampType.instance, "1h", "30m");
        assertEquals(22, hours.bits());
        assertEquals((-1L << 22 | 1_800_000) ^ Long.MIN_VALUE, hours.of(Clustering.make(number(0))));
    }

    /** Rows, slices, widths, origins and orders at random, near the smallest and largest values too, beside Cassandra's own comparison. */
    @Test
    public void rowsOfASliceHavePlacesBetweenItsEnds()
    {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int inside = 0;
        for (int round = 0; round < 20_000; round++)
        {
            boolean isInt = random.nextBoolean();
            AbstractType<?> plain = isInt ? Int32Type.instance : LongType.instance;
            AbstractType<?> type = random.nextBoolean() ? plain : ReversedType.getInstance(plain);
            RowPositions places = places(type, Integer.toString(1 + random.nextInt(1 << 1 + random.nextInt(14))),
                                         Integer.toString(random.nextInt(100) - 50));
            long centre = centre(random, isInt);
            ClusteringComparator comparator = table(type).comparator;
            Clustering<?> row = Clustering.make(value(random, centre, isInt), ByteBufferUtil.bytes(random.nextInt(3)));
            Clustering<?> other = Clustering.make(value(random, centre, isInt), ByteBufferUtil.bytes(random.nextInt(3)));
            Slice slice = Slice.make(randomBound(random, true, centre, isInt), randomBound(random, false, centre, isInt));
            String which = type + " " + slice.toString(comparator) + " " + row.toString(table(type)) + ", round " + round + ", seed " + seed;
            if (comparator.compare(row, other) < 0)
                assertTrue(which, Long.compareUnsigned(places.of(row), places.of(other)) <= 0);
            if (slice.isEmpty(comparator))
                continue;
            inside += checked(places, comparator, slice, row, which);
        }
        assertTrue(inside + " rows were inside, seed " + seed, inside > 300);
    }

    private static int checked(RowPositions places, ClusteringComparator comparator, Slice slice, Clustering<?> row, String which)
    {
        long[] asked = places.of(Slices.with(comparator, slice));
        boolean isIn = slice.includes(comparator, row);
        if (isIn && asked != null)
            assertTrue(which, isBetween(asked, places.of(row)));
        long[] whole = places.inside(slice);
        boolean isWhole = whole != null && isBetween(whole, places.of(row));
        if (isWhole)
            assertTrue(which, isIn);
        Slice wider = places.widened(slice);
        if (wider == null)
            return isWhole ? 1 : 0;
        assertTrue(which, comparator.compare(wider.start(), slice.start()) <= 0 && comparator.compare(wider.end(), slice.end()) >= 0);
        long[] widest = places.inside(wider);
        assertTrue(which, widest == null || whole == null || Long.compareUnsigned(widest[0], whole[0]) <= 0
                                                             && Long.compareUnsigned(widest[1], whole[1]) >= 0);
        return isWhole ? 1 : 0;
    }

    private static boolean isBetween(long[] ends, long place)
    {
        return Long.compareUnsigned(ends[0], place) <= 0 && Long.compareUnsigned(place, ends[1]) <= 0;
    }

    private static long centre(Random random, boolean isInt)
    {
        return switch (random.nextInt(4))
        {
            case 0 -> isInt ? Integer.MIN_VALUE : Long.MIN_VALUE;
            case 1 -> isInt ? Integer.MAX_VALUE : Long.MAX_VALUE;
            default -> random.nextInt(1_000) - 500;
        };
    }

    private static ByteBuffer value(Random random, long centre, boolean isInt)
    {
        if (random.nextInt(20) == 0)
            return EMPTY;
        int scale = 1 << random.nextInt(12);
        long near = centre + random.nextInt(2 * scale) - scale;
        // Beyond the largest or smallest value it comes out at the other end.
        return isInt ? ByteBufferUtil.bytes((int) near) : number(near);
    }

    private static ClusteringBound<?> randomBound(Random random, boolean isStart, long centre, boolean isInt)
    {
        ByteBuffer first = random.nextInt(8) == 0 ? null : value(random, centre, isInt);
        return random.nextInt(4) == 0 && first != null ? bound(isStart, random.nextBoolean(), first, ByteBufferUtil.bytes(random.nextInt(3)))
                                                       : bound(isStart, random.nextBoolean() || first == null, first);
    }

    /** A bucket of 100 has 128 places: those that no value has are at its end, and inside of what takes its last value. */
    @Test
    public void gapsReachToPlacesThatNoValueHas()
    {
        RowPositions places = places(LongType.instance, "100", "0");
        long zero = Long.MIN_VALUE;
        assertArrayEquals(new long[] { zero + 5, zero + 127 }, places.inside(slice(number(5), true, number(100), false)));
        assertArrayEquals(new long[] { zero + 128, zero + 128 + 7 }, places.inside(slice(number(100), true, number(107), true)));
        RowPositions descending = places(ReversedType.getInstance(LongType.instance), "100", "0");
        assertArrayEquals(new long[] { ~(zero + 127), ~(zero + 5) }, descending.inside(slice(number(99), true, number(5), true)));
        for (RowPositions either : List.of(places, descending))
        {
            boolean isUp = either == places;
            assertTrue(either.reachesBorder(isUp ? slice(number(5), true, number(99), true) : slice(number(99), true, number(5), true)));
            assertTrue(either.reachesBorder(isUp ? slice(number(0), true, number(9), true) : slice(number(9), true, number(0), true)));
            assertTrue(either.reachesBorder(isUp ? slice(number(50), true, number(150), true) : slice(number(150), true, number(50), true)));
            assertTrue(!either.reachesBorder(isUp ? slice(number(5), true, number(98), true) : slice(number(98), true, number(5), true)));
        }
    }

    @Test
    public void ofEachBucketTheFirstAndTheLastRowAreMarked()
    {
        RowPositions places = places(LongType.instance, "100", "0");
        for (long[][] each : new long[][][] { { {}, {} }, { { 5 }, { 5 } }, { { 5, 5 }, { 5 } }, { { 5, 9 }, { 5, 9 } }, { { 5, 9, 9, 50 }, { 5, 50 } },
                                              { { 5, 99, 100, 101, 102, 300 }, { 5, 99, 100, 102, 300 } }, { { -1, 0, 1, 1 }, { -1, 0, 1 } } })
        {
            List<Long> marked = new ArrayList<>();
            places.each(rows(each[0]).iterator(), marked::add);
            assertEquals(rows(each[1]).stream().map(row -> places.of(row.clustering())).toList(), marked);
        }
    }

    private static List<Row> rows(long[] values)
    {
        return Arrays.stream(values).mapToObj(value -> (Row) BTreeRow.emptyRow(Clustering.make(number(value), ByteBufferUtil.bytes(1)))).toList();
    }

    /** Beyond what fits into a place, values share one, beside which there is another. */
    @Test
    public void valuesThatAreTooManyShareAPlace()
    {
        RowPositions places = places(LongType.instance, "1000", "0");
        long largest = places.of(Clustering.make(number(Long.MAX_VALUE)));
        assertEquals(-1L << 10, largest);
        assertEquals(largest, places.of(Clustering.make(number(Long.MAX_VALUE - 5_000_000))));
        assertEquals(1023, places.of(Clustering.make(SMALLEST)));
        long[] shared = places.inside(slice(number(5), true, number(Long.MAX_VALUE - 5_000_000), true));
        assertEquals("the largest place holds more", largest - 1, shared[1]);
        assertNull(places.inside(slice(number(Long.MAX_VALUE - 7), true, number(Long.MAX_VALUE - 5), true)));
        assertNull(places.inside(slice(number(Long.MIN_VALUE + 5), true, number(Long.MIN_VALUE + 7), true)));
    }

    @Test
    public void proofsReachTheBordersOfBuckets()
    {
        RowPositions places = places(LongType.instance, "64", "0");
        Slice wider = places.widened(slice(number(0), true, number(2_000), false));
        assertArrayEquals(places.inside(slice(number(0), true, number(2_047), true)), places.inside(wider));
        assertNull(places.widened(slice(number(64), true, number(128), false)));
        assertNull(places.widened(wider));
        assertNull(places.widened(slice(null, true, null, true)));
        RowPositions descending = places(ReversedType.getInstance(LongType.instance), "64", "0");
        assertArrayEquals(descending.inside(slice(number(-1), true, number(-128), true)),
                          descending.inside(descending.widened(slice(number(-3), true, number(-70), false))));
    }
}
