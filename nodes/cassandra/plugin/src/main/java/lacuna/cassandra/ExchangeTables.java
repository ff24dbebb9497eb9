package lacuna.cassandra;

import java.util.Map;
import java.util.UUID;

import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.InetAddressType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.AbstractVirtualTable;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.locator.InetAddressAndPort;

/** The virtual tables of the exchange: which nodes take part, and what is known of each. */
final class ExchangeTables
{
    private ExchangeTables() {}

    /** {@code lacuna.peers}: the other nodes of the datacentre. */
    static final class Peer extends AbstractVirtualTable
    {
        Peer()
        {
            super(LacunaKeyspace.table("peers", "the other nodes of the datacentre, and whether they take part", "host_id", UUIDType.instance)
                  .addRegularColumn("address", InetAddressType.instance)
                  .addRegularColumn("ready", BooleanType.instance)
                  .addRegularColumn("has_lease", BooleanType.instance).build());
        }

        @Override
        public DataSet data()
        {
            SimpleDataSet rows = new SimpleDataSet(metadata());
            Peers.addresses().forEach((id, address) ->
                rows.row(id).column("address", address.getAddress()).column("ready", Peers.isReady(address))
                    .column("has_lease", Exchange.mayRelyOn(Mode.SAFE, id)));
            return rows;
        }
    }

    /** {@code lacuna.filters}: this node's filters, named {@code own}, and its copies of others', by address. */
    static final class Filter extends AbstractVirtualTable
    {
        Filter()
        {
            super(LacunaKeyspace.table("filters", "node filters: this node's own, and copies of its peers'", "keyspace_name", UTF8Type.instance)
                  .addClusteringColumn("table_name", UTF8Type.instance)
                  .addClusteringColumn("node", UTF8Type.instance)
                  .addRegularColumn("mode", UTF8Type.instance)
                  .addRegularColumn("keys", LongType.instance)
                  .addRegularColumn("dead", LongType.instance)
                  .addRegularColumn("bytes", LongType.instance)
                  .addRegularColumn("expected_rate", DoubleType.instance)
                  .addRegularColumn("measured_rate", DoubleType.instance)
                  .addRegularColumn("skipped", LongType.instance).build());
        }

        @Override
        public DataSet data()
        {
            SimpleDataSet rows = new SimpleDataSet(metadata());
            for (TableGuard guard : Lacuna.guards())
            {
                add(rows, guard.filter, "own", null);
                for (Map.Entry<UUID, InetAddressAndPort> peer : Peers.addresses().entrySet())
                    add(rows, guard.filter, peer.getValue().getHostAddress(false), peer.getKey());
            }
            return rows;
        }

        private static void add(SimpleDataSet rows, TableFilter filter, String node, UUID peer)
        {
            long keys = filter.number(peer, 0);
            if (keys < 0)
                return;
            rows.row(filter.table.getKeyspaceName(), filter.table.getTableName(), node)
                .column("mode", filter.mode.shown()).column("keys", keys).column("bytes", filter.number(peer, 1))
                .column("dead", filter.number(peer, 2)).column("expected_rate", filter.number(peer, 3) / 1e9);
            if (peer == null)
                rows.column("skipped", filter.skipped.sum()).column("measured_rate", measured(filter));
        }

        /**
         * Of the reads of whole, absent partitions through this node, the share that had to ask replicas because a filter took the
         * partition for live. A read asks several filters, and a deletion that is not proven yet counts too.
         */
        private static Double measured(TableFilter filter)
        {
            long asked = filter.falsePositives.sum();
            long all = asked + filter.partitionsSkipped.sum();
            return all == 0 ? null : (double) asked / all;
        }
    }
}
