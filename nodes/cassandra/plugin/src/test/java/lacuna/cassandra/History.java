package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import java.util.Random;

/**
 * A random history of one table's shape: writes of all kinds, which a {@link Model} follows, with flushes and compactions
 * between, and reads, which all {@link Stores} and the model must answer alike.
 *
 * <p>Every write carries its own timestamp, since clusters have clocks of their own, but for conditional ones. What will expire
 * lives so long that it does not, or is waited for.
 */
final class History
{
    static final int PARTITIONS = 24;
    static final int NEVER_WRITTEN = 6;
    static final int ROWS = 20;
    /** Most writes go to these, so that what was deleted elsewhere stays dead for a while. */
    private static final int BUSY = PARTITIONS / 6;
    static final String COLUMNS = " (p int, c int, s int static, v int, w text, tags set<int>, PRIMARY KEY (p, c))";

    private final long seed;
    private final Stores stores;
    private final int nodes;
    private final Random random;
    private final Reads reads;
    private final Model model = new Model();
    private final Timestamps timestamps;
    private Request last;
    private long readCount;
    private long replicaReads;

    History(long seed, Stores stores, int nodes)
    {
        this.seed = seed;
        this.stores = stores;
        this.nodes = nodes;
        this.random = new Random(seed);
        this.reads = new Reads(random);
        this.timestamps = new Timestamps(random);
    }

    /** Reads so far, in each table. */
    long readCount()
    {
        return readCount;
    }

    /** How many reads of single partitions these were to replicas, in each table, at the least. */
    long replicaReads()
    {
        return replicaReads;
    }

    /** Fills the tables, deletes most of it, and then runs the given number of operations. */
    void run(int operations)
    {
        int step = -1;
        try
        {
            fill();
            for (step = 0; step < operations; step++)
                operation(step);
        }
        catch (Throwable failure)
        {
            throw new AssertionError("seed " + seed + ", operation " + step + ", " + last + ": " + failure.getMessage(), failure);
        }
    }

    private void fill()
    {
        for (int p = 0; p < PARTITIONS; p++)
            insert(p, p % ROWS, p, timestamps.now(), "");
        stores.flushAll();
        for (int p = BUSY; p < PARTITIONS; p++)
            delete("", p, timestamps.now());
        stores.flushAll();
    }

    private void operation(int step)
    {
        if (step % 40 == 39)
            stores.flushAll();
        if (step % 500 == 499)
            stores.compactAll();
        int kind = random.nextInt(100);
        if (kind < 60)
            read();
        else if (kind < 97)
            write();
        else
            agreed(reads.refused());
    }

    private Answer agreed(Request request)
    {
        last = request;
        return stores.agreed(request, stores.ask(request, random.nextInt(nodes)));
    }

    private void read()
    {
        Reads.Read read = reads.next();
        Answer answer = agreed(read.request());
        readCount++;
        if (answer.isError())
            return;
        replicaReads += read.replicaReads(nodes);
        assertEquals(read + ", model", read.expected(model, answer), answer.rows());
    }

    private void write()
    {
        int p = random.nextInt(random.nextInt(4) == 0 ? PARTITIONS : BUSY);
        int c = random.nextInt(ROWS);
        int v = random.nextInt(1_000);
        long at = timestamps.next();
        switch (random.nextInt(20))
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
            case 15 -> count(p, c, v);
            case 16 -> seldom(p, c, v, at);
            case 17 -> drain(p, 0, c, at);
            case 18 -> drain(p, c, ROWS, at);
            default -> conditional(p, c, v);
        }
    }

    private void insert(int p, int c, int v, long at, String ttl)
    {
        written("INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ") USING TIMESTAMP " + at + ttl);
        model.insert(p, c, v, at);
    }

    private void update(int p, int c, long at, String what, Runnable onModel)
    {
        written("UPDATE %s USING TIMESTAMP " + at + " SET " + what + " WHERE p = " + p + " AND c = " + c);
        onModel.run();
    }

    private void delete(String what, int p, String where, long at, Runnable onModel)
    {
        written("DELETE " + what + "FROM %s USING TIMESTAMP " + at + " WHERE p = " + p + where);
        onModel.run();
    }

    private void delete(String what, int p, long at)
    {
        delete(what, p, "", at, () -> model.deletePartition(p, at));
    }

    /** One row after the other, as those who work off a queue do. */
    private void drain(int p, int from, int to, long at)
    {
        StringBuilder cql = new StringBuilder("BEGIN BATCH USING TIMESTAMP " + at);
        for (int c = from; c < to; c++)
        {
            cql.append(" DELETE FROM %1$s WHERE p = ").append(p).append(" AND c = ").append(c).append(";");
            model.deleteRow(p, c, at);
        }
        if (from < to)
            written(cql + " APPLY BATCH");
    }

    /** A static value, or its deletion. */
    private void fixed(int p, int v, long at)
    {
        boolean gone = v % 3 != 0;
        written("UPDATE %s USING TIMESTAMP " + at + " SET s = " + (gone ? "null" : v) + " WHERE p = " + p);
        model.setStatic(p, gone ? null : v, at);
    }

    private void batch(int p, int c, int v, long at)
    {
        int other = random.nextInt(BUSY);
        written("BEGIN BATCH USING TIMESTAMP " + at
                + " INSERT INTO %1$s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ");"
                + " DELETE FROM %1$s WHERE p = " + p + " AND c > " + c + " AND c < " + (c + 4) + ";"
                + " DELETE FROM %1$s WHERE p = " + other + " AND c = " + (c + ROWS) + "; APPLY BATCH");
        model.insert(p, c, v, at);
        model.deleteRange(p, c + 1, c + 3, at);
        model.deleteRow(other, c + ROWS, at);
    }

    /** Counters take no part: theirs is a table of its own. */
    private void count(int p, int c, int v)
    {
        written("UPDATE h.counts SET n = n + " + v + " WHERE p = " + p + " AND c = " + c);
        agreed(Request.of("SELECT * FROM h.counts WHERE p = " + p));
    }

    /** What takes long, or warns. */
    private void seldom(int p, int c, int v, long at)
    {
        switch (random.nextInt(24))
        {
            case 0 -> expiring(p, c, v, at);
            case 1, 2 -> wideBatch(at);
            default ->
            {
                written("INSERT INTO %s JSON '{\"p\": " + p + ", \"c\": " + c + ", \"v\": " + v + "}' DEFAULT UNSET USING TIMESTAMP " + at);
                model.insert(p, c, v, at);
            }
        }
    }

    /** A row that is over when this returns, for whomever is asked. */
    private void expiring(int p, int c, int v, long at)
    {
        // A value that no other write has, which may live on.
        int own = 1_000 + v;
        written("INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + own + ") USING TIMESTAMP " + at + " AND TTL 1");
        model.insertExpired(p, c, at);
        Request left = Request.of("SELECT ttl(v) FROM %s WHERE p = " + p + " AND c = " + c + " AND v = " + own + " ALLOW FILTERING");
        Cluster.until("it expires", () -> stores.ask(left, 0).stream().flatMap(answer -> answer.rows().stream())
                                                .allMatch("[null]"::equals));
    }

    /** Over enough partitions, which no read asks for, that the store warns. */
    private void wideBatch(long at)
    {
        StringBuilder cql = new StringBuilder("BEGIN UNLOGGED BATCH USING TIMESTAMP " + at);
        for (int p = 0; p < 12; p++)
            cql.append(" DELETE FROM %1$s WHERE p = ").append(PARTITIONS + NEVER_WRITTEN + p).append(";");
        written(cql + " APPLY BATCH");
    }

    private void conditional(int p, int c, int v)
    {
        boolean isInsert = v % 2 == 0;
        boolean expected = isInsert ? !model.exists(p, c) : model.value(p, c) != null;
        long start = timestamps.now();
        Answer answer = written(isInsert ? "INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ") IF NOT EXISTS"
                                         : "UPDATE %s SET v = " + v + " WHERE p = " + p + " AND c = " + c + " IF v >= 0");
        // The node that coordinates it says when it was, so that each table has it at a moment of its own.
        long end = timestamps.now();
        timestamps.keepFree(start, end);
        assertEquals("applied", expected, answer.rows().get(0).startsWith("[true"));
        if (expected && isInsert)
            model.insert(p, c, v, end);
        else if (expected)
            model.set(p, c, "v", v, end);
    }

    private Answer written(String cql)
    {
        Answer answer = agreed(Request.of(cql));
        assertFalse(answer.toString(), answer.isError());
        return answer;
    }
}
