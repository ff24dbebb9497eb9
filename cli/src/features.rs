//! Cargo features that this binary was built without.

use lacuna_base::Error;

use crate::errors::Failure;

/// A cargo feature that adds something to the command line.
pub(crate) struct Feature {
    /// The part that it adds, for messages.
    adds: &'static str,
    /// The command that builds `lacuna` with it, in the checkout.
    build: &'static str,
}

/// RocksDB, which takes minutes and a compiler for C++ to build.
#[cfg(not(feature = "rocksdb"))]
pub(crate) const ROCKSDB: Feature = Feature {
    adds: "RocksDB",
    build: ".ci/with-rocksdb cargo build --release -p lacuna-cli --features rocksdb",
};

/// The range cache, which needs drivers of databases.
#[cfg(not(feature = "cache"))]
pub(crate) const CACHE: Feature =
    Feature { adds: "the range cache", build: "cargo build --release -p lacuna-cli --features cache" };

/// The proxy before PostgreSQL, which needs a parser of SQL.
#[cfg(not(feature = "proxy"))]
pub(crate) const PROXY: Feature =
    Feature { adds: "the proxy", build: "cargo build --release -p lacuna-cli --features proxy" };

/// Completions, manual pages and suggestions for typing errors.
#[cfg(not(feature = "terminal"))]
pub(crate) const TERMINAL: Feature = Feature {
    adds: "completions and manual pages",
    build: "cargo build --release -p lacuna-cli --features terminal",
};

impl Feature {
    /// The failure of a command that needs it.
    pub(crate) fn is_missing(&self) -> Failure {
        let Self { adds, build } = self;
        Failure::BadInput(Error::invalid_input(format!(
            "this `lacuna` was built without {adds}; in the checkout, `{build}` builds one that has it"
        )))
    }
}
