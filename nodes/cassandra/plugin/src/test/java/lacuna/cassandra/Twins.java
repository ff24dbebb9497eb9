package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Host;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ProtocolVersion;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.Statement;
import com.datastax.driver.core.TypeCodec;

/** Guarded tables, each beside one of the same content without the comment, whose name ends in {@code _stock}. */
final class Twins
{
    private final Cluster cluster;
    private final Session session;

    Twins(Cluster cluster, Session session)
    {
        this.cluster = cluster;
        this.session = session;
    }

    /** A table and its twin. */
    void tables(String name, String options)
    {
        for (String twin : new String[] { name + "_stock", name })
            cluster.schema(session, "CREATE TABLE " + twin + " (p int, c bigint, v int, PRIMARY KEY (p, c)) WITH compaction = "
                                    + "{'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}");
        cluster.schema(session, TakingPart.begin(name, options));
    }

    /** The same statement, in which {@code %s} is a table's name, on both. */
    void both(String name, int count, String cql, IntFunction<Object[]> values)
    {
        for (String twin : new String[] { name + "_stock", name })
        {
            PreparedStatement statement = session.prepare(String.format(cql, twin));
            for (int start = 0; start < count; start += 64)
            {
                List<ResultSetFuture> running = new ArrayList<>();
                for (int i = start; i < Math.min(count, start + 64); i++)
                    running.add(session.executeAsync(statement.bind(values.apply(i)).setConsistencyLevel(ConsistencyLevel.ALL)));
                running.forEach(ResultSetFuture::getUninterruptibly);
            }
        }
    }

    IntFunction<Statement> asks(String cql, ConsistencyLevel level, IntFunction<Object[]> values)
    {
        PreparedStatement statement = session.prepare(cql);
        return i -> statement.bind(values.apply(i)).setConsistencyLevel(level);
    }

    /** Partitions from a number on that another node than the client's holds. */
    int[] remote(String keyspace, int from, int count)
    {
        int[] remote = new int[count];
        for (int p = from, found = 0; found < count; p++)
            if (isRemote(keyspace, p))
                remote[found++] = p;
        return remote;
    }

    /** Whether the first node holds no replica of the partition. */
    boolean isRemote(String keyspace, int p)
    {
        Set<Host> replicas = session.getCluster().getMetadata().getReplicas(keyspace, TypeCodec.cint().serialize(p, ProtocolVersion.V4));
        String first = cluster.nodes.get(0).address;
        return replicas.stream().noneMatch(host -> host.getEndPoint().resolve().getAddress().getHostAddress().equals(first));
    }

    long skipped()
    {
        return counter(session, "reads_skipped");
    }

    /** Of the node that the session asks. */
    static long counter(Session session, String name)
    {
        return session.execute("SELECT value FROM lacuna.counters WHERE name = ?", name).one().getLong(0);
    }

    /** Asks until the coordinator has answered twelve in a row without a replica. */
    void becomesSkipped(IntFunction<Statement> ask) throws InterruptedException
    {
        for (int known = 0, attempt = 0; known < 12; attempt++)
        {
            if (attempt > 2_000)
                throw new IllegalStateException("never skipped");
            long before = skipped();
            session.execute(ask.apply(attempt)).all();
            known = skipped() > before ? known + 1 : 0;
            if (known == 0)
                Thread.sleep(20);
        }
    }
}
