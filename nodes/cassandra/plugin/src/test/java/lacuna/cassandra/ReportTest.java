package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Map;

import org.apache.cassandra.exceptions.ConfigurationException;
import org.junit.Test;

/** What the report says in words. */
public class ReportTest
{
    private static final long MILLI = 1_000_000;

    /** Of 2,000 reads of 1 ms each some would have been skipped, and of 1,000 writes at three nodes some would have waited. */
    private static Report.Sums sums(int skippable, int waiting, long lookNanos)
    {
        Report report = new Report(16);
        for (int i = 0; i < 2_000; i++)
        {
            report.looked(lookNanos, true);
            report.read(MILLI, i < skippable ? 2 : 0);
        }
        for (int i = 0; i < 3_000; i++)
            report.wrote(i < 3 * waiting);
        return report.sums(3);
    }

    private static String advice(int skippable, int waiting, long lookNanos)
    {
        String advice = sums(skippable, waiting, lookNanos).advice();
        return advice.substring(0, advice.indexOf(advice.contains(":") ? ':' : ' '));
    }

    @Test
    public void whatIsSavedIsComparedWithWhatWaits()
    {
        assertEquals("yes, mode safe", advice(2_000, 0, 10_000));
        assertEquals("yes, mode safe", advice(1_000, 400, 10_000));
        assertEquals("hardly", advice(1_000, 800, 10_000));
        assertEquals("no: new keys would wait longer than reads would save", sums(900, 1_000, 10_000).advice());
        assertEquals("no: only 2.5 % of the reads could be skipped", sums(50, 0, 10_000).advice());
        assertEquals("no: looks would take longer than reads would save", sums(200, 0, 150_000).advice());
    }

    @Test
    public void sumsAreOfAllPartitions()
    {
        Report.Sums sums = sums(500, 100, 20_000);
        assertEquals(16 * 2_000, sums.reads);
        assertEquals(16 * 500 * 2, sums.replicaReads);
        assertEquals(16 * 500, sums.savedMillis, 1e-6);
        assertEquals("each write is counted at three nodes", 16 * 100, sums.insertMillis, 1e-6);
        assertEquals(0.25, sums.share(), 1e-9);
        assertEquals(0.1, sums.waitingShare(), 1e-9);
        assertEquals(0.02, sums.lookShare(), 1e-9);
    }

    @Test
    public void fewReadsSayNothing()
    {
        Report report = new Report(1);
        assertEquals("too early to say: 0 of 1000 reads of the sample", report.sums(3).advice());
        for (int i = 0; i < 999; i++)
            report.read(MILLI, 1);
        assertTrue(report.sums(3).advice().startsWith("too early"));
        report.read(MILLI, 1);
        assertTrue(report.sums(3).advice().startsWith("yes"));
    }

    /** A table has 256 parts. */
    @Test
    public void aStreamIsFastOverTheWholeTable()
    {
        assertEquals(4, TableOptions.of(Map.of("mode", "safe")).slotWrites);
        for (long[] pair : new long[][] { { 0, 0 }, { 1, 1 }, { 256, 1 }, { 511, 1 }, { 512, 2 }, { 100_000, 390 } })
            assertEquals(pair[1], TableOptions.of(Map.of("mode", "safe", "ingest", Long.toString(pair[0]))).slotWrites);
        assertThrows(ConfigurationException.class, () -> TableOptions.of(Map.of("ingest", "fast")));
    }

    /** Another mode would deny what is not in its sample. */
    @Test
    public void onlyModeShadowHasASample()
    {
        assertEquals(16, TableOptions.of(Map.of("mode", "shadow")).sample);
        assertEquals(3, TableOptions.of(Map.of("mode", "shadow", "sample", "3")).sample);
        for (String mode : new String[] { "off", "eventual", "safe" })
        {
            assertEquals(1, TableOptions.of(Map.of("mode", mode)).sample);
            assertThrows(ConfigurationException.class, () -> TableOptions.of(Map.of("mode", mode, "sample", "16")));
        }
        assertThrows(ConfigurationException.class, () -> TableOptions.of(Map.of("mode", "shadow", "sample", "0")));
    }
}
