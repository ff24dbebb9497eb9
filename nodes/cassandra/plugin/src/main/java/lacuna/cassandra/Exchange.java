package lacuna.cassandra;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.memory.MemoryUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exchange of node filters: the native hub, the one thread that lets it work, and whether it may be relied on.
 *
 * <p>Any failure ends the exchange until the node restarts: it decides, grants and announces nothing more. Other nodes may rely on
 * earlier leases until these end; acknowledgements wait that long ({@link Acknowledgements}).
 */
final class Exchange
{
    private static final Logger LOGGER = LoggerFactory.getLogger(Exchange.class);

    /** Milliseconds between exchanges. */
    private static final long INTERVAL = Setting.of("lacuna.interval_millis", 1_000, 10, 60_000);
    /** The longest lease that any life of this node has granted, as in the library: after a start, nothing is acknowledged for this long. */
    static final long MAX_LEASE = 5_000;
    /** Milliseconds that others may rely on this node; below Cassandra's write timeout of two seconds. A third of it passes between requests. */
    static final long LEASE = Setting.of("lacuna.lease_millis", 1_500, 100, MAX_LEASE);
    /** Memory of the copies of others' filters, for each mode. */
    private static final long COPY_BYTES = Setting.of("lacuna.copy_bytes", 1L << 30, 1 << 20, 1L << 40);
    /** Milliseconds in which files of filters are begun when the node stops. */
    static final long SAVE_MILLIS = TimeUnit.SECONDS.toMillis(Setting.of("lacuna.save_at_end_seconds", 60, 0, 3_600));
    /** Numbers of counters of the library. */
    private static final long DAMAGED = 2;
    private static final long SLOTS_OPENED = 4;
    private static final long WRITES_STREAMED = 5;
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long HOLDING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static long hub;
    /** A word of the library's. */
    private static ByteBuffer news;
    private static boolean hasClock;
    private static long startedAt;
    private static volatile boolean active;
    private static volatile String reason = "";
    private static volatile long failedAt;
    private static volatile Thread thread;
    private static final Rounds ROUNDS = new Rounds();
    private static final AtomicBoolean woken = new AtomicBoolean();
    /** When the sizes of filters are looked at again. */
    private static long nextLook;
    /** Whether files that no table has were looked for. */
    private static boolean isTidy;
    private static ByteBuffer outgoing = ByteBuffer.allocateDirect(1 << 16);

    static
    {
        try
        {
            NativeLibrary.load();
            hasClock = Native.now() >= 0;
            startedAt = now();
            // The node is 0 to itself; others are known by their host ids.
            hub = checked(Native.open(0, 0, incarnation(), now(), INTERVAL, LEASE, COPY_BYTES));
            news = MemoryUtil.getByteBuffer(checked(Native.news(hub)), Long.BYTES, ByteOrder.nativeOrder());
            active = true;
        }
        catch (Throwable unusable)
        {
            reason = "the native library cannot be used: " + unusable;
            // Nodes that relied on this node's last life may do so until their leases end.
            failedAt = Math.max(1, now());
            startedAt = failedAt;
            LOGGER.warn("Lacuna: the exchange of node filters is inactive, because the native library cannot be used", unusable);
        }
    }

    private Exchange() {}

    /** The name of this life, which no other life of this node has: a clock may be put back. */
    static long incarnation()
    {
        return RANDOM.nextLong();
    }

    /**
     * Milliseconds of a clock that goes on while the machine sleeps, if there is one. Java's own stands still: good enough to let
     * others stop relying on this node, not to rely on them ({@link #mayRely}).
     */
    static long now()
    {
        return hasClock ? Native.now() : TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    /** When this life began. */
    static long startedAt()
    {
        return startedAt;
    }

    /** Whether leases may be counted here; without, tables in mode safe take no part. */
    static boolean mayRely()
    {
        return hasClock;
    }

    static long hub()
    {
        return hub;
    }

    static boolean isActive()
    {
        return active;
    }

    /**
     * Whether nothing is new: every node that relies on this one knows all that was written here before. To be asked after what was
     * written has become visible. It costs a look at memory, not a call.
     */
    static boolean isQuiet()
    {
        return active && hasClock && (long) WORD.getVolatile(news, 0) == 0;
    }

    /** Why it is not active; empty while it is. */
    static String reason()
    {
        return reason;
    }

    /** When it ceased to be active; 0 while it is. */
    static long failedAt()
    {
        return failedAt;
    }

    static void fail(String where, Throwable failure)
    {
        if (end(where, failure))
            Lacuna.COUNTERS.failures.increment();
    }

    /** For a failure that is counted already; whether it was active until now. */
    static boolean end(String where, Throwable failure)
    {
        if (!active)
            return false;
        LOGGER.error("Lacuna: the exchange of node filters is inactive until this node restarts: {} failed", where, failure);
        stop(where + ": " + failure);
        return true;
    }

    /** As after a failure: acknowledgements wait once for the longest lease, then for nothing. What is written from now on is in no filter. */
    static void switchOff()
    {
        if (!active)
            return;
        LOGGER.info("Lacuna: the exchange of node filters is switched off until this node restarts");
        stop("switched off");
    }

    private static void stop(String why)
    {
        reason = why;
        failedAt = Math.max(1, now());
        active = false;
    }

    /** The answer of a native call that did not fail. */
    static long checked(long answer)
    {
        if (answer == Native.FAILED)
            throw new IllegalStateException("a call of the native library failed");
        return answer;
    }

    /** Messages that came with a wrong checksum. */
    static long framesDamaged()
    {
        return counted(DAMAGED);
    }

    /** Parts of tables that were opened for streams of new keys. */
    static long slotsOpened()
    {
        return counted(SLOTS_OPENED);
    }

    /** Writes that brought something new into such a part: they waited until other nodes knew of its opening, at most. */
    static long writesStreamed()
    {
        return counted(WRITES_STREAMED);
    }

    private static long counted(long what)
    {
        long sum = 0;
        for (Mode mode : Mode.values())
            if (mode != Mode.OFF && active)
                sum += Native.counter(hub, mode.number(), what);
        return sum;
    }

    /** Whether a peer's filters may be used now in a mode: there is a lease, or in mode eventual they are young enough. */
    static boolean mayRelyOn(Mode mode, UUID peer)
    {
        return active && Native.mayRelyOn(hub, mode.number(), now(), peer.getMostSignificantBits(), peer.getLeastSignificantBits()) == 1;
    }

    /** A number about the exchange of all modes, as the library numbers them ({@code Hub::of_node}). */
    static long ofAllModes(int what)
    {
        long sum = 0;
        for (Mode mode : Mode.values())
            if (mode != Mode.OFF && active)
                sum += Math.max(0, Native.ofNode(hub, mode.number(), now(), what));
        return sum;
    }

    /** The same of mode safe; 0 while no table is in it. */
    static long ofSafe(int what)
    {
        boolean isUsed = active && Lacuna.guards().stream().anyMatch(guard -> guard.filter.mode == Mode.SAFE);
        return isUsed ? Math.max(0, Native.ofNode(hub, Mode.SAFE.number(), now(), what)) : 0;
    }

    /** Called once a table takes part; also where the exchange is inactive, since acknowledgements may be held. */
    static synchronized void start()
    {
        if (thread != null)
            return;
        thread = new Thread(Exchange::run, "lacuna-exchange");
        thread.setDaemon(true);
        thread.start();
        // Once everything is on disk.
        StorageService.instance.addPostShutdownHook(Exchange::saveAll);
    }

    private static void saveAll()
    {
        long end = now() + SAVE_MILLIS;
        int left = 0;
        for (TableGuard guard : Lacuna.guards())
            if (now() < end)
                guard.filter.builds.saveAtEnd();
            else
                left++;
        if (left > 0)
            LOGGER.warn("Lacuna: {} filters were not saved within {} ms: the next start reads the SSTables that came since their last files", left, SAVE_MILLIS);
    }

    /** The rounds of the exchange's thread. */
    static Rounds rounds()
    {
        return ROUNDS;
    }

    /** There is something to publish, or an answer waits. */
    static void wake()
    {
        if (woken.compareAndSet(false, true))
            LockSupport.unpark(thread);
    }

    private static void run()
    {
        while (true)
        {
            if (!woken.get())
                LockSupport.parkNanos(Acknowledgements.isHolding() ? HOLDING_NANOS : IDLE_NANOS);
            woken.set(false);
            try
            {
                if (active)
                    work();
                Acknowledgements.release();
                Lacuna.forgetDropped();
            }
            catch (Throwable failure)
            {
                fail("exchange", failure);
            }
            ROUNDS.record();
        }
    }

    private static void work()
    {
        Peers.refresh();
        checked(Native.flush(hub, now()));
        checked(Native.tick(hub, now()));
        send();
        lookAtSizes();
    }

    private static void lookAtSizes()
    {
        if (now() < nextLook)
            return;
        nextLook = now() + INTERVAL;
        Lacuna.guards().forEach(guard -> guard.filter.builds.lookAfter());
        if (!isTidy && StorageService.instance.isInitialized() && SchemaWatch.isSettled())
        {
            isTidy = true;
            FilterContents.deleteLeftovers(Lacuna.guards());
        }
    }

    /** Sends all that the hub has to say. */
    static synchronized void send()
    {
        while (true)
        {
            long length = checked(Native.take(hub, MemoryUtil.getAddress(outgoing), outgoing.capacity()));
            if (length == 0)
                return;
            if (length > 0)
                Wire.send(outgoing, Math.toIntExact(length));
            else
                outgoing = ByteBuffer.allocateDirect(Math.toIntExact(-length)).order(ByteOrder.BIG_ENDIAN);
        }
    }
}
