package lacuna.cassandra;

import java.util.Date;

import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.AbstractVirtualTable;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code lacuna.report}: for each table in mode shadow, what mode safe would save and cost, as far as this node has seen. */
final class ReportTable extends AbstractVirtualTable
{
    ReportTable()
    {
        super(LacunaKeyspace.table("report", "tables in mode shadow: what mode safe would save and cost", "keyspace_name", UTF8Type.instance)
              .addClusteringColumn("table_name", UTF8Type.instance)
              .addRegularColumn("worth_it", UTF8Type.instance)
              .addRegularColumn("since", TimestampType.instance)
              .addRegularColumn("reads", LongType.instance)
              .addRegularColumn("skippable_percent", DoubleType.instance)
              .addRegularColumn("replica_reads_saved", LongType.instance)
              .addRegularColumn("read_ms", DoubleType.instance)
              .addRegularColumn("saved_ms", DoubleType.instance)
              .addRegularColumn("look_percent", DoubleType.instance)
              .addRegularColumn("writes", LongType.instance)
              .addRegularColumn("waiting_percent", DoubleType.instance)
              .addRegularColumn("waiting_ms", DoubleType.instance).build());
    }

    @Override
    public DataSet data()
    {
        SimpleDataSet rows = new SimpleDataSet(metadata());
        for (TableGuard guard : Lacuna.guards())
            if (guard.filter.report != null)
                add(rows, guard.filter);
        return rows;
    }

    private static void add(SimpleDataSet rows, TableFilter filter)
    {
        Report.Sums sums = filter.report.sums(filter.table.keyspace.getReplicationStrategy().getReplicationFactor().fullReplicas);
        rows.row(filter.table.getKeyspaceName(), filter.table.getTableName())
            .column("worth_it", sums.advice()).column("since", new Date(filter.report.since)).column("reads", sums.reads)
            .column("skippable_percent", 100 * sums.share()).column("replica_reads_saved", sums.replicaReads)
            .column("read_ms", sums.perRead).column("saved_ms", sums.savedMillis).column("look_percent", 100 * sums.lookShare())
            .column("writes", sums.writes).column("waiting_percent", 100 * sums.waitingShare()).column("waiting_ms", sums.insertMillis);
    }
}
