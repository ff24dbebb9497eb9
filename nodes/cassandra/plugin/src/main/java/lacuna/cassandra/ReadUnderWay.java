package lacuna.cassandra;

import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.io.sstable.SSTableReadsListener;

/** What the read under way on this thread has met so far; a read stays on its thread, and its key object is its own. */
final class ReadUnderWay
{
    private DecoratedKey key;
    private int spared;
    private int read;
    private Object given;
    private SSTableReadsListener givenTo;

    void met(DecoratedKey current, boolean isSpared)
    {
        if (key != current)
            start(current);
        if (isSpared)
            spared++;
        else
            read++;
    }

    private void start(DecoratedKey current)
    {
        key = current;
        spared = 0;
        read = 0;
    }

    /**
     * Whether these tombstones are news for a read that merges all it is given; Cassandra makes a listener for each. Only the very
     * same count as given: what was proven in the middle of a read may hold more. The listener that many reads share tells
     * none from another, so all of them are given all.
     */
    boolean gives(Object proof, SSTableReadsListener listener)
    {
        boolean isNews = listener == SSTableReadsListener.NOOP_LISTENER || given != proof || givenTo != listener;
        given = proof;
        givenTo = listener;
        if (isNews)
            Lacuna.COUNTERS.regionsGiven.increment();
        return isNews;
    }

    /** Cassandra says that it has met everything. */
    void end(DecoratedKey current)
    {
        if (key == current)
        {
            Lacuna.COUNTERS.sstablesSpared.add(spared);
            Lacuna.COUNTERS.sstablesRead.add(read);
            if (spared > 0 && read == 0)
                Lacuna.COUNTERS.readsAnswered.increment();
        }
        key = null;
        given = null;
        givenTo = null;
    }
}
