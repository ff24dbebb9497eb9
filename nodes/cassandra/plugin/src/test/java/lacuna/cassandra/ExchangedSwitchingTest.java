package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.After;
import org.junit.Assume;
import org.junit.Test;

/** A table begins to take part, changes its options and ends its part while it is written, and while a node does not hear of it. */
public class ExchangedSwitchingTest extends WithFilters
{
    private static final List<String> OPTIONS =
        List.of("mode=safe", "mode=safe bucket=16", "mode=shadow sample=1", "mode=safe");
    private static final int KEYS_BETWEEN = 15;
    private static final int STORM = Integer.getInteger("lacuna.checks", 0) > 0 ? 100 : 4;
    private static final int MAX_WRITES = 20_000;

    @After
    public void noFlawIsLeft()
    {
        for (Flaw flaw : Flaw.values())
            switchEverywhere(flaw, false);
    }

    /** Writes one key after another through one node and reads it through the next, until it is stopped or a key is missing. */
    private static final class Load extends Thread
    {
        private final String table;
        private final AtomicInteger written = new AtomicInteger();
        private volatile boolean isDone;
        private volatile String wrong;

        Load(String table)
        {
            this.table = table;
            setDaemon(true);
        }

        @Override
        public void run()
        {
            for (int p = 0; !isDone && wrong == null; p++)
            {
                Session writer = coordinators.get(p % NODES);
                Session reader = coordinators.get((p + 1) % NODES);
                int before = read(reader, table, p);
                insert(writer, table, p);
                int after = read(reader, table, p);
                if (before != 0 || after != 1)
                    wrong = "key " + p + ": " + before + " rows before its write, " + after + " after";
                written.incrementAndGet();
            }
        }

        void writesOn()
        {
            int before = written.get();
            Cluster.until("it writes on", () -> wrong != null || written.get() >= before + KEYS_BETWEEN);
        }

        void end() throws InterruptedException
        {
            isDone = true;
            join();
            assertEquals(null, wrong);
            for (int p = 0; p < written.get(); p++)
                assertEquals("key " + p, 1, read(coordinators.get(p % NODES), table, p));
        }
    }

    @Test
    public void switchingUnderLoadLosesNothing() throws Exception
    {
        String t = unguarded(1);
        Load load = new Load(t);
        load.start();
        for (String options : OPTIONS)
        {
            ddl(TakingPart.begin(t, options));
            load.writesOn();
            if (options.equals("mode=safe"))
                becomesKnown("reads_skipped", t);
            if (options.equals("mode=shadow sample=1"))
                ddl(TakingPart.end(t));
        }
        load.end();
        System.out.printf("switching: %d keys written and seen%n", load.written.get());
    }

    /** Cassandra takes everything out of a table's list of indexes that is not in the schema, whenever the table is altered. */
    @Test
    public void alteredTableIsMarkedOn() throws Exception
    {
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        // Without the second mark a write is known to others by the first alone.
        switchEverywhere(Flaw.NO_MARKS_AFTER_WRITES, true);
        Load load = new Load(t);
        load.start();
        for (int seconds = 1; seconds <= STORM; seconds++)
            session.execute("ALTER TABLE " + t + " WITH gc_grace_seconds = " + (1_000 + seconds));
        load.writesOn();
        load.end();
        System.out.printf("altering: %d keys written and seen%n", load.written.get());
    }

    /** The control of the test before: without both marks a write is denied. */
    @Test
    public void writesWithoutMarksAreDenied() throws Exception
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
        String t = guarded(1, "safe");
        becomesKnown("reads_skipped", t);
        switchEverywhere(Flaw.NO_MARKS_AFTER_WRITES, true);
        switchEverywhere(Flaw.NO_MARKS_BEFORE_WRITES, true);
        Load load = new Load(t);
        load.start();
        Cluster.until("a key is denied", () -> load.wrong != null || load.written.get() > MAX_WRITES);
        assertTrue("no key of " + load.written + " was denied", load.wrong != null);
    }

    /** A node that did not hear that the table takes part announces nothing; so the others deny nothing that it holds. */
    @Test
    public void whatANodeHoldsThatMissedTheBeginningIsAskedFor() throws Exception
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
        String t = unguarded(1);
        int last = NODES - 1;
        Session deaf = coordinators.get(last);
        set(deaf, Flaw.DEAF, true);
        var begin = session.executeAsync(TakingPart.begin(t, "mode=safe"));
        String[] names = t.split("\\.");
        Cluster.until("the first takes part", () -> !session.execute("SELECT * FROM lacuna.tables WHERE keyspace_name = '" + names[0]
                                                                     + "' AND table_name = '" + names[1] + "'").isExhausted());
        int[] own = keysOf(t, 0);
        Cluster.until("its own keys are skipped", () -> isCounted(session, "reads_skipped", t, own[0]));
        for (int p : keysOf(t, last))
        {
            assertFalse("key " + p, isCounted(session, "reads_skipped", t, p));
            insert(deaf, t, p);
            assertEquals("key " + p, 1, read(session, t, p));
        }
        set(deaf, Flaw.DEAF, false);
        ExchangedControlsTest.becomesOneSchema(begin, session);
        becomesKnown("reads_skipped", t);
    }

    private static int[] keysOf(String t, int node)
    {
        return IntStream.iterate(0, p -> p + 1).filter(p -> holder(t, p) == node).limit(KEYS_BETWEEN).toArray();
    }

    /** A row that was there before is found by the second of two filters that were made in a row. */
    @Test
    public void optionsThatChangeTwiceAtOnceDenyNothing() throws Exception
    {
        String t = unguarded(2);
        each(0, PRESENT, ConsistencyLevel.ALL, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
        session.execute(TakingPart.begin(t, "mode=safe bucket=16"));
        session.execute(TakingPart.end(t));
        session.execute(TakingPart.begin(t, "mode=safe"));
        becomesKnown("reads_skipped", t);
        for (Session coordinator : coordinators)
            for (int p = 0; p < PRESENT; p++)
                assertEquals("key " + p, 1, read(coordinator, t, p));
    }
}
