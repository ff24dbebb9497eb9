package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.Assume;
import org.junit.Test;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;

/** What an operator sees of reads that are not skipped: why they were not, and what is missing now. */
public class ExchangedReasonsTest extends WithFilters
{
    private static final int EACH = 5;
    private static final int MANY_KEYS = 40;

    @Test
    public void everyLookHasAnOutcome() throws Exception
    {
        String t = guarded(3, "safe");
        for (int p = 0; p < PRESENT; p++)
            at(session, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)", ConsistencyLevel.ALL);
        becomesKnown("reads_skipped", t);
        Map<String, Long> before = outcomes(t);
        for (int p = 0; p < PRESENT; p++)
        {
            assertEquals(1, read(coordinators.get(0), t, p));
            assertEquals(0, read(coordinators.get(0), t, 10_000 + p));
        }
        String many = IntStream.range(0, MANY_KEYS).mapToObj(Integer::toString).collect(Collectors.joining(", "));
        for (int read = 0; read < EACH; read++)
        {
            assertEquals(PRESENT, at(coordinators.get(0), "SELECT * FROM " + t, ConsistencyLevel.ALL));
            assertEquals(1, at(coordinators.get(0), "SELECT * FROM " + t + " WHERE p = 1", ConsistencyLevel.LOCAL_SERIAL));
            assertEquals(MANY_KEYS, at(coordinators.get(0), "SELECT * FROM " + t + " WHERE p IN (" + many + ")", ConsistencyLevel.ALL));
        }
        Map<String, Long> since = outcomes(t);
        before.forEach((outcome, count) -> since.merge(outcome, -count, Long::sum));
        for (String reason : new String[] { "shape", "level", "partitions" })
            assertEquals(since.toString(), Long.valueOf(EACH), since.get(reason));
        assertTrue(since.toString(), since.getOrDefault("may_be_live", 0L) >= PRESENT * 3 / 4);
        assertTrue(since.toString(), since.get("skipped") >= PRESENT / 2);
        long looks = since.remove("looks");
        since.keySet().removeAll(List.of("shape", "level"));
        assertEquals(since.toString(), looks, since.values().stream().mapToLong(Long::longValue).sum());
    }

    /** Looks, reads that were skipped, and reads by the reason why they were not. */
    private static Map<String, Long> outcomes(String t)
    {
        Map<String, Long> outcomes = new HashMap<>();
        outcomes.put("looks", of("tables", "looks", t, "").getLong(0));
        outcomes.put("skipped", of("filters", "skipped", t, " AND node = 'own'").getLong(0));
        String[] names = t.split("\\.");
        for (Row row : coordinators.get(0).execute("SELECT reason, reads FROM lacuna.reasons WHERE keyspace_name = ? AND table_name = ?", names[0], names[1]))
            outcomes.put(row.getString(0), row.getLong(1));
        return outcomes;
    }

    private static Row of(String table, String column, String t, String more)
    {
        String[] names = t.split("\\.");
        String query = "SELECT " + column + " FROM lacuna." + table + " WHERE keyspace_name = ? AND table_name = ?" + more;
        return coordinators.get(0).execute(query, names[0], names[1]).one();
    }

    private static void stateBecomes(String t, String part)
    {
        Cluster.until(part, () ->
        {
            String state = of("tables", "state", t, "").getString(0);
            return state != null && state.contains(part);
        });
    }

    @Test
    public void stateNamesTheNodeWhoseFilterIsMissing() throws Exception
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
        set(coordinators.get(1), Flaw.BUILDS_DO_NOT_BEGIN, true);
        String t = guarded(3, "safe");
        stateBecomes(t, cluster.nodes.get(1).address + " has shown no filter");
        set(coordinators.get(1), Flaw.BUILDS_DO_NOT_BEGIN, false);
        stateBecomes(t, "reads are skipped");
        set(coordinators.get(0), Flaw.BUILDS_DO_NOT_BEGIN, true);
        String other = guarded(3, "safe");
        stateBecomes(other, "its own filter is being filled: no SSTable is read yet");
        set(coordinators.get(0), Flaw.BUILDS_DO_NOT_BEGIN, false);
        stateBecomes(other, "reads are skipped");
    }

    @Test
    public void stateNamesTheNodeWithoutLease() throws Exception
    {
        Assume.assumeTrue("wants other nodes", NODES > 1);
        String t = guarded(3, "safe");
        stateBecomes(t, "reads are skipped");
        set(coordinators.get(0), Flaw.DEAF, true);
        try
        {
            stateBecomes(t, "no lease of " + cluster.nodes.get(1).address);
            Cluster.until("peers show it", () -> leases() == 0);
        }
        finally
        {
            set(coordinators.get(0), Flaw.DEAF, false);
        }
        stateBecomes(t, "reads are skipped");
        Cluster.until("peers show it", () -> leases() == NODES - 1);
    }

    private static long leases()
    {
        return coordinators.get(0).execute("SELECT has_lease FROM lacuna.peers").all().stream().filter(row -> row.getBool(0)).count();
    }

    @Test
    public void stateShowsAFilterThatWasGivenUp()
    {
        String t = unguarded(1);
        ddl(TakingPart.begin(t, "mode=safe filter_bytes=2000"));
        each(0, 4_000, ConsistencyLevel.ALL, p -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
        stateBecomes(t, "its own filter would take more than filter_bytes");
        if (NODES > 1)
            stateBecomes(t, "the copy of " + cluster.nodes.get(1).address + " knows nothing");
    }
}
