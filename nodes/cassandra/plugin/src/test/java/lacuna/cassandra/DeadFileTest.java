package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.ReversedType;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.BeforeClass;
import org.junit.Test;

/** The file of a table's dead regions: what is written is read, and nothing else. */
public class DeadFileTest
{
    private static final int ROUNDS = 200;
    private static final int ROWS = 1_000;
    private static final long BYTES = 1 << 20;
    private static final long SECONDS = 1_000;
    private static final Set<UUID> SSTABLES = Set.of(new UUID(3, 4));

    private final long seed = Long.getLong("lacuna.seed", 11);
    private final Random random = new Random(seed);

    @BeforeClass
    public static void standAlone()
    {
        DatabaseDescriptor.clientInitialization(false);
    }

    private static TableMetadata.Builder builder(long id)
    {
        return TableMetadata.builder("k", "t", TableId.fromUUID(new UUID(1, id))).partitioner(Murmur3Partitioner.instance)
                            .addPartitionKeyColumn("p", LongType.instance).addClusteringColumn("c", Int32Type.instance)
                            .addRegularColumn("v", Int32Type.instance);
    }

    private static TableMetadata table()
    {
        return builder(2).build();
    }

    private static DecoratedKey key(TableMetadata table, long p)
    {
        return table.partitioner.decorateKey(ByteBufferUtil.bytes(p));
    }

    private static Slice slice(int first, int end)
    {
        return Slice.make(bound(true, first), bound(false, end));
    }

    private static ClusteringBound<?> bound(boolean isStart, int value)
    {
        return BufferClusteringBound.create(ClusteringBound.boundKind(isStart, isStart), new ByteBuffer[] { ByteBufferUtil.bytes(value) });
    }

    private DeletionTime deletion()
    {
        return DeletionTime.build(random.nextLong() >>> 1 + random.nextInt(62), 1_600_000_000L + random.nextInt(400_000_000));
    }

    /** Tombstones of every kind; perhaps none. */
    private DeadData dead(TableMetadata table, DecoratedKey key, int rows)
    {
        PartitionUpdate.Builder update = new PartitionUpdate.Builder(table, key, RegularAndStaticColumns.NONE, 4);
        if (random.nextInt(3) == 0)
            update.addPartitionDeletion(deletion());
        for (int range = random.nextInt(3); range > 0; range--)
            update.add(new RangeTombstone(slice(1_000 * range, 1_000 * range + random.nextInt(999) + 1), deletion()));
        for (int row = 0; row < rows; row++)
            update.add(BTreeRow.emptyDeletedRow(Clustering.make(ByteBufferUtil.bytes(row)), Row.Deletion.regular(deletion())));
        return DeadData.read(update.build().unfilteredIterator(), ROWS, BYTES);
    }

    private static Region proven(Slice slice, DeadData dead)
    {
        Region region = new Region(slice, false);
        region.prove(dead);
        return region;
    }

    private DeadFile random(TableMetadata table, int partitions)
    {
        Map<DecoratedKey, List<Region>> regions = new LinkedHashMap<>();
        for (int p = 0; p < partitions; p++)
        {
            DecoratedKey key = key(table, p);
            List<Region> proven = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--)
                proven.add(proven(random.nextBoolean() ? Slice.ALL : slice(i, i + 9_000), dead(table, key, random.nextInt(5))));
            regions.put(key, proven);
        }
        return new DeadFile(SECONDS, SSTABLES, regions);
    }

    private static byte[] bytes(TableMetadata table, DeadFile file) throws IOException
    {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        file.writeTo(bytes, table, BYTES);
        return bytes.toByteArray();
    }

    private static DeadFile read(TableMetadata table, byte[] bytes) throws IOException
    {
        return DeadFile.of(table, bytes, ROWS, BYTES);
    }

    /** All that a read could be given of it. */
    private static List<String> shown(TableMetadata table, DeadFile file)
    {
        List<String> shown = new ArrayList<>(List.of(file.seconds + " " + file.sstables));
        file.regions.forEach((key, proven) ->
        {
            for (Region region : proven)
                shown.add(key + " " + region.isWhole() + " " + region.slice.toString(table.comparator) + " " + shown(table, region.dead()));
        });
        return shown;
    }

    private static String shown(TableMetadata table, DeadData dead)
    {
        StringBuilder shown = new StringBuilder(dead.reason + " " + dead.bytes + " " + dead.partitionDeletion());
        for (boolean reversed : new boolean[] { false, true })
            try (UnfilteredRowIterator rows = dead.iterator(ColumnFilter.all(table), Slices.ALL, reversed))
            {
                while (rows.hasNext())
                    shown.append(' ').append(rows.next().toString(table, true));
            }
        return shown.toString();
    }

    /** Would see a tombstone, a time or a bound that is lost. */
    @Test
    public void whatWasWrittenIsRead() throws Exception
    {
        TableMetadata table = table();
        for (int round = 0; round < ROUNDS; round++)
        {
            DeadFile file = random(table, random.nextInt(4));
            DeadFile read = read(table, bytes(table, file));
            assertNotNull("seed " + seed + " round " + round, read);
            assertEquals("seed " + seed + " round " + round, shown(table, file), shown(table, read));
        }
    }

    @Test
    public void numbersOfTheFileStay() throws Exception
    {
        String written = HexFormat.of().formatHex(bytes(table(), new DeadFile(SECONDS, SSTABLES, Map.of())));
        String version = HexFormat.of().formatHex(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(MessagingService.current_version).array());
        String before = "4c434e44" + "01000000" + version + "0100000000000000" + "0200000000000000";
        String after = "e803000000000000" + "01000000" + "0300000000000000" + "0400000000000000";
        assertTrue(written, written.startsWith(before));
        // A name that depends on the release is between them, and the checksum after them.
        assertEquals(after, written.substring(before.length() + 32, written.length() - 8));
    }

    /** Would see a byte that the checksum leaves out. */
    @Test
    public void anyFlippedBitAndAnyCutIsFound() throws Exception
    {
        TableMetadata table = table();
        byte[] bytes = bytes(table, random(table, 3));
        for (int bit = 0; bit < 8 * bytes.length; bit++)
        {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            assertNull("seed " + seed + " bit " + bit, read(table, damaged));
        }
        for (int length = 0; length < bytes.length; length++)
            assertNull("seed " + seed + ", " + length + " bytes", read(table, Arrays.copyOf(bytes, length)));
    }

    /** Would see a state that leaves something out on which a read depends. */
    @Test
    public void filesOfOtherTablesAndStatesAreNotTaken() throws Exception
    {
        TableMetadata table = table();
        byte[] bytes = bytes(table, random(table, 1));
        ColumnMetadata dropped = ColumnMetadata.regularColumn("k", "t", "w", Int32Type.instance);
        TableMetadata once = builder(2).recordColumnDrop(dropped, 5_000_001).build();
        TableMetadata[] others = { builder(3).build(), builder(2).addRegularColumn("w", Int32Type.instance).build(), once,
                                   builder(2).addStaticColumn("s", Int32Type.instance).build(), builder(2).gcGraceSeconds(7).build(),
                                   builder(2).defaultTimeToLive(7).build(), ordered() };
        for (TableMetadata other : others)
            assertNull(other.toString(), read(other, bytes));
        assertNotNull(read(builder(2).comment("[lacuna]").build(), bytes));
        // After a restart a node knows the milliseconds of a drop.
        assertNotEquals(DeadFile.state(once), DeadFile.state(builder(2).recordColumnDrop(dropped, 5_000_000).build()));
    }

    private static TableMetadata ordered()
    {
        return TableMetadata.builder("k", "t", TableId.fromUUID(new UUID(1, 2))).partitioner(Murmur3Partitioner.instance)
                            .addPartitionKeyColumn("p", LongType.instance).addClusteringColumn("c", ReversedType.getInstance(Int32Type.instance))
                            .addRegularColumn("v", Int32Type.instance).build();
    }

    /** Would see a file that grows without end, and a limit that damages it. */
    @Test
    public void whatDoesNotFitIsLeftOut() throws Exception
    {
        TableMetadata table = table();
        DeadFile file = random(table, 20);
        byte[] whole = bytes(table, file);
        ByteArrayOutputStream part = new ByteArrayOutputStream();
        file.writeTo(part, table, whole.length / 2);
        assertTrue(part.size() <= whole.length / 2 + 100);
        int partitions = read(table, part.toByteArray()).regions.size();
        assertTrue("seed " + seed + ": " + partitions, partitions > 0 && partitions < 20);
    }

    /** Would see a limit of rows that counts no more, and a region that is taken for the next one. */
    @Test
    public void regionsOfTooManyRowsAreLeftOut() throws Exception
    {
        TableMetadata table = table();
        Map<DecoratedKey, List<Region>> regions = new LinkedHashMap<>();
        for (int p = 0; p < 3; p++)
            regions.put(key(table, p), List.of(proven(Slice.ALL, dead(table, key(table, p), p == 1 ? 100 : 10))));
        DeadFile read = DeadFile.of(table, bytes(table, new DeadFile(SECONDS, SSTABLES, regions)), 50, BYTES);
        assertEquals(List.of(key(table, 0), key(table, 2)), List.copyOf(read.regions.keySet()));
    }

    @Test
    public void aFileTakesThePlaceOfTheOneBefore() throws Exception
    {
        TableMetadata table = table();
        Path folder = Files.createTempDirectory("lacuna-dead");
        Path path = DeadFile.in(folder, table);
        try
        {
            for (int partitions = 1; partitions <= 2; partitions++)
            {
                random(table, partitions).write(table, folder, BYTES);
                assertEquals(partitions, read(table, Files.readAllBytes(path)).regions.size());
            }
            assertEquals("lacuna-00000000000000010000000000000002.dead", path.getFileName().toString());
            assertEquals(1, folder.toFile().list().length);
        }
        finally
        {
            Files.deleteIfExists(path);
            Files.deleteIfExists(folder);
        }
    }
}
