//! Real servers for tests: on free loopback ports, in folders that go away, and never outliving the test.
//!
//! Each is started through `setpriv --pdeathsig`, so that the kernel ends it with the thread that started it. A server
//! that is not installed makes a test fail under `LACUNA_REQUIRE=all`, as `make test` runs it, and is skipped in one line
//! otherwise.

mod etcd;
mod ferretdb;
mod mariadb;
mod port;
mod postgres;
mod process;
mod redis;
mod relay;
mod template;
mod tls_files;
mod wire;

pub use etcd::Etcd;
pub use ferretdb::FerretDb;
pub use mariadb::MariaDb;
pub use port::free_port;
pub use postgres::Postgres;
pub use process::{Process, is_installed};
pub use redis::Redis;
pub use tls_files::TlsFiles;
pub use wire::Wire;
