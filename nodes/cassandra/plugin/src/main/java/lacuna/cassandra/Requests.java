package lacuna.cassandra;

import java.util.List;
import java.util.concurrent.TimeUnit;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.service.paxos.Commit;

/**
 * What other nodes' requests write or scan here, until they are answered: a response names its request, and nothing else.
 *
 * <p>A request that is not known any more, because there were too many or it took too long, may have been of anything.
 */
final class Requests
{
    private static final int MAX_REQUESTS = 1 << 16;
    private static final long MAX_SECONDS = 60;

    private static final class Request
    {
        final InetAddressAndPort from;
        final long id;

        Request(InetAddressAndPort from, long id)
        {
            this.from = from;
            this.id = id;
        }

        @Override
        public boolean equals(Object object)
        {
            return object instanceof Request && id == ((Request) object).id && from.equals(((Request) object).from);
        }

        @Override
        public int hashCode()
        {
            return 31 * from.hashCode() + Long.hashCode(id);
        }
    }

    private final Cache<Request, News> underWay = Caffeine.newBuilder().maximumSize(MAX_REQUESTS)
                                                           .expireAfterWrite(MAX_SECONDS, TimeUnit.SECONDS).executor(Runnable::run).build();

    /** A request that has arrived and is not carried out yet. */
    void record(Message<?> message)
    {
        InetAddressAndPort asker = message.respondTo() == null ? message.from() : message.respondTo();
        // Also in place of one that was never answered, by a node that has started again since and counts from the beginning.
        underWay.put(new Request(asker, message.id()), newsOf(message.payload));
    }

    private static News newsOf(Object payload)
    {
        if (payload instanceof Mutation)
            return News.of(((Mutation) payload).getPartitionUpdates());
        if (payload instanceof Commit)
            return News.of(List.of(((Commit) payload).update));
        return payload instanceof ReadCommand ? News.of(((ReadCommand) payload).metadata().id) : News.ANYTHING;
    }

    /** What the response with this number may tell the node that asked. */
    News answered(InetAddressAndPort to, long id)
    {
        News news = underWay.asMap().remove(new Request(to, id));
        return news == null ? News.ANYTHING : news;
    }
}
