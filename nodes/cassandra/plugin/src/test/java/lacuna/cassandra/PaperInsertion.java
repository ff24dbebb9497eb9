package lacuna.cassandra;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.IntUnaryOperator;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;

import lacuna.cassandra.PaperTable.Column;

/** Insertion: rows of one table after another, 64 under way, in chunks whose order goes round. */
final class PaperInsertion
{
    private static final int UNDER_WAY = 64;
    /** Rows of a partition where they are not alone. */
    private static final int ROWS = 400;
    /** Keys that a table's first filter is made for, on each node. */
    private static final int CAPACITY = 4_096;
    private static final String BODY = "x".repeat(340);

    private final Cluster cluster;
    private final Session session;
    private final int chunk;
    private final int rounds;

    PaperInsertion(Cluster cluster, Session session, int chunk, int rounds)
    {
        this.cluster = cluster;
        this.session = session;
        this.chunk = chunk;
        this.rounds = rounds;
    }

    private PreparedStatement table(PaperSystem system, String name)
    {
        cluster.schema(session, "CREATE TABLE " + system.table(name) + " (p int, c bigint, stars int, body text, PRIMARY KEY (p, c))");
        if (system.isGuarded())
            cluster.schema(session, system.begin(name));
        PreparedStatement insert = session.prepare("INSERT INTO " + system.table(name) + " (p, c, stars, body) VALUES (?, ?, 1, ?)");
        return insert.setConsistencyLevel(ConsistencyLevel.ONE);
    }

    /** Seconds for the rows {@code from} to {@code from + count}. */
    private double insert(PreparedStatement into, int from, int count, IntUnaryOperator partition)
    {
        Semaphore free = new Semaphore(UNDER_WAY);
        long start = System.nanoTime();
        for (int i = from; i < from + count; i++)
        {
            free.acquireUninterruptibly();
            ResultSetFuture running = session.executeAsync(into.bind(partition.applyAsInt(i), (long) i, BODY));
            running.addListener(free::release, Runnable::run);
        }
        free.acquireUninterruptibly(UNDER_WAY);
        return (System.nanoTime() - start) / 1e9;
    }

    /** Table 10. */
    PaperTable inCluster()
    {
        List<PaperSystem> systems = List.of(PaperSystem.DEFAULT, PaperSystem.SHADOW, PaperSystem.EVENTUAL, PaperSystem.SAFE, PaperSystem.SAFE_ROWS);
        List<PreparedStatement> tables = systems.stream().map(system -> table(system, "paper.inserted")).toList();
        List<IntUnaryOperator> partitions = List.of(i -> i, i -> 1_000_000_000 + i / ROWS);
        double[][] seconds = new double[systems.size()][partitions.size()];
        for (int row = 0; row < partitions.size(); row++)
        {
            double[][] all = new double[systems.size()][rounds];
            for (int round = -1; round < rounds; round++)
                for (int turn = 0; turn < systems.size(); turn++)
                {
                    int at = Math.floorMod(turn + round, systems.size());
                    double taken = insert(tables.get(at), (round + 1) * chunk, chunk, partitions.get(row));
                    if (round >= 0)
                        all[at][round] = taken * 1e5 / chunk;
                }
            for (int at = 0; at < systems.size(); at++)
                seconds[at][row] = Timing.median(all[at]);
        }
        return new PaperTable("table-10", "Table 10: insertion in a cluster", "rows", "seconds for 100,000 rows",
                              List.of("each with a partition of its own", ROWS + " in a partition"), Printed.TABLE_10,
                              columns(systems, seconds), List.of("The paper's minutes are for " + (int) (Printed.ROWS / 1e6) + " million rows."));
    }

    /** Table 5: keys up to the load, then a chunk that is timed; new tables in each round. */
    PaperTable byLoad()
    {
        List<PaperSystem> systems = List.of(PaperSystem.DEFAULT, PaperSystem.HOOK, PaperSystem.SAFE);
        int tries = (rounds + 1) / 2;
        double[][][] all = new double[systems.size()][Printed.SHARES.size()][tries];
        int timed = CAPACITY / 8;
        for (int round = 0; round < tries; round++)
        {
            String name = "paper.loaded_" + round;
            List<PreparedStatement> tables = systems.stream().map(system -> table(system, name)).toList();
            for (int quarter = 0, done = 0; quarter < Printed.SHARES.size(); quarter++)
            {
                int start = quarter * CAPACITY / 4 * cluster.nodes.size();
                for (int at = 0; at < systems.size(); at++)
                {
                    insert(tables.get(at), done, Math.max(0, start - done), i -> i);
                    all[at][quarter][round] = insert(tables.get(at), start, timed, i -> i) * 1e5 / timed;
                }
                done = start + timed;
            }
        }
        double[][] seconds = new double[systems.size()][];
        for (int at = 0; at < systems.size(); at++)
            seconds[at] = Arrays.stream(all[at]).mapToDouble(Timing::median).toArray();
        return new PaperTable("table-5", "Table 5: insertion by the load of the filter", "load", "seconds for 100,000 rows", Printed.SHARES,
                              Printed.TABLE_5, columns(systems, seconds),
                              List.of("The load is that of a node's first filter, made for " + CAPACITY + " keys, which grows when it is full. "
                                      + "The paper's filters belong to SSTables and its seconds are for all its rows."));
    }

    private static List<Column> columns(List<PaperSystem> systems, double[][] values)
    {
        List<Column> columns = new ArrayList<>();
        for (int at = 0; at < systems.size(); at++)
            columns.add(new Column(systems.get(at).shown, values[at]));
        return columns;
    }
}
