//! Databases that are reached with TLS, by the options of their drivers in the URL.

use lacuna_cache::sql::{DomainType, Options, Schema};
use lacuna_cache_protocol::ErrorKind;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::authority::{Authority, files};

/// Who signs the server's certificate, and somebody else, as files.
struct Authorities {
    folder: tempfile::TempDir,
    ours: Authority,
}

impl Authorities {
    fn new() -> Self {
        let (folder, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
        std::fs::write(folder.path().join("ours.pem"), ours.pem()).unwrap();
        std::fs::write(folder.path().join("theirs.pem"), Authority::new("theirs").pem()).unwrap();
        Self { folder, ours }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

/// Reads and writes through a cache whose database answers `question` with whether its connection is encrypted.
async fn works(url: &str, question: &str) {
    let cache = Options::new(url).open().await.unwrap();
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age BIGINT)").await.unwrap();
    let is_encrypted = format!("INSERT INTO people SELECT 1, CASE WHEN {question} THEN 7 ELSE 8 END");
    cache.run_sql(&is_encrypted).await.unwrap();
    let table =
        cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await.unwrap();
    assert_eq!(table.get("age", 7..=7).await.unwrap().len(), 1, "the connection is encrypted");
    table.insert([("id", 2.into()), ("age", 7.into())]).await.unwrap();
    assert_eq!(table.get("age", 7..=7).await.unwrap().len(), 2);
    cache.stop().await.unwrap();
}

/// Not connected, for a reason that names the certificate and stands on one line.
async fn is_refused(url: &str) {
    let why = Options::new(url).open().await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Unavailable, "{why}");
    let text = why.to_string();
    assert!(text.to_lowercase().contains("certificate") && !text.contains('\n'), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_reached_with_tls_if_its_certificate_is_right() {
    let authorities = Authorities::new();
    let server = files(authorities.folder.path(), &authorities.ours.sign("localhost"), None);
    let Some(server) = Postgres::start_encrypted(&server) else { return };
    let url = |name: &str, authority: &str| {
        format!("{name}?sslmode=verify-full&sslrootcert={}", authorities.path(authority))
    };
    let question = "(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())";
    works(&url(&server.named_url(), "ours.pem"), question).await;
    is_refused(&url(&server.named_url(), "theirs.pem")).await;
    is_refused(&url(&server.url(), "ours.pem")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_is_reached_with_tls_if_its_certificate_is_right() {
    let authorities = Authorities::new();
    let server = files(authorities.folder.path(), &authorities.ours.sign("localhost"), None);
    let Some(server) = MariaDb::start_encrypted(&server) else { return };
    let url = |name: &str, authority: &str| {
        format!("{name}?ssl-mode=VERIFY_IDENTITY&ssl-ca={}", authorities.path(authority))
    };
    let question = "(SELECT variable_value <> '' FROM information_schema.session_status \
                    WHERE variable_name = 'Ssl_cipher')";
    works(&url(&server.named_url(), "ours.pem"), question).await;
    is_refused(&url(&server.named_url(), "theirs.pem")).await;
    is_refused(&url(&server.url(), "ours.pem")).await;
}
