package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.Statement;
import org.junit.Assume;
import org.junit.Test;

/** A node that comes back takes its filters from their files, and reads only the SSTables that came since. */
public class RestoredFilterTest
{
    private static final String TABLE = "k.guarded";
    private static final String[] TWO = { "k.one", "k.two" };
    private static final String OPTIONS = "mode=safe bucket=16 learn_every=1 back_off=1";
    private static final int KEYS = 200;
    private static final int DELETED = 20;
    private static final boolean IS_LONG = Integer.getInteger("lacuna.checks", 0) > 0;
    /** Below the first absent key. */
    private static final int LARGE = IS_LONG ? 1_000_000 : 50_000;
    private static final int IN_BATCH = 50;
    private static final int UNDER_WAY = 16;
    private static final long MAX_MILLIS = 10_000;
    /** As many times as long on a machine that compiles meanwhile. */
    private static final int PATIENCE = 3;
    private static final String[] PROPERTIES = OnOneCluster.PROPERTIES;
    /** A file a second, so that one knows the last deletion. */
    private static final String[] OFTEN = Stream.concat(Stream.of(PROPERTIES), Stream.of("-Dlacuna.save_seconds=1")).toArray(String[]::new);

    private final List<Session> coordinators = new ArrayList<>();
    private Cluster cluster;
    private Node second;

    /** One life of a cluster after the other, since a start takes half a minute. */
    @Test
    public void nodesThatComeBackReadWhatCameSinceAndDenyNothing() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("restored-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 2).start(true, PROPERTIES))
        {
            cluster = running;
            second = cluster.nodes.get(1);
            cluster.nodes.forEach(node -> coordinators.add(cluster.session(node)));
            fill();
            knowsTheDead();

            // The file names the drop as the next life of the node will know it.
            for (String change : List.of("ADD w int", "DROP w"))
                cluster.schema(coordinators.get(1), "ALTER TABLE " + TABLE + " " + change);
            second.stop();
            long millis = comesBack();
            assertTrue("skipped after " + millis + " ms", millis <= MAX_MILLIS);
            assertEquals("everything was on disk", 0, second("sstables_loaded"));
            assertEquals(1, second("filters_restored"));
            assertTrue("the dead are known without a proof", own("dead") >= DELETED);
            isRight(KEYS);

            // Flushed, compacted with what was there, and in the commit log alone.
            for (int part = 0; part < 3; part++)
            {
                insert(KEYS + 50 * part, KEYS + 50 * (part + 1));
                if (part < 2)
                    cluster.flush("k");
                if (part == 0)
                    second.compact("k");
            }
            second.kill();
            comesBack();
            assertTrue("some came since", second("sstables_loaded") > 0);
            assertEquals(1, second("filters_restored"));
            isRight(KEYS + 150);

            second.stop();
            damage();
            comesBack();
            assertEquals(0, second("filters_restored"));
            assertTrue("all are read", second("sstables_loaded") > 0);
            isRight(KEYS + 150);
        }
    }

    /** A million partitions in the long tests; the time counts from the moment at which clients can connect, whatever the others see of the node. */
    @Test
    public void aLargeTableIsAnsweredForSoonAfterARestart() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("large-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 2).start(true, PROPERTIES))
        {
            cluster = running;
            second = cluster.nodes.get(1);
            cluster.nodes.forEach(node -> coordinators.add(cluster.session(node)));
            create(2);
            for (int part = 0; part < 4; part++)
            {
                insertMany(part * (LARGE / 4), (part + 1) * (LARGE / 4));
                cluster.flush("k");
            }
            cluster.schema(coordinators.get(0), TakingPart.begin(TABLE, "mode=safe learn_every=1 back_off=1"));
            Cluster.until("it is saved", () -> savedFilters(second) == 1);
            millisUntilSkipped();
            // One file, whose first readers saw a part of it.
            second.compact("k");
            second.stop();
            second.start(true, PROPERTIES);
            cluster.await(second);
            long millis = millisUntilSkipped();
            cluster.awaitAll();
            WithFilters.answersAgain(coordinators.get(1));
            assertEquals("no SSTable is read", 0, second("sstables_loaded"));
            assertEquals(1, second("filters_restored"));
            assertTrue("it has all keys", own("keys") >= LARGE * 98L / 100);
            assertTrue("skipped after " + millis + " ms", millis <= (IS_LONG ? 1 : PATIENCE) * MAX_MILLIS);
            for (int p = 0; p < LARGE; p += LARGE / 200)
                assertEquals("key " + p, 1, at(p % 2, select(p), ConsistencyLevel.ONE));
        }
    }

    /** A multiple of {@link #IN_BATCH} each. */
    private void insertMany(int from, int to)
    {
        for (int start = from; start < to; start += IN_BATCH * UNDER_WAY)
        {
            List<ResultSetFuture> running = new ArrayList<>();
            for (int first = start; first < Math.min(to, start + IN_BATCH * UNDER_WAY); first += IN_BATCH)
                running.add(coordinators.get(0).executeAsync(batch(first)));
            running.forEach(ResultSetFuture::getUninterruptibly);
        }
    }

    private static Statement batch(int first)
    {
        StringBuilder cql = new StringBuilder("BEGIN UNLOGGED BATCH");
        for (int p = first; p < first + IN_BATCH; p++)
            cql.append(" INSERT INTO ").append(TABLE).append(" (p, c, v) VALUES (").append(p).append(", 1, 1);");
        return new SimpleStatement(cql + " APPLY BATCH").setConsistencyLevel(ConsistencyLevel.ALL);
    }

    /** Of two tables with new rows, one is saved at the stop, whichever comes first. */
    @Test
    public void aSaveThatFailsAtTheEndKeepsNoOtherFromItsFile() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("saved-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 1).start(true, PROPERTIES))
        {
            cluster = running;
            Node node = cluster.nodes.get(0);
            Session own = cluster.session(node);
            cluster.schema(own, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
            for (String table : TWO)
            {
                cluster.schema(own, "CREATE TABLE " + table + " (p int PRIMARY KEY, v int)");
                cluster.schema(own, TakingPart.begin(table, "mode=safe back_off=1"));
            }
            Cluster.until("both builds are saved", () -> savedFilters(node) == 2);
            for (String table : TWO)
                WithFilters.at(own, "INSERT INTO " + table + " (p, v) VALUES (1, 1)", ConsistencyLevel.ONE);
            WithFilters.set(own, Flaw.A_SAVE_FAILS, true);
            node.stop();
            node.start(true, PROPERTIES);
            cluster.awaitAll();
            WithFilters.answersAgain(own);
            Cluster.until("the filters are there", () -> WithFilters.counter(own, "sstables_loaded") > 0);
            assertEquals(2, WithFilters.counter(own, "filters_restored"));
            for (String table : TWO)
            {
                assertEquals(1, WithFilters.read(own, table, 1));
                for (int attempt = 0; !WithFilters.isCounted(own, "reads_skipped", table, 2); attempt++)
                {
                    assertTrue("never skipped", attempt < 600);
                    Thread.sleep(50);
                }
            }
            assertEquals("of the table whose save failed", 1, WithFilters.counter(own, "sstables_loaded"));
        }
    }

    /** A build that takes longer than the time between two files: one file waits for its end, not one for each second. */
    @Test
    public void aLongBuildIsFollowedByOneFile() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("long-build-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 1).start(true, OFTEN))
        {
            cluster = running;
            Session own = cluster.session(cluster.nodes.get(0));
            coordinators.addAll(List.of(own, own));
            create(1);
            takesPart();
            Cluster.until("it is saved", () -> savedFilters(cluster.nodes.get(0)) == 1);
            WithFilters.set(own, Flaw.BUILDS_DO_NOT_END, true);
            at(0, "TRUNCATE " + TABLE, ConsistencyLevel.ALL);
            Cluster.until("its build stands still", () -> WithFilters.isAwaited(own, Flaw.BUILDS_DO_NOT_END));
            insert(0, 20);
            Thread.sleep(10_000);
            long before = WithFilters.counter(own, "filters_saved");
            WithFilters.set(own, Flaw.BUILDS_DO_NOT_END, false);
            Cluster.until("it is built", () -> WithFilters.counter(own, "filters_rebuilt") > 0);
            // Time for one file that waited, and for two more.
            Thread.sleep(2_500);
            long saved = WithFilters.counter(own, "filters_saved") - before;
            assertTrue(saved + " files", saved >= 1 && saved <= 3);
        }
    }

    /** The next filter takes the file of the one before, and reads what came since; another rate is another filter. */
    @Test
    public void optionsThatDoNotConcernTheFilterKeepIt() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("options-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 1).start(true, OFTEN))
        {
            cluster = running;
            Node node = cluster.nodes.get(0);
            Session own = cluster.session(node);
            coordinators.addAll(List.of(own, own));
            create(1);
            for (int part = 0; part < 3; part++)
            {
                insert(50 * part, 50 * (part + 1));
                cluster.flush("k");
            }
            takesPart();
            Cluster.until("it is saved", () -> savedFilters(node) == 1);
            assertEquals(3, WithFilters.counter(own, "sstables_loaded"));
            // In no SSTable and in no file.
            insert(150, KEYS);
            WithFilters.set(own, Flaw.BUILDS_DO_NOT_BEGIN, true);
            cluster.schema(own, TakingPart.begin(TABLE, OPTIONS.replace("back_off=1", "back_off=2")));
            Cluster.until("its build stands still", () -> WithFilters.isAwaited(own, Flaw.BUILDS_DO_NOT_BEGIN));
            node.compact("k");
            WithFilters.set(own, Flaw.BUILDS_DO_NOT_BEGIN, false);
            Cluster.until("keys are skipped again", () -> WithFilters.isCounted(own, "reads_skipped", TABLE, 1_000_000));
            assertEquals(1, WithFilters.counter(own, "filters_restored"));
            assertEquals("what came since, and nothing that was made of what the file names", 3 + 1, WithFilters.counter(own, "sstables_loaded"));
            areThere();
            long before = WithFilters.counter(own, "sstables_loaded");
            cluster.schema(own, TakingPart.begin(TABLE, OPTIONS + " rate=0.02"));
            Cluster.until("keys are skipped again", () -> WithFilters.isCounted(own, "reads_skipped", TABLE, 1_000_000));
            assertEquals("of the other rate", 1, WithFilters.counter(own, "filters_restored"));
            assertTrue("all are read", WithFilters.counter(own, "sstables_loaded") > before);
            areThere();
        }
    }

    private void areThere()
    {
        for (int p = 0; p < KEYS; p++)
            assertEquals("key " + p, 1, at(0, select(p), ConsistencyLevel.ONE));
    }

    /** The stop may write no file, and a life before has left two that no table has. */
    @Test
    public void whatWasNotSavedIsReadAndLeftoversGo() throws Exception
    {
        String[] properties = Stream.concat(Stream.of(PROPERTIES), Stream.of("-Dlacuna.save_at_end_seconds=0", "-Dlacuna.save_seconds=0")).toArray(String[]::new);
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("leftovers-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 1).start(true, properties))
        {
            cluster = running;
            Node node = cluster.nodes.get(0);
            Session own = cluster.session(node);
            coordinators.addAll(List.of(own, own));
            create(1);
            takesPart();
            Cluster.until("it is saved", () -> savedFilters(node) == 1);
            Path saved = node.savedFilters().get(0);
            Path ofDropped = saved.resolveSibling("lacuna-" + "0".repeat(32) + "-2.filter");
            Path ofCrash = saved.resolveSibling(saved.getFileName() + ".tmp");
            insert(0, KEYS);
            node.stop();
            for (Path leftover : List.of(ofDropped, ofCrash))
                Files.setLastModifiedTime(Files.write(leftover, new byte[] { 1 }), FileTime.fromMillis(0));
            assertTrue(node.log().contains("Lacuna: 1 filters were not saved within 0 ms"));
            node.start(true, properties);
            cluster.awaitAll();
            WithFilters.answersAgain(own);
            Cluster.until("what came since is read", () -> WithFilters.counter(own, "sstables_loaded") > 0);
            assertEquals(1, WithFilters.counter(own, "filters_restored"));
            Cluster.until("leftovers are gone", () -> !Files.exists(ofDropped) && !Files.exists(ofCrash));
            assertTrue(Files.exists(saved));
            Cluster.until("keys are skipped again", () -> WithFilters.isCounted(own, "reads_skipped", TABLE, 1_000_000));
            areThere();
        }
    }

    private static int savedFilters(Node node)
    {
        try
        {
            return node.savedFilters().size();
        }
        catch (IOException notYet)
        {
            return 0;
        }
    }

    /**
     * A deletion is lost with the commit log, after the filter that knew its key to be dead was saved: the row is alive again in the store, and
     * is shown as without the plug-in. {@code -Dlacuna.checks=20000}, in the long tests only.
     */
    @Test
    public void rowWhoseDeletionWasLostIsNotDenied() throws Exception
    {
        Assume.assumeTrue("a long test", IS_LONG);
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("lost-deletion-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 1, CommitLog.LOST).start(true, OFTEN))
        {
            cluster = running;
            Node node = cluster.nodes.get(0);
            coordinators.add(cluster.session(node));
            coordinators.add(coordinators.get(0));
            create(1);
            takesPart();
            insert(0, DELETED);
            cluster.flush("k");
            delete();
            knowsTheDead();
            Thread.sleep(3_000);
            node.killLosingWrites();
            node.start(true, OFTEN);
            cluster.awaitAll();
            WithFilters.answersAgain(coordinators.get(0));
            assertEquals(1, WithFilters.counter(coordinators.get(0), "filters_restored"));
            for (int p = 0; p < DELETED; p++)
                assertEquals("row " + p, 1, at(0, select(p), ConsistencyLevel.ONE));
        }
    }

    private void create(int copies)
    {
        cluster.schema(coordinators.get(0), "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + copies + "}");
        cluster.schema(coordinators.get(0), "CREATE TABLE " + TABLE + " (p int, c int, v int, PRIMARY KEY (p, c))");
    }

    private void takesPart()
    {
        cluster.schema(coordinators.get(0), TakingPart.begin(TABLE, OPTIONS));
    }

    private void delete()
    {
        for (int p = 0; p < DELETED; p++)
            at(0, "DELETE FROM " + TABLE + " WHERE p = " + p, ConsistencyLevel.ALL);
    }

    private void fill()
    {
        create(2);
        insert(0, KEYS / 2);
        cluster.flush("k");
        takesPart();
        insert(KEYS / 2, KEYS);
        delete();
        cluster.flush("k");
    }

    private void insert(int from, int to)
    {
        for (int p = from; p < to; p++)
            at(p % 2, "INSERT INTO " + TABLE + " (p, c, v) VALUES (" + p + ", 1, 1)", ConsistencyLevel.ALL);
    }

    private void knowsTheDead() throws InterruptedException
    {
        for (int p = 0; p < DELETED; p++)
            for (int attempt = 0; !WithFilters.isCounted(coordinators.get(0), "reads_skipped", TABLE, p); attempt++)
            {
                assertTrue("never skipped: " + p, attempt < 2_400);
                at(0, select(p), ConsistencyLevel.ALL);
                Thread.sleep(50);
            }
    }

    /** How many milliseconds after it answers reads of its keys are skipped. */
    private long comesBack() throws Exception
    {
        second.start(true, PROPERTIES);
        cluster.awaitAll();
        WithFilters.answersAgain(coordinators.get(1));
        return millisUntilSkipped();
    }

    private long millisUntilSkipped() throws InterruptedException
    {
        long start = System.nanoTime();
        for (int attempt = 0; !WithFilters.isCounted(coordinators.get(0), "reads_skipped", TABLE, 1_000_000 + attempt); attempt++)
        {
            assertTrue("never skipped", attempt < 2_400);
            Thread.sleep(50);
        }
        long millis = (System.nanoTime() - start) / 1_000_000;
        System.out.printf("restored: absent keys are skipped %d ms after the node answers%n", millis);
        return millis;
    }

    /** Every key through every node, at ONE and at ALL: those before {@code end}, but for the deleted ones, and none after. */
    private void isRight(int end)
    {
        for (int p = 0; p < end + 50; p++)
            for (int through = 0; through < 2; through++)
                for (ConsistencyLevel level : new ConsistencyLevel[] { ConsistencyLevel.ONE, ConsistencyLevel.ALL })
                    assertEquals(p + " through " + through + " at " + level, p >= DELETED && p < end ? 1 : 0, at(through, select(p), level));
    }

    /** A bit of the file in its middle. */
    private void damage() throws IOException
    {
        Path file = second.savedFilters().stream().findFirst().orElseThrow();
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
    }

    private static String select(int p)
    {
        return "SELECT * FROM " + TABLE + " WHERE p = " + p;
    }

    private int at(int through, String cql, ConsistencyLevel level)
    {
        return WithFilters.at(coordinators.get(through), cql, level);
    }

    private long second(String counter)
    {
        return WithFilters.counter(coordinators.get(1), counter);
    }

    private long own(String column)
    {
        String query = "SELECT " + column + " FROM lacuna.filters WHERE keyspace_name = 'k' AND table_name = 'guarded' AND node = 'own'";
        return coordinators.get(1).execute(query).one().getLong(0);
    }
}
