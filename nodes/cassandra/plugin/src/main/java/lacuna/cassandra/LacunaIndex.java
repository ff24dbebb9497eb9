package lacuna.cassandra;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.apache.cassandra.cql3.Operator;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
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
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.index.transactions.IndexTransaction;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code CREATE CUSTOM INDEX ON t () USING 'lacuna.cassandra.LacunaIndex'}: the table takes part.
 *
 * <p>It indexes nothing and serves no query. Its lifecycle is what matters: it is created and dropped with the table, learns when the table is
 * truncated or altered, carries options, survives restarts, and lets the node filter be built from the existing SSTables. In mode
 * safe it marks writes before they are visible; in other modes a write costs nothing here, and the hook sees it.
 */
public final class LacunaIndex implements Index
{
    private static final Logger LOGGER = LoggerFactory.getLogger(LacunaIndex.class);

    private final ColumnFamilyStore table;
    private volatile IndexMetadata metadata;
    private volatile TableGuard guard;
    private SSTableWatch watch;
    /** Whether the table takes part through this index; only one index of a table does. */
    private boolean isIn;

    /** Called by Cassandra on every node. */
    public LacunaIndex(ColumnFamilyStore table, IndexMetadata metadata)
    {
        this.table = table;
        become(metadata);
    }

    private void become(IndexMetadata described)
    {
        metadata = described;
        guard = new TableGuard(table, TableOptions.of(described.options), Lacuna.PROVER);
        watch = new SSTableWatch(guard);
    }

    /** Called by Cassandra before the table gets the index, as it would be then; returns the options that are not ours. */
    public static Map<String, String> validateOptions(Map<String, String> options, TableMetadata table)
    {
        RowPositions.of(table, TableOptions.of(options).bucket);
        List<String> ours = table.indexes.stream().filter(LacunaIndex::isOurs).map(index -> index.name).toList();
        if (ours.size() > 1)
            throw new ConfigurationException("a table can have one LacunaIndex, not " + String.join(" and ", ours)
                                             + ": drop the present one first (DROP INDEX)");
        return TableOptions.unknown(options);
    }

    private static boolean isOurs(IndexMetadata index)
    {
        return LacunaIndex.class.getName().equals(index.options.get(IndexTarget.CUSTOM_INDEX_OPTION_NAME));
    }

    @Override
    public void register(IndexRegistry registry)
    {
        registry.registerIndex(this);
        join();
    }

    /** False if the table takes part through another index, which can happen when two nodes create one each at the same time. */
    private synchronized boolean join()
    {
        isIn = Lacuna.guard(table.metadata.id) == null;
        if (!isIn)
        {
            LOGGER.warn("Lacuna: {}.{} has two indexes of class LacunaIndex; {} does nothing: drop one of them", table.getKeyspaceName(), table.getTableName(),
                        metadata.name);
            return false;
        }
        Installation.requireHandler();
        guard.filter.begin();
        watch.start();
        Lacuna.add(guard);
        LOGGER.info("Lacuna: table {}.{} takes part in mode {}, options {}", table.getKeyspaceName(), table.getTableName(),
                    guard.filter.mode.shown(), guard.options.given);
        return true;
    }

    @Override
    public void unregister(IndexRegistry registry)
    {
        Index.super.unregister(registry);
        leave();
    }

    private synchronized Object leave()
    {
        if (!isIn)
            return null;
        isIn = false;
        guard.filter.drop();
        Lacuna.remove(guard);
        watch.stop();
        guard.forgetAll();
        return null;
    }

    /** On our own thread: Cassandra has one thread for the indexes of all tables, and a filter with rows reads all rows. */
    private Object build()
    {
        guard.filter.builds.buildSoon();
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

    /**
     * Cassandra calls it after every change of the table. The options differ if this node missed that the index was dropped and
     * created again under the same name; then everything starts anew.
     */
    private synchronized Object reload(IndexMetadata reloaded)
    {
        if (isIn && reloaded.options.equals(metadata.options))
            return forget();
        leave();
        become(reloaded);
        if (join())
            guard.filter.builds.buildSoon();
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
        return () -> reload(reloaded);
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
        TableGuard current = guard;
        // Before the write is visible. Memtables give no update to look at, so rows come one by one, and only where they matter.
        if (type != IndexTransaction.Type.UPDATE || !current.filter.isMarkedBefore())
            return null;
        current.beforeWrite(key);
        return current.filter.positions == null ? null : new RowMarker(current.filter, key);
    }

    /** Marks the bucket of every row that is about to become visible. */
    private record RowMarker(TableFilter filter, DecoratedKey key) implements Indexer
    {
        @Override
        public void insertRow(Row row)
        {
            filter.beforeWrite(key, row);
        }

        @Override
        public void updateRow(Row before, Row after)
        {
            filter.beforeWrite(key, after);
        }
    }

    @Override
    public Searcher searcherFor(ReadCommand command)
    {
        throw new InvalidRequestException("a LacunaIndex serves no queries: it cannot be used in an expression");
    }
}
