package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import org.junit.After;
import org.junit.Test;

/** Partitions with dead rows at their ends: reads begin beyond them, and show what they would have shown. */
public class ExchangedHeadsTest extends WithFilters
{
    private static final List<ConsistencyLevel> LEVELS =
        List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL);
    private static final int ROWS = 60;
    private static final int FIRST = 20;
    private static final int LAST = 40;
    private static final int MAX_ATTEMPTS = 1_200;
    private static final int PERIOD_MILLIS = 4_000;

    @After
    public void noFlawIsLeft()
    {
        for (Flaw flaw : Flaw.values())
            switchEverywhere(flaw, false);
    }

    /** Sixty rows, of which twenty at each end are deleted one by one; what all nodes come to know of it. */
    private static String queue(int copies, String order)
    {
        String t = unguarded(copies) + "_q";
        ddl("CREATE TABLE " + t + " (p int, c int, d int, s int static, v int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c " + order
            + ", d ASC) AND comment = '" + TakingPart.comment("mode=safe bucket=16 learn_every=1") + "'");
        fillAndDelete(t, 1);
        return t;
    }

    private static void fillAndDelete(String t, int p)
    {
        each(0, ROWS, ConsistencyLevel.ALL, c -> "INSERT INTO " + t + " (p, c, d, v) VALUES (" + p + ", " + c + ", 0, " + c + ")");
        cluster.flush(t.substring(0, t.indexOf('.')));
        for (int c = 0; c < FIRST; c++)
        {
            delete(t, p, c);
            delete(t, p, ROWS - 1 - c);
        }
    }

    private static void delete(String t, int p, int c)
    {
        at(session, "DELETE FROM " + t + " WHERE p = " + p + " AND c = " + c + " AND d = 0", ConsistencyLevel.ALL);
    }

    private static String head(String t, int p, String order)
    {
        return "SELECT v FROM " + t + " WHERE p = " + p + " ORDER BY c " + order + " LIMIT 1";
    }

    private static int value(Session through, String query, ConsistencyLevel level)
    {
        var rows = through.execute(new SimpleStatement(query).setConsistencyLevel(level)).all();
        return rows.isEmpty() ? -1 : rows.get(0).getInt(0);
    }

    private static boolean isNarrowed(Session through, String query, int expected)
    {
        long before = counter(through, "reads_narrowed");
        assertEquals(query, expected, value(through, query, ConsistencyLevel.ONE));
        return counter(through, "reads_narrowed") > before;
    }

    /** Sampled reads teach it as deletions do; every replica has to prove it. */
    private static void becomesNarrowed(String query, int expected) throws InterruptedException
    {
        for (Session through : coordinators)
            for (int attempt = 0; !isNarrowed(through, query, expected); attempt++)
            {
                assertTrue("never narrowed through " + coordinators.indexOf(through) + ": " + query + known(), attempt < MAX_ATTEMPTS);
                at(through, query, ConsistencyLevel.ALL);
                Thread.sleep(50);
            }
    }

    private static String known()
    {
        return coordinators.stream().map(node -> "\n" + node.execute("SELECT * FROM lacuna.counters").all() + node.execute("SELECT * FROM lacuna.switches").all())
                           .collect(Collectors.joining());
    }

    private static void becomeNarrowed(String t, int p) throws InterruptedException
    {
        becomesNarrowed(head(t, p, "ASC"), FIRST);
        becomesNarrowed(head(t, p, "DESC"), LAST - 1);
    }

    private static String all(Session through, String query, ConsistencyLevel level, int page)
    {
        return through.execute(new SimpleStatement(query).setConsistencyLevel(level).setFetchSize(page)).all().stream()
                      .map(Object::toString).collect(Collectors.joining(" "));
    }

    @Test
    public void readsBeginAtTheFirstLiveRowInEitherOrder() throws InterruptedException
    {
        for (String order : List.of("ASC", "DESC"))
        {
            String t = queue(3, order);
            becomeNarrowed(t, 1);
            at(session, "INSERT INTO " + t + " (p, s) VALUES (1, 7)", ConsistencyLevel.ALL);
            for (String shape : List.of("SELECT * FROM %s WHERE p = 1", "SELECT c, v FROM %s WHERE p = 1 AND c >= 0 LIMIT 3",
                                        "SELECT c, v FROM %s WHERE p = 1 AND c < 59 ORDER BY c DESC LIMIT 3", "SELECT s, count(*), max(v) FROM %s WHERE p = 1",
                                        "SELECT JSON c, s FROM %s WHERE p = 1 AND c > 5 AND c < 45", "SELECT DISTINCT p, s FROM %s WHERE p = 1",
                                        "SELECT c, count(*) FROM %s WHERE p = 1 GROUP BY p, c LIMIT 2", "SELECT v FROM %s WHERE p = 1 AND v > 30 LIMIT 1 ALLOW FILTERING",
                                        "SELECT v FROM %s WHERE p = 1 AND (c, d) > (3, 0) AND (c, d) <= (44, 0)", "SELECT v FROM %s WHERE p = 1 PER PARTITION LIMIT 2"))
                for (ConsistencyLevel level : LEVELS)
                    for (int page : new int[] { 5_000, 3 })
                        for (Session through : coordinators)
                            isStocks(through, String.format(shape, t), level, page);
        }
    }

    /** The request's own option is the stock way. */
    private static void isStocks(Session through, String query, ConsistencyLevel level, int page)
    {
        SimpleStatement stock = new SimpleStatement(query);
        stock.setOutgoingPayload(java.util.Map.of("lacuna", java.nio.ByteBuffer.wrap("off".getBytes(java.nio.charset.StandardCharsets.UTF_8))));
        stock.setConsistencyLevel(level).setFetchSize(page);
        String expected = through.execute(stock).all().stream().map(Object::toString).collect(Collectors.joining(" "));
        assertEquals(query + " at " + level + ", page " + page, expected, all(through, query, level, page));
    }

    /** Of both ends, and behind it what ends nothing. */
    @Test
    public void rowUnderAMarkIsSeenThroughEveryCoordinator() throws InterruptedException
    {
        for (int copies : new int[] { 1, 3 })
        {
            String t = queue(copies, "ASC");
            for (int round = 0; round < 4; round++)
            {
                int c = round % 2 == 0 ? round : ROWS - 1 - round;
                becomeNarrowed(t, 1);
                int at = round;
                at(coordinators.get(round % NODES), "INSERT INTO " + t + " (p, c, d, v) VALUES (1, " + c + ", 0, " + c + ")", ConsistencyLevel.QUORUM);
                for (Session through : coordinators)
                    assertEquals("round " + at + " through " + coordinators.indexOf(through), c,
                                 value(through, head(t, 1, round % 2 == 0 ? "ASC" : "DESC"), ConsistencyLevel.QUORUM));
                delete(t, 1, c);
            }
        }
    }

    /** The queue's only row is put back at its head while a read of the head is under way: at no moment is the queue empty. */
    @Test
    public void aRowThatMovesUnderTheMarkIsNotMissed() throws InterruptedException
    {
        String t = queue(3, "ASC");
        for (int p : new int[] { 2, 3 })
        {
            fillAndDelete(t, p);
            for (int c = FIRST; c < LAST - 1; c++)
                delete(t, p, c);
            becomesNarrowed(head(t, p, "ASC"), LAST - 1);
        }
        assertEquals("the row", 5, headWhileItMoves(t, 2));
        switchEverywhere(Flaw.MARKS_ARE_NOT_CONFIRMED, true);
        assertEquals("without a second look it is missed", -1, headWhileItMoves(t, 3));
    }

    private static int headWhileItMoves(String t, int p)
    {
        Session through = coordinators.get(NODES - 1);
        long before = counter(through, "reads_narrowed") + counter(through, "reads_repeated");
        set(through, Flaw.NARROWED_READS_DO_NOT_BEGIN, true);
        ResultSetFuture read;
        try
        {
            read = through.executeAsync(new SimpleStatement(head(t, p, "ASC")).setConsistencyLevel(ConsistencyLevel.QUORUM));
            Cluster.until("it stands", () -> isAwaited(through, Flaw.NARROWED_READS_DO_NOT_BEGIN));
            at(session, "BEGIN UNLOGGED BATCH DELETE FROM " + t + " WHERE p = " + p + " AND c = " + (LAST - 1) + " AND d = 0; INSERT INTO " + t
                        + " (p, c, d, v) VALUES (" + p + ", 5, 0, 5); APPLY BATCH", ConsistencyLevel.ALL);
        }
        finally
        {
            set(through, Flaw.NARROWED_READS_DO_NOT_BEGIN, false);
        }
        var rows = read.getUninterruptibly().all();
        assertEquals("it was narrowed", before + 1, counter(through, "reads_narrowed") + counter(through, "reads_repeated"));
        return rows.isEmpty() ? -1 : rows.get(0).getInt(0);
    }

    /** Range deletions, expiry and conditional writes at the head. */
    @Test
    public void whateverIsWrittenAtTheHeadIsSeen() throws InterruptedException
    {
        String t = queue(3, "ASC");
        at(session, "DELETE FROM " + t + " WHERE p = 1 AND c < 30", ConsistencyLevel.ALL);
        becomesNarrowed(head(t, 1, "ASC"), 30);
        at(session, "INSERT INTO " + t + " (p, c, d, v) VALUES (1, 3, 0, 3) IF NOT EXISTS", ConsistencyLevel.QUORUM);
        seenEverywhere(t, 3);
        at(session, "DELETE FROM " + t + " WHERE p = 1 AND c = 3 AND d = 0 IF EXISTS", ConsistencyLevel.QUORUM);
        becomesNarrowed(head(t, 1, "ASC"), 30);
        at(session, "INSERT INTO " + t + " (p, c, d, v) VALUES (1, 4, 0, 4) USING TTL 3", ConsistencyLevel.ALL);
        Cluster.until("it has expired", () -> value(session, head(t, 1, "ASC"), ConsistencyLevel.ALL) == 30);
        at(session, "INSERT INTO " + t + " (p, c, d, v) VALUES (1, 5, 0, 5) USING TIMESTAMP 1000", ConsistencyLevel.ALL);
        seenEverywhere(t, 30);
        at(session, "UPDATE " + t + " SET v = 6 WHERE p = 1 AND c = 6 AND d = 0", ConsistencyLevel.ALL);
        seenEverywhere(t, 6);
        at(session, "DELETE FROM " + t + " WHERE p = 1", ConsistencyLevel.ALL);
        seenEverywhere(t, -1);
    }

    private static void seenEverywhere(String t, int expected)
    {
        for (Session through : coordinators)
            for (ConsistencyLevel level : List.of(ConsistencyLevel.QUORUM, ConsistencyLevel.ALL))
                assertEquals(expected, value(through, head(t, 1, "ASC"), level));
    }

    /** A row that arrives with an SSTable, under the mark. */
    @Test
    public void importedRowsUnderAMarkAreSeen() throws InterruptedException
    {
        String t = queue(1, "ASC");
        String source = t + "_source";
        ddl("CREATE TABLE " + source + " (p int, c int, d int, s int static, v int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c ASC, d ASC)");
        becomesNarrowed(head(t, 1, "ASC"), FIRST);
        at(session, "INSERT INTO " + source + " (p, c, d, v) VALUES (1, 2, 0, 2)", ConsistencyLevel.ALL);
        cluster.flush("x1");
        cluster.nodes.get(holder(t, 1)).importSstables("x1", source.substring(3), t.substring(3));
        // It was written after the deletion.
        seenEverywhere(t, 2);
    }

    /**
     * The mark covers a live row of an SSTable that is being imported and has not been read yet. A proof that begins where the mark
     * ends, and counts only after the row has ended the mark, must not enter it again.
     */
    @Test
    public void aProofThatReliesOnAMarkEndsWithIt() throws Exception
    {
        String t = queue(1, "ASC");
        String source = t + "_source";
        ddl("CREATE TABLE " + source + " (p int, c int, d int, s int static, v int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c ASC, d ASC)");
        becomesNarrowed(head(t, 1, "ASC"), FIRST);
        at(session, "INSERT INTO " + source + " (p, c, d, v) VALUES (1, 2, 0, 2)", ConsistencyLevel.ALL);
        cluster.flush("x1");
        int holder = holder(t, 1);
        Session own = coordinators.get(holder);
        FutureTask<Void> arrives = new FutureTask<>(() -> cluster.nodes.get(holder).importSstables("x1", source.substring(3), t.substring(3)), null);
        try
        {
            set(own, Flaw.LOADS_DO_NOT_BEGIN, true);
            new Thread(arrives).start();
            Cluster.until("the SSTable is there", () -> isAwaited(own, Flaw.LOADS_DO_NOT_BEGIN));
            set(own, Flaw.PROOFS_DO_NOT_END, true);
            at(session, IntStream.range(FIRST, FIRST + 5).mapToObj(c -> "DELETE FROM " + t + " WHERE p = 1 AND c = " + c + " AND d = 0;")
                                 .collect(Collectors.joining(" ", "BEGIN UNLOGGED BATCH ", " APPLY BATCH")), ConsistencyLevel.ALL);
            Cluster.until("rows beyond the mark were read", () -> isAwaited(own, Flaw.PROOFS_DO_NOT_END));
            set(own, Flaw.LOADS_DO_NOT_BEGIN, false);
            arrives.get();
            seenEverywhere(t, 2);
        }
        finally
        {
            set(own, Flaw.LOADS_DO_NOT_BEGIN, false);
            set(own, Flaw.PROOFS_DO_NOT_END, false);
        }
        Cluster.until("the proofs have ended", () -> counter(own, "proofs_waiting") == 0 && !isAwaited(own, Flaw.PROOFS_DO_NOT_END));
        for (int round = 0; round < 100; round++)
            seenEverywhere(t, 2);
    }

    /** The key is a function of the time: at the decision it names a partition with a mark, and when replicas are asked another one. */
    @Test
    public void aMarkIsOfThePartitionThatIsRead() throws InterruptedException
    {
        String t = unguarded(3) + "_clock";
        ddl("CREATE TABLE " + t + " (p bigint, c int, d int, v int, PRIMARY KEY (p, c, d)) WITH comment = '"
            + TakingPart.comment("mode=safe bucket=16 learn_every=1 back_off=1") + "'");
        fillAndDelete(t, 0);
        at(session, "INSERT INTO " + t + " (p, c, d, v) VALUES (1, 5, 0, 5)", ConsistencyLevel.ALL);
        becomesNarrowed(head(t, 0, "ASC"), FIRST);
        for (Session through : coordinators)
            assertEquals(5, headOfTheNextPeriod(t, through));
    }

    private static long period()
    {
        return System.currentTimeMillis() / PERIOD_MILLIS % 2;
    }

    private static int headOfTheNextPeriod(String t, Session through)
    {
        String query = "SELECT v FROM " + t + " WHERE p = to_unix_timestamp(now()) / " + PERIOD_MILLIS + " % 2 LIMIT 1";
        for (int attempt = 0; attempt < 20; attempt++)
        {
            Cluster.until("the second period", () -> period() == 1);
            Cluster.until("the first period", () -> period() == 0);
            ResultSetFuture read;
            boolean[] stands = { false };
            try
            {
                set(through, Flaw.NARROWED_READS_DO_NOT_BEGIN, true);
                read = through.executeAsync(new SimpleStatement(query).setConsistencyLevel(ConsistencyLevel.QUORUM));
                ResultSetFuture running = read;
                Cluster.until("it stands, or is over", () -> (stands[0] = isAwaited(through, Flaw.NARROWED_READS_DO_NOT_BEGIN)) || running.isDone());
                Cluster.until("the second period", () -> period() == 1);
            }
            finally
            {
                set(through, Flaw.NARROWED_READS_DO_NOT_BEGIN, false);
            }
            var rows = read.getUninterruptibly().all();
            if (stands[0])
                return rows.isEmpty() ? -1 : rows.get(0).getInt(0);
        }
        throw new AssertionError("never narrowed: " + query + known());
    }

    /** A long queue: more dead rows than one proof reads. */
    @Test
    public void aMarkGrowsFromProofToProof() throws InterruptedException
    {
        String t = unguarded(1) + "_long";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c)) WITH comment = '"
            + TakingPart.comment("mode=safe bucket=16 learn_every=1 rows=100") + "'");
        at(session, IntStream.range(0, 1_000).mapToObj(c -> "INSERT INTO " + t + " (p, c, v) VALUES (1, " + c + ", " + c + ");")
                             .collect(Collectors.joining(" ", "BEGIN UNLOGGED BATCH ", " APPLY BATCH")), ConsistencyLevel.ALL);
        for (int from = 0; from < 990; from += 110)
        {
            int first = from;
            at(session, IntStream.range(first, first + 110).mapToObj(c -> "DELETE FROM " + t + " WHERE p = 1 AND c = " + c + ";")
                                 .collect(Collectors.joining(" ", "BEGIN UNLOGGED BATCH ", " APPLY BATCH")), ConsistencyLevel.ALL);
        }
        becomesNarrowed("SELECT v FROM " + t + " WHERE p = 1 LIMIT 1", 990);
        // A slice within, which ends at no border of a bucket.
        String within = "SELECT v FROM " + t + " WHERE p = 1 AND c > 3 AND c < 601";
        for (Session through : coordinators)
            Cluster.until("a slice under the mark is skipped", () ->
            {
                long before = counter(through, "reads_skipped");
                assertEquals(0, at(through, within, ConsistencyLevel.ONE));
                return counter(through, "reads_skipped") > before;
            });
        assertTrue(counter(coordinators.get(holder(t, 1)), "water_marks_proven") > 1);
    }
}
