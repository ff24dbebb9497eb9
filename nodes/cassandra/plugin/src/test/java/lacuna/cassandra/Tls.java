package lacuna.cassandra;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** TLS between the nodes of a cluster, which all have the same key and trust its certificate. */
final class Tls
{
    private static final String PASSWORD = "of-tests";

    private Tls() {}

    /** The part of the configuration by which nodes take no other connection. Makes the key. */
    static String yaml(Path folder) throws IOException
    {
        Path store = folder.resolve("nodes.p12").toAbsolutePath();
        make(store);
        return String.join("\n  ", "server_encryption_options:", "internode_encryption: all", "require_client_auth: true", "store_type: PKCS12",
                           "keystore: " + store, "keystore_password: " + PASSWORD, "truststore: " + store, "truststore_password: " + PASSWORD);
    }

    private static void make(Path store) throws IOException
    {
        Process keytool = new ProcessBuilder(System.getProperty("java.home") + "/bin/keytool", "-genkeypair", "-alias", "node", "-keyalg", "RSA",
                                             "-keysize", "2048", "-validity", "3650", "-dname", "CN=node", "-storetype", "PKCS12", "-keystore",
                                             store.toString(), "-storepass", PASSWORD).redirectErrorStream(true).start();
        String printed = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.onExit().join().exitValue() != 0)
            throw new IOException("no key for TLS: " + printed);
    }
}
