package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** Filters shrink again when compaction has purged what they hold, and are made anew when they are outgrown. */
public class ExchangedRebuildTest extends WithFilters
{
    private static final int KEYS = 800;
    private static final int KEPT = 50;
    /** So that each node holds more than twice as many as the filter of an empty table is made for. */
    private static final int MANY = 15_000;
    private static final int BATCH = 50;
    private static final int PURGED = 3_000;

    @Test
    public void purgedKeysLeaveTheFilters() throws Exception
    {
        String t = guarded(2, "safe");
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        each(0, KEYS, ConsistencyLevel.ALL, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
        becomesKnown("reads_skipped", t);
        each(KEPT, KEYS, ConsistencyLevel.ALL, p -> "DELETE FROM " + t + " WHERE p = " + p);
        Thread.sleep(1_100);
        cluster.flush(t.substring(0, 2));
        cluster.compact(t.substring(0, 2));
        for (int attempt = 0; keys(t) > NODES * NODES * 2 * (KEPT + 256); attempt++)
        {
            if (attempt == 2_400)
                throw new AssertionError("still " + keys(t) + " keys");
            Thread.sleep(50);
        }
        assertTrue(everywhere("filters_rebuilt") >= 1);
        becomesKnown("reads_skipped", t);
        for (Session coordinator : coordinators)
            for (int p = 0; p < 2 * KEPT; p++)
                assertEquals("key " + p, p < KEPT ? 1 : 0, all(coordinator, t, p));
        for (int p = KEYS; p < KEYS + 30; p++)
        {
            insert(coordinators.get(p % NODES), t, p);
            assertEquals("new key " + p, 1, all(coordinators.get((p + 1) % NODES), t, p));
        }
    }

    /**
     * A write is marked in the old filter and not visible yet when the new one begins; there is nothing to flush. The mark that follows when
     * it is visible is left out here, as if a read came before it.
     */
    @Test
    public void aBuildWaitsForWritesUnderWay() throws Exception
    {
        String t = guarded(1, "safe");
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        each(0, PURGED / BATCH, ConsistencyLevel.ONE, batch -> batch(batch, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1);"));
        each(0, PURGED / BATCH, ConsistencyLevel.ONE, batch -> batch(batch, p -> "DELETE FROM " + t + " WHERE p = " + p + ";"));
        Thread.sleep(1_100);
        cluster.flush("x1");
        becomesKnown("reads_skipped", t);
        int holder = holder(t, PURGED);
        Session own = coordinators.get(holder);
        long before = counter(own, "filters_rebuilt");
        ResultSetFuture write;
        try
        {
            set(own, Flaw.NO_MARKS_AFTER_WRITES, true);
            set(own, Flaw.WRITES_DO_NOT_APPEAR, true);
            write = session.executeAsync("INSERT INTO " + t + " (p, c, v) VALUES (" + PURGED + ", 1, 1)");
            Cluster.until("it is marked", () -> isAwaited(own, Flaw.WRITES_DO_NOT_APPEAR));
            cluster.nodes.get(holder).compact("x1");
            for (int look = 0; look < 60 && counter(own, "filters_rebuilt") == before; look++)
                Thread.sleep(50);
            assertEquals("builds that did not wait", before, counter(own, "filters_rebuilt"));
        }
        finally
        {
            set(own, Flaw.WRITES_DO_NOT_APPEAR, false);
        }
        try
        {
            write.getUninterruptibly();
            Cluster.until("the new filter is there", () -> counter(own, "filters_rebuilt") > before);
            for (Session through : coordinators)
                assertEquals(1, all(through, t, PURGED));
        }
        finally
        {
            set(own, Flaw.NO_MARKS_AFTER_WRITES, false);
        }
        becomesKnown("reads_skipped", t);
        for (Session through : coordinators)
            assertEquals(1, all(through, t, PURGED));
    }

    private static String batch(int batch, IntFunction<String> write)
    {
        return IntStream.range(batch * BATCH, (batch + 1) * BATCH).mapToObj(write).collect(Collectors.joining(" ", "BEGIN UNLOGGED BATCH ", " APPLY BATCH"));
    }

    @Test
    public void filtersThatAreOutgrownAreMadeAnew() throws Exception
    {
        String t = guarded(2, "safe");
        long before = everywhere("filters_rebuilt");
        each(0, MANY / BATCH, ConsistencyLevel.ALL, batch -> batch(batch, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1);"));
        for (int attempt = 0; keys(t) < NODES * 2L * MANY * 98 / 100 || rate(t) > 0.0101; attempt++)
        {
            if (attempt == 2_400)
                throw new AssertionError("still " + keys(t) + " keys at " + rate(t));
            Thread.sleep(50);
        }
        assertTrue(everywhere("filters_rebuilt") - before >= NODES);
        becomesKnown("reads_skipped", t);
        for (int p = 0; p < MANY + 100; p += 50)
            assertEquals("key " + p, p < MANY ? 1 : 0, all(coordinators.get(p / 50 % NODES), t, p));
    }

    /** It fails on every node; the compaction that follows is what a scrub would be. */
    @Test
    public void aFirstBuildThatFailedIsTriedAgainWhenSstablesChange() throws Exception
    {
        String t = unguarded(2);
        for (int p = 0; p < KEPT; p++)
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)", ConsistencyLevel.ALL);
        cluster.flush(t.substring(0, 2));
        try
        {
            switchEverywhere(Flaw.BUILDS_BREAK, true);
            index(t, "safe");
            for (Session node : coordinators)
                soon("its problem is shown", () -> problem(node, t).contains("its filter cannot be built, which is tried again: java.lang.AssertionError: planted"));
            for (Session node : coordinators)
            {
                assertTrue(counter(node, "filter_builds_failed") > 0);
                assertFalse(isCounted(node, "reads_skipped", t, 1_000_000));
            }
            for (Node node : cluster.nodes)
                assertTrue(node.log().contains("the node filter of " + t + " cannot be built; no read that concerns this node is skipped"));
        }
        finally
        {
            switchEverywhere(Flaw.BUILDS_BREAK, false);
        }
        cluster.compact(t.substring(0, 2));
        becomesKnown("reads_skipped", t);
        for (Session node : coordinators)
        {
            assertEquals("", problem(node, t));
            for (int p = 0; p < KEPT; p++)
                assertEquals("key " + p, 1, all(node, t, p));
        }
    }

    @Test
    public void aRebuildThatFailsIsGivenUp() throws Exception
    {
        String t = guarded(2, "safe");
        becomesKnown("reads_skipped", t);
        long[] before = coordinators.stream().mapToLong(node -> counter(node, "filter_builds_failed")).toArray();
        try
        {
            switchEverywhere(Flaw.BUILDS_BREAK, true);
            at(session, "TRUNCATE " + t, ConsistencyLevel.ALL);
            for (int i = 0; i < NODES; i++)
            {
                Session node = coordinators.get(i);
                long failed = before[i];
                soon("the build fails", () -> counter(node, "filter_builds_failed") > failed);
                assertEquals("the filter serves", "", problem(node, t));
                assertTrue(state(node, t), state(node, t).contains("a new build of its own filter has failed, and the one that it has serves: java.lang.AssertionError: planted"));
            }
        }
        finally
        {
            switchEverywhere(Flaw.BUILDS_BREAK, false);
        }
        becomesKnown("reads_skipped", t);
    }

    /** A small SSTable and a large one: the small one is read first, and goes when it is compacted. */
    @Test
    public void aBuildKeepsNoFileThatItHasRead() throws Exception
    {
        String t = unguarded(3);
        String keyspace = t.substring(0, 2);
        Node node = cluster.nodes.get(0);
        for (int end : new int[] { MANY, KEPT })
        {
            each(0, end, ConsistencyLevel.ALL, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + end + ", 1)");
            cluster.flush(keyspace);
        }
        IntSupplier files = () -> node.dataFiles(keyspace, t.substring(3));
        assertEquals(2, files.getAsInt());
        try
        {
            set(coordinators.get(0), Flaw.BUILDS_DO_NOT_GO_ON, true);
            index(t, "safe");
            soon("the small one is read", () -> isAwaited(coordinators.get(0), Flaw.BUILDS_DO_NOT_GO_ON));
            node.compact(keyspace);
            soon("the large one is left, and the new one", () -> files.getAsInt() == 2);
        }
        finally
        {
            set(coordinators.get(0), Flaw.BUILDS_DO_NOT_GO_ON, false);
        }
        becomesKnown("reads_skipped", t);
        soon("the large one has gone", () -> files.getAsInt() == 1);
        for (int p = 0; p < MANY + 100; p += 50)
            assertEquals("key " + p, p < KEPT ? 2 : p < MANY ? 1 : 0, all(coordinators.get(p / 50 % NODES), t, p));
    }

    private static void soon(String what, BooleanSupplier holds) throws InterruptedException
    {
        for (int attempt = 0; !holds.getAsBoolean(); attempt++)
        {
            assertTrue("never: " + what, attempt < 600);
            Thread.sleep(50);
        }
    }

    private static String problem(Session node, String t)
    {
        return shown(node, t, "problem");
    }

    private static String state(Session node, String t)
    {
        return shown(node, t, "state");
    }

    private static String shown(Session node, String t, String column)
    {
        Row row = node.execute("SELECT " + column + " FROM lacuna.tables WHERE keyspace_name = '" + t.substring(0, 2) + "' AND table_name = '"
                               + t.substring(3) + "'").one();
        return row == null || row.isNull(0) ? "" : row.getString(0);
    }

    @Test
    public void filtersThatMayTakeLittleGetCoarserAndThenKnowNothing() throws Exception
    {
        String coarse = within(12_000);
        String none = within(2_000);
        for (String t : List.of(coarse, none))
            each(0, KEYS, ConsistencyLevel.ALL, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
        becomesKnown("reads_skipped", coarse);
        assertTrue(filters(coarse).stream().allMatch(row -> row.getLong("bytes") <= 12_000));
        for (Session coordinator : coordinators)
        {
            Cluster.until("it knows nothing", () -> rate(none) == 1);
            assertFalse(isCounted(coordinator, "reads_skipped", none, 1_000_000));
            for (int p = 0; p < KEYS; p += 20)
                for (String t : List.of(coarse, none))
                    assertEquals(t + " " + p, 1, all(coordinator, t, p));
        }
    }

    /** A filter that was too large for its memory comes back when most of the table has been purged. */
    @Test
    public void aFilterThatWasGivenUpComesBack() throws Exception
    {
        String t = givenUp();
        cluster.compact(t.substring(0, 2));
        comesBack(t);
    }

    /** A build that begins while compactions hold what they replace would read that, too, be given up again, and not be looked at any more. */
    @Test
    public void aFilterComesBackThoughItsCompactionsAreSlowToEnd() throws Exception
    {
        String t = givenUp();
        List<Thread> compactions = new ArrayList<>();
        try
        {
            switchEverywhere(Flaw.COMPACTIONS_DO_NOT_END, true);
            for (Node node : cluster.nodes)
                compactions.add(new Thread(() -> node.compact(t.substring(0, 2))));
            compactions.forEach(Thread::start);
            for (Session coordinator : coordinators)
                Cluster.until("it has reported what it wrote", () -> isAwaited(coordinator, Flaw.COMPACTIONS_DO_NOT_END));
            // Builds that do not wait would be done by then.
            Thread.sleep(3_000);
        }
        finally
        {
            switchEverywhere(Flaw.COMPACTIONS_DO_NOT_END, false);
        }
        for (Thread compaction : compactions)
            compaction.join();
        comesBack(t);
    }

    /** A build reads names that are purged before it ends. If they counted for the partitions that are left, the filter would stay away. */
    @Test
    public void aFilterComesBackWhoseKeysWerePurgedWhileItWasBuilt() throws Exception
    {
        String t = unguarded(2);
        mostlyDeleted(t, () -> {});
        try
        {
            switchEverywhere(Flaw.BUILDS_DO_NOT_END, true);
            ddl(TakingPart.begin(t, "mode=safe filter_bytes=8000"));
            for (Session coordinator : coordinators)
                Cluster.until("everything is read", () -> isAwaited(coordinator, Flaw.BUILDS_DO_NOT_END));
            assertTrue("all are given up", filters(t).stream().filter(row -> row.getDouble("expected_rate") == 1).count() >= NODES);
            cluster.compact(t.substring(0, 2));
        }
        finally
        {
            switchEverywhere(Flaw.BUILDS_DO_NOT_END, false);
        }
        comesBack(t);
    }

    /** A table on all nodes of which few keys are left when it is compacted, and whose filters were given up. */
    private static String givenUp() throws Exception
    {
        String t = within(8_000);
        mostlyDeleted(t, () -> Cluster.until("it is given up", () -> rate(t) == 1));
        return t;
    }

    /** Many keys, most of them deleted on disk before a compaction may purge them. */
    private static void mostlyDeleted(String t, Runnable beforeDeletions) throws InterruptedException
    {
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        each(0, MANY / BATCH, ConsistencyLevel.ALL, batch -> batch(batch, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1);"));
        beforeDeletions.run();
        each(1, MANY / BATCH, ConsistencyLevel.ALL, batch -> batch(batch, p -> "DELETE FROM " + t + " WHERE p = " + p + ";"));
        Thread.sleep(1_100);
        cluster.flush(t.substring(0, 2));
    }

    private static void comesBack(String t) throws Exception
    {
        becomesKnown("reads_skipped", t);
        for (Session coordinator : coordinators)
            for (int p = 0; p < 2 * KEPT; p++)
                assertEquals("key " + p, p < KEPT ? 1 : 0, all(coordinator, t, p));
    }

    private static String within(int bytes)
    {
        String t = unguarded(2);
        ddl(TakingPart.begin(t, "mode=safe filter_bytes=" + bytes));
        return t;
    }

    /** At a level at which stock sees what one of two replicas has acknowledged. */
    private static int all(Session through, String t, int p)
    {
        return at(through, "SELECT * FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL);
    }

    /** In all filters of the table and all copies of them. */
    private static long keys(String t)
    {
        return filters(t).stream().mapToLong(row -> row.getLong("keys")).sum();
    }

    /** The largest of all of them. */
    private static double rate(String t)
    {
        return filters(t).stream().mapToDouble(row -> row.getDouble("expected_rate")).max().orElse(1);
    }

    private static List<Row> filters(String t)
    {
        List<Row> rows = new ArrayList<>();
        for (Session coordinator : coordinators)
            rows.addAll(coordinator.execute("SELECT keys, bytes, expected_rate FROM lacuna.filters WHERE keyspace_name = '" + t.substring(0, 2)
                                            + "' AND table_name = '" + t.substring(3) + "'").all());
        return rows;
    }
}
