package lacuna.cassandra;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.restrictions.StatementRestrictions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.StorageHook;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.partitions.ImmutableBTreePartition;
import org.apache.cassandra.db.rows.UnfilteredRowIteratorWithLowerBound;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.locator.AbstractReplicationStrategy;
import org.apache.cassandra.locator.NetworkTopologyStrategy;
import org.apache.cassandra.locator.RangesByEndpoint;
import org.apache.cassandra.locator.ReplicaPlans;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.metrics.ClientRequestSizeMetrics;
import org.apache.cassandra.metrics.ClientRequestsMetricsHolder;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.utils.concurrent.OpOrder;

/**
 * Run once at start: is this the Cassandra that the plug-in was compiled for?
 *
 * <p>The hooks are public but promised by nobody. If an interface has a method that we do not implement, or a class lacks one
 * that we override or call on the read path, the plug-in is inactive and every read is stock.
 */
final class SelfTest
{
    private SelfTest() {}

    static void run() throws ReflectiveOperationException
    {
        String moved = System.getProperty("lacuna.self_test.pretend_missing", "");
        implementsAll(StorageHook.class, LacunaStorageHook.class);
        implementsAll(QueryHandler.class, LacunaQueryHandler.class);
        has(UnfilteredRowIteratorWithLowerBound.class, "initializeIterator", moved);
        has(UnfilteredRowIteratorWithLowerBound.class, "lowerBound", moved);
        has(UnfilteredRowIteratorWithLowerBound.class, "partitionLevelDeletion", moved);
        has(ImmutableBTreePartition.class, "create", moved);
        has(ImmutableBTreePartition.class, "unfilteredIterator", moved);
        has(Message.class, "trackRepairedData", moved);
    }

    /** The same for the exchange of node filters, which may be inactive alone. */
    static void runForExchange() throws NoSuchMethodException
    {
        String moved = System.getProperty("lacuna.self_test.pretend_missing", "");
        implementsAll(Index.class, LacunaIndex.class);
        has(Verb.class, "unsafeSetSerializer", moved);
        has(OpOrder.class, "newBarrier", moved);
        has(SSTableReader.class, "getApproximateKeyCount", moved);
        has(View.class, "getAllMemtables", moved);
        has(SelectStatement.class, "getQuery", moved);
        has(SelectStatement.class, "process", moved);
        has(SelectStatement.class, "getAggregationSpec", moved);
        has(SelectStatement.class, "makeSlices", moved);
        has(StatementRestrictions.class, "keyIsInRelation", moved);
        has(StatementRestrictions.class, "getPartitionKeys", moved);
        has(StatementRestrictions.class, "getClusteringColumns", moved);
        has(QueryProcessor.class, "validateKey", moved);
        has(ReplicaPlans.class, "forRead", moved);
        has(TokenMetadata.class, "getRingVersion", moved);
        has(TokenMetadata.class, "cloneOnlyTokenMap", moved);
        has(AbstractReplicationStrategy.class, "getAddressReplicas", moved);
        has(NetworkTopologyStrategy.class, "getReplicationFactor", moved);
        has(RangesByEndpoint.class, "get", moved);
        has(ClientRequestSizeMetrics.class, "recordReadResponseMetrics", moved);
        has(ClientRequestsMetricsHolder.class, "readMetricsForLevel", moved);
    }

    private static void implementsAll(Class<?> wanted, Class<?> ours) throws NoSuchMethodException
    {
        for (Method method : wanted.getMethods())
            if (Modifier.isAbstract(method.getModifiers()))
                ours.getDeclaredMethod(method.getName(), method.getParameterTypes());
    }

    private static void has(Class<?> holder, String name, String pretendMissing) throws NoSuchMethodException
    {
        Set<String> names = new TreeSet<>();
        for (Class<?> type = holder; type != null; type = type.getSuperclass())
            names.addAll(Arrays.stream(type.getDeclaredMethods()).map(Method::getName).collect(Collectors.toSet()));
        if (!names.contains(name) || name.equals(pretendMissing))
            throw new NoSuchMethodException(holder.getName() + "." + name);
    }
}
