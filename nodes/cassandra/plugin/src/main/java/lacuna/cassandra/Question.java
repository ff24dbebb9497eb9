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
import org.apache.cassandra.service.reads.repair.ReadRepairStrategy;
import org.apache.cassandra.utils.memory.MemoryUtil;

/** A read as the native library takes it ({@code nodes/cassandra/native/src/question.rs}): the next one of this thread takes its buffer. */
final class Question
{
    static final int EMPTY = 0;

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
        switch (level)
        {
            case ONE:
            case LOCAL_ONE:
                return 0;
            case TWO:
                return 1;
            case THREE:
                return 2;
            case QUORUM:
            case LOCAL_QUORUM:
            case EACH_QUORUM:
                return 3;
            case ALL:
                return 4;
            default:
                return -1;
        }
    }

    /** Hash and replicas of a partition. */
    private boolean put(ByteBuffer bytes, long[] rows, ConsistencyLevel level)
    {
        QueryProcessor.validateKey(bytes);
        DecoratedKey key = filter.table.decorateKey(bytes);
        long[] hash = TableFilter.hash(key);
        EndpointsForToken replicas = filter.table.keyspace.getReplicationStrategy().getNaturalReplicasForToken(key.getToken());
        // One word more than the question, for an answer.
        if (buffer.remaining() < Long.BYTES * (8 + 2 * replicas.size()))
            return false;
        buffer.putLong(hash[0]).putLong(hash[1]).putLong(rows == null ? 0 : 1).putLong(rows == null ? 0 : rows[0])
              .putLong(rows == null ? 0 : rows[1]).putLong(enough(level));
        int count = buffer.position();
        buffer.putLong(0);
        for (Replica replica : replicas)
            if ((!level.isDatacenterLocal() || InOurDc.isInOurDc(replica)) && !put(replica))
                return false;
        buffer.putLong(count, (buffer.position() - count - Long.BYTES) / (2 * Long.BYTES));
        return true;
    }

    /**
     * How many replicas of a partition are enough, if they are known to hold nothing and nothing is known of the others; 0 for all of them.
     *
     * <p>A read at QUORUM may ask any such replicas, so "empty" is an answer that the store could have given. What another read has shown
     * before is at enough replicas, as long as reads repair what they find before they answer: the repair of a replica is not acknowledged
     * before all coordinators know of it ({@link Acknowledgements}).
     */
    private long enough(ConsistencyLevel level)
    {
        boolean isOfMost = level == ConsistencyLevel.QUORUM || level == ConsistencyLevel.LOCAL_QUORUM;
        boolean isRepaired = filter.table.metadata().params.readRepair == ReadRepairStrategy.BLOCKING;
        if (!isOfMost || !isRepaired || filter.mode == Mode.EVENTUAL)
            return 0;
        return level.blockFor(filter.table.keyspace.getReplicationStrategy());
    }

    private boolean put(Replica replica)
    {
        UUID id = replica.isSelf() ? new UUID(0, 0) : Peers.hostId(replica.endpoint());
        if (id == null || !replica.isFull())
            return false;
        buffer.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        return true;
    }

    /** Whether the answer is "empty". */
    boolean isEmpty()
    {
        return decide() == EMPTY;
    }

    /** {@link #EMPTY}, or why not ({@link Reasons}). */
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
