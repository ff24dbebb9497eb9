//! What a dendrite does for all of them: it says what is asked of its ranges, and gives those back that are to be cut.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_shell::Dendrite;
use lacuna_store_etcd::EtcdCoordinator;

/// How often it looks whether ranges are to be cut.
const LOOK: Duration = Duration::from_millis(250);
/// How often it says what was asked of its ranges, in looks.
const REPORT_LOOKS: u64 = 20;

/// Until the process ends.
pub(super) async fn run(etcd: Arc<EtcdCoordinator>, dendrite: Dendrite) {
    let mut looks = 0;
    loop {
        tokio::time::sleep(LOOK).await;
        looks += 1;
        etcd.seen().to_stop(etcd.holder()).into_iter().for_each(|range| dendrite.leave(range));
        if looks % REPORT_LOOKS == 0 {
            // What is not told now is told next time, with what comes.
            drop(etcd.report(&dendrite.loads().await).await);
        }
    }
}
