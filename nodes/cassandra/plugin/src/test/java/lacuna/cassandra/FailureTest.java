package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.Test;

/** What is counted and shown when something fails, in a process of its own: nothing there becomes active again. */
public class FailureTest
{
    private static final String SHOWN = "shown: ";

    @Test
    public void eachFailureIsCountedAndTheFirstReasonsAreShown() throws Exception
    {
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = List.of(System.getProperty("java.home") + "/bin/java", "-cp", classes, FailureTest.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        List<String> shown = printed.lines().filter(line -> line.startsWith(SHOWN)).map(line -> line.substring(SHOWN.length())).toList();
        assertEquals(printed, List.of("0", "1 message: java.io.IOException: first", "2 write: java.lang.AssertionError: second", "3"), shown);
    }

    /** The process. */
    public static void main(String[] arguments)
    {
        show(Long.toString(Lacuna.COUNTERS.failures.sum()));
        Exchange.fail("message", new IOException("first"));
        Exchange.fail("message", new IOException("it is inactive already"));
        show(Lacuna.COUNTERS.failures.sum() + " " + Exchange.reason());
        Lacuna.fail("write", new AssertionError("second"));
        show(Lacuna.COUNTERS.failures.sum() + " " + Lacuna.reason());
        Lacuna.fail("read", new AssertionError("third"));
        if (!Lacuna.reason().startsWith("write") || !Exchange.reason().startsWith("message"))
            show("other reasons: " + Lacuna.reason() + ", " + Exchange.reason());
        show(Long.toString(Lacuna.COUNTERS.failures.sum()));
    }

    private static void show(String line)
    {
        System.out.println(SHOWN + line);
    }
}
