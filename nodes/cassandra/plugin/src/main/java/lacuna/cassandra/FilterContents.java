package lacuna.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.lifecycle.SSTableSet;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.format.SSTableFormat.Components;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.util.File;
import org.apache.cassandra.io.util.FileUtils;
import org.apache.cassandra.schema.DroppedColumn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which SSTables a filter holds all keys of, and the file from which the node's next life takes both, so that it reads only the others.
 *
 * <p>The argument that such a filter denies nothing: nothing is ever taken out of a filter, so it may hold too much and never too
 * little. An SSTable is <em>held</em> once all its keys are in the filter: after the build has begun to read it (a filter that is
 * not filled is not saved), after its flush (writes are marked before they are acknowledged, and a flush waits for writes under way), after
 * it was streamed and loaded, or as the result of held ones. A file is made by listing the held ones first and taking the filter
 * then. At a start, each SSTable that is not listed is read. Names of SSTables say more than their numbers, which may come again.
 *
 * <p>Dead keys and margins are of use only where nothing was lost that made them dead: a tombstone whose commit log
 * was not synced, an SSTable that somebody took away. They are kept if the node had written everything to disk, and finds the same
 * SSTables. What is written afterwards takes marks back, in the replay of the commit log too.
 *
 * <p>Columns that were dropped have a name in the list, too: if they are others at the start, cells may be back that the filter does not hold.
 */
final class FilterContents
{
    private static final Logger LOGGER = LoggerFactory.getLogger(FilterContents.class);
    /** Seconds between two files of one filter; 0 for none but at the end. */
    private static final long SAVE_EVERY = Setting.of("lacuna.save_seconds", 600, 0, 604_800);

    /** By the clock of files. */
    private static final long STARTED_MILLIS = System.currentTimeMillis();

    private final TableFilter filter;
    private final Set<Descriptor> held = ConcurrentHashMap.newKeySet();
    /** Those that the file of the node's last life names, and what was made of them; until the build has read the others. */
    private final Set<Descriptor> restored = ConcurrentHashMap.newKeySet();
    private volatile boolean isFilled;
    /** Whether what was dead in the last life is dead in the filter, too, and nothing was read that could make it live. */
    private volatile boolean keepsDead;
    /** How many SSTables the build has read, and of how many. */
    private volatile int readCount;
    private volatile int count;
    /** Name of the columns that were dropped when the filter began, or later; null if none was. */
    private volatile UUID dropped;
    /** Raised with every change of the SSTables. */
    private final AtomicLong changes = new AtomicLong();
    private volatile long savedAt = System.nanoTime();
    private volatile long savedState;

    FilterContents(TableFilter filter)
    {
        this.filter = filter;
    }

    /** Takes the filter of the last life, if there is one, in place of the one that was created just now. */
    void restore()
    {
        dropped = nameOf(filter.table.metadata().droppedColumns.values());
        try
        {
            SavedFilter file = SavedFilter.read(filter.name(), folder());
            if (file == null || dropped != null && !file.sstables.contains(dropped))
                return;
            Set<SSTableReader> there = filter.table.getLiveSSTables();
            boolean isSame = file.isWhole && file.sstables.equals(namesOf(there));
            boolean isRestored = filter.restore(file.filter, isSame);
            FileUtils.clean(file.filter);
            if (!isRestored)
                return;
            there.stream().filter(sstable -> file.sstables.contains(nameOf(sstable))).forEach(sstable -> restored.add(sstable.descriptor));
            keepsDead = isSame;
            Lacuna.COUNTERS.filtersRestored.increment();
        }
        catch (Throwable unusable)
        {
            // Then every SSTable is read.
            LOGGER.warn("Lacuna: the saved filter {} cannot be used", filter.name().in(folder()), unusable);
        }
    }

    /** Columns may have been dropped, which brings nothing back. */
    void altered()
    {
        dropped = nameOf(filter.table.metadata().droppedColumns.values());
        changes.incrementAndGet();
    }

    /** Whether the restored filter holds all its keys. */
    boolean isRestored(SSTableReader sstable)
    {
        return restored.contains(sstable.descriptor);
    }

    /** A build has chosen what it reads: all that was there before the filter took writes. */
    void begin(Collection<SSTableReader> sstables)
    {
        sstables.forEach(sstable -> held.add(sstable.descriptor));
        keepsDead &= sstables.stream().allMatch(this::isRestored);
        readCount = 0;
        count = sstables.size();
    }

    /** What was dead may be back, in any SSTable. */
    void forgetDead()
    {
        restored.clear();
        keepsDead = false;
        changes.incrementAndGet();
    }

    /** Whether the build has left alone what is known to be dead. */
    boolean keepsDead()
    {
        return keepsDead;
    }

    /** The build has read this many of them. */
    void read(int sstables)
    {
        readCount = sstables;
    }

    String progress()
    {
        return count == 0 ? "no SSTable is read yet" : readCount + " of " + count + " SSTables are read";
    }

    /** The build has read it. */
    void filled()
    {
        isFilled = true;
        restored.clear();
    }

    void flushed(Iterable<SSTableReader> added)
    {
        added.forEach(sstable -> held.add(sstable.descriptor));
        changes.incrementAndGet();
    }

    /** Streamed ones, after their keys. */
    void loaded(Iterable<SSTableReader> sstables)
    {
        flushed(sstables);
    }

    /** Rewritten ones hold nothing else. */
    void rewritten(Collection<SSTableReader> removed, Collection<SSTableReader> added)
    {
        rewritten(removed, added, held);
        rewritten(removed, added, restored);
        changes.incrementAndGet();
    }

    private static void rewritten(Collection<SSTableReader> removed, Collection<SSTableReader> added, Set<Descriptor> kept)
    {
        boolean wereKept = !removed.isEmpty() && removed.stream().allMatch(sstable -> kept.contains(sstable.descriptor));
        if (wereKept)
            added.forEach(sstable -> kept.add(sstable.descriptor));
        removed.forEach(sstable -> kept.remove(sstable.descriptor));
    }

    /** Called by the exchange's thread alone. */
    boolean isToBeSaved()
    {
        return SAVE_EVERY > 0 && isFilled && System.nanoTime() - savedAt > TimeUnit.SECONDS.toNanos(SAVE_EVERY) && state() != savedState;
    }

    private long state()
    {
        return filter.number(null, 0) * 31 + changes.get();
    }

    /** Writes the file; with {@code isLast} after everything was written to disk. */
    synchronized void save(boolean isLast)
    {
        if (!isFilled || !filter.isUsed())
            return;
        try
        {
            Waits.current().beforeSave();
            savedAt = System.nanoTime();
            savedState = state();
            ColumnFamilyStore table = filter.table;
            boolean isWhole = isLast && isOnDisk(table);
            Set<SSTableReader> there = new HashSet<>();
            table.select(View.selectFunction(SSTableSet.CANONICAL)).sstables.forEach(there::add);
            isWhole &= there.stream().allMatch(sstable -> held.contains(sstable.descriptor));
            there.removeIf(sstable -> !held.contains(sstable.descriptor));
            // The list first, the filter then.
            Set<UUID> names = namesOf(there);
            write(isWhole, names);
        }
        catch (Throwable failure)
        {
            // Such as an OutOfMemoryError for the buffer: at the end of a node the filters of other tables are still to be saved.
            LOGGER.warn("Lacuna: a filter cannot be saved as {}: after a restart all SSTables are read", filter.name().in(folder()), failure);
        }
    }

    /** One filter at a time: for a moment each takes three times its memory. */
    private void write(boolean isWhole, Set<UUID> names) throws IOException
    {
        synchronized (FilterContents.class)
        {
            ByteBuffer bytes = filter.saved();
            if (bytes == null)
                return;
            new SavedFilter(filter.name(), isWhole, names, bytes).write(folder());
            Lacuna.COUNTERS.filtersSaved.increment();
            FileUtils.clean(bytes);
        }
    }

    /** Deletes files that lives before this one have left, and that no table has; called when every table is open, and has taken its dead regions. */
    static void deleteLeftovers(Collection<TableGuard> guards)
    {
        Set<Path> kept = guards.stream().map(guard -> guard.filter.name().in(folder())).collect(Collectors.toSet());
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder(), "lacuna-*.{filter,dead}*"))
        {
            for (Path file : files)
                if (!kept.contains(file) && Files.getLastModifiedTime(file).toMillis() < STARTED_MILLIS)
                    Files.deleteIfExists(file);
        }
        catch (IOException | DirectoryIteratorException failure)
        {
            LOGGER.warn("Lacuna: files that no table has cannot be deleted from {}", folder(), failure);
        }
    }

    private static boolean isOnDisk(ColumnFamilyStore table)
    {
        for (Memtable memtable : table.getTracker().getView().getAllMemtables())
            if (!memtable.isClean())
                return false;
        return true;
    }

    /** The table takes part no more, or with other options. */
    synchronized void forget(boolean keepsFile)
    {
        isFilled = false;
        if (keepsFile)
            return;
        try
        {
            Files.deleteIfExists(filter.name().in(folder()));
        }
        catch (IOException failure)
        {
            LOGGER.warn("Lacuna: {} cannot be deleted", filter.name().in(folder()), failure);
        }
    }

    /** The files lie beside Cassandra's saved caches, and may be deleted at any time. */
    static Path folder()
    {
        return Path.of(DatabaseDescriptor.getSavedCachesLocation());
    }

    private Set<UUID> namesOf(Collection<SSTableReader> sstables)
    {
        Set<UUID> names = new HashSet<>();
        sstables.forEach(sstable -> names.add(nameOf(sstable)));
        if (dropped != null)
            names.add(dropped);
        return names;
    }

    /** With milliseconds, which are what a node knows of the drop after a restart. */
    private static UUID nameOf(Collection<DroppedColumn> columns)
    {
        String name = columns.stream().map(column -> column.column.name + "/" + TimeUnit.MICROSECONDS.toMillis(column.droppedTime)).sorted()
                             .collect(Collectors.joining("/"));
        return name.isEmpty() ? null : UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Of what is in it: its number alone may come again, or be given to another file by hand. The file's length is asked of the disk,
     * since a reader that was opened before its compaction had ended has another until the next start.
     */
    static UUID nameOf(SSTableReader sstable)
    {
        String name = String.join("/", sstable.descriptor.id.toString(), sstable.descriptor.version.toString(), digest(sstable.descriptor),
                                  Long.toString(sstable.uncompressedLength()), Long.toString(sstable.descriptor.fileFor(Components.DATA).length()),
                                  Long.toString(sstable.getMinTimestamp()), Long.toString(sstable.getMaxTimestamp()),
                                  Long.toString(sstable.getTotalRows()), Long.toString(sstable.getDataCreationTime()));
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
    }

    /** The checksum of the data, as Cassandra has written it. */
    private static String digest(Descriptor descriptor)
    {
        File file = descriptor.fileFor(Components.DIGEST);
        try
        {
            return file.exists() ? Files.readString(file.toPath()) : "";
        }
        catch (IOException unreadable)
        {
            return "";
        }
    }
}
