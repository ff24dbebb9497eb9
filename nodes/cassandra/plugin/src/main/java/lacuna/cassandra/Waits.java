package lacuna.cassandra;

/**
 * The points at which the exchange waits in mode safe, and the ends of a filter's build. This class always waits and never delays;
 * a subclass can show that each wait is needed.
 */
class Waits
{
    private static volatile Waits current = new Waits();

    static Waits current()
    {
        return current;
    }

    static void replaceBy(Waits other)
    {
        current = other;
    }

    /** Whether the answer to a write waits until lease holders know what was written. */
    boolean forWrites()
    {
        return true;
    }

    /** Whether the answer to a scan waits until lease holders know what it may show. */
    boolean forScans()
    {
        return true;
    }

    /** The same for a read of one partition. */
    boolean forReads(TableFilter filter)
    {
        return true;
    }

    /** Called before a build reads what is on disk. */
    void beforeBuild() {}

    /** Called when a build has read everything. */
    void afterBuild() {}
}
