package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.DriverException;
import org.junit.Assume;
import org.junit.Test;

/**
 * Mode safe while a node joins, one dies and is replaced, and one leaves: what was acknowledged is read at once through
 * any coordinator, of a guarded table and of one without the comment.
 *
 * <p>{@code -Dlacuna.ring_changes=true}, since it starts five nodes and takes minutes.
 */
public class RingChangesTest
{
    private static final int WORKERS = 4;
    private static final int CHECKS = 300;
    private static final int ABSENT = 1 << 28;
    private static final String[] PROPERTIES = { "-Dlacuna.lease_millis=3000", Node.FLAWED, "-Dlacuna.test.damage_every=40" };
    /** Longer than gossip takes, so that no coordinator writes to old replicas only while new ones are filled. */
    private static final String RING_DELAY = "-Dcassandra.ring_delay_ms=10000";

    private final long seed = Long.getLong("lacuna.seed", 8);
    private final List<Session> sessions = new CopyOnWriteArrayList<>();
    private final AtomicInteger nextKey = new AtomicInteger();
    private final AtomicInteger checks = new AtomicInteger();
    /** Keys that both replicas have. */
    private final Map<String, Queue<Integer>> acknowledged = new ConcurrentHashMap<>();
    private final Map<String, Queue<String>> wrong = new ConcurrentHashMap<>();
    private volatile String now = "three nodes";
    private volatile boolean isDone;
    private Cluster cluster;
    private Pair pair;

    @Test
    public void noAcknowledgedWriteIsDeniedWhileTheRingChanges() throws Exception
    {
        Assume.assumeTrue("a long test", Boolean.getBoolean("lacuna.ring_changes"));
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("ring-" + System.nanoTime());
        try (Cluster started = new Cluster(work, 3).start(true, PROPERTIES))
        {
            cluster = started;
            cluster.nodes.forEach(node -> sessions.add(cluster.session(node)));
            cluster.schema(sessions.get(0),
                           "CREATE KEYSPACE m WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}");
            pair = Pair.create(cluster, sessions.get(0), "m.t", "CREATE TABLE %s (p int PRIMARY KEY, v int)", "mode=safe");
            for (String table : tables())
            {
                acknowledged.put(table, new ConcurrentLinkedQueue<>());
                wrong.put(table, new ConcurrentLinkedQueue<>());
            }
            Thread[] workers = new Thread[WORKERS];
            for (int worker = 0; worker < WORKERS; worker++)
            {
                Random random = new Random(seed + worker);
                workers[worker] = new Thread(() -> work(random));
                workers[worker].start();
            }
            try
            {
                change();
            }
            finally
            {
                isDone = true;
                for (Thread worker : workers)
                    worker.join();
            }
        }
    }

    private List<String> tables()
    {
        return List.of(pair.stock(), pair.guarded());
    }

    private void change() throws Exception
    {
        holds();
        now = "one joins";
        Node fourth = cluster.join(1, properties(RING_DELAY));
        sessions.add(cluster.session(fourth));
        holds();

        now = "one is dead";
        Node third = cluster.nodes.remove(2);
        sessions.remove(2);
        third.kill();
        Cluster.until("its end is known", () -> cluster.nodes.stream().allMatch(node -> node.liveNodes() == 3));
        now = "one is replaced";
        Node fifth = cluster.join(1, properties(RING_DELAY, "-Dcassandra.replace_address_first_boot=" + third.address));
        sessions.add(cluster.session(fifth));
        holds();

        now = "one leaves";
        sessions.remove(2);
        Upkeep.decommission(fourth);
        cluster.nodes.remove(fourth);
        fourth.kill();
        cluster.awaitAll();
        holds();
    }

    private static String[] properties(String... more)
    {
        String[] all = Arrays.copyOf(PROPERTIES, PROPERTIES.length + more.length);
        System.arraycopy(more, 0, all, PROPERTIES.length, more.length);
        return all;
    }

    /** After some time with this ring: no lie, skips, and every key is there. */
    private void holds() throws InterruptedException
    {
        String before = now;
        int during = checks.get();
        now = "after: " + before;
        for (int end = checks.get() + CHECKS; checks.get() < end;)
            Thread.sleep(50);
        int absent = ABSENT;
        for (Session session : sessions)
            for (int known = 0; known < 12; absent++)
                known = isSkipped(session, absent) ? known + 1 : 0;
        System.out.printf("ring: %s: %d checks before, %d now, wrong without the comment %d, with it %d, seed %d%n", before, during,
                          checks.get(), wrong.get(pair.stock()).size(), wrong.get(pair.guarded()).size(), seed);
        assertEquals("seed " + seed, "[]", wrong.get(pair.guarded()).toString());
        everyKeyIsThere();
    }

    private boolean isSkipped(Session session, int p)
    {
        assertTrue("never skipped", p < ABSENT + 20_000);
        long before = Twins.counter(session, "reads_skipped");
        assertEquals(0, rows(session, pair.guarded(), p, ConsistencyLevel.ONE));
        return Twins.counter(session, "reads_skipped") > before;
    }

    private void everyKeyIsThere()
    {
        for (String table : tables())
        {
            int missing = 0;
            int next = 0;
            for (int p : acknowledged.get(table))
                missing += rows(sessions.get(next++ % sessions.size()), table, p, ConsistencyLevel.QUORUM) == 1 ? 0 : 1;
            assertEquals(now + ": missing in " + table, 0, missing);
        }
    }

    private void work(Random random)
    {
        while (!isDone)
        {
            int p = nextKey.incrementAndGet();
            boolean isAtBoth = random.nextBoolean();
            for (String table : tables())
                if (isWritten(table, p, isAtBoth ? ConsistencyLevel.QUORUM : ConsistencyLevel.ONE, random))
                    check(table, p, isAtBoth, random);
        }
    }

    private Session anyCoordinator(Random random)
    {
        List<Session> there = List.copyOf(sessions);
        return there.get(random.nextInt(there.size()));
    }

    private boolean isWritten(String table, int p, ConsistencyLevel level, Random random)
    {
        try
        {
            anyCoordinator(random).execute(statement("INSERT INTO " + table + " (p, v) VALUES (" + p + ", 1)", level));
            return true;
        }
        catch (DriverException notAcknowledged)
        {
            return false;
        }
    }

    private void check(String table, int p, boolean isAtBoth, Random random)
    {
        String when = now;
        if (isAtBoth)
            acknowledged.get(table).add(p);
        Session reader = anyCoordinator(random);
        try
        {
            if (rows(reader, table, p, isAtBoth ? ConsistencyLevel.ONE : ConsistencyLevel.ALL) != 1)
                wrong.get(table).add("key " + p + " while " + when + " through " + sessions.indexOf(reader));
            checks.incrementAndGet();
        }
        catch (DriverException notNow)
        {
            // A replica or the coordinator is down: no answer is no lie.
        }
    }

    private static int rows(Session through, String table, int p, ConsistencyLevel level)
    {
        return through.execute(statement("SELECT * FROM " + table + " WHERE p = " + p, level)).all().size();
    }

    private static SimpleStatement statement(String cql, ConsistencyLevel level)
    {
        SimpleStatement statement = new SimpleStatement(cql);
        statement.setConsistencyLevel(level).setReadTimeoutMillis(10_000);
        return statement;
    }
}
