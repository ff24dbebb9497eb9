package lacuna.cassandra;

import java.util.List;

/** Where a history happens: tables, in one cluster or in several, that must give the same answers. */
interface Stores
{
    /** Asks all of them, through the node with this number; the answers as they are. */
    List<Answer> ask(Request request, int node);

    /** Fails if two of the answers differ, and gives the one that the model is about. */
    Answer agreed(Request request, List<Answer> answers);

    void flushAll();

    void compactAll();
}
