package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Collectors;

import com.datastax.driver.core.BoundStatement;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.DriverException;
import com.datastax.driver.core.policies.FallthroughRetryPolicy;
import org.junit.Test;

/** What a coordinator answers from memory has the shape, to the byte, that the store gives it without the comment. */
public class ExchangedShapesTest extends WithFilters
{
    private static final String KEYSPACE = "x" + Math.min(2, NODES);
    private static final String CREATE =
        "CREATE TABLE %s (p int, c int, s int static, v int, w text, l list<int>, z set<int>, m map<text, int>, "
        + "fl frozen<list<int>>, u " + KEYSPACE + ".both, fu frozen<" + KEYSPACE + ".both>, tu tuple<int, text>, "
        + "ve vector<float, 3>, secret text MASKED WITH DEFAULT, initials text MASKED WITH mask_inner(1, 1), PRIMARY KEY (p, c))";
    private static final String ROW =
        "INSERT INTO %%s (p, c, s, v, w, l, z, m, fl, u, fu, tu, ve, secret, initials) "
        + "VALUES (%d, %d, 1, 2, 'w', [3], {4}, {'a': 5}, [6], {a: 7, b: 'u'}, {a: 8, b: 'f'}, "
        + "(9, 't'), [1, 2, 3], 'secret', 'initials')";
    private static final String WHERE = " FROM %s WHERE p = ?";

    /** Answered from memory where no node holds the partition. */
    private static final List<String> PLAIN = List.of(
        "SELECT *" + WHERE,
        "SELECT JSON *" + WHERE,
        "SELECT JSON p, v AS value, u" + WHERE,
        "SELECT DISTINCT p" + WHERE,
        "SELECT DISTINCT p, s AS static" + WHERE,
        "SELECT p AS partition, v AS \"Value\", w AS w" + WHERE,
        "SELECT u, fu, u.a, fu.b, tu" + WHERE,
        "SELECT l, z, m, fl, m['a'], m['a'..'c'], z[4]" + WHERE,
        "SELECT ve, similarity_cosine(ve, [1, 2, 3])" + WHERE,
        "SELECT secret, initials, p" + WHERE,
        "SELECT count(*)" + WHERE,
        "SELECT count(v), max(v), min(w), avg(v), sum(v), max(secret)" + WHERE,
        "SELECT max(c), writetime(v), w" + WHERE,
        "SELECT ttl(v), writetime(v), maxwritetime(m), ttl(s), ttl(m)" + WHERE,
        "SELECT CAST(v AS text), CAST(avg(v) AS double)" + WHERE,
        "SELECT to_json(u), token(p), v + 1, -v, int_as_blob(v), (int) 5" + WHERE,
        "SELECT map_keys(m), collection_count(l), collection_max(l)" + WHERE,
        "SELECT mask_inner(w, 1, 1), mask_default(v)" + WHERE,
        "SELECT p, c, count(v)" + WHERE + " GROUP BY p, c",
        "SELECT p, max(v)" + WHERE + " GROUP BY p",
        "SELECT c, sum(v) AS total" + WHERE + " GROUP BY c LIMIT 3",
        "SELECT *" + WHERE + " PER PARTITION LIMIT 2",
        "SELECT v" + WHERE + " LIMIT 3",
        "SELECT v, c" + WHERE + " ORDER BY c DESC LIMIT 2",
        "SELECT *" + WHERE + " AND c = 1",
        "SELECT v" + WHERE + " AND c > 1 AND c < 5",
        "SELECT v" + WHERE + " AND c IN (1, 2)",
        "SELECT v" + WHERE + " AND (c) >= (1)",
        "SELECT *" + WHERE + " AND v = 2 ALLOW FILTERING",
        "SELECT c" + WHERE + " AND l CONTAINS 3 ALLOW FILTERING",
        "SELECT * FROM %s WHERE p IN (?, 2000001)",
        "SELECT p, c, s FROM %s WHERE p IN (2000001, ?, 2000002) AND c > 2 LIMIT 3",
        "SELECT JSON c FROM %s WHERE p IN (?, 2000001) PER PARTITION LIMIT 1");

    /** What the store does in any case. */
    private static final List<String> ASKED = List.of(
        "SELECT count(*) FROM %s WHERE p IN (?, 2000001)",
        "SELECT v FROM %s WHERE p IN (?, 2000001) ORDER BY c",
        "SELECT * FROM %s WHERE token(p) = token(?)",
        "SELECT * FROM %s WHERE p = ? AND p = 1",
        "SELECT nothing" + WHERE,
        "SELECT v" + WHERE + " AND v = 2",
        "SELECT v" + WHERE + " GROUP BY v",
        "SELECT v" + WHERE + " AND c = 'word'");

    /** Markers besides that of the partition. */
    private static final List<String> MARKED = List.of(
        "SELECT v" + WHERE + " LIMIT ?",
        "SELECT v" + WHERE + " PER PARTITION LIMIT ?",
        "SELECT v" + WHERE + " AND c = ?",
        "SELECT *" + WHERE + " AND c > ?",
        "SELECT count(*)" + WHERE + " AND c < ?",
        "SELECT * FROM %s WHERE p IN (?, ?)");

    private static final int ABSENT = 1;
    private static final int DEAD = 2;
    private static final int PRESENT_ONE = 3;

    private final List<Client> clients = coordinators.stream().map(Client::new).collect(Collectors.toList());
    private int next;

    @Test
    public void absentAndDeadPartitionsHaveStocksShape() throws Exception
    {
        ddl("CREATE TYPE " + KEYSPACE + ".both (a int, b text)");
        Pair pair = Pair.create(cluster, session, KEYSPACE + ".shapes", CREATE, "mode=safe learn_every=1");
        for (int p : new int[] { DEAD, PRESENT_ONE })
            for (int c = 0; c < 8; c++)
                pair.alike(clients.get(0), String.format(ROW + " USING TIMESTAMP 1000", p, c), ConsistencyLevel.ALL);
        pair.alike(clients.get(0), "DELETE FROM %s WHERE p = " + DEAD, ConsistencyLevel.ALL);
        becomesKnown("reads_skipped", pair.guarded());
        becomesSkipped(pair.guarded(), DEAD);
        for (ConsistencyLevel level : List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM))
        {
            for (int p : new int[] { ABSENT, DEAD, PRESENT_ONE })
                areAlike(pair, p, level);
            for (String cql : PLAIN)
                for (int p : new int[] { ABSENT, DEAD })
                    for (boolean isPrepared : new boolean[] { false, true })
                        isSkipped(pair, request(cql, level, isPrepared, p));
        }
    }

    /** A tuple of one byte: the store fails at it, and so it does here; nothing is switched off. */
    @Test
    public void malformedValuesAreStocksToRefuse() throws Exception
    {
        Pair pair = Pair.create(cluster, session, KEYSPACE + ".malformed", "CREATE TABLE %s (p int, c int, d int, v int, PRIMARY KEY (p, c, d))",
                                "mode=safe bucket=16 learn_every=1 back_off=1");
        becomesKnown("reads_skipped", pair.guarded());
        for (String where : List.of("(c, d) > ?", "(c, d) = ?"))
            assertEquals(where, refusal(pair.stock(), where), refusal(pair.guarded(), where));
        stillActiveOnEveryNode();
        becomesKnown("reads_skipped", pair.guarded());
    }

    /** Through a session of its own, since the driver closes its connections at such an error. */
    private static String refusal(String table, String where)
    {
        try (var driver = cluster.driver(cluster.nodes.get(0)); Session through = driver.connect())
        {
            BoundStatement read = through.prepare("SELECT v FROM " + table + " WHERE p = 1 AND " + where).bind();
            read.setBytesUnsafe(0, ByteBuffer.wrap(new byte[1])).setRetryPolicy(FallthroughRetryPolicy.INSTANCE);
            return "answered: " + through.execute(read).all();
        }
        catch (DriverException refused)
        {
            return refused.getClass().getName() + ": " + refused.getMessage();
        }
    }

    private void areAlike(Pair pair, int p, ConsistencyLevel level)
    {
        for (String cql : PLAIN)
            for (boolean isPrepared : new boolean[] { false, true })
                pair.alike(client(), request(cql, level, isPrepared, p));
        for (String cql : ASKED)
            pair.alike(client(), request(cql, level, false, p));
        for (String cql : MARKED)
            for (boolean isPrepared : new boolean[] { false, true })
                for (int value = 1; value < 4; value += 2)
                    pair.alike(client(), request(cql, level, isPrepared, p, value));
        Answer there = pair.alike(client(), request(PLAIN.get(0), level, true, p));
        assertEquals(p == PRESENT_ONE ? 8 : 0, there.rows().size());
    }

    /** Prepared ones in pages. */
    private static Request request(String cql, ConsistencyLevel level, boolean isPrepared, int... values)
    {
        return new Request(cql, values, level, isPrepared ? 5 : Request.UNPAGED, isPrepared);
    }

    private Client client()
    {
        return clients.get(next++ % NODES);
    }

    /** A lease may have ended on a busy machine, hence more than once. */
    private void isSkipped(Pair pair, Request request)
    {
        int node = next++ % NODES;
        for (int attempt = 0; attempt < 600; attempt++)
        {
            long before = counter(coordinators.get(node), "reads_skipped");
            pair.alike(clients.get(node), request);
            if (counter(coordinators.get(node), "reads_skipped") > before)
                return;
        }
        throw new AssertionError("never skipped: " + request);
    }

    /** A view has partitions of its own, of which no filter knows. */
    @Test
    public void viewsAreReadTheStockWay() throws Exception
    {
        Pair base = Pair.create(cluster, session, KEYSPACE + ".based",
                                "CREATE TABLE %s (p int, c int, v int, PRIMARY KEY (p, c))", "mode=safe");
        Pair view = new Pair(KEYSPACE + ".viewed");
        view(view.stock(), base.stock());
        view(view.guarded(), base.guarded());
        becomesKnown("reads_skipped", base.guarded());
        long before = everywhere("reads_skipped");
        for (int v = 0; v < 2 * PRESENT; v++)
            assertEquals(0, view.alike(client(), "SELECT * FROM %s WHERE v = " + v, ConsistencyLevel.ONE).rows().size());
        assertEquals("reads of the view", before, everywhere("reads_skipped"));
        for (int v = 0; v < PRESENT; v++)
        {
            String write = String.format("INSERT INTO %%s (p, c, v) VALUES (%d, 1, %d)", 1_000 + v, v);
            base.alike(client(), write, ConsistencyLevel.ALL);
        }
        for (int v = 0; v < PRESENT; v++)
        {
            assertEquals(1, base.alike(client(), "SELECT * FROM %s WHERE p = " + (1_000 + v), ConsistencyLevel.ONE).rows().size());
            comes(view, v);
        }
    }

    private static void view(String view, String base)
    {
        ddl("CREATE MATERIALIZED VIEW " + view + " AS SELECT * FROM " + base
            + " WHERE p IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, p, c)");
    }

    private static boolean isThere(String read)
    {
        return at(session, read, ConsistencyLevel.ALL) == 1
               && coordinators.stream().allMatch(node -> at(node, read, ConsistencyLevel.ONE) == 1);
    }

    /** Views follow their tables later; through every node. */
    private void comes(Pair view, int v)
    {
        String read = "SELECT * FROM %s WHERE v = " + v;
        for (String table : new String[] { view.stock(), view.guarded() })
            Cluster.until("it is in the view", () -> isThere(String.format(read, table)));
        for (Client through : clients)
            assertEquals(1, view.alike(through, read, ConsistencyLevel.ONE).rows().size());
    }
}
