package lacuna.cassandra;

import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.WriteContext;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.lifecycle.LifecycleNewTracker;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.index.transactions.IndexTransaction;
import org.apache.cassandra.io.sstable.Component;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.SSTableFlushObserver;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Mode safe: marks what a write brings before it is visible. Cassandra says so in one place only, where it asks a table's indexes;
 * so this is a group among them, in memory only: no schema has its members, nothing of them is stored, and they serve no query.
 *
 * <p>Whenever a table is altered, Cassandra removes indexes that are not in the schema, one after the other. Then each member
 * registers itself again. There are two, because a table without any index asks none: with one, a write could pass in between.
 */
final class WriteMarker implements Index.Group
{
    private final TableGuard guard;
    private final IndexRegistry registry;
    private final Index.Group.Key key = new Index.Group.Key(this);
    /** No statement can give an index such a name. */
    private final List<Index> members = List.of(new UnlistedIndex("lacuna/0", this), new UnlistedIndex("lacuna/1", this));
    private volatile boolean isStopped;

    WriteMarker(TableGuard guard, IndexRegistry registry)
    {
        this.guard = guard;
        this.registry = registry;
    }

    void start()
    {
        members.forEach(this::register);
    }

    private void register(Index member)
    {
        registry.registerIndex(member, key, () -> this);
    }

    /** From now on it does nothing; Cassandra forgets its members when the table is altered the next time. */
    void stop()
    {
        isStopped = true;
        members.forEach(member -> registry.unregisterIndex(member, key));
    }

    /** Cassandra has removed a member. */
    void removed(Index member)
    {
        if (!isStopped)
            register(member);
    }

    @Override
    public Index.Indexer indexerFor(Predicate<Index> areBuilt, DecoratedKey partition, RegularAndStaticColumns columns, long now,
                                    WriteContext context, IndexTransaction.Type type, Memtable memtable)
    {
        // Memtables give no update to look at, so rows come one by one, and only where they matter.
        if (isStopped || type != IndexTransaction.Type.UPDATE || !guard.filter.isMarkedBefore())
            return null;
        guard.beforeWrite(partition);
        Waits.current().beforeVisible();
        return guard.filter.positions == null ? null : new RowMarker(guard, partition);
    }

    /** Marks the bucket of every row that is about to become visible. */
    private static final class RowMarker implements Index.Indexer
    {
        private final TableGuard guard;
        private final DecoratedKey key;

        RowMarker(TableGuard guard, DecoratedKey key)
        {
            this.guard = guard;
            this.key = key;
        }

        @Override
        public void insertRow(Row row)
        {
            guard.beforeWrite(key, row);
        }

        @Override
        public void updateRow(Row before, Row after)
        {
            guard.beforeWrite(key, after);
        }
    }

    @Override
    public boolean handles(IndexTransaction.Type type)
    {
        return type == IndexTransaction.Type.UPDATE;
    }

    @Override
    public Set<Index> getIndexes()
    {
        return Set.copyOf(members);
    }

    @Override
    public boolean containsIndex(Index index)
    {
        return members.contains(index);
    }

    @Override
    public Index.QueryPlan queryPlanFor(RowFilter filter)
    {
        return null;
    }

    @Override
    public SSTableFlushObserver getFlushObserver(Descriptor descriptor, LifecycleNewTracker tracker, TableMetadata metadata)
    {
        return null;
    }

    @Override
    public Set<Component> getComponents()
    {
        return Set.of();
    }
}
