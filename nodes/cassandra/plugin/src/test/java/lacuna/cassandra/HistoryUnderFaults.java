package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.datastax.driver.core.ConsistencyLevel;

/**
 * Clients that write and read all that a {@link History} does, while {@link Faults} happen: in tables of one replica and of three, with
 * and without buckets of rows, and in one without the comment for each, which shows whether an answer that is wrong is the store's own.
 */
final class HistoryUnderFaults
{
    private static final int[] COPIES = { 1, 3 };
    private static final List<ConsistencyLevel> OF_ONE = List.of(ConsistencyLevel.ONE, ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.QUORUM);
    private static final List<ConsistencyLevel> OF_THREE = List.of(ConsistencyLevel.QUORUM, ConsistencyLevel.LOCAL_QUORUM);
    private static final String OPTIONS = "mode=safe learn_every=1 back_off=1";

    /**
     * A table.
     *
     * @param options null if it takes no part
     * @param more properties of it
     * @param isInOrder whether writes have the times at which they come, so that tombstones may be purged
     */
    record Table(String name, String options, String more, List<ConsistencyLevel> levels, boolean isInOrder, int workers)
    {
        boolean isGuarded()
        {
            return options != null;
        }

        boolean isRepaired()
        {
            return levels == OF_THREE;
        }
    }

    private final ClusterUnderTest place;
    private final Faults faults;
    private final String keyspace;
    private final long seed;
    private final List<Table> tables;
    private final AtomicInteger nextPartition = new AtomicInteger();
    private final AtomicInteger checks = new AtomicInteger();
    private final AtomicInteger empty = new AtomicInteger();
    private final AtomicInteger stockChecks = new AtomicInteger();
    private final AtomicInteger writes = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final Queue<String> wrongInStock = new ConcurrentLinkedQueue<>();
    private final Queue<String> broken = new ConcurrentLinkedQueue<>();
    private volatile boolean isOver;

    /** Its keyspaces have names that begin with {@code keyspace}. */
    HistoryUnderFaults(ClusterUnderTest place, Faults faults, String keyspace, long seed)
    {
        this.place = place;
        this.faults = faults;
        this.keyspace = keyspace;
        this.seed = seed;
        String purged = " WITH gc_grace_seconds = 2";
        this.tables = List.of(
            new Table(keyspace + "1.bucketed", OPTIONS + " bucket=4", purged, OF_ONE, true, 2),
            new Table(keyspace + "1.whole", OPTIONS + " ingest=256", "", OF_ONE, false, 1),
            new Table(keyspace + "1.stock", null, purged, OF_ONE, true, 1),
            new Table(keyspace + "3.bucketed", OPTIONS + " bucket=4 ingest=256", "", OF_THREE, false, 2),
            new Table(keyspace + "3.whole", OPTIONS, "", OF_THREE, false, 1),
            new Table(keyspace + "3.stock", null, "", OF_THREE, false, 1));
    }

    /** Makes the tables, and waits until every coordinator skips reads of them. */
    void prepare() throws InterruptedException
    {
        for (int copies : COPIES)
            place.ddl("CREATE KEYSPACE " + keyspace + copies + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + copies + "}");
        for (Table table : tables)
            place.ddl("CREATE TABLE " + table.name + History.COLUMNS + table.more);
        List<Table> guarded = tables.stream().filter(Table::isGuarded).toList();
        for (Table table : guarded)
            place.ddl(TakingPart.begin(table.name, table.options));
        for (Table table : guarded)
            place.awaitSkips(table.name);
    }

    void drop()
    {
        for (int copies : COPIES)
            place.ddl("DROP KEYSPACE " + keyspace + copies);
    }

    /** Until as much was checked and every kind of fault has come, or the time is over, or an answer was wrong. */
    void run(int enough, long seconds, long calmMillis) throws Exception
    {
        List<Thread> workers = new ArrayList<>();
        faults.begin(tables.stream().map(Table::name).toList(), tables.stream().filter(Table::isRepaired).map(Table::name).toList());
        for (Table table : tables)
            for (int i = 0; i < table.workers; i++)
                workers.add(started(table, workers.size()));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        try
        {
            while ((checks.get() < enough || !faults.haveAllHappened()) && wrong.isEmpty() && broken.isEmpty() && System.nanoTime() < deadline)
            {
                Thread.sleep(calmMillis);
                faults.next();
            }
            Thread.sleep(calmMillis);
        }
        finally
        {
            isOver = true;
            for (Thread worker : workers)
                worker.join();
        }
        faults.end();
        System.out.printf("history under faults: %d reads checked, %d of them empty, %d beside them without the comment; %d writes, %d requests "
                          + "without an answer, seed %d%n  %s%n", checks.get(), empty.get(), stockChecks.get(), writes.get(), unanswered.get(),
                          seed, faults);
    }

    private Thread started(Table table, int number)
    {
        List<Client> clients = place.sessions().stream().map(Client::new).toList();
        HistoryWorker worker = new HistoryWorker(this, table, clients, new Random(seed + number));
        Thread thread = new Thread(worker::run, "history-" + number);
        thread.start();
        return thread;
    }

    boolean goesOn()
    {
        return !isOver && wrong.isEmpty() && broken.isEmpty();
    }

    Faults faults()
    {
        return faults;
    }

    int nextPartition()
    {
        return nextPartition.incrementAndGet();
    }

    void checked(Table table, boolean isEmpty)
    {
        (table.isGuarded() ? checks : stockChecks).incrementAndGet();
        empty.addAndGet(table.isGuarded() && isEmpty ? 1 : 0);
    }

    void written()
    {
        writes.incrementAndGet();
    }

    void unanswered()
    {
        unanswered.incrementAndGet();
    }

    void wrong(Table table, String what)
    {
        (table.isGuarded() ? wrong : wrongInStock).add(table.name + ", " + faults.now() + ", seed " + seed + ": " + what);
    }

    /** A worker has ended by an exception: of the test, or of a statement that the store refuses. */
    void broken(Table table, String what)
    {
        broken.add(table.name + ", seed " + seed + ": " + what);
    }

    int checks()
    {
        return checks.get();
    }

    /** What was wrong in tables that take part. */
    Queue<String> wrong()
    {
        return wrong;
    }

    /** The same where the plug-in has no part in it: then the store errs, or the model. */
    Queue<String> wrongInStock()
    {
        return wrongInStock;
    }

    /** Workers that have ended early. */
    Queue<String> broken()
    {
        return broken;
    }
}
