//! Statements that are no reads of registered columns: those that write nothing leave the cache as it is, and those that only
//! look like that do not.

use std::io::Write as _;
use std::time::Duration;

use super::setting::{Setting, TABLE, ask, run};
use crate::raw::{Raw, bind, describe, execute, message, parse, query, startup, sync};
use crate::world::{eventually, psql_script};

const READ: &str = "SELECT note FROM orders WHERE customer = 7";

/// Functions that write, in all forms that an enemy needs.
const ENEMY: &str = "
    CREATE FUNCTION change(text) RETURNS int LANGUAGE plpgsql AS
        'BEGIN UPDATE public.orders SET note = $1 WHERE customer = 7; RETURN 1; END';
    CREATE FUNCTION is_changed(text) RETURNS bool LANGUAGE sql AS 'SELECT change($1) = 1';
    CREATE FUNCTION lie(text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN change($1); END'";

/// What is set up, by which statement it is run, and what it writes.
const ATTACKS: [(&str, &str, &str); 22] = [
    ("", "SELECT a.relname, change('call') FROM pg_class AS a LIMIT 1", "call"),
    (
        "CREATE FUNCTION replace(varchar, varchar, varchar) RETURNS int LANGUAGE sql AS 'SELECT change(''shadow'')'",
        "SELECT replace('a'::varchar, 'b'::varchar, 'c'::varchar)",
        "shadow",
    ),
    (
        "CREATE FUNCTION pg_catalog.btrim(varchar) RETURNS int LANGUAGE sql AS 'SELECT public.change(''catalogue'')'",
        "SELECT trim('a'::varchar)",
        "catalogue",
    ),
    (
        "CREATE VIEW door AS SELECT change('view') AS x",
        "SELECT d.x FROM door AS d JOIN pg_class ON true LIMIT 1",
        "view",
    ),
    ("CREATE VIEW door2 AS SELECT change('table') AS x", "TABLE door2", "table"),
    (
        "CREATE FUNCTION op(int, int) RETURNS bool LANGUAGE sql AS 'SELECT is_changed(''operator'')'; \
         CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = op)",
        "SELECT 1 === 1",
        "operator",
    ),
    (
        "CREATE FUNCTION op(varchar, text) RETURNS bool LANGUAGE sql AS 'SELECT is_changed(''implied'')'; \
         CREATE OPERATOR ~ (LEFTARG = varchar, RIGHTARG = text, FUNCTION = op)",
        "SELECT 'a'::varchar SIMILAR TO 'b'",
        "implied",
    ),
    (
        "CREATE OPERATOR @@@ (RIGHTARG = text, FUNCTION = ts_stat); \
         CREATE FUNCTION words() RETURNS tsvector LANGUAGE sql AS 'SELECT change(''own function'')::text::tsvector'",
        "SELECT @@@ 'SELECT words()'::text",
        "own function",
    ),
    ("", "SELECT ('SELECT change(''field'')::text::tsvector'::text).ts_stat", "field"),
    (
        "CREATE TYPE mood AS ENUM ('a'); CREATE FUNCTION of_mood(mood) RETURNS int LANGUAGE sql AS 'SELECT change(''cast'')'; \
         CREATE CAST (mood AS int) WITH FUNCTION of_mood(mood)",
        "SELECT 'a'::mood::int",
        "cast",
    ),
    (
        "CREATE FUNCTION of_order(orders) RETURNS int LANGUAGE sql AS 'SELECT change(''implicit'')'; \
         CREATE CAST (orders AS int) WITH FUNCTION of_order(orders) AS IMPLICIT",
        "SELECT abs(o) FROM orders AS o JOIN pg_class ON true LIMIT 1",
        "implicit",
    ),
    ("CREATE DOMAIN checked AS text CHECK (is_changed('check'))", "SELECT 'a'::checked", "check"),
    ("CREATE DOMAIN checked2 AS text CHECK (is_changed('typed'))", "SELECT checked2 'a'", "typed"),
    (
        "CREATE FUNCTION sneak(orders) RETURNS int LANGUAGE sql AS 'SELECT change(''row'')'",
        "SELECT orders.sneak FROM orders WHERE customer = 7",
        "row",
    ),
    (
        "CREATE FUNCTION sneak2(anyelement) RETURNS int LANGUAGE sql AS 'SELECT change(''record'')'",
        "SELECT c.sneak2 FROM pg_class AS c, pg_type LIMIT 1",
        "record",
    ),
    (
        "CREATE FUNCTION sneak3(logs) RETURNS int LANGUAGE sql AS 'SELECT change(''condition'')'",
        "DELETE FROM logs WHERE logs.sneak3 = 2",
        "condition",
    ),
    (
        "CREATE FUNCTION other(int, int) RETURNS bool LANGUAGE sql AS 'SELECT is_changed(''constraint'')'; \
         CREATE OPERATOR ==== (LEFTARG = int, RIGHTARG = int, FUNCTION = other); CREATE TABLE strict (a INT CHECK (a ==== 1))",
        "INSERT INTO strict (a) VALUES (1)",
        "constraint",
    ),
    (
        "CREATE TABLE planned (a INT); CREATE INDEX ON planned ((a + lie('plan')))",
        "SELECT x.a FROM planned AS x JOIN planned AS y USING (a)",
        "plan",
    ),
    (
        "CREATE TABLE ruled (a INT); CREATE RULE r AS ON INSERT TO ruled DO ALSO SELECT change('rule')",
        "INSERT INTO ruled VALUES (1)",
        "rule",
    ),
    (
        "CREATE TEMPORARY VIEW pg_class AS SELECT change('temporary') AS relname",
        "SELECT c.relname FROM pg_class AS c, pg_type LIMIT 1",
        "temporary",
    ),
    ("CREATE TEMPORARY VIEW orders AS SELECT 7 AS customer, change('hidden') AS note", READ, "hidden"),
    ("PREPARE p AS SELECT change('explained')", "EXPLAIN ANALYZE EXECUTE p", "explained"),
];

const DROPPED: [&str; 6] = [
    "FUNCTION IF EXISTS pg_catalog.btrim(varchar)",
    "OPERATOR IF EXISTS === (int, int)",
    "OPERATOR IF EXISTS ~ (varchar, text)",
    "OPERATOR IF EXISTS @@@ (NONE, text)",
    "CAST IF EXISTS (orders AS int)",
    "TYPE IF EXISTS mood CASCADE",
];

fn warm(setting: &Setting, reader: &mut Raw) {
    setting.opens();
    drop(ask(reader, READ));
    setting.opens();
    assert_eq!(setting.counted(|| drop(run(reader, READ))), (1, 0), "{}", setting.counts().report());
}

/// Names of users' own are words of the statement, and mean something else there.
#[test]
fn reads_and_writes_of_plain_columns_are_what_they_are_beside_domains_views_and_casts() {
    let of_users = "CREATE SCHEMA api; CREATE DOMAIN api.note AS text CHECK (value <> ''); \
        CREATE VIEW api.orders AS SELECT 1 AS customer; CREATE TYPE api.pair AS (a INT, b INT); \
        CREATE FUNCTION api.to_text(api.pair) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''p'''";
    let Some(setting) =
        Setting::of(&format!("{TABLE}; {of_users}"), "public.orders.customer", |settings| settings)
    else {
        return;
    };
    let flight = |text: &str, values: &[&str]| {
        [parse("", text), bind("", "", values), describe(b'P', ""), execute("", 0), sync()].concat()
    };
    let (mut reader, mut writer) = (setting.session(), setting.session());
    let mut read = || {
        reader.send(&flight("SELECT id, note FROM orders WHERE customer = $1", &["7"]));
        assert!(reader.until_ready().iter().all(|(tag, _)| *tag != b'E'));
    };
    eventually("the reply is kept", || setting.counted(&mut read) == (1, 0));
    for (number, text) in [
        "INSERT INTO orders (id, customer, note) VALUES ($1, 500, 'new')",
        "UPDATE orders SET note = 'newer' WHERE customer = $1",
        "DELETE FROM orders WHERE customer = $1",
    ]
    .into_iter()
    .enumerate()
    {
        writer.send(&flight(text, &["500"]));
        assert!(writer.until_ready().iter().all(|(tag, _)| *tag != b'E'), "{text}");
        assert_eq!(
            setting.counted(&mut read),
            (1, 0),
            "write {number} is elsewhere: {}",
            setting.counts().report()
        );
    }
    // A domain that is used is another matter.
    writer.send(&flight("SELECT id FROM orders WHERE customer = $1 AND note = 'x'::api.note", &["7"]));
    assert!(writer.until_ready().iter().all(|(tag, _)| *tag != b'E'));
    assert_eq!(setting.counted(&mut read).0, 0, "its check could have written");
}

#[test]
fn what_only_looks_like_a_read_is_a_write_to_everything() {
    let Some(setting) = Setting::of(
        &format!("{TABLE}; CREATE TABLE logs (a INT); INSERT INTO logs VALUES (1); {ENEMY}"),
        "public.orders.customer",
        |settings| settings,
    ) else {
        return;
    };
    let mut reader = setting.session_of("reader", &[]);
    for (setup, attack, expected) in ATTACKS {
        let mut enemy = setting.session();
        let steps = setup.split("; ").filter(|step| !step.is_empty());
        steps.for_each(|step| drop(run(&mut enemy, step)));
        run(&mut enemy, "UPDATE public.orders SET note = '-' WHERE customer = 7");
        warm(&setting, &mut reader);
        run(&mut enemy, attack);
        assert_eq!(ask(&mut reader, READ).as_deref(), Some(expected), "{attack}");
        setting.opens();
        // What makes no statement certain would hide what is wrong with the next.
        DROPPED.iter().for_each(|what| drop(run(&mut enemy, &format!("DROP {what}"))));
    }
}

/// The check of a domain runs when the value is bound.
#[test]
fn a_parameter_of_a_users_type_may_do_anything() {
    let setup = format!("{TABLE}; {ENEMY}; CREATE DOMAIN checked AS text CHECK (is_changed('bound'))");
    let Some(setting) = Setting::of(&setup, "public.orders.customer", |settings| settings) else { return };
    let (mut reader, mut enemy) = (setting.session_of("reader", &[]), setting.session());
    let number: u32 = ask(&mut enemy, "SELECT 'checked'::regtype::oid").unwrap().parse().unwrap();
    for text in ["SELECT id FROM orders WHERE note = $1 AND customer = 1", "SELECT 1 WHERE $1 IS NULL"] {
        run(&mut enemy, "UPDATE public.orders SET note = '-' WHERE customer = 7");
        warm(&setting, &mut reader);
        let parse = message(b'P', &[b"\0", text.as_bytes(), b"\0\0\x01", &number.to_be_bytes()]);
        enemy.send(&[parse, bind("", "", &["x"]), execute("", 0), sync()].concat());
        assert!(enemy.until_ready().iter().all(|(tag, _)| *tag != b'E'));
        assert_eq!(ask(&mut reader, READ).as_deref(), Some("bound"), "{text}");
    }
}

/// Constants are read as a text is parsed, and functions are called as it is planned: nothing is executed.
#[test]
fn what_runs_before_a_statement_is_executed_may_do_anything() {
    let setup = format!(
        "{TABLE}; {ENEMY}; CREATE DOMAIN checked AS text CHECK (is_changed('parsed')); \
         CREATE FUNCTION reverse(varchar) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN change(''planned''); END'"
    );
    let Some(setting) = Setting::of(&setup, "public.orders.customer", |settings| settings) else { return };
    let (mut reader, mut enemy) = (setting.session_of("reader", &[]), setting.session());
    let planned = [parse("", "SELECT reverse('a'::varchar)"), bind("", "", &[]), sync()].concat();
    let parsed = [parse("", "SELECT '{a}'::checked[]"), sync()].concat();
    for (flight, expected) in [(planned, "planned"), (parsed, "parsed")] {
        for is_in_block in [false, true] {
            run(&mut enemy, "UPDATE public.orders SET note = '-' WHERE customer = 7");
            warm(&setting, &mut reader);
            if is_in_block {
                run(&mut enemy, "BEGIN");
            }
            enemy.send(&flight);
            assert!(enemy.until_ready().iter().all(|(tag, _)| *tag != b'E'));
            if is_in_block {
                run(&mut enemy, "COMMIT");
            }
            assert_eq!(ask(&mut reader, READ).as_deref(), Some(expected), "in a block: {is_in_block}");
        }
    }
}

/// The server has said why, and what it shows others is as it was.
#[test]
fn refused_logins_take_nothing_from_the_cache() {
    let Some(setting) = Setting::start() else { return };
    let mut reader = setting.session_of("reader", &[]);
    let port = setting.proxy().address().port();
    // On a busy machine a look at the server may be late, after which the cache begins cold.
    let is_kept = (0..5).any(|_| {
        warm(&setting, &mut reader);
        for _ in 0..10 {
            let mut refused = Raw::connect(port);
            refused.send(&startup(196_608, &[("user", "reader"), ("database", "nowhere")]));
            let said: Vec<u8> = std::iter::from_fn(|| refused.receive()).map(|(tag, _)| tag).collect();
            assert_eq!(said.last(), Some(&b'E'), "{said:?}");
        }
        setting.counted(|| drop(run(&mut reader, READ))) == (1, 0)
    });
    assert!(is_kept, "{}", setting.counts().report());
}

/// A policy is run for those that are no superusers.
#[test]
fn policies_may_do_anything() {
    let setup = format!(
        "{TABLE}; {ENEMY}; GRANT UPDATE ON orders TO other; CREATE TABLE guarded (a INT); INSERT INTO guarded VALUES (1); \
         GRANT ALL ON guarded TO other; CREATE POLICY p ON guarded USING (is_changed('policy')); \
         ALTER TABLE guarded ENABLE ROW LEVEL SECURITY"
    );
    let writers = || ["postgres".to_owned(), "other".to_owned()];
    let Some(setting) =
        Setting::of(&setup, "public.orders.customer", |settings| settings.with_writers(writers()))
    else {
        return;
    };
    let (mut reader, mut enemy) = (setting.session_of("reader", &[]), setting.session_of("other", &[]));
    warm(&setting, &mut reader);
    run(&mut enemy, "SELECT g.a FROM guarded AS g JOIN pg_class ON true LIMIT 1");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("policy"));
}

/// An INSERT waits for a lock while its table gets a trigger, and fires it long after the catalogue was read again.
#[test]
fn a_statement_that_a_definition_overtakes_may_do_anything() {
    let trigger = "CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS \
        'BEGIN PERFORM pg_sleep(1.5), change(''fired''); RETURN NEW; END'";
    let setup = format!("{TABLE}; {ENEMY}; CREATE TABLE logs (a INT); {trigger}");
    let Some(setting) = Setting::of(&setup, "public.orders.customer", |settings| settings) else { return };
    let (mut reader, mut owner, mut slow) =
        (setting.session_of("reader", &[]), setting.session(), setting.session());
    run(&mut owner, "BEGIN");
    run(&mut owner, "LOCK TABLE logs IN SHARE ROW EXCLUSIVE MODE");
    warm(&setting, &mut reader);
    slow.stream.write_all(&query("INSERT INTO logs (a) VALUES (1)")).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(setting.counted(|| drop(run(&mut reader, READ))).0, 1, "it writes another table");
    run(&mut owner, "CREATE TRIGGER t BEFORE INSERT ON logs FOR EACH ROW EXECUTE FUNCTION fire()");
    run(&mut owner, "COMMIT");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"), "the trigger has not ended");
    assert!(slow.until_ready().iter().all(|(tag, _)| *tag != b'E'));
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("fired"));
}

/// Questions of drivers and of programs over tables, as they send them.
const QUESTIONS: [&str; 21] = [
    "SELECT version()",
    "SHOW standard_conforming_strings",
    "SHOW TRANSACTION ISOLATION LEVEL",
    "SELECT current_schema()",
    "SELECT 1",
    "EXPLAIN SELECT * FROM orders AS o JOIN pages AS p ON p.id = o.id",
    // SQLAlchemy
    "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = \
     pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relname = 'orders' AND pg_catalog.pg_class.relkind = ANY \
     (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND \
     pg_catalog.pg_namespace.nspname != 'pg_catalog'",
    "SELECT pg_catalog.pg_attribute.attname AS name, pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, \
     pg_catalog.pg_attribute.atttypmod) AS format_type, (SELECT pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, \
     pg_catalog.pg_attrdef.adrelid) AS pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attrdef.adrelid = \
     pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum AND \
     pg_catalog.pg_attribute.atthasdef) AS \"default\" FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON \
     pg_catalog.pg_class.oid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > 0 AND NOT \
     pg_catalog.pg_attribute.attisdropped WHERE pg_catalog.pg_class.relname IN ('orders') ORDER BY \
     pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum",
    // psycopg
    "SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS regtype, t.typdelim AS delimiter \
     FROM pg_type t WHERE t.oid = to_regtype('hstore') ORDER BY t.oid",
    // asyncpg
    "WITH RECURSIVE typeinfo_tree(oid, ns, name, kind, basetype, depth) AS (SELECT t.oid, ns.nspname, t.typname, t.typtype::text, \
     t.typbasetype, 0 FROM pg_catalog.pg_type AS t INNER JOIN pg_catalog.pg_namespace ns ON (ns.oid = t.typnamespace) WHERE t.oid = \
     any(ARRAY[23, 25]::oid[]) UNION ALL SELECT t.oid, ns.nspname, t.typname, t.typtype::text, t.typbasetype, tt.depth + 1 FROM \
     pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace ns ON (ns.oid = t.typnamespace), typeinfo_tree tt WHERE tt.basetype = t.oid \
     AND t.oid <> 0 AND tt.depth < 3) SELECT DISTINCT name, depth FROM typeinfo_tree ORDER BY depth DESC, name",
    // pgjdbc
    "SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME, \
     (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME FROM pg_catalog.pg_class ct JOIN \
     pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid) JOIN \
     pg_catalog.pg_index i ON (a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) WHERE true AND \
     ct.relname = 'orders' AND i.indisprimary",
    "SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM pg_catalog.pg_type LEFT JOIN \
     (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns join ( select s.r, (current_schemas(false))[s.r] as nspname \
     from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using ( nspname )) as sp ON sp.nspoid = \
     typnamespace WHERE pg_type.oid = 23 ORDER BY sp.r, pg_type.oid DESC",
    // Django
    "SELECT c.relname, CASE WHEN c.relispartition THEN 'p' WHEN c.relkind IN ('m', 'v') THEN 'v' ELSE 't' END, \
     obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE \
     c.relkind IN ('f', 'm', 'p', 'r', 'v') AND n.nspname NOT IN ('pg_catalog', 'pg_toast') AND pg_catalog.pg_table_is_visible(c.oid) \
     ORDER BY 1",
    // Others
    "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
    "SELECT * FROM information_schema.table_constraints WHERE table_name = 'orders' ORDER BY constraint_name",
    "SELECT o.note, p.title FROM orders AS o JOIN pages AS p ON p.id = o.id WHERE o.customer = 7 AND p.title LIKE 't%'",
    "SELECT p.id, count(*), avg(o.price) FROM orders o, pages p WHERE o.id % 10 = p.id GROUP BY p.id HAVING count(*) > 1 ORDER BY 1",
    "SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM orders) AS ranked WHERE n <= 3",
    "SELECT id FROM orders WHERE note IN (SELECT 'n' || id FROM pages) ORDER BY id",
    "WITH latest AS (SELECT max(day) AS day FROM orders) SELECT o.id FROM orders o JOIN latest USING (day)",
    "SELECT mood FROM moods WHERE mood = 'glad' ORDER BY mood",
];

const COMMANDS: &str =
    "\\d\n\\d orders\n\\d+ pages\n\\dt\n\\di\n\\dn+\n\\du\n\\dp\n\\dT\n\\ds\n\\dv\n\\df public.*\n\\l\n";

/// Neither joins nor questions to the catalogue take anything from the cache, in either protocol, and they are what they are
/// without a proxy.
#[test]
fn reads_of_other_things_are_no_writes() {
    let setup = format!(
        "{TABLE}; CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TABLE moods (mood mood); INSERT INTO moods VALUES ('glad'); \
         CREATE TABLE pages (id SERIAL PRIMARY KEY, title TEXT DEFAULT lower('T')); INSERT INTO pages SELECT n FROM generate_series(1, 9) AS n; \
         GRANT SELECT ON pages, moods TO reader"
    );
    let Some(setting) = Setting::of(&setup, "public.orders.customer", |settings| settings) else { return };
    let (mut reader, mut direct) = (setting.session_of("reader", &[]), setting.direct());
    warm(&setting, &mut reader);
    let before = setting.counts();
    for question in QUESTIONS {
        for text in [question, &format!("{question};")] {
            let expected = run(&mut direct, text);
            assert_eq!(run(&mut reader, text), expected, "{text}");
            is_kept(&setting, &mut reader, text);
        }
        let flight =
            [parse("", question), bind("", "", &[]), describe(b'P', ""), execute("", 0), sync()].concat();
        direct.send(&flight);
        reader.send(&flight);
        assert_eq!(reader.until_ready(), direct.until_ready(), "{question}");
        is_kept(&setting, &mut reader, question);
    }
    let after = setting.counts();
    assert_eq!(
        (after.writes, after.misses, after.questions),
        (before.writes, before.misses, before.questions)
    );
    assert_eq!(after.hits - before.hits, 3 * QUESTIONS.len() as u64, "{}", after.report());
}

/// The reply is there, though on a busy machine a look at the server may be late, after which the cache begins cold.
fn is_kept(setting: &Setting, reader: &mut Raw, text: &str) {
    let is_hit = (0..5).any(|_| {
        setting.opens();
        setting.counted(|| drop(run(reader, READ))) == (1, 0)
    });
    assert!(is_hit, "{text}: {}", setting.counts().report());
}

#[test]
fn psql_describes_tables_and_takes_nothing_from_the_cache() {
    let Some(setting) = Setting::start() else { return };
    let mut reader = setting.session_of("reader", &[]);
    warm(&setting, &mut reader);
    let url = |port: u16| format!("postgres://reader@127.0.0.1:{port}/postgres");
    let before = setting.counts();
    for command in COMMANDS.lines() {
        let relayed = psql_script(&url(setting.proxy().address().port()), command);
        let direct = psql_script(&url(setting.server_port()), command);
        assert_eq!((relayed.stdout, relayed.stderr), (direct.stdout, direct.stderr), "{command}");
        is_kept(&setting, &mut reader, command);
    }
    assert_eq!(setting.counts().writes, before.writes);
}
