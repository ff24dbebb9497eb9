package lacuna.cassandra;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.AbstractMutableVirtualTable;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.db.virtual.VirtualKeyspace;
import org.apache.cassandra.db.virtual.VirtualKeyspaceRegistry;
import org.apache.cassandra.dht.LocalPartitioner;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.schema.TableMetadata;

/**
 * The plug-in's query handler on a node with faults: {@link Node#FLAWED} puts it in place of the installed one.
 *
 * <p>{@code -Dlacuna.test.damage_every=N} damages every Nth frame that the node sends. Each {@link Flaw} is off until
 * {@code UPDATE lacuna_test.flaws SET enabled = true WHERE name = '...'}.
 */
public final class FlawedQueryHandler extends LacunaQueryHandler
{
    private static final String KEYSPACE = "lacuna_test";
    private static final int DAMAGE_EVERY = Integer.getInteger("lacuna.test.damage_every", 0);

    private final AtomicLong sent = new AtomicLong();

    /** Called by Cassandra when it starts. What is added to the sinks last is asked first. */
    public FlawedQueryHandler()
    {
        Waits.replaceBy(new FlawedWaits());
        MessagingService.instance().outboundSink.add((message, to) -> damage(message));
        MessagingService.instance().inboundSink.add(FlawedQueryHandler::isHeard);
        VirtualKeyspaceRegistry.instance.register(new VirtualKeyspace(KEYSPACE, List.of(new FlawsTable())));
    }

    private boolean damage(Message<?> message)
    {
        if (DAMAGE_EVERY > 0 && message.payload instanceof Wire.Frame frame && sent.incrementAndGet() % DAMAGE_EVERY == 0)
            frame.bytes[frame.bytes.length - 1] ^= 1;
        return true;
    }

    private static boolean isHeard(Message<?> message)
    {
        boolean concernsFilters = message.verb() == Verb.UNUSED_CUSTOM_VERB || message.verb().name().startsWith("SCHEMA");
        return !concernsFilters || !Flaw.DEAF.isOn();
    }

    private static final class FlawsTable extends AbstractMutableVirtualTable
    {
        FlawsTable()
        {
            super(TableMetadata.builder(KEYSPACE, "flaws").kind(TableMetadata.Kind.VIRTUAL)
                               .partitioner(new LocalPartitioner(UTF8Type.instance))
                               .addPartitionKeyColumn("name", UTF8Type.instance)
                               .addRegularColumn("enabled", BooleanType.instance)
                               .addRegularColumn("standing", Int32Type.instance).build());
        }

        @Override
        public DataSet data()
        {
            SimpleDataSet rows = new SimpleDataSet(metadata());
            for (Flaw flaw : Flaw.values())
                rows.row(flaw.shown()).column("enabled", flaw.isOn()).column("standing", flaw.standing());
            return rows;
        }

        @Override
        protected void applyColumnUpdate(ColumnValues key, ColumnValues clustering, Optional<ColumnValue> column)
        {
            String name = key.value(0);
            Flaw.valueOf(name.toUpperCase(java.util.Locale.ROOT)).switchTo(column.orElseThrow().value());
        }
    }
}
