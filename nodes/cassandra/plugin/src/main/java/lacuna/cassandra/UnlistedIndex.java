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
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.index.transactions.IndexTransaction;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.service.ClientState;

/** A member of a {@link WriteMarker}: an index of nothing that no schema has. */
final class UnlistedIndex implements Index
{
    private final IndexMetadata metadata;
    private final WriteMarker marker;

    UnlistedIndex(String name, WriteMarker marker)
    {
        this.metadata = IndexMetadata.fromSchemaMetadata(name, IndexMetadata.Kind.CUSTOM, Map.of());
        this.marker = marker;
    }

    @Override
    public void unregister(IndexRegistry registry)
    {
        marker.removed(this);
    }

    /** The group is asked instead. */
    @Override
    public Indexer indexerFor(DecoratedKey key, RegularAndStaticColumns columns, long now, WriteContext context,
                              IndexTransaction.Type type, Memtable memtable)
    {
        return null;
    }

    @Override
    public IndexMetadata getIndexMetadata()
    {
        return metadata;
    }

    @Override
    public Callable<?> getInitializationTask()
    {
        return null;
    }

    @Override
    public Callable<?> getMetadataReloadTask(IndexMetadata reloaded)
    {
        return null;
    }

    @Override
    public void register(IndexRegistry registry) {}

    @Override
    public Optional<ColumnFamilyStore> getBackingTable()
    {
        return Optional.empty();
    }

    @Override
    public Callable<?> getBlockingFlushTask()
    {
        return null;
    }

    @Override
    public Callable<?> getInvalidateTask()
    {
        return null;
    }

    @Override
    public Callable<?> getTruncateTask(long truncatedAt)
    {
        return null;
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
    public Searcher searcherFor(ReadCommand command)
    {
        throw new InvalidRequestException("this index serves no queries");
    }
}
