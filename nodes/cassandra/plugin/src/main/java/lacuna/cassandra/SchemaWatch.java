package lacuna.cassandra;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.schema.AlterSchemaStatement;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.cql3.statements.schema.CreateTableStatement;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.schema.DroppedColumn;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Keyspaces;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaChangeListener;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.ClientWarn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which tables take part here, by their comments ({@link OptIn}): Cassandra reports every table that it reads from disk, creates,
 * alters or drops.
 *
 * <p>At a node's start the schema is read before tables are opened. Those that are to take part wait then, and join with the first
 * write, read or answer that meets them: before it is let through, so that nothing is shown or acknowledged without them.
 */
final class SchemaWatch implements SchemaChangeListener
{
    private static final Logger LOGGER = LoggerFactory.getLogger(SchemaWatch.class);
    private static final SchemaWatch INSTANCE = new SchemaWatch();
    /** Why a table does not take part although its comment asks for it. */
    private static final Map<TableId, Problem> PROBLEMS = new ConcurrentHashMap<>();

    static final class Problem
    {
        final TableMetadata table;
        final String reason;

        Problem(TableMetadata table, String reason)
        {
            this.table = table;
            this.reason = reason;
        }
    }

    private final Map<TableId, Participation> present = new HashMap<>();
    private final Map<TableId, TableMetadata> unopened = new HashMap<>();
    /** False only if nothing waits and nothing is joining: a look-up of a table waits for both. */
    private volatile boolean hasUnopened;
    private boolean isJoining;
    private boolean isStarted;

    private SchemaWatch() {}

    /** From now on it follows the schema; called by the hook and by the handler. */
    static void start()
    {
        synchronized (INSTANCE)
        {
            if (INSTANCE.isStarted)
                return;
            INSTANCE.isStarted = true;
        }
        Schema.instance.registerListener(INSTANCE);
        Schema.instance.distributedKeyspaces().forEach(keyspace -> keyspace.tables.forEach(INSTANCE::onCreateTable));
    }

    /** Before a table is looked up. */
    static void settle()
    {
        if (INSTANCE.hasUnopened)
            INSTANCE.joinOpened();
    }

    /** Whether each table that is to take part does. */
    static boolean isSettled()
    {
        return !INSTANCE.hasUnopened && PROBLEMS.isEmpty();
    }

    static Collection<Problem> problems()
    {
        return PROBLEMS.values();
    }

    @Override
    public void onCreateTable(TableMetadata table)
    {
        guarded(() -> follow(table));
    }

    @Override
    public void onAlterTable(TableMetadata before, TableMetadata after, boolean affectsStatements)
    {
        guarded(() -> alter(before, after));
    }

    /**
     * A column is dropped as of a time, up to which its cells are gone. If it is dropped again as of an earlier one, some come back without a
     * write: rows that have nothing else were proven dead, and a filter that was built meanwhile lacks them. So the table takes part anew, and
     * the change is not done before other nodes know it.
     */
    private void alter(TableMetadata before, TableMetadata after)
    {
        boolean beginsAnew = bringsBack(before, after) && leave(after.id, false);
        follow(after);
        if (beginsAnew)
            Acknowledgements.await(News.ANYTHING);
    }

    private static boolean bringsBack(TableMetadata before, TableMetadata after)
    {
        return before.droppedColumns.entrySet().stream().anyMatch(was ->
        {
            DroppedColumn is = after.droppedColumns.get(was.getKey());
            return is == null || is.droppedTime < was.getValue().droppedTime;
        });
    }

    @Override
    public void onDropTable(TableMetadata table, boolean dropData)
    {
        PROBLEMS.remove(table.id);
        guarded(() -> leave(table.id, false));
    }

    /** An exception here would leave the node with half a schema. */
    private static void guarded(Runnable change)
    {
        try
        {
            change.run();
        }
        catch (Throwable failure)
        {
            Lacuna.fail("schema", failure);
        }
    }

    private synchronized void follow(TableMetadata table)
    {
        TableOptions options = options(table);
        Participation now = present.get(table.id);
        if (now != null && now.isWith(options))
        {
            now.forget();
            return;
        }
        // Its file says which SSTables a filter holds: the next one reads the others, as after a restart.
        end(table.id, now != null && options != null && now.hasFilterOf(table, options));
        if (options != null)
            join(table, options);
        lookForUnopened();
    }

    /** Null if the table does not take part. */
    private static TableOptions options(TableMetadata table)
    {
        PROBLEMS.remove(table.id);
        try
        {
            return OptIn.of(table);
        }
        catch (ConfigurationException problem)
        {
            LOGGER.warn("Lacuna: {} does not take part: {}", table, problem.getMessage());
            PROBLEMS.put(table.id, new Problem(table, problem.getMessage()));
            return null;
        }
    }

    private void join(TableMetadata table, TableOptions options)
    {
        ColumnFamilyStore store = Schema.instance.getColumnFamilyStoreInstance(table.id);
        if (store == null)
            unopened.put(table.id, table);
        else
            present.put(table.id, Participation.begin(store, options));
    }

    /** Whether it took part until now. */
    private synchronized boolean leave(TableId id, boolean keepsFile)
    {
        boolean tookPart = end(id, keepsFile);
        lookForUnopened();
        return tookPart;
    }

    private boolean end(TableId id, boolean keepsFile)
    {
        unopened.remove(id);
        Participation now = present.remove(id);
        if (now != null)
            now.end(keepsFile);
        return now != null;
    }

    /** Writes of the commit log's replay come from several threads: all wait here until the last table has joined. */
    private synchronized void joinOpened()
    {
        if (isJoining)
            return;
        isJoining = true;
        try
        {
            for (TableMetadata table : List.copyOf(unopened.values()))
                if (Schema.instance.getColumnFamilyStoreInstance(table.id) != null && unopened.remove(table.id) != null)
                    guarded(() -> follow(table));
        }
        finally
        {
            isJoining = false;
            lookForUnopened();
        }
    }

    private void lookForUnopened()
    {
        if (!isJoining)
            hasUnopened = !unopened.isEmpty();
    }

    /**
     * Before a statement that changes a table is carried out: refuses a comment that could not be followed. A node without the
     * plug-in lets it pass; then the table does not take part, and {@code lacuna.tables} says why.
     */
    static void check(CQLStatement statement, ClientState client)
    {
        if (!(statement instanceof AlterTableStatement || statement instanceof CreateTableStatement))
            return;
        AlterSchemaStatement change = (AlterSchemaStatement) statement;
        change.authorize(client);
        Keyspaces before = Schema.instance.distributedKeyspaces();
        KeyspaceMetadata after = after(change, before);
        if (after == null)
            return;
        KeyspaceMetadata old = before.getNullable(after.name);
        for (TableMetadata table : after.tables)
            if (isCommentNew(table, old.tables.getNullable(table.id)))
                OptIn.of(table);
    }

    /** A comment that could not be followed before is no reason to refuse another change. */
    private static boolean isCommentNew(TableMetadata after, TableMetadata before)
    {
        return before == null || !after.params.comment.equals(before.params.comment);
    }

    /** The keyspace as the statement would leave it; null if it will fail. Warnings are given when it is carried out. */
    private static KeyspaceMetadata after(AlterSchemaStatement change, Keyspaces before)
    {
        ClientWarn.State warnings = ClientWarn.instance.get();
        ClientWarn.instance.set(null);
        try
        {
            return change.apply(before).getNullable(change.keyspace());
        }
        catch (RequestValidationException refused)
        {
            return null;
        }
        finally
        {
            ClientWarn.instance.set(warnings);
        }
    }
}
