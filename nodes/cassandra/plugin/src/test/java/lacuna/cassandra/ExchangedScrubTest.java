package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Test;

/** A scrub leaves out what it cannot read, which may be a tombstone. */
public class ExchangedScrubTest extends WithFilters
{
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
}
