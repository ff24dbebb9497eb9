package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** A scrub leaves out what it cannot read, which may be a tombstone. */
public class ExchangedScrubTest extends WithFilters
{
    private static final long PATIENCE_MILLIS = 120_000;

    @Test
    public void whatAScrubHasBroughtBackIsNotDenied() throws Exception
    {
        String t = guarded(1, "safe");
        Node holder = cluster.nodes.get(holder(t, 1));
        insert(session, t, 1);
        holder.flush("x1");
        at(session, "DELETE FROM " + t + " WHERE p = 1", ConsistencyLevel.ALL);
        holder.flush("x1");
        becomesSkipped(t, 1);
        holder.damageNewest("x1", t.substring(3));
        holder.scrub("x1", t.substring(3));
        for (Session through : coordinators)
            assertEquals("it is back, through " + coordinators.indexOf(through), 1, read(through, t, 1));
    }

    /** Each has replaced an SSTable that Cassandra counts until the scrub ends, and to which no other scrub can have a reference. */
    @Test
    public void scrubsSideBySideDoNotWaitForEachOther() throws Exception
    {
        String t = guarded(1, "safe");
        int at = holder(t, 1);
        Node holder = cluster.nodes.get(at);
        Session own = coordinators.get(at);
        insert(session, t, 1);
        for (int c = 2; c <= 3; c++)
        {
            session.execute("DELETE FROM " + t + " WHERE p = 1 AND c = " + c);
            holder.flush("x1");
        }
        becomesKnown("reads_skipped", t);
        Thread scrub = new Thread(() -> holder.scrub("x1", t.substring(3)));
        try
        {
            set(own, Flaw.LOADS_DO_NOT_BEGIN, true);
            scrub.start();
            Cluster.until("both have replaced theirs", () -> standing(own, Flaw.LOADS_DO_NOT_BEGIN) == 2);
        }
        finally
        {
            set(own, Flaw.LOADS_DO_NOT_BEGIN, false);
        }
        scrub.join(PATIENCE_MILLIS);
        assertFalse("they wait for each other", scrub.isAlive());
        for (Session through : coordinators)
            assertEquals(1, read(through, t, 1));
    }
}
