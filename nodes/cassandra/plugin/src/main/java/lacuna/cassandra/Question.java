package lacuna.cassandra;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.UUID;

import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.locator.EndpointsForToken;
import org.apache.cassandra.locator.InOurDc;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.utils.memory.MemoryUtil;

/** A read as the native library takes it ({@code nodes/cassandra/native/src/question.rs}): the next one of this thread takes its buffer. */
final class Question
{
    private static final ThreadLocal<ByteBuffer> BUFFER =
        ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(8 << 10).order(ByteOrder.nativeOrder()));

    private final TableFilter filter;
    private final ByteBuffer buffer = BUFFER.get().clear();

    private Question(TableFilter filter)
    {
        this.filter = filter;
    }

    /** Null if there are too many replicas, or one is unknown or transient. */
    static Question of(TableFilter filter, List<ByteBuffer> keys, long[] rows, ConsistencyLevel level)
    {
        Question question = new Question(filter);
        question.buffer.putLong(filter.high()).putLong(filter.low()).putLong(number(level)).putLong(keys.size());
        for (ByteBuffer key : keys)
            if (!question.put(key, rows, level))
                return null;
        return question;
    }

    /** Whether reads of this level can be answered. */
    static boolean isOne(ConsistencyLevel level)
    {
        return number(level) >= 0;
    }

    private static int number(ConsistencyLevel level)
    {
        return switch (level)
        {
            case ONE, LOCAL_ONE -> 0;
            case TWO -> 1;
            case THREE -> 2;
            case QUORUM, LOCAL_QUORUM, EACH_QUORUM -> 3;
            case ALL -> 4;
            default -> -1;
        };
    }

    /** Hash and replicas of a partition. */
    private boolean put(ByteBuffer bytes, long[] rows, ConsistencyLevel level)
    {
        QueryProcessor.validateKey(bytes);
        DecoratedKey key = filter.table.decorateKey(bytes);
        long[] hash = TableFilter.hash(key);
        EndpointsForToken replicas = filter.table.keyspace.getReplicationStrategy().getNaturalReplicasForToken(key.getToken());
        // One word more than the question, for an answer.
        if (buffer.remaining() < Long.BYTES * (7 + 2 * replicas.size()))
            return false;
        buffer.putLong(hash[0]).putLong(hash[1]).putLong(rows == null ? 0 : 1).putLong(rows == null ? 0 : rows[0])
              .putLong(rows == null ? 0 : rows[1]);
        int count = buffer.position();
        buffer.putLong(0);
        for (Replica replica : replicas)
            if ((!level.isDatacenterLocal() || InOurDc.isInOurDc(replica)) && !put(replica))
                return false;
        buffer.putLong(count, (buffer.position() - count - Long.BYTES) / (2 * Long.BYTES));
        return true;
    }

    private boolean put(Replica replica)
    {
        UUID id = replica.isSelf() ? new UUID(0, 0) : Peers.hostId(replica.endpoint());
        if (id == null || !replica.isFull())
            return false;
        buffer.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        return true;
    }

    long decide()
    {
        return Exchange.checked(Native.decide(Exchange.hub(), filter.mode.number(), Exchange.now(), MemoryUtil.getAddress(buffer), words()));
    }

    /** How far its one partition is known to be dead at every replica, from one end on; below 0 if nothing is. */
    long waterMark(PartitionEnd end)
    {
        return Exchange.checked(Native.waterMark(Exchange.hub(), filter.mode.number(), Exchange.now(), MemoryUtil.getAddress(buffer), words(),
                                                 end.number()));
    }

    /** The stamp of the mark that was looked up last. */
    long stamp()
    {
        return buffer.getLong(buffer.position());
    }

    private int words()
    {
        return buffer.position() / Long.BYTES;
    }
}
