package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.locator.InetAddressAndPort;

/** Whether reads of a table through this node can be skipped now; if not, why. */
final class TableState
{
    private TableState() {}

    static String of(TableFilter filter)
    {
        String failure = filter.builds.rebuildFailure();
        return failure == null ? ofReads(filter) : ofReads(filter) + "; a new build of its own filter has failed, and the one that it has serves: " + failure;
    }

    private static String ofReads(TableFilter filter)
    {
        String obstacle = obstacle(filter);
        if (obstacle != null)
            return obstacle;
        List<String> lacks = new ArrayList<>();
        lacks.add(lack(filter));
        filter.wanted.forEach(peer -> lacks.add(lack(filter, peer)));
        lacks.removeIf(Objects::isNull);
        if (!lacks.isEmpty())
            return "not all reads can be skipped: " + String.join("; ", lacks);
        return filter.mode == Mode.SHADOW ? "mode shadow: reads that could be skipped are counted" : "reads are skipped";
    }

    /** Why this node can skip no read of the table; null if it can. */
    private static String obstacle(TableFilter filter)
    {
        if (!Lacuna.isActive())
            return "the plug-in is inactive: " + Lacuna.reason();
        if (!Lacuna.isSwitchedOn())
            return "answers are switched off at this node";
        if (filter.mode == Mode.OFF)
            return "mode off: no read is skipped";
        if (!Exchange.isActive())
            return "the exchange of filters is inactive: " + Exchange.reason();
        if (!filter.isUsed())
            return Exchange.mayRely() ? "no replica in this datacentre" : "mode safe wants a clock that counts sleep, which this system has not";
        if (System.getProperty("lacuna.inner_query_handler") != null)
            return "an inner query handler has to see every read";
        return DatabaseDescriptor.getPartitionDenylistEnabled() ? "a denylist of partitions is enabled" : null;
    }

    /** What this node's own filter lacks. */
    private static String lack(TableFilter filter)
    {
        String progress = filter.builds.progress();
        return progress == null && filter.isUnknown(null) ? "its own filter would take more than filter_bytes, and knows nothing" : progress;
    }

    /** What is missing of a peer. */
    private static String lack(TableFilter filter, UUID peer)
    {
        InetAddressAndPort address = Peers.addresses().get(peer);
        if (address == null)
            return null;
        String name = address.getHostAddress(false);
        if (!Peers.isReady(address))
            return name + " has no plug-in";
        if (filter.number(peer, 0) < 0)
            return name + " has shown no filter: it is being filled there, or fetched";
        if (filter.isUnknown(peer))
            return "the copy of " + name + " knows nothing: it would take more than filter_bytes there, or lacuna.copy_bytes here";
        long open = filter.number(peer, TableFilter.OPEN_SLOTS);
        if (Exchange.mayRelyOn(filter.mode, peer))
            return open > 0 ? "new keys stream into " + open + " of 256 parts of the table at " + name : null;
        return filter.mode == Mode.EVENTUAL ? "the copy of " + name + " is too old" : "no lease of " + name;
    }
}
