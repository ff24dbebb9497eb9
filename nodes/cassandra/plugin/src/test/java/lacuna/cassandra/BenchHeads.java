package lacuna.cassandra;

import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;

/**
 * The part {@code heads} of {@link Bench}: the first live row of a partition behind 2,000 that were deleted one by one, as at the head of
 * a queue, and the last one, in partitions that other nodes hold. The floor is the same read, of the twin, in a partition without dead rows.
 */
final class BenchHeads
{
    private static final int PARTITIONS = 4;
    private static final int SSTABLES = 5;
    private static final int DEAD = 2_000;
    private static final String[] ORDERS = { "", " ORDER BY c DESC" };

    private final Bench bench;
    private final Cluster cluster;
    private final Session session;
    private final Twins twins;

    BenchHeads(Bench bench, Cluster cluster, Session session)
    {
        this.bench = bench;
        this.cluster = cluster;
        this.session = session;
        this.twins = new Twins(cluster, session);
    }

    void measure(String keyspace, String mode, ConsistencyLevel level)
    {
        String name = keyspace + ".heads_" + mode;
        twins.tables(name, "mode=" + mode + (mode.equals("off") ? "" : " bucket=16"));
        // The second half is of partitions without dead rows.
        int[] keys = keyspace.equals("one") ? twins.remote("one", 0, 2 * PARTITIONS) : IntStream.range(0, 2 * PARTITIONS).toArray();
        fill(name, keyspace, keys);
        for (String order : ORDERS)
        {
            String select = "SELECT * FROM %s WHERE p = ?" + order + " LIMIT 1";
            IntFunction<Object[]> values = i -> values(keys[i & PARTITIONS - 1]);
            var stock = twins.asks(String.format(select, name + "_stock"), level, values);
            var guarded = twins.asks(String.format(select, name), level, values);
            var floor = twins.asks(String.format(select, name + "_stock"), level, i -> values(keys[PARTITIONS + (i & PARTITIONS - 1)]));
            Timing.warm(session, Bench.WARM_SECONDS, stock, guarded);
            long before = Twins.counter(session, "reads_narrowed");
            double[] medians = Timing.latencies(session, bench.requests() / 4, List.of(stock, guarded, floor));
            bench.row("live row " + (order.isEmpty() ? "behind" : "before") + " 2,000 dead ones, mode " + mode + ", " + level,
                      mode.equals("off") ? "3x lower" : "5x lower", new Timing.Both(medians[0], medians[1]), medians[2]);
            System.err.printf("%s%s: %d reads narrowed%n", name, order, Twins.counter(session, "reads_narrowed") - before);
        }
    }

    private static Object[] values(int p)
    {
        return new Object[] { p };
    }

    /** Live rows in the middle, the dead ones at both ends. */
    private void fill(String name, String keyspace, int[] keys)
    {
        twins.both(name, 2 * PARTITIONS, "INSERT INTO %s (p, c, v) VALUES (?, 2500, 1)", i -> new Object[] { keys[i] });
        for (int part = 0; part < SSTABLES; part++)
        {
            int at = part;
            int each = DEAD / SSTABLES;
            for (long from : new long[] { 0, 3_000 })
                twins.both(name, PARTITIONS * each, "DELETE FROM %s WHERE p = ? AND c = ?",
                           i -> new Object[] { keys[i % PARTITIONS], from + (long) at * each + i / PARTITIONS });
            cluster.flush(keyspace);
        }
    }
}
