package lacuna.cassandra;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.Session;

import lacuna.cassandra.PaperTable.Column;

/**
 * The course of two of the paper's hours: quiet, rows at a steady rate, each with a partition of its own, and quiet again;
 * what the nodes' processes took of processors in each interval, as a node's share, and what the first node, which the client asks, got
 * from the others and sent to them.
 */
final class PaperCourse
{
    private static final int INTERVALS = Printed.MINUTES.size();
    /** Between these rows come, as in the paper. */
    private static final int LOAD_FROM = 2;
    private static final int LOAD_UNTIL = 18;
    private static final int UNDER_WAY = 128;
    private static final String BODY = "x".repeat(340);

    private record Seen(long nanos, long processorMillis, long received, long sent) {}

    private static final class Taken
    {
        final double[] processor = new double[INTERVALS];
        final double[] received = new double[INTERVALS];
        final double[] sent = new double[INTERVALS];
        double millisPer1000Rows;
        double rate;
    }

    private final long intervalMillis;
    private final int perSecond;
    private final Map<PaperSystem, Taken> courses = new LinkedHashMap<>();

    PaperCourse(long intervalMillis, int perSecond)
    {
        this.intervalMillis = intervalMillis;
        this.perSecond = perSecond;
    }

    /** Needs the keyspace of {@link PaperData}, and a {@link Relay}. */
    void run(PaperSystem system, Cluster cluster, Session session)
    {
        String name = "paper.course";
        cluster.schema(session, "CREATE TABLE " + system.table(name) + " (p int, c bigint, stars int, body text, PRIMARY KEY (p, c))");
        if (system.isGuarded())
            cluster.schema(session, system.begin(name));
        PreparedStatement insert = session.prepare("INSERT INTO " + system.table(name) + " (p, c, stars, body) VALUES (?, 1, 1, ?)");
        insert.setConsistencyLevel(ConsistencyLevel.ONE);
        int warm = load(session, insert, 0, 2 * intervalMillis);
        rest(2 * intervalMillis);
        courses.put(system, course(cluster, session, insert, warm));
        System.err.println("course of " + system.shown + " done");
    }

    private Taken course(Cluster cluster, Session session, PreparedStatement insert, int first)
    {
        Taken taken = new Taken();
        int next = first;
        double processor = 0;
        double seconds = 0;
        Seen before = seen(cluster);
        for (int interval = 0; interval < INTERVALS; interval++)
        {
            boolean isLoad = interval >= LOAD_FROM && interval < LOAD_UNTIL;
            if (isLoad)
                next = load(session, insert, next, intervalMillis);
            else
                rest(intervalMillis);
            Seen now = seen(cluster);
            double millis = (now.nanos - before.nanos) / 1e6;
            taken.processor[interval] = 100.0 * (now.processorMillis - before.processorMillis) / millis / cluster.nodes.size();
            taken.received[interval] = (now.received - before.received) / 1e3;
            taken.sent[interval] = (now.sent - before.sent) / 1e3;
            processor += isLoad ? now.processorMillis - before.processorMillis : 0;
            seconds += isLoad ? millis / 1e3 : 0;
            before = now;
        }
        taken.millisPer1000Rows = 1e3 * processor / (next - first);
        taken.rate = (next - first) / seconds;
        return taken;
    }

    private static Seen seen(Cluster cluster)
    {
        long processor = cluster.nodes.stream().mapToLong(Node::processorMillis).sum();
        Relay.Traffic traffic = cluster.relay.traffic(0);
        return new Seen(System.nanoTime(), processor, traffic.received(), traffic.sent());
    }

    private static void rest(long millis)
    {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() < end)
            LockSupport.parkNanos(end - System.nanoTime());
    }

    /** Rows from {@code first} on for so long, at the rate; the next row. */
    private int load(Session session, PreparedStatement insert, int first, long millis)
    {
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
        Semaphore free = new Semaphore(UNDER_WAY);
        int next = first;
        while (System.nanoTime() < end)
        {
            long due = start + (next - first) * (TimeUnit.SECONDS.toNanos(1) / perSecond);
            if (due > System.nanoTime())
            {
                LockSupport.parkNanos(Math.min(due, end) - System.nanoTime());
                continue;
            }
            free.acquireUninterruptibly();
            session.executeAsync(insert.bind(next++, BODY)).addListener(free::release, Runnable::run);
        }
        free.acquireUninterruptibly(UNDER_WAY);
        return next;
    }

    /** Tables 11 to 13. */
    List<PaperTable> tables()
    {
        List<Column> processor = new ArrayList<>();
        List<Column> received = new ArrayList<>();
        List<Column> sent = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        double base = courses.values().iterator().next().millisPer1000Rows;
        courses.forEach((system, taken) ->
        {
            processor.add(new Column(system.shown, taken.processor));
            received.add(new Column(system.shown, taken.received));
            sent.add(new Column(system.shown, taken.sent));
            notes.add(String.format(Locale.ROOT, "%s: %.0f rows a second; %.1f ms of processors, of all nodes, for 1,000 rows, %.2f of the first",
                                    system.shown, taken.rate, taken.millisPer1000Rows, taken.millisPer1000Rows / base));
        });
        String interval = String.format(Locale.ROOT, "Five of the paper's minutes are %.1f s here, with a millisecond there and back between "
                                        + "nodes; stock is another cluster, and systems do not take turns.", intervalMillis / 1e3);
        return List.of(
            new PaperTable("table-11", "Table 11: processor", "minute", "% of one processor", Printed.MINUTES, Printed.TABLE_11, processor, notes)
                .noting(interval),
            new PaperTable("table-12", "Table 12: bytes received", "minute", "kB of the coordinator in an interval", Printed.MINUTES, Printed.TABLE_12,
                           received, List.of(interval + " Between nodes only; the paper's hold what clients sent, too.")),
            new PaperTable("table-13", "Table 13: bytes sent", "minute", "kB of the coordinator in an interval", Printed.MINUTES, Printed.TABLE_13, sent,
                           List.of(interval)));
    }
}
