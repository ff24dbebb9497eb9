package lacuna.cassandra;

import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

/** What the start-up self-test looks through, on the Cassandra of this build. */
public class LinkageTest
{
    @Test
    public void everythingWeUseIsThere() throws Exception
    {
        new Linkage().check(name -> true);
    }

    @Test
    public void aMethodThatIsGoneIsNamed()
    {
        for (String gone : new String[] { "getRingVersion", "unsafeSetSerializer", "<init>", "readMetrics" })
        {
            Exception found = assertThrows(gone, NoSuchMethodException.class, () -> without(gone).check(name -> true));
            assertTrue(found.getMessage(), found.getMessage().startsWith("org.apache.cassandra.") && found.getMessage().contains("." + gone + " "));
        }
    }

    @Test
    public void onlyChosenClassesAreLookedThrough() throws Exception
    {
        without("getRingVersion").check(name -> !name.equals("Peers"));
    }

    /** As on a Cassandra that has nothing of this name. */
    private static Linkage without(String gone)
    {
        return new Linkage()
        {
            @Override
            boolean isThere(Reference reference) throws ClassNotFoundException
            {
                return !reference.name.equals(gone) && super.isThere(reference);
            }
        };
    }
}
