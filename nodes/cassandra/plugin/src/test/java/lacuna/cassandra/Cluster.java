package lacuna.cassandra;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import com.datastax.driver.core.PoolingOptions;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SocketOptions;
import com.datastax.driver.core.policies.ConstantReconnectionPolicy;
import com.datastax.driver.core.policies.LoadBalancingPolicy;
import com.datastax.driver.core.policies.RoundRobinPolicy;
import com.datastax.driver.core.policies.TokenAwarePolicy;
import com.datastax.driver.core.policies.WhiteListPolicy;

/**
 * Nodes on loopback addresses of their own: each is a seed, with a given token unless it has several ({@link Setup}), so no node bootstraps.
 *
 * <p>The logs of a cluster that was closed after a failure stay in {@code target/clusters}.
 */
final class Cluster implements AutoCloseable
{
    private static final int STORAGE_PORT = 7000;
    private static final int NATIVE_PORT = 9042;
    /** What a busy machine may take for what takes a moment. */
    private static final int PATIENCE_MILLIS = 60_000;
    private static final long START_SECONDS = 900;
    /** The default user of a session; most clusters do not ask for one. */
    private static final String SUPERUSER = "cassandra";

    final List<Node> nodes = new ArrayList<>();
    private final List<com.datastax.driver.core.Cluster> drivers = new ArrayList<>();
    private final Path work;
    private final Setup setup;
    private int started;
    /** Null if nodes speak to each other directly. */
    final Relay relay;

    Cluster(Path work, int count) throws IOException
    {
        this(work, count, CommitLog.SYNCED);
    }

    Cluster(Path work, int count, CommitLog log) throws IOException
    {
        this(work, Collections.nCopies(count, ""), -1, log, Setup.OF_TESTS);
    }

    /** Nodes that are set up in this way, and may be killed. */
    Cluster(Path work, int count, Setup setup) throws IOException
    {
        this(work, Collections.nCopies(count, ""), -1, CommitLog.SYNCED, setup);
    }

    /** A node in each of these datacentres; in the same one if none has a name. */
    Cluster(Path work, List<String> datacentres) throws IOException
    {
        this(work, datacentres, -1, CommitLog.SYNCED, Setup.OF_TESTS);
    }

    /**
     * For measurements: with Cassandra's own kind of commit log, and with a {@link Relay} between its nodes that delays messages by
     * this many microseconds each way, unless the number is negative.
     */
    Cluster(Path work, int count, long delayMicros) throws IOException
    {
        this(work, Collections.nCopies(count, ""), delayMicros, CommitLog.PERIODIC, Setup.OF_TESTS);
    }

    private Cluster(Path work, List<String> datacentres, long delayMicros, CommitLog log, Setup setup) throws IOException
    {
        int count = datacentres.size();
        this.work = Files.createDirectories(work);
        this.setup = setup;
        this.started = count;
        List<String> addresses = Addresses.free(count, STORAGE_PORT, NATIVE_PORT);
        List<String> broadcast = delayMicros < 0 ? addresses : addresses.stream().map(a -> a.replaceAll("(\\d+)$", "10$1")).toList();
        this.relay = delayMicros < 0 ? null : new Relay(addresses, broadcast, STORAGE_PORT, delayMicros);
        String seeds = broadcast.stream().map(a -> a + ":" + STORAGE_PORT).collect(Collectors.joining(","));
        Map<String, String> common = new HashMap<>(setup.settings(this.work));
        common.putAll(Map.of("seeds", seeds, "storage_port", Integer.toString(STORAGE_PORT), "native_port", Integer.toString(NATIVE_PORT),
                             "bootstrap", "false", "commitlog", log.yaml));
        for (int i = 0; i < count; i++)
        {
            long token = Long.MIN_VALUE + 1 + i * (Long.MAX_VALUE / count * 2);
            String snitch = datacentres.get(i).isEmpty() ? "SimpleSnitch" : "GossipingPropertyFileSnitch";
            Map<String, String> settings = new HashMap<>(common);
            settings.putAll(Map.of("tokens", setup.tokens(token), "broadcast", broadcast.get(i), "snitch", snitch, "datacentre", datacentres.get(i)));
            nodes.add(new Node(this.work.resolve("node" + (i + 1)), addresses.get(i), settings));
        }
    }

    /** The first alone, then the others together: three first starts at once make three schemas. */
    Cluster start(boolean withPlugin, String... properties) throws Exception
    {
        nodes.get(0).start(withPlugin, properties);
        await(nodes.get(0));
        for (Node node : nodes.subList(1, nodes.size()))
            node.start(withPlugin, properties);
        awaitAll();
        return this;
    }

    /** One more node, no seed: it takes its part of what the others hold, or all of one that it replaces, before it answers. */
    Node join(long token, String... properties) throws Exception
    {
        return join(true, token, properties);
    }

    /** The same with the plug-in or without. */
    Node join(boolean withPlugin, long token, String... properties) throws Exception
    {
        Map<String, String> settings = new HashMap<>(nodes.get(0).settings);
        String address = Addresses.neighbour(nodes.get(0).address, ++started);
        settings.putAll(Map.of("tokens", setup.tokens(token), "bootstrap", "true", "broadcast", address));
        Node node = new Node(work.resolve("node" + started), address, settings);
        nodes.add(node);
        node.start(withPlugin, properties);
        awaitAll();
        return node;
    }

    /** Until all answer, see each other, and have one schema. */
    void awaitAll() throws Exception
    {
        for (Node node : nodes)
            await(node);
        for (Node node : nodes)
            until("node sees all others", () -> node.liveNodes() == nodes.size() && nodes.stream().allMatch(node::seesRunning));
        until("one schema", this::isOneSchema);
    }

    private boolean isOneSchema()
    {
        return nodes.stream().filter(Node::isAlive).map(Node::schemaVersion).distinct().count() == 1;
    }

    /** Runs a statement that changes the schema, and waits until every node knows it. */
    void schema(Session session, String cql)
    {
        session.execute(cql);
        until("one schema after " + cql, this::isOneSchema);
    }

    /** Until it holds, for as long as a busy machine may take. */
    static void until(String what, BooleanSupplier holds)
    {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!holds.getAsBoolean())
        {
            if (System.nanoTime() > deadline)
                throw new IllegalStateException("never: " + what);
            LockSupport.parkNanos(50_000_000);
        }
    }

    /** Until it answers; a node that ended says so in its log. */
    void await(Node node) throws Exception
    {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!isListening(node))
        {
            if (!node.isAlive() || System.nanoTime() > deadline)
                throw new IllegalStateException("node did not start, see " + work + "\n" + node.log());
            Thread.sleep(200);
        }
    }

    private static boolean isListening(Node node)
    {
        try (Socket socket = new Socket())
        {
            socket.connect(new InetSocketAddress(node.address, NATIVE_PORT), 5_000);
            return true;
        }
        catch (IOException notYet)
        {
            return false;
        }
    }

    /** A session whose coordinator is always this node, closed with the cluster. */
    Session session(Node node)
    {
        return session(node, SUPERUSER);
    }

    /** The same for a user whose password is his name. */
    Session session(Node node, String user)
    {
        com.datastax.driver.core.Cluster driver = driver(node, user);
        drivers.add(driver);
        return driver.connect();
    }

    /** A session that asks a replica of the partition, as most applications' do; closed with the cluster. */
    Session tokenAware()
    {
        com.datastax.driver.core.Cluster driver = driver(nodes.get(0), new TokenAwarePolicy(new RoundRobinPolicy()), SUPERUSER);
        drivers.add(driver);
        return driver.connect();
    }

    /** A session with one node for a moment: the caller closes it. */
    com.datastax.driver.core.Cluster driver(Node node)
    {
        return driver(node, SUPERUSER);
    }

    private static com.datastax.driver.core.Cluster driver(Node node, String user)
    {
        InetSocketAddress only = new InetSocketAddress(node.address, NATIVE_PORT);
        return driver(node, new WhiteListPolicy(new RoundRobinPolicy(), List.of(only)), user);
    }

    private static com.datastax.driver.core.Cluster driver(Node contact, LoadBalancingPolicy policy, String user)
    {
        return com.datastax.driver.core.Cluster.builder().addContactPoint(contact.address).withPort(NATIVE_PORT)
            .withLoadBalancingPolicy(policy).withCredentials(user, user)
            .withReconnectionPolicy(new ConstantReconnectionPolicy(500)).withMaxSchemaAgreementWaitSeconds(1)
            .withSocketOptions(new SocketOptions().setReadTimeoutMillis(PATIENCE_MILLIS).setConnectTimeoutMillis(PATIENCE_MILLIS))
            .withPoolingOptions(new PoolingOptions().setPoolTimeoutMillis(PATIENCE_MILLIS)).withoutJMXReporting().build();
    }

    void flush(String keyspace)
    {
        nodes.forEach(node -> node.flush(keyspace));
    }

    void compact(String keyspace)
    {
        nodes.forEach(node -> node.compact(keyspace));
    }

    @Override
    public void close() throws Exception
    {
        drivers.forEach(com.datastax.driver.core.Cluster::close);
        for (Node node : nodes)
            node.end();
        if (relay != null)
            relay.close();
    }

    /** Where each node is for clients, and the commands of operators. */
    private void printCommands() throws IOException
    {
        Path nodetool = Nodetool.write(work, nodes);
        for (int i = 0; i < nodes.size(); i++)
            System.out.printf("%s:%d%n  %s %d status%n  jconsole 127.0.0.1:%d%n", nodes.get(i).address, NATIVE_PORT, nodetool, i + 1, nodes.get(i).jmx.port);
        System.out.println("nodetool takes a node's number and a command: status, flush, compact, repair, drain, help");
    }

    /** {@code Cluster [NODES]}: keeps one for experiments until end of input. */
    public static void main(String[] arguments) throws Exception
    {
        int count = arguments.length == 0 ? 1 : Integer.parseInt(arguments[0]);
        Path work = Files.createTempDirectory("lacuna-cluster");
        try (Cluster cluster = new Cluster(work, count, Setup.OF_TRIALS).start(true))
        {
            cluster.printCommands();
            System.out.println("end of input takes it down; logs and data: " + work);
            while (System.in.read() >= 0)
                Thread.onSpinWait();
        }
    }
}
