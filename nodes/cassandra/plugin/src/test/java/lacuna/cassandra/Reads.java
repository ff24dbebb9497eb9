package lacuna.cassandra;

import java.util.List;
import java.util.Random;

import com.datastax.driver.core.ConsistencyLevel;

/** Random reads of the tables of a {@link History}, and statements that the store refuses. */
final class Reads
{
    /** The columns that {@link Model} speaks of. */
    private static final String COLUMNS = "SELECT c, s, v, w, tags FROM %s WHERE ";
    private static final int LIMIT = 2;
    private static final List<ConsistencyLevel> LEVELS = List.of(ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL);
    private static final List<ConsistencyLevel> OTHER_LEVELS =
        List.of(ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.TWO, ConsistencyLevel.THREE, ConsistencyLevel.LOCAL_QUORUM,
                ConsistencyLevel.EACH_QUORUM, ConsistencyLevel.SERIAL);
    private static final List<String> REFUSED = List.of(
        "SELECT nothing FROM %s WHERE p = 1",
        "SELECT * FROM %s WHERE c = 1",
        "SELECT * FROM %s WHERE p = 1 AND v = 1",
        "SELECT * FROM %s WHERE p = 'one'",
        "SELECT * FROM %s WHERE p = 1 LIMIT 0",
        "SELECT * FROM %s WHERE p = 1 ORDER BY v",
        "SELECT * FROM %s WHERE p = 1 AND p = 2",
        "SELECT v, max(w) FROM %s WHERE p = 1 GROUP BY v",
        "SELECT * FROM %s WHERE p = 25 AND c = ?",
        "SELECT * FROM %sx WHERE p = 25",
        "SELEC * FROM %s WHERE p = 25",
        "INSERT INTO %s (p, v) VALUES (1, 1)",
        "INSERT INTO %s (p, c, v) VALUES (1, 1, 'one')",
        "UPDATE %s USING TIMESTAMP 5 SET v = 1 WHERE p = 1 AND c = 1 IF v = 1",
        "DELETE v FROM %s WHERE p = 1 AND c > 1");

    /** What of a partition the model can name. */
    enum Rows { ALL, SLICE, FIRST, LAST, UNKNOWN }

    /**
     * A read.
     *
     * @param partitions how many it reads one by one; none for a scan
     * @param rows what it reads, if the model knows: of partition {@code p}, from {@code low} to {@code high}
     */
    record Read(Request request, int partitions, Rows rows, int p, int low, int high)
    {
        /** What the model says; what was answered, if it says nothing. */
        List<String> expected(Model model, Answer answer)
        {
            return switch (rows)
            {
                case ALL -> model.readAll(p);
                case SLICE -> model.read(p, low, high);
                case FIRST -> model.read(p, low, high).stream().limit(LIMIT).toList();
                case LAST -> model.readBackwards(p, low, high).stream().limit(LIMIT).toList();
                case UNKNOWN -> answer.rows();
            };
        }

        /** How many replicas have to read a partition, at the least. */
        long replicaReads(int nodes)
        {
            return (long) partitions * switch (request.level())
            {
                case ONE, LOCAL_ONE -> 1;
                case ALL -> nodes;
                default -> nodes / 2 + 1;
            };
        }
    }

    private final Random random;

    Reads(Random random)
    {
        this.random = random;
    }

    Read next()
    {
        int p = random.nextInt(History.PARTITIONS + History.NEVER_WRITTEN);
        int q = random.nextInt(History.PARTITIONS);
        int low = random.nextInt(History.ROWS);
        int high = low + random.nextInt(6);
        return switch (random.nextInt(28))
        {
            case 0, 1, 2 -> new Read(of(COLUMNS + "p = ?", p), 1, Rows.ALL, p, low, high);
            case 3, 4, 5 -> new Read(of(COLUMNS + "p = ? AND c >= ? AND c <= ?", p, low, high), 1, Rows.SLICE, p, low, high);
            case 6, 7 -> new Read(of(COLUMNS + "p = ? AND c = ?", p, low), 1, Rows.SLICE, p, low, low);
            case 8 -> one("SELECT * FROM %s WHERE p = ? AND c >= ? AND c <= ? ORDER BY c DESC LIMIT 3", p, low, high);
            case 9 -> one("SELECT * FROM %s WHERE p = ? AND c IN (?, ?, 3)", p, low, high);
            case 10 -> one("SELECT p, count(*), max(v) FROM %s WHERE p = ? AND c >= ? AND c <= ? GROUP BY p", p, low, high);
            case 11 -> one("SELECT JSON * FROM %s WHERE p = ?", p);
            case 12 -> one("SELECT count(*) FROM %s WHERE p = ? AND c > ? AND v > ? ALLOW FILTERING", p, low, 500);
            case 13 -> one("SELECT c, w, writetime(w), cast(v AS text) FROM %s WHERE p = ? AND c >= ? LIMIT ?", p, low, 4);
            case 14, 15 -> several(2, "SELECT * FROM %s WHERE p IN (?, ?) AND c > ? PER PARTITION LIMIT 2", p, q, low);
            case 16 -> several(2, "SELECT DISTINCT p, s FROM %s WHERE p IN (?, ?)", p, q);
            case 17 -> new Read(groups(p, q), 2, Rows.UNKNOWN, 0, 0, 0);
            case 18, 19, 20 -> between(p, low, low + 2 + random.nextInt(12));
            case 22 -> new Read(of(COLUMNS + "p = ? AND c >= ? LIMIT 2", p, low), 1, Rows.FIRST, p, low, Integer.MAX_VALUE);
            case 23 -> new Read(of(COLUMNS + "p = ? AND c >= ? LIMIT 2", p, 0), 1, Rows.FIRST, p, 0, Integer.MAX_VALUE);
            case 24 -> new Read(of(COLUMNS + "p = ? AND c < ? LIMIT 2", p, high), 1, Rows.FIRST, p, Integer.MIN_VALUE, high - 1);
            case 25 -> new Read(of(COLUMNS + "p = ? AND c <= ? ORDER BY c DESC LIMIT 2", p, high), 1, Rows.LAST, p, Integer.MIN_VALUE, high);
            case 26 -> new Read(of(COLUMNS + "p = ? AND c > ? ORDER BY c DESC LIMIT 2", p, low), 1, Rows.LAST, p, low + 1, Integer.MAX_VALUE);
            case 27 -> one(random.nextBoolean() ? "SELECT * FROM %s WHERE p = ? LIMIT 1" : "SELECT * FROM %s WHERE p = ? ORDER BY c DESC LIMIT 1", p);
            case 21 -> several(2, "SELECT p, c, v FROM %s WHERE p IN (?, ?) ORDER BY c", p, q);
            default -> several(0, random.nextBoolean() ? "SELECT max(v) FROM %s"
                                                       : "SELECT * FROM %s WHERE token(p) > token(?) AND token(p) <= token(?)", p, q);
        };
    }

    /** From row to row, both outside. */
    private Read between(int p, int last, int next)
    {
        return new Read(of(COLUMNS + "p = ? AND c > ? AND c < ?", p, last, next), 1, Rows.SLICE, p, last + 1, next - 1);
    }

    private Read one(String cql, int... values)
    {
        return several(1, cql, values);
    }

    private Read several(int partitions, String cql, int... values)
    {
        return new Read(of(cql, values), partitions, Rows.UNKNOWN, 0, 0, 0);
    }

    /** On one page: stock 5.0 fails where one ends between an open range tombstone and the first row of a group. */
    private Request groups(int p, int q)
    {
        return new Request("SELECT c, count(*) FROM %s WHERE p IN (?, ?) GROUP BY p, c", new int[] { p, q }, level(), 5_000, false);
    }

    private Request of(String cql, int... values)
    {
        int page = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : random.nextInt(4) == 0 ? Request.UNPAGED : 5_000;
        boolean hasMarkers = cql.contains("?");
        return new Request(cql, hasMarkers ? values : new int[0], level(), page, hasMarkers && random.nextInt(3) == 0);
    }

    private ConsistencyLevel level()
    {
        List<ConsistencyLevel> levels = random.nextInt(12) == 0 ? OTHER_LEVELS : LEVELS;
        return levels.get(random.nextInt(levels.size()));
    }

    /** Statements that are refused: wrong words, or levels that do not fit. */
    Request refused()
    {
        return switch (random.nextInt(8))
        {
            case 0 -> new Request(COLUMNS + "p = 25", new int[0], ConsistencyLevel.ANY, Request.UNPAGED, false);
            case 1 -> new Request("INSERT INTO %s (p, c) VALUES (25, 1)", new int[0], ConsistencyLevel.SERIAL, 1, false);
            default -> new Request(REFUSED.get(random.nextInt(REFUSED.size())), new int[0], ConsistencyLevel.ONE, 5_000, false);
        };
    }
}
