package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

/**
 * A replica is killed before its commit log is on disk, so the store itself loses acknowledged writes there. The plug-in denies
 * nothing beyond that: each answer is that of the same table without the comment, and at ALL every row is there.
 * {@code -Dlacuna.checks=20000}, in the long tests only.
 */
public class LostLogTest
{
    private static final int KEYS = 40;
    private static final int ROW = 50_000;
    private static final long WATCHED_NANOS = 8_000_000_000L;
    private static final String SLICE = "SELECT * FROM %s WHERE p = %d AND c >= " + (ROW - 2) + " AND c <= " + (ROW + 2);

    private List<Session> coordinators;

    @Test
    public void rowsThatAReplicaLostAreAnsweredAsWithoutTheComment() throws Exception
    {
        Assume.assumeTrue("a long test", Integer.getInteger("lacuna.checks", 0) > 0);
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("lost-" + System.nanoTime());
        try (Cluster cluster = new Cluster(work, 2, CommitLog.LOST).start(true, OnOneCluster.PROPERTIES))
        {
            coordinators = cluster.nodes.stream().map(cluster::session).collect(Collectors.toList());
            fill(cluster);
            Node second = cluster.nodes.get(1);
            second.killLosingWrites();
            second.start(true, OnOneCluster.PROPERTIES);
            cluster.awaitAll();
            WithFilters.answersAgain(coordinators.get(1));
            assertTrue("the store has lost rows, and shows it at ONE", lostAtOne() > 0);
            areAlikeForAWhile();
            knowsAbsentKeys();
            areAlikeForAWhile();
            for (int p = 0; p < KEYS; p++)
                assertEquals("key " + p, 1, rows(coordinators.get(p % 2), "k.guarded", p, ConsistencyLevel.ALL));
        }
    }

    private void fill(Cluster cluster) throws InterruptedException
    {
        Session session = coordinators.get(0);
        cluster.schema(session, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}");
        // A second replica that is asked in time would hide what the first has lost.
        for (String table : new String[] { "k.stock", "k.guarded" })
            cluster.schema(session, "CREATE TABLE " + table + " (p int, c int, v int, PRIMARY KEY (p, c)) WITH speculative_retry = 'NEVER'");
        cluster.schema(session, TakingPart.begin("k.guarded", "mode=safe bucket=16 learn_every=1 back_off=1"));
        knowsAbsentKeys();
        for (int p = 0; p < KEYS; p++)
            for (String table : new String[] { "k.stock", "k.guarded" })
                WithFilters.at(session, "INSERT INTO " + table + " (p, c, v) VALUES (" + p + ", " + ROW + ", 1)", ConsistencyLevel.ALL);
    }

    private long lostAtOne()
    {
        long lost = 0;
        for (int p = 0; p < KEYS; p++)
            lost += 1 - rows(coordinators.get(0), "k.stock", p, ConsistencyLevel.ONE);
        return lost;
    }

    private void areAlikeForAWhile()
    {
        for (long end = System.nanoTime() + WATCHED_NANOS; System.nanoTime() < end;)
            for (Session coordinator : coordinators)
                for (int p = 0; p < KEYS; p++)
                    assertEquals("key " + p + " through " + coordinators.indexOf(coordinator),
                                 rows(coordinator, "k.stock", p, ConsistencyLevel.ONE),
                                 rows(coordinator, "k.guarded", p, ConsistencyLevel.ONE));
    }

    private static int rows(Session through, String table, int p, ConsistencyLevel level)
    {
        return WithFilters.at(through, String.format(SLICE, table, p), level);
    }

    /** Until both nodes skip reads of keys that no node holds. */
    private void knowsAbsentKeys() throws InterruptedException
    {
        for (Session coordinator : coordinators)
            for (int attempt = 0; !WithFilters.isCounted(coordinator, "reads_skipped", "k.guarded", 1_000_000 + attempt); attempt++)
            {
                assertTrue("never skipped", attempt < 2_400);
                Thread.sleep(50);
            }
    }
}
