package lacuna.cassandra;

/** A read of which a part is left out, where no replica holds a live row, and what is known of that part. */
abstract class Narrowing
{
    /** What the replicas are asked. */
    final NarrowedSelect statement;

    Narrowing(NarrowedSelect statement)
    {
        this.statement = statement;
    }

    /**
     * Whether the answer counts, by what is known now. Replicas were read after the decision; what they have shown meanwhile of a write
     * to the part that was left out, this node knew before their answers left.
     */
    abstract boolean isConfirmed();

    /** Counts an answer that does. */
    abstract void count();
}
