package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** Tables in mode shadow, looked at in a sample, and what {@code lacuna.report} says of them. */
public class ExchangedReportTest extends WithFilters
{
    /** So that a thousand are in the sample. */
    private static final int READS = 2_300;

    private static String shadowed(int sample)
    {
        String t = unguarded(3);
        ddl(TakingPart.begin(t, "mode=shadow sample=" + sample));
        for (Session coordinator : coordinators)
            Cluster.until("filters are known", () -> isShadowed(coordinator, t));
        return t;
    }

    /** Some of these are in the sample. */
    private static boolean isShadowed(Session through, String t)
    {
        long before = counter(through, "reads_shadowed");
        for (int p = 1_000_000; p < 1_000_020; p++)
            assertEquals(0, read(through, t, p));
        return counter(through, "reads_shadowed") > before + 2;
    }

    /** A partition for each number, 32 at a time, through one node. */
    private static void each(Session through, String cql, int from, int to)
    {
        PreparedStatement statement = through.prepare(cql);
        for (int start = from; start < to; start += 32)
        {
            List<ResultSetFuture> running = new ArrayList<>();
            for (int p = start; p < Math.min(to, start + 32); p++)
                running.add(through.executeAsync(statement.bind(p).setConsistencyLevel(ConsistencyLevel.QUORUM)));
            running.forEach(ResultSetFuture::getUninterruptibly);
        }
    }

    private static Row report(Session of, String t)
    {
        String[] names = t.split("\\.");
        return of.execute("SELECT * FROM lacuna.report WHERE keyspace_name = ? AND table_name = ?", names[0], names[1]).one();
    }

    /** Not many more, and not much fewer: a machine that stops for a moment ends leases, and for a second nothing is known. */
    private static void isAbout(double expected, double value, String what)
    {
        assertTrue(what + ": " + value + ", not about " + expected, value <= expected + 8 && value >= expected * 0.6);
    }

    /** Half of the partitions that are read are there, and nothing is written any more. */
    @Test
    public void aTableThatIsReadForWhatIsNotThereIsWorthIt()
    {
        String t = shadowed(2);
        Session first = coordinators.get(0);
        each(first, "INSERT INTO " + t + " (p, c, v) VALUES (?, 1, 1)", 0, READS / 2);
        each(first, "SELECT v FROM " + t + " WHERE p = ?", 0, READS);
        Row report = report(first, t);
        System.out.println("report: " + report);
        isAbout(50, report.getDouble("skippable_percent"), "skippable");
        assertTrue(report.toString(), report.getLong("reads") > READS * 3 / 4 && report.getLong("reads") < READS * 5 / 4);
        assertTrue("two replicas a read", report.getLong("replica_reads_saved") > READS / 2 * 2 * 3 / 4);
        assertTrue(report.toString(), report.getDouble("saved_ms") > 0 && report.getDouble("read_ms") > 0);
        assertTrue("written once: " + report, report.getDouble("waiting_percent") > 50);
        assertEquals("nothing is skipped", 0, counter(first, "contradictions"));
    }

    /** "Seen before?", and then it is written: each new key would wait. */
    @Test
    public void aTableWhoseMissesAreWrittenIsNotWorthIt()
    {
        String t = shadowed(1);
        for (int step = 0; step < 2 * NODES; step++)
        {
            Session through = coordinators.get(step % NODES);
            int start = 550 * step;
            each(through, "SELECT v FROM " + t + " WHERE p = ?", start, start + 550);
            each(through, "INSERT INTO " + t + " (p, c, v) VALUES (?, 1, 1)", start, start + 550);
        }
        for (Session coordinator : coordinators)
        {
            Row report = report(coordinator, t);
            System.out.println("report: " + report);
            isAbout(100, report.getDouble("skippable_percent"), "skippable");
            assertTrue(report.toString(), report.getDouble("waiting_percent") > 90);
            assertTrue(report.toString(), report.getString("worth_it").matches("(hardly|no): .*"));
        }
    }

    /** One partition in sixteen, as by default: the others' reads pay for a hash of their key. */
    @Test
    public void aSampleCostsLittle()
    {
        String t = unguarded(3);
        ddl(TakingPart.begin(t, "mode=shadow"));
        Session first = coordinators.get(0);
        double least = Double.MAX_VALUE;
        // What other programs take of the processors in one round does not count.
        for (int round = 0; round < 12 && least >= 1; round++)
        {
            each(first, "SELECT v FROM " + t + " WHERE p = ?", 0, 1_000);
            least = Math.min(least, report(first, t).getDouble("look_percent"));
        }
        System.out.printf("report: looks take %.2f %% of the time of reads, on one partition in 16%n", least);
        assertTrue(least + " %", least < 1);
    }
}
