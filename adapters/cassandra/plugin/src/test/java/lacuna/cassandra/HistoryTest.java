package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import org.junit.Test;

/**
 * One random history on a guarded table, on one whose node filters are exchanged too, on their twin without the index, and on a
 * plain model: all four agree.
 */
public class HistoryTest extends OnOneCluster
{
    private static final int OPERATIONS = Integer.getInteger("lacuna.operations", 2_000);
    private static final String TWIN = "h.twin";
    private static final List<String> GUARDED = List.of("h.guarded", "h.safe");
    private static final List<String> TABLES = List.of("h.guarded", "h.safe", TWIN);
    private static final int PARTITIONS = 24;
    private static final int NEVER_WRITTEN = 6;
    private static final int ROWS = 20;
    private static final String COLUMNS = "SELECT c, s, v, w, tags FROM %s WHERE ";
    private static final List<ConsistencyLevel> LEVELS =
        List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL);

    private final long seed = Long.getLong("lacuna.seed", 8);
    private final Random random = new Random(seed);
    private final Model model = new Model();
    private final List<Session> coordinators = new ArrayList<>();
    /** Between which moments conditional writes were made; nothing else is said to have been between them. */
    private final List<long[]> conditionals = new ArrayList<>();
    private long lastMicros;
    private long reads;
    private long replicaReads;
    private int step;

    @Test
    public void guardedTablesTwinAndModelAgree()
    {
        prepare();
        long answeredBefore = answeredEverywhere();
        long skippedBefore = everywhere("reads_skipped");
        try
        {
            for (step = 0; step < OPERATIONS; step++)
                operation();
        }
        catch (Throwable failure)
        {
            throw new AssertionError("seed " + seed + ", operation " + step + ": " + failure.getMessage(), failure);
        }
        long answered = answeredEverywhere() - answeredBefore;
        long skipped = everywhere("reads_skipped") - skippedBefore;
        System.out.printf("history: %d operations, %d replica reads, %d answered from memory; %d reads, %d skipped by coordinators%n",
                          OPERATIONS, replicaReads, answered, reads, skipped);
        assertTrue("only " + answered + " of " + replicaReads + " were answered, seed " + seed, answered * 5 >= replicaReads);
        assertTrue("only " + skipped + " of " + reads + " were skipped, seed " + seed, skipped * 5 >= reads);
        assertEquals("seed " + seed, 0, everywhere("contradictions"));
    }

    private void prepare()
    {
        cluster.nodes.forEach(node -> coordinators.add(cluster.session(node)));
        ddl("CREATE KEYSPACE h WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + NODES + "}");
        for (String table : TABLES)
            ddl("CREATE TABLE " + table + " (p int, c int, s int static, v int, w text, tags set<int>, PRIMARY KEY (p, c))");
        for (String table : GUARDED)
            ddl("CREATE CUSTOM INDEX ON " + table + " () USING 'lacuna.cassandra.LacunaIndex' WITH OPTIONS = {'learn_every': '1', "
                + "'mode': '" + (table.equals("h.safe") ? "safe" : "off") + "', 'bucket': '4'}");
        for (int p = 0; p < PARTITIONS; p++)
            insert(p, p % ROWS, p, now(), "");
        cluster.flush("h");
        for (int p = PARTITIONS / 6; p < PARTITIONS; p++)
            delete("", p, now());
        cluster.flush("h");
    }

    private void operation()
    {
        if (step % 40 == 39)
            cluster.flush("h");
        if (step % 500 == 499)
            cluster.compact("h");
        if (random.nextInt(100) < 60)
            read();
        else
            write();
    }

    private long now()
    {
        Instant now = Instant.now();
        lastMicros = Math.max(lastMicros + 1, now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000);
        return lastMicros;
    }

    /** Mostly now, sometimes long ago: clients may choose. */
    private long timestamp()
    {
        long at = now();
        if (random.nextInt(20) != 0)
            return at;
        at -= 1 + random.nextInt(20_000_000);
        for (int i = conditionals.size() - 1; i >= 0; i--)
            if (at >= conditionals.get(i)[0] && at <= conditionals.get(i)[1])
                at = conditionals.get(i)[0] - 1;
        return at;
    }

    private void write()
    {
        // Most partitions are written seldom, so that what was deleted there stays dead for a while.
        int p = random.nextInt(random.nextInt(4) == 0 ? PARTITIONS : PARTITIONS / 6);
        int c = random.nextInt(ROWS);
        int v = random.nextInt(1_000);
        long at = timestamp();
        switch (random.nextInt(16))
        {
            case 0, 1, 2 -> insert(p, c, v, at, "");
            case 3 -> insert(p, c, v, at, " AND TTL 1000000");
            case 4 -> update(p, c, at, "w = 'text " + v + "'", () -> model.set(p, c, "w", "text " + v, at));
            case 5 -> update(p, c, at, "tags = tags + {" + v % 5 + "}", () -> model.tag(p, c, v % 5, true, at));
            case 6 -> update(p, c, at, "tags = tags - {" + v % 5 + "}", () -> model.tag(p, c, v % 5, false, at));
            case 7 -> delete("tags ", p, " AND c = " + c, at, () -> model.deleteTags(p, c, at));
            case 8 -> delete("v ", p, " AND c = " + c, at, () -> model.set(p, c, "v", null, at));
            case 9 -> delete("", p, " AND c = " + c, at, () -> model.deleteRow(p, c, at));
            case 10 -> delete("", p, " AND c >= " + c + " AND c <= " + (c + 5), at, () -> model.deleteRange(p, c, c + 5, at));
            case 11 -> delete("", random.nextInt(PARTITIONS), at);
            case 12 -> delete("", p, at);
            case 13 -> fixed(p, v, at);
            case 14 -> batch(p, c, v, at);
            default -> conditional(p, c, v);
        }
    }

    private void insert(int p, int c, int v, long at, String ttl)
    {
        both("INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ") USING TIMESTAMP " + at + ttl);
        model.insert(p, c, v, at);
    }

    private void update(int p, int c, long at, String what, Runnable onModel)
    {
        both("UPDATE %s USING TIMESTAMP " + at + " SET " + what + " WHERE p = " + p + " AND c = " + c);
        onModel.run();
    }

    private void delete(String what, int p, String where, long at, Runnable onModel)
    {
        both("DELETE " + what + "FROM %s USING TIMESTAMP " + at + " WHERE p = " + p + where);
        onModel.run();
    }

    private void delete(String what, int p, long at)
    {
        delete(what, p, "", at, () -> model.deletePartition(p, at));
    }

    /** A static value, or its deletion. */
    private void fixed(int p, int v, long at)
    {
        boolean gone = v % 3 != 0;
        both("UPDATE %s USING TIMESTAMP " + at + " SET s = " + (gone ? "null" : v) + " WHERE p = " + p);
        model.setStatic(p, gone ? null : v, at);
    }

    private void batch(int p, int c, int v, long at)
    {
        int other = random.nextInt(PARTITIONS / 6);
        both("BEGIN BATCH USING TIMESTAMP " + at
             + " INSERT INTO %1$s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ");"
             + " DELETE FROM %1$s WHERE p = " + p + " AND c > " + c + " AND c < " + (c + 4) + ";"
             + " DELETE FROM %1$s WHERE p = " + other + " AND c = " + (c + ROWS) + "; APPLY BATCH");
        model.insert(p, c, v, at);
        model.deleteRange(p, c + 1, c + 3, at);
        model.deleteRow(other, c + ROWS, at);
    }

    private void conditional(int p, int c, int v)
    {
        if (v % 2 == 0)
        {
            boolean expected = !model.exists(p, c);
            long at = lwt(expected, "INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ") IF NOT EXISTS");
            if (expected)
                model.insert(p, c, v, at);
        }
        else
        {
            boolean expected = model.value(p, c) != null;
            long at = lwt(expected, "UPDATE %s SET v = " + v + " WHERE p = " + p + " AND c = " + c + " IF v >= 0");
            if (expected)
                model.set(p, c, "v", v, at);
        }
    }

    /** Returns a moment behind it. */
    private long lwt(boolean expected, String cql)
    {
        long start = now();
        for (String table : TABLES)
            assertEquals(table, expected, run(table, cql, ConsistencyLevel.ALL, 5_000, coordinator()).wasApplied());
        // The node that coordinates it says when it was, so that each table has it at a moment of its own.
        long end = now();
        conditionals.add(new long[] { start, end });
        return end;
    }

    private void read()
    {
        int p = random.nextInt(PARTITIONS + NEVER_WRITTEN);
        int q = random.nextInt(PARTITIONS);
        int low = random.nextInt(ROWS);
        int high = low + random.nextInt(6);
        String slice = "p = " + p + " AND c >= " + low + " AND c <= " + high;
        String pair = "p IN (" + p + ", " + q + ")";
        switch (random.nextInt(14))
        {
            case 0, 1, 2 -> same(1, COLUMNS + "p = " + p, model.readAll(p));
            case 3, 4 -> same(1, COLUMNS + slice, model.read(p, low, high));
            case 5, 6 -> same(1, COLUMNS + "p = " + p + " AND c = " + low, model.read(p, low, low));
            case 7 -> same(1, COLUMNS + slice + " ORDER BY c DESC LIMIT 3", null);
            case 8 -> same(1, COLUMNS + "p = " + p + " AND c IN (" + low + ", " + high + ", 3)", null);
            case 9 -> same(2, "SELECT * FROM %s WHERE " + pair + " AND c > " + low + " PER PARTITION LIMIT 2", null);
            case 10 -> same(1, "SELECT p, count(*), max(v) FROM %s WHERE " + slice + " GROUP BY p", null);
            case 11 -> same(2, "SELECT DISTINCT p, s FROM %s WHERE " + pair, null);
            case 12 -> same(1, "SELECT JSON * FROM %s WHERE p = " + p, null);
            default -> same(1, "SELECT count(*) FROM %s WHERE " + slice + " AND v > 500 ALLOW FILTERING", null);
        }
    }

    private void same(int partitions, String cql, List<String> expected)
    {
        ConsistencyLevel level = LEVELS.get(random.nextInt(LEVELS.size()));
        int page = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 5_000;
        Session coordinator = coordinator();
        String twin = shown(run(TWIN, cql, level, page, coordinator));
        for (String table : GUARDED)
            assertEquals(String.format(cql, table) + " at " + level, twin.replace(TWIN, table),
                         shown(run(table, cql, level, page, coordinator)));
        if (expected != null)
            assertEquals(cql + " at " + level + ", model", expected.toString(), rowsOf(twin));
        reads++;
        replicaReads += (long) partitions * replicas(level);
    }

    private static int replicas(ConsistencyLevel level)
    {
        return level == ConsistencyLevel.ONE ? 1 : level == ConsistencyLevel.ALL ? NODES : NODES / 2 + 1;
    }

    /** Columns, rows, pages and warnings, as one text. */
    private static String shown(ResultSet result)
    {
        String names = result.getColumnDefinitions().asList().stream()
            .map(column -> column.getName() + " " + column.getType()).collect(Collectors.joining(", "));
        List<String> rows = new ArrayList<>();
        for (Row row : result)
            rows.add(shown(row));
        String pages = result.getAllExecutionInfo().size() + " pages, warnings "
                       + result.getAllExecutionInfo().stream().map(info -> info.getWarnings().toString()).collect(Collectors.joining());
        return rows + "\n" + names + "\n" + pages;
    }

    private static String shown(Row row)
    {
        List<String> values = new ArrayList<>();
        for (int column = 0; column < row.getColumnDefinitions().size(); column++)
            values.add(String.valueOf(row.getObject(column)));
        return values.toString();
    }

    private static String rowsOf(String shown)
    {
        return shown.substring(0, shown.indexOf('\n'));
    }

    private void both(String cql)
    {
        Session coordinator = coordinator();
        for (String table : TABLES)
            run(table, cql, ConsistencyLevel.ALL, 5_000, coordinator);
    }

    private Session coordinator()
    {
        return coordinators.get(random.nextInt(coordinators.size()));
    }

    private static ResultSet run(String table, String cql, ConsistencyLevel level, int page, Session coordinator)
    {
        return coordinator.execute(new SimpleStatement(String.format(cql, table)).setConsistencyLevel(level)
                                   .setSerialConsistencyLevel(ConsistencyLevel.SERIAL).setFetchSize(page));
    }
}
