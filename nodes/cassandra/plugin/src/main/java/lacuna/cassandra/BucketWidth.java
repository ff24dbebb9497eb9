package lacuna.cassandra;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.cassandra.exceptions.ConfigurationException;

/**
 * How wide a bucket of rows is and where buckets begin: the options {@code bucket} and {@code origin}.
 *
 * <p>A plain number counts in units of the clustering column; {@code s}, {@code m}, {@code h} and {@code d} are for timestamps. Bucket
 * {@code n} begins at {@code origin + n * width}, so {@code 1h} is an hour that begins with the hour, in UTC.
 */
final class BucketWidth
{
    static final BucketWidth NONE = new BucketWidth(0, 0, false);

    private static final Pattern NUMBER = Pattern.compile("(-?[0-9]{1,9})([smhd]?)");
    private static final Map<String, Long> MILLIS = Map.of("", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

    /** At least 1; 0 if rows have no buckets. */
    final long width;
    /** At least 0 and less than the width. */
    final long origin;
    /** Whether a unit of time was given. */
    final boolean isTime;

    BucketWidth(long width, long origin, boolean isTime)
    {
        this.width = width;
        this.origin = origin;
        this.isTime = isTime;
    }

    static BucketWidth of(String bucket, String origin)
    {
        Matcher width = matched("bucket", bucket);
        Matcher begin = matched("origin", origin);
        long units = units(width);
        if (units < 0)
            throw new ConfigurationException("bucket must be above 0, such as 1h or 4096, not " + bucket);
        if (units == 0)
            return NONE;
        return new BucketWidth(units, Math.floorMod(units(begin), units), hasUnit(width) || hasUnit(begin));
    }

    private static Matcher matched(String name, String value)
    {
        Matcher matcher = NUMBER.matcher(value);
        if (!matcher.matches())
            throw new ConfigurationException(name + " must be a whole number of at most nine digits, for timestamps also one of s, m, h, d, "
                                             + "such as 15m, not " + value);
        return matcher;
    }

    private static boolean hasUnit(Matcher matched)
    {
        return !matched.group(2).isEmpty();
    }

    private static long units(Matcher matched)
    {
        return Long.parseLong(matched.group(1)) * MILLIS.get(matched.group(2));
    }

    /** The bucket of a value; below 0 before the origin. It always fits, since an origin above 0 has a width of 2 or more. */
    long number(long value)
    {
        // Not of value - origin, which may have no number.
        return Math.floorDiv(value, width) - (Math.floorMod(value, width) < origin ? 1 : 0);
    }

    /** The first value of a bucket; throws if it has no number. */
    long first(long number)
    {
        return Math.addExact(Math.multiplyExact(number, width), origin);
    }

    /** How far into its bucket a value is. */
    long offset(long value)
    {
        return Math.floorMod(Math.floorMod(value, width) - origin, width);
    }

    /** Another number for every way of making buckets that two operators are likely to choose; 0 for none. */
    long code()
    {
        return (width + origin * 0xD6E8_FEB8_6659_FD93L) * 0x9E37_79B9_7F4A_7C15L;
    }
}
