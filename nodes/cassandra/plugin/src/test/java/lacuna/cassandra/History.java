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
            written(Writes.insert(p, p % ROWS, p, timestamps.now(), ""));
        stores.flushAll();
        for (int p = BUSY; p < PARTITIONS; p++)
            written(Writes.deletePartition(p, timestamps.now()));
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
        switch (random.nextInt(4 + Writes.KINDS))
        {
            case 0 -> written(Writes.deletePartition(random.nextInt(PARTITIONS), at));
            case 1 -> count(p, c, v);
            case 2 -> seldom(p, c, v, at);
            case 3 -> conditional(new Writes.Conditional(p, c, v));
            default -> written(Writes.of(random.nextInt(Writes.KINDS), p, random.nextInt(BUSY), c, v, at));
        }
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
        written(Writes.insert(p, c, own, at, " AND TTL 1"));
        model.expire(p, c, at);
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

    private void conditional(Writes.Conditional write)
    {
        boolean isMet = write.isMet(model);
        long start = timestamps.now();
        Answer answer = written(write.cql());
        // The node that coordinates it says when it was, so that each table has it at a moment of its own.
        long end = timestamps.now();
        timestamps.keepFree(start, end);
        assertEquals("applied", isMet, answer.rows().get(0).startsWith("[true"));
        if (isMet)
            write.apply(model, end);
    }

    private void written(Writes.Write write)
    {
        written(write.cql());
        write.onModel().accept(model);
    }

    private Answer written(String cql)
    {
        Answer answer = agreed(Request.of(cql));
        assertFalse(answer.toString(), answer.isError());
        return answer;
    }
}
