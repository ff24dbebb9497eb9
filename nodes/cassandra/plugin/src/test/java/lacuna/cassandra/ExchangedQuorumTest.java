package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import java.util.List;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

/** Three replicas, of which some are down: two answer reads at QUORUM, and no row that was acknowledged or shown at QUORUM is denied. */
public class ExchangedQuorumTest extends WithFilters
{
    private static final int LAST = NODES - 1;
    private static final int ABSENT = 2_000_000;
    private static final int ASKED = 100;

    @Test
    public void absentKeysAreAnsweredWhileOneOfThreeReplicasIsDown() throws Exception
    {
        Assume.assumeTrue("three nodes", NODES == 3);
        String t = guarded(3, "safe");
        String unrepaired = unguarded(3);
        ddl("ALTER TABLE " + unrepaired + " WITH read_repair = 'NONE'");
        index(unrepaired, "safe");
        becomesKnown("reads_skipped", t);
        becomesKnown("reads_skipped", unrepaired);
        List<Session> others = coordinators.subList(0, LAST);
        others.forEach(node -> write(node, t, 0));

        cluster.nodes.get(LAST).kill();
        Cluster.until("its end is known", () -> cluster.nodes.subList(0, LAST).stream().allMatch(node -> node.liveNodes() == LAST));
        // Until its lease has ended, its filter answers as well.
        Thread.sleep(4_000);
        for (Session node : others)
        {
            Cluster.until("most are skipped", () -> skipped(node, t, ConsistencyLevel.QUORUM) > ASKED * 9 / 10);
            assertEquals("every replica is to be empty at ONE", 0, skipped(node, t, ConsistencyLevel.ONE));
            assertEquals("nothing is repaired before it is shown", 0, skipped(node, unrepaired, ConsistencyLevel.QUORUM));
        }
        for (int p = 0; p < PRESENT; p++)
        {
            write(coordinators.get(p % LAST), t, p);
            isThere(others, t, p);
        }

        cluster.nodes.get(LAST).start(true, PROPERTIES);
        cluster.awaitAll();
        answersAgain(coordinators.get(LAST));
        for (int p = 0; p < PRESENT; p++)
            isThere(coordinators, t, p);
    }

    /** A row that reached one replica alone, and was not acknowledged at QUORUM: who has seen it once sees it from then on. */
    @Test
    public void aRowOfOneReplicaIsSeenByAllOnceAReadHasShownIt() throws Exception
    {
        Assume.assumeTrue("a long test", Integer.getInteger("lacuna.checks", 0) > 0 && NODES == 3);
        String t = guarded(3, "safe");
        becomesKnown("reads_skipped", t);
        for (int node = 1; node < NODES; node++)
            cluster.nodes.get(node).kill();
        Cluster.until("their end is known", () -> cluster.nodes.get(0).liveNodes() == 1);
        for (int p = 0; p < PRESENT; p++)
            insert(session, t, p);
        for (int node = 1; node < NODES; node++)
            cluster.nodes.get(node).start(true, PROPERTIES);
        cluster.awaitAll();
        for (Session node : coordinators)
            answersAgain(node);
        becomesKnown("reads_skipped", t);
        int unseen = 0;
        for (int p = 0; p < PRESENT; p++)
        {
            for (Session node : coordinators.subList(1, NODES))
                unseen += read(node, t, p, ConsistencyLevel.QUORUM) == 0 ? 1 : 0;
            // Node 0 knows of it.
            isThere(coordinators, t, p);
        }
        System.out.printf("quorum: %d of %d reads before the first that showed its row were empty%n", unseen, PRESENT * LAST);
    }

    private static void write(Session through, String t, int p)
    {
        at(through, "INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)", ConsistencyLevel.QUORUM);
    }

    private static int read(Session through, String t, int p, ConsistencyLevel level)
    {
        return at(through, "SELECT * FROM " + t + " WHERE p = " + p, level);
    }

    private static void isThere(List<Session> through, String t, int p)
    {
        for (Session node : through)
            assertEquals("key " + p + " through " + coordinators.indexOf(node), 1, read(node, t, p, ConsistencyLevel.QUORUM));
    }

    /** How many reads of absent keys are answered without asking. */
    private static long skipped(Session through, String t, ConsistencyLevel level)
    {
        long before = counter(through, "reads_skipped");
        for (int p = ABSENT; p < ABSENT + ASKED; p++)
            assertEquals(0, read(through, t, p, level));
        return counter(through, "reads_skipped") - before;
    }
}
