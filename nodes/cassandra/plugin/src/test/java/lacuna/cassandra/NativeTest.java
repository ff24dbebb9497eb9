package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.Test;

/** The native library in this process: that it is the one in the jar, what a call costs, and what a wrong one does. */
public class NativeTest
{
    private static final long SAFE = 2;
    private static final int CALLS = 100_000;
    /** The bar; a machine that is ten times as slow passes the test. */
    private static final double BAR_NANOS = 15;

    @Test
    public void libraryOfTheJarAnswers() throws Exception
    {
        NativeLibrary.load();
        long hub = Native.open(0, 0, 1, 0, 1_000, 3_000, 1 << 20);
        assertEquals(0, Native.create(hub, SAFE, 1, 2, 1_000, 0.01, -1, 1 << 20));
        assertEquals(0, Native.table(hub, SAFE, 1, 2, 0));
        assertEquals(1, Native.isEmpty(hub, SAFE, 1, 2, 7, 8));
        Native.write(hub, SAFE, 1, 2, 7, 8, 0, 0, 0);
        assertEquals(0, Native.isEmpty(hub, SAFE, 1, 2, 7, 8));
        assertEquals(1, Native.bury(hub, SAFE, 1, 2, 7, 8, 5));
        assertEquals(1, Native.isEmpty(hub, SAFE, 1, 2, 7, 8));
        assertEquals(Native.FAILED, Native.isEmpty(hub, 7, 1, 2, 7, 8));
    }

    /** The best of many short rounds: what other processes do to this machine does not count. */
    @Test
    public void callsCostNanoseconds() throws Exception
    {
        NativeLibrary.load();
        long hub = Native.open(0, 0, 1, 0, 1_000, 3_000, 1 << 20);
        Native.create(hub, SAFE, 1, 2, 100_000, 0.01, -1, 1 << 20);
        Native.table(hub, SAFE, 1, 2, 0);
        double call = Double.MAX_VALUE;
        double lookup = Double.MAX_VALUE;
        long sum = 0;
        for (int round = 0; round < 40; round++)
        {
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++)
                sum += Native.version();
            long middle = System.nanoTime();
            for (int i = 0; i < CALLS; i++)
                sum += Native.isEmpty(hub, SAFE, 1, 2, i, i);
            call = Math.min(call, (double) (middle - start) / CALLS);
            lookup = Math.min(lookup, (double) (System.nanoTime() - middle) / CALLS);
        }
        System.out.printf("native: %.1f ns a call, at most %.0f: %s; %.1f ns with a lock and a lookup in a filter (%d)%n", call, BAR_NANOS,
                          call <= BAR_NANOS ? "PASS" : "FAIL", lookup, sum);
        assertTrue(call + " ns a call", call <= 10 * BAR_NANOS);
    }

    /** What a read in mode safe pays while nothing is new, beside the question to the filters that it is spared; in turns. */
    @Test
    public void aLookAtTheWordIsNoCall()
    {
        double look = Double.MAX_VALUE;
        double question = Double.MAX_VALUE;
        long sum = 0;
        for (int round = 0; round < 40; round++)
        {
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++)
                sum += Exchange.isQuiet() ? 1 : 0;
            long middle = System.nanoTime();
            for (int i = 0; i < CALLS; i++)
                sum += Native.mayReveal(Exchange.hub(), SAFE, 1, 2, i, i, Exchange.now());
            look = Math.min(look, (double) (middle - start) / CALLS);
            question = Math.min(question, (double) (System.nanoTime() - middle) / CALLS);
        }
        System.out.printf("native: %.1f ns a look, %.1f ns a question, %.1f times (%d)%n", look, question, question / look, sum);
        assertTrue(look + " ns and " + question + " ns", 3 * look < question);
    }

    /** The library's clock counts time asleep, which no test can spend; while awake it goes as Java's does. */
    @Test
    public void timeIsTheLibrarys() throws Exception
    {
        NativeLibrary.load();
        long before = System.nanoTime();
        long clock = Native.now();
        long first = System.nanoTime();
        Thread.sleep(50);
        long second = System.nanoTime();
        long passed = Native.now() - clock;
        long after = System.nanoTime();
        assertTrue("a clock of this system", clock >= 0);
        // Whenever this thread had to wait: no less than between the two, and no more than around them.
        assertTrue(passed + " ms", passed >= (second - first) / 1_000_000 - 1_000 && passed <= (after - before) / 1_000_000 + 1_000);
        assertTrue(Exchange.mayRely() && Math.abs(Exchange.now() - Native.now()) < 600_000);
    }

    /** A wall clock that was put back would name this life as another one was named. */
    @Test
    public void everyLifeHasAnotherName()
    {
        Set<Long> names = new HashSet<>();
        for (int life = 0; life < 100; life++)
            assertTrue(names.add(Exchange.incarnation()));
        assertTrue("no clock", names.stream().anyMatch(name -> name < 0));
    }

    /** A node that knows of another width finds no filter at all; one without buckets has the table's own name. */
    @Test
    public void everyWidthOfBucketsHasAnotherName()
    {
        Set<List<Long>> widths = new HashSet<>();
        Set<Long> names = new HashSet<>();
        for (String bucket : List.of("0", "1", "2", "16", "17", "1000", "4096", "1m", "15m", "1h", "24h", "7d"))
            for (String origin : List.of("0", "1", "-1", "5", "30m", "3d"))
            {
                BucketWidth width = BucketWidth.of(bucket, origin);
                widths.add(List.of(width.width, width.origin));
                names.add(TableFilter.named(7, width.code()));
            }
        assertEquals(widths.size(), names.size());
        assertEquals(7, TableFilter.named(7, BucketWidth.NONE.code()));
    }

    @Test
    public void wrongLibraryIsRefused()
    {
        assertThrows(UnsatisfiedLinkError.class, () -> NativeLibrary.load(Path.of("/nowhere/liblacuna_cassandra.so")));
        assertThrows(IOException.class, () -> NativeLibrary.check(Native.VERSION + 1));
    }
}
