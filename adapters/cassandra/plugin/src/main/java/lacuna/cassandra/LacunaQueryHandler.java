package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.Map;

import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;

/**
 * {@code -Dcassandra.custom_query_handler_class=lacuna.cassandra.LacunaQueryHandler}: the coordinator's side.
 *
 * <p>It changes no request. It carries the request's wish not to be answered from memory ({@link OptOut}) and, once, makes the
 * virtual keyspace. {@code -Dlacuna.inner_query_handler=CLASS} names a handler of somebody else to stand behind it.
 */
public final class LacunaQueryHandler implements QueryHandler
{
    private final QueryHandler inner;

    /** Called by Cassandra when it starts. */
    public LacunaQueryHandler()
    {
        inner = Inner.construct("lacuna.inner_query_handler", QueryHandler.class, QueryProcessor.instance);
        try
        {
            LacunaKeyspace.register();
            OptOut.install();
        }
        catch (Throwable failure)
        {
            Lacuna.failed("query handler", failure);
        }
    }

    @Override
    public CQLStatement parse(String query, QueryState state, QueryOptions options)
    {
        return inner.parse(query, state, options);
    }

    @Override
    public ResultMessage process(CQLStatement statement, QueryState state, QueryOptions options,
                                 Map<String, ByteBuffer> payload, Dispatcher.RequestTime time)
    {
        try (OptOut ignored = OptOut.of(payload))
        {
            return inner.process(statement, state, options, payload, time);
        }
    }

    @Override
    public ResultMessage.Prepared prepare(String query, ClientState state, Map<String, ByteBuffer> payload)
    {
        return inner.prepare(query, state, payload);
    }

    @Override
    public QueryHandler.Prepared getPrepared(MD5Digest id)
    {
        return inner.getPrepared(id);
    }

    @Override
    public ResultMessage processPrepared(CQLStatement statement, QueryState state, QueryOptions options,
                                         Map<String, ByteBuffer> payload, Dispatcher.RequestTime time)
    {
        try (OptOut ignored = OptOut.of(payload))
        {
            return inner.processPrepared(statement, state, options, payload, time);
        }
    }

    @Override
    public ResultMessage processBatch(BatchStatement statement, QueryState state, BatchQueryOptions options,
                                      Map<String, ByteBuffer> payload, Dispatcher.RequestTime time)
    {
        return inner.processBatch(statement, state, options, payload, time);
    }
}
