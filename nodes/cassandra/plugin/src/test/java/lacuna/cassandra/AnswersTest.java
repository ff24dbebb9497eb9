package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.QueryTrace;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.exceptions.TraceRetrievalException;
import org.junit.Test;

/** The plug-in's jar in stock nodes: what it answers from memory, and what it leaves alone. */
public class AnswersTest extends OnOneCluster
{
    @Test
    public void deletedPartitionReadsNoSstable() throws Exception
    {
        String t = table();
        fill(t, 1);
        fill(t, 2);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1");
        fill(t, 2);
        flush();
        becomesAnswered(one(t));
        for (ConsistencyLevel level : List.of(ConsistencyLevel.ONE, ConsistencyLevel.ALL))
            tracesNoSstable(one(t), level);
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
    }

    /** In the end at every replica: each proves the region for itself. */
    private static void tracesNoSstable(String query, ConsistencyLevel level) throws InterruptedException
    {
        String last = "";
        for (int attempt = 0; attempt < 600; attempt++)
        {
            ResultSet result = session.execute(new SimpleStatement(query).setConsistencyLevel(level).enableTracing());
            assertEquals(0, result.all().size());
            List<String> merges = merges(result);
            if (!merges.isEmpty() && merges.stream().allMatch(event -> event.endsWith(" and 0 sstables")))
                return;
            last = merges.toString();
            Thread.sleep(50);
        }
        throw new AssertionError(level + ": " + last);
    }

    /** What replicas said of it; nothing if the trace did not arrive in time, as on a busy machine. */
    private static List<String> merges(ResultSet result)
    {
        try
        {
            return result.getExecutionInfo().getQueryTrace().getEvents().stream()
                .map(QueryTrace.Event::getDescription).filter(event -> event.startsWith("Merged data from")).toList();
        }
        catch (TraceRetrievalException late)
        {
            return List.of();
        }
    }

    @Test
    public void deletedRangeReadsNoSstable() throws Exception
    {
        String t = filledThenDeleted(" AND c >= 2 AND c < 8");
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 1 AND c >= 3 AND c < 6");
        assertTrue(isAnswered("SELECT * FROM " + t + " WHERE p = 1 AND c = 4"));
        assertTrue(isAnswered("SELECT v FROM " + t + " WHERE p = 1 AND c > 2 AND c <= 7 ORDER BY c DESC"));
        assertEquals(4, rows(one(t)));
        assertEquals(1, rows("SELECT * FROM " + t + " WHERE p = 1 AND c >= 3 AND c <= 8"));
    }

    @Test
    public void deletedRowsAreAnsweredWithTheirTombstones() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        for (int row = 0; row < 10; row++)
            all("DELETE FROM " + t + " WHERE p = 1 AND c = " + row);
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 1 AND c > 2");
        assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = 1 AND c > 2"));
    }

    /** All of them, too: rows in the memtable that are older than their deletions stay hidden. */
    @Test
    public void tombstonesOfSeveralSstablesAreGivenOnce() throws Exception
    {
        String t = table(" WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}");
        for (int part = 0; part < 5; part++)
        {
            for (int row = part; row < 20; row += 5)
                all("DELETE FROM " + t + " WHERE p = 1 AND c = " + row);
            all("INSERT INTO " + t + " (p, c, v) VALUES (1, " + (100 + part) + ", 1)");
            flush();
        }
        for (int row = 0; row < 20; row++)
            all("INSERT INTO " + t + " (p, c, v) VALUES (1, " + row + ", 2) USING TIMESTAMP 1");
        String slice = "SELECT * FROM " + t + " WHERE p = 1 AND c >= 0 AND c < 20";
        becomesAnswered(slice);
        long given = counter("regions_given");
        long spared = counter("sstables_spared");
        assertEquals(0, rows(slice));
        assertEquals(0, rows(slice + " ORDER BY c DESC"));
        assertTrue(counter("regions_given") >= given + 2);
        assertEquals(5 * (counter("regions_given") - given), counter("sstables_spared") - spared);
        assertEquals(5, rows(one(t)));
    }

    @Test
    public void writtenAgainIsSeenAtOnce() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        for (int round = 0; round < 5; round++)
        {
            all("DELETE FROM " + t + " WHERE p = 1");
            flush();
            becomesAnswered(one(t));
            all("INSERT INTO " + t + " (p, c, v) VALUES (1, 3, " + round + ")");
            flush();
            assertEquals(round, all("SELECT v FROM " + t + " WHERE p = 1").one().getInt(0));
        }
    }

    @Test
    public void deletionWithOlderTimestampHidesNothing() throws Exception
    {
        String t = table();
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 1) USING TIMESTAMP 1000");
        flush();
        all("DELETE FROM " + t + " USING TIMESTAMP 500 WHERE p = 1");
        flush();
        for (int read = 0; read < 20; read++)
            assertEquals(1, rows(one(t)));
        assertFalse(isAnswered(one(t)));
    }

    @Test
    public void olderTombstoneBesideNewerRowsIsKept() throws Exception
    {
        String t = table();
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 1) USING TIMESTAMP 1000");
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 2, 1) USING TIMESTAMP 100");
        flush();
        all("DELETE FROM " + t + " USING TIMESTAMP 500 WHERE p = 1");
        flush();
        assertEquals(1, rows(one(t)));
        becomesAnswered("SELECT v FROM " + t + " WHERE p = 1 AND c = 2");
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 2, 7) USING TIMESTAMP 600");
        assertEquals(7, all("SELECT v FROM " + t + " WHERE p = 1 AND c = 2").one().getInt(0));
    }

    @Test
    public void partialDeletionLeavesTheRest() throws Exception
    {
        String t = table();
        fill(t, 1);
        flush();
        all("DELETE v FROM " + t + " WHERE p = 1 AND c = 1");
        all("DELETE FROM " + t + " WHERE p = 1 AND c = 2");
        flush();
        for (int read = 0; read < 20; read++)
        {
            assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = 1 AND c = 2"));
            assertEquals(9, rows(one(t)));
        }
    }

    @Test
    public void staticRowOfADeadRangeIsShown() throws Exception
    {
        String t = filledThenDeleted(" AND c >= 0");
        becomesAnswered("SELECT s, v FROM " + t + " WHERE p = 1 AND c >= 0");
        all("INSERT INTO " + t + " (p, s) VALUES (1, 42)");
        flush();
        assertEquals(42, all("SELECT s FROM " + t + " WHERE p = 1").one().getInt(0));
        assertEquals(0, rows("SELECT s, v FROM " + t + " WHERE p = 1 AND c >= 0"));
    }

    @Test
    public void expiringRowsAreNotTakenForDead() throws Exception
    {
        String t = table();
        long start = System.nanoTime();
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5) USING TTL 4");
        flush();
        int seen = rows(one(t));
        // A machine that was out of breath for so long may find it expired.
        assertTrue(seen + " rows", seen == 1 || System.nanoTime() - start > 2_000_000_000L);
        Cluster.until("expired", () -> rows(one(t)) == 0);
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 6)");
        flush();
        assertEquals(1, rows(one(t)));
    }

    @Test
    public void aFilledTableThatBeginsToTakePartAnswersRight() throws Exception
    {
        String t = "k.filled";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c))");
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1");
        fill(t, 2);
        ddl(TakingPart.begin(t, "learn_every=1"));
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
        flush();
        becomesAnswered(one(t));
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
    }
}
