package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.index.transactions.IndexTransaction;
import org.junit.Test;

/** Among a table's indexes, as Cassandra's own list of them behaves when the table is altered: nothing else is looked at here. */
public class WriteMarkerTest
{
    private final Map<String, Index> indexes = new ConcurrentHashMap<>();
    private final Set<Index.Group> groups = new HashSet<>();
    private final IndexRegistry registry = (IndexRegistry) Proxy.newProxyInstance(
        getClass().getClassLoader(), new Class<?>[] { IndexRegistry.class }, (proxy, method, given) ->
        {
            Index index = (Index) given[0];
            if (method.getName().equals("registerIndex"))
            {
                indexes.put(index.getIndexMetadata().name, index);
                groups.add((Index.Group) ((java.util.function.Supplier<?>) given[2]).get());
            }
            else if (method.getName().equals("unregisterIndex"))
                groups.removeIf(group -> group.containsIndex(index));
            else
                throw new UnsupportedOperationException(method.toString());
            return null;
        });
    private final WriteMarker marker = new WriteMarker(null, registry);

    /** What is not in the schema is removed, one after the other; the fewest that were there meanwhile. */
    private int reload()
    {
        int fewest = indexes.size();
        for (String name : indexes.keySet())
        {
            Index removed = indexes.remove(name);
            fewest = Math.min(fewest, indexes.size());
            removed.unregister(registry);
        }
        return fewest;
    }

    @Test
    public void tableIsNeverWithoutAnIndexWhileItIsAltered()
    {
        marker.start();
        for (int change = 0; change < 3; change++)
        {
            assertTrue("a write would ask no index", reload() > 0);
            assertEquals(2, indexes.size());
            assertEquals(Set.of(marker), groups);
        }
    }

    @Test
    public void stoppedMarkerIsAskedNothingAndGoes()
    {
        marker.start();
        marker.stop();
        assertEquals(Set.of(), groups);
        reload();
        assertEquals(Map.of(), indexes);
        assertEquals(Set.of(), groups);
    }

    /** With other options the table gets another marker, under the same names, before the old one is forgotten. */
    @Test
    public void nextMarkerTakesTheNames()
    {
        marker.start();
        marker.stop();
        WriteMarker next = new WriteMarker(null, registry);
        next.start();
        reload();
        assertEquals(Set.of(next), groups);
        assertTrue(next.getIndexes().containsAll(indexes.values()));
    }

    @Test
    public void compactionIsNotWatched()
    {
        for (IndexTransaction.Type type : IndexTransaction.Type.values())
            assertEquals(type == IndexTransaction.Type.UPDATE, marker.handles(type));
    }
}
