package lacuna.cassandra;

import java.util.EnumSet;
import java.util.Set;

import org.apache.cassandra.db.compaction.OperationType;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.notifications.INotification;
import org.apache.cassandra.notifications.INotificationConsumer;
import org.apache.cassandra.notifications.SSTableAddedNotification;
import org.apache.cassandra.notifications.SSTableListChangedNotification;
import org.apache.cassandra.notifications.TruncationNotification;

/**
 * Keeps {@link TableGuard#known} to the SSTables that hold nothing but what was written here or read in a proof.
 *
 * <p>Notices come after the SSTable is live. That is the safe order: until then it is unknown, and unknown ones are read.
 */
final class SSTableWatch implements INotificationConsumer
{
    /** These only merge; whatever else rewrites SSTables may drop more than we can follow. */
    private static final Set<OperationType> MERGES =
        EnumSet.of(OperationType.COMPACTION, OperationType.MAJOR_COMPACTION, OperationType.TOMBSTONE_COMPACTION,
                   OperationType.ANTICOMPACTION);

    /** A scrub leaves out what it cannot read. SSTables of a disk that failed go without a name for it. */
    private static final Set<OperationType> MAY_LOSE = EnumSet.of(OperationType.SCRUB, OperationType.UNKNOWN);

    private final TableGuard guard;
    /** Whether SSTables of before a truncation are still there. */
    private volatile boolean isTruncated;

    SSTableWatch(TableGuard guard)
    {
        this.guard = guard;
    }

    /** Follows the table from now on. */
    void start()
    {
        guard.table.getTracker().subscribe(this);
        guard.table.getLiveSSTables().forEach(this::know);
    }

    void stop()
    {
        guard.table.getTracker().unsubscribe(this);
    }

    @Override
    public void handleNotification(INotification notice, Object sender)
    {
        try
        {
            handle(notice);
        }
        catch (Throwable failure)
        {
            Lacuna.fail("notice", failure);
        }
    }

    private void handle(INotification notice)
    {
        if (notice instanceof SSTableAddedNotification)
            added((SSTableAddedNotification) notice);
        else if (notice instanceof SSTableListChangedNotification)
            changed((SSTableListChangedNotification) notice);
        else if (notice instanceof TruncationNotification)
            truncated();
    }

    /** Comes before the SSTables go, all with one notice. */
    private void truncated()
    {
        guard.forgetAll();
        isTruncated = !guard.table.getLiveSSTables().isEmpty();
        if (!isTruncated)
            guard.filter.builds.rebuild();
    }

    /** Flushed ones hold what was reported; a streamed one holds anything. */
    private void added(SSTableAddedNotification notice)
    {
        if (notice.memtable().isEmpty())
        {
            guard.forgetAll();
            guard.filter.builds.loadStreamed(notice.added);
        }
        else
            guard.filter.builds.contents.flushed(notice.added);
        notice.added.forEach(this::know);
    }

    private void changed(SSTableListChangedNotification notice)
    {
        boolean mergesKnown = MERGES.contains(notice.compactionType)
                              && notice.removed.stream().allMatch(sstable -> guard.known().contains(sstable.descriptor));
        if (mergesKnown)
            guard.forgetKeysCompactedWithoutGrace();
        else
            guard.forgetAll();
        notice.removed.forEach(sstable -> guard.known().remove(sstable.descriptor));
        notice.added.forEach(this::know);
        guard.filter.builds.contents.rewritten(notice.removed, notice.added);
        if (isTruncated)
            guard.filter.builds.rebuild();
        else
        {
            if (MAY_LOSE.contains(notice.compactionType) && notice.removed.stream().anyMatch(SSTableReader::mayHaveTombstones))
                guard.filter.builds.afterLoss(notice.removed);
            guard.filter.builds.afterCompaction(notice.removed);
        }
        isTruncated = false;
        Waits.current().afterRewriting();
    }

    private void know(SSTableReader sstable)
    {
        guard.known().add(sstable.descriptor);
    }
}
