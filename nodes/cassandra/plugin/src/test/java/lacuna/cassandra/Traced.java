package lacuna.cassandra;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.QueryTrace;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.Statement;
import com.datastax.driver.core.exceptions.TraceRetrievalException;

/** What the store itself says, in traces, about the SSTables that its reads have read. */
final class Traced
{
    private static final Pattern SSTABLES = Pattern.compile("(?:memtables and|from) (\\d+) sstables");

    private Traced() {}

    /** By all replicas together, for partitions 0 to 9. */
    static int sstables(Session session, String table, ConsistencyLevel level)
    {
        int sum = 0;
        for (int p = 0; p < 10; p++)
            for (QueryTrace.Event event : events(session, new SimpleStatement("SELECT * FROM " + table + " WHERE p = " + p).setConsistencyLevel(level)))
            {
                Matcher said = SSTABLES.matcher(event.getDescription());
                sum += said.find() ? Integer.parseInt(said.group(1)) : 0;
            }
        return sum;
    }

    /** Of a read whose trace arrived whole: on a busy machine some do not in time. */
    private static List<QueryTrace.Event> events(Session session, Statement read)
    {
        TraceRetrievalException last = null;
        for (int attempt = 0; attempt < 20; attempt++)
            try
            {
                return session.execute(read.enableTracing()).getExecutionInfo().getQueryTrace().getEvents();
            }
            catch (TraceRetrievalException late)
            {
                last = late;
            }
        throw last;
    }
}
