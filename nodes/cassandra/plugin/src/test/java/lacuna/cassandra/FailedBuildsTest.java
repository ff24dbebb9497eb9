package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class FailedBuildsTest
{
    private static final Throwable FULL = new AssertionError("disk is full");

    @Test
    public void theWaitDoublesUpToAnHour()
    {
        FailedBuilds builds = new FailedBuilds();
        long now = 0;
        for (long wait = FailedBuilds.FIRST_MILLIS; wait < 4 * FailedBuilds.MAX_MILLIS; wait *= 2)
        {
            builds.add(FULL, now);
            long due = now + Math.min(wait, FailedBuilds.MAX_MILLIS);
            assertFalse(builds.isDue(due - 1));
            assertTrue(builds.isDue(due));
            now = due;
        }
    }

    @Test
    public void aTryIsDueOnceForEachFailure()
    {
        FailedBuilds builds = new FailedBuilds();
        assertFalse("nothing has failed", builds.isDue(Long.MAX_VALUE));
        builds.add(FULL, 0);
        assertTrue(builds.isDue(FailedBuilds.FIRST_MILLIS));
        assertFalse("it may be under way", builds.isDue(FailedBuilds.FIRST_MILLIS + 1));
    }

    @Test
    public void aCauseIsNewOnce()
    {
        FailedBuilds builds = new FailedBuilds();
        assertTrue(builds.add(FULL, 0));
        assertFalse(builds.add(new AssertionError("disk is full"), 1));
        assertTrue(builds.add(new AssertionError("damaged"), 2));
        assertEquals("java.lang.AssertionError: damaged", builds.cause());
        builds.end();
        assertNull(builds.cause());
        assertTrue("after a success", builds.add(FULL, 3));
    }
}
