package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;

import org.junit.Assume;
import org.junit.Test;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.InvalidConfigurationInQueryException;

/** A node goes and comes back: with a wrong native library, with a plug-in that does not fit, and without one. */
public class RestartTest extends OnOneCluster
{
    private static final int DELETED = 20;

    /** Starts nodes twice, hence one test for one life of a node. */
    @Test
    public void tombstonesReachAReplicaThatMissedThem() throws Exception
    {
        Assume.assumeTrue("wants lacuna.nodes=3", NODES == 3);
        String t = table();
        String safe = safeTable();
        for (int p = 0; p <= DELETED; p++)
            fill(t, p);
        flush();
        Node third = cluster.nodes.get(2);
        third.kill();
        for (int p = 0; p < DELETED; p++)
            execute(session, "DELETE FROM " + t + " WHERE p = " + p, ConsistencyLevel.QUORUM);
        cluster.nodes.get(0).flush("k");
        cluster.nodes.get(1).flush("k");
        answersAtQuorum(t);

        // Each of the two is enough to be inactive, the library for the exchange alone.
        Path other = OtherJar.in(Path.of(System.getProperty("lacuna.work")).resolve("other-" + System.nanoTime()));
        third.start(true, Node.JAR + other, "-Dlacuna.native_library=/dev/null");
        cluster.awaitAll();
        isInactive(third);
        skipsNothing(safe);
        readsNothingThrough(third, t);

        third.kill();
        third.start(false);
        cluster.awaitAll();
        skipsNothing(safe);
        readsNothingThrough(third, t);
        isRestoredBy(third, safe);
        isChangedInSpiteOfItsComment(third);
    }

    private static void answersAtQuorum(String t) throws InterruptedException
    {
        long before = answered(cluster.nodes.get(0)) + answered(cluster.nodes.get(1));
        for (int attempt = 0; attempt < 200; attempt++)
        {
            assertEquals(0, execute(session, "SELECT * FROM " + t + " WHERE p = 0", ConsistencyLevel.QUORUM));
            if (answered(cluster.nodes.get(0)) + answered(cluster.nodes.get(1)) > before + 4)
                return;
        }
        throw new AssertionError("never answered from memory");
    }

    private static long answered(Node node)
    {
        try (var driver = cluster.driver(node); Session own = driver.connect())
        {
            return own.execute("SELECT value FROM lacuna.counters WHERE name = 'reads_answered'").one().getLong(0);
        }
    }

    private static void isInactive(Node node)
    {
        try (var driver = cluster.driver(node); Session own = driver.connect())
        {
            Row state = own.execute("SELECT * FROM lacuna.switches").one();
            assertFalse(state.toString(), state.getBool("active"));
            assertTrue(state.toString(), state.getString("reason").matches("self-test: .*NoSuchMethodException: org.apache.cassandra.db.rows.BTreeRow.gone .*"));
            Row exchange = own.execute("SELECT * FROM lacuna.switches WHERE name = 'exchange'").one();
            assertFalse(exchange.toString(), exchange.getBool("active"));
            assertTrue(exchange.toString(), exchange.getString("reason").contains("native library"));
        }
    }

    /** The node still holds the rows that the others know to be dead; a bare "empty" from those would let them through. */
    private static void readsNothingThrough(Node node, String t)
    {
        try (var driver = cluster.driver(node); Session own = driver.connect())
        {
            for (int p = 0; p < DELETED; p++)
                for (ConsistencyLevel level : new ConsistencyLevel[] { ConsistencyLevel.QUORUM, ConsistencyLevel.ALL })
                    assertEquals(level + " " + p, 0, execute(own, "SELECT * FROM " + t + " WHERE p = " + p, level));
            assertEquals(10, execute(own, "SELECT * FROM " + t + " WHERE p = " + DELETED, ConsistencyLevel.ALL));
        }
    }

    private static String safeTable()
    {
        String safe = "k.exchanged";
        ddl("CREATE TABLE " + safe + " (p int PRIMARY KEY, v int)");
        ddl(TakingPart.begin(safe, "mode=safe"));
        return safe;
    }

    /** The third node holds a replica of everything and says nothing about it; writes and reads go on. */
    private static void skipsNothing(String safe)
    {
        long before = counter("reads_skipped");
        int first = rows("SELECT * FROM " + safe);
        for (int p = first; p < first + 20; p++)
        {
            assertEquals(0, execute(session, "SELECT * FROM " + safe + " WHERE p = " + p, ConsistencyLevel.ONE));
            execute(session, "INSERT INTO " + safe + " (p, v) VALUES (" + p + ", 1)", ConsistencyLevel.ALL);
            assertEquals(1, execute(session, "SELECT * FROM " + safe + " WHERE p = " + p, ConsistencyLevel.QUORUM));
        }
        assertEquals(before, counter("reads_skipped"));
    }

    private static int execute(Session on, String cql, ConsistencyLevel level)
    {
        return on.execute(new SimpleStatement(cql).setConsistencyLevel(level)).all().size();
    }

    /** The stock node lets a comment pass that the others cannot follow: they refuse another such comment, and no other change of the table. */
    private static void isChangedInSpiteOfItsComment(Node stock)
    {
        try (var driver = cluster.driver(stock); Session own = driver.connect())
        {
            cluster.schema(own, TakingPart.begin("k.restored", "mode=sure"));
        }
        ddl("ALTER TABLE k.restored WITH gc_grace_seconds = 7");
        ddl("ALTER TABLE k.restored ADD more int");
        String query = "SELECT problem FROM lacuna.tables WHERE keyspace_name = 'k' AND table_name = 'restored'";
        String problem = session.execute(query).one().getString(0);
        assertTrue(problem, problem.contains("sure"));
        assertThrows(InvalidConfigurationInQueryException.class, () -> ddl(TakingPart.begin("k.restored", "mode=surer")));
    }

    /** What the stock node prints of the table is a statement that it takes itself, and by which the table takes part elsewhere. */
    private static void isRestoredBy(Node stock, String safe)
    {
        String copy = "k.restored";
        try (var driver = cluster.driver(stock); Session own = driver.connect())
        {
            String dump = own.execute("DESCRIBE TABLE " + safe).one().getString("create_statement");
            assertTrue(dump, dump.contains(TakingPart.comment("mode=safe")));
            cluster.schema(own, dump.replace(safe, copy));
        }
        assertEquals(1, session.execute("SELECT * FROM lacuna.tables WHERE keyspace_name = 'k' AND table_name = 'restored'").all().size());
    }
}
