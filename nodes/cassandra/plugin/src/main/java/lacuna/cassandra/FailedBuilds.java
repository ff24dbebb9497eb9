package lacuna.cassandra;

import java.util.concurrent.TimeUnit;

/**
 * Why builds of one filter fail, and when the next is worth a try: after a minute, then after twice as long each time, up to an hour.
 */
final class FailedBuilds
{
    static final long FIRST_MILLIS = TimeUnit.MINUTES.toMillis(1);
    static final long MAX_MILLIS = TimeUnit.HOURS.toMillis(1);

    private String cause;
    private long wait;
    private long nextTry;

    /** Whether the cause is another than the last time, which an operator should hear of. */
    synchronized boolean add(Throwable failure, long now)
    {
        wait = cause == null ? FIRST_MILLIS : Math.min(2 * wait, MAX_MILLIS);
        nextTry = now + wait;
        boolean isNew = !failure.toString().equals(cause);
        cause = failure.toString();
        return isNew;
    }

    /** A build has succeeded. */
    synchronized void end()
    {
        cause = null;
    }

    /** Of the last build; null if it did not fail. */
    synchronized String cause()
    {
        return cause;
    }

    /** Whether it is time for the next try, of which this tells once. */
    synchronized boolean isDue(long now)
    {
        if (cause == null || now < nextTry)
            return false;
        nextTry = Long.MAX_VALUE;
        return true;
    }
}
