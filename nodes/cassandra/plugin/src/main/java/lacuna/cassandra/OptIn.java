package lacuna.cassandra;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.schema.SchemaConstants;
import org.apache.cassandra.schema.TableMetadata;

/**
 * What a table's comment says to the plug-in: {@code ALTER TABLE t WITH comment = 'readings [lacuna mode=safe bucket=1h]'}.
 *
 * <p>The comment is part of the schema that Cassandra itself keeps, distributes and prints, and a node without the plug-in has no
 * use for it. So it starts, and the statements of a dump work anywhere.
 */
final class OptIn
{
    /** Also of mistakes such as {@code [Lacuna mode=safe]}. */
    private static final Pattern BEGINNING = Pattern.compile("\\[\\s*lacuna(?![a-zA-Z0-9_])", Pattern.CASE_INSENSITIVE);
    private static final Pattern WHOLE = Pattern.compile("\\[lacuna((?:\\s+[a-z_]+=[^\\s=\\[\\]]+)*)\\s*\\]");

    private OptIn() {}

    /**
     * The options with which the table takes part, or null if it does not.
     *
     * @throws ConfigurationException if the comment is addressed to the plug-in and cannot be followed
     */
    static TableOptions of(TableMetadata table)
    {
        Map<String, String> given = SchemaConstants.isSystemKeyspace(table.keyspace) ? null : given(table.params.comment);
        if (given == null)
            return null;
        if (table.isCounter() || table.isView())
            throw new ConfigurationException("a table of counters and a view cannot take part");
        TableOptions options = TableOptions.of(given);
        RowPositions.of(table, options.bucket);
        return options;
    }

    /** The options in a comment, as they are written; null if it has none. */
    static Map<String, String> given(String comment)
    {
        if (!BEGINNING.matcher(comment).find())
            return null;
        Matcher found = WHOLE.matcher(comment);
        if (!found.find() || BEGINNING.matcher(comment).results().count() > 1)
            throw new ConfigurationException("a comment must have one text such as [lacuna mode=safe bucket=1h], not: " + comment);
        Map<String, String> given = new TreeMap<>();
        for (String option : found.group(1).trim().split("\\s+"))
            if (!option.isEmpty() && given.put(option.split("=")[0], option.split("=")[1]) != null)
                throw new ConfigurationException("an option is given twice: " + option);
        return given;
    }
}
