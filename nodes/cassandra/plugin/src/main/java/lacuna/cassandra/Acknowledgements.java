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
 * Mode safe: no acknowledgement leaves this node before every node that relies on its filters knows what was written.
 *
 * <p>Responses to other nodes are taken out at the outbound sink and sent later, so no thread blocks. A client's reply waits in
 * the query handler, because a write to the coordinator's own replica passes no sink. A write of known keys waits for nothing.
 *
 * <p>A row can be read before its write is acknowledged, and a client that has read it must not get "empty" afterwards. So scans,
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
    private static final ThreadLocal<Boolean> isSentAgain = ThreadLocal.withInitial(() -> false);

    static
    {
        for (Verb verb : Verb.values())
            if (verb.name().endsWith("_RSP") && verb.name().matches("MUTATION.*|READ_REPAIR.*|HINT.*|BATCH_STORE.*|PAXOS.*|RANGE.*"))
                VERBS.add(verb);
    }

    private Acknowledgements() {}

    static void install()
    {
        MessagingService.instance().outboundSink.add(Acknowledgements::mayLeave);
    }

    static void addSafeTable()
    {
        safeTables.incrementAndGet();
    }

    /**
     * Other nodes may rely on its filter until the leases of this life, or the longest one of the life before, have ended. The
     * announcement that the filter is gone is waited for like new keys.
     */
    static void removeSafeTable()
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

    private static boolean mayLeave(Message<?> message, InetAddressAndPort to)
    {
        if (!isNeeded() || !VERBS.contains(message.verb()) || isSentAgain.get() || !waits(message.verb()))
            return true;
        return mayLeave(() -> resend(message, to));
    }

    private static boolean waits(Verb verb)
    {
        return verb.name().startsWith("RANGE") ? Waits.current().forScans() : Waits.current().forWrites();
    }

    private static void resend(Message<?> message, InetAddressAndPort to)
    {
        isSentAgain.set(true);
        try
        {
            MessagingService.instance().send(message, to);
        }
        finally
        {
            isSentAgain.set(false);
        }
    }

    /**
     * Returns at once if nothing new is to be announced, otherwise when lease holders know it. That takes a lease at most, unless this
     * process is stopped. If the exchange's thread has ended, nothing would release the caller, so the exchange fails then.
     */
    static void await()
    {
        if (!isNeeded())
            return;
        CountDownLatch released = new CountDownLatch(1);
        try
        {
            if (mayLeave(released::countDown) || Exchange.rounds().await(released, Exchange.MAX_LEASE + 2 * Exchange.LEASE))
                return;
            Exchange.fail("acknowledgement", new IllegalStateException("thread lacuna-exchange has ended"));
            released.await(2 * Exchange.MAX_LEASE, TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException stopped)
        {
            // The client must not hear that the write is done.
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted before all lease holders knew the written keys", stopped);
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
            Exchange.fail("hold", failure);
        }
        return isOverAfterFailure() ? 0 : afterFailure.incrementAndGet();
    }

    static boolean isOverAfterFailure()
    {
        return Exchange.now() > Exchange.failedAt() + Exchange.MAX_LEASE;
    }

    /** Sends what may leave now. */
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
