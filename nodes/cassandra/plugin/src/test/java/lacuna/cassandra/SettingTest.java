package lacuna.cassandra;

import static org.junit.Assert.assertEquals;

import com.google.common.util.concurrent.RateLimiter;
import org.junit.After;
import org.junit.Test;

public class SettingTest
{
    private static final String NAME = "lacuna.test.setting";

    @After
    public void unset()
    {
        System.clearProperty(NAME);
    }

    private static long of(String value)
    {
        System.setProperty(NAME, value);
        return Setting.of(NAME, 1_500, 100, 5_000);
    }

    @Test
    public void valuesWithinBoundsAreTaken()
    {
        assertEquals("of none", 1_500, Setting.of(NAME, 1_500, 100, 5_000));
        assertEquals(100, of("100"));
        assertEquals(3_000, of(" 3000 "));
        assertEquals(5_000, of("5000"));
    }

    @Test
    public void absurdValuesAreNot()
    {
        for (String low : new String[] { "0", "2", "-1", "99" })
            assertEquals(low, 100, of(low));
        assertEquals(5_000, of("5001"));
        for (String noNumber : new String[] { "", "1s", "1_000", "99999999999999999999" })
            assertEquals(noNumber, 1_500, of(noNumber));
    }

    /** A limiter takes no rate of 0: the class that has it would not load. */
    @Test
    public void aLimitOfNothingIsOneASecond()
    {
        System.setProperty(NAME, "0");
        assertEquals(1, RateLimiter.create(Setting.of(NAME, 200, 1, 1_000_000)).getRate(), 0);
    }
}
