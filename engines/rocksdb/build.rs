//! Compiles the C++ shim against the headers of the RocksDB that is linked.

use std::env;

const SOURCES: [&str; 4] =
    ["cpp/column_family.cc", "cpp/shim.cc", "cpp/raw_table.cc", "cpp/table_listener.cc"];
const HEADERS: [&str; 2] = ["cpp/lacuna_collector.h", "cpp/options_access.h"];

fn main() {
    for file in SOURCES.into_iter().chain(HEADERS) {
        println!("cargo::rerun-if-changed={file}");
    }
    let include = env::var_os("DEP_ROCKSDB_INCLUDE").expect("rust-librocksdb-sys names its headers");
    cc::Build::new()
        .cpp(true)
        .std("c++20")
        // RocksDB is built without type information; a subclass with it would not link.
        .flag_if_supported("-fno-rtti")
        .define("NDEBUG", None)
        .flag("-isystem")
        .flag(&include)
        .warnings_into_errors(true)
        .files(SOURCES)
        .compile("lacuna_rocksdb_shim");
}
