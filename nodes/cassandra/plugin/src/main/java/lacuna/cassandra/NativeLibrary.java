package lacuna.cassandra;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Brings the native library out of the jar into this process.
 *
 * <p>{@code -Dlacuna.native_library=FILE} names another one; {@code -Dlacuna.native_dir=FOLDER} says where to unpack, for
 * machines on which nothing in the temporary folder may be executed.
 */
final class NativeLibrary
{
    private NativeLibrary() {}

    /** Throws whatever kept it from being loaded, or an {@link IOException} if it is not this plug-in's. */
    static void load() throws IOException
    {
        String named = System.getProperty("lacuna.native_library");
        if (named == null)
            loadUnpacked();
        else
            load(Path.of(named));
    }

    /** From a new folder, so that no other program's file is loaded; both are deleted once it is loaded, so no crash leaves them. */
    private static void loadUnpacked() throws IOException
    {
        Path parent = Path.of(System.getProperty("lacuna.native_dir", System.getProperty("java.io.tmpdir")));
        Path folder = Files.createTempDirectory(Files.createDirectories(parent), "lacuna-native");
        Path file = folder.resolve("liblacuna_cassandra.so");
        try
        {
            unpack(file);
            load(file);
        }
        finally
        {
            Files.deleteIfExists(file);
            Files.deleteIfExists(folder);
        }
    }

    static void load(Path library) throws IOException
    {
        System.load(library.toAbsolutePath().toString());
        check(Native.version());
    }

    static void check(long version) throws IOException
    {
        if (version != Native.VERSION)
            throw new IOException("the native library has version " + version + ", the jar needs version " + Native.VERSION);
    }

    private static void unpack(Path file) throws IOException
    {
        String name = "/native/" + platform() + "/" + file.getFileName();
        try (InputStream library = NativeLibrary.class.getResourceAsStream(name))
        {
            if (library == null)
                throw new IOException("the jar has no native library for this machine: " + name + " is missing");
            Files.copy(library, file);
        }
    }

    private static String platform()
    {
        String architecture = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        return System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT) + "-" + architecture;
    }
}
