package lacuna.cassandra;

import static org.junit.Assert.assertTrue;

import java.nio.file.Path;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import org.junit.After;

/** One cluster for all test classes of this process, since a start takes half a minute; it ends with the process. */
abstract class OnOneCluster
{
    static final int NODES = Integer.getInteger("lacuna.nodes", 1);
    /** A node that missed a schema asks for it after a second, not after a minute. The last two: tables may have change data capture. */
    static final String[] PROPERTIES = { "-Dlacuna.lease_millis=3000", Node.FLAWED, "-Dlacuna.test.damage_every=40",
                                         "-Dcassandra.migration_delay_ms=1000", "-Dlacuna.water_mark_rows=2",
                                         "-Dcassandra.config.allow_system_properties=true", "-Dcassandra.settings.cdc_enabled=true" };
    static final Cluster cluster = started();
    static final Session session = cluster.session(cluster.nodes.get(0));
    private static int tables;

    static
    {
        ddl("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + NODES + "}");
    }

    private static Cluster started()
    {
        try
        {
            Path work = Path.of(System.getProperty("lacuna.work")).resolve("run-" + System.nanoTime());
            return new Cluster(work, NODES).start(true, PROPERTIES);
        }
        catch (Exception failure)
        {
            throw new IllegalStateException(failure);
        }
    }

    /** Nothing that a test does may have turned the plug-in off. */
    @After
    public void stillActive()
    {
        for (Row state : session.execute("SELECT * FROM lacuna.switches"))
            assertTrue(state.toString(), state.getBool("active"));
    }

    /** A table of its own for a test, guarded, looked into at every read. */
    static String table(String more)
    {
        String name = "k.t" + tables++;
        ddl("CREATE TABLE " + name + " (p int, c int, s int static, v int, PRIMARY KEY (p, c))" + more);
        ddl(TakingPart.begin(name, "learn_every=1"));
        return name;
    }

    static String table()
    {
        return table("");
    }

    static void ddl(String cql)
    {
        cluster.schema(session, cql);
    }

    static ResultSet all(String query)
    {
        return session.execute(new SimpleStatement(query).setConsistencyLevel(ConsistencyLevel.ALL));
    }

    static int rows(String query)
    {
        return all(query).all().size();
    }

    static void fill(String table, int partition)
    {
        for (int row = 0; row < 10; row++)
            all("INSERT INTO " + table + " (p, c, v) VALUES (" + partition + ", " + row + ", 1)");
    }

    /** The query for all of partition 1. */
    static String one(String table)
    {
        return "SELECT * FROM " + table + " WHERE p = 1";
    }

    /** A table with partition 1 on disk, and the deletion of some of it too. */
    static String filledThenDeleted(String which)
    {
        String t = table();
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1" + which);
        flush();
        return t;
    }

    static void flush()
    {
        cluster.flush("k");
    }

    /** Repeats a read until the coordinator's replica answers it without an SSTable; fails after some minutes. */
    static void becomesAnswered(String query) throws InterruptedException
    {
        for (int attempt = 0; attempt < 2_400; attempt++)
        {
            if (isAnswered(query))
                return;
            Thread.sleep(50);
        }
        throw new AssertionError("never answered from memory: " + query + "\n" + session.execute("SELECT * FROM lacuna.counters").all());
    }

    static boolean isAnswered(String query)
    {
        long before = counter("reads_answered");
        all(query);
        return counter("reads_answered") > before;
    }

    static long counter(String name)
    {
        return session.execute("SELECT value FROM lacuna.counters WHERE name = '" + name + "'").one().getLong(0);
    }

    /** A flushed deletion of partition 1 that is answered from memory. */
    static String deadPartition() throws InterruptedException
    {
        String t = table();
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1");
        fill(t, 2);
        flush();
        becomesAnswered(one(t));
        return t;
    }

    static long answeredEverywhere()
    {
        return everywhere("reads_answered");
    }

    /** The sum of a counter over all nodes. */
    static long everywhere(String counter)
    {
        long sum = 0;
        for (Node node : cluster.nodes)
            try (var driver = cluster.driver(node); Session own = driver.connect())
            {
                sum += own.execute("SELECT value FROM lacuna.counters WHERE name = '" + counter + "'").one().getLong(0);
            }
        return sum;
    }
}
