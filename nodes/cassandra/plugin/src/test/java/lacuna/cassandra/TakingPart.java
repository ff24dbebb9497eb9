package lacuna.cassandra;

/** The statements with which a table begins to take part, and ends it. */
final class TakingPart
{
    private TakingPart() {}

    /** With options such as {@code mode=safe bucket=16}. */
    static String begin(String table, String options)
    {
        return "ALTER TABLE " + table + " WITH comment = '" + comment(options) + "'";
    }

    static String comment(String options)
    {
        return "of a test [lacuna " + options + "]";
    }

    static String end(String table)
    {
        return "ALTER TABLE " + table + " WITH comment = 'of a test'";
    }
}
