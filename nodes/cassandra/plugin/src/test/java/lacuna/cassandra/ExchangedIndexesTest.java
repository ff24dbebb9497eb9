package lacuna.cassandra;

import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

import com.datastax.driver.core.ConsistencyLevel;
import org.junit.Test;

/** Tables with a secondary index. The index has a table of its own with other keys, to which Cassandra gives the id of the base table. */
public class ExchangedIndexesTest extends WithFilters
{
    private static final String CREATE = "CREATE TABLE %s (p int, c timestamp, v int, PRIMARY KEY (p, c))";
    private static final int WRITES = 400;
    private static final int HOUR = 3_600_000;

    private final long seed = Long.getLong("lacuna.seed", 8);
    private final List<Client> clients = coordinators.stream().map(Client::new).collect(Collectors.toList());

    /** A key of the index takes four bytes, where the rows of the table have a timestamp of eight. */
    @Test
    public void anIndexHasNoPartInTheFiltersOfItsTable() throws Exception
    {
        Pair pair = Pair.create(cluster, session, "x" + Math.min(3, NODES) + ".indexed", CREATE, "mode=safe bucket=1h learn_every=1 back_off=1");
        for (String table : List.of(pair.guarded(), pair.stock()))
            ddl("CREATE INDEX ON " + table + " (v)");
        Random random = new Random(seed);
        for (int i = 0; i < WRITES; i++)
        {
            if (i % 100 == 99)
                cluster.flush(pair.keyspace());
            Client through = clients.get(random.nextInt(NODES));
            pair.alike(through, write(random), ConsistencyLevel.ALL);
            for (String read : List.of("SELECT * FROM %s WHERE p = " + random.nextInt(8), "SELECT * FROM %s WHERE v = " + random.nextInt(4),
                                       "SELECT * FROM %s WHERE p = " + random.nextInt(8) + " LIMIT 1",
                                       "SELECT * FROM %s WHERE p = " + random.nextInt(8) + " AND v = " + random.nextInt(4)))
                pair.alike(clients.get(random.nextInt(NODES)), read, ConsistencyLevel.QUORUM);
        }
        becomesKnown("reads_skipped", pair.guarded());
    }

    private static String write(Random random)
    {
        int p = random.nextInt(6);
        int c = random.nextInt(20) * HOUR / 4;
        return switch (random.nextInt(8))
        {
            case 0, 1 -> "DELETE FROM %s WHERE p = " + p + " AND c = " + c;
            case 2 -> "DELETE FROM %s WHERE p = " + p + " AND c < " + c;
            case 3 -> random.nextInt(3) == 0 ? "DELETE FROM %s WHERE p = " + p : "DELETE v FROM %s WHERE p = " + p + " AND c = " + c;
            default -> "INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + random.nextInt(4) + ")";
        };
    }
}
