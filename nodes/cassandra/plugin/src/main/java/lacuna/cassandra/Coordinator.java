package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.cql3.restrictions.StatementRestrictions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadQuery;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.guardrails.Guardrails;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.exceptions.RequestExecutionException;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.locator.ReplicaPlans;
import org.apache.cassandra.metrics.ClientRequestSizeMetrics;
import org.apache.cassandra.metrics.ClientRequestsMetricsHolder;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.tracing.Tracing;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.FBUtilities;

import lacuna.cassandra.Reasons.Reason;

/**
 * One read at its coordinator, before any replica is asked: whether no replica can hold a live row.
 *
 * <p>A read is examined if it names its partitions, on its first page, at a level that asks replicas and is not serial. It is
 * skipped if <em>every</em> replica is known to hold nothing alive, or, at QUORUM and LOCAL_QUORUM in modes safe and shadow, as many
 * replicas as the level asks: the tombstones of each hide all its cells, so a merge of these would show nothing. Every other read goes
 * to the replicas: unchanged, or without those rows at its beginning, or those partitions of an {@code IN}, of which the same is known
 * ({@link Narrowing}).
 */
final class Coordinator
{
    /** The client state with which bind values are evaluated. */
    private static final ClientState INTERNAL = ClientState.forInternalCalls();
    private static final int MAX_KEYS = 32;
    private static final int NOT_LOOKED = -1;
    private static final int SHADOW = 1;
    private static final int MAY_BE_LIVE = 8;

    private final SelectStatement statement;
    private final TableFilter filter;
    private final long started = System.nanoTime();
    /** How many replicas the read asks, in mode shadow. */
    private int replicaReads;
    private long decision = NOT_LOOKED;
    /** Why the filters say nothing about it; null if they may. */
    private Reason obstacle;
    private boolean isPaged;
    /** Whether it asks for some rows only; then an empty answer says nothing of the partition. */
    private boolean isOfRows;
    /** The partitions that it asks for, and first and last place of the rows; null for all of a partition. */
    private List<ByteBuffer> keys;
    private long[] rows;
    /** The partition and the slice that it asks for, if it is one of each. */
    private ByteBuffer key;
    private Slices slices;
    /** Null if replicas are asked for all that the statement says. */
    private Narrowing narrowing;

    private Coordinator(SelectStatement statement, TableFilter filter)
    {
        this.statement = statement;
        this.filter = filter;
    }

    /** Null if the filters have nothing to say about this read. It may be one that does not look at them ({@link LookBackOff}). */
    static Coordinator of(SelectStatement statement, QueryOptions options)
    {
        TableGuard guard = Lacuna.guard(statement.table.id);
        if (guard == null || !guard.filter.isUsed() || !Lacuna.mayAnswer() || OptOut.isAsked())
            return null;
        Coordinator read = new Coordinator(statement, guard.filter);
        try
        {
            read.obstacle = evaluated(() -> obstacle(statement, options));
            boolean isPlain = read.obstacle == null;
            if (isPlain && !read.filter.backOff.isNext())
                return read;
            boolean isDecided = isPlain && read.decide(options);
            if (!isDecided)
                read.filter.reasons.count(read.obstacle);
            if (isPlain && !isDecided)
                read.filter.backOff.looked(false);
            if (read.filter.report != null)
                read.filter.report.looked(System.nanoTime() - read.started, isDecided);
            return isDecided ? read : null;
        }
        catch (RequestValidationException | RequestExecutionException notNow)
        {
            // The stock way says so to the client.
            return null;
        }
        catch (Throwable failure)
        {
            Exchange.fail("decision", failure);
            return null;
        }
    }

    /**
     * What depends on the values of the client. They may be malformed, as a tuple of one byte is, and Cassandra throws anything then, before
     * it has looked whether this client may read the table: such a read goes the stock way, and says nothing of the plug-in.
     */
    static <T> T evaluated(Supplier<T> part)
    {
        try
        {
            return part.get();
        }
        catch (RequestValidationException | RequestExecutionException notNow)
        {
            throw notNow;
        }
        catch (RuntimeException | AssertionError malformed)
        {
            throw new InvalidRequestException("malformed values", malformed);
        }
    }

    /** Why the filters say nothing about reads of this kind; null if they may. */
    private static Reason obstacle(SelectStatement statement, QueryOptions options)
    {
        if (!Question.isOne(options.getConsistency()))
            return Reason.LEVEL;
        boolean isIn = statement.getRestrictions().keyIsInRelation();
        boolean isPlain = !statement.table.isView() && !statement.getRestrictions().isKeyRange()
                          && !statement.getRestrictions().usesSecondaryIndexing() && options.getPagingState() == null
                          && statement.getBindVariables().size() == options.getValues().size()
                          // The stock way warns of the one and refuses the other.
                          && !(isIn && (statement.getAggregationSpec(options) != null || !statement.parameters.orderings.isEmpty()));
        return isPlain ? null : Reason.SHAPE;
    }

    /** Most reads go to the replicas, so this does no more than the filters need. */
    private boolean decide(QueryOptions options)
    {
        Question question = question(options);
        if (question == null)
            return false;
        decision = question.decide();
        if (decision == Question.EMPTY)
            return true;
        filter.reasons.count(Reason.of(decision));
        narrowing = narrow(question, options.getConsistency());
        return true;
    }

    private Narrowing narrow(Question question, ConsistencyLevel level)
    {
        if (mayBeginLater())
            return BeyondMark.of(statement, filter, key, slices == null ? Slices.ALL : slices, level, question);
        boolean mayLackPartitions = keys.size() > 1 && WithoutPartitions.isPossible(statement, filter) && !isStockAlone();
        return mayLackPartitions ? WithoutPartitions.of(statement, filter, keys, rows, level) : null;
    }

    /** Null if it cannot be asked. */
    private Question question(QueryOptions options)
    {
        keys = evaluated(() -> statement.getRestrictions().getPartitionKeys(options, INTERNAL));
        obstacle = obstacle(keys);
        if (obstacle != null)
            return null;
        rows = evaluated(() -> rows(options));
        isOfRows = statement.getRestrictions().hasClusteringColumnsRestrictions();
        key = keys.size() == 1 ? keys.get(0) : null;
        if (filter.report != null)
            replicaReads = keys.size() * options.getConsistency().blockFor(filter.table.keyspace.getReplicationStrategy());
        obstacle = Reason.REPLICA;
        return Question.of(filter, keys, rows, options.getConsistency());
    }

    /** Why the filters say nothing about these partitions; null if they may. */
    private Reason obstacle(List<ByteBuffer> keys)
    {
        if (keys.isEmpty())
            return Reason.SHAPE;
        if (keys.size() > MAX_KEYS)
            return Reason.PARTITIONS;
        if (!Peers.isRingKnown())
            return Reason.RING;
        return areInSample(keys) ? null : Reason.NOT_IN_SAMPLE;
    }

    /** Whether it reads a partition from an end of it, or from somewhere in it on: then it may begin with dead rows. */
    private boolean mayBeginLater()
    {
        return filter.mode == Mode.SAFE && filter.positions != null && key != null && !statement.parameters.isDistinct
               && NarrowedSelect.isInOrder(statement) && (slices != null || !isOfRows);
    }

    /** Asks the replicas, without what is known to hold no live row if anything is. */
    ResultMessage ask(Function<CQLStatement, ResultMessage> replicas)
    {
        if (decision != NOT_LOOKED)
            filter.backOff.looked(narrowing != null);
        if (narrowing == null)
            return replicas.apply(statement);
        Waits.current().beforeNarrowed();
        ResultMessage result = replicas.apply(narrowing.statement);
        if (isConfirmed())
        {
            narrowing.count();
            return result;
        }
        Lacuna.COUNTERS.readsRepeated.increment();
        return replicas.apply(statement);
    }

    /** Whether nothing of it has ended since it was looked up; the ring may be another one, too. */
    private boolean isConfirmed()
    {
        if (!Waits.current().confirmsMarks())
            return true;
        if (!filter.isUsed() || !Peers.isRingKnown())
            return false;
        try
        {
            return narrowing.isConfirmed();
        }
        catch (RequestValidationException | RequestExecutionException notNow)
        {
            return false;
        }
        catch (Throwable failure)
        {
            Exchange.fail("confirmation", failure);
            return false;
        }
    }

    /** A read of several partitions is looked at if all are in the sample. */
    private boolean areInSample(List<ByteBuffer> keys)
    {
        if (filter.sample() == 1)
            return true;
        for (ByteBuffer key : keys)
            if (!filter.isInSample(TableFilter.hash(statement.table.partitioner.decorateKey(key))))
                return false;
        return true;
    }

    /** First and last place of the rows asked for; null for a whole partition, in which a static row counts too. */
    private long[] rows(QueryOptions options)
    {
        StatementRestrictions restrictions = statement.getRestrictions();
        if (filter.positions == null || !restrictions.hasClusteringColumnsRestrictions())
            return null;
        if (restrictions.isColumnRange())
        {
            slices = statement.makeSlices(options);
            return filter.positions.of(slices);
        }
        return filter.positions.of(restrictions.getClusteringColumns(options, INTERNAL));
    }

    /** The answer that the replicas would give; null if they are to be asked. A read that stock Cassandra refuses is refused here. */
    ResultMessage answer(QueryState state, QueryOptions options)
    {
        if (decision != Question.EMPTY)
            return null;
        ResultSet rows = emptyResult(state.getClientState());
        if (rows == null)
        {
            filter.reasons.count(Reason.SHAPE);
            return null;
        }
        statement.authorize(state.getClientState());
        statement.validate(state.getClientState());
        if (!isAnswered(state.getClientState(), options))
        {
            filter.reasons.count(Reason.STOCK);
            return null;
        }
        guardrails(state.getClientState(), options);
        Tracing.trace("Lacuna: the replicas that this level needs hold no live row");
        ResultMessage.Rows message = new ResultMessage.Rows(rows);
        ClientRequestSizeMetrics.recordReadResponseMetrics(message, statement.getRestrictions(), statement.getSelection());
        long nanos = System.nanoTime() - started;
        ClientRequestsMetricsHolder.readMetrics.addNano(nanos);
        ClientRequestsMetricsHolder.readMetricsForLevel(options.getConsistency()).addNano(nanos);
        Metrics.skipped(filter, nanos);
        Lacuna.COUNTERS.readsSkipped.increment();
        filter.backOff.looked(true);
        countSkipped();
        return message;
    }

    /** Whether stock Cassandra would ask replicas for partitions, would allow it to this client, and would find enough replicas. */
    private boolean isAnswered(ClientState client, QueryOptions options)
    {
        if (isStockAlone())
            return false;
        try
        {
            ReadQuery query = evaluated(() -> query(client, options));
            if (!(query instanceof SinglePartitionReadQuery.Group))
                return false;
            SinglePartitionReadQuery.Group<?> group = (SinglePartitionReadQuery.Group<?>) query;
            isPaged = statement.getAggregationSpec(options) != null || options.getPageSize() > 0 && group.limits().count() > options.getPageSize();
            for (SinglePartitionReadQuery partition : group.queries)
                ReplicaPlans.forRead(filter.table.keyspace, partition.partitionKey().getToken(), null, options.getConsistency(),
                                     statement.table.params.speculativeRetry);
            return true;
        }
        catch (RequestValidationException | RequestExecutionException notNow)
        {
            // The stock way says so to the client.
            return false;
        }
        catch (Throwable failure)
        {
            Exchange.fail("answer", failure);
            return false;
        }
    }

    /** A denylist may forbid the partition, or this node's ring is not complete: only the stock way knows. */
    private static boolean isStockAlone()
    {
        return DatabaseDescriptor.getPartitionDenylistEnabled() || StorageService.instance.isBootstrapMode();
    }

    /** As the stock way makes it for this client, whose guardrails may warn of it, or refuse it. */
    private ReadQuery query(ClientState client, QueryOptions options)
    {
        return statement.getQuery(options, client, statement.getSelection().newSelectors(options).getColumnFilter(),
                                  options.getNowInSec(FBUtilities.nowInSeconds()), statement.getLimit(options),
                                  statement.getPerPartitionLimit(options), options.getPageSize(), statement.getAggregationSpec(options));
    }

    private ResultSet emptyResult(ClientState client)
    {
        try
        {
            boolean unmask = !statement.table.hasMaskedColumns() || client.hasTablePermission(statement.table, Permission.UNMASK);
            return statement.process(EmptyIterators.partition(), 0, unmask, client);
        }
        catch (RuntimeException wantsValues)
        {
            // A marker in the limit or in the selection: only the stock way knows its value.
            return null;
        }
    }

    private void guardrails(ClientState client, QueryOptions options)
    {
        Guardrails.readConsistencyLevels.guard(EnumSet.of(options.getConsistency()), client);
        if (isPaged)
            Guardrails.pageSize.guard(options.getPageSize(), statement.table(), false, client);
    }

    /** What the replicas said. */
    void record(ResultMessage result, QueryOptions options)
    {
        if (!(result instanceof ResultMessage.Rows) || statement.getSelection().isAggregate())
            return;
        boolean isEmpty = ((ResultMessage.Rows) result).result.isEmpty();
        if (decision == NOT_LOOKED && isEmpty)
            lookAfterwards(options);
        if (filter.report != null)
            filter.report.read(System.nanoTime() - started, decision == SHADOW && isEmpty ? replicaReads : 0);
        if (decision == SHADOW)
            (isEmpty ? Lacuna.COUNTERS.readsShadowed : Lacuna.COUNTERS.contradictions).increment();
        if (decision == SHADOW && isEmpty)
            countSkipped();
        if (decision == MAY_BE_LIVE && isEmpty && !isOfRows)
            filter.falsePositives.increment();
        if (decision == MAY_BE_LIVE && isEmpty && isOneGap(options))
            Gaps.ask(filter, key, slices.get(0));
    }

    /** It found nothing without having looked: whether the filters would have said so. The answer stays as it is. */
    private void lookAfterwards(QueryOptions options)
    {
        try
        {
            Question question = filter.isUsed() && !isStockAlone() && evaluated(() -> isOfAllValues(options)) ? question(options) : null;
            if (question == null)
                return;
            decision = question.decide();
            if (decision == Question.EMPTY)
                filter.backOff.missed();
        }
        catch (RequestValidationException | RequestExecutionException notNow)
        {
            // The answer is there, and needs no filter.
        }
        catch (Throwable failure)
        {
            Exchange.fail("look", failure);
        }
    }

    private boolean isOneGap(QueryOptions options)
    {
        return key != null && slices != null && slices.size() == 1 && isOfAllValues(options);
    }

    /** Whether an empty answer says that no row is there; a filter on values may be the reason, too. */
    private boolean isOfAllValues(QueryOptions options)
    {
        return statement.getRowFilter(options, INTERNAL).isEmpty();
    }

    private void countSkipped()
    {
        filter.skipped.increment();
        if (!isOfRows)
            filter.partitionsSkipped.increment();
    }
}
