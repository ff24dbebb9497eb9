package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.datastax.driver.core.Row;
import org.junit.Test;

/** When what was known to be dead is known no longer: grace, compaction, truncation, import, memory. */
public class ForgettingTest extends OnOneCluster
{
    @Test
    public void tombstonesPastTheirGraceAreNotAnswered() throws Exception
    {
        String t = table(" WITH gc_grace_seconds = 0");
        fill(t, 1);
        flush();
        all("DELETE FROM " + t + " WHERE p = 1");
        flush();
        for (int read = 0; read < 20; read++)
            assertFalse(isAnswered(one(t)));
        graceEnds();
        cluster.compact("k");
        oldRowIsSeen(t);
    }

    @Test
    public void changedGraceForgetsEverything() throws Exception
    {
        String t = deadPartition();
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        assertFalse(isAnswered(one(t)));
        graceEnds();
        cluster.compact("k");
        oldRowIsSeen(t);
    }

    /** Compaction drops a tombstone only when a later second than the deletion's has begun, even with a grace of none. */
    private static void graceEnds() throws InterruptedException
    {
        Thread.sleep(2_000);
    }

    /** A row older than the deletion, written when its tombstone is gone, is alive. */
    private static void oldRowIsSeen(String t)
    {
        all("INSERT INTO " + t + " (p, c, v) VALUES (1, 1, 5) USING TIMESTAMP 1");
        flush();
        assertEquals(1, rows(one(t)));
    }

    @Test
    public void truncationForgetsDeletions() throws Exception
    {
        String t = deadPartition();
        session.execute("TRUNCATE " + t);
        oldRowIsSeen(t);
    }

    @Test
    public void compactionKeepsTheDeletedDead() throws Exception
    {
        String t = deadPartition();
        cluster.compact("k");
        assertEquals(0, rows(one(t)));
        assertEquals(10, rows("SELECT * FROM " + t));
        assertTrue(isAnswered(one(t)));
    }

    @Test
    public void compactionWithoutGraceForgets() throws Exception
    {
        String t = deadPartition();
        for (Node node : cluster.nodes)
            node.storageService("forceCompactionKeysIgnoringGcGrace",
                                new Object[] { "k", t.substring(2), new String[] { "1" } },
                                String.class.getName(), String.class.getName(), String[].class.getName());
        oldRowIsSeen(t);
    }

    /** SSTables that came by another way than writes may hold newer rows of a partition that was dead. */
    @Test
    public void importedSstablesAreRead() throws Exception
    {
        String t = deadPartition();
        String source = table();
        all("INSERT INTO " + source + " (p, c, v) VALUES (1, 1, 5)");
        flush();
        for (Node node : cluster.nodes)
            node.importSstables("k", source.substring(2), t.substring(2));
        assertEquals(5, all("SELECT v FROM " + t + " WHERE p = 1").one().getInt(0));
        assertEquals(10, rows("SELECT * FROM " + t + " WHERE p = 2"));
    }

    @Test
    public void purgeDoesNotResurrect() throws Exception
    {
        String t = deadPartition();
        ddl("ALTER TABLE " + t + " WITH gc_grace_seconds = 0");
        Thread.sleep(1_100);
        for (Node node : cluster.nodes)
            node.compactNewest("k", t.substring(2));
        assertEquals(0, rows(one(t)));
        assertEquals(10, rows("SELECT * FROM " + t));
    }

    /** A proof that would take more than the table may is ended while it reads. */
    @Test
    public void rangesAndLongKeysCountToo() throws Exception
    {
        String ranges = "k.ranges";
        ddl("CREATE TABLE " + ranges + " (p int, c int, v int, PRIMARY KEY (p, c))");
        ddl(TakingPart.begin(ranges, "learn_every=1 rows=20"));
        for (int p = 1; p <= 2; p++)
            for (int range = 0; range < 8 * p; range++)
                all("DELETE FROM " + ranges + " WHERE p = " + p + " AND c >= " + 10 * range + " AND c < " + (10 * range + 5));
        isKeptUnlessTooLarge(ranges, "c >= -5");
        String words = "k.words";
        ddl("CREATE TABLE " + words + " (p int, c text, v int, PRIMARY KEY (p, c))");
        ddl(TakingPart.begin(words, "learn_every=1 bytes=9000"));
        for (int p = 1; p <= 2; p++)
            for (int row = 0; row < 10; row++)
                all("DELETE FROM " + words + " WHERE p = " + p + " AND c = '" + "a".repeat(p == 1 ? 20 : 1_000) + row + "'");
        isKeptUnlessTooLarge(words, "c >= 'a'");
    }

    /** Partition 1 is answered, the larger partition 2 is not. */
    private static void isKeptUnlessTooLarge(String t, String where) throws InterruptedException
    {
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 1 AND " + where);
        String large = "SELECT * FROM " + t + " WHERE p = 2 AND " + where;
        for (int round = 0; round < 3; round++)
        {
            long ended = counter("regions_alive");
            Cluster.until("it was looked into", () -> !isAnswered(large) && counter("regions_alive") > ended);
        }
        assertFalse(isAnswered(large));
    }

    @Test
    public void memoryCapRefusesButStaysRight() throws Exception
    {
        String t = "k.capped";
        ddl("CREATE TABLE " + t + " (p int, c int, v int, PRIMARY KEY (p, c))");
        ddl(TakingPart.begin(t, "learn_every=1 bytes=2000"));
        for (int p = 0; p < 50; p++)
        {
            all("INSERT INTO " + t + " (p, c, v) VALUES (" + p + ", 1, 1)");
            all("DELETE FROM " + t + " WHERE p = " + p);
        }
        flush();
        becomesAnswered("SELECT * FROM " + t + " WHERE p = 0");
        for (int p = 0; p < 50; p++)
            assertEquals(0, rows("SELECT * FROM " + t + " WHERE p = " + p));
        Row used = session.execute("SELECT bytes, max_bytes FROM lacuna.tables WHERE keyspace_name = 'k' AND table_name = 'capped'").one();
        assertTrue(used.toString(), used.getLong(0) > 0 && used.getLong(0) < 4_000 && used.getLong(1) == 2_000);
    }
}
