package lacuna.cassandra;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a table's filter is filled from what is on disk: at first, with what was streamed, and anew after a truncation, when
 * compaction has purged most of it, or when it is outgrown.
 *
 * <p>Cassandra reports no purge, and nothing is ever taken out of a filter, so its "maybe" becomes stale: with 1,000 keys left of
 * 10,000, nine of ten reads of purged keys still go to replicas. A filter that holds more than twice the keys there are is built anew
 * while the old one serves, and keys proven dead stay dead.
 *
 * <p>A filter that grows with its table has more false positives. One that holds more than twice as many keys as it was made for is
 * also built anew, so a table that began empty costs one build each time it has become two and a half times as large. One that was given up,
 * since its memory was too small, is built anew when there are three quarters as many keys as it held then.
 *
 * <p>A first build that fails is tried again when SSTables have changed, and after a while ({@link FailedBuilds}): until one succeeds, nothing
 * is skipped for what this node holds.
 *
 * <p>Builds read no faster than compactions may, and as many at once as there may be compactions, but at most four.
 */
final class FilterBuilds
{
    private static final Logger LOGGER = LoggerFactory.getLogger(FilterBuilds.class);
    private static final int READY = 0;
    private static final int REBUILT = 1;
    private static final int GIVEN_UP = 3;
    private static final long MIN_CAPACITY = 4_096;
    /** Purged keys that are never worth a new filter. */
    private static final long SLACK = 256;
    /** Of {@link TableFilter#number}: the names in the filter. */
    private static final int KEYS = 0;
    /** The capacity that the filter needs if it is outgrown, else 0. */
    private static final int NEEDED = 5;
    /** The names that the filter held when it was given up; 0 while it knows them. */
    private static final int GIVEN_UP_AT = 6;
    private static final int MAX_BUILDERS = 4;
    /** Builds and files of all tables that wait or run. */
    private static final AtomicInteger WAITING = new AtomicInteger();

    /** Of the build after which other nodes may rely on the filter; changed on the thread of the table's builds. */
    private enum FirstBuild { AHEAD, FAILED, DONE }

    /** Made with the first build: Cassandra has read its settings by then. */
    private static final class Builders
    {
        static final ExecutorService POOL = Executors.newFixedThreadPool(Math.min(MAX_BUILDERS, DatabaseDescriptor.getConcurrentCompactors()), work ->
        {
            Thread thread = new Thread(work, "lacuna-builder");
            thread.setDaemon(true);
            return thread;
        });
    }

    private final TableFilter filter;
    final FilterContents contents;
    private volatile FirstBuild first = FirstBuild.AHEAD;
    private final FailedBuilds failures = new FailedBuilds();
    /** The last of the table's builds: they come one after the other, those of other tables beside them. */
    private CompletableFuture<?> last = CompletableFuture.completedFuture(null);
    private final AtomicBoolean isLookedAt = new AtomicBoolean();
    /** SSTables that were rewritten, until Cassandra has let go of them: a build that begins before reads them, too. */
    private final Set<Descriptor> rewritten = ConcurrentHashMap.newKeySet();
    private volatile boolean isRewritten;
    /** What scrubs have replaced that have not ended: Cassandra counts it still, and two that waited for each other's would wait for ever. */
    private final Set<SSTableReader> lost = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isGrowing = new AtomicBoolean();
    /** Whether a file waits for the builds before it. */
    private final AtomicBoolean isSaving = new AtomicBoolean();
    /** A need above this is worth a build. It doubles with each try, so that a build that fails is not tried every second. */
    private volatile long worthATry;
    /** Names in the filter for each partition, since rows have names too: as it was when it was filled. */
    private volatile double namesPerPartition = 1;

    FilterBuilds(TableFilter filter)
    {
        this.filter = filter;
        this.contents = new FilterContents(filter);
    }

    private synchronized void later(Runnable work)
    {
        WAITING.incrementAndGet();
        last = last.handleAsync((done, failed) ->
        {
            try
            {
                work.run();
            }
            finally
            {
                WAITING.decrementAndGet();
            }
            return null;
        }, Builders.POOL);
    }

    static long waiting()
    {
        return WAITING.get();
    }

    /** Whether other nodes may not rely on the filter yet. */
    boolean isAhead()
    {
        return filter.isUsed() && first != FirstBuild.DONE;
    }

    /** Shows the filter to others, once all that is there has been read. */
    private void build()
    {
        if (first == FirstBuild.DONE || !filter.isUsed())
            return;
        if (!fill(0, READY))
        {
            first = FirstBuild.FAILED;
            return;
        }
        first = FirstBuild.DONE;
        contents.filled();
        if (!contents.keepsDead())
            proveAgain();
        contents.save(false);
    }

    /** Why other nodes may not rely on the filter although it was to be built; null if they may, or the build is ahead. */
    String problem()
    {
        String cause = failures.cause();
        return first == FirstBuild.FAILED && cause != null ? "its filter cannot be built, which is tried again: " + cause : null;
    }

    /** Why the last build failed while an earlier filter serves; null if it did not. */
    String rebuildFailure()
    {
        return first == FirstBuild.DONE ? failures.cause() : null;
    }

    /** Why other nodes may not rely on the filter; null if they may. */
    String progress()
    {
        if (first == FirstBuild.DONE)
            return null;
        String problem = problem();
        return problem == null ? "its own filter is being filled: " + contents.progress() : problem;
    }

    /** Keys proven dead before or during the build, as in the replay of the commit log, became live again in the filter by their keys on disk. */
    private void proveAgain()
    {
        TableGuard guard = Lacuna.guard(filter.table.metadata.id);
        if (guard != null)
            guard.forgetAll();
    }

    /** The same in the background. */
    void buildSoon()
    {
        later(this::build);
    }

    /** As after a truncation: what is there now, anew, and whatever is written meanwhile. */
    void rebuild()
    {
        if (filter.isUsed())
            later(this::refill);
    }

    /** SSTables were rewritten: perhaps much was purged. Cassandra tells of it before it lets go of them. */
    void afterCompaction(Collection<SSTableReader> removed)
    {
        if (!filter.isUsed())
            return;
        removed.forEach(sstable -> rewritten.add(sstable.descriptor));
        isRewritten = true;
    }

    private void lookAtRewritten()
    {
        if (!isRewritten)
            return;
        isRewritten = false;
        Set<Descriptor> compacting = filter.table.getTracker().getCompacting().stream().map(sstable -> sstable.descriptor).collect(Collectors.toSet());
        rewritten.removeIf(sstable -> !compacting.contains(sstable));
        if (!rewritten.isEmpty())
            isRewritten = true;
        else if (isLookedAt.compareAndSet(false, true))
            later(() ->
            {
                isLookedAt.set(false);
                if (first == FirstBuild.FAILED || isMostlyGone())
                    refill();
            });
    }

    /** Called about every second. */
    void lookAfter()
    {
        lookAtRewritten();
        growIfNeeded();
        if (first == FirstBuild.FAILED && failures.isDue(Exchange.now()))
            later(this::build);
        if (contents.isToBeSaved() && isSaving.compareAndSet(false, true))
            later(() ->
            {
                isSaving.set(false);
                contents.save(false);
            });
    }

    /** After the last write of this life of the node. */
    void saveAtEnd()
    {
        contents.save(true);
    }

    private void growIfNeeded()
    {
        if (first == FirstBuild.FAILED || filter.number(null, NEEDED) <= worthATry || !isGrowing.compareAndSet(false, true))
            return;
        later(() ->
        {
            try
            {
                grow();
            }
            finally
            {
                isGrowing.set(false);
            }
        });
    }

    private void grow()
    {
        // Less than a moment ago if the table has been truncated since.
        long needed = filter.number(null, NEEDED);
        if (needed <= worthATry)
            return;
        worthATry = 2 * needed;
        refill(Math.max(needed, capacity()));
    }

    private boolean isMostlyGone()
    {
        double left = namesPerPartition * partitions();
        if (filter.isUnknown(null))
            return 4 * left < 3 * filter.number(null, GIVEN_UP_AT);
        return filter.number(null, KEYS) > 2 * left + SLACK;
    }

    private void refill()
    {
        refill(capacity());
    }

    private void refill(long capacity)
    {
        if (first == FirstBuild.FAILED)
        {
            // A filter that was never published would not be after this either.
            build();
            return;
        }
        // The table may take part no more since it was asked for.
        if (!filter.beginRebuild(capacity))
            return;
        if (!fill(1, REBUILT))
        {
            // Else writes would go on to fill it, too.
            filter.finish(GIVEN_UP);
            return;
        }
        worthATry = 0;
        Lacuna.COUNTERS.filtersRebuilt.increment();
        // Acknowledgements and reads wait until other nodes know of the new filter.
        Exchange.wake();
    }

    /** Whether another filter stands for the table now. */
    private boolean fill(long isRebuild, int finish)
    {
        try
        {
            Waits.current().beforeBuild();
            long read = FilterFill.withAll(filter, isRebuild, contents);
            Waits.current().afterBuild();
            if (!filter.finish(finish))
                return false;
            failures.end();
            // At least, of a filter that was given up: so the next try waits until a quarter of the partitions have gone. Those that were
            // purged while they were read have names, too.
            long names = filter.number(null, filter.isUnknown(null) ? GIVEN_UP_AT : KEYS);
            long partitions = Math.max(partitions(), read + inMemory());
            namesPerPartition = Math.max(1.0 / filter.sample(), (double) names / Math.max(1, partitions));
            return true;
        }
        catch (Throwable unreadable)
        {
            // A damaged SSTable, a full disk, or a table that is being dropped, of which some are Errors in Cassandra. The filter stays as it was: unseen, or holding more.
            if (filter.isUsed())
                failed(unreadable);
            return false;
        }
    }

    private void failed(Throwable failure)
    {
        Lacuna.COUNTERS.buildsFailed.increment();
        if (failures.add(failure, Exchange.now()))
            LOGGER.warn("Lacuna: the node filter of {}.{} cannot be built; {}", filter.table.getKeyspaceName(), filter.table.getTableName(),
                        first == FirstBuild.DONE ? "the one that it has goes on to serve" : "no read that concerns this node is skipped until a build succeeds",
                        failure);
    }

    /**
     * A scrub has left out tombstones that it could not read, or SSTables with tombstones are gone: rows may be back that this filter knows to be
     * dead. They are in any SSTable, so all are read again, which makes their names live. Once this returns, every node that relies on this one
     * knows them.
     */
    void afterLoss(Collection<SSTableReader> removed)
    {
        if (!filter.isUsed())
            return;
        lost.addAll(removed);
        try
        {
            readAgain();
        }
        finally
        {
            removed.forEach(lost::remove);
        }
    }

    private void readAgain()
    {
        try
        {
            Waits.current().beforeLoad();
            contents.forgetDead();
            FilterFill.again(filter, lost);
        }
        catch (Throwable unreadable)
        {
            if (filter.isUsed())
                Exchange.fail("rewritten SSTable", unreadable);
        }
        if (filter.mode == Mode.SAFE)
            Acknowledgements.await(News.ANYTHING);
    }

    /**
     * SSTables that were imported or streamed, and are live already. Once this returns, every node that relies on this one knows
     * their keys: an import, and the end of a stream, wait for it. An SSTable that cannot be read ends the exchange.
     */
    void loadStreamed(Iterable<SSTableReader> sstables)
    {
        if (!filter.isUsed())
            return;
        try
        {
            Waits.current().beforeLoad();
            // A rebuild that began before takes these keys too, as it takes writes; one that begins later lists the SSTables, which are live.
            for (SSTableReader sstable : sstables)
                FilterFill.with(filter, sstable, 0, Pace.FREE);
            contents.loaded(sstables);
        }
        catch (Throwable unreadable)
        {
            if (filter.isUsed())
                Exchange.fail("streamed SSTable", unreadable);
        }
        if (filter.mode == Mode.SAFE)
            Acknowledgements.await(News.ANYTHING);
    }

    /** Names to make room for. */
    long capacity()
    {
        return Math.max(MIN_CAPACITY, (long) (1.25 * namesPerPartition * onDisk()));
    }

    /** About how many partitions there are, those in several SSTables counted once. */
    private long partitions()
    {
        return onDisk() + inMemory();
    }

    private long inMemory()
    {
        long count = 0;
        for (Memtable memtable : filter.table.getTracker().getView().getAllMemtables())
            count += memtable.partitionCount();
        return count;
    }

    private long onDisk()
    {
        return FilterFill.partitions(filter.table.getLiveSSTables());
    }
}
