package lacuna.cassandra;

import java.util.List;
import java.util.Optional;

import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.AbstractMutableVirtualTable;
import org.apache.cassandra.db.virtual.AbstractVirtualTable;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.db.virtual.VirtualKeyspace;
import org.apache.cassandra.db.virtual.VirtualKeyspaceRegistry;
import org.apache.cassandra.dht.LocalPartitioner;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.TableMetadata;

/** The virtual keyspace {@code lacuna}: what the plug-in on this node knows, what it has done, and whether it is active. */
final class LacunaKeyspace
{
    private static final String NAME = "lacuna";

    private LacunaKeyspace() {}

    static void register()
    {
        VirtualKeyspaceRegistry.instance.register(
            new VirtualKeyspace(NAME, List.of(new CountersTable(), new DecisionsTable(), new TablesTable(),
                                       new SwitchesTable(), new ExchangeTables.Peer(), new ExchangeTables.Filter(),
                                       new ReportTable(), new ReasonsTable())));
    }

    /** A virtual table with this partition key. */
    static TableMetadata.Builder table(String name, String comment, String key, AbstractType<?> type)
    {
        return TableMetadata.builder(NAME, name).comment(comment).kind(TableMetadata.Kind.VIRTUAL)
                            .partitioner(new LocalPartitioner(type)).addPartitionKeyColumn(key, type);
    }

    private static final class CountersTable extends AbstractVirtualTable
    {
        CountersTable()
        {
            super(table("counters", "what the plug-in did since the node started", "name", UTF8Type.instance)
                  .addRegularColumn("value", LongType.instance).build());
        }

        @Override
        public DataSet data()
        {
            SimpleDataSet rows = new SimpleDataSet(metadata());
            Lacuna.COUNTERS.byName().forEach((name, value) -> rows.row(name).column("value", value.sum()));
            rows.row("frames_damaged").column("value", Exchange.framesDamaged());
            rows.row("slots_opened").column("value", Exchange.slotsOpened());
            rows.row("writes_streamed").column("value", Exchange.writesStreamed());
            rows.row("proofs_waiting").column("value", (long) Lacuna.PROVER.waiting());
            return rows;
        }
    }

    private static final class DecisionsTable extends AbstractVirtualTable
    {
        DecisionsTable()
        {
            super(table("decisions", "the last SSTables that were not read, and why", "back", Int32Type.instance)
                  .addRegularColumn("at", TimestampType.instance)
                  .addRegularColumn("keyspace_name", UTF8Type.instance)
                  .addRegularColumn("table_name", UTF8Type.instance)
                  .addRegularColumn("key", UTF8Type.instance)
                  .addRegularColumn("reason", UTF8Type.instance).build());
        }

        @Override
        public DataSet data()
        {
            SimpleDataSet rows = new SimpleDataSet(metadata());
            int back = 0;
            for (Decisions.Decision decision : Lacuna.DECISIONS.all())
                rows.row(back++).column("at", new java.util.Date(decision.millis))
                    .column("keyspace_name", decision.table.keyspace)
                    .column("table_name", decision.table.name)
                    .column("key", decision.table.partitionKeyType.getString(decision.key.getKey()))
                    .column("reason", decision.reason);
            return rows;
        }
    }

    private static final class TablesTable extends AbstractVirtualTable
    {
        TablesTable()
        {
            super(table("tables", "the tables that take part, or should, and what is known to be dead", "keyspace_name", UTF8Type.instance)
                  .addClusteringColumn("table_name", UTF8Type.instance)
                  .addRegularColumn("options", UTF8Type.instance)
                  .addRegularColumn("state", UTF8Type.instance)
                  .addRegularColumn("problem", UTF8Type.instance)
                  .addRegularColumn("look_every", Int32Type.instance)
                  .addRegularColumn("looks", LongType.instance)
                  .addRegularColumn("looks_left_out", LongType.instance)
                  .addRegularColumn("skips_missed", LongType.instance)
                  .addRegularColumn("partitions", LongType.instance)
                  .addRegularColumn("bytes", LongType.instance)
                  .addRegularColumn("max_bytes", LongType.instance).build());
        }

        @Override
        public DataSet data()
        {
            SimpleDataSet rows = new SimpleDataSet(metadata());
            for (TableGuard guard : Lacuna.guards())
            {
                rows.row(guard.table.getKeyspaceName(), guard.table.getTableName())
                    .column("options", guard.options.given.toString())
                    .column("state", TableState.of(guard.filter))
                    .column("problem", guard.filter.builds.problem())
                    .column("partitions", (long) guard.keyCount())
                    .column("bytes", guard.bytes())
                    .column("max_bytes", guard.options.maxBytes);
                if (guard.filter.mode != Mode.OFF)
                    addLooks(rows, guard.filter.backOff);
            }
            for (SchemaWatch.Problem problem : SchemaWatch.problems())
                rows.row(problem.table.keyspace, problem.table.name).column("problem", problem.reason);
            return rows;
        }
    }

    /** Of the row that was begun last. */
    private static void addLooks(SimpleDataSet rows, LookBackOff backOff)
    {
        rows.column("look_every", backOff.every()).column("looks", backOff.looks())
            .column("looks_left_out", backOff.leftOutCount()).column("skips_missed", backOff.missedCount());
    }

    /** {@code UPDATE lacuna.switches SET enabled = false WHERE name = 'answers'}, or {@code 'exchange'}, which only a restart switches on again. */
    private static final class SwitchesTable extends AbstractMutableVirtualTable
    {
        SwitchesTable()
        {
            super(table("switches", "whether reads may be answered from memory, and whether filters are exchanged", "name", UTF8Type.instance)
                  .addRegularColumn("enabled", BooleanType.instance)
                  .addRegularColumn("active", BooleanType.instance)
                  .addRegularColumn("reason", UTF8Type.instance).build());
        }

        @Override
        public DataSet data()
        {
            SimpleDataSet rows = new SimpleDataSet(metadata());
            rows.row("answers").column("enabled", Lacuna.isSwitchedOn()).column("active", Lacuna.isActive())
                .column("reason", Lacuna.reason());
            rows.row("exchange").column("enabled", Exchange.isActive()).column("active", Exchange.isActive())
                .column("reason", Exchange.reason());
            return rows;
        }

        @Override
        protected void applyColumnUpdate(ColumnValues key, ColumnValues clustering, Optional<ColumnValue> column)
        {
            // A boolean of no bytes is null.
            Boolean on = column.isPresent() && "enabled".equals(column.get().name()) ? column.get().<Boolean>value() : null;
            if (on == null)
                throw new InvalidRequestException("lacuna.switches: only column enabled can be set, to true or false");
            switch (key.<String>value(0))
            {
                case "answers":
                    Lacuna.switchTo(on);
                    break;
                case "exchange":
                    switchExchange(on);
                    break;
                default:
                    throw new InvalidRequestException("lacuna.switches has the rows answers and exchange");
            }
        }

        private static void switchExchange(boolean on)
        {
            if (!on)
                Exchange.switchOff();
            else if (!Exchange.isActive())
                throw new InvalidRequestException("lacuna.switches: an exchange that has ended begins again when the node restarts");
        }
    }
}
