package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The script beside a cluster for experiments. */
public class NodetoolTest extends OnOneCluster
{
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private record Run(int exit, String printed) {}

    private Run run(String... arguments) throws IOException
    {
        Path script = Nodetool.write(folder.getRoot().toPath(), cluster.nodes);
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.onExit().join().exitValue(), printed);
    }

    @Test
    public void itAsksTheNodeOfTheNumber() throws IOException
    {
        Run status = run(Integer.toString(NODES), "status");
        assertEquals(status.printed, 0, status.exit);
        for (Node node : cluster.nodes)
            assertTrue(status.printed, status.printed.contains("UN  " + node.address + " "));
        String table = table();
        fill(table, 1);
        Run flush = run("1", "flush", "k");
        assertEquals(flush.printed, 0, flush.exit);
        assertTrue(cluster.nodes.get(0).dataFiles("k", table.substring(2)) > 0);
    }

    @Test
    public void itRefusesNodesThatAreNone() throws IOException
    {
        for (String number : new String[] { "0", Integer.toString(NODES + 1), "all" })
        {
            Run run = run(number, "status");
            assertEquals(run.printed, 2, run.exit);
            assertTrue(run.printed, run.printed.contains("the number of a node, from 1 to " + NODES));
        }
        assertEquals(2, run("1").exit);
    }
}
