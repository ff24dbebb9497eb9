package lacuna.cassandra;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.schema.TableMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The time in which one table takes part with the same options. It never begins again: a change of options begins another. */
final class Participation
{
    private static final Logger LOGGER = LoggerFactory.getLogger(Participation.class);

    private final TableGuard guard;
    private final SSTableWatch watch;
    /** Null unless the table is in mode safe. */
    private final WriteMarker marker;

    private Participation(ColumnFamilyStore table, TableOptions options)
    {
        guard = new TableGuard(table, options, Lacuna.PROVER);
        watch = new SSTableWatch(guard);
        marker = options.mode == Mode.SAFE && Exchange.isActive() ? new WriteMarker(guard, table.indexManager) : null;
    }

    /** Writes are followed at once; what is there already is read in the background, before any node may rely on it. */
    static Participation begin(ColumnFamilyStore table, TableOptions options)
    {
        Participation begun = new Participation(table, options);
        Installation.requireHandler();
        begun.guard.filter.begin();
        begun.watch.start();
        SavedRegions.start();
        new SavedRegions(begun.guard).restore();
        Waits.current().beforeJoined();
        Lacuna.add(begun.guard);
        if (begun.marker != null)
            begun.marker.start();
        if (begun.guard.filter.isUsed())
            begun.guard.filter.builds.buildSoon();
        LOGGER.info("Lacuna: table {}.{} takes part in mode {}, options {}", table.getKeyspaceName(), table.getTableName(),
                    options.mode.shown(), options.given);
        return begun;
    }

    boolean isWith(TableOptions options)
    {
        return options != null && guard.options.given.equals(options.given);
    }

    /** The table was altered, though not in its options. */
    void forget()
    {
        guard.forgetAll();
        guard.filter.builds.contents.altered();
    }

    /** Whether the filter of a table with other options holds the same keys under the same name. */
    boolean hasFilterOf(TableMetadata table, TableOptions options)
    {
        return guard.filter.name().isSame(SavedFilter.Name.of(table, options));
    }

    /** Writes are marked before they are visible until the end of the filter is announced. */
    void end(boolean keepsFile)
    {
        guard.filter.drop(keepsFile);
        Lacuna.remove(guard);
        if (marker != null)
            marker.stop();
        watch.stop();
        guard.forgetAll();
        LOGGER.info("Lacuna: table {}.{} takes part no more", guard.table.getKeyspaceName(), guard.table.getTableName());
    }
}
