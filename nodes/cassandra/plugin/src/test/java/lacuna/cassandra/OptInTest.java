package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.util.Map;

import org.apache.cassandra.exceptions.ConfigurationException;
import org.junit.Test;

/** What is read in a table's comment. */
public class OptInTest
{
    @Test
    public void optionsStandAnywhereInTheComment()
    {
        Map<String, String> safe = Map.of("mode", "safe", "bucket", "1h", "origin", "-2h");
        assertEquals(safe, OptIn.given("[lacuna mode=safe bucket=1h origin=-2h]"));
        assertEquals(safe, OptIn.given("Readings [kWh], by meter.\n[lacuna  mode=safe\n bucket=1h origin=-2h ] Ask Ada."));
        assertEquals(Map.of(), OptIn.given("[lacuna]"));
        assertEquals(Map.of("rate", "0.01"), OptIn.given("[lacuna rate=0.01]"));
    }

    @Test
    public void otherCommentsSayNothing()
    {
        for (String comment : new String[] { "", "lacuna mode=safe", "[lacunae mode=safe]", "[Lacunae]", "Lacuna: mode=safe" })
            assertNull(comment, OptIn.given(comment));
    }

    /** A mistake must not look like a table that was never meant to take part. */
    @Test
    public void mistakesAreNotPassedOver()
    {
        for (String comment : new String[] { "[lacuna", "[lacuna mode=safe", "[lacuna safe]", "[lacuna mode= safe]", "[lacuna mode=safe, rate=0.1]x[lacuna]",
                                             "[lacuna, mode=safe]", "[lacuna mode=safe mode=off]", "[lacuna mode==safe]", "[lacuna MODE=safe]",
                                             "[lacuna] [lacuna mode=safe]", "[lacuna mode='safe'] and [lacuna", "[ lacuna]", "[Lacuna mode=safe]", "[LACUNA]", "[lacuna] [Lacuna]" })
            assertThrows(comment, ConfigurationException.class, () -> OptIn.given(comment));
    }

    /** A filter of no bytes is given up at once, without a message. */
    @Test
    public void sizesThatHoldNothingAreRefused()
    {
        for (String name : new String[] { "bytes", "filter_bytes" })
        {
            var refused = assertThrows(ConfigurationException.class, () -> TableOptions.of(Map.of(name, "1023")));
            assertEquals(name + " must be at least 1024, not 1023", refused.getMessage());
            TableOptions.of(Map.of(name, "1024"));
        }
        assertThrows(ConfigurationException.class, () -> TableOptions.of(Map.of("rows", "0")));
        TableOptions.of(Map.of("rows", "1", "learn_every", "0"));
    }

    /** Else the table would take part anew. */
    @Test
    public void zerosAtTheEndOfARateChangeNothing()
    {
        for (String written : new String[] { "0.1", "0.10", "0.1000000000" })
        {
            TableOptions options = TableOptions.of(Map.of("rate", written));
            assertEquals(written, 0.1, options.rate, 0);
            assertEquals(written, Map.of("rate", "0.1"), options.given);
        }
        assertEquals(0.0000001, TableOptions.of(Map.of("rate", "0.00000010")).rate, 0);
    }

    @Test
    public void otherRatesAreRefused()
    {
        for (String rate : new String[] { "0", "0.", "0.0", "1", "1.0", ".1", "0,1", "1e-2", "-0.1", "0.00000001" })
        {
            var refused = assertThrows(rate, ConfigurationException.class, () -> TableOptions.of(Map.of("rate", rate)));
            assertEquals("rate must be above 0 and below 1, with at most seven digits, such as 0.01, not " + rate, refused.getMessage());
        }
    }

    @Test
    public void unknownOptionsAreRefused()
    {
        var refused = assertThrows(ConfigurationException.class, () -> TableOptions.of(Map.of("byte", "1", "mode", "safe")));
        assertEquals("unknown options [byte]", refused.getMessage());
    }
}
