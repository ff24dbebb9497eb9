package lacuna.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

import org.apache.cassandra.io.IVersionedSerializer;
import org.apache.cassandra.io.util.DataInputPlus;
import org.apache.cassandra.io.util.DataOutputPlus;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.utils.memory.MemoryUtil;

/**
 * Frames of the exchange between nodes: a custom verb of Cassandra's own messaging, one way, no answer.
 *
 * <p>The body is a version byte, the mode's number, and a frame of {@code docs/format/node-filters.md}, which carries its own
 * checksum. Only nodes that say in gossip that they are ready are sent any; others would log an error for each.
 */
final class Wire
{
    static final byte VERSION = 2;
    /** Mode, receiver's host id: eight bytes and sixteen. */
    private static final int HEAD = 24;
    private static final int MAX_BYTES = 64 << 20;
    private static ByteBuffer incoming = ByteBuffer.allocateDirect(1 << 16);

    private Wire() {}

    static final class Frame
    {
        final byte[] bytes;

        Frame(byte[] bytes)
        {
            this.bytes = bytes;
        }
    }

    private static final class Serializer implements IVersionedSerializer<Frame>
    {
        @Override
        public void serialize(Frame frame, DataOutputPlus out, int version) throws IOException
        {
            out.writeInt(frame.bytes.length);
            out.write(frame.bytes);
        }

        @Override
        public Frame deserialize(DataInputPlus in, int version) throws IOException
        {
            int length = in.readInt();
            if (length < 0 || length > MAX_BYTES)
                throw new IOException("a frame of node filters has an impossible length: " + length + " bytes");
            byte[] bytes = new byte[length];
            in.readFully(bytes);
            return new Frame(bytes);
        }

        @Override
        public long serializedSize(Frame frame, int version)
        {
            return Integer.BYTES + frame.bytes.length;
        }
    }

    static void install() throws ReflectiveOperationException
    {
        Serializer serializer = new Serializer();
        Verb.UNUSED_CUSTOM_VERB.unsafeSetSerializer(() -> serializer);
        MessagingService.instance().inboundSink.add(Wire::receiveFrame);
    }

    /** Sends the frame that the hub wrote at the start of a buffer; it counts as lost if the receiver does not take part. */
    static void send(ByteBuffer buffer, int length)
    {
        UUID to = new UUID(buffer.getLong(8), buffer.getLong(16));
        InetAddressAndPort address = Peers.readyAddress(to);
        if (address == null)
            return;
        byte[] bytes = new byte[2 + length - HEAD];
        bytes[0] = VERSION;
        bytes[1] = (byte) buffer.getLong(0);
        buffer.duplicate().position(HEAD).get(bytes, 2, length - HEAD);
        send(new Frame(bytes), address);
    }

    /** To a node that takes part. */
    private static void send(Frame frame, InetAddressAndPort address)
    {
        Lacuna.COUNTERS.framesSent.increment();
        MessagingService.instance().send(Message.out(Verb.UNUSED_CUSTOM_VERB, frame), address);
    }

    /** As {@link #send(ByteBuffer, int)}, for a frame that is whole. */
    static void sendIfReady(Frame frame, InetAddressAndPort address)
    {
        if (Peers.isReady(address))
            send(frame, address);
    }

    /** Cassandra has no handler for this verb, so none is passed on. */
    private static boolean receiveFrame(Message<?> message)
    {
        if (message.verb() != Verb.UNUSED_CUSTOM_VERB)
            return true;
        try
        {
            UUID from = Peers.hostId(message.from());
            if (Exchange.isActive() && from != null && message.payload instanceof Frame)
                take(from, ((Frame) message.payload).bytes);
        }
        catch (Throwable failure)
        {
            Exchange.fail("message", failure);
        }
        return false;
    }

    /** A frame of another version or of an unknown mode counts as lost. */
    static boolean isUnderstood(byte[] bytes)
    {
        return bytes.length >= 2 && bytes[0] == VERSION && bytes[1] >= Mode.SHADOW.number() && bytes[1] <= Mode.SAFE.number();
    }

    private static void take(UUID from, byte[] bytes) throws IOException
    {
        if (Gaps.isOne(bytes))
            Gaps.receive(bytes);
        if (!isUnderstood(bytes))
            return;
        receive(from, bytes);
        Exchange.send();
        Acknowledgements.release();
    }

    private static synchronized void receive(UUID from, byte[] bytes)
    {
        int length = bytes.length - 2;
        if (incoming.capacity() < length)
            incoming = ByteBuffer.allocateDirect(length);
        incoming.clear().put(bytes, 2, length);
        long address = MemoryUtil.getAddress(incoming);
        // The clock is read after the request has come, so that a lease ends here after it ends there.
        Exchange.checked(Native.receive(Exchange.hub(), bytes[1], Exchange.now(), from.getMostSignificantBits(),
                                        from.getLeastSignificantBits(), address, length));
    }
}
