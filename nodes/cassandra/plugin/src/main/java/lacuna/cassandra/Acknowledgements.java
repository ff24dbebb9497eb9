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
 * the query handler, because a write to the coordinator's own replica passes no sink. An answer waits for its own partitions
 * alone ({@link News}): a write of known keys waits for nothing, nor does a write to a table that is not in mode safe.
 *
 * <p>A row can be read before its write is acknowledged, and a client that has read it must not get "empty" afterwards. So scans,
 * which may meet any row, are held like acknowledgements, and a read of one partition waits if that partition is new
 * ({@link Revealing}).
 */
final class Acknowledgements
{
    private static final Set<Verb> VERBS = EnumSet.noneOf(Verb.class);
    /** The requests whose responses are among these. */
    private static final Set<Verb> ASKING = EnumSet.noneOf(Verb.class);
    private static final AtomicInteger safeTables = new AtomicInteger();
    private static volatile long safeUntil;
    private static volatile boolean isStarting = true;
    private static final ConcurrentSkipListMap<Held, Runnable> held = new ConcurrentSkipListMap<>();
    private static final AtomicLong lastNumber = new AtomicLong();
    private static final Requests requests = new Requests();
    /** Of answers that wait for the end of all leases, after a failure. */
    private static final long AFTER_FAILURE = Long.MAX_VALUE;
    private static final ThreadLocal<Boolean> isSentAgain = ThreadLocal.withInitial(() -> false);

    /** An answer that waits: by ticket, then by number, since several have one ticket. */
    private static final class Held implements Comparable<Held>
    {
        final long ticket;
        final long number;

        Held(long ticket, long number)
        {
            this.ticket = ticket;
            this.number = number;
        }

        @Override
        public int compareTo(Held other)
        {
            return ticket == other.ticket ? Long.compare(number, other.number) : Long.compare(ticket, other.ticket);
        }
    }

    static
    {
        for (Verb verb : Verb.values())
            if (verb.name().matches("(MUTATION|READ_REPAIR|HINT|PAXOS|RANGE).*_RSP"))
                VERBS.add(verb);
        for (Verb verb : Verb.values())
            if (verb.responseVerb != null && VERBS.contains(verb.responseVerb))
                ASKING.add(verb);
    }

    private Acknowledgements() {}

    static void install()
    {
        MessagingService.instance().inboundSink.add(Acknowledgements::remember);
        MessagingService.instance().outboundSink.add(Acknowledgements::mayLeave);
    }

    private static boolean remember(Message<?> message)
    {
        if (ASKING.contains(message.verb()) && isNeeded())
            requests.record(message);
        return true;
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
        return safeTables.get() > 0 || safeUntil > 0 && Exchange.now() < safeUntil || isStarting();
    }

    /** How many answers wait now. */
    static long waiting()
    {
        return held.size();
    }

    static boolean isHolding()
    {
        return !held.isEmpty();
    }

    private static boolean mayLeave(Message<?> message, InetAddressAndPort to)
    {
        if (!isNeeded() || !VERBS.contains(message.verb()) || isSentAgain.get() || !waits(message.verb()))
            return true;
        return mayLeave(requests.answered(to, message.id()), () -> resend(message, to));
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
     * Returns at once if none of these news is to be announced, otherwise when lease holders know it. That takes a lease at most, unless this
     * process is stopped. If the exchange's thread has ended, nothing would release the caller, so the exchange fails then.
     */
    static void await(News news)
    {
        if (!isNeeded())
            return;
        CountDownLatch released = new CountDownLatch(1);
        try
        {
            if (mayLeave(news, released::countDown) || Exchange.rounds().await(released, Exchange.MAX_LEASE + 2 * Exchange.LEASE))
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
    private static boolean mayLeave(News news, Runnable later)
    {
        // In a life before, a table may have ended its part, of which other nodes have not heard; so in the beginning all answers wait.
        boolean isEarly = isStarting();
        long ticket = ticket(isEarly ? News.ANYTHING : news);
        if (ticket == 0)
            return true;
        Lacuna.COUNTERS.acknowledgementsHeld.increment();
        held.put(new Held(ticket, lastNumber.incrementAndGet()), later);
        // No table may take part yet, and then nothing else has started the exchange.
        if (isEarly)
            Exchange.start();
        Exchange.wake();
        return false;
    }

    private static boolean isStarting()
    {
        if (isStarting)
            isStarting = Exchange.now() <= Exchange.startedAt() + Exchange.MAX_LEASE;
        return isStarting;
    }

    private static long ticket(News news)
    {
        try
        {
            if (!news.isSafe())
                return 0;
            if (Exchange.isActive())
                return news.ticket();
        }
        catch (Throwable failure)
        {
            Exchange.fail("hold", failure);
        }
        return isOverAfterFailure() ? 0 : AFTER_FAILURE;
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
        Map.Entry<Held, Runnable> first = held.firstEntry();
        while (first != null && first.getKey().ticket <= last)
        {
            if (held.remove(first.getKey(), first.getValue()))
                first.getValue().run();
            first = held.firstEntry();
        }
    }
}
