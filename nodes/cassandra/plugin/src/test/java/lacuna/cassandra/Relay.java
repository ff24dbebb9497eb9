package lacuna.cassandra;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A network between nodes of one machine: what they say to each other is late by a given time and is counted.
 *
 * <p>Every node listens at an inner address and tells the others an outer one ({@code broadcast_address}), where this
 * relay listens. Each chunk of bytes has the time at which it may go on, so a delay costs no throughput. Connections begin
 * with the name of who opened them, which tells whose bytes they are. Bytes are those inside TCP.
 */
final class Relay implements AutoCloseable
{
    private static final int CHUNK_BYTES = 64 << 10;
    /** Chunks on their way in one direction; a sender waits if there are more. */
    private static final int MAX_CHUNKS = 256;
    /** Bytes at the start of a connection that hold the name. */
    private static final int GREETING_BYTES = 32;
    private static final int CONNECT_MILLIS = 5_000;

    private record Chunk(long due, byte[] bytes) {}

    /** Bytes of one node from and to all others. */
    record Traffic(long received, long sent) {}

    private final List<InetSocketAddress> inner = new ArrayList<>();
    private final List<byte[]> outer = new ArrayList<>();
    private final List<ServerSocket> doors = new ArrayList<>();
    private final LongAdder[] received;
    private final LongAdder[] sent;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final long delayNanos;

    /** Stands between nodes that listen at the inner addresses; {@code delayMicros} is the time of one way. */
    Relay(List<String> innerAddresses, List<String> outerAddresses, int port, long delayMicros) throws IOException
    {
        this.delayNanos = TimeUnit.MICROSECONDS.toNanos(delayMicros);
        this.received = adders(innerAddresses.size());
        this.sent = adders(innerAddresses.size());
        for (int node = 0; node < received.length; node++)
        {
            inner.add(new InetSocketAddress(innerAddresses.get(node), port));
            InetAddress address = InetAddress.getByName(outerAddresses.get(node));
            outer.add(address.getAddress());
            doors.add(new ServerSocket(port, 128, address));
            int at = node;
            start("relay-door", () -> accept(at));
        }
    }

    private static LongAdder[] adders(int count)
    {
        LongAdder[] adders = new LongAdder[count];
        Arrays.setAll(adders, i -> new LongAdder());
        return adders;
    }

    private static Thread start(String name, Runnable work)
    {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Since the start. */
    Traffic traffic(int node)
    {
        return new Traffic(received[node].sum(), sent[node].sum());
    }

    private void accept(int node)
    {
        while (true)
            try
            {
                Socket from = doors.get(node).accept();
                start("relay", () -> carry(from, node));
            }
            catch (IOException closed)
            {
                return;
            }
    }

    private void carry(Socket from, int node)
    {
        try (from; Socket to = new Socket())
        {
            open.addAll(List.of(from, to));
            to.connect(inner.get(node), CONNECT_MILLIS);
            from.setTcpNoDelay(true);
            to.setTcpNoDelay(true);
            byte[] greeting = new byte[CHUNK_BYTES];
            int length = from.getInputStream().read(greeting);
            if (length < 0)
                return;
            int opener = opener(greeting, length);
            Thread back = start("relay-back", () -> pass(new byte[0], to, from, node, opener));
            pass(Arrays.copyOf(greeting, length), from, to, opener, node);
            back.join();
        }
        catch (IOException | InterruptedException ended)
        {
            // One of the two has gone: closing both tells the other.
            return;
        }
        finally
        {
            open.remove(from);
            open.removeIf(Socket::isClosed);
        }
    }

    /** The node whose outer address the greeting holds; -1 if it is none of them. */
    private int opener(byte[] greeting, int length)
    {
        for (int at = 0; at + 4 <= Math.min(length, GREETING_BYTES); at++)
            for (int node = 0; node < outer.size(); node++)
                if (Arrays.equals(greeting, at, at + 4, outer.get(node), 0, 4))
                    return node;
        return -1;
    }

    /** Until the end of what one side has to say has arrived at the other. */
    private void pass(byte[] first, Socket from, Socket to, int sender, int receiver)
    {
        BlockingQueue<Chunk> underWay = new ArrayBlockingQueue<>(MAX_CHUNKS);
        Thread late = start("relay-late", () -> deliver(underWay, from, to));
        try
        {
            InputStream input = from.getInputStream();
            byte[] buffer = new byte[CHUNK_BYTES];
            byte[] bytes = first;
            for (int length = first.length; length >= 0; length = input.read(buffer), bytes = Arrays.copyOf(buffer, Math.max(0, length)))
                if (length > 0)
                {
                    count(sender, receiver, length);
                    underWay.put(new Chunk(System.nanoTime() + delayNanos, bytes));
                }
            underWay.put(new Chunk(System.nanoTime() + delayNanos, null));
            late.join();
        }
        catch (IOException | InterruptedException ended)
        {
            // What is under way arrives nowhere any more.
            late.interrupt();
        }
    }

    private void count(int sender, int receiver, int length)
    {
        if (sender >= 0)
            sent[sender].add(length);
        if (receiver >= 0)
            received[receiver].add(length);
    }

    private static void deliver(BlockingQueue<Chunk> underWay, Socket from, Socket to)
    {
        try
        {
            OutputStream output = to.getOutputStream();
            for (Chunk chunk = underWay.take(); chunk.bytes != null; chunk = underWay.take())
            {
                for (long left = chunk.due - System.nanoTime(); left > 0; left = chunk.due - System.nanoTime())
                    LockSupport.parkNanos(left);
                output.write(chunk.bytes);
            }
            to.shutdownOutput();
        }
        catch (IOException | InterruptedException ended)
        {
            closeQuietly(from);
            closeQuietly(to);
            // A thread that waits for room goes on, and meets the closed socket.
            underWay.clear();
        }
    }

    private static void closeQuietly(AutoCloseable socket)
    {
        try
        {
            socket.close();
        }
        catch (Exception alreadyGone)
        {
            return;
        }
    }

    @Override
    public void close()
    {
        doors.forEach(Relay::closeQuietly);
        open.forEach(Relay::closeQuietly);
    }
}
