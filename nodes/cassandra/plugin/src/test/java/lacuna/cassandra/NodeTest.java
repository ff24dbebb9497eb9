package lacuna.cassandra;

import static org.junit.Assert.assertThrows;

import java.nio.file.Path;
import java.util.Map;

import org.junit.Test;

/** What the helper of the cluster tests refuses. */
public class NodeTest
{
    @Test
    public void onlyNodesWithASyncedLogAreKilled() throws Exception
    {
        of(CommitLog.SYNCED).kill();
        assertThrows(IllegalStateException.class, of(CommitLog.PERIODIC)::kill);
        assertThrows(IllegalStateException.class, of(CommitLog.LOST)::kill);
    }

    @Test
    public void writesAreOnlyLostOnPurpose() throws Exception
    {
        of(CommitLog.LOST).killLosingWrites();
        assertThrows(IllegalStateException.class, of(CommitLog.SYNCED)::killLosingWrites);
        assertThrows(IllegalStateException.class, of(CommitLog.PERIODIC)::killLosingWrites);
    }

    /** Not started, so there is no process to end. */
    private static Node of(CommitLog log)
    {
        return new Node(Path.of("."), "127.0.0.1", Map.of("commitlog", log.yaml));
    }
}
