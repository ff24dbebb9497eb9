package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.ParamType;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * A request with the custom payload {@code lacuna = off} is read in the stock way on every replica.
 *
 * <p>On the coordinator the request is known by its warnings object, which Cassandra carries to each thread that works for it.
 * To another replica the option travels as a custom parameter of the read message, which a node without the plug-in ignores.
 */
final class OptOut implements AutoCloseable
{
    private static final String NAME = "lacuna";
    private static final String OFF = "off";

    private static final Set<ClientWarn.State> REQUESTS = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    private static final ThreadLocal<Boolean> REMOTE = ThreadLocal.withInitial(() -> false);
    private static volatile boolean used;

    private final ClientWarn.State request;

    private OptOut(ClientWarn.State request)
    {
        this.request = request;
    }

    /** Null if the request has no such option. */
    static OptOut of(Map<String, ByteBuffer> payload) throws IllegalStateException
    {
        ByteBuffer value = payload == null ? null : payload.get(NAME);
        if (value == null || !OFF.equals(text(value)) || ClientWarn.instance.get() == null)
            return null;
        used = true;
        Lacuna.COUNTERS.optedOut.increment();
        ClientWarn.State request = ClientWarn.instance.get();
        REQUESTS.add(request);
        return new OptOut(request);
    }

    private static String text(ByteBuffer value)
    {
        return StandardCharsets.UTF_8.decode(value.duplicate()).toString();
    }

    @Override
    public void close()
    {
        REQUESTS.remove(request);
    }

    /** Whether the read on this thread belongs to such a request. */
    static boolean isAsked()
    {
        if (!used)
            return false;
        ClientWarn.State local = ClientWarn.instance.get();
        return local == null ? REMOTE.get() : REQUESTS.contains(local);
    }

    static void install()
    {
        MessagingService.instance().outboundSink.add(OptOut::leaves);
        MessagingService.instance().inboundSink.add(OptOut::arrives);
    }

    /** False when the message was sent in another form. */
    private static boolean leaves(Message<?> message, InetAddressAndPort to)
    {
        if (!used || message.verb() != Verb.READ_REQ || !isAsked() || isMarked(message))
            return true;
        byte[] off = ByteBufferUtil.getArray(ByteBufferUtil.bytes(OFF));
        MessagingService.instance().send(message.withParam(ParamType.CUSTOM_MAP, Map.of(NAME, off)), to);
        return false;
    }

    /** Runs on the thread that will read. */
    private static boolean arrives(Message<?> message)
    {
        if (message.verb() == Verb.READ_REQ)
        {
            boolean marked = isMarked(message);
            used |= marked;
            REMOTE.set(marked);
        }
        return true;
    }

    private static boolean isMarked(Message<?> message)
    {
        Map<String, byte[]> params = message.header.customParams();
        return params != null && params.containsKey(NAME);
    }
}
