use std::time::Duration;

use lacuna_cache::ErrorKind;
use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache_protocol::ports::{CacheServer as _, LogServer as _};
use lacuna_cache_protocol::{CacheCall, Epoch, LogCall, RangeId};

/// Nothing listens there.
const NOWHERE: &str = "redis://127.0.0.1:1";

#[tokio::test]
async fn a_server_that_is_given_no_time_is_refused() {
    for patience in [Duration::ZERO, Duration::from_micros(999)] {
        let cache = RedisCache::new(NOWHERE, "test").unwrap().with_patience(patience);
        let log = RedisLog::new(NOWHERE, "test").unwrap().with_patience(patience);
        let refusals = [
            cache.check().await.unwrap_err(),
            cache.call(RangeId(1), Epoch(1), CacheCall::Fence).await.unwrap_err(),
            log.check().await.unwrap_err(),
            log.call(RangeId(1), Epoch(1), LogCall::Fence).await.unwrap_err(),
        ];
        for why in refusals {
            assert_eq!(why.kind(), ErrorKind::InvalidInput, "{patience:?}: {why}");
            assert!(why.to_string().contains("with_patience"), "{patience:?}: {why}");
        }
    }
    let short = RedisCache::new(NOWHERE, "test").unwrap().with_patience(Duration::from_millis(1));
    let why = short.check().await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Unavailable, "{why}");
}
