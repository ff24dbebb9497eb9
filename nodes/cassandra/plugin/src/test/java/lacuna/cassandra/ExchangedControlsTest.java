package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.function.Consumer;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import org.junit.After;
import org.junit.Assume;
import org.junit.Before;
import org.junit.Test;

/**
 * A node receives nothing any more, and relies on what it knew until its lease ends. Meanwhile a client writes a row at
 * another node and gets the acknowledgement, or a client reads it before: then the deaf node must not deny it. Each rule
 * that sees to this is taken back once, and then it does.
 */
public class ExchangedControlsTest extends WithFilters
{
    private static final int ROUNDS = 2;
    /** Until a flaw shows: the deaf node's lease may end before it is asked. */
    private static final int MAX_ROUNDS = 60;
    private static final String ALL_OF = "SELECT * FROM %s WHERE p = %d";
    private static final String NEW_ROW = "SELECT * FROM %s WHERE p = %d AND c = 9";
    /** From row to row, in buckets of 16: the new row is beside one that was there, in a bucket that is known in part. */
    private static final String GAP = "SELECT * FROM %s WHERE p = %d AND c > 3 AND c < 40";
    /** Rows from the first of all on, none of which is alive. */
    private static final String HEAD = "SELECT * FROM %s WHERE p = %d AND c < 19";
    /** No read: the write's acknowledgement says that the row is there. */
    private static final String NOTHING = null;
    private static final String SCAN = "SELECT * FROM %1$s WHERE token(p) >= token(%2$d) AND token(p) <= token(%2$d)";

    private static int changes;

    @Before
    public void severalNodes()
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
    }

    @After
    public void noFlawIsLeft()
    {
        for (Flaw flaw : Flaw.values())
            switchEverywhere(flaw, false);
    }

    @Test
    public void whatWasAcknowledgedIsNotDenied() throws Exception
    {
        staysTrue(Flaw.ACKNOWLEDGEMENTS_DO_NOT_WAIT, table(NOTHING, false));
    }

    @Test
    public void whatWasAcknowledgedOfATableThatEndedItsPartIsNotDenied() throws Exception
    {
        waitsForSchemas();
        staysTrue(Flaw.ACKNOWLEDGEMENTS_DO_NOT_WAIT, table(NOTHING, true));
    }

    @Test
    public void whatAReadHasShownIsNotDenied() throws Exception
    {
        staysTrue(Flaw.READS_DO_NOT_WAIT, table(ALL_OF, false));
    }

    @Test
    public void whatAScanHasShownIsNotDenied() throws Exception
    {
        staysTrue(Flaw.SCANS_DO_NOT_WAIT, table(SCAN, false));
    }

    @Test
    public void whatAReadHasShownOfATableThatEndedItsPartIsNotDenied() throws Exception
    {
        waitsForSchemas();
        staysTrue(Flaw.DROPPED_DO_NOT_WAIT, table(ALL_OF, true));
    }

    @Test
    public void whatAScanHasShownOfATableThatEndedItsPartIsNotDenied() throws Exception
    {
        waitsForSchemas();
        staysTrue(Flaw.SCANS_DO_NOT_WAIT, table(SCAN, true));
    }

    @Test
    public void whatWasAcknowledgedInAGapIsNotDenied() throws Exception
    {
        staysTrue(Flaw.ACKNOWLEDGEMENTS_DO_NOT_WAIT, gap(NOTHING));
    }

    @Test
    public void whatAReadHasShownInAGapIsNotDenied() throws Exception
    {
        staysTrue(Flaw.READS_DO_NOT_WAIT, gap(NEW_ROW));
    }

    @Test
    public void whatWasAcknowledgedUnderAWaterMarkIsNotDenied() throws Exception
    {
        staysTrue(Flaw.ACKNOWLEDGEMENTS_DO_NOT_WAIT, head(NOTHING));
    }

    @Test
    public void whatAReadHasShownUnderAWaterMarkIsNotDenied() throws Exception
    {
        staysTrue(Flaw.READS_DO_NOT_WAIT, head(NEW_ROW));
    }

    @Test
    public void whatAStreamHasBroughtIntoATableWithAViewIsNotDenied() throws Exception
    {
        staysTrue(Flaw.ACKNOWLEDGEMENTS_DO_NOT_WAIT,
                  stream(t -> ddl("CREATE MATERIALIZED VIEW " + t + "_view AS SELECT p, c, v FROM " + t
                                  + " WHERE v IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, p, c)")));
    }

    @Test
    public void whatAStreamHasBroughtIntoATableWithChangeDataCaptureIsNotDenied() throws Exception
    {
        staysTrue(Flaw.ACKNOWLEDGEMENTS_DO_NOT_WAIT, stream(t -> ddl("ALTER TABLE " + t + " WITH cdc = true")));
    }

    /** Each round makes a node miss a schema, which takes it a second or two to get. */
    private static void waitsForSchemas()
    {
        Assume.assumeTrue("a long test", Integer.getInteger("lacuna.checks", 0) > 0);
    }

    private interface Round
    {
        boolean isDenied() throws Exception;
    }

    private static void staysTrue(Flaw control, Round round) throws Exception
    {
        for (int i = 0; i < ROUNDS; i++)
            assertFalse("denied what was shown", round.isDenied());
        switchEverywhere(control, true);
        int rounds = 1;
        while (!round.isDenied())
            assertTrue("never denied, although " + control, rounds++ < MAX_ROUNDS);
        System.out.printf("control %s: denied in round %d%n", control.shown(), rounds);
    }

    /** Rounds on one table, or each on one that ends its part. */
    private static Round table(String look, boolean isDropped)
    {
        String[] table = { guarded(1, "safe") };
        int[] next = { 0 };
        return () ->
        {
            boolean isDenied = isDenied(table[0], next[0]++, ALL_OF, 1, look, isDropped);
            if (isDropped)
                table[0] = guarded(1, "safe");
            return isDenied;
        };
    }

    /** Rounds on one table, each on another partition with a gap between its rows. */
    private static Round gap(String look)
    {
        String t = unguarded(1);
        ddl(TakingPart.begin(t, "mode=safe bucket=16 back_off=1"));
        int[] next = { 0 };
        return () ->
        {
            int p = next[0]++;
            for (int c : new int[] { 3, 40 })
                at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + c + ", 1)", ConsistencyLevel.ALL);
            return isDenied(t, p, GAP, 9, look, false);
        };
    }

    /** The same with rows that were deleted one by one before the first live one. */
    private static Round head(String look)
    {
        String t = unguarded(1);
        ddl(TakingPart.begin(t, "mode=safe bucket=16 learn_every=1 back_off=1"));
        int[] next = { 0 };
        return () ->
        {
            int p = next[0]++;
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 40, 1)", ConsistencyLevel.ALL);
            for (int c = 0; c < 20; c++)
                at(session, "DELETE FROM " + t + " WHERE p = " + p + " AND c = " + c, ConsistencyLevel.ALL);
            return isDenied(t, p, HEAD, 9, look, false);
        };
    }

    /** Rounds on one table that makes Cassandra apply streams as writes: each brings another partition by a stream. */
    private static Round stream(Consumer<String> asWrites)
    {
        String t = guarded(1, "safe");
        asWrites.accept(t);
        String source = unguarded(1);
        int[] next = { 0 };
        return () ->
        {
            int p = next[0]++;
            insert(session, source, p);
            int holder = holder(t, p);
            cluster.nodes.get(holder).flush("x1");
            String question = String.format(ALL_OF, t, p);
            Session deaf = coordinators.get((holder + 1) % NODES);
            Cluster.until("the absent key is skipped", () -> isSkipped(deaf, question));
            set(deaf, Flaw.DEAF, true);
            long before = counter(coordinators.get(holder), "sstables_loaded");
            cluster.nodes.get((holder + NODES - 1) % NODES).stream(cluster.nodes.get(holder), "x1", source.substring(3), t.substring(3));
            assertEquals("it was applied as writes", before, counter(coordinators.get(holder), "sstables_loaded"));
            boolean isDenied = at(deaf, question, ConsistencyLevel.ONE) == 0;
            set(deaf, Flaw.DEAF, false);
            // Its holder was not deaf. The others may deny it for a while under a control.
            assertEquals("the stream has brought it", 1, at(coordinators.get(holder), question, ConsistencyLevel.ONE));
            return isDenied;
        };
    }

    private static boolean isSkipped(Session through, String question)
    {
        long before = counter(through, "reads_skipped");
        assertEquals(0, at(through, question, ConsistencyLevel.ONE));
        return counter(through, "reads_skipped") > before;
    }

    private static boolean isDenied(String t, int p, String absent, int c, String look, boolean isDropped)
    {
        String question = String.format(absent, t, p);
        int holder = holder(t, p);
        Session deaf = coordinators.get((holder + 1) % NODES);
        // The holder shows it itself, or to the third; or that one writes it there.
        Session first = coordinators.get(p % 2 == 0 ? holder : (holder + NODES - 1) % NODES);
        Cluster.until("the absent key is skipped", () -> isSkipped(deaf, question));
        set(deaf, Flaw.DEAF, true);
        ResultSetFuture drop = isDropped ? drop(t, coordinators.get(holder)) : null;
        Session writer = look == NOTHING ? first : coordinators.get(holder);
        ResultSetFuture write = writer.executeAsync("INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + c + ", 1)");
        if (look == NOTHING)
            write.getUninterruptibly();
        else
            Cluster.until("it is seen", () -> at(first, String.format(look, t, p), ConsistencyLevel.ONE) == 1);
        boolean isDenied = at(deaf, question, ConsistencyLevel.ONE) == 0;
        set(deaf, Flaw.DEAF, false);
        write.getUninterruptibly();
        if (isDropped)
            becomesOneSchema(drop, coordinators.get(holder));
        return isDenied;
    }

    /** Returns when the node has dropped it; others may not know. */
    private static ResultSetFuture drop(String t, Session through)
    {
        ResultSetFuture drop = through.executeAsync(TakingPart.end(t));
        String[] names = t.split("\\.");
        String left = "SELECT * FROM lacuna.tables WHERE keyspace_name = '" + names[0] + "' AND table_name = '" + names[1] + "'";
        Cluster.until("it takes no part", () -> through.execute(left).isExhausted());
        return drop;
    }

    /** A client that asked for a change of schema and got no answer can only ask for the next one. */
    static void becomesOneSchema(ResultSetFuture drop, Session through)
    {
        drop.getUninterruptibly();
        through.execute("CREATE KEYSPACE IF NOT EXISTS heard WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        through.execute("ALTER KEYSPACE heard WITH durable_writes = " + (changes++ % 2 != 0));
        Cluster.until("one schema", () -> cluster.nodes.stream().map(Node::schemaVersion).distinct().count() == 1);
    }
}
