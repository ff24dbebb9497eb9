package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.math.BigInteger;
import java.util.List;
import java.util.Random;

import org.apache.cassandra.exceptions.ConfigurationException;
import org.junit.Test;

/** Buckets as operators write them. */
public class BucketWidthTest
{
    private static final long HOUR = 3_600_000;

    @Test
    public void hoursBeginWithTheHour()
    {
        BucketWidth hour = BucketWidth.of("1h", "0");
        assertEquals(List.of(HOUR, 0L), List.of(hour.width, hour.origin));
        assertTrue(hour.isTime);
        assertEquals(List.of(0L, 0L, 1L, -1L, -2L),
                     List.of(hour.number(0), hour.number(HOUR - 1), hour.number(HOUR), hour.number(-1), hour.number(-HOUR - 1)));
        assertEquals(List.of(0L, HOUR - 1, 0L), List.of(hour.offset(-HOUR), hour.offset(-1), hour.offset(5 * HOUR)));
    }

    @Test
    public void unitsAreMilliseconds()
    {
        assertEquals(List.of(30_000L, 900_000L, 86_400_000L, 3_600_000L),
                     List.of("30s", "15m", "1d", "3600000").stream().map(text -> BucketWidth.of(text, "0").width).toList());
        assertTrue(BucketWidth.of("1000", "1s").isTime);
        assertFalse(BucketWidth.of("1000", "-1").isTime);
    }

    /** Mondays at midnight: 1970 began on a Thursday. */
    @Test
    public void weeksBeginAtTheirOrigin()
    {
        BucketWidth week = BucketWidth.of("7d", "4d");
        assertEquals(week.origin, BucketWidth.of("7d", "-3d").origin);
        assertEquals(List.of(-1L, 0L), List.of(week.number(4 * 24 * HOUR - 1), week.number(4 * 24 * HOUR)));
    }

    @Test
    public void everyValueIsWhereDivisionPutsIt()
    {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 20_000; round++)
        {
            BucketWidth width = BucketWidth.of(Integer.toString(1 + random.nextInt(1 << 1 + random.nextInt(29))),
                                               Integer.toString(random.nextInt(1_000_000) - 500_000));
            long value = round % 4 == 0 ? (round % 8 == 0 ? Long.MIN_VALUE + random.nextInt(9) : Long.MAX_VALUE - random.nextInt(9))
                                        : random.nextLong() >> random.nextInt(64);
            BigInteger above = BigInteger.valueOf(value).subtract(BigInteger.valueOf(width.origin));
            BigInteger offset = above.mod(BigInteger.valueOf(width.width));
            String which = value + " in buckets of " + width.width + " from " + width.origin + ", seed " + seed;
            assertEquals(which, offset.longValueExact(), width.offset(value));
            assertEquals(which, above.subtract(offset).divide(BigInteger.valueOf(width.width)).longValueExact(), width.number(value));
        }
    }

    @Test
    public void whatIsNoWidthIsRefused()
    {
        for (String bad : List.of("", "h", "1w", "1.5h", "-1h", "-5", "1000000000", "1 h", "0x10"))
            assertThrows(bad, ConfigurationException.class, () -> BucketWidth.of(bad, "0"));
        assertThrows(ConfigurationException.class, () -> BucketWidth.of("1h", "noon"));
        assertSame(BucketWidth.NONE, BucketWidth.of("0", "5"));
    }
}
