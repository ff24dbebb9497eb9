//! Asks dendrites for their metrics, all at once.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::sample::Sample;
use crate::http_get::get;

/// How long a dendrite may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// What each dendrite said, in the order of `dendrites`, or why it did not.
pub(super) async fn all(dendrites: &[String]) -> Vec<Result<Sample, String>> {
    let mut asked = JoinSet::new();
    for (place, address) in dendrites.iter().cloned().enumerate() {
        asked.spawn(async move { (place, one(&address).await) });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

async fn one(address: &str) -> Result<Sample, String> {
    let text =
        timeout(PATIENCE, get(address, "/metrics")).await.map_err(|_| "no answer in time".to_owned())??;
    Sample::read(&text)
}
