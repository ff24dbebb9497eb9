package lacuna.cassandra;

import java.util.HashMap;
import java.util.Map;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.Statement;
import com.datastax.driver.core.policies.FallthroughRetryPolicy;

/** A session that asks one node, once: nothing is tried again without the test. */
final class Client
{
    private final Session session;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    Client(Session session)
    {
        this.session = session;
    }

    /** Sends the request; its answer comes later. */
    ResultSetFuture ask(Request request, String table)
    {
        Statement statement = request.isPrepared()
                              ? prepared.computeIfAbsent(request.template(table), session::prepare).bind(request.boxed())
                              : new SimpleStatement(request.literal(table));
        return session.executeAsync(statement.setConsistencyLevel(request.level()).setSerialConsistencyLevel(ConsistencyLevel.SERIAL)
                                    .setFetchSize(request.page()).setRetryPolicy(FallthroughRetryPolicy.INSTANCE));
    }
}
