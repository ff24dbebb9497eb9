//! Columns that are taken off the list while the proxy runs.

use lacuna_proxy::{Auto, AutoCounts, CacheSettings, Registered};

use super::setting::{Setting, TABLE, ask, run, start};
use crate::raw::Raw;
use crate::world::eventually;

const BY_ID: &str = "SELECT note FROM orders WHERE id = 7";
const BY_CUSTOMER: &str = "SELECT note FROM orders WHERE customer = 7";
const ID: &str = "public.orders.id";
const CUSTOMER: &str = "public.orders.customer";

/// A second table of the same rows.
const NOTES: &str = "CREATE TABLE notes AS TABLE orders; GRANT SELECT ON notes TO reader";

fn changing(sql: &str, columns: &str) -> Option<Setting> {
    Setting::of(sql, columns, CacheSettings::with_registration)
}

/// Whether each column was registered.
fn unregister(setting: &Setting, columns: &str) -> Vec<bool> {
    let all: Registered = columns.parse().unwrap();
    let became = setting.runtime.block_on(setting.proxy().unregister(&all)).unwrap();
    let names: Vec<&str> = became.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names.join(","), columns);
    became.into_iter().map(|(_, was_registered)| was_registered).collect()
}

/// The claim of a table is given up after a second, which a busy machine may take for it.
fn register(setting: &Setting, column: &str) {
    is_registered(setting, column);
    setting.opens();
}

/// Puts it on the list; the cache may stay closed for now.
fn is_registered(setting: &Setting, column: &str) {
    let columns = column.parse().unwrap();
    eventually(column, || {
        let became = setting.runtime.block_on(setting.proxy().register(&columns)).unwrap();
        became == [(column.to_owned(), Ok(true))]
    });
}

/// The columns that the page shows.
fn shown(setting: &Setting) -> Vec<String> {
    let columns = setting.proxy().monitor().cache_status().unwrap().columns;
    columns.into_iter().map(|one| one.column).collect()
}

fn is_hit(setting: &Setting, reader: &mut Raw, read: &str) {
    eventually(read, || setting.counted(|| drop(run(reader, read))) == (1, 0));
}

fn is_relayed(setting: &Setting, reader: &mut Raw, read: &str) {
    for _ in 0..3 {
        assert_eq!(setting.counted(|| drop(run(reader, read))), (0, 0), "{read}");
    }
}

#[test]
fn what_is_taken_off_the_list_is_relayed_and_the_rest_is_shown() {
    let Some(setting) = changing(TABLE, "public.orders.customer,public.orders.id,public.orders.day") else {
        return;
    };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    is_hit(&setting, &mut reader, BY_CUSTOMER);
    is_hit(&setting, &mut reader, BY_ID);
    assert_eq!(unregister(&setting, "public.orders.customer,public.orders.price"), [true, false]);
    assert_eq!(setting.counts().entries, 0, "what was shown by it is dropped before it is said");
    setting.opens();
    is_relayed(&setting, &mut reader, BY_CUSTOMER);
    is_hit(&setting, &mut reader, BY_ID);
    assert_eq!(shown(&setting), [ID, "public.orders.day"]);
    let counts = setting.counts();
    assert_eq!((counts.tables, counts.columns, counts.unregistered), (1, 2, 1));
    assert!(counts.report().contains("1 columns were taken off the list\n"), "{}", counts.report());
    // It is a condition like others now: whatever it bounds may have any number.
    run(&mut writer, "UPDATE orders SET note = 'a' WHERE customer = 7");
    assert_eq!(ask(&mut reader, BY_ID).as_deref(), Some("a"));
    // It comes back to its place, and sees what was written meanwhile.
    is_hit(&setting, &mut reader, BY_ID);
    register(&setting, CUSTOMER);
    assert_eq!(shown(&setting), [CUSTOMER, ID, "public.orders.day"]);
    for (read, write, note) in [
        (BY_CUSTOMER, "UPDATE orders SET note = 'b' WHERE id = 7", "b"),
        (BY_ID, "UPDATE orders SET note = 'c' WHERE customer = 7", "c"),
        (BY_CUSTOMER, "UPDATE orders SET note = 'd' WHERE customer = 7", "d"),
    ] {
        is_hit(&setting, &mut reader, read);
        run(&mut writer, write);
        assert_eq!(ask(&mut reader, read).as_deref(), Some(note), "{write}");
    }
}

/// A write that began before the column came back is not known to touch it.
#[test]
fn what_was_written_while_a_column_was_gone_is_shown_after_its_commit() {
    let Some(setting) = changing(TABLE, CUSTOMER) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    is_hit(&setting, &mut reader, BY_CUSTOMER);
    assert_eq!(unregister(&setting, CUSTOMER), [true]);
    run(&mut writer, "BEGIN");
    run(&mut writer, "UPDATE orders SET note = 'new' WHERE customer = 7");
    // The cache stays closed until that transaction has ended: who may write the table is another set of roles since.
    is_registered(&setting, CUSTOMER);
    for _ in 0..20 {
        assert_eq!(ask(&mut reader, BY_CUSTOMER).as_deref(), Some("n7"));
    }
    run(&mut writer, "COMMIT");
    assert_eq!(ask(&mut reader, BY_CUSTOMER).as_deref(), Some("new"));
    is_hit(&setting, &mut reader, BY_CUSTOMER);
}

/// The tables that a process may cache alone, by the rows of their leases.
fn claimed(setting: &Setting) -> String {
    let sql = "SELECT coalesce(string_agg(f.name, ',' ORDER BY f.name), '') FROM lacuna_lease AS l \
        JOIN lacuna_fence AS f ON f.range_id = l.range_id WHERE l.holder <> 0";
    ask(&mut setting.session(), sql).unwrap()
}

#[test]
fn another_process_may_have_a_table_whose_last_column_is_gone() {
    let sql = format!(
        "{TABLE}; {NOTES}; CREATE ROLE keeper LOGIN; GRANT pg_monitor TO keeper; GRANT CREATE ON SCHEMA public TO keeper"
    );
    let Some(setting) = changing(&sql, "public.orders.customer,public.notes.id,public.orders.id") else {
        return;
    };
    setting.run("GRANT SELECT, INSERT, UPDATE ON lacuna_fence, lacuna_lease TO keeper");
    // An account that may write nothing: the login of a superuser would be a session past the proxy.
    let account = setting.postgres.url().replace("//postgres@", "//keeper@");
    let other = || {
        let cached = CacheSettings::new(&account, CUSTOMER.parse().unwrap());
        start(&setting.runtime, &setting.postgres, cached.with_writers(["postgres".to_owned()]))
    };
    assert_eq!(claimed(&setting), "notes,orders");
    assert_eq!(unregister(&setting, CUSTOMER), [true]);
    assert_eq!(claimed(&setting), "notes,orders", "it has another column");
    assert!(other().unwrap_err().to_string().contains("another running process"));
    assert_eq!(unregister(&setting, ID), [true]);
    assert_eq!(claimed(&setting), "notes");
    let other = other().unwrap();
    assert_eq!(claimed(&setting), "notes,orders");
    let columns = CUSTOMER.parse().unwrap();
    let became = setting.runtime.block_on(setting.proxy().register(&columns)).unwrap();
    assert!(became[0].1.as_ref().is_err_and(|why| why.contains("cache")), "{became:?}");
    setting.runtime.block_on(other.stop());
    register(&setting, CUSTOMER);
    let mut reader = setting.session_of("reader", &[]);
    is_hit(&setting, &mut reader, BY_CUSTOMER);
    is_hit(&setting, &mut reader, "SELECT note FROM notes WHERE id = 7");
}

#[test]
fn a_table_that_closes_the_cache_is_taken_off_the_list() {
    let Some(setting) = changing(&format!("{TABLE}; {NOTES}"), "public.notes.id,public.orders.customer")
    else {
        return;
    };
    let mut reader = setting.session_of("reader", &[]);
    for (change, why) in [
        ("ALTER TABLE notes ENABLE ROW LEVEL SECURITY", "row security"),
        ("DROP TABLE notes", "there is no table public.notes"),
    ] {
        setting.run(change);
        setting.closes(why);
    }
    assert_eq!(unregister(&setting, "public.notes.id"), [true]);
    setting.opens();
    is_hit(&setting, &mut reader, BY_CUSTOMER);
    assert_eq!(shown(&setting), [CUSTOMER]);
    // The last one, too.
    assert_eq!(unregister(&setting, CUSTOMER), [true]);
    setting.opens();
    is_relayed(&setting, &mut reader, BY_CUSTOMER);
    assert_eq!((setting.counts().tables, setting.counts().columns, claimed(&setting)), (0, 0, String::new()));
    register(&setting, CUSTOMER);
    is_hit(&setting, &mut reader, BY_CUSTOMER);
}

/// Neither what an operator had registered, nor what had registered itself.
#[test]
fn what_an_operator_takes_off_the_list_does_not_register_itself() {
    let auto = Auto::default().with_min_spared(10);
    let Some(setting) = Setting::of(TABLE, ID, |settings| settings.with_registration().with_auto(auto))
    else {
        return;
    };
    let mut reader = setting.session_of("reader", &[]);
    let counts = || setting.counts().auto.unwrap();
    eventually("a column registers itself", || {
        run(&mut reader, BY_CUSTOMER);
        counts().registered.contains_key(CUSTOMER)
    });
    setting.opens();
    is_hit(&setting, &mut reader, BY_CUSTOMER);
    assert_eq!(unregister(&setting, "public.orders.id,public.orders.customer"), [true, true]);
    setting.opens();
    eventually("a cache of it would spare enough", || {
        for read in [BY_ID, BY_CUSTOMER] {
            assert_eq!(setting.counted(|| drop(run(&mut reader, read))), (0, 0), "{read}");
        }
        counts().refused.contains_key("orders.id")
    });
    let AutoCounts { registered, added, refused, .. } = counts();
    assert_eq!((registered.len(), added, setting.counts().columns), (0, 1, 0));
    for column in ["orders.id", CUSTOMER] {
        assert!(refused[column].contains("taken off the list"), "{refused:?}");
    }
    register(&setting, CUSTOMER);
    is_hit(&setting, &mut reader, BY_CUSTOMER);
}

#[test]
fn a_proxy_that_takes_no_columns_gives_none_up() {
    let Some(setting) = Setting::start() else { return };
    let column = CUSTOMER.parse().unwrap();
    let why = setting.runtime.block_on(setting.proxy().unregister(&column)).unwrap_err().to_string();
    assert!(why.contains("no cache that takes columns"), "{why}");
}
