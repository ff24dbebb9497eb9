package lacuna.cassandra;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** What a table with a static column, two values and a set must hold: last write wins, a deletion wins a tie. */
final class Model
{
    private record Cell(long at, Object value) {}

    private record Range(int low, int high, long at) {}

    private static final class RowState
    {
        Cell marker = new Cell(Long.MIN_VALUE, null);
        long deleted = Long.MIN_VALUE;
        long tagsDeleted = Long.MIN_VALUE;
        final Map<String, Cell> cells = new HashMap<>();
        final Map<Integer, Cell> tags = new TreeMap<>();
    }

    private static final class Partition
    {
        long deleted = Long.MIN_VALUE;
        Cell fixed = new Cell(Long.MIN_VALUE, null);
        final List<Range> ranges = new ArrayList<>();
        final TreeMap<Integer, RowState> rows = new TreeMap<>();
    }

    private final Map<Integer, Partition> partitions = new HashMap<>();

    private Partition partition(int p)
    {
        return partitions.computeIfAbsent(p, key -> new Partition());
    }

    private RowState row(int p, int c)
    {
        return partition(p).rows.computeIfAbsent(c, key -> new RowState());
    }

    void insert(int p, int c, int v, long at)
    {
        mark(p, c, new Cell(at, true));
        set(p, c, "v", v, at);
    }

    /** The time to live of what was inserted at this time is over: it is as deleted then. */
    void expire(int p, int c, long at)
    {
        RowState row = row(p, c);
        row.marker = expired(row.marker, at);
        row.cells.computeIfPresent("v", (column, cell) -> expired(cell, at));
    }

    private static Cell expired(Cell cell, long at)
    {
        return cell.at == at ? new Cell(at, null) : cell;
    }

    /** As if nothing had been written into the partition. */
    void forget(int p)
    {
        partitions.remove(p);
    }

    private void mark(int p, int c, Cell marker)
    {
        if (marker.at > row(p, c).marker.at)
            row(p, c).marker = marker;
    }

    /** A null value deletes the cell. */
    void set(int p, int c, String column, Object value, long at)
    {
        row(p, c).cells.merge(column, new Cell(at, value), (old, young) -> young.at > old.at ? young : old);
    }

    void setStatic(int p, Object value, long at)
    {
        if (at > partition(p).fixed.at)
            partition(p).fixed = new Cell(at, value);
    }

    void tag(int p, int c, int tag, boolean present, long at)
    {
        row(p, c).tags.merge(tag, new Cell(at, present ? tag : null), (old, young) -> young.at > old.at ? young : old);
    }

    void deleteTags(int p, int c, long at)
    {
        row(p, c).tagsDeleted = Math.max(row(p, c).tagsDeleted, at);
    }

    void deleteRow(int p, int c, long at)
    {
        row(p, c).deleted = Math.max(row(p, c).deleted, at);
    }

    void deleteRange(int p, int low, int high, long at)
    {
        partition(p).ranges.add(new Range(low, high, at));
    }

    void deletePartition(int p, long at)
    {
        partition(p).deleted = Math.max(partition(p).deleted, at);
    }

    boolean exists(int p, int c)
    {
        return !read(p, c, c).isEmpty();
    }

    Object value(int p, int c)
    {
        Partition partition = partition(p);
        return live(row(p, c).cells.get("v"), deletion(partition, c, row(p, c)));
    }

    /** The rows from low to high as {@code [c, s, v, w, tags]}. */
    List<String> read(int p, int low, int high)
    {
        Partition partition = partition(p);
        Object fixed = live(partition.fixed, partition.deleted);
        List<String> found = new ArrayList<>();
        partition.rows.subMap(low, true, high, true).forEach((c, row) ->
        {
            String shown = shown(partition, c, row, fixed);
            if (shown != null)
                found.add(shown);
        });
        return found;
    }

    List<String> readBackwards(int p, int low, int high)
    {
        List<String> found = read(p, low, high);
        Collections.reverse(found);
        return found;
    }

    /** A whole partition: its static value stands alone when there is no row. */
    List<String> readAll(int p)
    {
        List<String> found = read(p, Integer.MIN_VALUE, Integer.MAX_VALUE);
        Object fixed = live(partition(p).fixed, partition(p).deleted);
        return found.isEmpty() && fixed != null ? List.of("[null, " + fixed + ", null, null, []]") : found;
    }

    private static String shown(Partition partition, int c, RowState row, Object fixed)
    {
        long deletion = deletion(partition, c, row);
        Object v = live(row.cells.get("v"), deletion);
        Object w = live(row.cells.get("w"), deletion);
        TreeSet<Integer> tags = new TreeSet<>();
        row.tags.forEach((tag, cell) ->
        {
            if (live(cell, Math.max(deletion, row.tagsDeleted)) != null)
                tags.add(tag);
        });
        boolean exists = live(row.marker, deletion) != null || v != null || w != null || !tags.isEmpty();
        return exists ? "[" + c + ", " + fixed + ", " + v + ", " + w + ", " + tags + "]" : null;
    }

    private static long deletion(Partition partition, int c, RowState row)
    {
        long deletion = Math.max(partition.deleted, row.deleted);
        for (Range range : partition.ranges)
            if (range.low <= c && c <= range.high)
                deletion = Math.max(deletion, range.at);
        return deletion;
    }

    private static Object live(Cell cell, long deletion)
    {
        return cell != null && cell.at > deletion ? cell.value : null;
    }
}
