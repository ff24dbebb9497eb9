package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.UUID;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.ReversedType;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.BeforeClass;
import org.junit.Test;

/** From marks back to bounds: no row that may be alive is left out. */
public class WaterMarksTest
{
    private static final int ROUNDS = 200_000;

    private final long seed = Long.getLong("lacuna.seed", 8);

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

    private static ByteBuffer value(boolean isInt, long value)
    {
        return isInt ? ByteBufferUtil.bytes((int) value) : ByteBufferUtil.bytes(value);
    }

    private static Clustering<?> row(ByteBuffer value, int d)
    {
        return Clustering.make(value, ByteBufferUtil.bytes(d));
    }

    private record Table(TableMetadata metadata, RowPositions positions, boolean isInt, String text)
    {
        static Table random(Random random)
        {
            boolean isInt = random.nextBoolean();
            boolean isReversed = random.nextBoolean();
            AbstractType<?> plain = isInt ? Int32Type.instance : LongType.instance;
            TableMetadata metadata = table(isReversed ? ReversedType.getInstance(plain) : plain);
            long width = 1 + (random.nextLong() >>> 1 + 34 + random.nextInt(29)) % 999_999_999;
            long origin = random.nextInt(1_000) - 500;
            boolean isWide = !isInt && random.nextInt(5) == 0;
            String bucket = isWide ? "99999999d" : Long.toString(width);
            return new Table(metadata, positions(metadata, bucket, Long.toString(origin)), isInt,
                             (isInt ? "int" : "bigint") + (isReversed ? " descending" : "") + ", bucket " + bucket + ", origin " + origin);
        }

        private static RowPositions positions(TableMetadata metadata, String bucket, String origin)
        {
            BucketWidth width = BucketWidth.of(bucket.endsWith("d") ? "999999999" : bucket, origin);
            return RowPositions.of(metadata, bucket.endsWith("d") ? new BucketWidth(999_999_999L * 86_400_000L, width.origin, false) : width);
        }

        long random(Random random, int near)
        {
            long value = switch (random.nextInt(8))
            {
                case 0 -> isInt ? Integer.MIN_VALUE + random.nextInt(near) : Long.MIN_VALUE + random.nextInt(near);
                case 1 -> isInt ? Integer.MAX_VALUE - random.nextInt(near) : Long.MAX_VALUE - random.nextInt(near);
                case 2 -> random.nextLong();
                default -> random.nextInt(2 * near) - near;
            };
            return isInt ? (int) value : value;
        }
    }

    /** A row is left out exactly if its place is in the stretch of the mark; not exactly for values without a place of their own. */
    @Test
    public void noRowBeyondAMarkIsLeftOut()
    {
        Random random = new Random(seed);
        int[] bounds = new int[2];
        int leftOut = 0;
        for (int round = 0; round < ROUNDS; round++)
        {
            Table table = Table.random(random);
            PartitionEnd end = PartitionEnd.values()[random.nextInt(2)];
            int near = 1 << random.nextInt(20);
            long marked = table.positions.of(row(value(table.isInt, table.random(random, near)), 0)) + random.nextInt(5) - 2;
            long pair = marked >>> 1;
            ClusteringBound<?> bound = WaterMarks.beyond(table.positions, end, pair);
            if (bound == null)
                continue;
            bounds[end.ordinal()]++;
            for (int i = 0; i < 4; i++)
            {
                ByteBuffer value = random.nextInt(16) == 0 ? ByteBufferUtil.EMPTY_BYTE_BUFFER : value(table.isInt, table.random(random, near));
                Clustering<?> row = row(value, random.nextInt(3));
                ClusteringComparator comparator = table.metadata.comparator;
                long place = table.positions.of(row) >>> 1;
                boolean isUnderMark = end == PartitionEnd.FIRST ? place <= pair : place >= pair;
                boolean isLeftOut = end == PartitionEnd.FIRST ? comparator.compare(row, bound) < 0 : comparator.compare(row, bound) > 0;
                String what = table.text + ", " + end + ", pair " + pair + ", row " + row.toString(table.metadata) + ", seed " + seed + ", round " + round;
                assertTrue("left out: " + what, isUnderMark || !isLeftOut);
                leftOut += isLeftOut ? 1 : 0;
                if (value.hasRemaining())
                    assertEquals("kept: " + what, isUnderMark, isLeftOut);
            }
        }
        assertTrue("only " + bounds[0] + " and " + bounds[1] + " bounds, " + leftOut + " rows left out, seed " + seed,
                   bounds[0] > ROUNDS / 10 && bounds[1] > ROUNDS / 10 && leftOut > ROUNDS / 10);
    }

    @Test
    public void slicesAreCutAtTheMark()
    {
        TableMetadata metadata = table(LongType.instance);
        RowPositions positions = RowPositions.of(metadata, BucketWidth.of("16", "0"));
        long pair = positions.of(row(value(false, 99), 0)) >>> 1;
        ClusteringBound<?> bound = WaterMarks.beyond(positions, PartitionEnd.FIRST, pair);
        assertEquals("[100, ∞)", cut(metadata, Slices.ALL, PartitionEnd.FIRST, bound));
        assertEquals("[100, 150]", cut(metadata, slices(metadata, 20, 150), PartitionEnd.FIRST, bound));
        assertNull("begins beyond it", cut(metadata, slices(metadata, 100, 150), PartitionEnd.FIRST, bound));
        assertNull("nothing is left", cut(metadata, slices(metadata, 20, 99), PartitionEnd.FIRST, bound));
        assertEquals("[100, 150] [200, 300]", cut(metadata, slices(metadata, 20, 50, 60, 150, 200, 300), PartitionEnd.FIRST, bound));
        ClusteringBound<?> last = WaterMarks.beyond(positions, PartitionEnd.LAST, positions.of(row(value(false, 100), 0)) >>> 1);
        assertEquals("(-∞, 99]", cut(metadata, Slices.ALL, PartitionEnd.LAST, last));
        assertEquals("[20, 50] [60, 99]", cut(metadata, slices(metadata, 20, 50, 60, 150, 200, 300), PartitionEnd.LAST, last));
        assertNull("ends before it", cut(metadata, slices(metadata, 20, 99), PartitionEnd.LAST, last));
    }

    private static Slices slices(TableMetadata metadata, long... ends)
    {
        Slices.Builder slices = new Slices.Builder(metadata.comparator);
        for (int i = 0; i < ends.length; i += 2)
            slices.add(Slice.make(bound(ClusteringPrefix.Kind.INCL_START_BOUND, ends[i]), bound(ClusteringPrefix.Kind.INCL_END_BOUND, ends[i + 1])));
        return slices.build();
    }

    private static ClusteringBound<?> bound(ClusteringPrefix.Kind kind, long value)
    {
        return BufferClusteringBound.create(kind, new ByteBuffer[] { value(false, value) });
    }

    private static String cut(TableMetadata metadata, Slices asked, PartitionEnd end, ClusteringBound<?> bound)
    {
        Slices slices = WaterMarks.narrowed(metadata.comparator, asked, end, bound);
        if (slices == null)
            return null;
        StringBuilder text = new StringBuilder();
        for (Slice slice : slices)
            text.append(text.length() == 0 ? "" : " ").append(slice.start().isBottom() ? "(-∞" : "[" + number(slice.start())).append(", ")
                .append(slice.end().isTop() ? "∞)" : number(slice.end()) + "]");
        return text.toString();
    }

    private static long number(ClusteringBound<?> bound)
    {
        return ByteBufferUtil.toLong(bound.bufferAt(0));
    }
}
