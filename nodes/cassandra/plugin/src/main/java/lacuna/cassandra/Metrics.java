package lacuna.cassandra;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.Timer;

import org.apache.cassandra.metrics.CassandraMetricsRegistry;

/**
 * The counters, numbers of what is here now, and the latency of skipped reads, in Cassandra's own registry: JMX and exporters find them
 * beside its own, as {@code org.apache.cassandra.metrics:type=Lacuna,name=ReadsSkipped}.
 */
final class Metrics
{
    private static final String GROUP = "org.apache.cassandra.metrics";
    private static final String TYPE = "Lacuna";

    private static Timer skippedReadLatency;

    private Metrics() {}

    static synchronized void register()
    {
        Lacuna.COUNTERS.byName().forEach((name, adder) ->
            CassandraMetricsRegistry.Metrics.register(named(camel(name)), (Gauge<Long>) adder::sum));
        CassandraMetricsRegistry.Metrics.register(named("Active"), (Gauge<Integer>) () -> Lacuna.isActive() ? 1 : 0);
        CassandraMetricsRegistry.Metrics.register(named("ExchangeActive"), (Gauge<Integer>) () -> Exchange.isActive() ? 1 : 0);
        gauge("FramesDamaged", Exchange::framesDamaged);
        gauge("SlotsOpened", Exchange::slotsOpened);
        gauge("WritesStreamed", Exchange::writesStreamed);
        gauge("OpenSlots", () -> Lacuna.guards().stream().mapToLong(guard -> Math.max(0, guard.filter.number(null, TableFilter.OPEN_SLOTS))).sum());
        gauge("ProofsWaiting", Lacuna.PROVER::waiting);
        gauge("AcknowledgementsWaiting", Acknowledgements::waiting);
        gauge("BuildsWaiting", FilterBuilds::waiting);
        gauge("TablesUnfilled", () -> Lacuna.guards().stream().filter(guard -> guard.filter.builds.isAhead()).count());
        gauge("RegionBytes", () -> Lacuna.guards().stream().mapToLong(TableGuard::bytes).sum());
        gauge("OwnFilterBytes", () -> Lacuna.guards().stream().mapToLong(guard -> Math.max(0, guard.filter.number(null, TableFilter.BYTES))).sum());
        gauge("CopyBytes", () -> Exchange.ofAllModes(0));
        gauge("SnapshotBytes", () -> Exchange.ofAllModes(1));
        gauge("LeaseHolders", () -> Exchange.ofSafe(2));
        gauge("PeersAsked", () -> Exchange.ofSafe(3));
        gauge("PeersWithLease", () -> Exchange.ofSafe(4));
        skippedReadLatency = CassandraMetricsRegistry.Metrics.timer(named("SkippedReadLatency"));
    }

    private static void gauge(String name, LongSupplier value)
    {
        CassandraMetricsRegistry.Metrics.register(named(name), (Gauge<Long>) value::getAsLong);
    }

    private static CassandraMetricsRegistry.MetricName named(String name)
    {
        // Without its last argument the parts of the bean's name would be in quotes, as Cassandra's own are not.
        return new CassandraMetricsRegistry.MetricName(GROUP, TYPE, name, null, GROUP + ":type=" + TYPE + ",name=" + name);
    }

    /** As Cassandra writes names: {@code ReadsSkipped}. */
    static String camel(String name)
    {
        return Arrays.stream(name.split("_")).map(word -> Character.toUpperCase(word.charAt(0)) + word.substring(1))
                     .collect(Collectors.joining());
    }

    /** A read of a table that was answered here. */
    static void skipped(TableFilter filter, long nanos)
    {
        skippedReadLatency.update(nanos, TimeUnit.NANOSECONDS);
        filter.table.metric.coordinatorReadLatency.update(nanos, TimeUnit.NANOSECONDS);
    }
}
