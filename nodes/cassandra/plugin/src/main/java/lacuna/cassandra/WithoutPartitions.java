package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.SinglePartitionReadQuery;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.locator.ReplicaPlans;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.pager.MultiPartitionPager;
import org.apache.cassandra.service.pager.PagingState;
import org.apache.cassandra.service.pager.QueryPager;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.ProtocolVersion;

/**
 * An {@code IN} without those of its partitions of which no replica holds a live row.
 *
 * <p>Pages are stock's: each names the partition that it ends in, from which the statement as it is goes on. That would not be so with
 * a limit for each partition, which may fill a page and end a partition at once.
 */
final class WithoutPartitions extends Narrowing
{
    private final TableFilter filter;
    private final List<ByteBuffer> leftOut;
    private final long[] rows;
    private final ConsistencyLevel level;

    private WithoutPartitions(SelectStatement whole, TableFilter filter, List<ByteBuffer> leftOut, long[] rows, ConsistencyLevel level)
    {
        super(new Select(whole, new HashSet<>(leftOut)));
        this.filter = filter;
        this.leftOut = leftOut;
        this.rows = rows;
        this.level = level;
    }

    /** Whether the rest of its partitions has the answer of all. A function, such as {@code now()}, has another value when replicas are asked. */
    static boolean isPossible(SelectStatement statement, TableFilter filter)
    {
        List<Function> functions = new ArrayList<>();
        statement.getRestrictions().addFunctionsTo(functions);
        return filter.mode != Mode.SHADOW && functions.isEmpty() && NarrowedSelect.isInOrder(statement)
               && !NarrowedSelect.isLimitedByPartition(statement);
    }

    /** Null if nothing can be left out. Throws what stock Cassandra would, if it does not find enough replicas of what can be. */
    static WithoutPartitions of(SelectStatement statement, TableFilter filter, List<ByteBuffer> keys, long[] rows, ConsistencyLevel level)
    {
        List<ByteBuffer> leftOut = keys.stream().filter(key -> isEmpty(filter, key, rows, level)).collect(Collectors.toList());
        if (leftOut.isEmpty() || leftOut.size() == keys.size())
            return null;
        for (ByteBuffer key : leftOut)
            ReplicaPlans.forRead(filter.table.keyspace, statement.table.partitioner.decorateKey(key).getToken(), null, level,
                                 statement.table.params.speculativeRetry);
        return new WithoutPartitions(statement, filter, leftOut, rows, level);
    }

    private static boolean isEmpty(TableFilter filter, ByteBuffer key, long[] rows, ConsistencyLevel level)
    {
        Question question = Question.of(filter, List.of(key), rows, level);
        return question != null && question.isEmpty();
    }

    @Override
    boolean isConfirmed()
    {
        return leftOut.stream().allMatch(key -> isEmpty(filter, key, rows, level));
    }

    @Override
    void count()
    {
        Lacuna.COUNTERS.partitionsLeftOut.add(leftOut.size());
    }

    private static final class Select extends NarrowedSelect
    {
        private final Set<ByteBuffer> leftOut;

        Select(SelectStatement whole, Set<ByteBuffer> leftOut)
        {
            super(whole);
            this.leftOut = leftOut;
        }

        @Override
        ReadQuery narrowed(SinglePartitionReadCommand.Group query)
        {
            List<SinglePartitionReadCommand> rest = query.queries.stream().filter(one -> !leftOut.contains(one.partitionKey().getKey()))
                                                                 .collect(Collectors.toList());
            return rest.isEmpty() ? query : new Rest(rest, query.limits());
        }
    }

    /** Some of several partitions: one that is left has the pages of several, which name it, since those of one do not. */
    private static final class Rest extends SinglePartitionReadQuery.Group<SinglePartitionReadCommand>
    {
        Rest(List<SinglePartitionReadCommand> queries, DataLimits limits)
        {
            super(queries, limits);
        }

        @Override
        public PartitionIterator execute(ConsistencyLevel level, ClientState client, Dispatcher.RequestTime time)
        {
            return SinglePartitionReadCommand.Group.create(queries, limits()).execute(level, client, time);
        }

        @Override
        public QueryPager getPager(PagingState state, ProtocolVersion version)
        {
            return new MultiPartitionPager<>(this, state, version);
        }
    }
}
