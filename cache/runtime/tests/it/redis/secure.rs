//! Redis over TLS: whom it trusts, whom it shows a certificate, and what a listener sees.

use lacuna_cache::redis::{RedisCache, RedisLog, RedisTls};
use lacuna_cache_protocol::ports::{CacheServer, LogServer};
use lacuna_cache_protocol::{
    CacheCall, CacheReply, Command, Epoch, Error, ErrorKind, Interval, LogCall, LogReply,
};
use lacuna_cache_protocol::{RangeId, Write};
use lacuna_testkit::servers::Redis;

use crate::authority::{Authority, files};
use crate::redis::AT_MOST;

fn cache(url: &str, tls: RedisTls) -> RedisCache {
    RedisCache::new(url, "secure").unwrap().with_patience(AT_MOST).with_tls(tls).unwrap()
}

async fn refused(url: &str, tls: RedisTls) -> Error {
    cache(url, tls).check().await.unwrap_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_encrypted_server_is_believed_if_the_authority_has_signed_it() {
    let (authority, other) = (Authority::new("ours"), Authority::new("theirs"));
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start_encrypted(&files(folder.path(), &authority.sign("localhost"), None))
    else {
        return;
    };
    let (url, ours) = (redis.encrypted_url(), RedisTls::new(authority.pem()).unwrap());
    let server = cache(&url, ours.clone());
    server.check().await.unwrap();
    let fenced = server.call(RangeId(0), Epoch(1), CacheCall::Fence).await.unwrap();
    assert_eq!(fenced, CacheReply::Done);
    let log = RedisLog::new(&url, "secure").unwrap().with_patience(AT_MOST).with_tls(ours.clone()).unwrap();
    log.call(RangeId(0), Epoch(1), LogCall::Fence).await.unwrap();
    let write = Write { touched: vec![(0, Interval::all())], command: Command::new(b"raise") };
    assert_eq!(
        log.call(RangeId(0), Epoch(1), LogCall::Append([(1, write)].into())).await.unwrap(),
        LogReply::Done
    );
    // One sentence for each mistake.
    let unknown = refused(&url, RedisTls::new(other.pem()).unwrap()).await;
    assert!(
        unknown.kind() == ErrorKind::InvalidInput && unknown.to_string().contains("UnknownIssuer"),
        "{unknown}"
    );
    let by_number = refused(&url.replace("localhost", "127.0.0.1"), ours.clone()).await;
    assert!(by_number.to_string().contains("not valid for name"), "{by_number}");
    // A server that does not speak TLS says nothing to it.
    let plain_port = RedisCache::new(&redis.url().replace("redis://", "rediss://"), "secure").unwrap();
    let plain_port = plain_port.with_tls(ours.clone()).unwrap().check().await.unwrap_err();
    assert!(plain_port.to_string().contains("in time, or does not speak TLS there"), "{plain_port}");
    let without = RedisCache::new(&url, "secure").unwrap().check().await.unwrap_err();
    assert!(without.to_string().contains("authority"), "{without}");
    let not_asked = RedisCache::new(&redis.url(), "secure").unwrap().with_tls(ours).unwrap_err();
    assert!(not_asked.to_string().contains("rediss://"), "{not_asked}");
    let no_pem = RedisTls::new("what is no PEM").unwrap_err();
    assert!(no_pem.to_string().contains("no certificate"), "{no_pem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_asks_for_a_certificate_is_shown_one() {
    let (authority, other) = (Authority::new("ours"), Authority::new("theirs"));
    let folder = tempfile::tempdir().unwrap();
    let server = authority.sign("localhost");
    let Some(redis) = Redis::start_encrypted(&files(folder.path(), &server, Some(&authority))) else {
        return;
    };
    let url = redis.encrypted_url();
    let believing = || RedisTls::new(authority.pem()).unwrap();
    let mine = authority.sign("dendrite");
    let shown = believing().with_client_certificate(mine.certificate.clone(), mine.key).unwrap();
    cache(&url, shown).check().await.unwrap();
    let foreign = other.sign("dendrite");
    let foreign = believing().with_client_certificate(foreign.certificate, foreign.key).unwrap();
    for tls in [believing(), foreign] {
        let why = refused(&url, tls).await;
        println!("without a certificate that counts: {why}");
        assert!(!why.to_string().contains('\n'), "one sentence: {why}");
    }
    let another = authority.sign("another");
    let mixed = believing().with_client_certificate(mine.certificate, another.key).unwrap_err();
    assert!(mixed.to_string().contains("key of the client certificate"), "{mixed}");
}
