package lacuna.cassandra;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.lifecycle.SSTableSet;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a table's dead regions from one clean end of the node to the next start.
 *
 * <p>The argument that they are still true: what a merged read finds depends on the memtables, the SSTables and the state of the table
 * ({@link DeadFile#state}) alone. A file is written when the memtables were clean, and it counts when they are clean and the others
 * are the same. Writes of the commit log's replay are reported like all others: one that came before the look at the memtables is in
 * them, one that comes later ends the regions that it touches, and one in between waits until the table takes part.
 *
 * <p>A file is deleted before it is used. So a node that is killed leaves none.
 */
final class SavedRegions
{
    private static final Logger LOGGER = LoggerFactory.getLogger(SavedRegions.class);
    private static final AtomicBoolean HAS_HOOK = new AtomicBoolean();

    private final TableGuard guard;

    SavedRegions(TableGuard guard)
    {
        this.guard = guard;
    }

    /** Called once a table takes part. */
    static void start()
    {
        // Once everything is on disk.
        if (HAS_HOOK.compareAndSet(false, true))
            StorageService.instance.addPostShutdownHook(SavedRegions::saveAll);
    }

    private static void saveAll()
    {
        if (SchemaWatch.isSettled())
            FilterContents.deleteLeftovers(Lacuna.guards());
        long end = Exchange.now() + Exchange.SAVE_MILLIS;
        for (TableGuard guard : Lacuna.guards())
            if (Exchange.now() < end)
                new SavedRegions(guard).save();
    }

    /** After the last write of this life of the node. */
    void save()
    {
        try
        {
            if (seesWrites())
                write();
        }
        catch (Throwable failure)
        {
            LOGGER.warn("Lacuna: dead regions cannot be saved as {}: after a restart they are learned again", path(), failure);
        }
    }

    /** A plug-in that has failed may have missed writes, and one without the hook misses them all. */
    private static boolean seesWrites()
    {
        return Lacuna.isActive() && Installation.hasHook();
    }

    private void write() throws IOException
    {
        TableMetadata table = guard.table.metadata();
        UUID state = DeadFile.state(table);
        Set<UUID> sstables = sstables();
        Map<DecoratedKey, List<Region>> regions = guard.proven(FBUtilities.nowInSeconds());
        // A write or an SSTable that has come since the first look may have ended regions that were listed before.
        boolean isStill = sstables != null && sstables.equals(sstables()) && state.equals(DeadFile.state(guard.table.metadata()));
        if (isStill && !sstables.isEmpty() && !regions.isEmpty())
            new DeadFile(FBUtilities.nowInSeconds(), sstables, regions).write(table, FilterContents.folder(), guard.options.maxBytes);
    }

    /**
     * Puts back the regions of the last life, if they are still true; called when SSTables are watched, and reads and writes do not find the
     * table yet. An SSTable that comes after the look at them is noticed, and all is forgotten.
     */
    void restore()
    {
        try
        {
            DeadFile file = taken();
            // With a clock that was put back, tombstones may have been purged that seem to be in their grace.
            if (file == null || file.seconds > FBUtilities.nowInSeconds() || !seesWrites())
                return;
            long count = 0;
            for (Map.Entry<DecoratedKey, List<Region>> partition : file.regions.entrySet())
                if (guard.restore(partition.getKey(), partition.getValue()))
                    count += partition.getValue().size();
            if (isTrue(file))
                Lacuna.COUNTERS.regionsRestored.add(count);
            else
                guard.forgetAll();
        }
        catch (Throwable unusable)
        {
            guard.forgetAll();
            LOGGER.warn("Lacuna: the saved dead regions {} cannot be used, and are learned again", path(), unusable);
        }
    }

    private boolean isTrue(DeadFile file)
    {
        return !Waits.current().looksAtSSTables() || file.sstables.equals(sstables());
    }

    /** What the file holds, which is gone from now on; null if there is none that is of use. */
    private DeadFile taken() throws IOException
    {
        Path path = path();
        try
        {
            byte[] bytes = Files.size(path) > DeadFile.MAX_BYTES ? new byte[0] : Files.readAllBytes(path);
            Files.delete(path);
            return DeadFile.of(guard.table.metadata(), bytes, guard.options.maxRows, guard.options.maxBytes);
        }
        catch (NoSuchFileException none)
        {
            return null;
        }
    }

    private Path path()
    {
        return DeadFile.in(FilterContents.folder(), guard.table.metadata());
    }

    /** Names of all SSTables; null if memtables hold anything, or if there is an SSTable of which no notice has come yet. */
    private Set<UUID> sstables()
    {
        View view = guard.table.getTracker().getView();
        for (Memtable memtable : view.getAllMemtables())
            if (!memtable.isClean())
                return null;
        Set<UUID> names = new HashSet<>();
        for (SSTableReader sstable : view.select(SSTableSet.CANONICAL))
        {
            if (!guard.known().contains(sstable.descriptor))
                return null;
            names.add(FilterContents.nameOf(sstable));
        }
        return names;
    }
}
