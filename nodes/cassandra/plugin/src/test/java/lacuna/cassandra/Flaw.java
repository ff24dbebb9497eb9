package lacuna.cassandra;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Rules that tests take back one by one, to see that without them they would fail, and faults of the machine. Each is a row of
 * {@code lacuna_test.flaws} on a node that was started with {@link Node#FLAWED}; no other node has these classes.
 */
enum Flaw
{
    /** Writes are acknowledged before lease holders know of them. */
    ACKNOWLEDGEMENTS_DO_NOT_WAIT,
    /** Scans show rows that lease holders do not know of. */
    SCANS_DO_NOT_WAIT,
    /** So do reads of one partition. */
    READS_DO_NOT_WAIT,
    /** So do reads of a table that took part until a moment ago. */
    DROPPED_DO_NOT_WAIT,
    /** A write is not marked in the filter when it has become visible. */
    NO_MARKS_AFTER_WRITES,
    /** A write is not marked in the filter before it becomes visible. */
    NO_MARKS_BEFORE_WRITES,
    /** Neither filters nor schemas arrive here: a fault of the network. */
    DEAF,
    /** A read that left something out, as up to a mark, counts, whatever has happened since. */
    MARKS_ARE_NOT_CONFIRMED,
    /** Writes stand still when they are marked, before they are visible. */
    WRITES_DO_NOT_APPEAR,
    /** Coordinators stand still between their decision what a read leaves out and the read. */
    NARROWED_READS_DO_NOT_BEGIN,
    /** Proofs stand still when they have read everything. */
    PROOFS_DO_NOT_END,
    /** Imported SSTables, and those beside a scrub, are not read yet: a fault of the disk. */
    LOADS_DO_NOT_BEGIN,
    /** Builds of filters stand still before they begin: a fault of the disk. */
    BUILDS_DO_NOT_BEGIN,
    /** The same when they have read one SSTable. */
    BUILDS_DO_NOT_GO_ON,
    /** The same when they have read everything. */
    BUILDS_DO_NOT_END,
    /** Compactions stand still when they have reported what they wrote, and still hold what it replaces. */
    COMPACTIONS_DO_NOT_END,
    /** Builds of filters fail, with an error as Cassandra's assertions have it: a damaged file. */
    BUILDS_BREAK,
    /** What is known to be dead stays so when it is written again. */
    WRITES_LEAVE_REGIONS,
    /** Dead regions of a file count whatever SSTables there are. */
    REGIONS_ARE_OF_ANY_SSTABLES,
    /** A table takes a second to join once it has its dead regions: a fault of the disk. */
    TABLES_JOIN_SLOWLY,
    /** What is answered from memory comes without its tombstones. */
    TOMBSTONES_ARE_NOT_GIVEN,
    /** The next filter is not written to its file, for want of memory. */
    A_SAVE_FAILS;

    private static final long LOOK_AGAIN_NANOS = 10_000_000;

    /** From the start of a node on if its property {@code lacuna.test.flaws} names it. */
    private volatile boolean isOn = List.of(System.getProperty("lacuna.test.flaws", "").split(",")).contains(name());
    private final AtomicInteger standing = new AtomicInteger();

    /** Those that the property {@code lacuna.flaws} names, for a test that is to find them. */
    static List<Flaw> asked()
    {
        String names = System.getProperty("lacuna.flaws", "");
        return names.isEmpty() ? List.of() : Arrays.stream(names.split(",")).map(Flaw::valueOf).toList();
    }

    /** How many threads stand still. */
    int standing()
    {
        return standing.get();
    }

    boolean isOn()
    {
        return isOn;
    }

    void switchTo(boolean on)
    {
        isOn = on;
    }

    /** Returns once it is off. */
    void await()
    {
        if (!isOn)
            return;
        standing.incrementAndGet();
        while (isOn)
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        standing.decrementAndGet();
    }

    /** Its name in the virtual table. */
    String shown()
    {
        return name().toLowerCase(Locale.ROOT);
    }
}
