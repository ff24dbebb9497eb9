package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Set;
import java.util.UUID;

import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** The file of a filter: its bytes, and what of it is not taken. */
public class SavedFilterTest
{
    private static final SavedFilter.Name NAME = new SavedFilter.Name(1, -2, 2, 0.01, 1);
    private static final Set<UUID> SSTABLES = Set.of(new UUID(3, 4));
    /** One filter of three bytes in a version that stays readable. */
    private static final String GOLDEN = "4c434e46" + "01010000" + "0100000000000000" + "feffffffffffffff" + "0200000000000000"
                                         + "7b14ae47e17a843f" + "01000000" + "01000000" + "0300000000000000" + "0400000000000000"
                                         + "0a0b0c";
    private static Path folder;

    @BeforeClass
    public static void folder() throws Exception
    {
        folder = Files.createTempDirectory("lacuna-saved");
    }

    @AfterClass
    public static void gone() throws Exception
    {
        for (Path file : Files.list(folder).toList())
            Files.delete(file);
        Files.delete(folder);
    }

    private static SavedFilter filter(boolean isWhole)
    {
        return new SavedFilter(NAME, isWhole, SSTABLES, ByteBuffer.wrap(new byte[] { 10, 11, 12 }));
    }

    private static byte[] bytes() throws Exception
    {
        return Files.readAllBytes(NAME.in(folder));
    }

    private static SavedFilter of(byte[] bytes)
    {
        return SavedFilter.of(NAME, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    }

    @Test
    public void bytesOfTheFileStay() throws Exception
    {
        filter(true).write(folder);
        String written = HexFormat.of().formatHex(bytes());
        assertTrue(written, written.startsWith(GOLDEN) && written.length() == GOLDEN.length() + 8);
    }

    @Test
    public void whatWasWrittenIsRead() throws Exception
    {
        for (boolean isWhole : new boolean[] { true, false })
        {
            filter(isWhole).write(folder);
            SavedFilter read = SavedFilter.read(NAME, folder);
            assertEquals(isWhole, read.isWhole);
            assertEquals(SSTABLES, read.sstables);
            assertEquals(ByteBuffer.wrap(new byte[] { 10, 11, 12 }), read.filter);
        }
    }

    @Test
    public void anyFlippedBitAndAnyCutIsFound() throws Exception
    {
        filter(true).write(folder);
        byte[] bytes = bytes();
        assertNotNull(of(bytes));
        for (int bit = 0; bit < 8 * bytes.length; bit++)
        {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            assertNull("bit " + bit, of(damaged));
        }
        for (int length = 0; length < bytes.length; length++)
        {
            Files.write(NAME.in(folder), java.util.Arrays.copyOf(bytes, length));
            assertNull(length + " bytes", SavedFilter.read(NAME, folder));
        }
    }

    @Test
    public void filtersOfOtherTablesAndOptionsAreNotTaken() throws Exception
    {
        filter(true).write(folder);
        ByteBuffer file = ByteBuffer.wrap(bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (SavedFilter.Name other : new SavedFilter.Name[] { new SavedFilter.Name(2, -2, 2, 0.01, 1), new SavedFilter.Name(1, -3, 2, 0.01, 1),
                                                               new SavedFilter.Name(1, -2, 1, 0.01, 1), new SavedFilter.Name(1, -2, 2, 0.02, 1),
                                                               new SavedFilter.Name(1, -2, 2, 0.01, 16) })
            assertNull(other.in(folder) + ", rate " + other.rate + ", sample " + other.sample,
                       SavedFilter.of(other, file.duplicate().order(ByteOrder.LITTLE_ENDIAN)));
        assertNull("no file", SavedFilter.read(new SavedFilter.Name(9, 9, 2, 0.01, 1), folder));
    }
}
