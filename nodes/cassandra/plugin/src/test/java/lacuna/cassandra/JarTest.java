package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

import org.junit.Test;

/** The jar that users install: it runs on Java 11, and has no switch for a fault, not in its classes, not in its native library. */
public class JarTest
{
    /** Of the node filters' own faults ({@code nodes/filters}, feature {@code flaws}), three names. */
    private static final List<String> NATIVE = List.of("acknowledgeatonce", "ignoregaps", "trustunknown");

    /** What Java 11 calls the version of its class files. */
    private static final int JAVA_11 = 55;

    /** That it calls nothing newer is the compiler's to refuse ({@code maven.compiler.release}). */
    @Test
    public void classFilesAreOfJava11() throws IOException
    {
        List<String> classes = new ArrayList<>();
        try (JarFile jar = new JarFile(System.getProperty("lacuna.jar")))
        {
            for (JarEntry entry : jar.stream().filter(file -> file.getName().endsWith(".class")).toList())
            {
                ByteBuffer head = ByteBuffer.wrap(jar.getInputStream(entry).readNBytes(8));
                assertEquals(entry.getName(), JAVA_11, head.getShort(6));
                classes.add(entry.getName());
            }
        }
        assertTrue(classes.toString(), classes.contains("lacuna/cassandra/LacunaQueryHandler.class"));
    }

    @Test
    public void jarHasNoFaultSwitches() throws IOException
    {
        List<String> words = new ArrayList<>(NATIVE);
        words.addAll(List.of("flaw", "damage_every", "pretend_missing", "lacuna_test", "lacuna.test"));
        Arrays.stream(Flaw.values()).filter(flaw -> flaw != Flaw.DEAF).map(Flaw::shown).forEach(words::add);
        boolean hasLibrary = false;
        try (JarFile jar = new JarFile(System.getProperty("lacuna.jar")))
        {
            for (JarEntry entry : jar.stream().toList())
            {
                String text = new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
                for (String word : words)
                    assertFalse(entry + " has " + word, entry.getName().toLowerCase(Locale.ROOT).contains(word) || text.contains(word));
                hasLibrary |= entry.getName().endsWith(".so") && text.length() > 100_000;
            }
        }
        assertTrue("the native library was looked through", hasLibrary);
    }
}
