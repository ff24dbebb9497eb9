package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class FilterFillTest
{
    private static final long GB = 1L << 30;

    @Test
    public void bytesOnDiskGrowUpToTheWholeFile()
    {
        for (long rows : new long[] { 1, GB, 20 * GB, 8_000 * GB })
            for (long file : new long[] { 1, GB, 8 * GB, 9_000 * GB })
            {
                long before = 0;
                for (int step = 1; step <= 1_000; step++)
                {
                    long onDisk = FilterFill.onDisk(rows / 1_000 * step, file, rows);
                    assertTrue(rows + " in " + file + ": " + onDisk, onDisk >= before && onDisk <= file);
                    before = onDisk;
                }
                assertEquals(file, FilterFill.onDisk(rows, file, rows));
            }
        assertEquals("of an empty file", 0, FilterFill.onDisk(0, 0, 0));
    }

    @Test
    public void halfOfTheDataIsInHalfOfTheFile()
    {
        assertEquals(4 * GB, FilterFill.onDisk(10 * GB, 8 * GB, 20 * GB));
    }
}
