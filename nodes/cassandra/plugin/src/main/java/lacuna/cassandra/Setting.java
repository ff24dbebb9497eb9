package lacuna.cassandra;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A number that an operator may set for a node: {@code -Dlacuna.lease_millis=1000}. */
final class Setting
{
    private static final Logger LOGGER = LoggerFactory.getLogger(Setting.class);

    private Setting() {}

    /** The standard value if none is set. In place of one out of bounds the nearest is taken, and the log says so. */
    static long of(String name, long standard, long min, long max)
    {
        String value = System.getProperty(name);
        if (value == null)
            return standard;
        long taken = taken(value.trim(), standard, min, max);
        if (!value.trim().equals(Long.toString(taken)))
            LOGGER.warn("Lacuna: -D{}={} must be a whole number from {} to {}: {} is taken", name, value, min, max, taken);
        return taken;
    }

    private static long taken(String value, long standard, long min, long max)
    {
        try
        {
            return Math.max(min, Math.min(max, Long.parseLong(value)));
        }
        catch (NumberFormatException noNumber)
        {
            return standard;
        }
    }
}
