//! `lacuna cache dendrite`: real processes before PostgreSQL and Redis, killed, paused and cut off while clients work.

mod arguments;
#[path = "../../../../cache/runtime/tests/it/authority.rs"]
mod authority;
mod comes_back;
mod faults;
mod loads;
mod lost_log;
mod many;
#[path = "../../../../cache/runtime/tests/it/sql/nemesis.rs"]
#[allow(dead_code, reason = "the faults of other tests, too")]
pub(crate) mod nemesis;
#[path = "../../../../cache/runtime/tests/it/cluster/relay.rs"]
pub(crate) mod relay;
mod secure;
#[path = "../../../../cache/runtime/tests/it/sql/shared/mod.rs"]
#[allow(dead_code, reason = "the writers of other tests, too")]
pub(crate) mod shared;
mod shared_rows;
#[path = "../../../../cache/runtime/tests/it/sim/mod.rs"]
#[allow(dead_code, reason = "the checker of other tests, too")]
pub(crate) mod sim;
mod storm;
mod strangers;
pub(crate) mod team;
mod top;
mod types;
mod whole;
#[path = "../../../../cache/runtime/tests/it/sql/world.rs"]
#[allow(dead_code, reason = "the world of other tests, too")]
pub(crate) mod world;
