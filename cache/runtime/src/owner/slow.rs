//! Requests that take long, as events.
//!
//! Cost: where nothing takes events of this level, one look at a number; else two looks at the clock for a request that is
//! no hit.

use std::time::Duration;

use tokio::time::Instant;
use tracing::{Level, enabled};

/// How long a request may take without being an event.
const SLOW: Duration = Duration::from_secs(1);

/// When a request began; unknown where nothing would take the event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun(Option<Instant>);

impl Begun {
    pub(crate) fn now() -> Self {
        Self(enabled!(Level::INFO).then(Instant::now))
    }

    /// The milliseconds since then, if they are many.
    pub(crate) fn slow_ms(self) -> Option<u64> {
        let took = self.0?.elapsed();
        (took >= SLOW).then(|| u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
    }
}
