package lacuna.cassandra;

import org.apache.cassandra.db.StorageHook;

/**
 * Whether a node has both properties. The hook sees every write, and a filter without it denies what is new; the handler brings
 * the messages, the switches and what requests ask for. With one alone nothing is answered that rests on the other.
 */
final class Installation
{
    static final String HOOK = "-Dcassandra.storage_hook=lacuna.cassandra.LacunaStorageHook";
    static final String HANDLER = "-Dcassandra.custom_query_handler_class=lacuna.cassandra.LacunaQueryHandler";

    private static volatile boolean hasHook;
    private static volatile boolean hasHandler;

    private Installation() {}

    /** Called by ours when it is made, by Cassandra or by somebody else's hook that stands before it. */
    static void hookIsMade()
    {
        hasHook = true;
    }

    static void handlerIsMade()
    {
        hasHandler = true;
    }

    /** Throws an {@link IllegalStateException} that names the missing property. */
    static void wantsHook()
    {
        // Cassandra makes it with the first look at this field.
        boolean isOurs = StorageHook.instance instanceof LacunaStorageHook;
        if (!isOurs && !hasHook)
            throw new IllegalStateException(HOOK + " is missing");
    }

    /** The same for the handler, which is made before any table is opened; but without it nobody else could say so. */
    static void needsHandler()
    {
        if (!hasHandler)
            Lacuna.failed("installation", new IllegalStateException(HANDLER + " is missing"));
    }
}
