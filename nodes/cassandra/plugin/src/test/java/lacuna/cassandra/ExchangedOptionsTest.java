package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;
import org.junit.After;
import org.junit.Assume;
import org.junit.Test;

/** A table ends its part and begins another while builds for the old one are under way or wait, and while a node is away. */
public class ExchangedOptionsTest extends WithFilters
{
    /** Longer than a filter that was shown by mistake takes to be fetched and relied on. */
    private static final long WATCHED_NANOS = 8_000_000_000L;
    private static final long BETWEEN_SWEEPS_MILLIS = 200;
    /** In another bucket of 16 than of 65,536, whatever level is asked. */
    private static final int ROW = 50_000;

    @After
    public void noFlawIsLeft()
    {
        switchEverywhere(Flaw.BUILDS_DO_NOT_BEGIN, false);
        switchEverywhere(Flaw.BUILDS_DO_NOT_END, false);
    }

    @Test
    public void buildOfADroppedFilterShowsNoOther() throws Exception
    {
        String t = unguarded(2);
        fill(t);
        switchEverywhere(Flaw.BUILDS_DO_NOT_END, true);
        index(t, "safe");
        ddl(TakingPart.end(t));
        switchEverywhere(Flaw.BUILDS_DO_NOT_BEGIN, true);
        index(t, "safe");
        // The old build ends, the new one has not begun.
        switchEverywhere(Flaw.BUILDS_DO_NOT_END, false);
        staysSeen(t);
        switchEverywhere(Flaw.BUILDS_DO_NOT_BEGIN, false);
        becomesKnown("reads_skipped", t);
        staysSeen(t);
    }

    /** Cassandra looks into such an SSTable for the deletion only, whatever the read asks for. */
    @Test
    public void deadPartitionWithoutRowsOnDiskIsLearnedByReads() throws Exception
    {
        String t = "x2.keys_alone";
        ddl("CREATE TABLE " + t + " (p int PRIMARY KEY, v int)");
        at(session, "INSERT INTO " + t + " (p, v) VALUES (7, 1)", ConsistencyLevel.ALL);
        at(session, "DELETE FROM " + t + " WHERE p = 7", ConsistencyLevel.ALL);
        cluster.flush(t.substring(0, 2));
        index(t, "safe");
        becomesKnown("reads_skipped", t);
        becomesSkipped(t, 7);
    }

    /** The key comes from disk after the proof, and takes it back in the filter. */
    @Test
    public void whatWasProvenDeadBeforeItsFilterWasFilledIsSkipped() throws Exception
    {
        String t = unguarded(2);
        int p = IntStream.iterate(0, next -> next + 1).filter(next -> holder(t, next) == 0).findFirst().orElseThrow();
        at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)", ConsistencyLevel.ALL);
        cluster.flush(t.substring(0, 2));
        switchEverywhere(Flaw.BUILDS_DO_NOT_BEGIN, true);
        index(t, "safe");
        at(session, "DELETE FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL);
        cluster.flush(t.substring(0, 2));
        becomesAnswered("SELECT * FROM " + t + " WHERE p = " + p);
        switchEverywhere(Flaw.BUILDS_DO_NOT_BEGIN, false);
        becomesKnown("reads_skipped", t);
        becomesSkipped(t, p);
    }

    @Test
    public void queuedRebuildOfADroppedFilterEmptiesNoOther() throws Exception
    {
        String busy = guarded(2, "safe");
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", busy);
        becomesKnown("reads_skipped", t);
        switchEverywhere(Flaw.BUILDS_DO_NOT_END, true);
        session.execute("TRUNCATE " + busy);
        session.execute("TRUNCATE " + t);
        fill(t);
        cluster.flush(t.substring(0, 2));
        ddl(TakingPart.end(t));
        index(t, "safe");
        switchEverywhere(Flaw.BUILDS_DO_NOT_END, false);
        becomesKnown("reads_skipped", t);
        staysSeen(t);
    }

    @Test
    public void optionsChangeByOneStatement() throws Exception
    {
        String t = guarded(2, "safe");
        fill(t);
        becomesKnown("reads_skipped", t);
        index(t, "shadow sample=1");
        becomesKnown("reads_shadowed", t);
        index(t, "safe");
        staysSeen(t);
        becomesKnown("reads_skipped", t);
    }

    @Test
    public void nodeThatMissedOtherBucketsDeniesNothing() throws Exception
    {
        Assume.assumeTrue("wants lacuna.nodes=3", NODES == 3);
        String t = unguarded(2);
        inBuckets(t, 16);
        for (int p = 0; p < PRESENT; p++)
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + ROW + ", 1)", ConsistencyLevel.ALL);
        becomesKnown("reads_skipped", t);
        Node third = cluster.nodes.get(2);
        third.kill();
        // Otherwise it would get both changes one after the other once it is back.
        for (Node other : cluster.nodes.subList(0, 2))
            Cluster.until("it is known to be away", () -> other.liveNodes() == 2);
        ddl(TakingPart.end(t));
        inBuckets(t, 1 << 16);
        third.start(true, PROPERTIES);
        cluster.awaitAll();
        answersAgain(coordinators.get(2));
        rowsStaySeen(t);
        becomesKnown("reads_skipped", t);
        rowsStaySeen(t);
    }

    private static void inBuckets(String t, int width)
    {
        ddl(TakingPart.begin(t, "mode=safe bucket=" + width));
    }

    private static void fill(String t)
    {
        each(0, PRESENT, ConsistencyLevel.ALL, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
    }

    private static void staysSeen(String t) throws InterruptedException
    {
        stays("SELECT * FROM " + t + " WHERE p = ");
    }

    private static void rowsStaySeen(String t) throws InterruptedException
    {
        stays("SELECT * FROM " + t + " WHERE c >= " + (ROW - 2) + " AND c <= " + (ROW + 2) + " AND p = ");
    }

    /** With pauses, since a filter that is shown by mistake stays, and other tests need the processors. */
    private static void stays(String query) throws InterruptedException
    {
        for (long end = System.nanoTime() + WATCHED_NANOS; System.nanoTime() < end; Thread.sleep(BETWEEN_SWEEPS_MILLIS))
            for (Session coordinator : coordinators)
                for (int p = 0; p < PRESENT; p++)
                    assertEquals("key " + p + " through " + coordinators.indexOf(coordinator), 1, at(coordinator, query + p, ConsistencyLevel.ONE));
    }
}
