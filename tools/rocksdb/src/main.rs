//! `lacuna-rocksdb`: the command line of `lacuna` with RocksDB linked. `lacuna` runs it where RocksDB is needed.

use std::process::ExitCode;

fn main() -> ExitCode {
    lacuna_cli::run(&lacuna_rocksdb_tool::EXTRAS)
}
