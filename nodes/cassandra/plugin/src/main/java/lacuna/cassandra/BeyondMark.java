package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.List;

import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexSliceFilter;

/** A read of one partition without the rows at an end of it that no replica holds alive. */
final class BeyondMark extends Narrowing
{
    private final TableFilter filter;
    private final ByteBuffer key;
    private final ConsistencyLevel level;
    private final PartitionEnd end;
    private final long pair;
    /** What the mark relied on: another one as soon as any of it has ended. */
    private final long stamp;

    private BeyondMark(Select statement, TableFilter filter, ConsistencyLevel level, PartitionEnd end, long pair, long stamp)
    {
        super(statement);
        this.filter = filter;
        this.key = statement.key;
        this.level = level;
        this.end = end;
        this.pair = pair;
        this.stamp = stamp;
    }

    /** The end of the partition from which the statement reads. */
    static PartitionEnd end(SelectStatement statement)
    {
        return NarrowedSelect.isReversed(statement) ? PartitionEnd.LAST : PartitionEnd.FIRST;
    }

    /** Null if there is no mark, or if it leaves the slices as they are, or leaves nothing of them. */
    static BeyondMark of(SelectStatement statement, TableFilter filter, ByteBuffer key, Slices asked, ConsistencyLevel level, Question question)
    {
        PartitionEnd end = end(statement);
        long pair = question.waterMark(end);
        ClusteringBound<?> bound = pair < 0 ? null : WaterMarks.beyond(filter.positions, end, pair);
        Slices slices = bound == null ? null : Coordinator.evaluated(() -> WaterMarks.narrowed(statement.table.comparator, asked, end, bound));
        return slices == null ? null : new BeyondMark(new Select(statement, key, slices), filter, level, end, pair, question.stamp());
    }

    /** The mark is of the partition, whatever rows are asked for. */
    @Override
    boolean isConfirmed()
    {
        Question question = Question.of(filter, List.of(key), null, level);
        long pairNow = question == null ? -1 : question.waterMark(end);
        return pairNow >= 0 && question.stamp() == stamp && (end == PartitionEnd.FIRST ? pairNow >= pair : pairNow <= pair);
    }

    @Override
    void count()
    {
        Lacuna.COUNTERS.readsNarrowed.increment();
    }

    private static final class Select extends NarrowedSelect
    {
        private final ByteBuffer key;
        private final Slices slices;

        /** @param key the partition in which the rest holds no live row */
        Select(SelectStatement whole, ByteBuffer key, Slices slices)
        {
            super(whole);
            this.key = key;
            this.slices = slices;
        }

        /** As it is if the statement names another partition now: a function of its key, such as {@code current_date()}, has another value. */
        @Override
        ReadQuery narrowed(SinglePartitionReadCommand.Group query)
        {
            SinglePartitionReadCommand first = query.queries.get(0);
            boolean isOfSlices = query.queries.size() == 1 && first.partitionKey().getKey().equals(key)
                                 && first.clusteringIndexFilter() instanceof ClusteringIndexSliceFilter;
            return isOfSlices ? SinglePartitionReadCommand.Group.create(List.of(narrowed(first)), query.limits()) : query;
        }

        private SinglePartitionReadCommand narrowed(SinglePartitionReadCommand command)
        {
            ClusteringIndexSliceFilter rest = new ClusteringIndexSliceFilter(slices, command.clusteringIndexFilter().isReversed());
            return SinglePartitionReadCommand.create(command.metadata(), command.nowInSec(), command.columnFilter(), command.rowFilter(),
                                                     command.limits(), command.partitionKey(), rest, command.indexQueryPlan());
        }
    }
}
