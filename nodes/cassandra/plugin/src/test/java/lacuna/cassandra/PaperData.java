package lacuna.cassandra;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import com.datastax.driver.core.BatchStatement;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.Statement;

/**
 * Partitions of the shape of the paper's reviews, one replica each, the same in the table of every system.
 *
 * <p>Of each three partitions one is present, one was deleted as a whole and one row by row; everything is in SSTables, the
 * deletions in younger ones. The coordinator, the first node, holds every third partition.
 */
final class PaperData
{
    enum State { PRESENT, DELETED, DELETED_ROWS, ABSENT }

    static final String KEYSPACE = "CREATE KEYSPACE paper WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    private static final String NAME = "paper.reviews";
    /** Bytes of a review: 50 GB over 136 million rows are 370, of which a few are columns of numbers. */
    private static final int TEXT_BYTES = 340;
    private static final int BATCH_ROWS = 40;
    private static final int UNDER_WAY = 8;
    private static final int ABSENT_FROM = 1_000_000;
    private static final int ABSENT_COUNT = 256;
    private static final long SEED = 1;

    final Cluster cluster;
    final Session session;
    final List<PaperSystem> systems;
    private final int partitions;
    private final int rows;
    private final Twins twins;
    private final String text = text();

    PaperData(Cluster cluster, Session session, List<PaperSystem> systems, int partitions, int rows)
    {
        this.cluster = cluster;
        this.session = session;
        this.systems = systems;
        this.partitions = partitions;
        this.rows = rows;
        this.twins = new Twins(cluster, session);
    }

    private static String text()
    {
        Random random = new Random(SEED);
        char[] letters = new char[1 << 20];
        for (int i = 0; i < letters.length; i++)
            letters[i] = (char) ('!' + random.nextInt(90));
        return new String(letters);
    }

    /** Megabytes of rows in one table. */
    double megabytes()
    {
        return (double) partitions * rows * (TEXT_BYTES + 30) / 1e6;
    }

    String scale()
    {
        return String.format("%d partitions of %d reviews of %d bytes, %.1f MB in each table in place of 50 GB: 1 to %.0f", partitions, rows,
                             TEXT_BYTES + 30, megabytes(), 50e3 / megabytes());
    }

    /** Through another session, such as one after a restart. */
    PaperData through(Session other)
    {
        return new PaperData(cluster, other, systems, partitions, rows);
    }

    void load()
    {
        cluster.schema(session, KEYSPACE);
        for (PaperSystem system : systems)
        {
            cluster.schema(session, "CREATE TABLE " + system.table(NAME) + " (p int, c bigint, stars int, body text, PRIMARY KEY (p, c)) "
                                    + "WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}");
            PreparedStatement insert = session.prepare("INSERT INTO " + system.table(NAME) + " (p, c, stars, body) VALUES (?, ?, ?, ?)");
            inBatches(p -> true, (p, c) -> insert.bind(p, (long) c, c % 5 + 1, review(p * rows + c)));
        }
        cluster.flush("paper");
        begin(true);
        for (PaperSystem system : systems)
            delete(system);
        cluster.flush("paper");
        begin(false);
    }

    private void begin(boolean forgets)
    {
        for (PaperSystem system : systems)
            if (system.isGuarded() && system.forgets == forgets)
                cluster.schema(session, system.begin(NAME));
    }

    private void delete(PaperSystem system)
    {
        PreparedStatement partition = session.prepare("DELETE FROM " + system.table(NAME) + " WHERE p = ?");
        for (int p = 0; p < partitions; p++)
            if (isIn(State.DELETED, p))
                session.execute(partition.bind(p));
        PreparedStatement row = session.prepare("DELETE FROM " + system.table(NAME) + " WHERE p = ? AND c = ?");
        inBatches(p -> isIn(State.DELETED_ROWS, p), (p, c) -> row.bind(p, (long) c));
    }

    private interface OfRow
    {
        Statement of(int p, int c);
    }

    /** Every row of the partitions, in batches of one partition, a few of which are under way. */
    private void inBatches(IntPredicate which, OfRow statement)
    {
        Deque<ResultSetFuture> running = new ArrayDeque<>();
        for (int p = 0; p < partitions; p++)
            for (int start = 0; which.test(p) && start < rows; start += BATCH_ROWS)
            {
                BatchStatement batch = new BatchStatement(BatchStatement.Type.UNLOGGED);
                for (int c = start; c < Math.min(rows, start + BATCH_ROWS); c++)
                    batch.add(statement.of(p, c));
                running.add(session.executeAsync(batch.setConsistencyLevel(ConsistencyLevel.ONE)));
                if (running.size() > UNDER_WAY)
                    running.remove().getUninterruptibly();
            }
        running.forEach(ResultSetFuture::getUninterruptibly);
    }

    private String review(int number)
    {
        int at = Math.floorMod(number * 7_919, text.length() - TEXT_BYTES);
        return text.substring(at, at + TEXT_BYTES);
    }

    private static boolean isIn(State state, int p)
    {
        return p % 3 == state.ordinal();
    }

    /** Partitions in a state, at the coordinator or at other nodes. */
    int[] keys(State state, boolean isRemote)
    {
        if (state == State.ABSENT)
            return IntStream.iterate(ABSENT_FROM, p -> p + 1).filter(p -> isRemote(p) == isRemote).limit(ABSENT_COUNT).toArray();
        return IntStream.range(0, partitions).filter(p -> isIn(state, p) && isRemote(p) == isRemote).toArray();
    }

    boolean isRemote(int p)
    {
        return twins.isRemote("paper", p);
    }

    /** Partitions in a state, wherever they are. */
    int[] keys(State state)
    {
        return IntStream.concat(Arrays.stream(keys(state, false)), Arrays.stream(keys(state, true))).toArray();
    }

    PreparedStatement select(PaperSystem system)
    {
        PreparedStatement select = session.prepare("SELECT * FROM " + system.table(NAME) + " WHERE p = ?");
        return select.setConsistencyLevel(ConsistencyLevel.ONE);
    }

    /** Until the coordinator has a copy of every node's filter of every table. */
    void awaitCopies()
    {
        for (PaperSystem system : systems)
            if (system.isExchanged())
                Cluster.until("copies of filters", () -> session.execute(
                    "SELECT node FROM lacuna.filters WHERE keyspace_name = 'paper' AND table_name = ?",
                    system.table(NAME).substring("paper.".length())).all().size() == cluster.nodes.size());
    }
}
