package lacuna.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.zip.CRC32C;

import org.apache.cassandra.schema.TableMetadata;

/**
 * A table's node filter as a file: whose it is, the SSTables whose keys it holds, and the filter, as
 * {@code docs/format/node-filters.md} has it.
 */
final class SavedFilter
{
    /** What tells filters apart: the table with its buckets, the mode, and the options that say which keys are in it. */
    static final class Name
    {
        final long high;
        final long low;
        final long mode;
        final double rate;
        final int sample;

        Name(long high, long low, long mode, double rate, int sample)
        {
            this.high = high;
            this.low = low;
            this.mode = mode;
            this.rate = rate;
            this.sample = sample;
        }

        /** Of a table's filter with these options. */
        static Name of(TableMetadata table, TableOptions options)
        {
            UUID id = table.id.asUUID();
            RowPositions positions = RowPositions.of(table, options);
            long low = TableFilter.named(id.getLeastSignificantBits(), positions == null ? 0 : positions.code());
            return new Name(id.getMostSignificantBits(), low, options.mode.number(), options.rate, options.sample);
        }

        boolean isSame(Name other)
        {
            return high == other.high && low == other.low && mode == other.mode && rate == other.rate && sample == other.sample;
        }

        Path in(Path folder)
        {
            return folder.resolve(String.format("lacuna-%016x%016x-%d.filter", high, low, mode));
        }
    }

    /** Of a file, which is read into one buffer. */
    static final long MAX_BYTES = Integer.MAX_VALUE - (1 << 20);
    static final int MAGIC = 0x464e434c;
    static final int VERSION = 1;
    /** Magic, version and flags, name, number of SSTables. */
    private static final int HEAD = 4 + 4 + 8 + 8 + 8 + 8 + 4 + 4;
    private static final int WHOLE = 1 << 8;
    private static final int CHECK = 4;

    /** Whether the node had written everything to disk, in these SSTables and no others. */
    final boolean isWhole;
    /** Names of SSTables ({@link FilterContents#nameOf}). */
    final Set<UUID> sstables;
    /** Its bytes, in a direct buffer. */
    final ByteBuffer filter;
    private final Name name;

    SavedFilter(Name name, boolean isWhole, Set<UUID> sstables, ByteBuffer filter)
    {
        this.name = name;
        this.isWhole = isWhole;
        this.sstables = sstables;
        this.filter = filter;
    }

    /** Puts it in place of the file that is there, at once; a crash leaves the one or the other. */
    void write(Path folder) throws IOException
    {
        Path path = name.in(folder);
        Path beside = path.resolveSibling(path.getFileName() + ".tmp");
        Files.createDirectories(folder);
        ByteBuffer head = head();
        CRC32C check = new CRC32C();
        check.update(head.duplicate());
        check.update(filter.duplicate());
        ByteBuffer end = little(CHECK).putInt((int) check.getValue()).flip();
        try (FileChannel channel = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE))
        {
            for (ByteBuffer part : new ByteBuffer[] { head, filter.duplicate(), end })
                while (part.hasRemaining())
                    channel.write(part);
            channel.force(true);
        }
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private ByteBuffer head()
    {
        ByteBuffer head = little(HEAD + 2 * Long.BYTES * sstables.size());
        head.putInt(MAGIC).putInt(VERSION | (isWhole ? WHOLE : 0));
        head.putLong(name.high).putLong(name.low).putLong(name.mode).putDouble(name.rate).putInt(name.sample);
        head.putInt(sstables.size());
        sstables.forEach(sstable -> head.putLong(sstable.getMostSignificantBits()).putLong(sstable.getLeastSignificantBits()));
        return head.flip();
    }

    private static ByteBuffer little(int bytes)
    {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The file of this name; null if there is none, or if it is damaged or of other options. */
    static SavedFilter read(Name name, Path folder) throws IOException
    {
        try (FileChannel channel = FileChannel.open(name.in(folder), StandardOpenOption.READ))
        {
            long length = channel.size();
            if (length < HEAD + CHECK || length > MAX_BYTES)
                return null;
            return of(name, channel.map(FileChannel.MapMode.READ_ONLY, 0, length).order(ByteOrder.LITTLE_ENDIAN));
        }
        catch (NoSuchFileException none)
        {
            return null;
        }
    }

    /** From the bytes of a whole file. */
    static SavedFilter of(Name name, ByteBuffer file)
    {
        int end = file.limit() - CHECK;
        CRC32C check = new CRC32C();
        check.update(file.duplicate().limit(end));
        if (file.getInt(end) != (int) check.getValue() || file.getInt() != MAGIC)
            return null;
        int flags = file.getInt();
        Name found = new Name(file.getLong(), file.getLong(), file.getLong(), file.getDouble(), file.getInt());
        int count = file.getInt();
        if ((flags & ~WHOLE) != VERSION || !found.isSame(name) || count < 0 || count > (end - HEAD) / (2 * Long.BYTES))
            return null;
        Set<UUID> sstables = new HashSet<>();
        for (int i = 0; i < count; i++)
            sstables.add(new UUID(file.getLong(), file.getLong()));
        return new SavedFilter(name, (flags & WHOLE) != 0, sstables, file.limit(end));
    }
}
