package lacuna.cassandra;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.Statement;

/** Ways of asking, timed in turns, so that whatever else this machine does meets all. */
final class Timing
{
    private static final int IN_FLIGHT = 16;
    private static final int WARM_STEP = 1_000_000;

    /** What one way and the other took or did. */
    record Both(double stock, double guarded)
    {
        double ratio()
        {
            return stock / guarded;
        }
    }

    private Timing() {}

    /** Medians in microseconds of single requests, one after another, the first of each two by turns. */
    static Both latency(Session through, int requests, IntFunction<Statement> stock, IntFunction<Statement> guarded)
    {
        double[] medians = latencies(through, requests, List.of(stock, guarded));
        return new Both(medians[0], medians[1]);
    }

    /** The same of any number of ways, each of which begins by turns. */
    static double[] latencies(Session through, int requests, List<IntFunction<Statement>> ways)
    {
        double[][] taken = new double[ways.size()][requests];
        for (int i = -requests / 2; i < requests; i++)
            for (int turn = 0; turn < ways.size(); turn++)
            {
                int way = Math.floorMod(i + turn, ways.size());
                double micros = micros(through, ways.get(way).apply(i));
                // The first third warms all of them up.
                if (i >= 0)
                    taken[way][i] = micros;
            }
        return Arrays.stream(taken).mapToDouble(Timing::median).toArray();
    }

    private static double micros(Session through, Statement request)
    {
        long start = System.nanoTime();
        through.execute(request).all();
        return (System.nanoTime() - start) / 1_000.0;
    }

    /**
     * Lets a server compile what it does for both: seconds of requests, by turns, with 16 under way. None is one that is timed
     * later, each second has its own.
     */
    static void warm(Session through, int seconds, IntFunction<Statement> stock, IntFunction<Statement> guarded)
    {
        for (int second = 0; second < seconds; second++)
        {
            int first = (second + 1) * WARM_STEP;
            IntFunction<Statement> request = (second & 1) == 0 ? stock : guarded;
            perSecond(through, i -> request.apply(first + i));
        }
    }

    /** Medians of requests a second with 16 under way, in windows that alternate. */
    static Both throughput(Session through, int windows, IntFunction<Statement> stock, IntFunction<Statement> guarded)
    {
        double[] first = new double[windows];
        double[] second = new double[windows];
        perSecond(through, stock);
        perSecond(through, guarded);
        for (int window = 0; window < windows; window++)
        {
            first[window] = perSecond(through, stock);
            second[window] = perSecond(through, guarded);
        }
        return new Both(median(first), median(second));
    }

    /** Medians of milliseconds that a meter counts for a thousand requests, 16 under way, in alternating windows. */
    static Both spent(Session through, int windows, int requests, LongSupplier meter, IntFunction<Statement> stock,
                      IntFunction<Statement> guarded)
    {
        double[] first = new double[windows];
        double[] second = new double[windows];
        for (int window = 0; window < windows; window++)
        {
            int from = window * requests;
            boolean isStockFirst = (window & 1) == 0;
            double one = perThousand(through, meter, from, requests, isStockFirst ? stock : guarded);
            double other = perThousand(through, meter, from, requests, isStockFirst ? guarded : stock);
            first[window] = isStockFirst ? one : other;
            second[window] = isStockFirst ? other : one;
        }
        return new Both(median(first), median(second));
    }

    private static double perThousand(Session through, LongSupplier meter, int from, int requests, IntFunction<Statement> request)
    {
        long before = meter.getAsLong();
        inFlight(through, from, i -> i < requests, request);
        return 1_000.0 * (meter.getAsLong() - before) / requests;
    }

    private static double perSecond(Session through, IntFunction<Statement> request)
    {
        long start = System.nanoTime();
        long end = start + TimeUnit.SECONDS.toNanos(1);
        int done = inFlight(through, 0, i -> System.nanoTime() < end, request);
        return done * 1e9 / (System.nanoTime() - start);
    }

    /** Requests from a number on with 16 under way, as long as their count is one for more; how many. */
    private static int inFlight(Session through, int from, IntPredicate isOneMore, IntFunction<Statement> request)
    {
        Semaphore free = new Semaphore(IN_FLIGHT);
        int count = 0;
        for (; isOneMore.test(count); count++)
        {
            free.acquireUninterruptibly();
            ResultSetFuture running = through.executeAsync(request.apply(from + count));
            running.addListener(free::release, Runnable::run);
        }
        free.acquireUninterruptibly(IN_FLIGHT);
        return count;
    }

    static double median(double[] values)
    {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
