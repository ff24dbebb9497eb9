package lacuna.cassandra;

import java.util.List;

/** The statements with which a table begins to take part, and ends it. */
final class TakingPart
{
    private TakingPart() {}

    /** With options such as {@code mode=safe bucket=16}. */
    static String begin(String table, String options)
    {
        return "ALTER TABLE " + table + " WITH comment = '" + comment(options) + "'";
    }

    /** In mode safe without streams of new keys, unless the options say otherwise: most tests are about what waits, or is skipped at once. */
    static String comment(String options)
    {
        boolean isSafe = List.of(options.split(" ")).contains("mode=safe");
        return "of a test [lacuna " + options + (isSafe && !options.contains("ingest=") ? " ingest=0" : "") + "]";
    }

    static String end(String table)
    {
        return "ALTER TABLE " + table + " WITH comment = 'of a test'";
    }
}
