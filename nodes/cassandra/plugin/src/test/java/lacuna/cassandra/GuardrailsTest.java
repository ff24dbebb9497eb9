package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.Session;
import org.junit.Test;

/**
 * A node whose clients log in: what guardrails warn of or refuse, and what a client may not read, is of absent partitions what it
 * is without the comment.
 */
public class GuardrailsTest
{
    private static final String GUARDRAILS = "org.apache.cassandra.db:type=Guardrails";
    private static final String[] LOGIN = { "-Dcassandra.config.allow_system_properties=true",
                                            "-Dcassandra.settings.authenticator=PasswordAuthenticator",
                                            "-Dcassandra.settings.authorizer=CassandraAuthorizer",
                                            "-Dcassandra.settings.partition_keys_in_select_warn_threshold=2",
                                            "-Dcassandra.settings.partition_keys_in_select_fail_threshold=5",
                                            "-Dcassandra.settings.in_select_cartesian_product_warn_threshold=3",
                                            "-Dcassandra.settings.in_select_cartesian_product_fail_threshold=20",
                                            "-Dcassandra.settings.page_size_warn_threshold=100",
                                            "-Dcassandra.settings.page_size_fail_threshold=1000" };
    private static final String ROOT = "cassandra";
    private static final String READER = "reader";
    private static final String NO_PERMISSION = "no_permission";
    private static final int FIRST_ABSENT = 1_000;
    private static final ConsistencyLevel ONE = ConsistencyLevel.ONE;

    private Cluster cluster;
    private Session root;
    private Pair pair;

    @Test
    public void clientsThatLogInGetWhatTheyGetWithoutTheComment() throws Exception
    {
        Path work = Path.of(System.getProperty("lacuna.work")).resolve("guardrails-" + System.nanoTime());
        try (Cluster started = new Cluster(work, 1).start(true, LOGIN))
        {
            cluster = started;
            Cluster.until("the first user is there", this::canLogIn);
            root = cluster.session(cluster.nodes.get(0));
            prepare();
            manyKeysAreWarnedOfAndRefused();
            manyRowsAreWarnedOfAndRefused();
            largePagesAreWarnedOfAndRefused();
            levelsAreWarnedOfAndRefused();
            usersWithoutPermissionAreRefused();
            maskedColumnsStayMasked();
        }
    }

    private boolean canLogIn()
    {
        try (var driver = cluster.driver(cluster.nodes.get(0)); Session session = driver.connect())
        {
            return true;
        }
        catch (RuntimeException notYet)
        {
            return false;
        }
    }

    private void prepare()
    {
        cluster.schema(root, "CREATE KEYSPACE g WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        pair = Pair.create(cluster, root, "g.t",
                           "CREATE TABLE %s (p int, c int, v int, secret text MASKED WITH DEFAULT, PRIMARY KEY (p, c))",
                           "mode=safe");
        for (String user : new String[] { READER, NO_PERMISSION })
            root.execute("CREATE ROLE " + user + " WITH PASSWORD = '" + user + "' AND LOGIN = true");
        for (String table : new String[] { pair.stock(), pair.guarded() })
            root.execute("GRANT SELECT ON " + table + " TO " + READER);
        pair.alike(new Client(root), "INSERT INTO %s (p, c, v, secret) VALUES (1, 1, 1, 'secret')", ONE);
        Cluster.until("absent partitions are skipped", () -> isSkipped(new Client(root), one(FIRST_ABSENT)));
    }

    private Client client(String user)
    {
        return new Client(cluster.session(cluster.nodes.get(0), user));
    }

    private static String one(int p)
    {
        return "SELECT * FROM %s WHERE p = " + p;
    }

    private static String in(int count)
    {
        return "SELECT * FROM %s WHERE p IN (" + numbers(FIRST_ABSENT, count) + ")";
    }

    private static String numbers(int from, int count)
    {
        return IntStream.range(from, from + count).mapToObj(Integer::toString).collect(Collectors.joining(", "));
    }

    private boolean isSkipped(Client client, String cql)
    {
        long before = Twins.counter(root, "reads_skipped");
        pair.alike(client, cql, ONE);
        return Twins.counter(root, "reads_skipped") > before;
    }

    private void skipped(Client client, String cql)
    {
        Cluster.until("skipped: " + cql, () -> isSkipped(client, cql));
    }

    private static void warns(Answer answer, String of)
    {
        assertTrue(answer.toString(), !answer.isError() && answer.toString().contains(of));
    }

    private static void refuses(Answer answer, String because)
    {
        assertTrue(answer.toString(), answer.isError() && answer.toString().contains(because));
    }

    private void manyKeysAreWarnedOfAndRefused()
    {
        for (String user : new String[] { READER, ROOT })
        {
            Client client = client(user);
            for (int keys = 1; keys <= 5; keys++)
                skipped(client, in(keys));
            for (int keys = 1; keys <= 8; keys++)
                pair.alike(client, in(keys), ONE);
        }
        assertTrue("no warning is due", pair.alike(client(READER), in(2), ONE).toString().contains("warnings []"));
        warns(pair.alike(client(READER), in(3), ONE), "partition_keys_in_select");
        refuses(pair.alike(client(READER), in(6), ONE), "partition_keys_in_select");
        assertTrue("guardrails are not for superusers", pair.alike(client(ROOT), in(6), ONE).toString().contains("warnings []"));
    }

    /** Keys times rows. */
    private void manyRowsAreWarnedOfAndRefused()
    {
        Client client = client(READER);
        String few = "SELECT * FROM %s WHERE p = 1001 AND c IN (" + numbers(1, 3) + ")";
        String many = "SELECT * FROM %s WHERE p = 1001 AND c IN (" + numbers(1, 5) + ")";
        String tooMany = "SELECT * FROM %s WHERE p = 1001 AND c IN (" + numbers(1, 30) + ")";
        for (String cql : List.of(few, many))
            skipped(client, cql);
        assertTrue(pair.alike(client, few, ONE).toString().contains("warnings []"));
        warns(pair.alike(client, many, ONE), "in_select_cartesian_product");
        refuses(pair.alike(client, tooMany, ONE), "in_select_cartesian_product");
    }

    private void largePagesAreWarnedOfAndRefused()
    {
        Client client = client(READER);
        for (String cql : List.of(one(FIRST_ABSENT), one(FIRST_ABSENT) + " LIMIT 50", in(2),
                                  "SELECT count(*) FROM %s WHERE p = 1000"))
            for (int page : new int[] { 10, 200, 5_000 })
                for (boolean isPrepared : new boolean[] { false, true })
                    pair.alike(client, new Request(cql, new int[0], ONE, page, isPrepared));
        warns(pair.alike(client, new Request(one(FIRST_ABSENT), new int[0], ONE, 200, false)), "page_size");
        refuses(pair.alike(client, new Request(one(FIRST_ABSENT), new int[0], ONE, 5_000, false)), "page_size");
    }

    private void levelsAreWarnedOfAndRefused()
    {
        Jmx node = cluster.nodes.get(0).jmx;
        node.set(GUARDRAILS, "ReadConsistencyLevelsWarnedCSV", "QUORUM");
        node.set(GUARDRAILS, "ReadConsistencyLevelsDisallowedCSV", "ALL");
        Client client = client(READER);
        warns(pair.alike(client, one(FIRST_ABSENT), ConsistencyLevel.QUORUM), "read_consistency_levels");
        refuses(pair.alike(client, one(FIRST_ABSENT), ConsistencyLevel.ALL), "read_consistency_levels");
        node.set(GUARDRAILS, "ReadConsistencyLevelsWarnedCSV", "");
        node.set(GUARDRAILS, "ReadConsistencyLevelsDisallowedCSV", "");
    }

    private void usersWithoutPermissionAreRefused()
    {
        Client unpermitted = client(NO_PERMISSION);
        for (String cql : List.of(one(1), one(FIRST_ABSENT), in(1), in(3), in(6), "SELECT count(*) FROM %s WHERE p = 1000"))
            refuses(pair.alike(unpermitted, cql, ONE), "UnauthorizedException");
        refuses(pair.alike(client(READER), "INSERT INTO %s (p, c) VALUES (1, 2)", ONE), "UnauthorizedException");
        String guess = one(FIRST_ABSENT) + " AND secret = 'secret' ALLOW FILTERING";
        refuses(pair.alike(client(READER), guess, ONE), "UnauthorizedException");
    }

    private void maskedColumnsStayMasked()
    {
        Client reader = client(READER);
        assertEquals("[[****]]", pair.alike(reader, "SELECT secret FROM %s WHERE p = 1", ONE).rows().toString());
        skipped(reader, "SELECT secret FROM %s WHERE p = 1000");
        skipped(reader, "SELECT max(secret), count(*) FROM %s WHERE p = 1000");
    }
}
