package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Random;

import org.junit.Assume;
import org.junit.Test;

import lacuna.cassandra.Faults.Kind;

/**
 * A random history of deletions of all kinds, times to live, conditional writes, batches, static values and old timestamps, of one replica
 * and of three, while nodes are stopped, killed, flushed and compacted, and hints bring what was missed: every read shows what a model says.
 *
 * <p>A minute in all tests; {@code -Dlacuna.checks=200000} in the long ones, with restarts at once and repairs.
 * {@code -Dlacuna.flaws=NO_MARKS_BEFORE_WRITES,NO_MARKS_AFTER_WRITES} takes rules back, and the test is to find it.
 */
public class HistoryFaultsTest extends WithFilters
{
    private static final int LONG_CHECKS = Integer.getInteger("lacuna.checks", 0);
    private static final boolean IS_LONG = LONG_CHECKS > 0;
    private static final int CHECKS = Math.max(1_500, LONG_CHECKS);
    private static final List<Kind> KINDS = IS_LONG ? List.of(Kind.values()) : List.of(Kind.STOP, Kind.FLUSH, Kind.KILL, Kind.COMPACT);
    private static final long CALM_MILLIS = IS_LONG ? 6_000 : 2_500;
    private static final long DAY_SECONDS = 86_400;
    private static final long FINDING_SECONDS = 300;

    private final long seed = Long.getLong("lacuna.seed", 8);

    @Test
    public void everyAnswerUnderFaultsIsThatOfAModel() throws Exception
    {
        Assume.assumeTrue("three nodes", NODES == 3);
        Node first = cluster.nodes.get(0);
        long kept = Upkeep.hintsKept(first);
        long delivered = Upkeep.hintsDelivered(first);
        Faults faults = new Faults(place(), KINDS, Flaw.asked(), true, new Random(seed));
        HistoryUnderFaults history = new HistoryUnderFaults(place(), faults, "faults", seed);
        history.prepare();
        history.run(CHECKS, DAY_SECONDS, CALM_MILLIS);
        assertEquals("without the comment: " + history.wrongInStock(), "[]", history.wrong().toString());
        assertEquals("the store errs, or the model", "[]", history.wrongInStock().toString());
        assertEquals("the test breaks", "[]", history.broken().toString());
        long skipped = faults.counted("reads_skipped");
        assertTrue("only " + skipped + " of " + history.checks() + " were skipped, seed " + seed, skipped * 30 >= history.checks());
        assertTrue("no hint was kept", Upkeep.hintsKept(first) > kept);
        Cluster.until("hints are delivered", () -> Upkeep.hintsDelivered(first) > delivered);
        history.drop();
    }

    @Test
    public void writesThatAreNotMarkedAreFound() throws Exception
    {
        isFound("unmarked", List.of(), Flaw.NO_MARKS_BEFORE_WRITES, Flaw.NO_MARKS_AFTER_WRITES);
    }

    /** What was written again is denied once it is in an SSTable. */
    @Test
    public void regionsThatWritesDoNotEndAreFound() throws Exception
    {
        isFound("regions", List.of(Kind.FLUSH), Flaw.WRITES_LEAVE_REGIONS);
    }

    /** A row comes back of which a node that was killed has missed the deletion. In the long tests only. */
    @Test
    public void answersWithoutTombstonesAreFound() throws Exception
    {
        Assume.assumeTrue("a long test", IS_LONG);
        isFound("tombstones", List.of(Kind.KILL), Flaw.TOMBSTONES_ARE_NOT_GIVEN);
    }

    private void isFound(String keyspace, List<Kind> kinds, Flaw... flaws) throws Exception
    {
        Assume.assumeTrue("three nodes", NODES == 3);
        Faults faults = new Faults(place(), kinds, List.of(flaws), false, new Random(seed));
        HistoryUnderFaults history = new HistoryUnderFaults(place(), faults, keyspace, seed);
        history.prepare();
        history.run(Integer.MAX_VALUE, FINDING_SECONDS, 500);
        assertFalse("not found in " + history.checks() + " reads: " + List.of(flaws), history.wrong().isEmpty());
        assertEquals("the store errs, or the model", "[]", history.wrongInStock().toString());
        assertEquals("the test breaks", "[]", history.broken().toString());
        history.drop();
    }

    private static ClusterUnderTest place()
    {
        return new ClusterUnderTest(cluster, coordinators, PROPERTIES);
    }
}
