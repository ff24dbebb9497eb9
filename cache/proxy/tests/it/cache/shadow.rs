//! A cache that answers nothing: what it would have said is compared with what the server says.

use std::time::Duration;

use lacuna_proxy::{CacheSettings, Flaw, Options, ShadowCounts};

use super::replies::{SHAPES, asked, modes};
use super::setting::{Setting, TABLE, ask, run, runtime, server, settings};
use super::tap::Tap;
use crate::raw::query;
use crate::transcripts::are_the_same;
use crate::world::{eventually, psql};

const READ: &str = "SELECT note FROM orders WHERE customer = 7";

fn shadow(setting: &Setting) -> ShadowCounts {
    setting.counts().shadow.unwrap()
}

#[test]
fn the_server_answers_what_is_compared() {
    let Some(setting) = Setting::with(CacheSettings::with_shadow) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    for note in ["n7", "new"] {
        setting.opens();
        let before = shadow(&setting);
        for _ in 0..3 {
            assert_eq!(ask(&mut reader, READ).as_deref(), Some(note));
        }
        let after = shadow(&setting);
        assert_eq!((after.would_be_hits - before.would_be_hits, after.equal - before.equal), (2, 2));
        run(&mut writer, "UPDATE orders SET note = 'new' WHERE customer = 7");
    }
    let counts = setting.counts();
    assert_eq!((counts.hits, counts.filled), (0, 2), "{}", counts.report());
    assert!(counts.report().contains("4 would-be hits: 4 equal, 0 different, 0 not compared"));
    assert!(!shadow(&setting).time.is_zero());
}

/// Each shape in each form is what the server says, and is compared.
#[test]
fn replies_of_a_shadow_are_those_of_the_server() {
    let Some(setting) = Setting::with(CacheSettings::with_shadow) else { return };
    let (mut direct, mut proxied) = (setting.direct(), setting.session_of("reader", &[]));
    for text in SHAPES {
        for mode in modes() {
            let expected = asked(&mut direct, text, mode);
            for _ in 0..3 {
                assert_eq!(asked(&mut proxied, text, mode), expected, "{text} {mode:?}");
            }
        }
    }
    let counts = shadow(&setting);
    let least = u64::try_from(2 * SHAPES.len() * modes().len()).unwrap();
    assert_eq!((setting.counts().hits, counts.different), (0, 0), "{:?}", counts.last);
    assert!(counts.equal >= least && counts.uncertain.is_empty(), "{least}: {counts:?}");
    let admin = |sql: &str| drop(psql(&setting.postgres.url(), &["-c", sql]).expect_success());
    are_the_same(setting.server_port(), setting.proxy().address().port(), admin);
}

/// The read comes when the cache still has the row as it was, and reaches the server when the write was confirmed.
#[test]
fn a_write_that_is_confirmed_meanwhile_is_no_difference() {
    let Some(postgres) = server(TABLE) else { return };
    let port = postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
    let tap = Tap::before(port, Duration::ZERO);
    let runtime = runtime();
    let upstream = format!("postgres://127.0.0.1:{}?sslmode=disable", tap.port).parse().unwrap();
    let options =
        Options::new(upstream).with_cache(settings(&postgres, "public.orders.customer").with_shadow());
    let proxy = runtime.block_on(options.start()).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"));
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"));
    for (write, is_compared) in [
        ("UPDATE orders SET note = 'far' WHERE customer = 8", true),
        ("UPDATE orders SET note = 'new' WHERE customer = 7", false),
    ] {
        let before = shadow(&setting);
        *tap.stopped_text.lock().unwrap() = Some("SELECT note");
        reader.send(&query(READ));
        eventually("the read has come", || shadow(&setting).would_be_hits == before.would_be_hits + 1);
        run(&mut writer, write);
        *tap.stopped_text.lock().unwrap() = None;
        let answer = super::setting::value(&reader.until_ready());
        assert_eq!(answer.as_deref(), Some(if is_compared { "n7" } else { "new" }), "the server's own");
        let after = shadow(&setting);
        assert_eq!(after.different, 0, "{:?}", after.last);
        assert_eq!(
            (after.equal > before.equal, after.not_compared()),
            (is_compared, u64::from(!is_compared))
        );
    }
}

#[test]
fn a_write_that_is_not_held_is_found_at_once() {
    let Some(setting) = Setting::with(|settings| settings.with_shadow().with_flaw(Flaw::NoHold)) else {
        return;
    };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"));
    run(&mut writer, "UPDATE orders SET note = 'another' WHERE customer = 7");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("another"), "the answer is the server's");
    let found = shadow(&setting);
    assert_eq!((found.would_be_hits, found.equal, found.different), (1, 0, 1));
    let [difference] = &found.last[..] else { panic!("{found:?}") };
    assert_eq!(difference.column, "public.orders.customer");
    assert_eq!(difference.interval, ("7".to_owned(), "7".to_owned()));
    assert_eq!(difference.shape, "SELECT note FROM orders WHERE customer = ?");
    assert_eq!(difference.bytes.1 - difference.bytes.0, "another".len() - "n7".len());
    assert!(setting.counts().report().contains("1 different"), "{}", setting.counts().report());
}

#[test]
fn a_reply_for_another_role_is_found_by_the_servers_refusal() {
    let sql = format!("{TABLE}; CREATE ROLE outsider LOGIN");
    let of =
        |flaw| Setting::of(&sql, "public.orders.customer", |settings| settings.with_shadow().with_flaw(flaw));
    let Some(setting) = of(Flaw::NoRole) else { return };
    ask(&mut setting.session_of("reader", &[]), READ);
    assert_eq!(setting.session_of("outsider", &[]).ask(READ), "EZ");
    let found = shadow(&setting);
    assert_eq!((found.different, found.last[0].what), (1, "the server refuses it"));
}

/// A client that goes while the server works leaves a would-be hit that is not compared.
#[test]
fn what_never_comes_is_not_compared() {
    let Some(setting) = Setting::with(CacheSettings::with_shadow) else { return };
    let mut reader = setting.session_of("reader", &[]);
    ask(&mut reader, READ);
    for _ in 0..20 {
        let mut leaving = setting.session_of("reader", &[]);
        leaving.send(&query(READ));
    }
    eventually("each would-be hit has an end", || {
        let counts = shadow(&setting);
        counts.would_be_hits == 20 && counts.equal + counts.not_compared() == 20
    });
    assert_eq!(shadow(&setting).different, 0);
}
