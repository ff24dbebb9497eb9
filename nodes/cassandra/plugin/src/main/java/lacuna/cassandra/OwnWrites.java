package lacuna.cassandra;

import java.util.UUID;

import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.service.paxos.Commit;

/** Mode eventual: a coordinator sees at once, in its copies of the replicas' filters, what it sends to them itself. */
final class OwnWrites
{
    private OwnWrites() {}

    static void install()
    {
        MessagingService.instance().outboundSink.add(OwnWrites::noteSent);
    }

    private static boolean noteSent(Message<?> message, InetAddressAndPort to)
    {
        if (!Exchange.isActive())
            return true;
        if (message.payload instanceof Mutation)
            for (PartitionUpdate update : ((Mutation) message.payload).getPartitionUpdates())
                note(update, to);
        else if (message.payload instanceof Commit)
            note(((Commit) message.payload).update, to);
        return true;
    }

    private static void note(PartitionUpdate update, InetAddressAndPort to)
    {
        TableGuard guard = Lacuna.guard(update.metadata().id);
        UUID peer = guard == null || guard.filter.mode != Mode.EVENTUAL ? null : Peers.hostId(to);
        if (peer != null)
            guard.filter.forwarded(update, peer);
    }
}
