//! Suggestions.
use crate::follow::Seen;
/// S
#[derive(Debug, Default)]
pub struct Suggestions;
impl Suggestions {
    pub(crate) fn record(&self, seen: Seen) {
        drop(seen);
    }
}
