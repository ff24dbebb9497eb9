//! Tables of other schemas than the one that is searched: each has one name, and its own rows.

use lacuna_cache::sql::{Cache, DomainType, Schema, Table, TableClaims, shared_name};
use lacuna_cache_protocol::ErrorKind;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::plain::Plain;
use crate::sql::values::ids;
use crate::sql::world::patient;

fn schema(name: &str) -> Schema {
    Schema::new(name, "id").with_domain("value", DomainType::Integer)
}

async fn all_that_can_be_done(table: &Table) {
    assert!(ids(table.get("value", 0..=9).await).await.is_empty());
    for id in 1..=3i64 {
        table.insert([("id", id.into()), ("value", id.into())]).await.unwrap();
    }
    let row = table.get("value", 1..=1).await.unwrap().remove(0);
    table.update(&row, [("value", 5.into())]).await.unwrap();
    table.delete_range("value", 2..=2).await.unwrap();
    table.update_range("value", 3..=3, &[("note", "'n'")]).await.unwrap();
    assert_eq!(ids(table.get("value", 0..=9).await).await, [3, 1]);
    assert_eq!(ids(table.last("value", 0..=9, 1).await).await, [1]);
}

async fn opened_twice(cache: &Cache, first: &str, second: &str) {
    let _first = cache.table(schema(first)).await.unwrap();
    assert_eq!(
        cache.table(schema(second)).await.unwrap_err().kind(),
        ErrorKind::Conflict,
        "{first}, {second}"
    );
}

async fn each_schema_has_its_table(url: &str, here: &str, quote: char, options: &str) {
    let mut plain = Plain::open(url).await;
    let quoted = |name: &str| format!("{quote}{name}{quote}");
    let columns = "(id BIGINT PRIMARY KEY, value BIGINT, note VARCHAR(9))";
    plain.run(&format!("CREATE SCHEMA sales; CREATE SCHEMA {}", quoted("Odd schema"))).await;
    let odd = format!("{}.{}", quoted("Odd schema"), quoted("Odd.table"));
    for table in ["things", "sales.things", &odd, "orders", &quoted("sales.orders"), "sales.orders"] {
        plain.run(&format!("CREATE TABLE {table} {columns}{options}")).await;
    }
    let cache = patient(url).open().await.unwrap();
    for name in ["things", "sales.things", "Odd schema.\"Odd.table\""] {
        all_that_can_be_done(&cache.table(schema(name)).await.unwrap()).await;
    }
    for table in ["things", "sales.things", &odd] {
        let sql = format!("SELECT CAST(SUM(id * 100 + value) AS CHAR(9)) FROM {table}");
        assert_eq!(plain.value(&sql).await.unwrap().trim(), "408", "{table}");
    }
    // Names of one table are one name, and names of two tables are two.
    opened_twice(&cache, "orders", &format!("{here}.orders")).await;
    opened_twice(&cache, "sales.orders", &format!("{here}.\"sales.orders\"")).await;
    let other = cache.table(schema("\"sales\".orders")).await.unwrap();
    all_that_can_be_done(&other).await;
    assert_eq!(cache.table(schema("sales.nothing")).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(cache.table(schema("nowhere.things")).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_other_schemas_are_cached_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    each_schema_has_its_table(&server.url(), "public", '"', "").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_other_databases_are_cached_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    each_schema_has_its_table(&server.url(), "test", '`', "").await;
}

/// A server on Linux compares names of tables by case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_mariadb_whose_names_differ_in_case_are_told_apart() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let mut plain = Plain::open(&url).await;
    plain
        .run(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, value BIGINT); INSERT INTO orders VALUES (1, 5); \
             CREATE TABLE Users (id BIGINT PRIMARY KEY, value BIGINT); INSERT INTO Users VALUES (1, 100); \
             CREATE TABLE users (id BIGINT PRIMARY KEY, value BIGINT); INSERT INTO users VALUES (1, 200)",
        )
        .await;
    let cache = patient(&url).open().await.unwrap();
    let orders = cache.table(schema("orders")).await.unwrap();
    let joined = |name: &str| {
        format!("SELECT u.value AS pay FROM orders o JOIN {name} u ON u.id = o.id WHERE o.value = 5")
    };
    let users = cache.table(schema("users")).await.unwrap();
    for refused in [joined("Users"), "SELECT value FROM Users WHERE value = 200".to_owned()] {
        let why = users.query(&refused, &[]).await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput, "{refused}: {why}");
    }
    let why = orders.query(&joined("Users"), &[]).await.unwrap_err();
    assert!(why.to_string().contains("Users"), "{why}");
    let capital = cache.table(schema("Users")).await.unwrap();
    for _ in 0..2 {
        assert_eq!(orders.query(&joined("Users"), &[]).await.unwrap().rows(), [[100.into()]]);
        assert_eq!(orders.query(&joined("users"), &[]).await.unwrap().rows(), [[200.into()]]);
        assert_eq!(ids(capital.get("value", 100..=100).await).await, [1]);
        assert_eq!(ids(users.get("value", 100..=100).await).await, [0; 0]);
    }
    cache.stop().await.unwrap();
}

/// A write to a table of the same name in another schema is none to this.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watchdog_knows_tables_of_other_schemas() {
    if let Some(server) = Postgres::logged() {
        foreign_writes_are_found(&server.url()).await;
    }
    if let Some(server) = MariaDb::logged() {
        foreign_writes_are_found(&server.url()).await;
    }
}

async fn foreign_writes_are_found(url: &str) {
    let mut plain = Plain::open(url).await;
    let columns = "(id BIGINT PRIMARY KEY, value BIGINT)";
    plain.run(&format!("CREATE SCHEMA sales; CREATE TABLE sales.things {columns}")).await;
    plain.run(&format!("CREATE TABLE things {columns}")).await;
    let cache = patient(url).with_watchdog().open().await.unwrap();
    let things = cache.table(schema("sales.things")).await.unwrap();
    things.insert([("id", 1.into()), ("value", 1.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 0..=9).await).await, [1]);
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    let before = cache.counts().foreign_writes;
    plain.run("INSERT INTO things VALUES (7, 7)").await;
    tokio::time::sleep(std::time::Duration::from_millis(1_000)).await;
    assert_eq!(cache.counts().foreign_writes, before, "it is another table");
    plain.run("INSERT INTO sales.things VALUES (2, 2)").await;
    let start = std::time::Instant::now();
    while ids(things.get("value", 0..=9).await).await != [1, 2] {
        assert!(start.elapsed() < crate::sql::world::AT_MOST, "the write is found");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(cache.counts().foreign_writes > before);
    cache.stop().await.unwrap();
}

/// A URL of another user.
fn of_role(url: &str, role: &str) -> String {
    url.replacen("postgres@", &format!("{role}@"), 1)
}

/// Each has a schema of its own, in which it makes tables, unless its search path says otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_roles_with_schemas_of_their_own_never_both_own_a_table() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut admin = Plain::open(&url).await;
    admin
        .run(
            "CREATE ROLE app LOGIN; CREATE ROLE worker LOGIN; CREATE SCHEMA app AUTHORIZATION app; \
             CREATE TABLE app.orders (id BIGINT PRIMARY KEY, value BIGINT, note VARCHAR(9)); \
             ALTER TABLE app.orders OWNER TO app; GRANT USAGE ON SCHEMA app TO worker; \
             GRANT ALL ON app.orders TO worker; GRANT CREATE ON SCHEMA public TO worker",
        )
        .await;
    let app = patient(of_role(&url, "app")).open().await.unwrap();
    let orders = app.table(schema("orders")).await.unwrap();
    assert!(ids(orders.get("value", 7..=7).await).await.is_empty());
    // Its tables would be those of the schema `public`: another set.
    let worker = patient(of_role(&url, "worker")).open().await.unwrap();
    let cuts = schema("app.orders").cut_before(&[5.into()]).unwrap();
    let claims = TableClaims::open(&of_role(&url, "worker")).await.unwrap();
    for refused in [
        worker.table(schema("app.orders")).await.unwrap_err(),
        worker.shared_ranges("app.orders", &cuts, "127.0.0.1:1").await.unwrap_err(),
        claims.claim("app.orders").await.unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        assert!(refused.to_string().contains("\"app\".lacuna_fence"), "{refused}");
    }
    claims.close().await;
    worker.stop().await.unwrap();
    let rows = admin.value("SELECT count(*)::text FROM public.lacuna_fence").await;
    assert_eq!(rows.as_deref(), Some("0"), "what was refused keeps no other program out");
    orders.insert([("id", 1.into()), ("value", 7.into())]).await.unwrap();
    assert_eq!(ids(orders.get("value", 7..=7).await).await, [1]);
    // With one search path both find one set, in which one of them has the table.
    admin
        .run(
            "DROP TABLE public.lacuna_fence, public.lacuna_slot, public.lacuna_lease; \
             ALTER ROLE worker SET search_path = app; GRANT ALL ON ALL TABLES IN SCHEMA app TO worker",
        )
        .await;
    let worker = patient(of_role(&url, "worker")).open().await.unwrap();
    let refused = worker.table(schema("orders")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.to_string().contains("caches the table app.orders"), "{refused}");
    app.stop().await.unwrap();
    let orders = worker.table(schema("orders")).await.unwrap();
    assert_eq!(ids(orders.get("value", 0..=9).await).await, [1]);
    worker.stop().await.unwrap();
}

/// `orders` is `sales.orders` for one role, and `public.orders` for the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_path_gives_a_table_no_second_name() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut admin = Plain::open(&url).await;
    let columns = "(id BIGINT PRIMARY KEY, value BIGINT, note VARCHAR(9))";
    admin
        .run(&format!(
            "CREATE ROLE web LOGIN; CREATE SCHEMA sales; GRANT USAGE ON SCHEMA sales TO web; \
             ALTER ROLE web SET search_path = sales, public; \
             CREATE TABLE sales.orders {columns}; CREATE TABLE public.orders {columns}"
        ))
        .await;
    let first = patient(&url).open().await.unwrap();
    let _sales = first.table(schema("sales.orders")).await.unwrap();
    admin.run("GRANT ALL ON ALL TABLES IN SCHEMA sales, public TO web").await;
    let web = patient(of_role(&url, "web")).open().await.unwrap();
    let refused = web.table(schema("orders")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.to_string().contains("caches the table sales.orders"), "{refused}");
    // The other one is found by its schema alone, also in the SQL of the cache.
    let orders = web.table(schema("public.orders")).await.unwrap();
    all_that_can_be_done(&orders).await;
    let asked = "SELECT id FROM public.orders WHERE value = 5";
    assert_eq!(orders.query(asked, &[]).await.unwrap().rows(), [[1.into()]]);
    let refused = orders.query("SELECT id FROM orders WHERE value = 5", &[]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "that is another table here: {refused}");
    let rows = |table: &str| format!("SELECT count(*)::text FROM {table}");
    assert_eq!(admin.value(&rows("sales.orders")).await.as_deref(), Some("0"));
    assert_eq!(admin.value(&rows("public.orders")).await.as_deref(), Some("2"));
    let names = admin.value("SELECT string_agg(name, ' ' ORDER BY name) FROM lacuna_fence").await;
    assert_eq!(names.as_deref(), Some("orders sales.orders"));
    for (role, table, name) in [
        ("web", "orders", "sales.orders"),
        ("web", "public.orders", "orders"),
        ("postgres", "orders", "orders"),
    ] {
        assert_eq!(shared_name(&of_role(&url, role), table).await.unwrap(), name, "{table} of {role}");
    }
    web.stop().await.unwrap();
    first.stop().await.unwrap();
}

/// Leases in a schema that only one of two roles searches would be those of one role alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_a_cache_in_two_schemas_are_refused() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut admin = Plain::open(&url).await;
    admin.run("CREATE TABLE orders (id BIGINT PRIMARY KEY, value BIGINT)").await;
    let cache = patient(&url).open().await.unwrap();
    drop(cache.table(schema("orders")).await.unwrap());
    cache.stop().await.unwrap();
    // The schema of the role comes before `public`, where lacuna_fence is.
    admin.run("CREATE SCHEMA postgres; CREATE TABLE postgres.lacuna_lease (LIKE public.lacuna_lease)").await;
    let cache = patient(&url).open().await.unwrap();
    let refused = cache.table(schema("orders")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.to_string().contains("lacuna_lease in the schema postgres"), "{refused}");
    admin.run("DROP TABLE postgres.lacuna_lease").await;
    drop(cache.table(schema("orders")).await.unwrap());
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_in_two_databases_of_mariadb_never_both_own_a_table() {
    let Some(server) = MariaDb::start() else { return };
    let mut admin = Plain::open(&server.url()).await;
    let columns = "(id BIGINT PRIMARY KEY, value BIGINT, note VARCHAR(9))";
    admin
        .run(&format!(
            "CREATE DATABASE shop; CREATE DATABASE app; CREATE TABLE shop.orders {columns}; \
             CREATE TABLE app.orders {columns}"
        ))
        .await;
    let url = |database: &str| server.url().replace("/test", &format!("/{database}"));
    let shop = patient(url("shop")).open().await.unwrap();
    let orders = shop.table(schema("orders")).await.unwrap();
    assert!(ids(orders.get("value", 7..=7).await).await.is_empty());
    let app = patient(url("app")).open().await.unwrap();
    let refused = app.table(schema("shop.orders")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.to_string().contains("`shop`.lacuna_fence"), "{refused}");
    // Two sets for tables of their own are two applications on one server.
    let own = app.table(schema("orders")).await.unwrap();
    all_that_can_be_done(&own).await;
    orders.insert([("id", 1.into()), ("value", 7.into())]).await.unwrap();
    assert_eq!(ids(orders.get("value", 7..=7).await).await, [1]);
    for (database, name) in [("shop", "shop.orders"), ("app", "app.orders")] {
        let names = admin.value(&format!("SELECT GROUP_CONCAT(name) FROM {database}.lacuna_fence")).await;
        assert_eq!(names.as_deref(), Some(name));
        assert_eq!(shared_name(&url("test"), name).await.unwrap(), name);
        assert_eq!(shared_name(&url(database), "orders").await.unwrap(), name);
    }
    app.stop().await.unwrap();
    shop.stop().await.unwrap();
}

/// Whether a program got a table; a refusal names another set.
async fn gets(program: &TableClaims, table: &str) -> bool {
    match program.claim(table).await {
        Ok(_) => true,
        Err(why) => {
            assert_eq!(why.kind(), ErrorKind::Conflict, "{why}");
            assert!(why.to_string().contains("lacuna_fence has a row of the table"), "{why}");
            false
        }
    }
}

/// Two programs begin with two tables at once. Each of them uses a set of its own, in the schema `one` and in `other`.
async fn tables_claimed_at_once_have_one_owner_each(admin: &mut Plain, urls: [String; 2], tables: [&str; 2]) {
    let programs = [TableClaims::open(&urls[0]).await.unwrap(), TableClaims::open(&urls[1]).await.unwrap()];
    let [one, other] = &programs;
    let [first, second] = tables;
    let (mut owned, mut refused) = (0, 0);
    for round in 0..24 {
        for set in ["one", "other"] {
            admin.run(&format!("DELETE FROM {set}.lacuna_lease; DELETE FROM {set}.lacuna_fence")).await;
        }
        let (first_of_one, second_of_other, second_of_one, first_of_other) =
            tokio::join!(gets(one, first), gets(other, second), gets(one, second), gets(other, first),);
        for (table, of_one, of_other) in
            [(first, first_of_one, first_of_other), (second, second_of_one, second_of_other)]
        {
            assert!(!(of_one && of_other), "round {round}: both programs own {table}");
            if of_one || of_other {
                owned += 1;
                assert!(!gets(if of_one { other } else { one }, table).await, "round {round}: {table}");
                continue;
            }
            // Each has seen the row of the other. An operator drops one of the two sets, as the refusal says.
            refused += 1;
            let name = shared_name(&urls[0], table).await.unwrap();
            admin.run(&format!("DELETE FROM other.lacuna_fence WHERE name = '{name}'")).await;
            assert!(gets(one, table).await, "round {round}: {table} has no owner");
            assert!(!gets(other, table).await, "round {round}: {table} has two owners");
        }
    }
    println!("{owned} tables had an owner at once, {refused} after one set was dropped");
    for program in &programs {
        program.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_claimed_at_once_in_two_sets_of_mariadb_have_one_owner_each() {
    let Some(server) = MariaDb::start() else { return };
    let mut admin = Plain::open(&server.url()).await;
    let columns = "(id BIGINT PRIMARY KEY, value BIGINT)";
    let sql = format!(
        "CREATE DATABASE one; CREATE DATABASE other; CREATE TABLE orders {columns}; CREATE TABLE users {columns}"
    );
    admin.run(&sql).await;
    let urls = ["one", "other"].map(|database| server.url().replace("/test", &format!("/{database}")));
    tables_claimed_at_once_have_one_owner_each(&mut admin, urls, ["test.orders", "test.users"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_claimed_at_once_in_two_sets_of_postgres_have_one_owner_each() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut admin = Plain::open(&url).await;
    for role in ["one", "other"] {
        admin
            .run(&format!("CREATE ROLE {role} SUPERUSER LOGIN; CREATE SCHEMA {role} AUTHORIZATION {role}"))
            .await;
    }
    let columns = "(id BIGINT PRIMARY KEY, value BIGINT)";
    admin.run(&format!("CREATE TABLE orders {columns}; CREATE TABLE users {columns}")).await;
    let urls = ["one", "other"].map(|role| of_role(&url, role));
    tables_claimed_at_once_have_one_owner_each(&mut admin, urls, ["public.orders", "public.users"]).await;
}
