package lacuna.cassandra;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.cassandra.schema.TableId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of the plug-in on this node: its tables, its counters, and whether it may answer.
 *
 * <p>It answers only while it is <em>active</em> (every signature it needs is there, nothing has failed) and
 * <em>switched on</em> ({@code lacuna.switches}). Otherwise each read goes the stock way. Writes are
 * watched all the time, so that what it knows stays true and it can be switched on again.
 */
final class Lacuna
{
    private static final Logger LOGGER = LoggerFactory.getLogger(Lacuna.class);

    static final Counters COUNTERS = new Counters();
    static final Decisions DECISIONS = new Decisions();
    static final Prover PROVER = new Prover();

    private static final ConcurrentHashMap<TableId, TableGuard> TABLES = new ConcurrentHashMap<>();
    /** Filters of tables that take part no more, until no other node relies on them. */
    private static final ConcurrentHashMap<TableId, TableFilter> LEAVING = new ConcurrentHashMap<>();
    private static volatile boolean active = true;
    private static volatile boolean switchedOn = true;
    private static volatile String reason = "";

    private Lacuna() {}

    /** The guard of a table that takes part, or null. */
    static TableGuard guard(TableId id)
    {
        SchemaWatch.settle();
        return TABLES.get(id);
    }

    static Collection<TableGuard> guards()
    {
        return TABLES.values();
    }

    static void add(TableGuard guard)
    {
        TABLES.put(guard.table.metadata.id, guard);
        PROVER.start();
    }

    /** Its filter has been dropped. */
    static void remove(TableGuard guard)
    {
        if (guard.filter.mode == Mode.SAFE)
            LEAVING.put(guard.table.metadata.id, guard.filter);
        TABLES.remove(guard.table.metadata.id, guard);
    }

    /** The filter of a table that took part until a moment ago, or null. */
    static TableFilter leaving(TableId id)
    {
        return LEAVING.get(id);
    }

    /** Forgets the tables that all other nodes know to be without filter. */
    static void forgetDropped()
    {
        LEAVING.values().removeIf(Revealing::knowDrop);
    }

    static boolean mayAnswer()
    {
        return active && switchedOn;
    }

    static boolean isActive()
    {
        return active;
    }

    static boolean isSwitchedOn()
    {
        return switchedOn;
    }

    static void switchTo(boolean on)
    {
        switchedOn = on;
        LOGGER.info("Lacuna: answers from memory are switched {}", on ? "on" : "off");
    }

    /** Why it is not active; empty while it is. */
    static String reason()
    {
        return reason;
    }

    /** Anything unexpected: from now on this node behaves as without the plug-in, until it is restarted. Later failures may follow from the first. */
    static void fail(String where, Throwable failure)
    {
        COUNTERS.failures.increment();
        if (active)
        {
            LOGGER.error("Lacuna is inactive until this node restarts: {} failed", where, failure);
            reason = where + ": " + failure;
            active = false;
        }
        Exchange.end(where, failure);
    }
}
