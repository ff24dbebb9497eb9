package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

/** A paused node that has no part in a write delays it only if the write brings a new key of a table in mode safe. */
public class ExchangedOthersTest extends WithFilters
{
    private static final int PAUSED = 2;
    private static final int PAUSE_MILLIS = 5_000;

    private static int nextKey;

    /** A key that was never written, of a table with one copy, that the second node holds. */
    private static synchronized int newKey(String t)
    {
        while (holder(t, nextKey) != 1)
            nextKey++;
        return nextKey++;
    }

    private static long millisOf(Runnable work)
    {
        long before = System.nanoTime();
        work.run();
        return (System.nanoTime() - before) / 1_000_000;
    }

    /**
     * A write reads the rows of its partition for the views of the table, on a thread of which a node has few. No client sees them, so that
     * read does not wait for a node that does not know the partition yet.
     */
    @Test
    public void writesDoNotWaitWhenTheyReadForAView() throws Exception
    {
        Assume.assumeTrue("wants a node that has no part in the writes", NODES == 3);
        String t = guarded(1, "safe");
        ddl("CREATE MATERIALIZED VIEW " + t + "_view AS SELECT p, c, v FROM " + t + " WHERE v IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, p, c)");
        for (int attempt = 0; attempt < 5; attempt++)
        {
            becomesKnown("reads_skipped", t);
            int p = newKey(t);
            Session holder = coordinators.get(1);
            long held = counter(holder, "reads_held");
            long waiting = counter(holder, "acknowledgements_held");
            Thread pause = new Thread(() -> pauses(cluster.nodes.get(PAUSED)));
            pause.start();
            Thread.sleep(200);
            List<ResultSetFuture> writes = IntStream.range(1, 4).mapToObj(
                v -> holder.executeAsync("INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, " + v + ")")).toList();
            writes.forEach(ResultSetFuture::getUninterruptibly);
            pause.join();
            long waited = counter(holder, "acknowledgements_held") - waiting;
            System.out.println("views: " + waited + " answers waited, " + (counter(holder, "reads_held") - held) + " reads");
            assertEquals("reads for a view that waited", held, counter(holder, "reads_held"));
            if (waited > 0)
                return;
        }
        throw new AssertionError("no write waited");
    }

    private static void pauses(Node node)
    {
        try
        {
            node.pause(PAUSE_MILLIS);
        }
        catch (Exception failure)
        {
            throw new IllegalStateException(failure);
        }
    }

    /** Longest write of each kind, in milliseconds: new keys in mode safe, overwrites there, a batch, and a table that takes no part. */
    private static long[] longest(String safe, String plain, boolean withNewKeys) throws Exception
    {
        int known = newKey(safe);
        insert(session, safe, known);
        AtomicInteger last = new AtomicInteger(-1);
        long[] longest = new long[4];
        long end = System.nanoTime() + (PAUSE_MILLIS + 1_000) * 1_000_000L;
        Thread newKeys = new Thread(() ->
        {
            while (withNewKeys && System.nanoTime() < end)
            {
                int p = newKey(safe);
                longest[0] = Math.max(longest[0], millisOf(() -> insert(coordinators.get(0), safe, p)));
                last.set(p);
            }
        });
        Thread pause = new Thread(() -> pauses(cluster.nodes.get(PAUSED)));
        newKeys.start();
        pause.start();
        while (System.nanoTime() < end)
        {
            longest[1] = Math.max(longest[1], millisOf(() -> insert(coordinators.get(0), safe, known)));
            longest[2] = Math.max(longest[2], millisOf(() -> at(coordinators.get(0), "BEGIN UNLOGGED BATCH INSERT INTO " + plain + " (p, c, v) VALUES ("
                                                                + known + ", 2, 1) APPLY BATCH", ConsistencyLevel.ONE)));
            longest[3] = Math.max(longest[3], millisOf(() -> insert(coordinators.get(0), plain, known)));
        }
        newKeys.join();
        pause.join();
        Session woken = coordinators.get(PAUSED);
        if (withNewKeys)
            assertEquals("key " + last, 1, read(woken, safe, last.get()));
        return longest;
    }

    @Test
    public void writesOfOthersDoNotWaitForANewKey() throws Exception
    {
        Assume.assumeTrue("wants a node that has no part in the writes", NODES == 3);
        String safe = guarded(1, "safe");
        String plain = unguarded(1);
        String seen = "";
        // Another process may stop this one for a while.
        for (int attempt = 0; attempt < 5; attempt++)
        {
            // Not before the leases that the last pause has ended are granted again.
            becomesKnown("reads_skipped", safe);
            long[] control = longest(safe, plain, false);
            becomesKnown("reads_skipped", safe);
            long[] beside = longest(safe, plain, true);
            seen += "\ncontrol " + IntStream.of(1, 2, 3).mapToObj(kind -> control[kind] + " ms ").toList() + ", new keys " + beside[0]
                    + " ms, beside them overwrites " + beside[1] + " ms, batches " + beside[2] + " ms, another table " + beside[3] + " ms";
            System.out.println("others: " + seen);
            // A busy machine holds up single writes of the control, too.
            if (beside[0] > 1_000 && IntStream.of(1, 2, 3).allMatch(kind -> beside[kind] * 3 < beside[0] || beside[kind] < control[kind]))
                return;
        }
        throw new AssertionError("others wait for new keys:" + seen);
    }
}
