//! Every type of MariaDB.

use lacuna_testkit::servers::MariaDb;

use super::Case;
use crate::sql::plain::Plain;
use crate::sql::world::patient;

/// Declaration, and two values; `#` before an expression of SQL.
const TYPES: [(&str, &str, &str); 59] = [
    ("TINYINT", "-128", "127"),
    ("TINYINT UNSIGNED", "0", "255"),
    ("TINYINT(1) UNSIGNED", "0", "255"),
    ("BOOLEAN", "1", "0"),
    ("SMALLINT", "-32768", "32767"),
    ("SMALLINT UNSIGNED", "0", "65535"),
    ("MEDIUMINT", "-8388608", "8388607"),
    ("MEDIUMINT UNSIGNED", "0", "16777215"),
    ("INT", "-2147483648", "2147483647"),
    ("INT UNSIGNED", "0", "4294967295"),
    ("INT(5) ZEROFILL", "80000", "70000"),
    ("BIGINT", "-9223372036854775808", "9223372036854775807"),
    ("BIGINT UNSIGNED", "9223372036854775807", "18446744073709551615"),
    ("DECIMAL(10,2)", "-12.50", "0.01"),
    ("DECIMAL(65,30)", "12345678901234567890123456789012345.000000000000000000000000000001", "0"),
    ("DECIMAL(5,0) UNSIGNED", "7", "99999"),
    ("FLOAT", "0.1", "-1e30"),
    ("DOUBLE", "0.1", "5e-324"),
    ("FLOAT(7,2)", "1.25", "-99999.5"),
    ("BIT(1)", "#b'1'", "#b'0'"),
    ("BIT(64)", "#18446744073709551615", "#b'101'"),
    ("YEAR", "2024", "1901"),
    ("DATE", "2024-02-29", "1000-01-01"),
    ("TIME", "12:34:56", "-838:59:59"),
    ("TIME(6)", "00:00:00.000001", "-00:00:01.500000"),
    ("DATETIME", "2024-05-01 12:00:00", "1000-01-01 00:00:00"),
    ("DATETIME(6)", "2024-05-01 12:00:00.000001", "1000-01-01 00:00:00"),
    ("TIMESTAMP", "2024-05-01 12:00:00", "1970-01-02 00:00:00"),
    ("TIMESTAMP(3)", "2024-05-01 12:00:00.123", "2038-01-01 00:00:00"),
    ("CHAR(5)", "ab", "ä b"),
    ("CHAR(5) CHARACTER SET latin1", "ä", "b"),
    ("VARCHAR(20)", "O''Neill \\\\ \"日本\" ", ""),
    ("VARCHAR(20) CHARACTER SET ucs2", "日本", "b"),
    ("VARCHAR(20) COLLATE utf8mb4_bin", "A", "a"),
    ("TINYTEXT", "ä", ""),
    ("TEXT", "ä", ""),
    ("MEDIUMTEXT", "ä", ""),
    ("LONGTEXT", "ä", ""),
    ("BINARY(4)", "#X'00ff'", "#X'5c270001'"),
    ("BINARY(16)", "#X'00112233445566778899aabbccddeeff'", "#X'00'"),
    ("VARBINARY(9)", "#X'00ff5c27'", "#X''"),
    ("TINYBLOB", "#X'00ff5c27'", "#X''"),
    ("BLOB", "#X'00ff5c27'", "#X''"),
    ("MEDIUMBLOB", "#X'00ff5c27'", "#X''"),
    ("LONGBLOB", "#X'00ff5c27'", "#X''"),
    ("ENUM('a b', 'it''s', 'ä')", "a b", "it''s"),
    ("SET('a', 'b', 'ä')", "a,ä", ""),
    ("JSON", "{\"b\": 1,  \"a\":[null, \"ü\"]}", "[1]"),
    ("UUID", "550e8400-e29b-41d4-a716-446655440000", "00000000-0000-0000-0000-000000000001"),
    ("INET4", "10.0.0.1", "255.255.255.255"),
    ("INET6", "2001:db8::1", "::ffff:10.0.0.1"),
    ("GEOMETRY", "#ST_GeomFromText('POINT(1 2)', 4326)", "#ST_GeomFromText('LINESTRING(0 0,1 1)')"),
    ("POINT", "#POINT(1.5, -0.1)", "#ST_GeomFromText('POINT(1 2)', 4326)"),
    ("LINESTRING", "#ST_GeomFromText('LINESTRING(0 0,1 1)')", "#ST_GeomFromText('LINESTRING(0 0,2 2)')"),
    (
        "POLYGON",
        "#ST_GeomFromText('POLYGON((0 0,1 1,2 0,0 0))')",
        "#ST_GeomFromText('POLYGON((0 0,1 1,3 0,0 0))')",
    ),
    ("MULTIPOINT", "#ST_GeomFromText('MULTIPOINT(0 0,1 1)')", "#ST_GeomFromText('MULTIPOINT(0 0,2 2)')"),
    (
        "MULTILINESTRING",
        "#ST_GeomFromText('MULTILINESTRING((0 0,1 1),(2 2,3 3))')",
        "#ST_GeomFromText('MULTILINESTRING((0 0,1 1),(2 2,4 4))')",
    ),
    (
        "MULTIPOLYGON",
        "#ST_GeomFromText('MULTIPOLYGON(((0 0,1 1,2 0,0 0)))')",
        "#ST_GeomFromText('MULTIPOLYGON(((0 0,1 1,3 0,0 0)))')",
    ),
    (
        "GEOMETRYCOLLECTION",
        "#ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 2))')",
        "#ST_GeomFromText('GEOMETRYCOLLECTION(POINT(2 2))')",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_type_of_mariadb_goes_through_the_cache() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let mut plain = Plain::open(&url).await;
    // Dates without a day are among the values.
    plain.run("SET SESSION sql_mode = ''").await;
    let cache = patient(&url).open().await.unwrap();
    for (number, (column, first, second)) in TYPES.into_iter().enumerate() {
        let value = |text: &str| text.strip_prefix('#').map_or(format!("'{text}'"), ToOwned::to_owned);
        let is_binary = ["BINARY", "BLOB", "GEOM", "POINT", "LINE", "POLY", "BIT"].iter();
        let is_binary = is_binary.clone().any(|word| column.contains(word));
        let text = match column.split('(').next().unwrap() {
            "BIT" => "CAST(value AS UNSIGNED)",
            "FLOAT" => "CAST(CAST(value AS DOUBLE) AS CHAR)",
            _ if is_binary => "HEX(value)",
            _ => "CAST(value AS CHAR)",
        };
        let case = Case {
            table: &format!("things_{number}"),
            column,
            values: [&value(first), &value(second)],
            text,
        };
        case.goes_through_the_cache(&cache, &mut plain).await;
    }
    cache.stop().await.unwrap();
}
