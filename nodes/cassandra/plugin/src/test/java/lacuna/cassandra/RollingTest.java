package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.DriverException;
import org.junit.Assume;
import org.junit.Test;

/**
 * The plug-in comes to a running cluster node by node, works, and goes again, while clients write and read at QUORUM all the
 * time. {@code -Dlacuna.checks=20000}, in the long tests only.
 */
public class RollingTest
{
    private static final int NODES = 3;
    private static final String TABLE = "r.t";

    private final AtomicInteger acknowledged = new AtomicInteger();
    private final AtomicInteger checked = new AtomicInteger();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final List<Session> sessions = new ArrayList<>();
    private volatile boolean isDone;

    @Test
    public void installAndRemovalUnderLoadLoseNothing() throws Exception
    {
        Assume.assumeTrue("a long test", Integer.getInteger("lacuna.checks", 0) > 0);
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("rolling-" + System.nanoTime());
        try (Cluster cluster = new Cluster(work, NODES).start(false))
        {
            cluster.nodes.forEach(node -> sessions.add(cluster.session(node)));
            cluster.schema(sessions.get(0), "CREATE KEYSPACE r WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}");
            cluster.schema(sessions.get(0), "CREATE TABLE " + TABLE + " (p int PRIMARY KEY, v int)");
            Thread client = new Thread(this::work);
            client.start();
            try
            {
                roll(cluster);
            }
            finally
            {
                isDone = true;
                client.join();
            }
            System.out.printf("rolling: %d writes acknowledged, %d reads checked%n", acknowledged.get(), checked.get());
            assertEquals("[]", wrong.toString());
            everyKeyIsThere();
        }
    }

    private void roll(Cluster cluster) throws Exception
    {
        restartAll(cluster, true);
        cluster.schema(sessions.get(0), TakingPart.begin(TABLE, "mode=safe"));
        becomesSkipped();
        int before = acknowledged.get();
        while (acknowledged.get() < before + 200)
            Thread.sleep(50);
        // The table still takes part, on fewer and fewer nodes.
        restartAll(cluster, false);
        cluster.schema(sessions.get(0), TakingPart.end(TABLE));
    }

    private static void restartAll(Cluster cluster, boolean withPlugin) throws Exception
    {
        for (Node node : cluster.nodes)
        {
            node.kill();
            node.start(withPlugin);
            cluster.awaitAll();
        }
    }

    private void becomesSkipped() throws InterruptedException
    {
        for (Session session : sessions)
            for (int attempt = 0; skipped(session) == 0; attempt++)
            {
                assertTrue("never skipped", attempt < 900);
                session.execute("SELECT * FROM " + TABLE + " WHERE p = " + -(1 + attempt));
                Thread.sleep(50);
            }
    }

    private static long skipped(Session session)
    {
        return session.execute("SELECT value FROM lacuna.counters WHERE name = 'reads_skipped'").one().getLong(0);
    }

    /** One key after another: any node that is up writes it, all nodes that are up read it. */
    private void work()
    {
        for (int p = 1; !isDone && wrong.isEmpty(); p++)
        {
            int key = p;
            boolean isWritten = sessions.stream().anyMatch(session -> answer(session, "INSERT INTO " + TABLE + " (p, v) VALUES (" + key + ", 1)") >= 0);
            if (!isWritten)
            {
                p--;
                continue;
            }
            acknowledged.set(key);
            for (Session session : sessions)
                check(key, answer(session, "SELECT * FROM " + TABLE + " WHERE p = " + key));
        }
    }

    private void check(int key, int rows)
    {
        if (rows == 0)
            wrong.add("key " + key);
        if (rows >= 0)
            checked.incrementAndGet();
    }

    /** Rows at QUORUM; -1 if there was no answer. */
    private static int answer(Session session, String cql)
    {
        try
        {
            return session.execute(new SimpleStatement(cql).setConsistencyLevel(ConsistencyLevel.QUORUM).setReadTimeoutMillis(5_000)).all().size();
        }
        catch (DriverException notNow)
        {
            return -1;
        }
    }

    private void everyKeyIsThere() throws InterruptedException
    {
        for (int key = 1; key <= acknowledged.get(); key++)
            assertEquals("key " + key, 1, answerOfAnyNode("SELECT * FROM " + TABLE + " WHERE p = " + key));
    }

    /** A driver may still be on its way back to its node. */
    private int answerOfAnyNode(String cql) throws InterruptedException
    {
        for (int attempt = 0; attempt < 600; attempt++)
        {
            int rows = answer(sessions.get(attempt % NODES), cql);
            if (rows >= 0)
                return rows;
            Thread.sleep(100);
        }
        throw new AssertionError("no node answers " + cql);
    }
}
