package lacuna.cassandra;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

import org.apache.cassandra.db.StorageHook;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a node has both properties. The hook sees every write, and a filter without it denies what is new; the handler brings
 * the messages, the switches and the options of a request. With one alone, the plug-in answers nothing that needs the other.
 */
final class Installation
{
    static final String HOOK = "-Dcassandra.storage_hook=lacuna.cassandra.LacunaStorageHook";
    static final String HANDLER = "-Dcassandra.custom_query_handler_class=lacuna.cassandra.LacunaQueryHandler";

    private static final Logger LOGGER = LoggerFactory.getLogger(Installation.class);
    private static volatile boolean hasHook;
    private static volatile boolean hasHandler;

    private Installation() {}

    /** One line at the start of a node: what runs here. Each table adds one when it begins to take part. */
    static void log()
    {
        LOGGER.info("Lacuna {} (native library {}): answers from memory {}, exchange of node filters {}", version(), Native.VERSION,
                    state(Lacuna.isActive(), Lacuna.reason()), state(Exchange.isActive(), Exchange.reason()));
    }

    private static String state(boolean isActive, String reason)
    {
        return isActive ? "active" : "inactive (" + reason + ")";
    }

    /** Of the jar, as Maven wrote it there; "unknown" where the classes are in none. */
    static String version()
    {
        try (InputStream properties = Installation.class.getResourceAsStream("/META-INF/maven/lacuna/lacuna-cassandra/pom.properties"))
        {
            Properties read = new Properties();
            if (properties != null)
                read.load(properties);
            return read.getProperty("version", "unknown");
        }
        catch (IOException unreadable)
        {
            return "unknown";
        }
    }

    /** Called by ours when it is made, by Cassandra or by another hook that calls it. */
    static void recordHook()
    {
        hasHook = true;
    }

    static void recordHandler()
    {
        hasHandler = true;
    }

    /** Whether writes are reported here. */
    static boolean hasHook()
    {
        return hasHook;
    }

    /** Throws an {@link IllegalStateException} that names the missing property. */
    static void requireHook()
    {
        // Cassandra makes it with the first look at this field.
        boolean isOurs = StorageHook.instance instanceof LacunaStorageHook;
        if (!isOurs && !hasHook)
            throw new IllegalStateException("add " + HOOK + " to jvm-server.options: it is missing");
    }

    /** The same for the handler, which is made before any table is opened. Without it there is no virtual table, so the log says it. */
    static void requireHandler()
    {
        if (!hasHandler)
            Lacuna.fail("installation", new IllegalStateException("add " + HANDLER + " to jvm-server.options: it is missing"));
    }
}
