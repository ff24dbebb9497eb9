package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;

/**
 * One table of the paper, as it is printed and as it was measured here.
 *
 * @param name  of the file of its numbers
 * @param title what stands above it
 * @param x     what its rows count
 * @param unit  of what was measured
 * @param rows  their names
 * @param paper the paper's columns, in the unit of their names
 * @param ours  the measured columns; ratios are to the first
 */
record PaperTable(String name, String title, String x, String unit, List<String> rows, List<Column> paper, List<Column> ours,
                  List<String> notes)
{
    /** Numbers from the first row on; NaN where there is none. */
    record Column(String name, double... values)
    {
        double at(int row)
        {
            return row < values.length ? values[row] : Double.NaN;
        }
    }

    /** The same table with one more remark. */
    PaperTable noting(String note)
    {
        List<String> all = new ArrayList<>(notes);
        all.add(note);
        return new PaperTable(name, title, x, unit, rows, paper, ours, all);
    }

    /** The same table with columns that were measured in another cluster before the others. */
    PaperTable after(List<Column> others)
    {
        List<Column> all = new ArrayList<>(others);
        all.addAll(ours);
        return new PaperTable(name, title, x, unit, rows, paper, all, notes);
    }
}
