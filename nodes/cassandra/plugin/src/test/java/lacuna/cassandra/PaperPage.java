package lacuna.cassandra;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import lacuna.cassandra.PaperTable.Column;

/** One page of Markdown with all tables, and a CSV file for each. */
final class PaperPage
{
    /** Longer tables are courses of time, in which rows have no ratios. */
    private static final int MAX_COMPARED = 8;

    private final List<String> head;
    private final List<PaperTable> tables = new ArrayList<>();
    private final List<String> bars = new ArrayList<>();

    /** Under these paragraphs. */
    PaperPage(List<String> head)
    {
        this.head = head;
    }

    void add(PaperTable table)
    {
        tables.add(table);
    }

    /** Rows of {@link Bench}. */
    void addBars(String where, List<String> rows)
    {
        bars.add("\n" + where + ":\n\n" + String.join("\n", rows));
    }

    /** Replaces the files of an earlier run. */
    void write(Path folder) throws IOException
    {
        Files.createDirectories(folder);
        StringBuilder page = new StringBuilder(String.join("\n\n", head)).append('\n');
        if (!bars.isEmpty())
            page.append("\n## Bars\n").append(String.join("\n", bars)).append('\n');
        for (PaperTable table : tables)
        {
            Files.writeString(folder.resolve("cluster-" + table.name() + ".csv"), csv(table));
            page.append(section(table));
        }
        Files.writeString(folder.resolve("cluster.md"), page.toString());
    }

    private static String section(PaperTable table)
    {
        StringBuilder text = new StringBuilder();
        text.append("\n## ").append(table.title()).append("\n\nHere: ").append(table.unit()).append(".\n\n");
        List<List<String>> columns = columns(table, table.rows().size() <= MAX_COMPARED);
        for (int line = 0; line < columns.get(0).size(); line++)
        {
            int at = line;
            text.append(columns.stream().map(column -> column.get(at)).collect(Collectors.joining(" | ", "| ", " |\n")));
            if (line == 0)
                text.append("|").append(" --- |".repeat(columns.size())).append('\n');
        }
        text.append('\n');
        table.notes().forEach(note -> text.append("- ").append(note).append('\n'));
        return text.append("\nData: [cluster-").append(table.name()).append(".csv](cluster-").append(table.name()).append(".csv)\n").toString();
    }

    /** Each from its heading down. */
    private static List<List<String>> columns(PaperTable table, boolean isCompared)
    {
        List<List<String>> columns = new ArrayList<>();
        columns.add(list(table.x(), table.rows()));
        int count = table.rows().size();
        for (Column column : table.paper())
            columns.add(numbers("paper: " + column.name(), column, count));
        if (isCompared && table.paper().size() > 1)
            columns.add(ratios("paper: times as fast", table.paper().get(0), table.paper().get(table.paper().size() - 1), count));
        for (int at = 0; at < table.ours().size(); at++)
        {
            Column column = table.ours().get(at);
            columns.add(numbers(column.name(), column, count));
            if (isCompared && at > 0)
                columns.add(ratios("times as fast", table.ours().get(0), column, count));
        }
        return columns;
    }

    private static List<String> numbers(String name, Column column, int count)
    {
        List<String> shown = new ArrayList<>();
        for (int row = 0; row < count; row++)
            shown.add(shown(column.at(row)));
        return list(name, shown);
    }

    private static List<String> ratios(String name, Column base, Column other, int count)
    {
        List<String> shown = new ArrayList<>();
        for (int row = 0; row < count; row++)
            shown.add(shown(base.at(row) / other.at(row)));
        return list(name, shown);
    }

    private static List<String> list(String head, List<String> rest)
    {
        List<String> all = new ArrayList<>(List.of(head));
        all.addAll(rest);
        return all;
    }

    /** Three digits that count. */
    static String shown(double value)
    {
        if (Double.isNaN(value) || Double.isInfinite(value))
            return "-";
        int digits = value == 0 ? 0 : (int) Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }

    private static String csv(PaperTable table)
    {
        StringBuilder text = new StringBuilder(table.x());
        table.paper().forEach(column -> text.append(',').append(quoted("paper: " + column.name())));
        table.ours().forEach(column -> text.append(',').append(quoted(column.name() + " [" + table.unit() + "]")));
        for (int row = 0; row < table.rows().size(); row++)
        {
            text.append('\n').append(quoted(table.rows().get(row)));
            List<Column> all = new ArrayList<>(table.paper());
            all.addAll(table.ours());
            for (Column column : all)
                text.append(',').append(Double.isNaN(column.at(row)) ? "" : String.format(Locale.ROOT, "%.6g", column.at(row)));
        }
        return text.append('\n').toString();
    }

    private static String quoted(String cell)
    {
        return cell.contains(",") ? '"' + cell + '"' : cell;
    }
}
