package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Function;

import com.codahale.metrics.Counter;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;

/**
 * {@code -Dcassandra.custom_query_handler_class=lacuna.cassandra.LacunaQueryHandler}: the coordinator's side.
 *
 * <p>A read that no replica holds anything for is answered here ({@link Coordinator}); a write's answer waits until other
 * nodes know of it ({@link Acknowledgements}). It carries the request's wish not to be answered from memory ({@link OptOut}) and,
 * once, makes the virtual keyspace. {@code -Dlacuna.inner_query_handler=CLASS} names another handler that this one calls;
 * it must see every request, so none is answered here then.
 */
public class LacunaQueryHandler implements QueryHandler
{
    private final QueryHandler inner;

    /** Called by Cassandra when it starts. */
    public LacunaQueryHandler()
    {
        Installation.recordHandler();
        inner = Inner.construct("lacuna.inner_query_handler", QueryHandler.class, QueryProcessor.instance);
        try
        {
            LacunaKeyspace.register();
            Metrics.register();
            OptOut.install();
            TrackedReads.install();
            installExchange();
            SchemaWatch.start();
            Installation.log();
        }
        catch (Throwable failure)
        {
            Lacuna.fail("query handler", failure);
        }
    }

    private static void installExchange()
    {
        Acknowledgements.install();
        if (!Exchange.isActive())
            return;
        try
        {
            Installation.requireHook();
            SelfTest.runForExchange();
            Wire.install();
            OwnWrites.install();
            StreamEnds.install();
        }
        catch (Throwable failure)
        {
            Exchange.fail("installation", failure);
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
        SchemaWatch.check(statement, state.getClientState());
        try (OptOut ignored = OptOut.of(payload))
        {
            // Values of a statement that was not prepared may still have no order.
            Coordinator read = statement.getBindVariables().isEmpty() ? examine(statement, options) : null;
            return answerOrAsk(read, statement, state, options, QueryProcessor.metrics.regularStatementsExecuted,
                            asked -> inner.process(asked, state, options, payload, time));
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
        SchemaWatch.check(statement, state.getClientState());
        try (OptOut ignored = OptOut.of(payload))
        {
            return answerOrAsk(examine(statement, options), statement, state, options,
                            QueryProcessor.metrics.preparedStatementsExecuted,
                            asked -> inner.processPrepared(asked, state, options, payload, time));
        }
    }

    @Override
    public ResultMessage processBatch(BatchStatement statement, QueryState state, BatchQueryOptions options,
                                      Map<String, ByteBuffer> payload, Dispatcher.RequestTime time)
    {
        ResultMessage result = inner.processBatch(statement, state, options, payload, time);
        if (Waits.current().forWrites())
            Acknowledgements.await(News.of(statement));
        return result;
    }

    private Coordinator examine(CQLStatement statement, QueryOptions options)
    {
        boolean mayLook = inner == QueryProcessor.instance && statement instanceof SelectStatement;
        return mayLook ? Coordinator.of((SelectStatement) statement, options) : null;
    }

    /** Answers the read here if that is possible, else the stock way. */
    private static ResultMessage answerOrAsk(Coordinator read, CQLStatement statement, QueryState state, QueryOptions options,
                                          Counter executed, Function<CQLStatement, ResultMessage> stock)
    {
        ResultMessage answer = read == null ? null : read.answer(state, options);
        if (answer != null)
        {
            executed.inc();
            return answer;
        }
        ResultMessage result = read == null ? stock.apply(statement) : read.ask(stock);
        if (read != null)
            read.record(result, options);
        if (statement instanceof SelectStatement || Waits.current().forWrites())
            Acknowledgements.await(News.of(statement, state.getClientState(), options));
        return result;
    }
}
