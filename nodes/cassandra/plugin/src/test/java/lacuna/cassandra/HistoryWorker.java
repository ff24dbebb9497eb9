package lacuna.cassandra;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.exceptions.DriverException;

/**
 * One client of a {@link HistoryUnderFaults}: random writes into partitions of its own in one table, each through any node that is up, and
 * reads, which must show what a {@link Model} says.
 *
 * <p>A partition is given up for a new one when it is not known whether a write has happened: there was no answer in time, or a node was
 * killed. What too few replicas were up for has not happened. While a row may expire between a node's clock and another moment of the
 * read, the read is not checked.
 */
final class HistoryWorker
{
    private static final int PARTITIONS = 10;
    private static final int MAX_WRITES = 300;
    private static final int ABSENT = 1 << 28;
    private static final int PAGE = 5_000;
    /** The store's clock for conditional writes counts milliseconds. */
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long AFTER_ERROR_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** A row that is there before one second, and is not from another on. */
    private record Expiring(int c, long at, long thereBefore, long goneFrom) {}

    private static final class Partition
    {
        final int p;
        final List<String> written = new ArrayList<>();
        final List<Expiring> expiring = new ArrayList<>();

        Partition(int p)
        {
            this.p = p;
        }
    }

    private final HistoryUnderFaults history;
    private final HistoryUnderFaults.Table table;
    private final List<Client> clients;
    private final Random random;
    private final Reads reads;
    private final Timestamps timestamps;
    private final Model model = new Model();
    private final List<Partition> partitions = new ArrayList<>();

    HistoryWorker(HistoryUnderFaults history, HistoryUnderFaults.Table table, List<Client> clients, Random random)
    {
        this.history = history;
        this.table = table;
        this.clients = clients;
        this.random = random;
        this.reads = new Reads(random, table.levels(), List.of(ConsistencyLevel.ALL));
        this.timestamps = new Timestamps(random);
        for (int i = 0; i < PARTITIONS; i++)
            partitions.add(new Partition(history.nextPartition()));
    }

    /** Until the history is over. */
    void run()
    {
        try
        {
            while (history.goesOn())
                step();
        }
        catch (Throwable failure)
        {
            history.broken(table, failure.toString());
            failure.printStackTrace();
        }
    }

    private void step()
    {
        Partition own = any();
        if (random.nextInt(5) > 1)
            read(own, any());
        else
            write(own, any());
        if (own.written.size() > MAX_WRITES)
            giveUp(own);
    }

    private Partition any()
    {
        return partitions.get(random.nextInt(PARTITIONS));
    }

    /** Null if nothing is known: there was no answer in time, or the node is gone. */
    private Answer ask(Request request)
    {
        try
        {
            Answer answer = Answer.of(clients.get(history.faults().anyNode(random)).ask(request, table.name()));
            if (answer.isError() && !answer.isUnavailable())
                throw new IllegalStateException(request + ": " + answer);
            return answer;
        }
        catch (DriverException unanswered)
        {
            history.unanswered();
            LockSupport.parkNanos(AFTER_ERROR_NANOS);
            return null;
        }
    }

    private Answer write(String cql)
    {
        return ask(new Request(cql, new int[0], table.levels().get(0), PAGE, false));
    }

    private void giveUp(Partition partition)
    {
        int at = partitions.indexOf(partition);
        if (at < 0)
            return;
        model.forget(partition.p);
        partitions.set(at, new Partition(history.nextPartition()));
    }

    private void write(Partition own, Partition other)
    {
        int c = random.nextInt(History.ROWS);
        int v = random.nextInt(1_000);
        long at = table.isInOrder() ? timestamps.now() : timestamps.next();
        switch (random.nextInt(2 + Writes.KINDS))
        {
            case 0 -> conditional(own, new Writes.Conditional(own.p, c, v));
            case 1 -> expiring(own, c, v, at);
            default -> written(Writes.of(random.nextInt(Writes.KINDS), own.p, other.p, c, v, at), own, other);
        }
    }

    private boolean written(Writes.Write write, Partition own, Partition other)
    {
        Answer answer = write(write.cql());
        if (answer == null)
        {
            giveUp(own);
            giveUp(other);
            return false;
        }
        if (answer.isError())
            return false;
        write.onModel().accept(model);
        own.written.add(write.cql());
        if (other != own)
            other.written.add(write.cql());
        history.written();
        return true;
    }

    /** A row that is gone some seconds later: from the second on at which the coordinator has written it. */
    private void expiring(Partition own, int c, int v, long at)
    {
        int seconds = 1 + random.nextInt(3);
        long start = seconds();
        if (written(Writes.insert(own.p, c, v, at, " AND TTL " + seconds), own, own))
            own.expiring.add(new Expiring(c, at, start + seconds, seconds() + seconds));
    }

    private static long seconds()
    {
        return TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis());
    }

    private void conditional(Partition own, Writes.Conditional write)
    {
        expire(own);
        if (!own.expiring.isEmpty())
            return;
        boolean isMet = write.isMet(model);
        long start = timestamps.now();
        LockSupport.parkNanos(TICK_NANOS);
        Answer answer = write(write.cql());
        if (answer == null || answer.isError())
        {
            giveUp(own);
            return;
        }
        long end = timestamps.now();
        timestamps.keepFree(start, end);
        boolean isApplied = answer.rows().get(0).startsWith("[true");
        own.written.add(write.cql() + " -- at " + end + ", applied " + isApplied);
        if (isApplied != isMet)
        {
            history.wrong(table, write.cql() + ": applied " + isApplied + ", not " + isMet + shown(own));
            giveUp(own);
            return;
        }
        if (isApplied)
            write.apply(model, end);
        history.written();
    }

    /** What is gone by now, whichever node is asked. */
    private void expire(Partition own)
    {
        long now = seconds();
        own.expiring.removeIf(row ->
        {
            boolean isGone = now >= row.goneFrom;
            if (isGone)
                model.expire(own.p, row.c, row.at);
            return isGone;
        });
    }

    private void read(Partition own, Partition other)
    {
        boolean isAbsent = random.nextInt(6) == 0;
        int absent = ABSENT + random.nextInt(ABSENT);
        int p = isAbsent ? absent : own.p;
        int q = random.nextBoolean() ? absent : other.p;
        int low = random.nextInt(History.ROWS);
        Reads.Read read = reads.known(random.nextInt(Reads.KNOWN), p, q, low, low + random.nextInt(6));
        expire(own);
        expire(other);
        Answer answer = ask(read.request());
        long end = seconds();
        boolean isAnswered = answer != null && !answer.isError();
        if (isAnswered && Stream.of(own, other).flatMap(each -> each.expiring.stream()).allMatch(row -> end < row.thereBefore))
            check(read, answer, own, other);
        model.forget(absent);
    }

    private void check(Reads.Read read, Answer answer, Partition own, Partition other)
    {
        List<String> found = read.partitions() > 1 ? Reads.sorted(answer.rows().stream()) : answer.rows();
        List<String> expected = read.expected(model, answer);
        history.checked(table, found.isEmpty());
        if (found.equals(expected))
            return;
        history.wrong(table, read + ": " + found + ", not " + expected + "; asked again: " + again(read) + shown(own) + shown(other));
        giveUp(own);
        giveUp(other);
    }

    private String again(Reads.Read read)
    {
        Answer answer = ask(read.request());
        return answer == null || answer.isError() ? "no answer" : answer.rows().toString();
    }

    private static String shown(Partition partition)
    {
        return "\n  partition " + partition.p + ":\n    " + String.join("\n    ", partition.written);
    }
}
