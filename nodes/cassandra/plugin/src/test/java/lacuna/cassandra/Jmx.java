package lacuna.cassandra;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

import javax.management.Attribute;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** What a node offers to its operators, at a port of its own. */
final class Jmx
{
    static final String STORAGE_SERVICE = "org.apache.cassandra.db:type=StorageService";

    private static final Set<Integer> PORTS = ConcurrentHashMap.newKeySet();

    final int port = freePort();

    private interface Use<R>
    {
        R of(MBeanServerConnection server) throws Exception;
    }

    /** A port at which no process listens, below those that systems give to connections: a node that comes back finds it free. */
    private static int freePort()
    {
        while (true)
        {
            int port = ThreadLocalRandom.current().nextInt(22_000, 32_000);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress()))
            {
                // A node that was not started yet listens at none.
                if (PORTS.add(port))
                    return socket.getLocalPort();
            }
            catch (IOException taken)
            {
                Thread.onSpinWait();
            }
        }
    }

    boolean has(String bean)
    {
        return use(bean, server -> server.isRegistered(new ObjectName(bean)));
    }

    Object attribute(String bean, String name)
    {
        return use(name, server -> server.getAttribute(new ObjectName(bean), name));
    }

    void set(String bean, String name, Object value)
    {
        use(name, server ->
        {
            server.setAttribute(new ObjectName(bean), new Attribute(name, value));
            return null;
        });
    }

    Object invoke(String bean, String operation, Object[] arguments, String... types)
    {
        return use(operation, server -> server.invoke(new ObjectName(bean), operation, arguments, types));
    }

    private <R> R use(String what, Use<R> use)
    {
        try (JMXConnector connector = JMXConnectorFactory.connect(url()))
        {
            return use.of(connector.getMBeanServerConnection());
        }
        catch (Exception failure)
        {
            throw new IllegalStateException(what + " at port " + port, failure);
        }
    }

    private JMXServiceURL url() throws IOException
    {
        return new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi");
    }
}
