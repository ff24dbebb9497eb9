package lacuna.cassandra;

import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.AbstractVirtualTable;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code lacuna.reasons}: for each table, why reads through this node were not skipped. */
final class ReasonsTable extends AbstractVirtualTable
{
    ReasonsTable()
    {
        super(LacunaKeyspace.table("reasons", "why reads through this node were not skipped", "keyspace_name", UTF8Type.instance)
              .addClusteringColumn("table_name", UTF8Type.instance)
              .addClusteringColumn("reason", UTF8Type.instance)
              .addRegularColumn("reads", LongType.instance)
              .addRegularColumn("meaning", UTF8Type.instance).build());
    }

    @Override
    public DataSet data()
    {
        SimpleDataSet rows = new SimpleDataSet(metadata());
        for (TableGuard guard : Lacuna.guards())
            for (Reasons.Reason reason : Reasons.Reason.values())
                add(rows, guard, reason);
        return rows;
    }

    private static void add(SimpleDataSet rows, TableGuard guard, Reasons.Reason reason)
    {
        long reads = guard.filter.reasons.of(reason);
        if (reads > 0)
            rows.row(guard.table.getKeyspaceName(), guard.table.getTableName(), reason.shown())
                .column("reads", reads).column("meaning", reason.meaning);
    }
}
