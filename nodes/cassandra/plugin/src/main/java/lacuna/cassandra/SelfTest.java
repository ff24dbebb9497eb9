package lacuna.cassandra;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.SinglePartitionReadQuery;
import org.apache.cassandra.db.StorageHook;
import org.apache.cassandra.db.rows.UnfilteredRowIteratorWithLowerBound;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.streaming.StreamSession;

/**
 * Run once at start: is this the Cassandra that the plug-in was compiled for?
 *
 * <p>The hooks are public but their signatures are not promised. If an interface has a method that we do not implement, a class lacks one that we
 * override, or anything that we use is gone or has other types ({@link Linkage}), the plug-in is inactive and every read is stock.
 */
final class SelfTest
{
    /** Without which nothing is answered; all others are of the exchange, which may be inactive alone. */
    private static final Set<String> OF_ANSWERS =
        Set.of("Lacuna", "LacunaStorageHook", "StockStorageHook", "DeadData", "DeadFile", "DeadRows", "Decisions", "OptIn", "OptOut", "Participation",
               "PartitionEnd", "Prover", "ReadUnderWay", "Region", "SavedRegions", "SchemaWatch", "SSTableWatch", "TableGuard", "TableOptions", "TrackedReads",
               "WaterMarks");

    private SelfTest() {}

    static void run() throws IOException, ReflectiveOperationException
    {
        implementsAll(StorageHook.class, LacunaStorageHook.class);
        implementsAll(QueryHandler.class, LacunaQueryHandler.class);
        has(UnfilteredRowIteratorWithLowerBound.class, "initializeIterator");
        has(UnfilteredRowIteratorWithLowerBound.class, "lowerBound");
        has(UnfilteredRowIteratorWithLowerBound.class, "partitionLevelDeletion");
        new Linkage().check(OF_ANSWERS::contains);
    }

    /** The same for the exchange of node filters. */
    static void runForExchange() throws IOException, ReflectiveOperationException
    {
        implementsAll(Index.class, UnlistedIndex.class);
        implementsAll(Index.Group.class, WriteMarker.class);
        implementsAll(StreamSession.MessageStateSink.class, StreamEnds.class);
        has(SelectStatement.class, "getQuery");
        has(SinglePartitionReadQuery.Group.class, "getPager");
        NarrowedSelect.Fields.check();
        new Linkage().check(name -> !OF_ANSWERS.contains(name));
    }

    private static void implementsAll(Class<?> wanted, Class<?> ours) throws NoSuchMethodException
    {
        for (Method method : wanted.getMethods())
            if (Modifier.isAbstract(method.getModifiers()))
                ours.getDeclaredMethod(method.getName(), method.getParameterTypes());
    }

    /** Of a class that we extend: that what we override is there. */
    private static void has(Class<?> holder, String name) throws NoSuchMethodException
    {
        Set<String> names = new TreeSet<>();
        for (Class<?> type = holder; type != null; type = type.getSuperclass())
            names.addAll(Arrays.stream(type.getDeclaredMethods()).map(Method::getName).collect(Collectors.toSet()));
        if (!names.contains(name))
            throw new NoSuchMethodException(holder.getName() + "." + name);
    }
}
