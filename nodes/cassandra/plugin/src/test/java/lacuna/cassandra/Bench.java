package lacuna.cassandra;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.Statement;

/**
 * {@code nodes/cassandra/bench [--delay] [PART ...]}: the bars of node filters on three nodes, guarded tables beside twins
 * without the comment.
 *
 * <p>One client, pinned to the first node, and partitions that other nodes hold; absent keys through a token-aware client too.
 * With {@code --delay} what nodes say to each other takes half a millisecond each way. Prints one line of a table for each bar; the floor is
 * what stock takes where there is nothing to gain.
 */
final class Bench
{
    /** Of one way: a millisecond there and back. */
    static final long DELAY_MICROS = 500;
    private static final int PARTITIONS = 10_000;
    /** Until the compilers of all nodes have little left to do: before, half of what is measured is theirs. */
    static final int WARM_SECONDS = 20;
    private static final String[] ALL = { "absent", "ranges", "deleted", "tombstones", "heads", "present", "processor" };
    private static final String[] MODES = { "shadow", "eventual", "safe" };
    private static final String INSERT = "INSERT INTO %s (p, c, v) VALUES (?, 1, 2)";

    private final Cluster cluster;
    private final Session session;
    private final Session aware;
    private final List<Session> every;
    private final Twins twins;
    private final int requests;
    private final int windows;
    private final List<String> rows = new ArrayList<>();

    Bench(Cluster cluster, int requests, int windows)
    {
        this.cluster = cluster;
        this.session = cluster.session(cluster.nodes.get(0));
        this.aware = cluster.tokenAware();
        this.every = cluster.nodes.stream().map(cluster::session).toList();
        this.twins = new Twins(cluster, session);
        this.requests = requests;
        this.windows = windows;
    }

    /** Starts the cluster, measures, takes it down. */
    public static void main(String[] arguments) throws Exception
    {
        List<String> parts = new ArrayList<>(List.of(arguments));
        long delay = parts.remove("--delay") ? DELAY_MICROS : -1;
        if (!List.of(ALL).containsAll(parts))
        {
            System.err.println("bench [--delay] " + List.of(ALL) + ": no such part among " + parts);
            System.exit(2);
        }
        try (Cluster cluster = new Cluster(Files.createTempDirectory("lacuna-bench"), 3, delay).start(true, "-XX:TieredStopAtLevel=4"))
        {
            Bench bench = new Bench(cluster, Integer.getInteger("lacuna.bench.requests", 1_500), Integer.getInteger("lacuna.bench.windows", 7));
            bench.measure(parts.isEmpty() ? ALL : parts.toArray(new String[0]));
        }
    }

    /** The rows of a table, printed as they come. */
    List<String> measure(String... parts) throws InterruptedException
    {
        say("| what | bar | stock | guarded | ratio | floor |");
        say("|---|---|---|---|---|---|");
        prepare();
        for (String part : parts)
            measure(part);
        return rows;
    }

    private void say(String row)
    {
        rows.add(row);
        System.out.println(row);
    }

    private void measure(String part) throws InterruptedException
    {
        switch (part)
        {
            case "absent" -> absent();
            case "ranges" ->
            {
                ranges("one", ConsistencyLevel.ONE);
                ranges("three", ConsistencyLevel.QUORUM);
            }
            case "deleted" -> deleted();
            case "tombstones" -> tombstones();
            case "heads" -> heads();
            case "present" ->
            {
                for (String mode : MODES)
                    present(mode);
                streamed();
            }
            default ->
            {
                for (String mode : MODES)
                    processor(mode);
                processorOfStream();
            }
        }
    }

    private void prepare()
    {
        for (var copies : new Object[][] { { "one", 1 }, { "three", 3 } })
            cluster.schema(session, String.format("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %s}", copies));
    }

    private void row(String what, String bar, String unit, Timing.Both both, boolean isFaster)
    {
        double ratio = isFaster ? both.ratio() : 1 / both.ratio();
        say(String.format(Locale.ROOT, "| %s | %s | %.0f %s | %.0f %s | %.2f | |", what, bar, both.stock(), unit, both.guarded(), unit, ratio));
    }

    /** The same of latencies, with what the request takes where there is nothing to gain. */
    void row(String what, String bar, Timing.Both both, double floor)
    {
        say(String.format(Locale.ROOT, "| %s | %s | %.0f us | %.0f us | %.2f | %.0f us |", what, bar, both.stock(), both.guarded(), both.ratio(), floor));
    }

    private void compare(Session through, String what, String[] bars, String name, String where, ConsistencyLevel level,
                         IntFunction<Object[]> values) throws InterruptedException
    {
        String select = "SELECT * FROM %s WHERE " + where;
        Twins asking = new Twins(cluster, through);
        var stock = asking.asks(String.format(select, name + "_stock"), level, values);
        var asks = asking.asks(String.format(select, name), level, values);
        AtomicLong asked = new AtomicLong();
        IntFunction<Statement> guarded = i ->
        {
            asked.incrementAndGet();
            return asks.apply(i);
        };
        twins.becomesSkipped(twins.asks(String.format(select, name), level, values));
        long before = skipped();
        row(what + ", median latency", bars[0], "us", Timing.latency(through, requests, stock, guarded), true);
        System.err.printf("%s, latency: %d of %d skipped%n", what, skipped() - before, asked.getAndSet(0));
        before = skipped();
        row(what + ", requests a second, 16 under way", bars[1], "/s", Timing.throughput(through, windows, stock, guarded), false);
        System.err.printf("%s, throughput: %d of %d skipped%n", what, skipped() - before, asked.get());
    }

    /** By all coordinators. */
    private long skipped()
    {
        return every.stream().mapToLong(each -> Twins.counter(each, "reads_skipped")).sum();
    }

    private void absent() throws InterruptedException
    {
        twins.tables("one.absent", "mode=safe");
        twins.both("one.absent", PARTITIONS, "INSERT INTO %s (p, c, v) VALUES (?, 1, 1)", p -> new Object[] { p });
        cluster.flush("one");
        int[] remote = twins.remote("one", 1_000_000, 4_096);
        compare(session, "absent remote key, one replica, ONE", new String[] { "2x lower", "3x higher" }, "one.absent", "p = ?",
                ConsistencyLevel.ONE, i -> new Object[] { remote[i & 4_095] });
        compare(aware, "the same, token-aware client", new String[] { "", "" }, "one.absent", "p = ?", ConsistencyLevel.ONE,
                i -> new Object[] { remote[i & 4_095] });
    }

    /** A hundred sensors, a row in every eleventh hour or so. */
    private void ranges(String keyspace, ConsistencyLevel level) throws InterruptedException
    {
        String name = keyspace + ".sensors";
        twins.tables(name, "mode=safe bucket=3600");
        twins.both(name, PARTITIONS, "INSERT INTO %s (p, c, v) VALUES (?, ?, 1)", i -> new Object[] { i % 100, 40_000L * (i / 100) + 100 });
        cluster.flush(keyspace);
        int[] remote = keyspace.equals("one") ? twins.remote("one", 0, 20) : new int[] { 1, 2, 3 };
        compare(session, "absent hour of a partition, " + keyspace + ", " + level, new String[] { "2x lower", "3x higher" }, name,
                "p = ? AND c >= ? AND c < ?", level, i ->
                {
                    long gap = 40_000L * (8 + Math.floorMod(i, 80)) + 16_384;
                    return new Object[] { remote[Math.floorMod(i, remote.length)], gap, gap + 2_000 };
                });
    }

    /** Four SSTables of data, one of the deletion. */
    private void deleted() throws InterruptedException
    {
        for (String mode : new String[] { "off", "safe" })
        {
            String name = "three.deleted_" + mode;
            twins.tables(name, "mode=" + mode + " learn_every=1");
            for (int part = 0; part < 4; part++)
            {
                int at = part;
                twins.both(name, 40, "INSERT INTO %s (p, c, v) VALUES (?, ?, 1)", i -> new Object[] { i % 10, at * 10L + i / 10 });
                cluster.flush("three");
            }
            twins.both(name, 10, "DELETE FROM %s WHERE p = ?", p -> new Object[] { p });
            cluster.flush("three");
            for (ConsistencyLevel level : new ConsistencyLevel[] { ConsistencyLevel.ONE, ConsistencyLevel.ALL })
            {
                for (int warm = 0; warm < 200; warm++)
                    session.execute(new SimpleStatement("SELECT * FROM " + name + " WHERE p = " + warm % 10).setConsistencyLevel(ConsistencyLevel.ALL));
                Thread.sleep(1_000);
                say(String.format("| deleted partition, mode %s, %s, SSTables read | 0 | %d | %d | | |", mode, level,
                                  Traced.sstables(session, name + "_stock", level), Traced.sstables(session, name, level)));
            }
        }
    }

    /**
     * 2,000 rows in five SSTables, each deleted on its own. The bounds are no borders of buckets, and in the buckets in which they lie there is
     * a live row.
     */
    private void tombstones() throws InterruptedException
    {
        for (String mode : new String[] { "off", "safe" })
        {
            String name = "one.tombstones_" + mode;
            twins.tables(name, "mode=" + mode + " bucket=16 learn_every=1");
            int[] remote = twins.remote("one", 0, 4);
            for (int part = 0; part < 5; part++)
            {
                int at = part;
                twins.both(name, 4 * 400, "DELETE FROM %s WHERE p = ? AND c = ?", i -> new Object[] { remote[i % 4], 5L * (i / 4) + at });
                twins.both(name, 4, "INSERT INTO %s (p, c, v) VALUES (?, ?, 1)", i -> new Object[] { remote[i], 100_000L + at });
                cluster.flush("one");
            }
            for (long alive : new long[] { 0, 1_999 })
                twins.both(name, 4, "INSERT INTO %s (p, c, v) VALUES (?, ?, 1)", i -> new Object[] { remote[i], alive });
            cluster.flush("one");
            String select = "SELECT * FROM %s WHERE p = ? AND c >= 3 AND c < 1990";
            IntFunction<Object[]> values = i -> new Object[] { remote[i & 3] };
            var stock = twins.asks(String.format(select, name + "_stock"), ConsistencyLevel.ONE, values);
            var guarded = twins.asks(String.format(select, name), ConsistencyLevel.ONE, values);
            for (int warm = 0; warm < 300; warm++)
                session.execute(guarded.apply(warm));
            Thread.sleep(2_000);
            if (mode.equals("safe"))
                twins.becomesSkipped(guarded);
            row("2,000 row tombstones in 5 SSTables, c from 3 to 1,990, " + (mode.equals("off") ? "hook alone" : "coordinator skips"),
                mode.equals("off") ? "4x lower" : "10x lower", "us", Timing.latency(session, requests / 4, stock, guarded), true);
        }
    }

    private void heads()
    {
        BenchHeads heads = new BenchHeads(this, cluster, session);
        heads.measure("one", "off", ConsistencyLevel.ONE);
        heads.measure("one", "safe", ConsistencyLevel.ONE);
        heads.measure("three", "safe", ConsistencyLevel.QUORUM);
    }

    int requests()
    {
        return requests;
    }

    private void present(String mode)
    {
        String name = "three.present_" + mode;
        twins.tables(name, "mode=" + mode);
        twins.both(name, PARTITIONS, "INSERT INTO %s (p, c, v) VALUES (?, 1, 1)", p -> new Object[] { p });
        cluster.flush("three");
        for (ConsistencyLevel level : new ConsistencyLevel[] { ConsistencyLevel.ONE, ConsistencyLevel.QUORUM })
            timed("present key, mode " + mode + ", " + level, "within 5 %", name, "SELECT * FROM %s WHERE p = ?", level, i -> new Object[] { i & 8_191 });
        timed("overwrite, mode " + mode + ", QUORUM", mode.equals("safe") ? "within 10 %" : "within 5 %", name,
              "INSERT INTO %s (p, c, v) VALUES (?, 1, 2)", ConsistencyLevel.QUORUM, i -> new Object[] { i & 8_191 });
        timed("first insert, mode " + mode + ", QUORUM", mode.equals("safe") ? "a round trip" : "within 5 %", name,
              "INSERT INTO %s (p, c, v) VALUES (?, 1, 2)", ConsistencyLevel.QUORUM, i -> new Object[] { 2_000_000 + i });
    }

    /** As many new keys as are timed, in a table whose parts are open while any come to them. */
    private void streamed()
    {
        String name = "three.streamed";
        twins.tables(name, "mode=safe ingest=256");
        timed("first insert, mode safe, ingest=256, QUORUM", "within 5 %", name, INSERT, ConsistencyLevel.QUORUM, i -> new Object[] { 2_000_000 + i });
    }

    private void processorOfStream()
    {
        String name = "three.processor_streamed";
        twins.tables(name, "mode=safe ingest=256");
        spent("first insert, mode safe, ingest=256", name, INSERT, i -> new Object[] { 2_000_000 + i });
    }

    /** What all nodes' processes take of processors for the same requests, 16 under way, those of the exchange included. */
    private void processor(String mode) throws InterruptedException
    {
        String name = "three.processor_" + mode;
        twins.tables(name, "mode=" + mode);
        twins.both(name, PARTITIONS, "INSERT INTO %s (p, c, v) VALUES (?, 1, 1)", p -> new Object[] { p });
        cluster.flush("three");
        String insert = "INSERT INTO %s (p, c, v) VALUES (?, 1, 2)";
        spent("present key, mode " + mode, name, "SELECT * FROM %s WHERE p = ?", i -> new Object[] { i & 8_191 });
        spent("overwrite, mode " + mode, name, insert, i -> new Object[] { i & 8_191 });
        spent("first insert, mode " + mode, name, insert, i -> new Object[] { 2_000_000 + i });
    }

    private void spent(String what, String name, String cql, IntFunction<Object[]> values)
    {
        var stock = twins.asks(String.format(cql, name + "_stock"), ConsistencyLevel.QUORUM, values);
        var guarded = twins.asks(String.format(cql, name), ConsistencyLevel.QUORUM, values);
        Timing.warm(session, WARM_SECONDS, stock, guarded);
        LongSupplier processors = () -> cluster.nodes.stream().mapToLong(Node::processorMillis).sum();
        row(what + ", QUORUM, processors for 1,000", "within 5 %", "ms", Timing.spent(session, windows, requests, processors, stock, guarded), true);
    }

    private void timed(String what, String bar, String name, String cql, ConsistencyLevel level, IntFunction<Object[]> values)
    {
        var stock = twins.asks(String.format(cql, name + "_stock"), level, values);
        var guarded = twins.asks(String.format(cql, name), level, values);
        Timing.warm(session, WARM_SECONDS, stock, guarded);
        row(what, bar, "us", Timing.latency(session, requests, stock, guarded), true);
    }
}
