package lacuna.cassandra;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSetFuture;

import lacuna.cassandra.PaperData.State;
import lacuna.cassandra.PaperTable.Column;

/**
 * Lookups of whole partitions, one after another, through the first node: the same ones of every system in turn, round after
 * round, and the median of the rounds.
 */
final class PaperLookups
{
    /** A deleted partition is learned by one in 32 reads; so often they are all read at most. */
    private static final int MAX_LESSONS = 400;
    private static final double LEARNED = 0.95;
    private static final int UNDER_WAY = 16;

    private final PaperData data;
    private final int queries;
    private final int rounds;
    private final Map<PaperSystem, PreparedStatement> selects = new EnumMap<>(PaperSystem.class);

    PaperLookups(PaperData data, int queries, int rounds)
    {
        this.data = data;
        this.queries = queries;
        this.rounds = rounds;
        for (PaperSystem system : data.systems)
            selects.put(system, data.select(system));
    }

    /** Reads everything a few times, and what is deleted until each system that forgets has forgotten it. */
    void warm()
    {
        int[] all = IntStream.concat(Arrays.stream(data.keys(State.PRESENT)), Arrays.stream(data.keys(State.ABSENT))).toArray();
        for (PaperSystem system : data.systems)
            for (int pass = 0; pass < 3; pass++)
                askAll(system, all);
        for (PaperSystem system : data.systems)
            teach(system);
    }

    /** Lets every system read these keys, so that what compiles code while it runs has done so. */
    void askAllOften(int[] keys)
    {
        for (int pass = 0; pass < 5; pass++)
            for (PaperSystem system : data.systems)
                askAll(system, keys);
    }

    private void teach(PaperSystem system)
    {
        int[] deleted = IntStream.concat(Arrays.stream(data.keys(State.DELETED)), Arrays.stream(data.keys(State.DELETED_ROWS))).toArray();
        boolean isLearned = false;
        double share = 0;
        for (int lesson = 0; lesson < MAX_LESSONS && !isLearned; lesson++)
        {
            share = share(system, () -> askAll(system, deleted));
            isLearned = lesson >= 2 && (!system.isGuarded() || !system.forgets || system == PaperSystem.SHADOW || share >= LEARNED);
        }
        if (!isLearned)
            System.err.printf("%s: of what was deleted only %.0f %% is forgotten%n", system.shown, 100 * share);
    }

    /** Of the keys asked for meanwhile, those that cost the coordinator no message and no file. */
    private double share(PaperSystem system, IntSupplier asks)
    {
        if (!system.isGuarded())
            return 0;
        String counter = system == PaperSystem.HOOK ? "reads_answered" : system == PaperSystem.SHADOW ? "reads_shadowed" : "reads_skipped";
        long before = Twins.counter(data.session, counter);
        int asked = asks.getAsInt();
        return (double) (Twins.counter(data.session, counter) - before) / Math.max(1, asked);
    }

    /** Some at a time; how many of them could be answered where the session asks. */
    private int askAll(PaperSystem system, int[] keys)
    {
        Deque<ResultSetFuture> running = new ArrayDeque<>();
        for (int key : keys)
        {
            running.add(data.session.executeAsync(selects.get(system).bind(key)));
            if (running.size() > UNDER_WAY)
                running.remove().getUninterruptibly().all();
        }
        running.forEach(query -> query.getUninterruptibly().all());
        return system == PaperSystem.HOOK ? (int) Arrays.stream(keys).filter(key -> !data.isRemote(key)).count() : keys.length;
    }

    /** {@code part} in four of the queries go to keys of the first kind, the others to the second. */
    private int[] mixed(int part, int[] first, int[] second)
    {
        return IntStream.range(0, queries).map(i -> i % 4 < part ? first[i % first.length] : second[i % second.length]).toArray();
    }

    /** The share of the first kind grows by quarters. */
    List<int[]> quarters(int[] first, int[] second)
    {
        return IntStream.rangeClosed(0, 4).mapToObj(part -> mixed(part, first, second)).toList();
    }

    /** Parts of the deleted partitions that are to the whole as these sizes to 50 GB, each asked for once. */
    static List<int[]> sizes(int[] keys, int... gigabytes)
    {
        return Arrays.stream(gigabytes).mapToObj(size -> Arrays.copyOf(keys, Math.max(1, keys.length * size / 50))).toList();
    }

    /** A table of one paper's table: a row for each list of keys, a column for each system. */
    PaperTable table(String name, String title, String x, List<String> rows, List<Column> paper, List<PaperSystem> systems,
                     List<int[]> points)
    {
        double[][] seconds = new double[systems.size()][points.size()];
        double[][] skipped = new double[systems.size()][points.size()];
        for (int point = 0; point < points.size(); point++)
            measure(systems, points.get(point), point, seconds, skipped);
        List<Column> columns = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        for (int at = 0; at < systems.size(); at++)
        {
            columns.add(new Column(systems.get(at).shown, seconds[at]));
            if (systems.get(at).isGuarded())
                notes.add(systems.get(at).shown + ", answered without a message or a file, by row: "
                          + String.join(", ", Arrays.stream(skipped[at]).mapToObj(s -> String.format(Locale.ROOT, "%.0f %%", 100 * s)).toList()));
        }
        return new PaperTable(name, title, x, "milliseconds a query", rows, paper, columns, notes);
    }

    private void measure(List<PaperSystem> systems, int[] keys, int point, double[][] seconds, double[][] skipped)
    {
        double[][] millis = new double[systems.size()][rounds];
        for (int round = -1; round < rounds; round++)
            for (int turn = 0; turn < systems.size(); turn++)
            {
                int at = Math.floorMod(turn + round, systems.size());
                double taken = millis(systems.get(at), keys);
                if (round >= 0)
                    millis[at][round] = taken;
            }
        for (int at = 0; at < systems.size(); at++)
        {
            PaperSystem system = systems.get(at);
            seconds[at][point] = Timing.median(millis[at]);
            skipped[at][point] = share(system, () -> askAll(system, keys));
        }
    }

    /** A query, on average. */
    private double millis(PaperSystem system, int[] keys)
    {
        PreparedStatement select = selects.get(system);
        long start = System.nanoTime();
        for (int key : keys)
            data.session.execute(select.bind(key)).all();
        return (System.nanoTime() - start) / 1e6 / keys.length;
    }

    /** Each of the keys for the first time since something, one system after the other, and the median of the keys. */
    double[] firstTimes(List<PaperSystem> systems, int[] keys)
    {
        double[][] millis = new double[systems.size()][keys.length];
        for (int i = 0; i < keys.length; i++)
            for (int turn = 0; turn < systems.size(); turn++)
            {
                int at = (turn + i) % systems.size();
                millis[at][i] = millis(systems.get(at), new int[] { keys[i] });
            }
        return Arrays.stream(millis).mapToDouble(Timing::median).toArray();
    }
}
