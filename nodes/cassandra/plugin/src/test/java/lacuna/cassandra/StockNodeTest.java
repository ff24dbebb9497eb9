package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.DriverException;
import org.junit.Assume;
import org.junit.Test;

/**
 * Nodes without the jar in a cluster whose tables take part: one joins and takes its share, one comes back without it. Nothing is
 * denied that they hold. {@code -Dlacuna.checks=20000}, in the long tests only.
 */
public class StockNodeTest
{
    private static final int KEYS = 120;
    private static final String TABLE = "s.t";

    private final List<Session> sessions = new ArrayList<>();
    private int written;

    @Test
    public void nodesWithoutTheJarStartAndJoin() throws Exception
    {
        Assume.assumeTrue("a long test", Integer.getInteger("lacuna.checks", 0) > 0);
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("stock-" + System.nanoTime());
        try (Cluster cluster = new Cluster(work, 2).start(true))
        {
            cluster.nodes.forEach(node -> sessions.add(cluster.session(node)));
            cluster.schema(sessions.get(0), "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
            cluster.schema(sessions.get(0), "CREATE TABLE " + TABLE + " (p int, c int, v int, PRIMARY KEY (p, c)) WITH comment = '"
                                            + TakingPart.comment("mode=safe") + "'");
            everythingIsSeen();
            assertTrue("reads are skipped", skipped() > 0);

            Node stock = cluster.join(false, 1);
            sessions.add(cluster.session(stock));
            everythingIsSeen();
            long before = skipped();
            everythingIsSeen();
            assertTrue("reads of keys at the others are skipped", skipped() > before);

            Node second = cluster.nodes.get(1);
            second.kill();
            second.start(false);
            cluster.awaitAll();
            Cluster.until("its driver has found it again", () -> isAnswered(sessions.get(1)));
            everythingIsSeen();
        }
    }

    static boolean isAnswered(Session session)
    {
        try
        {
            return session.execute("SELECT key FROM system.local").one() != null;
        }
        catch (DriverException notYet)
        {
            return false;
        }
    }

    private long skipped()
    {
        return WithFilters.counter(sessions.get(0), "reads_skipped");
    }

    /** New keys, each written through one node and read through the others, absent before and there afterwards; then all keys. */
    private void everythingIsSeen() throws InterruptedException
    {
        // So long that a filter is shown.
        Thread.sleep(3_000);
        for (int end = written + KEYS; written < end; written++)
        {
            Session writer = sessions.get(written % sessions.size());
            assertEquals(0, read(sessions.get(0), written));
            WithFilters.insert(writer, TABLE, written);
            for (Session reader : sessions)
                assertEquals("key " + written + " through " + sessions.indexOf(reader), 1, read(reader, written));
        }
        for (int p = 0; p < written; p++)
            assertEquals("key " + p, 1, read(sessions.get(p % sessions.size()), p));
    }

    private static int read(Session through, int p)
    {
        return WithFilters.at(through, "SELECT * FROM " + TABLE + " WHERE p = " + p, ConsistencyLevel.ONE);
    }
}
