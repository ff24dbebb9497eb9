package lacuna.cassandra;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Cassandra's nodetool for the nodes of a cluster, as a script in a folder: {@code nodetool NODE COMMAND ...}. */
final class Nodetool
{
    private static final String SCRIPT = """
        #!/usr/bin/env bash
        # Cassandra's nodetool for a node of this cluster: nodetool NODE COMMAND ..., such as `nodetool 2 flush`
        set -euo pipefail
        ports=(%s)
        if (($# < 2)) || [[ ! $1 =~ ^[1-9][0-9]?$ ]] || (($1 > ${#ports[@]})); then
          echo "nodetool wants the number of a node, from 1 to ${#ports[@]}, and a command, such as: nodetool 1 status" >&2
          exit 2
        fi
        port=${ports[$1 - 1]}
        shift
        exec '%s' '@%s' org.apache.cassandra.tools.NodeTool -h 127.0.0.1 -p "$port" "$@"
        """;

    private Nodetool() {}

    /** Writes it; nodes listen at the same ports in all of their lives. */
    static Path write(Path folder, List<Node> nodes) throws IOException
    {
        Path logging = Files.writeString(folder.resolve("logback-tools.xml"), Node.resource("logback-test.xml"));
        Path options = Files.write(folder.resolve("nodetool.options"), options(folder, logging));
        String ports = nodes.stream().map(node -> Integer.toString(node.jmx.port)).collect(Collectors.joining(" "));
        Path script = folder.resolve("nodetool");
        Files.writeString(script, String.format(SCRIPT, ports, System.getProperty("java.home") + "/bin/java", options.toAbsolutePath()));
        if (!script.toFile().setExecutable(true))
            throw new IOException(script + " cannot be made a command");
        return script.toAbsolutePath();
    }

    /** What the tool needs of the JVM is among what a node needs; what it keeps at home, such as its history, it keeps in the folder. */
    private static List<String> options(Path folder, Path logging) throws IOException
    {
        List<String> options = new ArrayList<>(Node.resource("jvm.options").lines().filter(line -> line.startsWith("--add-")).toList());
        options.addAll(List.of("-Xmx128M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.home=" + folder.toAbsolutePath(),
                               "-Dlogback.configurationFile=" + logging.toAbsolutePath(),
                               "-cp", Node.classPath(false, List.of())));
        return options;
    }
}
