package lacuna.cassandra;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.apache.cassandra.cql3.Operator;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.WriteContext;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.index.transactions.IndexTransaction;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * {@code CREATE CUSTOM INDEX ON t () USING 'lacuna.cassandra.LacunaIndex'}: the table takes part.
 *
 * <p>It indexes nothing and serves no query. It is there for its lifecycle: it comes and goes with the table, knows when it is
 * truncated or altered, carries options, survives restarts, and has its node filter built from what was there before. In mode
 * safe it marks writes before they are visible; otherwise they cost nothing here, and are seen by the hook.
 */
public final class LacunaIndex implements Index
{
    private final IndexMetadata metadata;
    private final TableGuard guard;
    private final SSTableWatch watch;

    /** Called by Cassandra on every node. */
    public LacunaIndex(ColumnFamilyStore table, IndexMetadata metadata)
    {
        this.metadata = metadata;
        this.guard = new TableGuard(table, TableOptions.of(metadata.options), Lacuna.PROVER);
        this.watch = new SSTableWatch(guard);
    }

    /** Called by Cassandra before the index is made; gives back the options that are not ours. */
    public static Map<String, String> validateOptions(Map<String, String> options, TableMetadata table)
    {
        Places.of(table, TableOptions.of(options).bucket);
        return TableOptions.unknown(options);
    }

    @Override
    public void register(IndexRegistry registry)
    {
        registry.registerIndex(this);
        guard.filter.begin();
        watch.start();
        Lacuna.add(guard);
    }

    @Override
    public void unregister(IndexRegistry registry)
    {
        Index.super.unregister(registry);
        leave();
    }

    private Object leave()
    {
        guard.filter.drop();
        Lacuna.remove(guard);
        watch.stop();
        guard.forgetAll();
        return null;
    }

    private Object build()
    {
        guard.filter.builds.build();
        return null;
    }

    private Object empty()
    {
        guard.filter.builds.rebuild();
        return forget();
    }

    private Object forget()
    {
        guard.forgetAll();
        return null;
    }

    @Override
    public Callable<?> getInitializationTask()
    {
        return guard.filter.isUsed() ? this::build : null;
    }

    @Override
    public Callable<?> getMetadataReloadTask(IndexMetadata reloaded)
    {
        return this::forget;
    }

    @Override
    public Callable<?> getInvalidateTask()
    {
        return this::leave;
    }

    @Override
    public Callable<?> getTruncateTask(long truncatedAt)
    {
        return this::empty;
    }

    @Override
    public Callable<?> getBlockingFlushTask()
    {
        return null;
    }

    @Override
    public IndexMetadata getIndexMetadata()
    {
        return metadata;
    }

    @Override
    public Optional<ColumnFamilyStore> getBackingTable()
    {
        return Optional.empty();
    }

    @Override
    public boolean shouldBuildBlocking()
    {
        return false;
    }

    @Override
    public boolean dependsOn(ColumnMetadata column)
    {
        return false;
    }

    @Override
    public boolean supportsExpression(ColumnMetadata column, Operator operator)
    {
        return false;
    }

    @Override
    public AbstractType<?> customExpressionValueType()
    {
        return null;
    }

    @Override
    public RowFilter getPostIndexQueryFilter(RowFilter filter)
    {
        return filter;
    }

    @Override
    public long getEstimatedResultRows()
    {
        return Long.MAX_VALUE;
    }

    @Override
    public void validate(PartitionUpdate update, ClientState state) {}

    @Override
    public Indexer indexerFor(DecoratedKey key, RegularAndStaticColumns columns, long now, WriteContext context,
                              IndexTransaction.Type type, Memtable memtable)
    {
        // Before the write is visible. Memtables give no update to look at, so rows come one by one, and only where they matter.
        if (type != IndexTransaction.Type.UPDATE || !guard.filter.isMarkedBefore())
            return null;
        guard.writes(key);
        return guard.filter.places == null ? null : new RowMarker(guard.filter, key);
    }

    /** Marks the bucket of every row that is about to become visible. */
    private record RowMarker(TableFilter filter, DecoratedKey key) implements Indexer
    {
        @Override
        public void insertRow(Row row)
        {
            filter.writes(key, row);
        }

        @Override
        public void updateRow(Row before, Row after)
        {
            filter.writes(key, after);
        }
    }

    @Override
    public Searcher searcherFor(ReadCommand command)
    {
        throw new InvalidRequestException("a Lacuna index answers no expression");
    }
}
