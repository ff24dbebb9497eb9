package lacuna.cassandra;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.Verb;

/**
 * Reads whose coordinator compares digests of repaired data alone: tombstones from elsewhere would disturb them, so they are read
 * from all SSTables.
 *
 * <p>The coordinator decides it by its own setting and says so in the message to other replicas. Its own replica gets no message, so
 * there this node's setting counts.
 */
final class TrackedReads
{
    private static final ThreadLocal<Boolean> REMOTE = ThreadLocal.withInitial(() -> false);

    private TrackedReads() {}

    static void install()
    {
        MessagingService.instance().inboundSink.add(TrackedReads::arrives);
    }

    /** Runs on the thread that will read. */
    private static boolean arrives(Message<?> message)
    {
        if (message.verb() == Verb.READ_REQ)
            REMOTE.set(message.trackRepairedData());
        return true;
    }

    /** Whether the read on this thread may be such a one. */
    static boolean isAsked()
    {
        return REMOTE.get() || DatabaseDescriptor.getRepairedDataTrackingForPartitionReadsEnabled();
    }
}
