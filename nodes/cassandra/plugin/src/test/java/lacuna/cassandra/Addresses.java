package lacuna.cassandra;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Addresses of the loopback net for nodes. */
final class Addresses
{
    private Addresses() {}

    /** In a random net of 127/8, one after another, where no process listens at these ports. */
    static List<String> free(int count, int... ports)
    {
        while (true)
        {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            String net = "127." + random.nextInt(1, 255) + "." + random.nextInt(1, 255) + ".";
            List<String> addresses = IntStream.rangeClosed(1, count).mapToObj(i -> net + i).collect(Collectors.toList());
            if (addresses.stream().allMatch(address -> IntStream.of(ports).allMatch(port -> isFree(address, port))))
                return addresses;
        }
    }

    /** In the same net. */
    static String neighbour(String address, int number)
    {
        return address.substring(0, address.lastIndexOf('.') + 1) + number;
    }

    private static boolean isFree(String address, int port)
    {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(address)))
        {
            return socket.isBound();
        }
        catch (IOException taken)
        {
            return false;
        }
    }
}
