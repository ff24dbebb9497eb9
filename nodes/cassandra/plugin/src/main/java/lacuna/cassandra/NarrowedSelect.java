package lacuna.cassandra;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;

import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.Term;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.aggregation.AggregationSpecification;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.service.ClientState;

/**
 * A read that asks its replicas for less than its statement says, for one request: the rest holds no live row. All replicas get the same
 * question, so their answers, digests, pages and repairs are those of a client that had asked for less.
 */
abstract class NarrowedSelect extends SelectStatement
{
    NarrowedSelect(SelectStatement whole)
    {
        super(whole.table, whole.bindVariables, whole.parameters, whole.getSelection(), whole.getRestrictions(), isReversed(whole),
              (AggregationSpecification.Factory) Fields.AGGREGATION.get(whole), null, (Term) Fields.LIMIT.get(whole),
              (Term) Fields.PER_PARTITION_LIMIT.get(whole));
    }

    /** Whether it reads rows from the last one on. */
    static boolean isReversed(SelectStatement statement)
    {
        return (boolean) Fields.REVERSED.get(statement);
    }

    /** Whether rows stay in the order in which they are read: how else they are sorted has a type that only the statement knows. */
    static boolean isInOrder(SelectStatement statement)
    {
        return (Object) Fields.ORDERING.get(statement) == null;
    }

    /** Whether it reads a limited number of rows of each partition. */
    static boolean isLimitedByPartition(SelectStatement statement)
    {
        return statement.parameters.isDistinct || (Object) Fields.PER_PARTITION_LIMIT.get(statement) != null;
    }

    @Override
    public ReadQuery getQuery(QueryOptions options, ClientState state, ColumnFilter columns, long nowInSec, DataLimits limits)
    {
        ReadQuery query = super.getQuery(options, state, columns, nowInSec, limits);
        return query instanceof SinglePartitionReadCommand.Group ? narrowed((SinglePartitionReadCommand.Group) query) : query;
    }

    /** The query for the rest; the same if it does not ask for what is left out. */
    abstract ReadQuery narrowed(SinglePartitionReadCommand.Group query);

    /** What a statement consists of and does not tell. */
    static final class Fields
    {
        static final VarHandle REVERSED = field("isReversed", boolean.class);
        static final VarHandle AGGREGATION = field("aggregationSpecFactory", AggregationSpecification.Factory.class);
        static final VarHandle ORDERING = field("orderingComparator", Object.class);
        static final VarHandle LIMIT = field("limit", Term.class);
        static final VarHandle PER_PARTITION_LIMIT = field("perPartitionLimit", Term.class);

        private Fields() {}

        /** Throws if one is not there, or of another type. */
        static void check() {}

        private static VarHandle field(String name, Class<?> type)
        {
            try
            {
                Field field = SelectStatement.class.getDeclaredField(name);
                if (!type.isAssignableFrom(field.getType()))
                    throw new NoSuchFieldException(name + " of type " + type.getName());
                return MethodHandles.privateLookupIn(SelectStatement.class, MethodHandles.lookup()).unreflectVarHandle(field);
            }
            catch (ReflectiveOperationException moved)
            {
                throw new IllegalStateException("SelectStatement." + name, moved);
            }
        }
    }
}
