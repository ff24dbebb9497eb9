package lacuna.cassandra;

/**
 * The native library's functions: {@code nodes/cassandra/native/src/calls} explains each.
 *
 * <p>All numbers. A UUID is two longs, the hash of a key too; a buffer is the address of a direct one. The answer
 * {@link #FAILED} means that the mode is of no use any more.
 */
final class Native
{
    /** Must be the library's own; raised with every change on either side. */
    static final long VERSION = 8;
    static final long FAILED = Long.MIN_VALUE;

    private Native() {}

    static native long version();

    static native long now();

    static native long open(long high, long low, long incarnation, long now, long interval, long lease, long copyBytes);

    static native long ring(long hub, long version, long address, long count);

    static native long create(long hub, long mode, long tableHigh, long tableLow, long capacity, double rate, long finest,
                              long maxBytes);

    static native long ingest(long hub, long mode, long tableHigh, long tableLow, long writes);

    static native long beginRebuild(long hub, long mode, long tableHigh, long tableLow, long capacity, double rate);

    static native long table(long hub, long mode, long tableHigh, long tableLow, long what);

    static native long want(long hub, long mode, long tableHigh, long tableLow, long address, long count);

    static native long load(long hub, long mode, long tableHigh, long tableLow, long first, long second, long hasPlace, long place,
                            long isRebuild);

    static native long save(long hub, long mode, long tableHigh, long tableLow, long address, long room);

    static native long restore(long hub, long mode, long tableHigh, long tableLow, long address, long length, long keepsDead);

    static native long write(long hub, long mode, long tableHigh, long tableLow, long first, long second, long hasPlace, long place,
                             long now);

    static native long bury(long hub, long mode, long tableHigh, long tableLow, long first, long second, long time);

    static native long buryRows(long hub, long mode, long tableHigh, long tableLow, long first, long second, long from, long to,
                                long time);

    static native long buryRowsBeyond(long hub, long mode, long tableHigh, long tableLow, long first, long second, long end, long pair,
                                      long from, long to, long time);

    static native long mayReveal(long hub, long mode, long tableHigh, long tableLow, long first, long second, long now);

    static native long forwarded(long hub, long mode, long tableHigh, long tableLow, long first, long second, long hasPlace,
                                 long place, long now, long peerHigh, long peerLow);

    static native long isEmpty(long hub, long mode, long tableHigh, long tableLow, long first, long second);

    static native long decide(long hub, long mode, long now, long address, long words);

    static native long waterMark(long hub, long mode, long now, long address, long words, long end);

    static native long ownWaterMark(long hub, long mode, long tableHigh, long tableLow, long first, long second, long end);

    static native long news(long hub);

    static native long tick(long hub, long now);

    static native long flush(long hub, long now);

    static native long receive(long hub, long mode, long now, long fromHigh, long fromLow, long address, long length);

    static native long take(long hub, long address, long room);

    static native long hold(long hub, long now);

    static native long holdKey(long hub, long tableHigh, long tableLow, long first, long second, long now);

    static native long released(long hub, long now);

    static native long ofOwn(long hub, long mode, long tableHigh, long tableLow, long what);

    static native long ofPeer(long hub, long mode, long tableHigh, long tableLow, long peerHigh, long peerLow, long what);

    static native long counter(long hub, long mode, long what);

    static native long mayRelyOn(long hub, long mode, long now, long peerHigh, long peerLow);

    static native long ofNode(long hub, long mode, long now, long what);
}
