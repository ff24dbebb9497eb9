package lacuna.cassandra;

import java.util.List;
import java.util.Map;

/** What operators do to a node of a cluster now and then. */
final class Upkeep
{
    private static final String METRICS = "org.apache.cassandra.metrics:type=";

    private Upkeep() {}

    /** Whether it keeps what others miss; those that are kept already are delivered in any case. */
    static void keepHints(Node node, boolean on)
    {
        node.jmx.set("org.apache.cassandra.db:type=StorageProxy", "HintedHandoffEnabled", on);
    }

    static void dispatchHints(Node node, boolean on)
    {
        node.jmx.invoke("org.apache.cassandra.hints:type=HintsService", on ? "resumeDispatch" : "pauseDispatch", new Object[0]);
    }

    static long hintsKept(Node node)
    {
        return counted(node, METRICS + "Storage,name=TotalHints");
    }

    /** Hints that were acknowledged as written. */
    static long hintsDelivered(Node node)
    {
        return counted(node, METRICS + "HintsService,name=HintsSucceeded");
    }

    /** What is counted for the first time creates its counter. */
    private static long counted(Node node, String counter)
    {
        return node.jmx.has(counter) ? (Long) node.jmx.attribute(counter, "Count") : 0;
    }

    /** Compares a table's replicas in all ranges of the node, and streams what one of them lacks. */
    static void repair(Node node, String keyspace, String table)
    {
        Map<String, String> options = Map.of("columnFamilies", table, "incremental", "false", "parallelism", "parallel");
        int command = (Integer) node.storageService("repairAsync", new Object[] { keyspace, options },
                                                    String.class.getName(), Map.class.getName());
        Cluster.until("repair " + command + " is over", () -> !state(node, command).equals("IN_PROGRESS"));
        if (!state(node, command).equals("COMPLETED"))
            throw new IllegalStateException("repair of " + keyspace + "." + table + ": " + status(node, command));
    }

    private static String state(Node node, int command)
    {
        List<?> status = status(node, command);
        return status == null || status.isEmpty() ? "IN_PROGRESS" : status.get(0).toString();
    }

    private static List<?> status(Node node, int command)
    {
        return (List<?>) node.storageService("getParentRepairStatus", new Object[] { command }, "int");
    }

    /** What a table's SSTables take there. */
    static long bytesOnDisk(Node node, String keyspace, String table)
    {
        String space = METRICS + "Table,keyspace=" + keyspace + ",scope=" + table + ",name=LiveDiskSpaceUsed";
        return (Long) node.jmx.attribute(space, "Count");
    }

    /** How many SSTables a table has there. */
    static int sstables(Node node, String keyspace, String table)
    {
        return (Integer) node.jmx.attribute(METRICS + "Table,keyspace=" + keyspace + ",scope=" + table + ",name=LiveSSTableCount", "Value");
    }

    /** Drops what the node holds no range of any more. */
    static void cleanUp(Node node, String keyspace)
    {
        int status = (Integer) node.storageService("forceKeyspaceCleanup", new Object[] { keyspace, new String[0] },
                                                   String.class.getName(), String[].class.getName());
        if (status != 0)
            throw new IllegalStateException("cleanup of " + keyspace + ": " + status);
    }

    /** Gives all it holds to others, and leaves the ring. */
    static void decommission(Node node)
    {
        node.storageService("decommission", new Object[] { false }, "boolean");
    }
}
