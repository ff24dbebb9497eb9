package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.schema.TableMetadata;

/** The last decisions, newest first, for {@code lacuna.decisions}; writing one costs an allocation and no lock. */
final class Decisions
{
    private static final int KEPT = 256;

    /** Holds on to no table, and to nothing that is counted as the memory of one. */
    static final class Decision
    {
        final long number;
        final long millis;
        final TableMetadata table;
        final DecoratedKey key;
        final String reason;

        Decision(long number, long millis, TableMetadata table, DecoratedKey key, String reason)
        {
            this.number = number;
            this.millis = millis;
            this.table = table;
            this.key = key;
            this.reason = reason;
        }
    }

    private final AtomicReferenceArray<Decision> ring = new AtomicReferenceArray<>(KEPT);
    private final AtomicLong next = new AtomicLong();

    void add(ColumnFamilyStore table, DecoratedKey key, DeadData dead)
    {
        long number = next.getAndIncrement();
        ring.set((int) (number % KEPT), new Decision(number, System.currentTimeMillis(), table.metadata(), key, dead.reason));
    }

    List<Decision> all()
    {
        List<Decision> decisions = new ArrayList<>();
        for (int slot = 0; slot < KEPT; slot++)
            if (ring.get(slot) != null)
                decisions.add(ring.get(slot));
        decisions.sort((a, b) -> Long.compare(b.number, a.number));
        return decisions;
    }
}
