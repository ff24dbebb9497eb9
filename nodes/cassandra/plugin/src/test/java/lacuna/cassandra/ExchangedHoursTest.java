package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** A series of a sensor, asked for as people ask: by hours, from the first moment and up to the next hour's. */
public class ExchangedHoursTest extends WithFilters
{
    private static final long MINUTE = 60_000;
    private static final long HOUR = 60 * MINUTE;
    /** Before and after 1970. */
    private static final int FIRST = -80;
    private static final int LAST = 80;

    /** A row every five minutes, in three of four hours. */
    private static String series(int copies, String order) throws InterruptedException
    {
        String t = unguarded(copies) + "_hours";
        ddl("CREATE TABLE " + t + " (p int, c timestamp, v int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c " + order + ")");
        ddl(TakingPart.begin(t, "mode=safe bucket=1h"));
        for (int p = 1; p <= 3; p++)
        {
            int sensor = p;
            each(FIRST, LAST, ConsistencyLevel.ALL, hour -> isAbsent(hour) ? "SELECT p FROM " + t + " WHERE p = 0" : rows(t, sensor, hour));
        }
        becomesKnown("reads_skipped", t);
        return t;
    }

    private static boolean isAbsent(int hour)
    {
        return Math.floorMod(hour, 4) == 3;
    }

    private static String rows(String t, int p, int hour)
    {
        return IntStream.range(0, 12).mapToLong(five -> hour * HOUR + five * 5 * MINUTE)
                        .mapToObj(c -> "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", " + c + ", 1);")
                        .collect(Collectors.joining(" ", "BEGIN UNLOGGED BATCH ", " APPLY BATCH"));
    }

    private static int read(Session through, String t, int p, long from, long to, ConsistencyLevel level)
    {
        return at(through, "SELECT v FROM " + t + " WHERE p = " + p + " AND c >= " + from + " AND c < " + to, level);
    }

    /** Share of absent hours that are answered without asking, in percent. */
    private static long skipped(String t, ConsistencyLevel level)
    {
        long before = coordinators.stream().mapToLong(node -> counter(node, "reads_skipped")).sum();
        int absent = 0;
        for (int hour = FIRST; hour < LAST; hour++)
            for (int p = 1; p <= 3; p++)
            {
                Session through = coordinators.get(Math.floorMod(hour / 4 + p, NODES));
                assertEquals("hour " + hour, isAbsent(hour) ? 0 : 12, read(through, t, p, hour * HOUR, (hour + 1) * HOUR, level));
                absent += isAbsent(hour) ? 1 : 0;
            }
        return (coordinators.stream().mapToLong(node -> counter(node, "reads_skipped")).sum() - before) * 100 / absent;
    }

    private static void isSkipped(String t, ConsistencyLevel level)
    {
        // A lease may end on a busy machine.
        long best = 0;
        for (int attempt = 0; attempt < 5 && best < 95; attempt++)
            best = Math.max(best, skipped(t, level));
        System.out.printf("hours: %d of 100 absent hours of %s were skipped at %s%n", best, t, level);
        assertTrue(best + " of 100 absent hours were skipped", best >= 95);
    }

    @Test
    public void absentHoursAreSkipped() throws Exception
    {
        isSkipped(series(1, "ASC"), ConsistencyLevel.ONE);
        isSkipped(series(3, "ASC"), ConsistencyLevel.QUORUM);
    }

    @Test
    public void absentHoursAreSkippedIfRowsDescend() throws Exception
    {
        isSkipped(series(3, "DESC"), ConsistencyLevel.QUORUM);
    }

    /** The rows of an hour's last and next hour's first millisecond, which are outside and inside. */
    @Test
    public void aRowAtABorderIsSeenAtOnce() throws Exception
    {
        String t = series(3, "ASC");
        List<Integer> absent = IntStream.range(FIRST, LAST).filter(ExchangedHoursTest::isAbsent).boxed().toList();
        for (int hour : absent)
        {
            long start = hour * HOUR;
            long row = hour % 8 == 3 ? start : start + HOUR - 1;
            Session reader = coordinators.get(Math.floorMod(hour, NODES));
            assertEquals(0, read(reader, t, 1, start, start + HOUR, ConsistencyLevel.ONE));
            at(coordinators.get(Math.floorMod(hour + 1, NODES)), "INSERT INTO " + t + " (p, c, v) VALUES (1, " + row + ", 1)", ConsistencyLevel.QUORUM);
            assertEquals("hour " + hour, 1, read(reader, t, 1, start, start + HOUR, ConsistencyLevel.QUORUM));
            assertEquals("hour " + hour, 1, read(reader, t, 1, row, row + 1, ConsistencyLevel.QUORUM));
        }
    }
}
