package lacuna.cassandra;

import java.util.UUID;

import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;

/** Mode eventual: a coordinator sees at once, in its copies of the replicas' filters, what it sends to them itself. */
final class OwnWrites
{
    private OwnWrites() {}

    static void install()
    {
        MessagingService.instance().outboundSink.add(OwnWrites::leaves);
    }

    private static boolean leaves(Message<?> message, InetAddressAndPort to)
    {
        if (message.payload instanceof Mutation mutation && Exchange.isActive())
            for (PartitionUpdate update : mutation.getPartitionUpdates())
                note(update, to);
        return true;
    }

    private static void note(PartitionUpdate update, InetAddressAndPort to)
    {
        TableGuard guard = Lacuna.guard(update.metadata().id);
        UUID peer = guard == null || guard.filter.mode != Mode.EVENTUAL ? null : Peers.hostId(to);
        if (peer != null)
            guard.filter.forwarded(update.partitionKey(), peer);
    }
}
