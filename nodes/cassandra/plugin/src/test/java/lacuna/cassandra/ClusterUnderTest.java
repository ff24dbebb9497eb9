package lacuna.cassandra;

import java.util.List;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.DriverException;

/**
 * A cluster whose nodes a test breaks.
 *
 * @param sessions one with each node, in their order
 * @param properties with which its nodes are started, and started again
 */
record ClusterUnderTest(Cluster cluster, List<Session> sessions, String[] properties)
{
    private static final int SKIPS_IN_A_ROW = 12;
    private static final int MAX_ATTEMPTS = 2_400;

    Node node(int number)
    {
        return cluster.nodes.get(number);
    }

    Session session(int number)
    {
        return sessions.get(number);
    }

    int size()
    {
        return sessions.size();
    }

    void ddl(String cql)
    {
        cluster.schema(session(0), cql);
    }

    /** Until every coordinator has skipped twelve reads of absent partitions in a row. */
    void awaitSkips(String table) throws InterruptedException
    {
        for (Session session : sessions)
            for (int known = 0, attempt = 0; known < SKIPS_IN_A_ROW; attempt++)
            {
                if (attempt == MAX_ATTEMPTS)
                    throw new IllegalStateException("reads of " + table + " are never skipped");
                known = isSkipped(session, table, -1 - attempt) ? known + 1 : 0;
                if (known == 0)
                    Thread.sleep(50);
            }
    }

    private static boolean isSkipped(Session session, String table, int absent)
    {
        long before = Twins.counter(session, "reads_skipped");
        session.execute(new SimpleStatement("SELECT * FROM " + table + " WHERE p = " + absent).setConsistencyLevel(ConsistencyLevel.ONE));
        return Twins.counter(session, "reads_skipped") > before;
    }

    /** After its node came back. */
    static void answersAgain(Session session) throws InterruptedException
    {
        for (int attempt = 0; attempt < 600; attempt++)
            try
            {
                Twins.counter(session, "reads_skipped");
                return;
            }
            catch (DriverException notYet)
            {
                Thread.sleep(100);
            }
        throw new AssertionError("never answers again");
    }

    static void set(Session node, Flaw flaw, boolean on)
    {
        node.execute("UPDATE lacuna_test.flaws SET enabled = " + on + " WHERE name = '" + flaw.shown() + "'");
    }
}
