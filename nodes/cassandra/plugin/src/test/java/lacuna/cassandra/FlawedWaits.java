package lacuna.cassandra;

import java.util.concurrent.TimeUnit;

import com.google.common.util.concurrent.Uninterruptibles;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.schema.TableMetadata;

/** Waits and marks as long as no {@link Flaw} says otherwise. */
final class FlawedWaits extends Waits
{
    @Override
    boolean forWrites()
    {
        return !Flaw.ACKNOWLEDGEMENTS_DO_NOT_WAIT.isOn();
    }

    @Override
    boolean forScans()
    {
        return !Flaw.SCANS_DO_NOT_WAIT.isOn();
    }

    @Override
    boolean forReads(TableFilter filter)
    {
        return !(filter.dropped ? Flaw.DROPPED_DO_NOT_WAIT : Flaw.READS_DO_NOT_WAIT).isOn();
    }

    @Override
    boolean marksAfterWrites()
    {
        return !Flaw.NO_MARKS_AFTER_WRITES.isOn();
    }

    @Override
    boolean marksBeforeWrites()
    {
        return !Flaw.NO_MARKS_BEFORE_WRITES.isOn();
    }

    @Override
    boolean confirmsMarks()
    {
        return !Flaw.MARKS_ARE_NOT_CONFIRMED.isOn();
    }

    @Override
    boolean endsRegions()
    {
        return !Flaw.WRITES_LEAVE_REGIONS.isOn();
    }

    @Override
    boolean looksAtSSTables()
    {
        return !Flaw.REGIONS_ARE_OF_ANY_SSTABLES.isOn();
    }

    @Override
    void beforeJoined()
    {
        if (Flaw.TABLES_JOIN_SLOWLY.isOn())
            Uninterruptibles.sleepUninterruptibly(1, TimeUnit.SECONDS);
    }

    @Override
    DeadData given(DeadData dead, TableMetadata table, DecoratedKey key)
    {
        return Flaw.TOMBSTONES_ARE_NOT_GIVEN.isOn() ? DeadData.read(EmptyIterators.unfilteredRow(table, key, false), 1, Long.MAX_VALUE) : dead;
    }

    @Override
    void beforeVisible()
    {
        Flaw.WRITES_DO_NOT_APPEAR.await();
    }

    @Override
    void beforeNarrowed()
    {
        Flaw.NARROWED_READS_DO_NOT_BEGIN.await();
    }

    @Override
    void afterProof()
    {
        Flaw.PROOFS_DO_NOT_END.await();
    }

    @Override
    void beforeLoad()
    {
        Flaw.LOADS_DO_NOT_BEGIN.await();
    }

    @Override
    void beforeBuild()
    {
        Flaw.BUILDS_DO_NOT_BEGIN.await();
        if (Flaw.BUILDS_BREAK.isOn())
            throw new AssertionError("planted");
    }

    @Override
    void beforeSSTable(int read)
    {
        if (read > 0)
            Flaw.BUILDS_DO_NOT_GO_ON.await();
    }

    @Override
    void afterRewriting()
    {
        Flaw.COMPACTIONS_DO_NOT_END.await();
    }

    @Override
    void beforeSave()
    {
        if (!Flaw.A_SAVE_FAILS.isOn())
            return;
        Flaw.A_SAVE_FAILS.switchTo(false);
        throw new OutOfMemoryError("planted");
    }

    @Override
    void afterBuild()
    {
        Flaw.BUILDS_DO_NOT_END.await();
    }
}
