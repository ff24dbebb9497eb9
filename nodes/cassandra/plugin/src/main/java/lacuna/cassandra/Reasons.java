package lacuna.cassandra;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Why reads of one table went from their coordinator to the replicas. Each read that was examined and not skipped has one reason. */
final class Reasons
{
    enum Reason
    {
        SHAPE("a scan, a read by an index, a further page, IN with aggregates or ORDER BY, or a marker in LIMIT or in the selection"),
        LEVEL("a serial read, or in mode eventual a level above TWO"),
        PARTITIONS("IN with more than 32 partitions"),
        NOT_IN_SAMPLE("mode shadow: its partition is not in the sample"),
        RING("the ring has changed, and the filters of the new one are not here yet"),
        REPLICA("a replica is transient, or its host id is not known"),
        MAY_BE_LIVE("a filter says that a replica may hold it"),
        NO_FILTER("a filter of a replica is not here, or knows nothing: see state in lacuna.tables"),
        TOO_WIDE("a slice of too many buckets, as one that is open to one side"),
        NO_LEASE("the lease of a replica has ended, or the copy of its filter is too old"),
        INGEST("new keys stream into its part of the table at a replica, all of which counts as live meanwhile"),
        SHADOW("mode shadow: it could have been skipped"),
        STOCK("a denylist of partitions is enabled, the node bootstraps, or too few replicas are up"),
        OTHER("none of these");

        final String meaning;

        Reason(String meaning)
        {
            this.meaning = meaning;
        }

        String shown()
        {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Of a decision of the native library ({@code nodes/cassandra/native/src/question.rs}). */
        static Reason of(long decision)
        {
            switch ((int) decision)
            {
                case 1:
                    return SHADOW;
                case 4:
                    return LEVEL;
                case 8:
                    return MAY_BE_LIVE;
                case 9:
                    return NO_FILTER;
                case 10:
                    return NO_LEASE;
                case 11:
                    return TOO_WIDE;
                case 12:
                    return INGEST;
                default:
                    return OTHER;
            }
        }
    }

    private final Map<Reason, LongAdder> counts = new EnumMap<>(Reason.class);

    Reasons()
    {
        for (Reason reason : Reason.values())
            counts.put(reason, new LongAdder());
    }

    void count(Reason reason)
    {
        counts.get(reason).increment();
    }

    long of(Reason reason)
    {
        return counts.get(reason).sum();
    }
}
