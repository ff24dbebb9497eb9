//! How full a server is.

use lacuna_cache_protocol::ports::CacheServer as _;
use lacuna_testkit::servers::Redis;

#[tokio::test]
async fn the_memory_of_a_server_is_told_in_percent_of_its_limit() {
    let Some(server) = Redis::cache() else { return };
    let cache = super::cache(&server);
    let mut plain = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    for (limit, percent) in [("0", 0..=0), ("1", 100..=100), ("1gb", 0..=1), ("4mb", 10..=90)] {
        let _: () = redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(limit).query(&mut plain).unwrap();
        let told = cache.memory_percent().await.unwrap();
        assert!(percent.contains(&told), "{told} percent of {limit}");
    }
}
