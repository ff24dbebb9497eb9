package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;

import lacuna.cassandra.PaperTable.Column;

/**
 * What the paper has not: ranges of rows inside partitions that other nodes hold. A hundred readings a partition, ten hours
 * apart; a tenth of them was deleted by one range.
 */
final class PaperRanges
{
    private static final String NAME = "paper.readings";
    private static final int PARTITIONS = 60;
    private static final int READINGS = 100;
    private static final long STEP = 40_000;
    private static final long DELETED_FROM = 60 * STEP;
    private static final long DELETED_UNTIL = 70 * STEP;
    private static final List<PaperSystem> SYSTEMS =
        List.of(PaperSystem.DEFAULT, PaperSystem.HOOK, PaperSystem.EVENTUAL_ROWS, PaperSystem.SAFE_ROWS);

    private record Slice(long from, long until) {}

    private final Cluster cluster;
    private final Session session;
    private final int[] remote;
    private final int queries;
    private final int rounds;

    PaperRanges(Cluster cluster, Session session, int queries, int rounds)
    {
        this.cluster = cluster;
        this.session = session;
        this.remote = new Twins(cluster, session).remote("paper", 0, PARTITIONS);
        this.queries = queries;
        this.rounds = rounds;
    }

    /** Needs the keyspace of {@link PaperData}. */
    void load()
    {
        for (PaperSystem system : SYSTEMS)
        {
            String table = system.table(NAME);
            cluster.schema(session, "CREATE TABLE " + table + " (p int, c bigint, v int, PRIMARY KEY (p, c)) WITH compaction = "
                                    + "{'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}");
            if (system.isGuarded())
                cluster.schema(session, system.begin(NAME));
            PreparedStatement insert = session.prepare("INSERT INTO " + table + " (p, c, v) VALUES (?, ?, 1)");
            for (int p : remote)
            {
                List<ResultSetFuture> running = new ArrayList<>();
                for (int i = 0; i < READINGS; i++)
                    running.add(session.executeAsync(insert.bind(p, i * STEP + 100)));
                running.forEach(ResultSetFuture::getUninterruptibly);
            }
        }
        cluster.flush("paper");
        for (PaperSystem system : SYSTEMS)
        {
            PreparedStatement delete = session.prepare("DELETE FROM " + system.table(NAME) + " WHERE p = ? AND c >= ? AND c < ?");
            for (int p : remote)
                session.execute(delete.bind(p, DELETED_FROM, DELETED_UNTIL));
        }
        cluster.flush("paper");
    }

    PaperTable table()
    {
        List<Slice> absent = IntStream.range(0, 40).mapToObj(i -> new Slice(i * STEP + 16_384, i * STEP + 18_384)).toList();
        List<Slice> deleted = IntStream.range(0, 8).mapToObj(i -> DELETED_FROM + i * STEP + 8_192).map(at -> new Slice(at, at + STEP)).toList();
        List<Slice> present = IntStream.range(0, 40).mapToObj(i -> new Slice(i * STEP, (i + 5) * STEP)).toList();
        List<List<Slice>> points = List.of(absent, deleted, present);
        double[][] millis = new double[SYSTEMS.size()][points.size()];
        List<String> notes = new ArrayList<>();
        for (int point = 0; point < points.size(); point++)
            measure(points.get(point), point, millis, notes);
        List<Column> columns = new ArrayList<>();
        for (int at = 0; at < SYSTEMS.size(); at++)
            columns.add(new Column(SYSTEMS.get(at).shown, millis[at]));
        return new PaperTable("ranges", "Ranges of rows at other nodes, beyond the paper", "rows of the range", "milliseconds a query",
                              List.of("absent", "deleted by a range", "present"), List.of(), columns, notes);
    }

    private void measure(List<Slice> slices, int point, double[][] millis, List<String> notes)
    {
        double[][] all = new double[SYSTEMS.size()][rounds];
        for (int round = -2; round < rounds; round++)
            for (int at = 0; at < SYSTEMS.size(); at++)
            {
                long before = Twins.counter(session, "reads_skipped");
                double taken = millis(SYSTEMS.get(at), slices);
                if (round >= 0)
                    all[at][round] = taken;
                if (round == rounds - 1 && SYSTEMS.get(at).isExchanged())
                    notes.add(String.format(Locale.ROOT, "%s, row %d: %.0f %% answered by the coordinator", SYSTEMS.get(at).shown, point + 1,
                                            100.0 * (Twins.counter(session, "reads_skipped") - before) / queries));
            }
        for (int at = 0; at < SYSTEMS.size(); at++)
            millis[at][point] = Timing.median(all[at]);
    }

    private double millis(PaperSystem system, List<Slice> slices)
    {
        PreparedStatement select = session.prepare("SELECT * FROM " + system.table(NAME) + " WHERE p = ? AND c >= ? AND c < ?");
        select.setConsistencyLevel(ConsistencyLevel.ONE);
        long start = System.nanoTime();
        for (int i = 0; i < queries; i++)
        {
            Slice slice = slices.get(i % slices.size());
            session.execute(select.bind(remote[i % remote.length], slice.from, slice.until)).all();
        }
        return (System.nanoTime() - start) / 1e6 / queries;
    }
}
