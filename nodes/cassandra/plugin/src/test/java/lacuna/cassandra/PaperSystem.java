package lacuna.cassandra;

import java.util.Locale;

/** What is compared: one table each, of the same content, in a cluster whose nodes have the plug-in, or have not. */
enum PaperSystem
{
    /** Nodes without the jar. */
    STOCK("stock", null, true),
    /** A table that takes no part beside the others. */
    DEFAULT("no part", null, true),
    /** The paper's first scheme: each node forgets what is deleted, and tells no other node. */
    HOOK("one node's", "mode=off", true),
    /**
     * A filter that cannot forget. It takes part from after the deletions and learns nothing from reads, so nothing is ever
     * proven dead; the filter that is left errs at the rate of a Bloom filter of 1 %.
     */
    BLOOM("node Bloom", "mode=eventual learn_every=0", false),
    SHADOW("node cuckoo, shadow", "mode=shadow sample=1", true),
    EVENTUAL("node cuckoo, eventual", "mode=eventual", true),
    SAFE("node cuckoo, safe", "mode=safe", true),
    /** With buckets of rows. */
    SAFE_ROWS("safe, rows", "mode=safe bucket=4096", true),
    EVENTUAL_ROWS("eventual, rows", "mode=eventual bucket=4096", true);

    final String shown;
    private final String options;
    final boolean forgets;

    PaperSystem(String shown, String options, boolean forgets)
    {
        this.shown = shown;
        this.options = options;
        this.forgets = forgets;
    }

    boolean isGuarded()
    {
        return options != null;
    }

    boolean isExchanged()
    {
        return isGuarded() && this != HOOK;
    }

    /** A table's name for this system. */
    String table(String name)
    {
        return name + "_" + name().toLowerCase(Locale.ROOT);
    }

    /** What makes this system of a table. */
    String begin(String name)
    {
        return TakingPart.begin(table(name), options);
    }
}
