package lacuna.cassandra;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.Verb;

/**
 * Mode safe: no acknowledgement leaves this node before everybody who relies on its filters knows what was written.
 *
 * <p>Answers to other nodes are taken out at the outbound sink and sent later, so nothing blocks. A client's own reply waits in
 * the query handler, since a write to the coordinator's own replica passes no sink. When nothing new was written, which is
 * the rule when keys are overwritten, nobody waits.
 *
 * <p>A row can be read before its write is acknowledged, and who has seen it must not be told "empty" afterwards. So scans,
 * which may meet any row, are held like acknowledgements, and a read of one partition waits if that partition is new
 * ({@link Revealing}).
 */
final class Acknowledgements
{
    private static final Set<Verb> VERBS = EnumSet.noneOf(Verb.class);
    private static final AtomicInteger safeTables = new AtomicInteger();
    private static volatile long safeUntil;
    private static final ConcurrentSkipListMap<Long, Runnable> held = new ConcurrentSkipListMap<>();
    private static final AtomicLong afterFailure = new AtomicLong(Long.MAX_VALUE / 2);
    private static final ThreadLocal<Boolean> released = ThreadLocal.withInitial(() -> false);

    static
    {
        for (Verb verb : Verb.values())
            if (verb.name().endsWith("_RSP") && verb.name().matches("MUTATION.*|READ_REPAIR.*|HINT.*|BATCH_STORE.*|PAXOS.*|RANGE.*"))
                VERBS.add(verb);
    }

    private Acknowledgements() {}

    static void install()
    {
        MessagingService.instance().outboundSink.add(Acknowledgements::leaves);
    }

    static void safeTableCame()
    {
        safeTables.incrementAndGet();
    }

    /**
     * Its filter may be relied on for a lease more, if this life granted it, or until the longest of the last life is over, although
     * it is told no keys: what tells so is waited for like keys.
     */
    static void safeTableWent()
    {
        safeUntil = Exchange.now() + Exchange.MAX_LEASE + Exchange.LEASE;
        safeTables.decrementAndGet();
    }

    private static boolean isNeeded()
    {
        return safeTables.get() > 0 || safeUntil > 0 && Exchange.now() < safeUntil;
    }

    static boolean isHolding()
    {
        return !held.isEmpty();
    }

    private static boolean leaves(Message<?> message, InetAddressAndPort to)
    {
        if (!isNeeded() || !VERBS.contains(message.verb()) || released.get() || !waits(message.verb()))
            return true;
        return mayLeave(() -> resend(message, to));
    }

    private static boolean waits(Verb verb)
    {
        return verb.name().startsWith("RANGE") ? Waits.current().forScans() : Waits.current().forWrites();
    }

    private static void resend(Message<?> message, InetAddressAndPort to)
    {
        released.set(true);
        try
        {
            MessagingService.instance().send(message, to);
        }
        finally
        {
            released.set(false);
        }
    }

    /**
     * Returns at once if nothing new is to be told; else when it is. That takes a lease at most, but for a stop of this process; only
     * where the exchange's thread has ended nobody would ever let go of it.
     */
    static void await()
    {
        if (!isNeeded())
            return;
        CountDownLatch told = new CountDownLatch(1);
        try
        {
            if (mayLeave(told::countDown) || Exchange.rounds().await(told, Exchange.MAX_LEASE + 2 * Exchange.LEASE))
                return;
            Exchange.failed("acknowledgement", new IllegalStateException("the exchange's thread has ended"));
            told.await(2 * Exchange.MAX_LEASE, TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException stopped)
        {
            // Nobody may be told that it is done.
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted before others knew what was written", stopped);
        }
    }

    /** Otherwise {@code later} runs when it may. */
    private static boolean mayLeave(Runnable later)
    {
        long ticket = ticket();
        if (ticket == 0)
            return true;
        Lacuna.COUNTERS.acknowledgementsHeld.increment();
        held.put(ticket, later);
        Exchange.wake();
        return false;
    }

    private static long ticket()
    {
        try
        {
            if (Exchange.isActive())
                return Exchange.checked(Native.hold(Exchange.hub(), Exchange.now()));
        }
        catch (Throwable failure)
        {
            Exchange.failed("hold", failure);
        }
        return isOverAfterFailure() ? 0 : afterFailure.incrementAndGet();
    }

    static boolean isOverAfterFailure()
    {
        return Exchange.now() > Exchange.failedAt() + Exchange.MAX_LEASE;
    }

    /** Lets go of those that may leave. */
    static void release()
    {
        if (held.isEmpty())
            return;
        long last = Exchange.isActive() ? Exchange.checked(Native.released(Exchange.hub(), Exchange.now()))
                                        : isOverAfterFailure() ? Long.MAX_VALUE : 0;
        Map.Entry<Long, Runnable> first = held.firstEntry();
        while (first != null && first.getKey() <= last)
        {
            if (held.remove(first.getKey(), first.getValue()))
                first.getValue().run();
            first = held.firstEntry();
        }
    }
}
