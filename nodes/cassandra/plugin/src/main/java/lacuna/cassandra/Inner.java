package lacuna.cassandra;

/** Cassandra takes one class of each kind; a system property may name another class that ours calls. */
final class Inner
{
    private Inner() {}

    /** An instance of the class that the system property names; the standard one if it names none or cannot be made. */
    static <T> T construct(String property, Class<T> type, T standard)
    {
        String name = System.getProperty(property);
        if (name == null)
            return standard;
        try
        {
            return type.cast(Class.forName(name).getDeclaredConstructor().newInstance());
        }
        catch (ReflectiveOperationException | ClassCastException | LinkageError failure)
        {
            Lacuna.fail(property, failure);
            return standard;
        }
    }
}
