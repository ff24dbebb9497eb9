package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import com.datastax.driver.core.ExecutionInfo;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.ResultSetFuture;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.exceptions.QueryValidationException;
import com.datastax.driver.core.exceptions.UnavailableException;
import com.datastax.driver.core.utils.Bytes;

/**
 * All that a client sees of an answer: the bytes of every value, the names and types of columns, how many rows each page has
 * and the state that asks for the next one, warnings and payload; or the class and the words of the error.
 *
 * <p>Two answers are alike if their texts are.
 */
final class Answer
{
    private final List<String> rows = new ArrayList<>();
    private final List<String> bytes = new ArrayList<>();
    private final List<Integer> pages = new ArrayList<>();
    private String head = "";
    private boolean isError;
    private boolean isUnavailable;

    /** Waits for it. That the store refuses it is an answer; that it fails, or takes too long, is none. */
    static Answer of(ResultSetFuture running)
    {
        Answer answer = new Answer();
        try
        {
            answer.take(running.getUninterruptibly());
        }
        catch (QueryValidationException | UnavailableException refused)
        {
            answer.isError = true;
            answer.isUnavailable = refused instanceof UnavailableException;
            answer.head = refused.getClass().getSimpleName() + ": " + refused.getMessage();
        }
        return answer;
    }

    private void take(ResultSet result)
    {
        do
        {
            int rowsOfPage = result.getAvailableWithoutFetching();
            for (int row = 0; row < rowsOfPage; row++)
                take(result.one());
            pages.add(rowsOfPage);
        }
        // Where a page was read to its end this fetches the next one.
        while (!result.isExhausted());
        head = result.getColumnDefinitions().asList().stream()
                     .map(column -> column.getKeyspace() + "." + column.getTable() + " " + column.getName() + " " + column.getType())
                     .collect(Collectors.joining(", "))
               + result.getAllExecutionInfo().stream().map(Answer::shown).collect(Collectors.joining());
    }

    private void take(Row row)
    {
        List<String> values = new ArrayList<>();
        List<String> raw = new ArrayList<>();
        for (int column = 0; column < row.getColumnDefinitions().size(); column++)
        {
            values.add(String.valueOf(row.getObject(column)));
            raw.add(row.isNull(column) ? "null" : Bytes.toHexString(row.getBytesUnsafe(column)));
        }
        rows.add(values.toString());
        bytes.add(raw.toString());
    }

    private static String shown(ExecutionInfo page)
    {
        byte[] next = page.getPagingStateUnsafe();
        return "\npage: next " + (next == null ? "none" : Bytes.toHexString(next)) + ", warnings " + page.getWarnings()
               + ", payload " + page.getIncomingPayload();
    }

    /** The store has refused it. */
    boolean isError()
    {
        return isError;
    }

    /** The store has refused it since too few replicas are up; it has asked none. */
    boolean isUnavailable()
    {
        return isUnavailable;
    }

    /** Each row as a person reads it. */
    List<String> rows()
    {
        return rows;
    }

    /** Everything, in words. */
    @Override
    public String toString()
    {
        return rows + "\n" + bytes + "\n" + pages + " rows\n" + head;
    }

    /** The same if it were about another table. */
    String named(String table, String other)
    {
        return toString().replace(table, other);
    }
}
