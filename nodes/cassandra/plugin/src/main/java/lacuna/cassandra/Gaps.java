package lacuna.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

import com.google.common.util.concurrent.RateLimiter;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * A read that found no row in a slice: its coordinator asks every replica to prove the gap, so that the next read is skipped.
 *
 * <p>Any replica can be asked for anything: it says no more than "read this yourself", so a lost frame costs a later "no" and a wrong
 * one a read. It travels as a frame of {@link Wire} with a number in place of the mode's that older plug-ins take for lost: the
 * table's id, the key, the slice, and a CRC-32C.
 */
final class Gaps
{
    static final byte FRAME = 100;
    private static final int HEAD = 2;
    private static final int CHECKSUM = Integer.BYTES;
    /** Questions of one coordinator: what proofs may cost its peers. */
    private static final RateLimiter LIMIT = RateLimiter.create(Setting.of("lacuna.gaps_per_second", 200, 1, 1_000_000));

    private Gaps() {}

    /** Whether gaps of a table's rows can be known from row to row. In mode eventual they cannot: a node has to see its own writes. */
    static boolean areKnown(TableFilter filter)
    {
        return filter.positions != null && (filter.mode == Mode.SAFE || filter.mode == Mode.SHADOW);
    }

    /** Called when a read has found nothing in the slice, although filters did not say so. */
    static void ask(TableFilter filter, ByteBuffer bytes, Slice slice)
    {
        if (!areKnown(filter) || slice.isEmpty(filter.table.metadata().comparator) || !LIMIT.tryAcquire())
            return;
        try
        {
            DecoratedKey key = filter.table.decorateKey(bytes);
            // A coordinator asks only what it has looked at: in mode shadow, partitions of the sample.
            Wire.Frame frame = frame(filter.table.metadata(), bytes, slice);
            for (Replica replica : filter.table.keyspace.getReplicationStrategy().getNaturalReplicasForToken(key.getToken()))
                if (replica.isSelf())
                    receive(frame.bytes);
                else
                    Wire.sendIfReady(frame, replica.endpoint());
            Lacuna.COUNTERS.gapsAsked.increment();
        }
        catch (Throwable failure)
        {
            Exchange.fail("gap", failure);
        }
    }

    static Wire.Frame frame(TableMetadata table, ByteBuffer key, Slice slice) throws IOException
    {
        try (DataOutputBuffer out = new DataOutputBuffer())
        {
            out.writeByte(Wire.VERSION);
            out.writeByte(FRAME);
            table.id.serialize(out);
            ByteBufferUtil.writeWithShortLength(key, out);
            Slice.serializer.serialize(slice, out, MessagingService.current_version, table.comparator.subtypes());
            out.writeInt(checksum(out.getData(), out.getLength()));
            return new Wire.Frame(out.toByteArray());
        }
    }

    private static int checksum(byte[] bytes, int length)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, 0, length);
        return (int) checksum.getValue();
    }

    static boolean isOne(byte[] bytes)
    {
        return bytes.length > HEAD + CHECKSUM && bytes[0] == Wire.VERSION && bytes[1] == FRAME;
    }

    static boolean isWhole(byte[] bytes)
    {
        int length = bytes.length - CHECKSUM;
        return ByteBuffer.wrap(bytes).getInt(length) == checksum(bytes, length);
    }

    /** A damaged frame counts as lost, and so does one of a table that takes no part here. */
    static void receive(byte[] bytes) throws IOException
    {
        if (!isWhole(bytes))
            return;
        int length = bytes.length - CHECKSUM;
        try (DataInputBuffer in = new DataInputBuffer(ByteBuffer.wrap(bytes, HEAD, length - HEAD), false))
        {
            TableGuard guard = Lacuna.guard(TableId.deserialize(in));
            if (guard == null || !areKnown(guard.filter) || !guard.filter.isUsed())
                return;
            ByteBuffer key = ByteBufferUtil.readWithShortLength(in);
            Slice slice = Slice.serializer.deserialize(in, MessagingService.current_version, guard.table.metadata().comparator.subtypes());
            guard.suspectGap(guard.table.decorateKey(key), slice);
        }
    }
}
