package lacuna.cassandra;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.schema.TableMetadata;

/**
 * The points at which the exchange waits or marks a write in mode safe, what becomes of dead regions, and the ends of a filter's build.
 * This class always does so and never delays; a subclass can show that each of them is needed.
 */
class Waits
{
    private static volatile Waits current = new Waits();

    static Waits current()
    {
        return current;
    }

    static void replaceBy(Waits other)
    {
        current = other;
    }

    /** Whether the answer to a write waits until lease holders know what was written. */
    boolean forWrites()
    {
        return true;
    }

    /** Whether the answer to a scan waits until lease holders know what it may show. */
    boolean forScans()
    {
        return true;
    }

    /** The same for a read of one partition. */
    boolean forReads(TableFilter filter)
    {
        return true;
    }

    /** Whether a write is marked after it has become visible too; that alone would show it too early in mode safe. */
    boolean marksAfterWrites()
    {
        return true;
    }

    /** Whether a write is marked before it is visible in mode safe. */
    boolean marksBeforeWrites()
    {
        return true;
    }

    /** Whether a read that left something out, as up to a mark, counts only if it may still be left out. */
    boolean confirmsMarks()
    {
        return true;
    }

    /** Whether a write ends the dead regions that it touches. */
    boolean endsRegions()
    {
        return true;
    }

    /** Whether dead regions of a file count only if the SSTables are those that it names. */
    boolean looksAtSSTables()
    {
        return true;
    }

    /** Called when a table has its dead regions of a file, and writes and reads do not find it yet. */
    void beforeJoined() {}

    /** What is answered of a dead region: its tombstones. */
    DeadData given(DeadData dead, TableMetadata table, DecoratedKey key)
    {
        return dead;
    }

    /** Called when a write is marked, and is not visible yet. */
    void beforeVisible() {}

    /** Called when a coordinator has decided what a read leaves out, and has asked no replica. */
    void beforeNarrowed() {}

    /** Called when a proof has read everything, and does not count yet. */
    void afterProof() {}

    /** Called before SSTables that were imported or streamed are read, and before all are read again after a scrub. */
    void beforeLoad() {}

    /** Called before a build reads what is on disk. */
    void beforeBuild() {}

    /** Called when a build has read this many SSTables, and goes on to the next. */
    void beforeSSTable(int read) {}

    /** Called when a build has read everything. */
    void afterBuild() {}

    /** Called when Cassandra has reported rewritten SSTables, and still holds those that they replace. */
    void afterRewriting() {}

    /** Called before a filter is written to its file. */
    void beforeSave() {}
}
