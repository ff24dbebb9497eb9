package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import com.datastax.driver.core.BoundStatement;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import org.junit.Test;

/** An {@code IN} of which some partitions are not there: the others alone are asked for, and the answer is stock's to the byte. */
public class ExchangedInTest extends WithFilters
{
    private static final String KEYSPACE = "x" + Math.min(3, NODES);
    private static final String CREATE = "CREATE TABLE %s (p int, c int, s int static, v int, PRIMARY KEY (p, c))";
    private static final String OPTIONS = "mode=safe bucket=16 learn_every=1 back_off=1";
    private static final List<ConsistencyLevel> LEVELS = List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL);
    private static final int ROWS = 8;
    private static final int FIRST = 3;
    private static final int SECOND = 5;
    /** Which has a static row alone. */
    private static final int STATIC = 7;
    /** What fills a page with nothing, with one row, with one partition, and with everything. */
    private static final int[] PAGES = { 1, 3, ROWS, ROWS + 1, 5_000, Request.UNPAGED };

    /** The marker is a partition that is there. */
    private static final List<String> LEFT_OUT = List.of(
        "SELECT * FROM %s WHERE p IN (2000001, ?, 2000002)",
        "SELECT * FROM %s WHERE p IN (?, 2000001, 5, 2000002, 7)",
        "SELECT p, c, s, v FROM %s WHERE p IN (2000001, ?) AND c > 1 AND c < 7",
        "SELECT v FROM %s WHERE p IN (?, 2000001) AND c = 1",
        "SELECT v FROM %s WHERE p IN (2000001, 5, ?) AND c IN (1, 4)",
        "SELECT JSON * FROM %s WHERE p IN (?, 2000001) LIMIT 6",
        "SELECT s FROM %s WHERE p IN (?, 2000001, 7) LIMIT 9",
        "SELECT * FROM %s WHERE p IN (2000001, ?, 2000002) AND v = 2 ALLOW FILTERING",
        "SELECT writetime(v), token(p) FROM %s WHERE p IN (2000001, ?, 2000001)");

    /** Of these all partitions are asked for. */
    private static final List<String> WHOLE = List.of(
        "SELECT * FROM %s WHERE p IN (?, 2000001) PER PARTITION LIMIT 2",
        "SELECT DISTINCT p, s FROM %s WHERE p IN (2000001, ?, 5)",
        "SELECT count(*) FROM %s WHERE p IN (2000001, ?)",
        "SELECT p, max(v) FROM %s WHERE p IN (2000001, ?) GROUP BY p");

    private final List<Client> clients = coordinators.stream().map(Client::new).collect(Collectors.toList());
    private int next;

    private Pair filled(String name) throws InterruptedException
    {
        Pair pair = Pair.create(cluster, session, KEYSPACE + "." + name, CREATE, OPTIONS);
        for (int p : new int[] { FIRST, SECOND })
            for (int c = 0; c < ROWS; c++)
                write(pair, "INSERT INTO %s (p, c, s, v) VALUES (" + p + ", " + c + ", " + p + ", " + c % 4 + ") USING TIMESTAMP 1000");
        write(pair, "INSERT INTO %s (p, s) VALUES (" + STATIC + ", 1) USING TIMESTAMP 1000");
        becomesKnown("reads_skipped", pair.guarded());
        return pair;
    }

    private void write(Pair pair, String cql)
    {
        pair.alike(clients.get(0), cql, ConsistencyLevel.ALL);
    }

    @Test
    public void partitionsThatAreNotThereAreLeftOut() throws Exception
    {
        Pair pair = filled("left_out");
        for (ConsistencyLevel level : LEVELS)
            for (int page : PAGES)
                for (boolean isPrepared : new boolean[] { false, true })
                    for (String cql : LEFT_OUT)
                        isLeftOut(pair, new Request(cql, new int[] { FIRST }, level, page, isPrepared));
    }

    /** A lease may have ended on a busy machine, hence more than once. */
    private void isLeftOut(Pair pair, Request request)
    {
        int node = next++ % NODES;
        for (int attempt = 0; attempt < 600; attempt++)
        {
            long before = counter(coordinators.get(node), "partitions_left_out");
            pair.alike(clients.get(node), request);
            if (counter(coordinators.get(node), "partitions_left_out") > before)
                return;
        }
        throw new AssertionError("nothing is left out of " + request);
    }

    /** Where a page might end a partition too, or rows of partitions are put together. */
    @Test
    public void otherShapesAreAskedForWhole() throws Exception
    {
        Pair pair = filled("whole");
        long before = everywhere("partitions_left_out");
        for (int page : PAGES)
            for (boolean isPrepared : new boolean[] { false, true })
                for (String cql : WHOLE)
                    pair.alike(clients.get(next++ % NODES), new Request(cql, new int[] { FIRST }, ConsistencyLevel.QUORUM, page, isPrepared));
        assertEquals(before, everywhere("partitions_left_out"));
    }

    @Test
    public void partitionsOfABoundListAreLeftOut() throws Exception
    {
        Pair pair = filled("bound");
        for (Session through : coordinators)
        {
            long before = counter(through, "partitions_left_out");
            for (int page : PAGES)
                for (List<Integer> keys : List.of(List.of(2_000_001, FIRST), List.of(SECOND, 2_000_001, FIRST, 2_000_002), List.of(FIRST)))
                    assertEquals(keys + ", page " + page, bound(through, pair.stock(), keys, page).named(pair.name() + "_stock", pair.name()),
                                 bound(through, pair.guarded(), keys, page).toString());
            assertTrue("through " + coordinators.indexOf(through), counter(through, "partitions_left_out") > before);
        }
    }

    private static Answer bound(Session through, String table, List<Integer> keys, int page)
    {
        BoundStatement read = through.prepare("SELECT * FROM " + table + " WHERE p IN ?").bind(keys);
        return Answer.of(through.executeAsync(read.setConsistencyLevel(ConsistencyLevel.QUORUM).setFetchSize(page)));
    }

    /** Each of them was left out a moment ago. */
    @Test
    public void aWrittenPartitionIsSeenThroughEveryCoordinator() throws Exception
    {
        Pair pair = filled("written");
        for (int p = 100; p < 140; p++)
        {
            Request read = new Request("SELECT * FROM %s WHERE p IN (?, 3)", new int[] { p }, ConsistencyLevel.QUORUM, 5_000, false);
            isLeftOut(pair, read);
            write(pair, "INSERT INTO %s (p, c, v) VALUES (" + p + ", 1, 1) USING TIMESTAMP 1000");
            for (Client through : clients)
                assertEquals(read.toString(), ROWS + 1, pair.alike(through, read).rows().size());
            // Deleted, it may be left out again, and is as absent.
            write(pair, "DELETE FROM %s USING TIMESTAMP 2000 WHERE p = " + p);
            assertEquals(read.toString(), ROWS, pair.alike(clients.get(p % NODES), read).rows().size());
        }
    }

    /** First the partition that was left out is written, then one that is read: who sees the second write sees the first. */
    @Test
    public void aPartitionThatIsWrittenMeanwhileIsNotMissed() throws Exception
    {
        Pair pair = filled("meanwhile");
        assertEquals(Set.of(FIRST, 200, 201), readWhileTheyAreWritten(pair, 200, 201));
        switchEverywhere(Flaw.MARKS_ARE_NOT_CONFIRMED, true);
        try
        {
            assertFalse("without a second look it is missed", readWhileTheyAreWritten(pair, 202, 203).contains(202));
        }
        finally
        {
            switchEverywhere(Flaw.MARKS_ARE_NOT_CONFIRMED, false);
        }
    }

    /** The partitions of an answer for which the coordinator had decided before any of the two was there. */
    private Set<Integer> readWhileTheyAreWritten(Pair pair, int one, int other)
    {
        Session through = coordinators.get(NODES - 1);
        String read = "SELECT p FROM " + pair.guarded() + " WHERE p IN (3, " + one + ", " + other + ")";
        becomesLeftOut(through, read);
        set(through, Flaw.NARROWED_READS_DO_NOT_BEGIN, true);
        ResultSetFuture running;
        try
        {
            running = through.executeAsync(new SimpleStatement(read).setConsistencyLevel(ConsistencyLevel.QUORUM));
            Cluster.until("it stands", () -> isAwaited(through, Flaw.NARROWED_READS_DO_NOT_BEGIN));
            for (int p : new int[] { one, other, FIRST })
                at(session, "INSERT INTO " + pair.guarded() + " (p, c, v) VALUES (" + p + ", 100, 1)", ConsistencyLevel.ALL);
        }
        finally
        {
            set(through, Flaw.NARROWED_READS_DO_NOT_BEGIN, false);
        }
        return running.getUninterruptibly().all().stream().map(row -> row.getInt(0)).collect(Collectors.toSet());
    }

    private static void becomesLeftOut(Session through, String read)
    {
        Cluster.until("something is left out", () ->
        {
            long before = counter(through, "partitions_left_out");
            at(through, read, ConsistencyLevel.QUORUM);
            return counter(through, "partitions_left_out") > before;
        });
    }
}
