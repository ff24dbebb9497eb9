//! Commits that are in the log of the database before reads show them.

use std::thread;
use std::time::Duration;

use lacuna_proxy::Flaw;

use super::{READ, admin, before, logged, logged_with, prepared, warm};
use crate::cache::setting::{Setting, ask, login, run};
use crate::raw::{Raw, query};
use crate::world::eventually;

/// From now on commits of this session wait for a standby that never comes.
fn commits_wait(setting: &Setting, stranger: &mut Raw) {
    admin(setting, "ALTER SYSTEM SET synchronous_commit = 'local'");
    admin(setting, "ALTER SYSTEM SET synchronous_standby_names = 'not_there'");
    admin(setting, "SELECT pg_reload_conf()");
    eventually("the setting is known", || {
        ask(stranger, "SHOW synchronous_standby_names").as_deref() == Some("not_there")
    });
    run(stranger, "SET synchronous_commit = on");
    // A reading of the catalogue that finds other settings begins with no results.
    thread::sleep(Duration::from_millis(1_500));
}

/// A commit is in the log before reads show it.
fn commit_that_waits(flaw: Option<Flaw>) -> Option<(Option<String>, Option<String>)> {
    let setting = if let Some(flaw) = flaw { logged_with(flaw)? } else { logged()? };
    let (mut reader, mut stranger) =
        (setting.session_of("reader", &[]), login(setting.server_port(), "postgres", &[]));
    commits_wait(&setting, &mut stranger);
    warm(&setting, &mut reader, READ);
    let logged = setting.counts().logged;
    let process = ask(&mut stranger, "SELECT pg_backend_pid()").unwrap();
    stranger.send(&query("UPDATE orders SET note = 'new' WHERE customer = 7"));
    eventually("the commit is in the log", || setting.counts().logged > logged);
    // It was not confirmed, and reads do not show it. What they find now must not be kept.
    let during = ask(&mut reader, READ);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(ask(&mut reader, READ), during);
    // The commit waits no longer.
    admin(&setting, &format!("SELECT pg_cancel_backend({process})"));
    assert!(stranger.until_ready().iter().any(|(tag, _)| *tag == b'C'), "it has committed");
    Some((during, ask(&mut reader, READ)))
}

#[test]
fn a_commit_that_reads_do_not_show_yet_is_not_missed() {
    let Some(seen) = commit_that_waits(None) else { return };
    assert_eq!(seen, (Some("n7".to_owned()), Some("new".to_owned())));
    // On a busy machine the cache may be closed for a moment, so that the server answers.
    let is_seen = |_| {
        commit_that_waits(Some(Flaw::NoSettling)).is_some_and(|(_, after)| after.as_deref() == Some("n7"))
    };
    assert!((0..10).any(is_seen), "the flaw would be seen");
}

/// A column is registered while a commit waits that touches it, and that was read in the log before.
fn commit_that_waits_for_a_column(flaw: Option<Flaw>) -> Option<Option<String>> {
    let by_id = "SELECT note FROM orders WHERE id = 7";
    let setting = before(prepared()?, |settings| {
        let settings = settings.with_registration();
        if let Some(flaw) = flaw { settings.with_flaw(flaw) } else { settings }
    });
    let (mut reader, mut stranger) =
        (setting.session_of("reader", &[]), login(setting.server_port(), "postgres", &[]));
    commits_wait(&setting, &mut stranger);
    let (logged, process) = (setting.counts().logged, ask(&mut stranger, "SELECT pg_backend_pid()").unwrap());
    stranger.send(&query("UPDATE orders SET note = 'new' WHERE id = 7"));
    eventually("the commit is in the log", || setting.counts().logged > logged);
    let column = "public.orders.id".parse().unwrap();
    let became = setting.runtime.block_on(setting.proxy().register(&column)).unwrap();
    assert_eq!(became, [("public.orders.id".to_owned(), Ok(true))]);
    setting.opens();
    // What these find must not be kept.
    for _ in 0..20 {
        assert_eq!(ask(&mut reader, by_id).as_deref(), Some("n7"));
    }
    admin(&setting, &format!("SELECT pg_cancel_backend({process})"));
    assert!(stranger.until_ready().iter().any(|(tag, _)| *tag == b'C'), "it has committed");
    let seen = ask(&mut reader, by_id);
    if flaw.is_none() {
        warm(&setting, &mut reader, by_id);
        admin(&setting, "UPDATE orders SET note = 'newer' WHERE customer = 7");
        assert_eq!(ask(&mut reader, by_id).as_deref(), Some("newer"));
    }
    Some(seen)
}

#[test]
fn a_commit_of_before_a_registration_is_not_missed() {
    let Some(seen) = commit_that_waits_for_a_column(None) else { return };
    assert_eq!(seen.as_deref(), Some("new"));
    let is_seen =
        |_| commit_that_waits_for_a_column(Some(Flaw::NoSettling)).flatten().as_deref() == Some("n7");
    assert!((0..10).any(is_seen), "the flaw would be seen");
}
