package lacuna.cassandra;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.UUID;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.Test;

/** Frames that a node of another version may send. */
public class WireTest
{
    @Test
    public void unknownModesAreAsLost()
    {
        for (int mode = Byte.MIN_VALUE; mode <= Byte.MAX_VALUE; mode++)
            assertTrue("mode " + mode, Wire.isUnderstood(new byte[] { Wire.VERSION, (byte) mode, 7 }) == (mode >= 0 && mode <= 2));
    }

    /** Of a table that there is not, so that all that could happen is a failure to read the frame. */
    @Test
    public void questionsForGapsAreReadOrAsLost() throws IOException
    {
        DatabaseDescriptor.clientInitialization(false);
        TableMetadata table = TableMetadata.builder("k", "t", TableId.fromUUID(new UUID(1, 2))).addPartitionKeyColumn("p", LongType.instance)
                                           .addClusteringColumn("c", LongType.instance).build();
        Slice slice = Slice.make(table.comparator, 7L);
        byte[] bytes = Gaps.frame(table, ByteBufferUtil.bytes(5L), slice).bytes;
        assertTrue(Gaps.isOne(bytes) && !Wire.isUnderstood(bytes));
        for (int at = 0; at < 8 * bytes.length; at++)
        {
            byte[] damaged = bytes.clone();
            damaged[at / 8] ^= (byte) (1 << at % 8);
            assertFalse("bit " + at, Gaps.isWhole(damaged));
        }
        assertTrue(Gaps.isWhole(bytes));
    }

    @Test
    public void otherVersionsAreAsLost()
    {
        for (int version = Byte.MIN_VALUE; version <= Byte.MAX_VALUE; version++)
            assertTrue("version " + version, Wire.isUnderstood(new byte[] { (byte) version, 0, 7 }) == (version == Wire.VERSION));
        assertFalse(Wire.isUnderstood(new byte[] { Wire.VERSION }));
    }
}
