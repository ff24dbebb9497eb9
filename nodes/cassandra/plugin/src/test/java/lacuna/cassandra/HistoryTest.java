package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;

import com.datastax.driver.core.ResultSetFuture;
import org.junit.Test;

/**
 * One random {@link History} on a guarded table, on one whose node filters are exchanged too, on their twin without the comment,
 * and on a plain model: all four agree.
 */
public class HistoryTest extends OnOneCluster implements Stores
{
    private static final int OPERATIONS = Integer.getInteger("lacuna.operations", 2_000);
    private static final long SEED = Long.getLong("lacuna.seed", 8);
    private static final String TWIN = "twin";
    private static final List<String> TABLES = List.of(TWIN, "guarded", "safe");

    private final List<Client> clients = new ArrayList<>();

    @Test
    public void guardedTablesTwinAndModelAgree()
    {
        prepare();
        long answeredBefore = answeredEverywhere();
        long skippedBefore = everywhere("reads_skipped");
        // Other tests of this process have tables in mode shadow, whose rows are written while they are read.
        long contradictionsBefore = everywhere("contradictions");
        long gapsBefore = everywhere("gaps_proven");
        long narrowedBefore = everywhere("reads_narrowed");
        long leftOutBefore = everywhere("partitions_left_out");
        History history = new History(SEED, this, NODES);
        history.run(OPERATIONS);
        long answered = answeredEverywhere() - answeredBefore;
        long skipped = everywhere("reads_skipped") - skippedBefore;
        long gaps = everywhere("gaps_proven") - gapsBefore;
        long narrowed = everywhere("reads_narrowed") - narrowedBefore;
        long leftOut = everywhere("partitions_left_out") - leftOutBefore;
        System.out.printf("history: %d reads began beyond dead rows, %d partitions were left out of others, %d were repeated%n", narrowed, leftOut,
                          everywhere("reads_repeated"));
        System.out.printf("history: %d operations, %d replica reads, %d answered from memory; %d reads, %d skipped by coordinators, "
                          + "%d gaps proven by replicas%n", OPERATIONS, history.replicaReads(), answered, history.readCount(), skipped, gaps);
        assertTrue("only " + narrowed + " reads were narrowed, seed " + SEED, narrowed * 50 >= history.readCount());
        assertTrue("no partition was left out, seed " + SEED, leftOut > 0);
        assertTrue("only " + gaps + " gaps were proven, seed " + SEED, gaps * 50 >= OPERATIONS);
        assertTrue("only " + answered + " of " + history.replicaReads() + " were answered, seed " + SEED, answered * 5 >= history.replicaReads());
        assertTrue("only " + skipped + " of " + history.readCount() + " were skipped, seed " + SEED, skipped * 5 >= history.readCount());
        assertEquals("seed " + SEED, contradictionsBefore, everywhere("contradictions"));
    }

    private void prepare()
    {
        cluster.nodes.forEach(node -> clients.add(new Client(cluster.session(node))));
        ddl("CREATE KEYSPACE h WITH replication = {'class': 'SimpleStrategy', 'replication_factor': " + NODES + "}");
        ddl("CREATE TABLE h.counts (p int, c int, n counter, PRIMARY KEY (p, c))");
        for (String table : TABLES)
            ddl("CREATE TABLE h." + table + History.COLUMNS);
        // Its own table has the id of the base table.
        for (String table : TABLES)
            ddl("CREATE INDEX " + table + "_w ON h." + table + " (w)");
        for (String table : TABLES.subList(1, TABLES.size()))
            ddl(TakingPart.begin("h." + table, "learn_every=1 back_off=1 bucket=4 mode=" + (table.equals("safe") ? "safe" : "off")));
    }

    @Override
    public List<Answer> ask(Request request, int node)
    {
        List<ResultSetFuture> running = new ArrayList<>();
        for (String table : request.isOfAnyTable() ? TABLES : List.of(TWIN))
            running.add(clients.get(node).ask(request, "h." + table));
        return running.stream().map(Answer::of).toList();
    }

    @Override
    public Answer agreed(Request request, List<Answer> answers)
    {
        for (int i = 1; i < answers.size(); i++)
            assertEquals(request.toString(), answers.get(0).named(TWIN, TABLES.get(i)), answers.get(i).toString());
        return answers.get(0);
    }

    @Override
    public void flushAll()
    {
        cluster.flush("h");
    }

    @Override
    public void compactAll()
    {
        cluster.compact("h");
    }
}
