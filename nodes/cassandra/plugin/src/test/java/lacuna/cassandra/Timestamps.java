package lacuna.cassandra;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * When a client says that it wrote: mostly now, sometimes long ago, in microseconds. Never within a conditional write, whose
 * moment the store chooses.
 */
final class Timestamps
{
    private static final int LONG_AGO_MICROS = 20_000_000;

    private final Random random;
    private final List<long[]> conditionals = new ArrayList<>();
    private long last;

    Timestamps(Random random)
    {
        this.random = random;
    }

    /** Later than all before. */
    long now()
    {
        Instant now = Instant.now();
        last = Math.max(last + 1, now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000);
        return last;
    }

    /** One in twenty lies in the past. */
    long next()
    {
        long at = now();
        if (random.nextInt(20) != 0)
            return at;
        at -= 1 + random.nextInt(LONG_AGO_MICROS);
        for (int i = conditionals.size() - 1; i >= 0; i--)
            if (at >= conditionals.get(i)[0] && at <= conditionals.get(i)[1])
                at = conditionals.get(i)[0] - 1;
        return at;
    }

    /** A conditional write ran from that moment to that one. */
    void keepFree(long from, long to)
    {
        conditionals.add(new long[] { from, to });
    }
}
