//! Every type of PostgreSQL's catalogue, and one of each kind that users make.

use std::collections::BTreeSet;

use lacuna_testkit::servers::Postgres;

use super::Case;
use crate::sql::plain::Plain;
use crate::sql::world::patient;

/// Types that the server has for its own use: no value can be written to a column of them.
const INTERNAL: [&str; 7] = [
    "gtsvector",
    "pg_brin_bloom_summary",
    "pg_brin_minmax_multi_summary",
    "pg_dependencies",
    "pg_mcv_list",
    "pg_ndistinct",
    "pg_node_tree",
];

/// Name in the catalogue, and two values.
const BUILT_IN: [(&str, &str, &str); 81] = [
    ("aclitem", "postgres=r/postgres", "postgres=rw/postgres"),
    ("bit", "1", "0"),
    ("bool", "true", "false"),
    ("box", "((1,2),(0,0.5))", "((3,3),(1,1))"),
    ("bpchar", "ab", "c d"),
    ("bytea", "\\x00ff5c27", "\\x"),
    ("char", "x", "y"),
    ("cid", "7", "4294967295"),
    ("cidr", "10.1.0.0/16", "2001:db8::/32"),
    ("circle", "<(1,2),3.5>", "<(0,0),1>"),
    ("date", "2024-02-29", "infinity"),
    ("datemultirange", "{[2024-01-01,2024-02-01),[2024-03-01,2024-04-01)}", "{}"),
    ("daterange", "[2024-01-01,2024-02-01)", "empty"),
    ("float4", "0.1", "-1e30"),
    ("float8", "0.1", "-Infinity"),
    ("inet", "10.0.0.1/8", "::1"),
    ("int2", "-32768", "32767"),
    ("int2vector", "1 2 3", "4"),
    ("int4", "-2147483648", "7"),
    ("int4multirange", "{[1,5),[7,9)}", "{}"),
    ("int4range", "[1,5)", "(,)"),
    ("int8", "-9223372036854775808", "9223372036854775807"),
    ("int8multirange", "{[1,5)}", "{(,)}"),
    ("int8range", "[1,9223372036854775807)", "empty"),
    ("interval", "1 year 2 mons -3 days 04:05:06.000007", "-00:00:01"),
    ("json", "{\"b\": 1,  \"a\":[null, \"ü\\u0001\"]}", " [1] "),
    ("jsonb", "{\"b\": 1,  \"a\":[null, \"ü\"]}", "\"'\\\\\""),
    ("jsonpath", "$.a[*] ? (@ > 1)", "$"),
    ("line", "{1,-1,0}", "{2,3,4}"),
    ("lseg", "[(0,0),(1,1)]", "[(1,2),(3,4)]"),
    ("macaddr", "08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff"),
    ("macaddr8", "08:00:2b:01:02:03:04:05", "00:00:00:00:00:00:00:01"),
    ("money", "-1234567.89", "0.01"),
    ("name", "a name", "\"quoted\""),
    ("numeric", "123456789012345678901234567890123456789012345678.5", "-0.50"),
    ("nummultirange", "{[1.5,2.50)}", "{}"),
    ("numrange", "[1.10,2.2]", "(,5)"),
    ("oid", "4294967295", "7"),
    ("oidvector", "1 2 3", "4294967295"),
    ("path", "((0,0),(1,1),(2,0))", "[(0,0),(1,1)]"),
    ("pg_lsn", "16/B374D848", "0/0"),
    ("pg_snapshot", "10:20:10,14,15", "1:1:"),
    ("point", "(1.5,-0.1)", "(0,1e300)"),
    ("polygon", "((0,0),(1,1),(2,0))", "((1,2),(3,4),(5,6))"),
    ("refcursor", "a cursor", "another"),
    ("regclass", "pg_class", "pg_type"),
    ("regcollation", "\"C\"", "\"POSIX\""),
    ("regconfig", "english", "simple"),
    ("regdictionary", "simple", "english_stem"),
    ("regnamespace", "public", "pg_catalog"),
    ("regoper", "||/", "|/"),
    ("regoperator", "+(integer,integer)", "-(integer,integer)"),
    ("regproc", "pg_catalog.now", "version"),
    ("regprocedure", "abs(numeric)", "abs(integer)"),
    ("regrole", "postgres", "pg_monitor"),
    ("regtype", "integer", "text[]"),
    ("text", "O'Neill \\ \"日本\" ", ""),
    ("tid", "(1,2)", "(4294967295,7)"),
    ("time", "04:05:06.789", "24:00:00"),
    ("timestamp", "2024-05-01 12:00:00.000001", "-infinity"),
    ("timestamptz", "2024-05-01 12:00:00+09", "0044-03-15 00:00:00+00 BC"),
    ("timetz", "04:05:06.5+09", "00:00:00-15:59"),
    ("tsmultirange", "{[\"2024-01-01 00:00:00\",\"2024-02-01 00:00:00\")}", "{}"),
    ("tsquery", "'fat' & ( 'rat' | !'cat' )", "'a':*"),
    ("tsrange", "[\"2024-01-01 00:00:00\",)", "empty"),
    ("tstzmultirange", "{[\"2024-01-01 00:00:00+09\",)}", "{}"),
    ("tstzrange", "[\"2024-01-01 00:00:00+09\",)", "empty"),
    ("tsvector", "'a':1A 'fat':2,4B 'it''s'", "''' '"),
    ("txid_snapshot", "10:20:10,14,15", "1:1:"),
    ("uuid", "550e8400-e29b-41d4-a716-446655440000", "00000000-0000-0000-0000-000000000000"),
    ("varbit", "10101", ""),
    ("varchar", "ä b ", "c"),
    ("xid", "7", "4294967295"),
    ("xid8", "18446744073709551615", "7"),
    ("xml", "<a b=\"c\">d &amp; e</a>", "text"),
    ("_int4", "[2:3]={1,NULL}", "{{1,2},{3,4}}"),
    ("_text", "{\"a,b\",NULL,\"NULL\",\"\\\\\\\"\"}", "{}"),
    ("_bool", "{t,f}", "{}"),
    ("_numeric", "{1.50,NaN}", "{0}"),
    ("_timestamptz", "{\"2024-05-01 12:00:00+09\"}", "{}"),
    ("_jsonb", "{\"{\\\"a\\\": 1}\"}", "{}"),
];

/// Types of users, and types with a length: declaration, and two values.
const OTHERS: [(&str, &str, &str); 14] = [
    ("mood", "so so", "it's"),
    ("mood[]", "{\"so so\",NULL}", "{}"),
    ("posint", "7", "8"),
    ("house_address", "10.0.0.1", "10.0.0.2"),
    ("feeling", "so so", "it's"),
    ("pair", "(1,\"a b\")", "(,\"\")"),
    ("pair[]", "{\"(1,\\\"a b\\\")\"}", "{}"),
    ("shop.\"Size\"", "L", "M"),
    ("bit(5)", "10101", "00000"),
    ("varbit(5)", "1", "10101"),
    ("character(3)", "ab", "abc"),
    ("numeric(10,2)", "-12.50", "0"),
    ("interval day to second(2)", "1 day 00:00:01.23", "00:00:00"),
    ("varchar(3)[]", "{abc,NULL}", "{d}"),
];

const TYPES: &str = "CREATE TYPE mood AS ENUM ('so so', 'it''s'); CREATE DOMAIN posint AS integer CHECK (VALUE > 0); \
    CREATE DOMAIN address AS inet; CREATE DOMAIN house_address AS address DEFAULT '::1'; \
    CREATE DOMAIN feeling AS mood; CREATE TYPE pair AS (a integer, b text); CREATE SCHEMA shop; \
    CREATE TYPE shop.\"Size\" AS ENUM ('M', 'L')";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_type_of_postgres_goes_through_the_cache() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut plain = Plain::open(&url).await;
    plain.run(TYPES).await;
    every_type_is_here(&mut plain).await;
    let cache = patient(&url).open().await.unwrap();
    let quoted = BUILT_IN.map(|(name, a, b)| (format!("pg_catalog.\"{name}\""), a, b));
    let others = OTHERS.map(|(name, a, b)| (name.to_owned(), a, b));
    for (number, (column, first, second)) in quoted.into_iter().chain(others).enumerate() {
        let literal = |text: &str| format!("E'{}'::{column}", text.replace('\\', "\\\\").replace('\'', "''"));
        let case = Case {
            table: &format!("things_{number}"),
            column: &column,
            values: [&literal(first), &literal(second)],
            // The padding of a text does not count.
            text: "value::text",
        };
        case.goes_through_the_cache(&cache, &mut plain).await;
    }
    cache.stop().await.unwrap();
}

/// No type of the catalogue is forgotten.
async fn every_type_is_here(plain: &mut Plain) {
    let sql = "SELECT typname::text FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace \
               AND typtype IN ('b', 'r', 'm') AND (typcategory <> 'A' OR typname IN ('int2vector', 'oidvector'))";
    let found: BTreeSet<String> = plain.rows(sql).await.concat().into_iter().flatten().collect();
    let tested = BUILT_IN.iter().map(|(name, ..)| *name).chain(INTERNAL);
    let tested: BTreeSet<String> = tested.map(ToOwned::to_owned).collect();
    let missing: Vec<&String> = found.difference(&tested).collect();
    assert!(missing.is_empty(), "no values of {missing:?}");
}
