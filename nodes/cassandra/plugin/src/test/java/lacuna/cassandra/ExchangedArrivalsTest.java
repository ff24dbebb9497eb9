package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.Collectors;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

/**
 * Mode safe: a partition that every coordinator denied is there for all of them after any kind of write, as in a table without
 * the comment.
 */
public class ExchangedArrivalsTest extends WithFilters
{
    private static final String CREATE =
        "CREATE TABLE %s (p int, c int, s int static, v int, l list<int>, m map<int, int>, PRIMARY KEY (p, c))";
    private static final String INSERT = "INSERT INTO %1$s (p, c, v) VALUES (:p, 1, 1)";
    private static final String OTHER = "INSERT INTO %1$s (p, c, v) VALUES (:q, 1, 1)";
    private static final String ROW = " WHERE p = :p AND c = 1";
    private static final List<String> READS =
        List.of("SELECT * FROM %1$s WHERE p = :p", "SELECT * FROM %1$s WHERE p = :q", "SELECT c, v FROM %1$s" + ROW);

    /** Two partitions, {@code :p} and {@code :q}: what happens before all deny them, and the writes that come then. */
    private record Arrival(String before, List<String> writes) {}

    private static final List<Arrival> ARRIVALS = List.of(
        come(INSERT),
        come("INSERT INTO %1$s (p, c) VALUES (:p, 1)"),
        come("INSERT INTO %1$s JSON '{\"p\": :p, \"c\": 1, \"v\": 1}'"),
        come("INSERT INTO %1$s (p, c, v) VALUES (:p, 1, 1) USING TTL 10000"),
        come("INSERT INTO %1$s (p, c, v) VALUES (:p, 1, 1) USING TIMESTAMP 1"),
        come("UPDATE %1$s SET s = 1 WHERE p = :p"),
        come("UPDATE %1$s SET v = 1" + ROW),
        come("UPDATE %1$s SET l = l + [1]" + ROW),
        come("UPDATE %1$s SET m[1] = 1" + ROW),
        come(INSERT + " IF NOT EXISTS"),
        come("UPDATE %1$s SET s = 1 WHERE p = :p IF s = null"),
        come("UPDATE %1$s SET v = 1" + ROW + " IF EXISTS", INSERT),
        come("BEGIN BATCH " + INSERT + "; UPDATE %1$s SET s = 1 WHERE p = :q; APPLY BATCH"),
        come("BEGIN UNLOGGED BATCH " + INSERT + "; " + OTHER + "; APPLY BATCH"),
        come("BEGIN BATCH " + INSERT + " IF NOT EXISTS; UPDATE %1$s SET s = 1 WHERE p = :p; APPLY BATCH"),
        come("DELETE v FROM %1$s" + ROW, INSERT),
        come("DELETE m[1] FROM %1$s" + ROW, INSERT),
        come("DELETE s FROM %1$s WHERE p = :p", "UPDATE %1$s SET s = 1 WHERE p = :p"),
        come("DELETE FROM %1$s" + ROW, INSERT),
        come("DELETE FROM %1$s WHERE p = :p AND c > 0 AND c < 9", INSERT),
        come("DELETE FROM %1$s WHERE p = :p", INSERT),
        come("DELETE FROM %1$s WHERE p = :p IF EXISTS", INSERT),
        come("DELETE FROM %1$s WHERE p IN (:p, :q)", "BEGIN BATCH " + INSERT + "; " + OTHER + "; APPLY BATCH"),
        new Arrival(INSERT + "; DELETE FROM %1$s WHERE p = :p", List.of(INSERT)),
        new Arrival("DELETE FROM %1$s USING TIMESTAMP 1000 WHERE p = :p",
                    List.of(INSERT + " USING TIMESTAMP 500", INSERT + " USING TIMESTAMP 2000")));

    private final List<Client> clients = coordinators.stream().map(Client::new).collect(Collectors.toList());

    private static Arrival come(String... writes)
    {
        return new Arrival("", List.of(writes));
    }

    private static Pair pair(String name, String more)
    {
        return Pair.create(cluster, session, name, CREATE, "mode=safe learn_every=1" + more);
    }

    @Test
    public void everyKindOfWriteIsSeenWithOneReplica() throws Exception
    {
        everyKindOfWriteIsSeen(1, "");
    }

    @Test
    public void everyKindOfWriteIsSeenWithThreeReplicasAndBuckets() throws Exception
    {
        everyKindOfWriteIsSeen(3, " bucket=4");
    }

    private void everyKindOfWriteIsSeen(int copies, String more) throws Exception
    {
        Assume.assumeTrue("wants lacuna.nodes=3", NODES == 3);
        Pair pair = pair("x" + copies + ".arrivals", more);
        becomesKnown("reads_skipped", pair.guarded());
        for (int i = 0; i < ARRIVALS.size(); i++)
            arrives(pair, ARRIVALS.get(i), 2 * i, (i + copies) % NODES, copies);
    }

    /** Writes at QUORUM are read at all levels that must see them, through the others first. */
    private void arrives(Pair pair, Arrival arrival, int p, int writer, int copies) throws Exception
    {
        if (!arrival.before.isEmpty())
            for (String write : arrival.before.split("; "))
                pair.alike(clients.get(writer), about(write, p), ConsistencyLevel.ALL);
        becomesSkipped(pair.guarded(), p);
        becomesSkipped(pair.guarded(), p + 1);
        for (String write : arrival.writes)
        {
            pair.alike(clients.get(writer), about(write, p), ConsistencyLevel.QUORUM);
            for (int node = 1; node <= NODES; node++)
                for (ConsistencyLevel level : levels(copies))
                    for (String read : READS)
                        pair.alike(clients.get((writer + node) % NODES), about(read, p), level);
        }
        String last = arrival.writes.get(arrival.writes.size() - 1);
        assertEquals(last, 1, at(session, about("SELECT * FROM " + pair.guarded() + " WHERE p = :p", p), ConsistencyLevel.ALL));
    }

    private static String about(String cql, int p)
    {
        return cql.replace(":p", Integer.toString(p)).replace(":q", Integer.toString(p + 1));
    }

    private static List<ConsistencyLevel> levels(int copies)
    {
        return copies == 3 ? List.of(ConsistencyLevel.QUORUM, ConsistencyLevel.ALL)
                           : List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL);
    }

    /** Cells are gone with their column, which is dropped as of a time; when it is added and dropped again as of an earlier one, they are back. */
    @Test
    public void cellsThatAnEarlierDropBringsBackAreSeen() throws Exception
    {
        Pair pair = Pair.create(cluster, session, "x" + Math.min(3, NODES) + ".altered", "CREATE TABLE %s (p int, c int, v int, w int, PRIMARY KEY (p, c))",
                                "mode=safe bucket=16 learn_every=1 back_off=1");
        pair.alike(clients.get(0), "INSERT INTO %s (p, c, w) VALUES (1, 100, 1)", ConsistencyLevel.ALL);
        for (int p : new int[] { 1, 2 })
            for (int c : new int[] { 5, 6, 7 })
                pair.alike(clients.get(0), "UPDATE %s USING TIMESTAMP 70000 SET v = 1 WHERE p = " + p + " AND c = " + c, ConsistencyLevel.ALL);
        cluster.flush(pair.keyspace());
        alter(pair, "DROP v USING TIMESTAMP 100000");
        becomesKnown("reads_skipped", pair.guarded());
        String slice = "SELECT * FROM " + pair.guarded() + " WHERE p = 1 AND c < 100";
        becomesSkipped(pair.guarded(), 2);
        for (Session through : coordinators)
            Cluster.until("the slice is skipped", () ->
            {
                long before = counter(through, "reads_skipped");
                assertEquals(0, at(through, slice, ConsistencyLevel.ALL));
                return counter(through, "reads_skipped") > before;
            });
        alter(pair, "ADD v int");
        alter(pair, "DROP v USING TIMESTAMP 50000");
        alter(pair, "ADD v int");
        for (Client through : clients)
            for (ConsistencyLevel level : levels(3))
                for (String read : List.of("SELECT * FROM %s WHERE p = 2", "SELECT * FROM %s WHERE p = 1 AND c < 100", "SELECT * FROM %s WHERE p = 1 LIMIT 1"))
                    pair.alike(through, read, level);
        assertEquals("the store shows them", 3, at(session, "SELECT * FROM " + pair.stock() + " WHERE p = 2", ConsistencyLevel.ALL));
    }

    private static void alter(Pair pair, String change)
    {
        for (String table : List.of(pair.stock(), pair.guarded()))
            ddl("ALTER TABLE " + table + " " + change);
    }

    /** Each partition leaves one of its two nodes. */
    @Test
    public void cleanupChangesNoAnswer() throws Exception
    {
        Assume.assumeTrue("wants lacuna.nodes=3", NODES == 3);
        ddl("CREATE KEYSPACE cleaned WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}");
        Pair pair = pair("cleaned.t", "");
        for (int p = 0; p < PRESENT; p++)
            pair.alike(clients.get(p % NODES), about(INSERT, p), ConsistencyLevel.ALL);
        becomesKnown("reads_skipped", pair.guarded());
        cluster.flush("cleaned");
        answersPresentOnly(pair);
        ddl("ALTER KEYSPACE cleaned WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        answersPresentOnly(pair);
        long before = bytesOnDisk(pair);
        for (Node node : cluster.nodes)
            Upkeep.cleanUp(node, "cleaned");
        assertTrue("nothing was dropped", bytesOnDisk(pair) < before);
        answersPresentOnly(pair);
        becomesKnown("reads_skipped", pair.guarded());
        answersPresentOnly(pair);
    }

    private void answersPresentOnly(Pair pair)
    {
        for (Client through : clients)
            for (ConsistencyLevel level : levels(1))
                for (int p = 0; p < 2 * PRESENT; p++)
                {
                    Answer answer = pair.alike(through, about(READS.get(0), p), level);
                    assertEquals("key " + p, p < PRESENT ? 1 : 0, answer.rows().size());
                }
    }

    private static long bytesOnDisk(Pair pair)
    {
        return cluster.nodes.stream().mapToLong(node -> Upkeep.bytesOnDisk(node, pair.keyspace(), pair.name())).sum();
    }
}
