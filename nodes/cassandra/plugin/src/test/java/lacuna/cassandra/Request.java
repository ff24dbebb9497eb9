package lacuna.cassandra;

import java.util.stream.IntStream;

import com.datastax.driver.core.ConsistencyLevel;

/**
 * A statement over a table whose name is {@code %s}, and how it is asked for; its markers stand for numbers. One that names its
 * table itself is about that table alone.
 *
 * @param page rows a page; {@link #UNPAGED} for all at once
 */
record Request(String cql, int[] values, ConsistencyLevel level, int page, boolean isPrepared)
{
    static final int UNPAGED = Integer.MAX_VALUE;
    private static final int USUAL_PAGE = 5_000;

    /** As writes are: at once, without markers, at every replica. */
    static Request of(String cql)
    {
        return new Request(cql, new int[0], ConsistencyLevel.ALL, USUAL_PAGE, false);
    }

    boolean isOfAnyTable()
    {
        return cql.contains("%");
    }

    @Override
    public String toString()
    {
        return literal("t") + " at " + level + ", page " + page + (isPrepared ? ", prepared" : "");
    }

    /** The statement over this table, with markers. */
    String template(String table)
    {
        return String.format(cql, table);
    }

    /** The statement over this table, with numbers. */
    String literal(String table)
    {
        String filled = template(table);
        for (int value : values)
            filled = filled.replaceFirst("\\?", Integer.toString(value));
        return filled;
    }

    Object[] boxed()
    {
        return IntStream.of(values).boxed().toArray();
    }
}
