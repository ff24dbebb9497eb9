package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Session;
import org.junit.Assume;
import org.junit.Test;

/**
 * One random {@link History} on this cluster and on another one, of as many nodes without the plug-in: every byte that a client
 * sees is the same, as far as clusters can be the same at all.
 *
 * <p>Not asked for: times to live, which run while one cluster is asked after the other; the write time of {@code v}, which
 * conditional writes have from their coordinator's clock. A read that is skipped meets no tombstones: the store's warnings of
 * too many are not provoked. {@code -Dlacuna.beside_stock=true}, in the long tests only.
 */
public class BesideStockTest extends OnOneCluster implements Stores
{
    private static final int OPERATIONS = Integer.getInteger("lacuna.operations", 2_000);
    private static final long SEED = Long.getLong("lacuna.seed", 8);
    /** The last has one replica, so that some levels find too few. */
    private static final List<String> TABLES = List.of("h.guarded", "h.safe", "h1.safe");
    private static final int SAFE_TABLES = 2;

    private final List<Client> guarded = new ArrayList<>();
    private final List<Client> plain = new ArrayList<>();
    private Cluster stock;
    private long asked;

    @Test
    public void everyAnswerIsThatOfAClusterWithoutThePlugin() throws Exception
    {
        Assume.assumeTrue("a long test", Boolean.getBoolean("lacuna.beside_stock"));
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("stock-" + System.nanoTime());
        try (Cluster other = new Cluster(work, NODES).start(false))
        {
            stock = other;
            prepare(cluster, guarded, true);
            prepare(stock, plain, false);
            long answeredBefore = answeredEverywhere();
            long skippedBefore = everywhere("reads_skipped");
            long start = System.nanoTime();
            History history = new History(SEED, this, NODES);
            history.run(OPERATIONS);
            long answered = answeredEverywhere() - answeredBefore;
            long skipped = everywhere("reads_skipped") - skippedBefore;
            long reads = SAFE_TABLES * history.readCount();
            System.out.printf("beside stock: %d operations, seed %d, %d s; %d answers compared; %d of %d reads skipped by coordinators, "
                              + "%d answered from memory by replicas%n",
                              OPERATIONS, SEED, (System.nanoTime() - start) / 1_000_000_000, asked, skipped, reads, answered);
            assertTrue("only " + skipped + " of " + reads + " were skipped, seed " + SEED, skipped * 5 >= reads);
            assertTrue("nothing was answered by replicas, seed " + SEED, answered * 20 >= history.replicaReads());
        }
    }

    private static void prepare(Cluster cluster, List<Client> clients, boolean takesPart)
    {
        List<Session> sessions = cluster.nodes.stream().map(cluster::session).toList();
        sessions.forEach(session -> clients.add(new Client(session)));
        Session ddl = sessions.get(0);
        cluster.schema(ddl, "CREATE KEYSPACE h WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + NODES + "}");
        cluster.schema(ddl, "CREATE KEYSPACE h1 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        cluster.schema(ddl, "CREATE TABLE h.counts (p int, c int, n counter, PRIMARY KEY (p, c))");
        for (String table : TABLES)
            cluster.schema(ddl, "CREATE TABLE " + table + History.COLUMNS);
        for (String table : takesPart ? TABLES : List.<String>of())
            cluster.schema(ddl, TakingPart.begin(table, "learn_every=1 back_off=1 bucket=4 mode=" + (table.endsWith("safe") ? "safe" : "off")));
    }

    /** Of each table first here, then there. */
    @Override
    public List<Answer> ask(Request request, int node)
    {
        List<ResultSetFuture> running = new ArrayList<>();
        for (String table : request.isOfAnyTable() ? TABLES : List.of("h.counts"))
            for (List<Client> side : List.of(guarded, plain))
                running.add(side.get(node).ask(request, table));
        return running.stream().map(Answer::of).toList();
    }

    @Override
    public Answer agreed(Request request, List<Answer> answers)
    {
        for (int i = 0; i < answers.size(); i += 2)
            assertEquals(request.toString(), answers.get(i + 1).toString(), answers.get(i).toString());
        asked += answers.size() / 2;
        return answers.get(0);
    }

    @Override
    public void flushAll()
    {
        both().forEach(side -> keyspaces().forEach(side::flush));
    }

    @Override
    public void compactAll()
    {
        both().forEach(side -> keyspaces().forEach(side::compact));
    }

    private Stream<Cluster> both()
    {
        return Stream.of(cluster, stock);
    }

    private static Stream<String> keyspaces()
    {
        return Stream.of("h", "h1");
    }
}
