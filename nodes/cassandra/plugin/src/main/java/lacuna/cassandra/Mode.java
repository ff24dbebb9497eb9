package lacuna.cassandra;

import java.util.Locale;

import org.apache.cassandra.exceptions.ConfigurationException;

/** What a table's node filters are used for: {@code [lacuna mode=...]}. */
enum Mode
{
    /** No node filter. */
    OFF,
    /** Exchanged as in {@link #SAFE}, but every read goes to the replicas; the reads that would have been skipped are counted. */
    SHADOW,
    /** Exchanged every interval; a read may miss what was written through other coordinators since. */
    EVENTUAL,
    /** No acknowledgement leaves a node before every node that relies on it knows the new keys. */
    SAFE;

    static Mode of(String name)
    {
        try
        {
            return valueOf(name.toUpperCase(Locale.ROOT));
        }
        catch (IllegalArgumentException unknown)
        {
            throw new ConfigurationException("mode must be off, shadow, eventual or safe, not " + name);
        }
    }

    /** The number of the mode in the native library. */
    long number()
    {
        return ordinal() - 1L;
    }

    String shown()
    {
        return name().toLowerCase(Locale.ROOT);
    }
}
