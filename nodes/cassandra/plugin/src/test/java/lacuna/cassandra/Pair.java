package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;

/** A guarded table beside one of the same shape without the comment, which gets the same requests and must answer alike. */
record Pair(String guarded)
{
    /** In whose statements {@code %s} is the table's name. */
    static Pair create(Cluster cluster, Session session, String guarded, String create, String options)
    {
        Pair pair = new Pair(guarded);
        for (String table : new String[] { pair.stock(), guarded })
            cluster.schema(session, String.format(create, table));
        cluster.schema(session, TakingPart.begin(guarded, options));
        return pair;
    }

    String stock()
    {
        return guarded + "_stock";
    }

    String keyspace()
    {
        return guarded.substring(0, guarded.indexOf('.'));
    }

    /** Without its keyspace. */
    String name()
    {
        return guarded.substring(guarded.indexOf('.') + 1);
    }

    /** Asks both. */
    Answer alike(Client through, Request request)
    {
        Answer stock = Answer.of(through.ask(request, stock()));
        Answer answer = Answer.of(through.ask(request, guarded));
        assertEquals(request + " of " + guarded, stock.named(name() + "_stock", name()), answer.toString());
        return answer;
    }

    Answer alike(Client through, String cql, ConsistencyLevel level)
    {
        return alike(through, new Request(cql, new int[0], level, Request.UNPAGED, false));
    }
}
