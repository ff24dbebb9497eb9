package lacuna.cassandra;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

/** Frames that a node of another version may send. */
public class WireTest
{
    @Test
    public void unknownModesAreAsLost()
    {
        for (int mode = Byte.MIN_VALUE; mode <= Byte.MAX_VALUE; mode++)
            assertTrue("mode " + mode, Wire.isUnderstood(new byte[] { 1, (byte) mode, 7 }) == (mode >= 0 && mode <= 2));
    }

    @Test
    public void otherVersionsAreAsLost()
    {
        assertFalse(Wire.isUnderstood(new byte[] { 2, 0, 7 }));
        assertFalse(Wire.isUnderstood(new byte[] { 1 }));
    }
}
