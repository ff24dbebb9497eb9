//! Members that are reached with TLS, and that ask for a certificate or a password.

use lacuna_cache::etcd::EtcdOptions;
use lacuna_cache_protocol::{Epoch, RangeId, RangeTable};
use lacuna_cache_protocol::{Error, ErrorKind};
use lacuna_testkit::servers::Etcd;

use crate::authority::{Authority, files};
use crate::etcd::claims::{claimed, open, options, renewed};

/// So long that no member is given up because the machine is out of breath.
const LEASE_S: u64 = 60;
const PASSWORD: &str = "what only root knows";

fn encrypted(etcd: &Etcd, name: &str) -> EtcdOptions {
    let options = EtcdOptions::new(etcd.encrypted_url(), name)
        .with_address("here:1")
        .with_range_table(RangeTable::new(1));
    options.with_lease_s(LEASE_S).without_foreign_routes()
}

/// Why a process is not let in, which is no matter of waiting.
async fn refused(options: EtcdOptions) -> Error {
    let why = options.open().await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput, "{why}");
    why
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_encrypted_member_is_believed_if_the_authority_has_signed_it() {
    let (authority, other) = (Authority::new("ours"), Authority::new("theirs"));
    let folder = tempfile::tempdir().unwrap();
    let Some(etcd) = Etcd::start_encrypted(&files(folder.path(), &authority.sign("localhost"), None)) else {
        return;
    };
    let process = open(encrypted(&etcd, "tls").with_authority(authority.pem())).await;
    let tenure = claimed(&process, RangeId(0)).await.unwrap();
    assert!(renewed(&process, tenure.epoch).await);
    let unknown = refused(encrypted(&etcd, "tls").with_authority(other.pem())).await;
    assert!(unknown.to_string().contains("UnknownIssuer"), "{unknown}");
    let by_number =
        encrypted(&etcd, "tls").with_endpoint(etcd.encrypted_url().replace("localhost", "127.0.0.1"));
    let elsewhere = refused(by_number.with_authority(authority.pem())).await;
    assert!(elsewhere.to_string().contains("not valid for name"), "{elsewhere}");
    let none = refused(encrypted(&etcd, "tls")).await;
    assert!(none.to_string().contains("authority is needed"), "{none}");
    let no_pem = refused(encrypted(&etcd, "tls").with_authority("what is no PEM")).await;
    assert!(no_pem.to_string().contains("no certificate"), "{no_pem}");
    let plain = refused(options(&etcd, "tls", "here:2").with_authority(authority.pem())).await;
    assert!(plain.to_string().contains("not encrypted"), "{plain}");
    let wrong_port = encrypted(&etcd, "tls").with_endpoint(etcd.url().replace("etcd://", "etcds://"));
    let wrong = wrong_port.with_authority(authority.pem()).open().await.unwrap_err();
    assert!(wrong.to_string().contains("not reached"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_asks_for_a_certificate_is_shown_one() {
    // A member shows its own certificate to itself, too.
    let (authority, other) = (Authority::new("ours"), Authority::new("theirs"));
    let folder = tempfile::tempdir().unwrap();
    let server = authority.sign("localhost");
    let Some(etcd) = Etcd::start_encrypted(&files(folder.path(), &server, Some(&authority))) else { return };
    let believing = || encrypted(&etcd, "mutual").with_authority(authority.pem());
    let mine = authority.sign("dendrite");
    let process = open(believing().with_client_certificate(mine.certificate.clone(), mine.key.clone())).await;
    assert!(claimed(&process, RangeId(0)).await.is_some());
    // The member hangs up, which may be heard before or after it is asked something.
    for options in [believing(), {
        let foreign = other.sign("dendrite");
        believing().with_client_certificate(foreign.certificate, foreign.key)
    }] {
        let why = options.open().await.unwrap_err();
        assert!(why.to_string().contains("etcd"), "{why}");
    }
    let another = authority.sign("another");
    let mixed = refused(believing().with_client_certificate(mine.certificate, another.key)).await;
    assert!(mixed.to_string().contains("key of the client certificate"), "{mixed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_is_let_in_with_its_password_and_gets_new_tokens() {
    let Some(mut etcd) = Etcd::start(1) else { return };
    etcd.ask_for_passwords(PASSWORD);
    let process = open(options(&etcd, "auth", "here:1").with_user("root", PASSWORD)).await;
    let tenure = claimed(&process, RangeId(0)).await.unwrap();
    assert!(renewed(&process, tenure.epoch).await);
    for (user, password) in [("root", "a guess"), ("nobody", PASSWORD)] {
        let why = refused(options(&etcd, "auth", "here:2").with_user(user, password)).await;
        assert!(why.to_string().contains(user) && why.to_string().contains("password"), "{why}");
        assert!(!why.to_string().contains(PASSWORD), "{why}");
    }
    let without = options(&etcd, "auth", "here:2").open().await.unwrap_err();
    assert!(without.to_string().contains("user name is empty"), "{without}");
    // A member that restarts knows no token any more.
    for _ in 0..2 {
        etcd.restart(0);
        assert!(renewed(&process, tenure.epoch).await, "with a new token");
    }
    assert!(tenure.epoch > Epoch(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_of_an_etcd_without_users_is_an_error() {
    let Some(etcd) = Etcd::start(1) else { return };
    let why = refused(options(&etcd, "open", "here:1").with_user("root", PASSWORD)).await;
    assert!(why.to_string().contains("not enabled"), "{why}");
}

#[test]
fn passwords_and_keys_are_not_printed() {
    let options = EtcdOptions::new("etcds://here:1", "name")
        .with_user("root", PASSWORD)
        .with_authority("authority")
        .with_client_certificate("certificate", "the very key");
    let shown = format!("{options:?}");
    assert!(!shown.contains(PASSWORD) && !shown.contains("the very key"), "{shown}");
}
