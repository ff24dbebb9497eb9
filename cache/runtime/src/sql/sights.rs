//! What users see of triggers who may not see them.

use lacuna_testkit::servers::MariaDb;

use super::database::{describe, open};

/// `MariaDB` 10.11.19 shows a trigger to users who may write its table, other versions to those with `TRIGGER` alone. Here
/// a user asks from whom every version hides it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn triggers_that_the_catalogue_hides_are_expected_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    let root = open(&server.url()).await.unwrap();
    // Every user has all privileges in the database `test`.
    root.run("CREATE DATABASE shop").await.unwrap();
    root.close().await;
    let url = server.url().replace("/test", "/shop");
    let root = open(&url).await.unwrap();
    root.run("CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT)").await.unwrap();
    let plain = describe(&*root, "people").await.unwrap();
    assert!(!plain.changes_itself, "it has no trigger, and this user would see one");
    let more = "CREATE TRIGGER more BEFORE UPDATE ON people FOR EACH ROW SET NEW.age = NEW.age + 100; \
                CREATE USER reader@'127.0.0.1'; GRANT SELECT ON shop.people TO reader@'127.0.0.1'";
    root.run(more).await.unwrap();
    assert!(describe(&*root, "people").await.unwrap().changes_itself);
    let (_, rest) = url.split_once('@').expect("a user");
    let reader = open(&format!("mysql://reader@{rest}")).await.unwrap();
    let seen =
        reader.query(&super::Statement::new("SELECT TRIGGER_NAME FROM information_schema.TRIGGERS")).await;
    assert!(seen.unwrap().is_empty(), "it is hidden");
    assert!(describe(&*reader, "people").await.unwrap().changes_itself, "and expected");
    reader.close().await;
    root.close().await;
}
