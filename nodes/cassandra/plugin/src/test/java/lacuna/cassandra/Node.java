package lacuna.cassandra;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One stock Cassandra in a process of its own, made of the artifacts on this test's class path. {@code -Dlacuna.node_java=FOLDER} runs it
 * on another Java; nodes that are to have faults need the one of the tests, whose classes they have.
 *
 * <p>It dies with the test, however that dies: a shell holds the other end of a pipe and kills the node when it breaks. The shell
 * ends when the node does, so that a test does not wait for a node that failed to start.
 */
final class Node
{
    private static final String SHELL = "trap : TERM INT HUP; \"$@\" <&- & node=$!; "
                                        + "while kill -0 $node 2> /dev/null; do read -rt 1; (($? > 128)) || break; done; "
                                        + "kill -9 $node 2> /dev/null; wait $node";

    /** Among a node's properties: it gets one of the plug-in's two only. */
    static final String WITHOUT_HOOK = "-Dlacuna.test.without=cassandra.storage_hook";
    /** Among a node's properties: it gets those of the plug-in, and not its jar. */
    static final String WITHOUT_JAR = "-Dlacuna.test.without=jar";
    /** Among a node's properties: it gets the tests' query handler, which has faults, and their classes. */
    static final String FLAWED = "-Dlacuna.test.flawed=true";
    /** The beginning of a property that names another jar than the plug-in's. */
    static final String JAR = "-Dlacuna.test.jar=";
    static final String WITHOUT_HANDLER = "-Dlacuna.test.without=cassandra.custom_query_handler_class";

    final String address;
    private static final String FLAWED_HANDLER = Installation.HANDLER.replace("LacunaQueryHandler", "FlawedQueryHandler");

    private final Path home;
    private final Path data;
    final Map<String, String> settings;
    final Jmx jmx = new Jmx();
    private Process shell;

    Node(Path home, String address, Map<String, String> settings)
    {
        this.home = home;
        this.data = dataOf(home.toAbsolutePath().normalize());
        this.address = address;
        this.settings = settings;
    }

    /** In its home, unless the property {@code lacuna.data} names a folder for the data of all clusters. */
    private static Path dataOf(Path home)
    {
        String all = System.getProperty("lacuna.data", "");
        int names = home.getNameCount();
        return all.isEmpty() ? home.resolve("data") : Path.of(all).resolve(home.subpath(names - 2, names));
    }

    /** Starts it, with or without the plug-in; returns at once. */
    void start(boolean withPlugin, String... properties) throws IOException
    {
        Path conf = Files.createDirectories(home.resolve("conf"));
        Files.writeString(conf.resolve("cassandra.yaml"), filled(resource("cassandra-template.yaml")));
        Files.writeString(conf.resolve("cassandra-rackdc.properties"), "dc=" + settings.get("datacentre") + "\nrack=rack\n");
        Files.writeString(conf.resolve("logback-node.xml"), resource("logback-node.xml"));
        Files.writeString(conf.resolve("jvm.options"), filled(resource("jvm.options")));
        List<String> command = new ArrayList<>(List.of("bash", "-c", SHELL, "node"));
        command.addAll(java(conf, withPlugin, List.of(properties)));
        command.addAll(Arrays.asList(properties));
        if (command.contains(WITHOUT_HOOK))
            command.remove(Installation.HOOK);
        if (command.contains(WITHOUT_HANDLER))
            command.remove(Installation.HANDLER);
        if (command.contains(FLAWED))
            command.replaceAll(argument -> argument.equals(Installation.HANDLER) ? FLAWED_HANDLER : argument);
        command.add("org.apache.cassandra.service.CassandraDaemon");
        File log = home.resolve("node.log").toFile();
        shell = new ProcessBuilder(command).redirectErrorStream(true)
                                           .redirectOutput(ProcessBuilder.Redirect.appendTo(log)).start();
    }

    private List<String> java(Path conf, boolean withPlugin, List<String> properties)
    {
        List<String> command = new ArrayList<>(List.of(System.getProperty("lacuna.node_java", System.getProperty("java.home")) + "/bin/java",
                                                       "@" + conf.resolve("jvm.options"),
                                                       "-Dcassandra.config=" + conf.resolve("cassandra.yaml").toUri(),
                                                       "-Dlogback.configurationFile=" + conf.resolve("logback-node.xml"),
                                                       "-Dcassandra.storagedir=" + data,
                                                       "-Dcassandra.logdir=" + home,
                                                       "-Djava.io.tmpdir=" + home,
                                                       "-Dcassandra.jmx.local.port=" + jmx.port));
        if (withPlugin)
            command.addAll(List.of(Installation.HOOK, Installation.HANDLER));
        command.addAll(List.of("-cp", conf + File.pathSeparator + classPath(withPlugin, properties)));
        return command;
    }

    /** The jars of this test, the plug-in's jar if asked for, and this test's own classes if the node is to have faults. */
    static String classPath(boolean withPlugin, List<String> properties)
    {
        String own = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String jars = Arrays.stream(own.split(File.pathSeparator)).filter(entry -> entry.endsWith(".jar"))
                            .filter(entry -> !entry.contains("lacuna-cassandra") && !entry.contains("surefire"))
                            .collect(Collectors.joining(File.pathSeparator));
        if (!withPlugin || properties.contains(WITHOUT_JAR))
            return jars;
        String jar = properties.stream().filter(property -> property.startsWith(JAR)).findFirst()
                               .map(property -> property.substring(JAR.length())).orElse(System.getProperty("lacuna.jar"));
        String faults = properties.contains(FLAWED) ? File.pathSeparator + Flaw.class.getProtectionDomain().getCodeSource().getLocation().getPath() : "";
        return jar + faults + File.pathSeparator + jars;
    }

    private String filled(String template)
    {
        String text = template;
        for (Map.Entry<String, String> entry : settings.entrySet())
            text = text.replace("${" + entry.getKey() + "}", entry.getValue());
        return text.replace("${address}", address);
    }

    /** A file of the tests' resources. */
    static String resource(String name) throws IOException
    {
        try (InputStream stream = Node.class.getResourceAsStream("/" + name))
        {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    boolean isAlive()
    {
        return shell != null && shell.isAlive();
    }

    /** Ends its process at once. Throws if that would lose acknowledged writes: a test would take them for denied by the plug-in. */
    void kill() throws InterruptedException, IOException
    {
        if (!hasLog(CommitLog.SYNCED))
            throw new IllegalStateException("only nodes of a cluster with CommitLog.SYNCED may be killed: others lose acknowledged writes");
        end();
    }

    /** Ends its process at once, and with it every write that was not flushed. */
    void killLosingWrites() throws InterruptedException, IOException
    {
        if (!hasLog(CommitLog.LOST))
            throw new IllegalStateException("only nodes of a cluster with CommitLog.LOST lose the same writes every time");
        end();
    }

    /** Ends its process after everything was written to disk, whatever its commit log. */
    void stop() throws InterruptedException, IOException
    {
        storageService("drain", new Object[0]);
        end();
    }

    private boolean hasLog(CommitLog log)
    {
        return log.yaml.equals(settings.get("commitlog"));
    }

    /** Ends its process, which may lose acknowledged writes: for nodes whose data no test reads afterwards. */
    void end() throws InterruptedException, IOException
    {
        if (shell == null)
            return;
        shell.getOutputStream().close();
        if (!shell.waitFor(180, TimeUnit.SECONDS))
            throw new IllegalStateException("a node that was killed is still there: " + address);
    }

    /** Stops its process for a while, as a long collection of garbage or a frozen machine would. */
    void pause(long millis) throws IOException, InterruptedException
    {
        signal("STOP");
        Thread.sleep(millis);
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException
    {
        for (ProcessHandle child : shell.children().toList())
            new ProcessBuilder("kill", "-" + name, Long.toString(child.pid())).start().waitFor();
    }

    /** What its process has used of all processors since it started. */
    long processorMillis()
    {
        return processes().mapToLong(process -> process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis()).sum();
    }

    /** What its process has in memory. */
    long residentMegabytes()
    {
        return processes().mapToLong(process -> residentKilobytes(process.pid())).sum() >> 10;
    }

    private Stream<ProcessHandle> processes()
    {
        return shell.children().filter(process -> process.info().command().orElse("").endsWith("java"));
    }

    private static long residentKilobytes(long process)
    {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + process + "/status")))
        {
            return lines.filter(line -> line.startsWith("VmRSS:")).mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
        }
        catch (IOException gone)
        {
            throw new UncheckedIOException(gone);
        }
    }

    void flush(String keyspace)
    {
        storageService("forceKeyspaceFlush", new Object[] { keyspace, new String[0] },
                       String.class.getName(), String[].class.getName());
    }

    void compact(String keyspace)
    {
        storageService("forceKeyspaceCompaction", new Object[] { false, keyspace, new String[0] },
                       "boolean", String.class.getName(), String[].class.getName());
    }

    /** Gives copies of one table's SSTables to another table of the same shape. */
    void importSstables(String keyspace, String from, String to)
    {
        jmx.invoke("org.apache.cassandra.db:type=Tables,keyspace=" + keyspace + ",table=" + to, "importNewSSTables",
               new Object[] { Set.of(folder(keyspace, from).toString()), true, true, false, false, true, false, true },
               "java.util.Set", "boolean", "boolean", "boolean", "boolean", "boolean", "boolean", "boolean");
    }

    /** Streams copies of one table's SSTables to the replicas of another table of the same shape, as {@code sstableloader} does. */
    void stream(Node from, String keyspace, String source, String to) throws IOException
    {
        Path copies = Files.createDirectories(home.resolve("streamed-" + System.nanoTime()).resolve(keyspace).resolve(to));
        try (Stream<Path> files = Files.list(from.folder(keyspace, source)))
        {
            for (Path file : files.filter(file -> file.toString().endsWith(".db") || file.toString().matches(".*-(TOC.txt|Digest.crc32)")).toList())
                Files.copy(file, copies.resolve(file.getFileName()));
        }
        storageService("bulkLoad", new Object[] { copies.toString() }, String.class.getName());
    }

    /** Compacts the youngest SSTable of a table alone. */
    void compactNewest(String keyspace, String table) throws IOException
    {
        jmx.invoke("org.apache.cassandra.db:type=CompactionManager", "forceUserDefinedCompaction",
                   new Object[] { newest(keyspace, table).toString() }, String.class.getName());
    }

    private Path newest(String keyspace, String table) throws IOException
    {
        try (Stream<Path> files = Files.list(folder(keyspace, table)))
        {
            return files.filter(file -> file.toString().endsWith("-Data.db"))
                        .max(Comparator.comparingLong(file -> file.toFile().lastModified())).orElseThrow();
        }
    }

    /** Writes over all data of the youngest SSTable of a table. */
    void damageNewest(String keyspace, String table) throws IOException
    {
        Path data = newest(keyspace, table);
        byte[] garbage = new byte[(int) Files.size(data)];
        Arrays.fill(garbage, (byte) 0x5A);
        Files.write(data, garbage, StandardOpenOption.WRITE);
    }

    /** Rewrites a table's SSTables without what cannot be read. */
    void scrub(String keyspace, String table)
    {
        storageService("scrub", new Object[] { true, true, true, false, 0, keyspace, new String[] { table } },
                       "boolean", "boolean", "boolean", "boolean", "int", String.class.getName(), String[].class.getName());
    }

    /** Takes the youngest SSTable of a table away, while the node does not run. */
    void takeAwayNewest(String keyspace, String table) throws IOException
    {
        String name = newest(keyspace, table).getFileName().toString();
        String prefix = name.substring(0, name.length() - "Data.db".length());
        Path to = Files.createDirectories(home.resolve("taken-" + System.nanoTime()));
        try (Stream<Path> files = Files.list(folder(keyspace, table)))
        {
            for (Path file : files.filter(file -> file.getFileName().toString().startsWith(prefix)).toList())
                Files.move(file, to.resolve(file.getFileName()));
        }
    }

    /** How many SSTables of a table are on disk, those that were compacted and are still read among them. */
    int dataFiles(String keyspace, String table)
    {
        try (Stream<Path> files = Files.list(folder(keyspace, table)))
        {
            return (int) files.filter(file -> file.toString().endsWith("-Data.db")).count();
        }
        catch (IOException failure)
        {
            throw new UncheckedIOException(failure);
        }
    }

    private Path folder(String keyspace, String table)
    {
        try (Stream<Path> folders = Files.list(data.resolve("data").resolve(keyspace)))
        {
            return folders.filter(folder -> folder.getFileName().toString().startsWith(table + "-")).findFirst().orElseThrow();
        }
        catch (IOException failure)
        {
            throw new UncheckedIOException(failure);
        }
    }

    /** The files from which its next life takes its filters. */
    List<Path> savedFilters() throws IOException
    {
        return saved(".filter");
    }

    /** The files from which its next life takes its dead regions. */
    List<Path> savedRegions() throws IOException
    {
        return saved(".dead");
    }

    private List<Path> saved(String kind) throws IOException
    {
        try (Stream<Path> files = Files.list(data.resolve("saved_caches")))
        {
            return files.filter(file -> file.toString().endsWith(kind)).toList();
        }
    }

    /** How many nodes it believes to be up, itself included. */
    int liveNodes()
    {
        return ((List<?>) attribute("LiveNodes")).size();
    }

    /** Whether it believes another node to be up as it runs now. After a restart it may know that one as it was before, and soon take it for dead. */
    boolean seesRunning(Node other)
    {
        Map<?, ?> states = (Map<?, ?>) jmx.attribute("org.apache.cassandra.net:type=FailureDetector", "SimpleStates");
        boolean isUp = states.entrySet().stream()
                             .anyMatch(state -> state.getKey().toString().endsWith("/" + other.address) && "UP".equals(state.getValue()));
        try
        {
            return isUp && startOf(other).equals(other.startOf(other));
        }
        catch (IllegalStateException notYet)
        {
            // It may take a node for up before it knows anything of it.
            return false;
        }
    }

    /** When another node was started last, as it knows. */
    private Object startOf(Node other)
    {
        return jmx.invoke("org.apache.cassandra.net:type=Gossiper", "getCurrentGenerationNumber", new Object[] { other.address }, String.class.getName());
    }

    String schemaVersion()
    {
        return (String) attribute("SchemaVersion");
    }

    private Object attribute(String name)
    {
        return jmx.attribute(Jmx.STORAGE_SERVICE, name);
    }

    Object storageService(String operation, Object[] arguments, String... types)
    {
        return jmx.invoke(Jmx.STORAGE_SERVICE, operation, arguments, types);
    }

    String log() throws IOException
    {
        return Files.readString(home.resolve("node.log"));
    }
}
