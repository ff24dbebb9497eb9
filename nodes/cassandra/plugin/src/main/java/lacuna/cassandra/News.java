package lacuna.cassandra;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * What an answer may tell of tables in mode safe: nothing, some partitions, or anything. It waits until other nodes know of that, not
 * of what other requests have written.
 */
final class News
{
    static final News ANYTHING = new News(List.of());
    static final News NOTHING = new News(List.of());

    /** A partition, or any row of a table where {@code key} is null. */
    private static final class Partition
    {
        final TableId table;
        final DecoratedKey key;

        Partition(TableId table, DecoratedKey key)
        {
            this.table = table;
            this.key = key;
        }
    }

    private final List<Partition> partitions;

    private News(List<Partition> partitions)
    {
        this.partitions = partitions;
    }

    /** Of updates that this node applies. */
    static News of(Collection<PartitionUpdate> updates)
    {
        return new News(updates.stream().map(update -> new Partition(update.metadata().id, update.partitionKey())).collect(Collectors.toList()));
    }

    /** Of any row of a table. */
    static News of(TableId table)
    {
        return new News(List.of(new Partition(table, null)));
    }

    /** What the answer to a client's statement may tell. */
    static News of(CQLStatement statement, ClientState client, QueryOptions options)
    {
        if (statement instanceof SelectStatement)
            return of((SelectStatement) statement, options);
        if (statement instanceof BatchStatement)
            return of((BatchStatement) statement);
        return statement instanceof ModificationStatement ? of((ModificationStatement) statement, client, options) : ANYTHING;
    }

    /** A serial read may have finished another client's write; a scan may have met a row that no read of its partition waited for. */
    private static News of(SelectStatement read, QueryOptions options)
    {
        boolean isScan = read.getRestrictions().isKeyRange() || read.getRestrictions().usesSecondaryIndexing();
        boolean waits = options.getConsistency().isSerialConsistency() ? Waits.current().forWrites() : isScan && Waits.current().forScans();
        return waits ? of(read.table.id) : NOTHING;
    }

    static News of(BatchStatement batch)
    {
        if (batch.getStatements().stream().anyMatch(write -> hasTriggers(write.metadata())))
            return ANYTHING;
        return new News(batch.getStatements().stream().map(write -> write.metadata().id).distinct()
                             .map(table -> new Partition(table, null)).collect(Collectors.toList()));
    }

    private static News of(ModificationStatement write, ClientState client, QueryOptions options)
    {
        TableMetadata table = write.metadata();
        if (hasTriggers(table))
            return ANYTHING;
        if (safeFilters(table.id).isEmpty())
            return NOTHING;
        // A function such as uuid() would give another key now than it gave when the statement ran.
        if (write.getFunctions().iterator().hasNext())
            return of(table.id);
        return new News(write.buildPartitionKeyNames(options, client).stream()
                             .map(key -> new Partition(table.id, table.partitioner.decorateKey(key))).collect(Collectors.toList()));
    }

    /** They write to tables that the statement does not name. */
    private static boolean hasTriggers(TableMetadata table)
    {
        return !table.triggers.isEmpty();
    }

    /** The filters of a table on which other nodes may rely: its own, and the one that it had before, perhaps in another mode. */
    private static List<TableFilter> safeFilters(TableId table)
    {
        TableGuard guard = Lacuna.guard(table);
        TableFilter own = guard != null && guard.filter.mode == Mode.SAFE ? guard.filter : null;
        TableFilter leaving = Lacuna.leaving(table);
        if (own == null)
            return leaving == null ? List.of() : List.of(leaving);
        return leaving == null ? List.of(own) : List.of(own, leaving);
    }

    /** Whether any of it is of a table on whose filter other nodes may rely now, when the answer is ready. */
    boolean isSafe()
    {
        return this == ANYTHING || partitions.stream().anyMatch(partition -> !safeFilters(partition.table).isEmpty());
    }

    /** The ticket by which the answer waits; 0 if it may leave now. */
    long ticket()
    {
        if (Exchange.isQuiet())
            return 0;
        if (this == ANYTHING)
            return Exchange.checked(Native.hold(Exchange.hub(), Exchange.now()));
        long last = 0;
        for (Partition partition : partitions)
            for (TableFilter filter : safeFilters(partition.table))
                last = Math.max(last, partition.key == null ? ANYTHING.ticket() : ticket(filter, partition.key));
        return last;
    }

    private static long ticket(TableFilter filter, DecoratedKey key)
    {
        Lacuna.COUNTERS.newsAskedFor.increment();
        long[] hash = TableFilter.hash(key);
        return Exchange.checked(Native.holdKey(Exchange.hub(), filter.high(), filter.low(), hash[0], hash[1], Exchange.now()));
    }
}
