package lacuna.cassandra;

import java.util.function.Consumer;

/** Writes of all kinds into a table of {@link History#COLUMNS}, with what each does to a {@link Model}. */
final class Writes
{
    /** How many kinds {@link #of} knows. */
    static final int KINDS = 16;

    /** A statement over a table whose name is {@code %s}. */
    record Write(String cql, Consumer<Model> onModel) {}

    /** A row that is inserted if there is none, or updated if it has a value. The store chooses the time. */
    record Conditional(int p, int c, int v)
    {
        String cql()
        {
            return isInsertion() ? "INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ") IF NOT EXISTS"
                                 : "UPDATE %s SET v = " + v + " WHERE p = " + p + " AND c = " + c + " IF v >= 0";
        }

        private boolean isInsertion()
        {
            return v % 2 == 0;
        }

        boolean isMet(Model model)
        {
            return isInsertion() ? !model.exists(p, c) : model.value(p, c) != null;
        }

        void apply(Model model, long at)
        {
            if (isInsertion())
                model.insert(p, c, v, at);
            else
                model.set(p, c, "v", v, at);
        }
    }

    private Writes() {}

    /** A write of a kind at this place, at this time; a batch is about the other partition too. */
    static Write of(int kind, int p, int other, int c, int v, long at)
    {
        return switch (kind)
        {
            case 0, 1, 2 -> insert(p, c, v, at, "");
            case 3 -> insert(p, c, v, at, " AND TTL 1000000");
            case 4 -> update(p, c, at, "w = 'text " + v + "'", model -> model.set(p, c, "w", "text " + v, at));
            case 5 -> update(p, c, at, "tags = tags + {" + v % 5 + "}", model -> model.tag(p, c, v % 5, true, at));
            case 6 -> update(p, c, at, "tags = tags - {" + v % 5 + "}", model -> model.tag(p, c, v % 5, false, at));
            case 7 -> delete("tags ", p, " AND c = " + c, at, model -> model.deleteTags(p, c, at));
            case 8 -> delete("v ", p, " AND c = " + c, at, model -> model.set(p, c, "v", null, at));
            case 9 -> delete("", p, " AND c = " + c, at, model -> model.deleteRow(p, c, at));
            case 10 -> delete("", p, " AND c >= " + c + " AND c <= " + (c + 5), at, model -> model.deleteRange(p, c, c + 5, at));
            case 11 -> deletePartition(p, at);
            case 12 -> fixed(p, v, at);
            case 13 -> batch(p, other, c, v, at);
            case 14 -> drain(p, 0, c + 1, at);
            default -> drain(p, c, History.ROWS, at);
        };
    }

    static Write insert(int p, int c, int v, long at, String more)
    {
        return new Write("INSERT INTO %s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ") USING TIMESTAMP " + at + more,
                         model -> model.insert(p, c, v, at));
    }

    static Write deletePartition(int p, long at)
    {
        return delete("", p, "", at, model -> model.deletePartition(p, at));
    }

    private static Write update(int p, int c, long at, String what, Consumer<Model> onModel)
    {
        return new Write("UPDATE %s USING TIMESTAMP " + at + " SET " + what + " WHERE p = " + p + " AND c = " + c, onModel);
    }

    private static Write delete(String what, int p, String where, long at, Consumer<Model> onModel)
    {
        return new Write("DELETE " + what + "FROM %s USING TIMESTAMP " + at + " WHERE p = " + p + where, onModel);
    }

    /** A static value, or its deletion. */
    private static Write fixed(int p, int v, long at)
    {
        Integer value = v % 3 == 0 ? v : null;
        return new Write("UPDATE %s USING TIMESTAMP " + at + " SET s = " + value + " WHERE p = " + p, model -> model.setStatic(p, value, at));
    }

    private static Write batch(int p, int other, int c, int v, long at)
    {
        String cql = "BEGIN BATCH USING TIMESTAMP " + at
                     + " INSERT INTO %1$s (p, c, v) VALUES (" + p + ", " + c + ", " + v + ");"
                     + " DELETE FROM %1$s WHERE p = " + p + " AND c > " + c + " AND c < " + (c + 4) + ";"
                     + " DELETE FROM %1$s WHERE p = " + other + " AND c = " + (c + History.ROWS) + "; APPLY BATCH";
        return new Write(cql, model ->
        {
            model.insert(p, c, v, at);
            model.deleteRange(p, c + 1, c + 3, at);
            model.deleteRow(other, c + History.ROWS, at);
        });
    }

    /** One row after the other, as those who work off a queue do. */
    private static Write drain(int p, int from, int to, long at)
    {
        StringBuilder cql = new StringBuilder("BEGIN BATCH USING TIMESTAMP " + at);
        for (int c = from; c < to; c++)
            cql.append(" DELETE FROM %1$s WHERE p = ").append(p).append(" AND c = ").append(c).append(";");
        return new Write(cql + " APPLY BATCH", model ->
        {
            for (int c = from; c < to; c++)
                model.deleteRow(p, c, at);
        });
    }
}
