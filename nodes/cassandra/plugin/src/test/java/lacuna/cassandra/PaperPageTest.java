package lacuna.cassandra;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

import lacuna.cassandra.PaperTable.Column;

/** The page that the benchmark writes. */
public class PaperPageTest
{
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    @Test
    public void numbersHaveThreeDigits()
    {
        assertEquals("0", PaperPage.shown(0));
        assertEquals("0.0123", PaperPage.shown(0.01234));
        assertEquals("1.23", PaperPage.shown(1.2345));
        assertEquals("12.3", PaperPage.shown(12.345));
        assertEquals("12345", PaperPage.shown(12345));
        assertEquals("-", PaperPage.shown(1 / 0.0));
    }

    @Test
    public void tablesStandBesideThePapersWithRatios() throws Exception
    {
        Path out = folder.getRoot().toPath();
        PaperPage page = new PaperPage(List.of("# head"));
        PaperTable ours = new PaperTable("table-1", "Table 1", "deleted", "ms", List.of("all"), Printed.TABLE_1,
                                         List.of(new Column("no part", 8), new Column("safe", 2)), List.of("a note"));
        page.add(ours.after(List.of(new Column("stock", 4))).noting("one, more"));
        page.write(out);
        String text = Files.readString(out.resolve("cluster.md"));
        assertTrue(text, text.contains("| all | 56.7 | 0.0200 | 2836 | 4.00 | 8.00 | 0.500 | 2.00 | 2.00 |"));
        assertTrue(text, text.contains("- a note\n- one, more\n"));
        assertEquals("deleted,\"paper: Bloom, s\",\"paper: Cuckoo, s\",stock [ms],no part [ms],safe [ms]\nall,56.7100,0.0200000,4.00000,8.00000,2.00000\n",
                     Files.readString(out.resolve("cluster-table-1.csv")));
    }
}
