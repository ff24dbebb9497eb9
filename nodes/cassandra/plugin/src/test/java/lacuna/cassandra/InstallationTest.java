package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;

import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** A node with one of the two properties: it says which one is missing, and denies nothing. */
public class InstallationTest
{
    private static final int KEYS = 50;

    @Test
    public void handlerAloneExchangesNothing() throws Exception
    {
        try (Cluster cluster = started(Node.WITHOUT_HOOK))
        {
            Session session = cluster.session(cluster.nodes.get(0));
            Row exchange = session.execute("SELECT * FROM lacuna.switches WHERE name = 'exchange'").one();
            assertFalse(exchange.toString(), exchange.getBool("active"));
            assertTrue(exchange.toString(), exchange.getString("reason").contains(Installation.HOOK));
            assertEquals("it is counted", 1, WithFilters.counter(session, "failures"));
            writesAreSeen(cluster, session);
        }
    }

    @Test
    public void hookAloneAnswersNothing() throws Exception
    {
        try (Cluster cluster = started(Node.WITHOUT_HANDLER))
        {
            Session session = cluster.session(cluster.nodes.get(0));
            writesAreSeen(cluster, session);
            assertTrue(cluster.nodes.get(0).log().contains("add " + Installation.HANDLER));
        }
    }

    private static Cluster started(String without) throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("installation-" + System.nanoTime());
        return new Cluster(work, 1).start(true, without);
    }

    private static void writesAreSeen(Cluster cluster, Session session) throws InterruptedException
    {
        cluster.schema(session, "CREATE KEYSPACE i WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        for (String mode : new String[] { "eventual", "safe" })
        {
            cluster.schema(session, "CREATE TABLE i." + mode + " (p int PRIMARY KEY, v int)");
            cluster.schema(session, TakingPart.begin("i." + mode, "mode=" + mode));
            // Long enough for a filter to be shown.
            Thread.sleep(3_000);
            for (int p = 0; p < KEYS; p++)
            {
                session.execute("INSERT INTO i." + mode + " (p, v) VALUES (" + p + ", 1)");
                assertEquals(mode + " " + p, 1, session.execute("SELECT * FROM i." + mode + " WHERE p = " + p).all().size());
            }
        }
    }
}
