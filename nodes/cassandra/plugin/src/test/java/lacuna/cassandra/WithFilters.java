package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Host;
import com.datastax.driver.core.ProtocolVersion;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.TypeCodec;
import org.junit.After;
import org.junit.BeforeClass;

/** Tables whose node filters are exchanged between the nodes of the one cluster, while one frame in forty arrives damaged. */
abstract class WithFilters extends OnOneCluster
{
    static final int PRESENT = 40;
    static final List<Session> coordinators = new ArrayList<>();
    private static int tables;

    @BeforeClass
    public static void keyspaces()
    {
        if (!coordinators.isEmpty())
            return;
        cluster.nodes.forEach(node -> coordinators.add(cluster.session(node)));
        for (int copies = 1; copies <= Math.min(3, NODES); copies++)
            ddl("CREATE KEYSPACE x" + copies + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + copies + "}");
    }

    @After
    public void stillActiveOnEveryNode()
    {
        for (Session coordinator : coordinators)
            for (Row state : coordinator.execute("SELECT * FROM lacuna.switches"))
                assertTrue(state.toString(), state.getBool("active"));
    }

    static String guarded(int copies, String mode)
    {
        String name = unguarded(copies);
        index(name, mode);
        return name;
    }

    static String unguarded(int copies)
    {
        String name = "x" + Math.min(copies, NODES) + ".t" + tables++;
        ddl("CREATE TABLE " + name + " (p int, c int, s int static, v int, PRIMARY KEY (p, c))");
        return name;
    }

    static void index(String table, String mode)
    {
        ddl(TakingPart.begin(table, "learn_every=1 back_off=1 mode=" + mode));
    }

    static void insert(Session through, String table, int p)
    {
        at(through, "INSERT INTO " + table + " (p, c, v) VALUES (" + p + ", 1, " + p + ")", ConsistencyLevel.ONE);
    }

    static int at(Session through, String cql, ConsistencyLevel level)
    {
        return through.execute(new SimpleStatement(cql).setConsistencyLevel(level)).all().size();
    }

    /** Runs many statements of one shape side by side. */
    static void each(int from, int to, ConsistencyLevel level, IntFunction<String> cql)
    {
        for (int start = from; start < to; start += 32)
        {
            List<ResultSetFuture> running = new ArrayList<>();
            for (int i = start; i < Math.min(to, start + 32); i++)
                running.add(session.executeAsync(new SimpleStatement(cql.apply(i)).setConsistencyLevel(level)));
            running.forEach(ResultSetFuture::getUninterruptibly);
        }
    }

    static int read(Session through, String table, int p)
    {
        return at(through, "SELECT * FROM " + table + " WHERE p = " + p, ConsistencyLevel.ONE);
    }

    /**
     * After a write at ONE of a row with several replicas. At ONE the store itself may ask a replica that does not have the row yet;
     * then it did ask, and the read was not skipped. At ALL the row is there.
     */
    static void isNotDenied(Session through, String table, int p)
    {
        long before = counter(through, "reads_skipped");
        boolean isFound = read(through, table, p) == 1;
        assertTrue("key " + p + " is denied through " + coordinators.indexOf(through), isFound || counter(through, "reads_skipped") == before);
        assertEquals("key " + p, 1, at(through, "SELECT * FROM " + table + " WHERE p = " + p, ConsistencyLevel.ALL));
        assertEquals("key " + p + " is denied at ALL through " + coordinators.indexOf(through), before, counter(through, "reads_skipped"));
    }

    /** The node that holds a partition of a table with one copy. */
    static int holder(String table, int p)
    {
        String keyspace = table.substring(0, table.indexOf('.'));
        Host holder = session.getCluster().getMetadata().getReplicas(keyspace, TypeCodec.cint().serialize(p, ProtocolVersion.V4))
                             .iterator().next();
        String address = holder.getEndPoint().resolve().getAddress().getHostAddress();
        return IntStream.range(0, NODES).filter(node -> cluster.nodes.get(node).address.equals(address)).findFirst().orElseThrow();
    }

    static long counter(Session of, String name)
    {
        return of.execute("SELECT value FROM lacuna.counters WHERE name = '" + name + "'").one().getLong(0);
    }

    static boolean isCounted(Session through, String counter, String table, int p)
    {
        long before = counter(through, counter);
        assertEquals(0, read(through, table, p));
        return counter(through, counter) > before;
    }

    /** Reads partitions that no node holds, until every coordinator has skipped twelve in a row: then it knows all nodes. */
    static void becomesKnown(String counter, String table) throws InterruptedException
    {
        for (Session coordinator : coordinators)
        {
            int known = 0;
            for (int attempt = 0; known < 12; attempt++)
            {
                if (attempt == 2_400)
                    throw new AssertionError(table + " stays unknown through " + coordinators.indexOf(coordinator) + asSeen(table));
                known = isCounted(coordinator, counter, table, 1_000_000 + attempt) ? known + 1 : 0;
                if (known == 0)
                    Thread.sleep(50);
            }
        }
    }

    static void becomesSkipped(String t, int p) throws InterruptedException
    {
        for (Session coordinator : coordinators)
        {
            int attempt = 0;
            while (!isCounted(coordinator, "reads_skipped", t, p))
            {
                if (attempt++ == 2_400)
                    throw new AssertionError(t + " " + p + " is never skipped through " + coordinators.indexOf(coordinator) + asSeen(t));
                // A replica that has not yet tried to prove it is asked to.
                at(coordinator, "SELECT * FROM " + t + " WHERE p = " + p, ConsistencyLevel.ALL);
                Thread.sleep(50);
            }
        }
    }

    /** What each node knows of the table, and of its peers. */
    private static String asSeen(String t)
    {
        String[] names = t.split("\\.");
        String ofTable = " WHERE keyspace_name = ? AND table_name = ?";
        return coordinators.stream().map(node -> "\n" + node.execute("SELECT state, problem FROM lacuna.tables" + ofTable, names[0], names[1]).all()
                                                 + "\n" + node.execute("SELECT * FROM lacuna.filters" + ofTable, names[0], names[1]).all()
                                                 + "\n" + node.execute("SELECT * FROM lacuna.peers").all()).collect(Collectors.joining());
    }

    /** After its node came back. */
    static void answersAgain(Session coordinator) throws InterruptedException
    {
        ClusterUnderTest.answersAgain(coordinator);
    }

    static void switchEverywhere(Flaw flaw, boolean on)
    {
        coordinators.forEach(node -> set(node, flaw, on));
    }

    static void set(Session node, Flaw flaw, boolean on)
    {
        ClusterUnderTest.set(node, flaw, on);
    }

    /** Whether a thread of the node stands still. */
    static boolean isAwaited(Session node, Flaw flaw)
    {
        return standing(node, flaw) > 0;
    }

    /** How many threads of the node do. */
    static int standing(Session node, Flaw flaw)
    {
        return node.execute("SELECT standing FROM lacuna_test.flaws WHERE name = '" + flaw.shown() + "'").one().getInt(0);
    }
}
