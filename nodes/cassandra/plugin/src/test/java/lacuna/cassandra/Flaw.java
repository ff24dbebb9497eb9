package lacuna.cassandra;

import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * Rules that tests take back one by one, to see that without them they would fail. With {@code -Dlacuna.flaws=true} each is a row
 * of {@code lacuna.switches}; without, there is no way to them.
 */
enum Flaw
{
    /** Writes are acknowledged before those who rely on this node have been told. */
    ACKNOWLEDGEMENTS_DO_NOT_WAIT,
    /** Scans show what those who rely on this node have not been told. */
    SCANS_DO_NOT_WAIT,
    /** So do reads of one partition. */
    READS_DO_NOT_WAIT,
    /** So do reads of a table whose index was just dropped. */
    DROPPED_DO_NOT_WAIT,
    /** Neither filters nor schemas arrive here: the network's fault, and no rule's. */
    DEAF,
    /** Builds of filters stand still before they begin: a slow disk's fault, and no rule's. */
    BUILDS_DO_NOT_BEGIN,
    /** The same when they have read everything. */
    BUILDS_DO_NOT_END;

    private static final long LOOK_AGAIN_NANOS = 10_000_000;
    private static final boolean MAY_BE = Boolean.getBoolean("lacuna.flaws");

    private volatile boolean isOn;

    boolean isOn()
    {
        return MAY_BE && isOn;
    }

    /** Returns once it is off: at once, but for tests. */
    void await()
    {
        while (isOn())
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
    }

    String shown()
    {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Those that may be switched on; none, but for tests. */
    static Flaw[] all()
    {
        return MAY_BE ? values() : new Flaw[0];
    }

    /** Whether there was one of that name to switch. */
    static boolean switchTo(String name, boolean on)
    {
        for (Flaw flaw : all())
            if (flaw.shown().equals(name))
            {
                flaw.isOn = on;
                return true;
            }
        return false;
    }
}
