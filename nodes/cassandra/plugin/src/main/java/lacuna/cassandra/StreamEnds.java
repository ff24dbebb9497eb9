package lacuna.cassandra;

import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.streaming.StreamSession;
import org.apache.cassandra.streaming.messages.StreamMessage;

/**
 * Mode safe: a stream ends when every node that relies on this one knows the keys that came with it.
 *
 * <p>As a rule streamed SSTables become live, and their notice waits ({@link FilterBuilds#loadStreamed}). Of a table with materialized views, or
 * with change data capture, Cassandra applies each partition as a write instead, and no client's request waits for that. A session says here
 * that it is complete after it has applied everything, and before it tells the other side.
 */
final class StreamEnds implements StreamSession.MessageStateSink
{
    private final StreamSession.MessageStateSink inner;

    private StreamEnds(StreamSession.MessageStateSink inner)
    {
        this.inner = inner;
    }

    static void install()
    {
        StreamSession.sink = new StreamEnds(StreamSession.sink);
    }

    /** An exception makes the session fail, so its rows are not confirmed. */
    @Override
    public void recordState(InetAddressAndPort peer, StreamSession.State state)
    {
        inner.recordState(peer, state);
        if (state == StreamSession.State.COMPLETE && Waits.current().forWrites())
            Acknowledgements.await(News.ANYTHING);
    }

    @Override
    public void recordMessage(InetAddressAndPort peer, StreamMessage.Type message)
    {
        inner.recordMessage(peer, message);
    }

    @Override
    public void onClose(InetAddressAndPort peer)
    {
        inner.onClose(peer);
    }
}
