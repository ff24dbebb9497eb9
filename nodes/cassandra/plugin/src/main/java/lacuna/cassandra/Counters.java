package lacuna.cassandra;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What the plug-in did on this node since it started; the virtual table {@code lacuna.counters} shows them. */
final class Counters
{
    private final Map<String, LongAdder> byName = new LinkedHashMap<>();

    /** Reads for which no SSTable was opened and at least one would have been looked into. */
    final LongAdder readsAnswered = counter("reads_answered");
    final LongAdder sstablesSpared = counter("sstables_spared");
    final LongAdder sstablesRead = counter("sstables_read");
    /** How often a read was given the tombstones of a region: once for all the SSTables that it spares. */
    final LongAdder regionsGiven = counter("regions_given");
    final LongAdder optedOut = counter("opted_out");
    final LongAdder proposed = counter("regions_proposed");
    final LongAdder proven = counter("regions_proven");
    final LongAdder alive = counter("regions_alive");
    final LongAdder overtaken = counter("regions_overtaken");
    final LongAdder forgotten = counter("regions_forgotten");
    final LongAdder refused = counter("regions_refused");
    final LongAdder evicted = counter("partitions_evicted");
    final LongAdder proofsFailed = counter("proofs_failed");
    final LongAdder failures = counter("failures");
    /** Reads that a coordinator answered without asking a replica, and those that it would have (mode shadow). */
    final LongAdder readsSkipped = counter("reads_skipped");
    final LongAdder readsShadowed = counter("reads_shadowed");
    /** Mode shadow: found rows where a skip would have answered none; a write meanwhile counts too. */
    final LongAdder contradictions = counter("contradictions");
    /** Reads that did not look at the node filters, since many before them looked in vain; those that could have been skipped. */
    final LongAdder looksLeftOut = counter("looks_left_out");
    final LongAdder skipsMissed = counter("skips_missed");
    final LongAdder acknowledgementsHeld = counter("acknowledgements_held");
    /** Reads that met a new partition and waited until other nodes knew it. */
    final LongAdder readsHeld = counter("reads_held");
    /** How often a read or an acknowledgement asked the filters whether it may leave: never while nothing is new. */
    final LongAdder newsAskedFor = counter("news_asked_for");
    /** Reads that found no row where filters did not say so, whose replicas were asked to prove the gap; and what was proven here. */
    final LongAdder gapsAsked = counter("gaps_asked");
    final LongAdder gapsProven = counter("gaps_proven");
    /** How often this node has proven more of an end of a partition to be dead. */
    final LongAdder waterMarksProven = counter("water_marks_proven");
    /** Reads that a coordinator had its replicas begin beyond dead rows. */
    final LongAdder readsNarrowed = counter("reads_narrowed");
    /** Partitions of IN for which a coordinator did not ask their replicas, since others of the IN may hold something. */
    final LongAdder partitionsLeftOut = counter("partitions_left_out");
    /** Reads of either kind that it had to repeat whole, because of a write meanwhile. */
    final LongAdder readsRepeated = counter("reads_repeated");
    final LongAdder filtersRebuilt = counter("filters_rebuilt");
    /** Filters that a start took from their files, and SSTables that were read to fill filters, at a start or later. */
    final LongAdder filtersRestored = counter("filters_restored");
    final LongAdder sstablesLoaded = counter("sstables_loaded");
    /** Dead regions that a start took from their files. */
    final LongAdder regionsRestored = counter("regions_restored");
    /** Files of filters that were written. */
    final LongAdder filtersSaved = counter("filters_saved");
    final LongAdder framesSent = counter("frames_sent");
    final LongAdder buildsFailed = counter("filter_builds_failed");

    private LongAdder counter(String name)
    {
        LongAdder adder = new LongAdder();
        byName.put(name, adder);
        return adder;
    }

    Map<String, LongAdder> byName()
    {
        return byName;
    }
}
