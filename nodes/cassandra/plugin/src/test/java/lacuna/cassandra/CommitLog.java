package lacuna.cassandra;

/** When the nodes of a test cluster write their commit log to disk, and so what a kill loses. */
enum CommitLog
{
    /** Before each acknowledgement: a kill loses nothing that was acknowledged. Only such nodes may be killed. */
    SYNCED("commitlog_sync: batch"),
    /** As Cassandra's own settings have it, for measurements: a kill loses the last moment's writes. */
    PERIODIC("commitlog_sync: periodic\ncommitlog_sync_period: 1000ms"),
    /** A kill loses all that was not flushed: with compression, a section is written when it is synced and not before. */
    LOST("commitlog_sync: periodic\ncommitlog_sync_period: 3600s\ncommitlog_compression:\n  - class_name: LZ4Compressor");

    final String yaml;

    CommitLog(String yaml)
    {
        this.yaml = yaml;
    }
}
