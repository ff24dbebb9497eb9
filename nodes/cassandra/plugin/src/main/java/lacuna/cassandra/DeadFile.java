package lacuna.cassandra;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.rows.DeserializationHelper;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIteratorSerializer;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.DroppedColumn;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.FBUtilities;

/**
 * The dead regions of a table as a file: the SSTables that they were read from, and the tombstones, as
 * {@code docs/format/cassandra-dead-regions.md} has it.
 */
final class DeadFile
{
    static final int MAGIC = 0x444e434c;
    static final int VERSION = 1;
    /** A file is read into one array. */
    static final long MAX_BYTES = 1 << 30;
    private static final int NAME = 2 * Long.BYTES;
    /** Magic, version, version of Cassandra's messages, table, state, seconds, number of SSTables. */
    private static final int HEAD = 4 + 4 + 4 + NAME + NAME + 8 + 4;
    private static final int LENGTH = Integer.BYTES;
    private static final int CHECK = Integer.BYTES;

    /** When it was written, in seconds since 1970. */
    final long seconds;
    /** Names of all SSTables of the table ({@link FilterContents#nameOf}). */
    final Set<UUID> sstables;
    /** The proven regions of each partition. */
    final Map<DecoratedKey, List<Region>> regions;

    DeadFile(long seconds, Set<UUID> sstables, Map<DecoratedKey, List<Region>> regions)
    {
        this.seconds = seconds;
        this.sstables = sstables;
        this.regions = regions;
    }

    /** No option of a table changes what is dead in it, so a table has one file. */
    static Path in(Path folder, TableMetadata table)
    {
        UUID id = table.id.asUUID();
        return folder.resolve(String.format("lacuna-%016x%016x.dead", id.getMostSignificantBits(), id.getLeastSignificantBits()));
    }

    /** Puts it in place of the file that is there, at once; a crash leaves the one or the other. */
    void write(TableMetadata table, Path folder, long maxBytes) throws IOException
    {
        Path path = in(folder, table);
        Path beside = path.resolveSibling(path.getFileName() + ".tmp");
        Files.createDirectories(folder);
        try (FileChannel channel = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE))
        {
            writeTo(new BufferedOutputStream(Channels.newOutputStream(channel)), table, maxBytes);
            channel.force(true);
        }
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Its bytes. Partitions take at most {@code maxBytes}: those after the first one that does not fit are left out. */
    void writeTo(OutputStream to, TableMetadata table, long maxBytes) throws IOException
    {
        CheckedOutputStream out = new CheckedOutputStream(to, new CRC32C());
        out.write(head(table));
        long left = Math.min(maxBytes, MAX_BYTES - HEAD - CHECK - (long) NAME * sstables.size());
        for (Map.Entry<DecoratedKey, List<Region>> partition : regions.entrySet())
        {
            byte[] bytes = bytes(table, partition.getKey(), partition.getValue());
            left -= LENGTH + bytes.length;
            if (left < 0)
                break;
            out.write(little(LENGTH).putInt(bytes.length).array());
            out.write(bytes);
        }
        to.write(little(CHECK).putInt((int) out.getChecksum().getValue()).array());
        to.flush();
    }

    private byte[] head(TableMetadata table)
    {
        ByteBuffer head = little(HEAD + NAME * sstables.size());
        head.putInt(MAGIC).putInt(VERSION).putInt(MessagingService.current_version);
        put(head, table.id.asUUID());
        put(head, state(table));
        head.putLong(seconds).putInt(sstables.size());
        sstables.forEach(sstable -> put(head, sstable));
        return head.array();
    }

    private static void put(ByteBuffer to, UUID name)
    {
        to.putLong(name.getMostSignificantBits()).putLong(name.getLeastSignificantBits());
    }

    private static ByteBuffer little(int bytes)
    {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] bytes(TableMetadata table, DecoratedKey key, List<Region> proven) throws IOException
    {
        ColumnFilter columns = ColumnFilter.all(table);
        try (DataOutputBuffer out = new DataOutputBuffer())
        {
            ByteBufferUtil.writeWithShortLength(key.getKey(), out);
            out.writeInt(proven.size());
            for (Region region : proven)
            {
                out.writeBoolean(region.isWhole());
                if (!region.isWhole())
                    Slice.serializer.serialize(region.slice, out, MessagingService.current_version, table.comparator.subtypes());
                try (UnfilteredRowIterator tombstones = region.dead().iterator(columns, Slices.ALL, false))
                {
                    UnfilteredRowIteratorSerializer.serializer.serialize(tombstones, columns, out, MessagingService.current_version);
                }
            }
            return out.toByteArray();
        }
    }

    /**
     * From the bytes of a whole file; null if they are damaged or of another table, or if a read of the table depends on something else now. A
     * region of more rows or bytes than these is left out.
     */
    static DeadFile of(TableMetadata table, byte[] bytes, int maxRows, long maxBytes) throws IOException
    {
        int end = bytes.length - CHECK;
        if (end < HEAD)
            return null;
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        CRC32C check = new CRC32C();
        check.update(bytes, 0, end);
        if (file.getInt(end) != (int) check.getValue() || !isOf(table, file))
            return null;
        long seconds = file.getLong();
        int count = file.getInt();
        if (count < 0 || count > (end - HEAD) / NAME)
            return null;
        Set<UUID> sstables = new HashSet<>();
        for (int i = 0; i < count; i++)
            sstables.add(name(file));
        DeadFile read = new DeadFile(seconds, sstables, new LinkedHashMap<>());
        while (file.position() < end)
        {
            int length = end - file.position() < LENGTH ? -1 : file.getInt();
            if (length < 0 || length > end - file.position())
                return null;
            read.take(table, new DataInputBuffer(bytes, file.position(), length), maxRows, maxBytes);
            file.position(file.position() + length);
        }
        return read;
    }

    private static boolean isOf(TableMetadata table, ByteBuffer file)
    {
        boolean isVersion = file.getInt() == MAGIC && file.getInt() == VERSION && file.getInt() == MessagingService.current_version;
        return isVersion && name(file).equals(table.id.asUUID()) && name(file).equals(state(table));
    }

    private static UUID name(ByteBuffer file)
    {
        return new UUID(file.getLong(), file.getLong());
    }

    private void take(TableMetadata table, DataInputBuffer in, int maxRows, long maxBytes) throws IOException
    {
        DecoratedKey key = table.partitioner.decorateKey(ByteBufferUtil.readWithShortLength(in));
        int count = in.readInt();
        List<Region> proven = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            Region region = region(table, in, maxRows, maxBytes);
            // It has not been read to its end, so the next one is not found.
            if (region == null)
                break;
            proven.add(region);
        }
        if (!proven.isEmpty())
            regions.put(key, proven);
    }

    private static Region region(TableMetadata table, DataInputBuffer in, int maxRows, long maxBytes) throws IOException
    {
        Slice slice = in.readBoolean() ? Slice.ALL
                                       : Slice.serializer.deserialize(in, MessagingService.current_version, table.comparator.subtypes());
        try (UnfilteredRowIterator tombstones =
                 UnfilteredRowIteratorSerializer.serializer.deserialize(in, MessagingService.current_version, table, ColumnFilter.all(table),
                                                                        DeserializationHelper.Flag.LOCAL))
        {
            DeadData dead = DeadData.read(tombstones, maxRows, maxBytes);
            if (dead == null)
                return null;
            Region region = new Region(slice, false);
            region.prove(dead);
            return region;
        }
    }

    /**
     * The name of all that a read of the table depends on beside SSTables and memtables: Cassandra's release, columns, how they are ordered,
     * columns that were dropped and when, grace, time to live. A drop has microseconds until the node restarts and milliseconds
     * afterwards; cells of that time may be back then, so it is another state.
     */
    static UUID state(TableMetadata table)
    {
        Set<String> parts = new TreeSet<>();
        for (ColumnMetadata column : table.columns())
            parts.add("column/" + described(column));
        for (DroppedColumn dropped : table.droppedColumns.values())
            parts.add("dropped/" + dropped.droppedTime + "/" + described(dropped.column));
        table.flags.forEach(flag -> parts.add("flag/" + flag));
        parts.add("release/" + FBUtilities.getReleaseVersionString());
        parts.add("partitioner/" + table.partitioner.getClass().getName());
        parts.add("grace/" + table.params.gcGraceSeconds);
        parts.add("ttl/" + table.params.defaultTimeToLive);
        return UUID.nameUUIDFromBytes(String.join("\n", parts).getBytes(StandardCharsets.UTF_8));
    }

    private static String described(ColumnMetadata column)
    {
        return String.join("/", ByteBufferUtil.bytesToHex(column.name.bytes), column.kind.toString(), Integer.toString(column.position()),
                           column.type.toString());
    }
}
