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
    private static final String[] MODES = { "eventual", "safe" };

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

    /** A new image with the old configuration: the guide says what the log has. */
    @Test
    public void propertiesWithoutTheJarEndTheNodeAndLoseNothing() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("no-jar-" + System.nanoTime());
        try (Cluster cluster = new Cluster(work, 1).start(true))
        {
            Node node = cluster.nodes.get(0);
            Session session = cluster.session(node);
            writesAreSeen(cluster, session);
            endsWithoutTheJar(node, "Cannot use class lacuna.cassandra.LacunaQueryHandler as query handler", Node.WITHOUT_JAR);
            endsWithoutTheJar(node, "lacuna.cassandra.LacunaStorageHook", Node.WITHOUT_JAR, Node.WITHOUT_HANDLER);
            node.start(false);
            cluster.awaitAll();
            areSeen(session);
            node.stop();
            node.start(true);
            cluster.awaitAll();
            areSeen(session);
        }
    }

    private static void endsWithoutTheJar(Node node, String logged, String... properties) throws Exception
    {
        if (node.isAlive())
            node.stop();
        int before = node.log().length();
        node.start(true, properties);
        Cluster.until("it ends", () -> !node.isAlive());
        String log = node.log().substring(before);
        assertTrue(log, log.contains(logged));
    }

    private static void areSeen(Session session)
    {
        Cluster.until("the driver has found the node again", () -> StockNodeTest.isAnswered(session));
        for (String mode : MODES)
            for (int p = 0; p < KEYS; p++)
                assertEquals(mode + " " + p, 1, session.execute("SELECT * FROM i." + mode + " WHERE p = " + p).all().size());
    }

    private static Cluster started(String without) throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("installation-" + System.nanoTime());
        return new Cluster(work, 1).start(true, without);
    }

    private static void writesAreSeen(Cluster cluster, Session session) throws InterruptedException
    {
        cluster.schema(session, "CREATE KEYSPACE i WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        for (String mode : MODES)
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
