package lacuna.cassandra;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import lacuna.cassandra.PaperData.State;
import lacuna.cassandra.PaperTable.Column;

/**
 * The first lookups of keys at other nodes after all nodes were started again, and the second: what was deleted has to be learned
 * anew. One half of the keys lets the nodes compile their code; the other is measured.
 */
final class PaperCold
{
    private PaperCold() {}

    static PaperTable table(PaperData data, List<PaperSystem> systems, int keysOfState) throws Exception
    {
        restart(data.cluster);
        PaperData again = data.through(data.cluster.session(data.cluster.nodes.get(0)));
        again.awaitCopies();
        PaperLookups lookups = new PaperLookups(again, keysOfState, 1);
        for (State state : State.values())
            lookups.askAllOften(half(again.keys(state, true), 0));
        List<String> rows = new ArrayList<>();
        List<double[]> millis = new ArrayList<>();
        for (State state : State.values())
            for (String time : List.of("first", "second"))
            {
                int[] keys = Arrays.stream(half(again.keys(state, true), 1)).limit(keysOfState).toArray();
                rows.add(named(state) + ", " + time);
                millis.add(lookups.firstTimes(systems, keys));
            }
        List<Column> columns = new ArrayList<>();
        for (int system = 0; system < systems.size(); system++)
        {
            int at = system;
            columns.add(new Column(systems.get(at).shown, millis.stream().mapToDouble(row -> row[at]).toArray()));
        }
        return new PaperTable("cold", "After a restart: first and second lookups of keys at other nodes, beyond the paper", "lookup",
                              "milliseconds, median over keys", rows, List.of(), columns,
                              List.of("Cold means: processes just started, no key cache, no chunk cache, nothing learned to be deleted; "
                                      + "files may still be in the system's page cache, which cannot be emptied here."));
    }

    private static void restart(Cluster cluster) throws Exception
    {
        cluster.flush("paper");
        for (Node node : cluster.nodes)
            node.stop();
        for (Node node : cluster.nodes)
            node.start(true, "-XX:TieredStopAtLevel=4");
        cluster.awaitAll();
    }

    private static String named(State state)
    {
        return switch (state)
        {
            case ABSENT -> "absent";
            case DELETED -> "deleted partition";
            case DELETED_ROWS -> "deleted rows";
            case PRESENT -> "present";
        };
    }

    private static int[] half(int[] keys, int which)
    {
        return IntStream.range(0, keys.length).filter(i -> i % 2 == which).map(i -> keys[i]).toArray();
    }
}
