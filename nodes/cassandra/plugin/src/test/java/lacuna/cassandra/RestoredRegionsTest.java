package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.DriverException;
import org.junit.Test;

/**
 * Dead regions after restarts. Beside the guarded table is its twin without the comment, which gets the same writes, loses the same SSTables,
 * and must show the same.
 */
public class RestoredRegionsTest
{
    private static final String GUARDED = "k.guarded";
    private static final String STOCK = "k.stock";
    /** Has a node filter too, whose first build must not forget what was restored. */
    private static final String SAFE = "k.safe";
    private static final int PARTITIONS = 6;
    private static final int ROWS = 10;
    /** Rows that are in the commit log alone when a node is killed. */
    private static final int REPLAYED = 20;
    /** What is deleted of them: a partition, a range, rows. */
    private static final List<String> DEAD = List.of("p = 1", "p = 2 AND c >= 2 AND c < 8", "p = 3 AND c >= 1 AND c <= 4");
    private static final String[] PROPERTIES = OnOneCluster.PROPERTIES;

    private Cluster cluster;
    private Node node;
    private Session session;
    private String guardedId;

    /** One life of a node after the other, since a start takes half a minute. Each step says what it would see. */
    @Test
    public void regionsOutliveACleanEndAndHideNothing() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("regions-" + System.nanoTime());
        try (Cluster running = new Cluster(work, 1).start(true, PROPERTIES))
        {
            cluster = running;
            node = cluster.nodes.get(0);
            session = cluster.session(node);
            fill();
            areKnownWithoutAProof();
            writesEndThem();
            aKilledNodeLeavesNone();
            writesOfTheCommitLogEndThem();
            importsEndThem();
            aLifeThatSeesNoWritesKeepsNone();
            otherColumnsAreAnotherTable();
            lostSstablesAreSeen();
            lostSstablesAreHiddenWithoutTheRule();
        }
    }

    private void fill()
    {
        run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        for (String table : List.of(GUARDED, STOCK, SAFE, "k.source"))
            run("CREATE TABLE " + table + " (p int, c int, v int, w int, PRIMARY KEY (p, c)) "
                + "WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}");
        String id = "SELECT id FROM system_schema.tables WHERE keyspace_name = 'k' AND table_name = 'guarded'";
        guardedId = session.execute(id).one().getUUID(0).toString().replace("-", "");
        run(TakingPart.begin(GUARDED, "learn_every=1"));
        run(TakingPart.begin(SAFE, "mode=safe learn_every=1 back_off=1"));
        for (int p = 0; p < PARTITIONS; p++)
            for (int c = 0; c < ROWS; c++)
                both("INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", 1)");
        run("INSERT INTO " + SAFE + " (p, c, v) VALUES (1, 1, 1)");
        cluster.flush("k");
        both("DELETE FROM %s WHERE p = 1");
        both("DELETE FROM %s WHERE p = 2 AND c >= 2 AND c < 8");
        for (int c = 1; c <= 4; c++)
            both("DELETE FROM %s WHERE p = 3 AND c = " + c);
        cluster.flush("k");
    }

    /** Would see a file that is not written or not taken, a build that forgets it, and a file that counts twice. */
    private void areKnownWithoutAProof() throws Exception
    {
        // A first build forgets what was proven before it.
        absentKeysAreSkipped();
        run("DELETE FROM " + SAFE + " WHERE p = 1");
        Cluster.until("its deletion is known", () -> partitions(SAFE) == 1);
        becomeKnown(DEAD);
        node.stop();
        assertEquals(2, node.savedRegions().size());
        comesBack(true, PROPERTIES);
        assertEquals("it counts once", 0, node.savedRegions().size());
        assertTrue("restored", counter("regions_restored") >= DEAD.size() + 1);
        for (String where : DEAD)
            assertTrue("from memory: " + where, isAnswered(where));
        assertEquals(0, counter("regions_proven"));
        areAlike();
        absentKeysAreSkipped();
        Cluster.until("it is known after the build of its filter", () -> partitions(SAFE) == 1);
    }

    private void absentKeysAreSkipped() throws InterruptedException
    {
        for (int attempt = 0; !WithFilters.isCounted(session, "reads_skipped", SAFE, 1_000_000 + attempt); attempt++)
        {
            assertTrue("never skipped", attempt < 2_400);
            Thread.sleep(50);
        }
    }

    /** Would see a restored region that a write does not end, which hides the row once it is in an SSTable. */
    private void writesEndThem()
    {
        both("INSERT INTO %s (p, c, v) VALUES (1, 5, 7)");
        areAlike();
        cluster.flush("k");
        assertFalse(isAnswered("p = 1"));
        assertEquals(1, rows(GUARDED, "p = 1").size());
        areAlike();
    }

    private void aKilledNodeLeavesNone() throws Exception
    {
        node.kill();
        comesBack(true, PROPERTIES);
        assertEquals(0, counter("regions_restored"));
        areAlike();
    }

    /**
     * The file is back although the node was killed, as after a crash of its machine. Would see a region that is put back after a write, and a
     * write that passes by while the last table joins.
     */
    private void writesOfTheCommitLogEndThem() throws Exception
    {
        endsWithDeadPartition();
        Path file = ofGuarded();
        byte[] bytes = Files.readAllBytes(file);
        comesBack(true, PROPERTIES);
        assertTrue(isAnswered("p = 1"));
        for (int c = 0; c < REPLAYED; c++)
            both("INSERT INTO %s (p, c, v) VALUES (1, " + c + ", 7)");
        node.kill();
        Files.write(file, bytes);
        comesBack(true, with("-Dlacuna.test.flaws=" + Flaw.TABLES_JOIN_SLOWLY));
        System.out.printf("restored beside a commit log: %d regions%n", counter("regions_restored"));
        for (int flushed = 0; flushed < 2; flushed++)
        {
            assertEquals(REPLAYED, rows(GUARDED, "p = 1").size());
            areAlike();
            cluster.flush("k");
        }
    }

    /** Would see a restored region that hides rows of an SSTable that came another way than by writes. */
    private void importsEndThem() throws Exception
    {
        endsWithDeadPartition();
        comesBack(true, PROPERTIES);
        assertTrue(isAnswered("p = 1"));
        run("INSERT INTO k.source (p, c, v) VALUES (1, 9, 9)");
        cluster.flush("k");
        for (String table : List.of("guarded", "stock"))
            node.importSstables("k", "source", table);
        assertEquals(1, rows(GUARDED, "p = 1").size());
        areAlike();
        node.stop();
        comesBack(true, PROPERTIES);
        assertFalse(isAnswered("p = 1"));
        areAlike();
    }

    /** A life that has the handler and not the hook. Would see regions in its file that a write should have ended. */
    private void aLifeThatSeesNoWritesKeepsNone() throws Exception
    {
        endsWithDeadPartition();
        comesBack(true, with(Node.WITHOUT_HOOK));
        both("INSERT INTO %s (p, c, v) VALUES (1, 8, 8)");
        cluster.flush("k");
        node.stop();
        assertFalse(Files.exists(ofGuarded()));
        comesBack(true, PROPERTIES);
        assertEquals(1, rows(GUARDED, "p = 1").size());
        areAlike();
    }

    /** A life without the plug-in drops a column. Would see a file that counts for a table of other columns. */
    private void otherColumnsAreAnotherTable() throws Exception
    {
        endsWithDeadPartition();
        comesBack(false);
        both("ALTER TABLE %s DROP w");
        node.stop();
        assertTrue(Files.exists(ofGuarded()));
        comesBack(true, PROPERTIES);
        assertEquals(0, partitions(GUARDED));
        areAlike();
    }

    /** The SSTable of the last deletion is taken away, so a row is alive again. Would see a region that hides it. */
    private void lostSstablesAreSeen() throws Exception
    {
        losesTheDeletion();
        comesBack(true, PROPERTIES);
        assertEquals(0, partitions(GUARDED));
        assertEquals(1, rows(STOCK, "p = 1").size());
        areAlike();
    }

    /** That the step before can fail. */
    private void lostSstablesAreHiddenWithoutTheRule() throws Exception
    {
        losesTheDeletion();
        comesBack(true, with("-Dlacuna.test.flaws=" + Flaw.REGIONS_ARE_OF_ANY_SSTABLES));
        assertNotEquals("the flaw is not found", rows(STOCK, "p = 1"), rows(GUARDED, "p = 1"));
    }

    private void losesTheDeletion() throws Exception
    {
        both("INSERT INTO %s (p, c, v) VALUES (1, 3, 3)");
        cluster.flush("k");
        endsWithDeadPartition();
        for (String table : List.of("guarded", "stock"))
            node.takeAwayNewest("k", table);
    }

    /** Partition 1 is deleted in an SSTable of its own, known to be dead, and in the file of a clean end. */
    private void endsWithDeadPartition() throws Exception
    {
        both("DELETE FROM %s WHERE p = 1");
        cluster.flush("k");
        becomeKnown(List.of("p = 1"));
        node.stop();
        assertTrue(Files.exists(ofGuarded()));
    }

    private Path ofGuarded() throws IOException
    {
        return node.savedFilters().get(0).resolveSibling("lacuna-" + guardedId + ".dead");
    }

    private void becomeKnown(List<String> stretches) throws InterruptedException
    {
        for (String where : stretches)
            for (int attempt = 0; !isAnswered(where); attempt++)
            {
                assertTrue("never answered from memory: " + where, attempt < 2_400);
                Thread.sleep(50);
            }
    }

    private boolean isAnswered(String where)
    {
        long before = counter("reads_answered");
        rows(GUARDED, where);
        return counter("reads_answered") > before;
    }

    /** Every partition, every stretch that was deleted, and all at once. */
    private void areAlike()
    {
        assertEquals("active", 0, counter("failures"));
        for (int p = 0; p < PARTITIONS; p++)
            assertEquals(rows(STOCK, "p = " + p), rows(GUARDED, "p = " + p));
        for (String where : DEAD)
            assertEquals(where, rows(STOCK, where), rows(GUARDED, where));
        assertEquals(rows(STOCK, "p > 0 ALLOW FILTERING"), rows(GUARDED, "p > 0 ALLOW FILTERING"));
    }

    private List<String> rows(String table, String where)
    {
        return session.execute("SELECT p, c, v FROM " + table + " WHERE " + where).all().stream().map(Row::toString).collect(Collectors.toList());
    }

    private void both(String cql)
    {
        for (String table : List.of(GUARDED, STOCK))
            run(String.format(cql, table));
    }

    private void run(String cql)
    {
        WithFilters.at(session, cql, ConsistencyLevel.ONE);
    }

    private long counter(String name)
    {
        return WithFilters.counter(session, name);
    }

    /** Of which something is known to be dead. */
    private long partitions(String table)
    {
        String[] names = table.split("\\.");
        return session.execute("SELECT partitions FROM lacuna.tables WHERE keyspace_name = ? AND table_name = ?", names[0], names[1]).one().getLong(0);
    }

    private static String[] with(String property)
    {
        return Stream.concat(Stream.of(PROPERTIES), Stream.of(property)).toArray(String[]::new);
    }

    private void comesBack(boolean withPlugin, String... properties) throws Exception
    {
        node.start(withPlugin, properties);
        cluster.awaitAll();
        for (int attempt = 0; ; attempt++)
            try
            {
                rows(STOCK, "p = 0");
                return;
            }
            catch (DriverException notYet)
            {
                assertTrue("never answers again", attempt < 600);
                Thread.sleep(100);
            }
    }
}
