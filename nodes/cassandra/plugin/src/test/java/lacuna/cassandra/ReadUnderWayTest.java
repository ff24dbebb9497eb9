package lacuna.cassandra;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.apache.cassandra.io.sstable.SSTableReadsListener;
import org.junit.Test;

/** Which reads are given the tombstones of a dead region, and how often. */
public class ReadUnderWayTest
{
    private final ReadUnderWay underWay = new ReadUnderWay();
    private final Object proof = new Object();

    @Test
    public void oneReadIsGivenAProofOnce()
    {
        SSTableReadsListener first = new SSTableReadsListener() {};
        assertTrue(underWay.gives(proof, first));
        assertFalse(underWay.gives(proof, first));
        assertTrue("another read", underWay.gives(proof, new SSTableReadsListener() {}));
        assertTrue("another proof", underWay.gives(new Object(), first));
    }

    /** The listener that reads share must not make one of two: the second would be given no tombstones. */
    @Test
    public void readsThatShareAListenerAreGivenAll()
    {
        for (int read = 0; read < 3; read++)
            assertTrue(underWay.gives(proof, SSTableReadsListener.NOOP_LISTENER));
    }
}
