package lacuna.cassandra;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.apache.cassandra.exceptions.ConfigurationException;

/**
 * The options in a table's comment ({@link OptIn}), such as {@code [lacuna mode=safe bucket=1h]}.
 *
 * <ul>
 * <li>{@code bytes}: memory for deleted regions of this table on each node, by default 16 MiB; when it is full, older regions are forgotten.
 * <li>{@code learn_every}: one in this many reads that opened an SSTable is examined, by default 32, fewer while that finds nothing
 *     dead ({@link Learning}); 1 examines all, 0 none.
 * <li>{@code rows}: deleted rows and ends of deleted ranges that one region may hold, by default 10,000.
 * <li>{@code mode}: what the table's node filters are used for, {@code off}, {@code shadow}, {@code eventual} or {@code safe};
 *     by default off.
 * <li>{@code sample}: in mode shadow, one partition in this many is looked at, by default 16; 1 looks at all.
 * <li>{@code back_off}: while looks at the node filters allow no skip, coordinators look at fewer reads, at least at one in this many
 *     ({@link LookBackOff}), by default 64; 1 looks at all.
 * <li>{@code ingest}: in mode safe, a part of the table is open for a stream of new keys if they come as fast as this many in an interval (a
 *     second) to the whole table, by default 1,024; 0 for never.
 * <li>{@code peers}: whose node filters are fetched: {@code datacentre} (the default), of all replicas in this datacentre;
 *     {@code replicas}, only of those that share a range of tokens with this node, for clients that ask replicas.
 * <li>{@code rate}: false positive rate of the node filters, above 0 and below 1, by default 0.01.
 * <li>{@code filter_bytes}: memory for the table's own node filter, by default 256 MiB; a filter that would take more becomes coarser, then answers
 *     "unknown". Copies of others' filters share {@code -Dlacuna.copy_bytes}.
 * <li>{@code bucket}: the width of buckets into which the first clustering column is divided, so that absent ranges of rows are known
 *     too: {@code 15m}, {@code 1h}, {@code 1d} for timestamps, or a number in units of the column; by default none.
 * <li>{@code origin}: where a bucket begins, written in the same way; by default 0, the beginning of 1970 in UTC.
 * </ul>
 */
final class TableOptions
{
    private static final Map<String, Long> DEFAULTS = Map.of("back_off", 64L, "bytes", 16L << 20, "filter_bytes", 256L << 20, "ingest", 1_024L,
                                                               "learn_every", 32L, "rows", 10_000L, "sample", 16L);
    /** Of less nothing can be kept. */
    private static final long MIN_BYTES = 1_024;
    private static final Map<String, Long> LEAST = Map.of("back_off", 1L, "bytes", MIN_BYTES, "filter_bytes", MIN_BYTES, "ingest", 0L, "learn_every", 0L, "rows", 1L, "sample", 1L);
    /** Parts of a table for streams of new keys, as in the library. */
    private static final long SLOTS = 256;
    private static final Set<String> WORDS = Set.of("mode", "rate", "peers", "bucket", "origin");
    private static final Map<String, Boolean> PEERS = Map.of("datacentre", false, "replicas", true);

    /** As they were written, but for zeros at the end of the rate: {@code 0.10} changes nothing where {@code 0.1} was. */
    final Map<String, String> given;
    final Mode mode;
    /** Whether only filters of nodes that share a range of tokens are fetched. */
    final boolean ofReplicasOnly;
    final double rate;
    /** One partition in this many has a part in the filter. */
    final int sample;
    /** At least one read in this many looks at the node filters. */
    final int backOff;
    final long maxBytes;
    final long maxFilterBytes;
    /** Writes of something new into one part of the table, within an interval, from which on the part is open; 0 for never. */
    final long slotWrites;
    final BucketWidth bucket;
    final int learnEvery;
    final int maxRows;

    private TableOptions(Map<String, Long> values, Map<String, String> given)
    {
        this.given = new TreeMap<>(given);
        this.given.computeIfPresent("rate", (name, value) -> value.replaceFirst("0+$", ""));
        mode = Mode.of(given.getOrDefault("mode", "off"));
        rate = rate(given.getOrDefault("rate", "0.01"));
        ofReplicasOnly = ofReplicasOnly(given.getOrDefault("peers", "datacentre"));
        sample = sample(given.containsKey("sample"), Math.toIntExact(values.get("sample")));
        backOff = Math.toIntExact(values.get("back_off"));
        maxBytes = values.get("bytes");
        maxFilterBytes = values.get("filter_bytes");
        slotWrites = slotWrites(values.get("ingest"));
        bucket = BucketWidth.of(given.getOrDefault("bucket", "0"), given.getOrDefault("origin", "0"));
        learnEvery = Math.toIntExact(values.get("learn_every"));
        maxRows = Math.toIntExact(values.get("rows"));
    }

    static TableOptions of(Map<String, String> given)
    {
        Set<String> unknown = new TreeSet<>(given.keySet());
        unknown.removeAll(DEFAULTS.keySet());
        unknown.removeAll(WORDS);
        if (!unknown.isEmpty())
            throw new ConfigurationException("unknown options " + unknown);
        Map<String, Long> values = new HashMap<>(DEFAULTS);
        given.forEach((name, value) -> values.computeIfPresent(name, (same, standard) -> number(name, value)));
        return new TableOptions(values, given);
    }

    private int sample(boolean isGiven, int value)
    {
        if (isGiven && mode != Mode.SHADOW)
            throw new ConfigurationException("sample is for mode shadow: every other mode needs all partitions");
        return mode == Mode.SHADOW ? value : 1;
    }

    private static long slotWrites(long ingest)
    {
        return ingest == 0 ? 0 : Math.max(1, ingest / SLOTS);
    }

    private static boolean ofReplicasOnly(String value)
    {
        if (!PEERS.containsKey(value))
            throw new ConfigurationException("peers must be datacentre or replicas, not " + value);
        return PEERS.get(value);
    }

    private static double rate(String value)
    {
        if (!value.matches("0\\.[0-9]{0,6}[1-9]0*"))
            throw new ConfigurationException("rate must be above 0 and below 1, with at most seven digits, such as 0.01, not " + value);
        return Double.parseDouble(value);
    }

    private static long number(String name, String value)
    {
        if (!value.matches("[0-9]{1,9}"))
            throw new ConfigurationException(name + " must be a whole number of at most nine digits, not " + value);
        long number = Long.parseLong(value);
        if (number < LEAST.get(name))
            throw new ConfigurationException(name + " must be at least " + LEAST.get(name) + ", not " + number);
        return number;
    }
}
