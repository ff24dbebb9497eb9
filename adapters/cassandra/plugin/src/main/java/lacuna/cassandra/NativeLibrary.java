package lacuna.cassandra;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

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
        load(named == null ? unpacked() : Path.of(named));
    }

    static void load(Path library) throws IOException
    {
        System.load(library.toAbsolutePath().toString());
        check(Native.version());
    }

    static void check(long version) throws IOException
    {
        if (version != Native.VERSION)
            throw new IOException("native library of version " + version + ", wanted " + Native.VERSION);
    }

    /** A folder of its own, so that nobody else's file is taken; the file may go once it is loaded. */
    private static Path unpacked() throws IOException
    {
        String name = "/native/" + platform() + "/liblacuna_cassandra.so";
        Path parent = Path.of(System.getProperty("lacuna.native_dir", System.getProperty("java.io.tmpdir")));
        try (InputStream library = NativeLibrary.class.getResourceAsStream(name))
        {
            if (library == null)
                throw new IOException("the jar holds no " + name);
            Path folder = Files.createTempDirectory(Files.createDirectories(parent), "lacuna-native");
            Path file = folder.resolve("liblacuna_cassandra.so");
            Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
            file.toFile().deleteOnExit();
            folder.toFile().deleteOnExit();
            return file;
        }
    }

    private static String platform()
    {
        String architecture = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        return System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT) + "-" + architecture;
    }
}
