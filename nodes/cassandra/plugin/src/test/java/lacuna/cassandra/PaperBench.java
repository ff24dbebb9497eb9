package lacuna.cassandra;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.datastax.driver.core.Session;

import lacuna.cassandra.PaperData.State;
import lacuna.cassandra.PaperTable.Column;

/**
 * {@code nodes/cassandra/bench paper [--quick] [--out FOLDER] [near] [cold] [far]}: the paper's tables 1 to 13 on three nodes of
 * this machine.
 *
 * <p>Three clusters, one after the other: with the plug-in and no delay between nodes (near, and cold after a restart); without
 * the jar and with a millisecond there and back; with it and the same millisecond (far), at its end beside a fourth one without it.
 * What is there is written when a part is done.
 */
final class PaperBench
{
    private static final List<PaperSystem> ONE_NODE = List.of(PaperSystem.DEFAULT, PaperSystem.HOOK, PaperSystem.SAFE);
    private static final List<PaperSystem> NODES = List.of(PaperSystem.DEFAULT, PaperSystem.BLOOM, PaperSystem.EVENTUAL, PaperSystem.SAFE);
    private static final List<PaperSystem> ALL = List.of(PaperSystem.DEFAULT, PaperSystem.HOOK, PaperSystem.BLOOM, PaperSystem.SHADOW,
                                                         PaperSystem.EVENTUAL, PaperSystem.SAFE);

    /** How much of everything. */
    private record Size(int partitions, int rows, int queries, int rounds, int chunk, int chunks, long intervalMillis, int perSecond,
                        int turns, int requests, int windows)
    {
        static final Size FULL = new Size(340, 400, 60, 5, 3_000, 7, 1_500, 1_000, 3, 600, 3);
        static final Size QUICK = new Size(60, 60, 12, 1, 500, 1, 200, 400, 1, 60, 1);
    }

    private final Size size;
    private final Path out;
    private final PaperPage page;
    private final List<String> parts;
    private final long started = System.nanoTime();

    private PaperBench(Size size, Path out, PaperPage page, List<String> parts)
    {
        this.size = size;
        this.out = out;
        this.page = page;
        this.parts = parts;
    }

    /** Measures all and writes the page. */
    public static void main(String[] arguments) throws Exception
    {
        List<String> words = new ArrayList<>(List.of(arguments));
        boolean isQuick = words.remove("--quick");
        Path out = Path.of(words.remove(words.indexOf("--out") + 1));
        words.remove("--out");
        List<String> parts = words.isEmpty() ? List.of("near", "cold", "far") : words;
        new PaperBench(isQuick ? Size.QUICK : Size.FULL, out, new PaperPage(head(isQuick)), parts).run();
    }

    private static List<String> head(boolean isQuick) throws IOException
    {
        String processor = Files.readAllLines(Path.of("/proc/cpuinfo")).stream().filter(line -> line.startsWith("model name"))
                                .map(line -> line.replaceFirst(".*: ", "")).findFirst().orElse("unknown");
        return List.of(
            "# node-filters in a cluster, table by table",
            "`nodes/cassandra/bench paper" + (isQuick ? " --quick" : "") + "`: three Cassandra nodes, their client and what lies between "
            + "them share " + Runtime.getRuntime().availableProcessors() + " cores of " + processor + ".",
            "The paper's clusters have one node (tables 1 to 5) or six, on machines of their own, and 136 million reviews; it times each "
            + "query once. Here every table of the store exists once for each system, with the same rows, in one cluster of three nodes, one "
            + "replica each, level ONE, through one coordinator; times are medians of rounds in which systems take turns. "
            + "*no part* is such a table with another comment, *stock* one in a cluster without the jar. *one node's* is the paper's first scheme: "
            + "what a node knows to be deleted is answered from memory, nothing is exchanged. *node Bloom* cannot forget: it takes "
            + "part after the deletions and learns nothing. *node cuckoo* is ours in each mode, with the options' defaults.",
            "What does not add up in the paper: table 1 says milliseconds of what table 2 has as seconds, in its last row (the Bloom "
            + "filter's time is the same in both, the cuckoo filter's is not); 100 % less time is not \"2x\"; a million keys at 0.01 % take "
            + "2.1 MB by the formula, and 2.24 MB as measured ([README.md](README.md)), not one. Its seconds are those of queries of "
            + "millions of rows, ours milliseconds of queries of one partition: only ratios compare. Sizes of data are shares of the "
            + "deleted keys of one table, 50 MB in place of 50 GB.");
    }

    private void run() throws Exception
    {
        if (parts.contains("near") || parts.contains("cold"))
            try (Cluster cluster = cluster(-1, true))
            {
                near(cluster);
            }
        if (parts.contains("far"))
            far();
        write();
    }

    /** A millisecond there and back between nodes. */
    private void far() throws Exception
    {
        List<Column> stock;
        try (Cluster cluster = cluster(Bench.DELAY_MICROS, false))
        {
            stock = absentFar(cluster, List.of(PaperSystem.STOCK)).ours();
        }
        try (Cluster cluster = cluster(Bench.DELAY_MICROS, true))
        {
            add(absentFar(cluster, NODES).after(stock));
            write();
            bars(cluster, "A millisecond there and back between nodes");
            course(cluster);
        }
    }

    /** With a second cluster for stock, so that all take turns. */
    private void course(Cluster cluster) throws Exception
    {
        PaperCourse course = new PaperCourse(size.intervalMillis, size.perSecond);
        try (Cluster plain = cluster(Bench.DELAY_MICROS, false))
        {
            Session stock = plain.session(plain.nodes.get(0));
            plain.schema(stock, PaperData.KEYSPACE);
            course.add(PaperSystem.STOCK, plain, stock);
            Session session = cluster.session(cluster.nodes.get(0));
            for (PaperSystem system : List.of(PaperSystem.DEFAULT, PaperSystem.EVENTUAL, PaperSystem.SAFE))
                course.add(system, cluster, session);
            course.run(size.turns);
        }
        course.tables().forEach(this::add);
    }

    private void write() throws IOException
    {
        page.write(out);
        say("wrote " + out.resolve("cluster.md"));
    }

    private Cluster cluster(long delayMicros, boolean withPlugin) throws Exception
    {
        say("starting three nodes");
        return new Cluster(Files.createTempDirectory("lacuna-paper"), 3, delayMicros).start(withPlugin, "-XX:TieredStopAtLevel=4");
    }

    private void say(String what)
    {
        System.err.printf("%4d s: %s%n", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - started), what);
    }

    private void add(PaperTable table)
    {
        page.add(table);
        say(table.name());
    }

    private void bars(Cluster cluster, String where) throws InterruptedException
    {
        page.addBars(where, new Bench(cluster, size.requests, size.windows).measure("absent", "ranges"));
        say("bars");
    }

    /** No delay between nodes: everything but what networks change. */
    private void near(Cluster cluster) throws Exception
    {
        Session session = cluster.session(cluster.nodes.get(0));
        PaperData data = new PaperData(cluster, session, ALL, size.partitions, size.rows);
        say("loading " + data.scale());
        data.load();
        data.awaitCopies();
        PaperLookups lookups = new PaperLookups(data, size.queries, size.rounds);
        say("warming");
        lookups.warm();
        if (parts.contains("near"))
        {
            oneNode(data, lookups);
            nodes(data, lookups);
            PaperRanges ranges = new PaperRanges(cluster, session, size.queries, size.rounds);
            ranges.load();
            add(ranges.table());
            PaperInsertion insertion = new PaperInsertion(cluster, session, size.chunk, size.chunks);
            add(insertion.byLoad());
            add(insertion.inCluster());
            write();
            bars(cluster, "No delay between nodes");
        }
        if (parts.contains("cold"))
            add(PaperCold.table(data, NODES, size.queries));
        write();
    }

    private static String how(State deleted)
    {
        return deleted == State.DELETED ? "whole partitions deleted" : "all rows deleted one by one";
    }

    private static String suffix(State deleted)
    {
        return deleted == State.DELETED ? "-partitions" : "-rows";
    }

    /** Tables 1 to 4: keys that the coordinator itself holds. */
    private void oneNode(PaperData data, PaperLookups lookups)
    {
        int[] present = data.keys(State.PRESENT, false);
        add(lookups.table("table-1", "Table 1: lookups after deletion", "deleted", List.of("row by row"), Printed.TABLE_1, ONE_NODE,
                          List.of(data.keys(State.DELETED_ROWS, false))).noting(data.scale() + "."));
        for (State state : List.of(State.DELETED, State.DELETED_ROWS))
        {
            int[] deleted = data.keys(state, false);
            add(lookups.table("table-2" + suffix(state), "Table 2: lookups, some of deleted keys, " + how(state), "deleted", Printed.SHARES,
                              Printed.TABLE_2, ONE_NODE, lookups.quarters(deleted, present)));
            add(lookups.table("table-3" + suffix(state), "Table 3: lookups of deleted keys by data size, " + how(state), "data", Printed.SIZES,
                              Printed.TABLE_3, ONE_NODE, PaperLookups.sizes(deleted, 1, 10, 20, 30, 40, 50))
                       .noting("Each deleted partition of a part of the data is asked for once; the paper's query is of all of it."));
        }
        add(lookups.table("table-4", "Table 4: lookups, some of present keys", "present", Printed.SHARES, Printed.TABLE_4, ONE_NODE,
                          lookups.quarters(present, data.keys(State.ABSENT, false))));
    }

    /** Tables 6 to 9: keys that other nodes hold. */
    private void nodes(PaperData data, PaperLookups lookups)
    {
        add(absent("table-6", "Table 6: absent keys at other nodes", data, lookups, NODES));
        for (State state : List.of(State.DELETED, State.DELETED_ROWS))
        {
            int[] remote = data.keys(state, true);
            add(lookups.table("table-7" + suffix(state), "Table 7: deleted keys at other nodes, " + how(state), "at other nodes", Printed.SHARES,
                              Printed.TABLE_7, NODES, lookups.quarters(remote, data.keys(state, false)))
                       .noting("Deleted through this coordinator, which in mode eventual counts on a deletion of its own after ten seconds."));
            add(lookups.table("table-8" + suffix(state), "Table 8: deleted keys at other nodes by data size, " + how(state), "data",
                              Printed.SIZES.subList(0, 5), Printed.TABLE_8, NODES, PaperLookups.sizes(remote, 1, 10, 20, 30, 40)));
        }
        List<PaperSystem> withShadow = List.of(PaperSystem.DEFAULT, PaperSystem.BLOOM, PaperSystem.SHADOW, PaperSystem.EVENTUAL, PaperSystem.SAFE);
        add(lookups.table("table-9", "Table 9: present keys at other nodes", "at other nodes", Printed.SHARES, Printed.TABLE_9, withShadow,
                          lookups.quarters(data.keys(State.PRESENT, true), data.keys(State.PRESENT, false))));
    }

    private static PaperTable absent(String name, String title, PaperData data, PaperLookups lookups, List<PaperSystem> systems)
    {
        return lookups.table(name, title, "at other nodes", Printed.SHARES, Printed.TABLE_6, systems,
                             lookups.quarters(data.keys(State.ABSENT, true), data.keys(State.ABSENT, false)));
    }

    /** Table 6 again, over fewer rows. */
    private PaperTable absentFar(Cluster cluster, List<PaperSystem> systems)
    {
        PaperData data = new PaperData(cluster, cluster.session(cluster.nodes.get(0)), systems, 60, 20);
        data.load();
        data.awaitCopies();
        PaperLookups lookups = new PaperLookups(data, size.queries, size.rounds);
        lookups.warm();
        return absent("table-6-far", "Table 6 with a millisecond there and back between nodes", data, lookups, systems);
    }
}
