package lacuna.cassandra;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Supplier;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.io.FSError;
import org.apache.cassandra.utils.FBUtilities;
import org.apache.cassandra.utils.concurrent.OpOrder;

/**
 * One thread that reads proposed regions on this node, past the plug-in, and keeps those without live data.
 *
 * <p>Right after a deletion such a read costs little: the tombstone is still in the memtable, and Cassandra itself then skips
 * the SSTables it covers. It stops at the first live row. A full queue drops proposals; nothing depends on them.
 */
final class Prover
{
    private static final int QUEUE = 4096;

    private static final class Proposal
    {
        final TableGuard guard;
        final DecoratedKey key;
        final Region region;

        Proposal(TableGuard guard, DecoratedKey key, Region region)
        {
            this.guard = guard;
            this.key = key;
            this.region = region;
        }
    }

    private final BlockingQueue<Proposal> proposals = new ArrayBlockingQueue<>(QUEUE);
    private volatile Thread thread;

    boolean offer(TableGuard guard, DecoratedKey key, Region region)
    {
        boolean taken = proposals.offer(new Proposal(guard, key, region));
        (taken ? Lacuna.COUNTERS.proposed : Lacuna.COUNTERS.refused).increment();
        return taken;
    }

    synchronized void start()
    {
        if (thread != null)
            return;
        thread = new Thread(this::run, "lacuna-prover");
        thread.setDaemon(true);
        thread.start();
    }

    boolean isCurrentThread()
    {
        return Thread.currentThread() == thread;
    }

    int waiting()
    {
        return proposals.size();
    }

    private void run()
    {
        while (true)
        {
            try
            {
                prove(proposals.take());
            }
            catch (InterruptedException stopped)
            {
                return;
            }
            catch (Throwable failure)
            {
                // Whatever it was, nothing was proven by it.
                Lacuna.fail("proof", failure);
            }
        }
    }

    private void prove(Proposal proposal)
    {
        if (proposal.region.gap != null)
            proveGap(proposal);
        else if (proposal.region.end != null)
            proveEnd(proposal);
        else
            proveDead(proposal);
    }

    private void proveGap(Proposal proposal)
    {
        TableGuard guard = proposal.guard;
        Region region = proposal.region;
        Slice proven = proven(() -> new GapProof(guard, proposal.key).around(region.gap, region.slice));
        boolean isOfUse = proven != null && guard.filter.positions.reachesBorder(proven);
        guard.gaps.record(isOfUse);
        concludeStretch(proposal, isOfUse ? proven : null, -1);
    }

    private void proveEnd(Proposal proposal)
    {
        TableGuard guard = proposal.guard;
        Region region = proposal.region;
        EndProof proof = new EndProof(guard, proposal.key, region.end);
        Slice proven = proven(() -> proof.within(region.slice));
        guard.marks.of(region.end).record(proven != null);
        concludeStretch(proposal, proven, proof.mark());
    }

    private static Slice proven(Supplier<Slice> proof)
    {
        Slice proven = null;
        try
        {
            proven = proof.get();
        }
        catch (RuntimeException | FSError unreadable)
        {
            Lacuna.COUNTERS.proofsFailed.increment();
        }
        Waits.current().afterProof();
        return proven;
    }

    private static void concludeStretch(Proposal proposal, Slice proven, long mark)
    {
        if (proven == null)
        {
            proposal.guard.withdraw(proposal.key, proposal.region);
            return;
        }
        awaitWritesUnderWay(proposal.guard);
        if (mark < 0)
            proposal.guard.concludeStretch(proposal.key, proposal.region, proven);
        else
            proposal.guard.concludeBeyond(proposal.key, proposal.region, proven, mark);
    }

    private void proveDead(Proposal proposal)
    {
        DeadData dead = null;
        try
        {
            dead = read(proposal);
        }
        catch (RuntimeException | FSError unreadable)
        {
            // The table may just have been dropped, or an SSTable be damaged: the next client that reads it gets the error.
            Lacuna.COUNTERS.proofsFailed.increment();
        }
        Waits.current().afterProof();
        if (!proposal.region.isWidened)
            proposal.guard.learning.record(dead != null);
        if (dead != null)
        {
            awaitWritesUnderWay(proposal.guard);
            proposal.guard.conclude(proposal.key, proposal.region, dead, isWorthKeeping(proposal.region, dead));
            return;
        }
        proposal.guard.withdraw(proposal.key, proposal.region);
        Lacuna.COUNTERS.alive.increment();
    }

    /**
     * A write that is announced before it is visible may have begun before the region was proposed, and become visible after it
     * was read. It ends the region when it is applied; one that begins from now on does so at once.
     */
    private static void awaitWritesUnderWay(TableGuard guard)
    {
        if (guard.filter.isMarkedBefore())
            awaitWritesUnderWay();
    }

    /** Returns when every write that has begun before is visible and marked, or has failed. */
    static void awaitWritesUnderWay()
    {
        OpOrder.Barrier barrier = Keyspace.writeOrder.newBarrier();
        barrier.issue();
        barrier.await();
    }

    /** An absent partition needs no help: that is what Bloom filters are for. */
    private static boolean isWorthKeeping(Region region, DeadData dead)
    {
        return !region.isWhole() || !dead.isEmpty();
    }

    private DeadData read(Proposal proposal)
    {
        var table = proposal.guard.table;
        long now = FBUtilities.nowInSeconds();
        var command = SinglePartitionReadCommand.create(table.metadata(), now, proposal.key, proposal.region.slice);
        try (ReadExecutionController controller = command.executionController();
             UnfilteredRowIterator merged = command.queryMemtableAndDisk(table, controller))
        {
            return DeadData.read(merged, proposal.guard.options.maxRows, proposal.guard.options.maxBytes);
        }
    }
}
