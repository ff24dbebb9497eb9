package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.Test;

import com.datastax.driver.core.Host;
import com.datastax.driver.core.ProtocolVersion;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.TypeCodec;
import com.datastax.driver.core.exceptions.InvalidQueryException;

/** The exchange of one node is switched off: other nodes skip nothing that concerns it, no write is denied, and a restart switches it on again. */
public class ExchangeOffTest
{
    private static final String TABLE = "k.t";
    private static final int KEYS = 40;

    private final List<Session> sessions = new ArrayList<>();
    private int absent = 1_000_000;

    @Test
    public void anExchangeThatIsSwitchedOffDeniesNothing() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("exchange-off-" + System.nanoTime());
        try (Cluster cluster = new Cluster(work, 2).start(true, OnOneCluster.PROPERTIES))
        {
            cluster.nodes.forEach(node -> sessions.add(cluster.session(node)));
            Session first = sessions.get(0);
            Session second = sessions.get(1);
            Node off = cluster.nodes.get(1);
            cluster.schema(first, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
            cluster.schema(first, "CREATE TABLE " + TABLE + " (p int PRIMARY KEY, v int)");
            cluster.schema(first, TakingPart.begin(TABLE, "mode=safe back_off=1"));
            becomesKnown(first, off);

            second.execute("UPDATE lacuna.switches SET enabled = false WHERE name = 'exchange'");
            Row state = exchange(second);
            assertFalse(state.toString(), state.getBool("enabled") || state.getBool("active"));
            assertEquals("switched off", state.getString("reason"));
            assertThrows(InvalidQueryException.class, () -> second.execute("UPDATE lacuna.switches SET enabled = true WHERE name = 'exchange'"));
            for (int p = 0; p < KEYS; p++)
            {
                sessions.get(p % 2).execute("INSERT INTO " + TABLE + " (p, v) VALUES (" + p + ", 1)");
                areSeen(p, p + 1);
            }
            // All leases have ended.
            Thread.sleep(2 * Exchange.MAX_LEASE);
            for (int read = 0; read < KEYS; read++)
                assertFalse(WithFilters.isCounted(first, "reads_skipped", TABLE, nextAbsentOf(off)));
            areSeen(0, KEYS);
            assertEquals(0, WithFilters.counter(second, "failures"));

            off.stop();
            off.start(true, OnOneCluster.PROPERTIES);
            cluster.awaitAll();
            WithFilters.answersAgain(second);
            assertTrue(exchange(second).toString(), exchange(second).getBool("enabled"));
            becomesKnown(first, off);
            areSeen(0, KEYS);
        }
    }

    private static Row exchange(Session node)
    {
        return node.execute("SELECT * FROM lacuna.switches WHERE name = 'exchange'").one();
    }

    private void areSeen(int from, int to)
    {
        for (int p = from; p < to; p++)
            for (Session through : sessions)
                assertEquals("key " + p + " through " + sessions.indexOf(through), 1, WithFilters.read(through, TABLE, p));
    }

    /** Reads of what a node does not hold are skipped through another. */
    private void becomesKnown(Session through, Node holder) throws InterruptedException
    {
        for (int attempt = 0; !WithFilters.isCounted(through, "reads_skipped", TABLE, nextAbsentOf(holder)); attempt++)
        {
            assertTrue("never skipped", attempt < 2_400);
            Thread.sleep(50);
        }
    }

    /** A partition without rows of which the node has the only replica. */
    private int nextAbsentOf(Node holder)
    {
        while (!replica(++absent).equals(holder.address));
        return absent;
    }

    private String replica(int p)
    {
        Host replica = sessions.get(0).getCluster().getMetadata().getReplicas("k", TypeCodec.cint().serialize(p, ProtocolVersion.V4)).iterator().next();
        return replica.getEndPoint().resolve().getAddress().getHostAddress();
    }
}
