package lacuna.cassandra;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.Session;

import lacuna.cassandra.PaperTable.Column;

/**
 * The course of two of the paper's hours: quiet, rows at a steady rate, each with a partition of its own, and quiet again;
 * what the nodes' processes took of processors in each interval, as a node's share, what the first node, which the client asks, got
 * from the others and sent to them, and what went between all nodes.
 *
 * <p>Systems take turns, each of which inserts other rows; numbers are medians of the turns.
 */
final class PaperCourse
{
    private static final int INTERVALS = Printed.MINUTES.size();
    /** Between these rows come, as in the paper. */
    private static final int LOAD_FROM = 2;
    private static final int LOAD_UNTIL = 18;
    private static final int UNDER_WAY = 128;
    private static final String BODY = "x".repeat(340);
    /** What a row has beside its text, about. */
    private static final int ROW_HEAD = 30;

    private record Seen(long nanos, long processorMillis, long received, long sent, long between) {}

    /** In one turn. */
    private static final class Taken
    {
        final double[] processor = new double[INTERVALS];
        final double[] received = new double[INTERVALS];
        final double[] sent = new double[INTERVALS];
        final double[] between = new double[INTERVALS];
        double millisPer1000Rows;
        double bytesPerRow;
        double rate;
    }

    /** A system in the cluster of its nodes. */
    private static final class Course
    {
        final PaperSystem system;
        final Cluster cluster;
        final Session session;
        final PreparedStatement insert;
        final List<Taken> turns = new ArrayList<>();
        int nextRow;

        Course(PaperSystem system, Cluster cluster, Session session, PreparedStatement insert)
        {
            this.system = system;
            this.cluster = cluster;
            this.session = session;
            this.insert = insert;
        }

        double[] medians(Function<Taken, double[]> numbers)
        {
            return IntStream.range(0, INTERVALS).mapToDouble(i -> median(taken -> numbers.apply(taken)[i])).toArray();
        }

        double median(ToDoubleFunction<Taken> number)
        {
            return Timing.median(turns.stream().mapToDouble(number).toArray());
        }

        /** Of each turn to the same one of another system: the median, and all of them. */
        String ratio(Course base, ToDoubleFunction<Taken> number)
        {
            double[] ratios = IntStream.range(0, turns.size())
                                       .mapToDouble(turn -> number.applyAsDouble(turns.get(turn)) / number.applyAsDouble(base.turns.get(turn))).toArray();
            String all = Arrays.stream(ratios).mapToObj(ratio -> String.format(Locale.ROOT, "%.2f", ratio)).collect(Collectors.joining(", "));
            return String.format(Locale.ROOT, "%.2f of %s (%s)", Timing.median(ratios), base.system.shown, all);
        }
    }

    private final long intervalMillis;
    private final int perSecond;
    private final List<Course> courses = new ArrayList<>();

    PaperCourse(long intervalMillis, int perSecond)
    {
        this.intervalMillis = intervalMillis;
        this.perSecond = perSecond;
    }

    /** One more system, in a cluster with the keyspace of {@link PaperData} and a {@link Relay}; ratios are to the first. */
    void add(PaperSystem system, Cluster cluster, Session session)
    {
        String name = "paper.course";
        cluster.schema(session, "CREATE TABLE " + system.table(name) + " (p int, c bigint, stars int, body text, PRIMARY KEY (p, c))");
        if (system.isGuarded())
            cluster.schema(session, system.begin(name));
        PreparedStatement insert = session.prepare("INSERT INTO " + system.table(name) + " (p, c, stars, body) VALUES (?, 1, 1, ?)");
        courses.add(new Course(system, cluster, session, insert.setConsistencyLevel(ConsistencyLevel.ONE)));
    }

    /** As many of each, another one first in each. */
    void run(int turns)
    {
        for (int turn = 0; turn < turns; turn++)
            for (int i = 0; i < courses.size(); i++)
            {
                Course course = courses.get((turn + i) % courses.size());
                load(course, 2 * intervalMillis);
                rest(2 * intervalMillis);
                course.turns.add(turn(course));
                System.err.println("course of " + course.system.shown + ", turn " + (turn + 1) + " done");
            }
    }

    private Taken turn(Course course)
    {
        Taken taken = new Taken();
        int nodes = course.cluster.nodes.size();
        int first = course.nextRow;
        double processor = 0;
        double bytes = 0;
        double seconds = 0;
        Seen before = seen(course.cluster);
        for (int interval = 0; interval < INTERVALS; interval++)
        {
            boolean isLoad = interval >= LOAD_FROM && interval < LOAD_UNTIL;
            if (isLoad)
                load(course, intervalMillis);
            else
                rest(intervalMillis);
            Seen now = seen(course.cluster);
            double millis = (now.nanos - before.nanos) / 1e6;
            taken.processor[interval] = 100.0 * (now.processorMillis - before.processorMillis) / millis / nodes;
            taken.received[interval] = (now.received - before.received) / 1e3;
            taken.sent[interval] = (now.sent - before.sent) / 1e3;
            taken.between[interval] = (now.between - before.between) / 1e3;
            processor += isLoad ? now.processorMillis - before.processorMillis : 0;
            bytes += isLoad ? now.between - before.between : 0;
            seconds += isLoad ? millis / 1e3 : 0;
            before = now;
        }
        int rows = course.nextRow - first;
        taken.millisPer1000Rows = 1e3 * processor / rows;
        taken.bytesPerRow = bytes / rows;
        taken.rate = rows / seconds;
        return taken;
    }

    private static Seen seen(Cluster cluster)
    {
        long processor = cluster.nodes.stream().mapToLong(Node::processorMillis).sum();
        Relay.Traffic first = cluster.relay.traffic(0);
        long between = IntStream.range(0, cluster.nodes.size()).mapToLong(node -> cluster.relay.traffic(node).sent()).sum();
        return new Seen(System.nanoTime(), processor, first.received(), first.sent(), between);
    }

    private static void rest(long millis)
    {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() < end)
            LockSupport.parkNanos(end - System.nanoTime());
    }

    /** The next rows for so long, at the rate. */
    private void load(Course course, long millis)
    {
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
        int first = course.nextRow;
        Semaphore free = new Semaphore(UNDER_WAY);
        while (System.nanoTime() < end)
        {
            long due = start + (course.nextRow - first) * (TimeUnit.SECONDS.toNanos(1) / perSecond);
            if (due > System.nanoTime())
            {
                LockSupport.parkNanos(Math.min(due, end) - System.nanoTime());
                continue;
            }
            free.acquireUninterruptibly();
            course.session.executeAsync(course.insert.bind(course.nextRow++, BODY)).addListener(free::release, Runnable::run);
        }
        free.acquireUninterruptibly(UNDER_WAY);
    }

    /** Tables 11 to 13, and what the bar is about: bytes between all nodes. */
    List<PaperTable> tables()
    {
        Course base = courses.get(0);
        List<String> processors = new ArrayList<>();
        List<String> bytes = new ArrayList<>();
        for (Course course : courses)
        {
            processors.add(String.format(Locale.ROOT, "%s: %.0f rows a second; %.1f ms of processors, of all nodes, for 1,000 rows, %s", course.system.shown,
                                         course.median(taken -> taken.rate), course.median(taken -> taken.millisPer1000Rows),
                                         course.ratio(base, taken -> taken.millisPer1000Rows)));
            bytes.add(String.format(Locale.ROOT, "%s: %.0f bytes between all nodes for a row of %d, %s", course.system.shown,
                                    course.median(taken -> taken.bytesPerRow), BODY.length() + ROW_HEAD, course.ratio(base, taken -> taken.bytesPerRow)));
        }
        String interval = String.format(Locale.ROOT, "Five of the paper's minutes are %.1f s here, with a millisecond there and back between "
                                        + "nodes; medians of %d turns. Stock is another cluster, which is up at the same time and takes its turns.",
                                        intervalMillis / 1e3, base.turns.size());
        processors.add(interval);
        bytes.add(interval);
        return List.of(
            new PaperTable("table-11", "Table 11: processor", "minute", "% of one processor", Printed.MINUTES, Printed.TABLE_11,
                           columns(taken -> taken.processor), processors),
            new PaperTable("table-12", "Table 12: bytes received", "minute", "kB of the coordinator in an interval", Printed.MINUTES, Printed.TABLE_12,
                           columns(taken -> taken.received), List.of(interval + " Between nodes only; the paper's hold what clients sent, too.")),
            new PaperTable("table-13", "Table 13: bytes sent", "minute", "kB of the coordinator in an interval", Printed.MINUTES, Printed.TABLE_13,
                           columns(taken -> taken.sent), List.of(interval)),
            new PaperTable("bytes-between-nodes", "Bytes between all nodes", "minute", "kB of all nodes in an interval", Printed.MINUTES, List.of(),
                           columns(taken -> taken.between), bytes));
    }

    private List<Column> columns(Function<Taken, double[]> numbers)
    {
        return courses.stream().map(course -> new Column(course.system.shown, course.medians(numbers))).toList();
    }
}
