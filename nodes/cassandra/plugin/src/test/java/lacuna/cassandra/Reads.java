package lacuna.cassandra;

import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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

    /** How many kinds {@link #known} knows; the first of them are those of {@link #next}. */
    static final int KNOWN = 24;
    private static final int KNOWN_OF_NEXT = 16;
    private static final int KINDS_OF_NEXT = 29;

    /**
     * A read.
     *
     * @param partitions how many it reads one by one; none for a scan
     * @param known what a model says of it, sorted if it reads several partitions; null if a model says nothing
     */
    record Read(Request request, int partitions, Function<Model, List<String>> known)
    {
        /** What the model says; what was answered, if it says nothing. */
        List<String> expected(Model model, Answer answer)
        {
            return known == null ? answer.rows() : known.apply(model);
        }

        @Override
        public String toString()
        {
            return request.toString();
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
    private final List<ConsistencyLevel> levels;
    private final List<ConsistencyLevel> otherLevels;

    Reads(Random random)
    {
        this(random, LEVELS, OTHER_LEVELS);
    }

    /** At these levels, now and then at others. */
    Reads(Random random, List<ConsistencyLevel> levels, List<ConsistencyLevel> otherLevels)
    {
        this.random = random;
        this.levels = levels;
        this.otherLevels = otherLevels;
    }

    Read next()
    {
        int p = random.nextInt(History.PARTITIONS + History.NEVER_WRITTEN);
        int q = random.nextInt(History.PARTITIONS);
        int low = random.nextInt(History.ROWS);
        int high = low + random.nextInt(6);
        int kind = random.nextInt(KINDS_OF_NEXT);
        return kind < KNOWN_OF_NEXT ? known(kind, p, q, low, high) : compared(kind - KNOWN_OF_NEXT, p, q, low, high);
    }

    /** A read of a kind, of which a model knows the answer; of the second partition in some kinds only. */
    Read known(int kind, int p, int q, int low, int high)
    {
        return switch (kind)
        {
            case 0, 1, 2 -> of("p = ?", model -> model.readAll(p), p);
            case 3, 4, 5 -> of("p = ? AND c >= ? AND c <= ?", model -> model.read(p, low, high), p, low, high);
            case 6, 7 -> of("p = ? AND c = ?", model -> model.read(p, low, low), p, low);
            case 8, 9, 10 -> between(p, low, low + 2 + random.nextInt(12));
            case 11 -> of("p = ? AND c >= ? LIMIT 2", model -> first(model.read(p, low, Integer.MAX_VALUE)), p, low);
            case 12 -> of("p = ? AND c >= ? LIMIT 2", model -> first(model.read(p, 0, Integer.MAX_VALUE)), p, 0);
            case 13 -> of("p = ? AND c < ? LIMIT 2", model -> first(model.read(p, Integer.MIN_VALUE, high - 1)), p, high);
            case 14 -> of("p = ? AND c <= ? ORDER BY c DESC LIMIT 2", model -> first(model.readBackwards(p, Integer.MIN_VALUE, high)), p, high);
            case 15 -> of("p = ? AND c > ? ORDER BY c DESC LIMIT 2", model -> first(model.readBackwards(p, low + 1, Integer.MAX_VALUE)), p, low);
            case 16 -> of("p = ? LIMIT 2", model -> first(model.readAll(p)), p);
            case 17 -> of("p = ? AND c > ? ORDER BY c DESC LIMIT 2", model -> first(model.readBackwards(p, 0, Integer.MAX_VALUE)), p, -1);
            case 18 -> of("p = ? AND c >= ? AND c <= ? ORDER BY c DESC", model -> model.readBackwards(p, low, high), p, low, high);
            case 19 -> of("p = ? AND c IN (?, ?, 3)", model -> each(model, p, low, high, 3), p, low, high);
            case 20 -> new Read(request("SELECT count(*) FROM %s WHERE p = ? AND c >= ?", p, low), 1,
                                model -> List.of("[" + model.read(p, low, Integer.MAX_VALUE).size() + "]"));
            case 21, 22 -> new Read(request(COLUMNS + "p IN (?, ?)", p, q), 2,
                                    model -> sorted(IntStream.of(p, q).distinct().boxed().flatMap(each -> model.readAll(each).stream())));
            default -> new Read(request(COLUMNS + "p IN (?, ?) AND c >= ? AND c <= ?", p, q, low, high), 2,
                                model -> sorted(IntStream.of(p, q).distinct().boxed().flatMap(each -> model.read(each, low, high).stream())));
        };
    }

    private static List<String> first(List<String> rows)
    {
        return rows.stream().limit(LIMIT).toList();
    }

    private static List<String> each(Model model, int p, int... rows)
    {
        return IntStream.of(rows).sorted().distinct().boxed().flatMap(c -> model.read(p, c, c).stream()).toList();
    }

    static List<String> sorted(Stream<String> rows)
    {
        return rows.sorted().toList();
    }

    /** A read of which the tables must agree; no model knows the answer. */
    private Read compared(int kind, int p, int q, int low, int high)
    {
        return switch (kind)
        {
            case 0 -> one("SELECT * FROM %s WHERE p = ? AND c >= ? AND c <= ? ORDER BY c DESC LIMIT 3", p, low, high);
            case 1 -> one("SELECT * FROM %s WHERE p = ? AND c IN (?, ?, 3)", p, low, high);
            case 2 -> one("SELECT p, count(*), max(v) FROM %s WHERE p = ? AND c >= ? AND c <= ? GROUP BY p", p, low, high);
            case 3 -> one("SELECT JSON * FROM %s WHERE p = ?", p);
            case 4 -> one("SELECT count(*) FROM %s WHERE p = ? AND c > ? AND v > ? ALLOW FILTERING", p, low, 500);
            case 5 -> one("SELECT c, w, writetime(w), cast(v AS text) FROM %s WHERE p = ? AND c >= ? LIMIT ?", p, low, 4);
            case 6 -> several(2, "SELECT * FROM %s WHERE p IN (?, ?) AND c > ? PER PARTITION LIMIT 2", p, q, low);
            // One that is never written.
            case 7 -> several(3, "SELECT * FROM %s WHERE p IN (?, ?, " + History.PARTITIONS + ") AND c > ?", p, q, low);
            case 8 -> several(2, "SELECT DISTINCT p, s FROM %s WHERE p IN (?, ?)", p, q);
            case 9 -> new Read(groups(p, q), 2, null);
            case 10 -> one(random.nextBoolean() ? "SELECT * FROM %s WHERE p = ? LIMIT 1" : "SELECT * FROM %s WHERE p = ? ORDER BY c DESC LIMIT 1", p);
            case 11 -> several(2, "SELECT p, c, v FROM %s WHERE p IN (?, ?) ORDER BY c", p, q);
            default -> several(0, random.nextBoolean() ? "SELECT max(v) FROM %s"
                                                       : "SELECT * FROM %s WHERE token(p) > token(?) AND token(p) <= token(?)", p, q);
        };
    }

    /** From row to row, both outside. */
    private Read between(int p, int last, int next)
    {
        return of("p = ? AND c > ? AND c < ?", model -> model.read(p, last + 1, next - 1), p, last, next);
    }

    /** Of one partition, all columns that {@link Model} speaks of. */
    private Read of(String where, Function<Model, List<String>> known, int... values)
    {
        return new Read(request(COLUMNS + where, values), 1, known);
    }

    private Read one(String cql, int... values)
    {
        return several(1, cql, values);
    }

    private Read several(int partitions, String cql, int... values)
    {
        return new Read(request(cql, values), partitions, null);
    }

    /** On one page: stock 5.0 fails where one ends between an open range tombstone and the first row of a group. */
    private Request groups(int p, int q)
    {
        return new Request("SELECT c, count(*) FROM %s WHERE p IN (?, ?) GROUP BY p, c", new int[] { p, q }, level(), 5_000, false);
    }

    private Request request(String cql, int... values)
    {
        int page = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : random.nextInt(4) == 0 ? Request.UNPAGED : 5_000;
        boolean hasMarkers = cql.contains("?");
        return new Request(cql, hasMarkers ? values : new int[0], level(), page, hasMarkers && random.nextInt(3) == 0);
    }

    private ConsistencyLevel level()
    {
        List<ConsistencyLevel> chosen = random.nextInt(12) == 0 ? otherLevels : levels;
        return chosen.get(random.nextInt(chosen.size()));
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
