package lacuna.cassandra;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import org.junit.Test;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

/** The network that the benchmark puts between nodes. */
public class RelayTest
{
    private static final long SEED = 7;
    private static final long DELAY_MICROS = 20_000;
    private static final String NET = "127.77." + ProcessHandle.current().pid() % 250 + ".";

    @Test
    public void bytesArriveLateWholeAndCounted() throws Exception
    {
        byte[] said = new byte[3 << 20];
        new Random(SEED).nextBytes(said);
        // As Cassandra's greeting: a few bytes, then the address of who opened the connection.
        System.arraycopy(InetAddress.getByName(NET + "101").getAddress(), 0, said, 9, 4);
        byte[] answer = Arrays.copyOf(said, 100);
        try (ServerSocket second = new ServerSocket(0, 8, InetAddress.getByName(NET + "2"));
             Relay relay = new Relay(List.of(NET + "1", NET + "2"), List.of(NET + "101", NET + "102"), second.getLocalPort(), DELAY_MICROS);
             Socket first = new Socket(NET + "102", second.getLocalPort()))
        {
            long start = System.nanoTime();
            Thread saying = new Thread(() -> say(first, said));
            saying.start();
            try (Socket met = second.accept())
            {
                assertArrayEquals(said, met.getInputStream().readAllBytes());
                say(met, answer);
            }
            assertArrayEquals(answer, first.getInputStream().readAllBytes());
            assertTrue("later than both ways take", System.nanoTime() - start >= TimeUnit.MICROSECONDS.toNanos(2 * DELAY_MICROS));
            saying.join();
            assertEquals(new Relay.Traffic(answer.length, said.length), relay.traffic(0));
            assertEquals(new Relay.Traffic(said.length, answer.length), relay.traffic(1));
        }
    }

    @Test
    public void connectionToANodeThatIsDownIsClosed() throws Exception
    {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName(NET + "3")))
        {
            port = free.getLocalPort();
        }
        try (Relay relay = new Relay(List.of(NET + "3"), List.of(NET + "103"), port, 0);
             Socket lonely = new Socket(NET + "103", port))
        {
            assertEquals(-1, lonely.getInputStream().read());
            assertEquals(new Relay.Traffic(0, 0), relay.traffic(0));
        }
    }

    private static void say(Socket to, byte[] bytes)
    {
        try
        {
            to.getOutputStream().write(bytes);
            to.shutdownOutput();
        }
        catch (IOException failure)
        {
            throw new AssertionError(failure);
        }
    }
}
