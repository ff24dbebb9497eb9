//! TLS on either side of the proxy, and logins over it.

mod own_logins;

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use lacuna_proxy::{Options, Upstream};
use lacuna_testkit::servers::{Postgres, TlsFiles};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

use crate::raw::{AS_POSTGRES, Raw, V3_0, query, startup};
use crate::world::{Said, World, psql};

/// An authority, and certificates for `localhost` that it has signed.
struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        // Another name than that of the certificates, which would look as if they had signed themselves.
        params.distinguished_name.push(DnType::CommonName, "authority of the test");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    fn file(&self) -> String {
        self.folder.path().join("ca.pem").display().to_string()
    }

    fn certificate(&self, name: &str) -> TlsFiles {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        let file = |end: &str| self.folder.path().join(format!("{name}.{end}"));
        std::fs::write(file("pem"), signed.pem()).unwrap();
        std::fs::write(file("key"), key.serialize_pem()).unwrap();
        TlsFiles { certificate: file("pem"), key: file("key"), authority_of_clients: None }
    }
}

impl Authority {
    /// A client that trusts this authority, and names a protocol.
    fn client(&self, protocol: Option<&str>) -> ClientConnection {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.file()).unwrap()).unwrap();
        let provider = std::sync::Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocol.iter().map(|name| name.as_bytes().to_vec()).collect();
        let name = ServerName::try_from("localhost").unwrap();
        ClientConnection::new(std::sync::Arc::new(config), name).unwrap()
    }

    /// Sends these bytes by TLS, and reads until the connection is closed.
    fn exchange(&self, port: u16, bytes: &[u8]) -> Vec<u8> {
        let (mut tls, mut raw) = (self.client(Some("postgresql")), Raw::connect(port));
        let mut stream = Stream::new(&mut tls, &mut raw.stream);
        let mut answer = Vec::new();
        stream.write_all(bytes).unwrap();
        drop(stream.read_to_end(&mut answer));
        answer
    }
}

fn with_certificate(files: &TlsFiles) -> impl FnOnce(Options) -> Options + use<> {
    let (certificate, key) = (files.certificate.clone(), files.key.clone());
    move |options| options.with_certificate(certificate, key)
}

fn upstream(postgres: &Postgres, parameters: &str) -> Upstream {
    format!("{}?{parameters}", postgres.named_url()).parse().unwrap()
}

/// What a client says of its connection to the proxy, and the database of its own.
fn login(world: &World, parameters: &str) -> Said {
    let url = world.url().replace("postgres@127.0.0.1", "new:secret@localhost");
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    psql(&format!("{url}?{parameters}"), &["-c", "\\conninfo", "-c", sql])
}

fn with_scram(world: World, logins: &str) -> World {
    world.admin("CREATE ROLE new LOGIN PASSWORD 'secret'");
    world.set_logins(&format!("host all postgres all trust\n{logins}"));
    world
}

const SCRAM: &str = "host all new all scram-sha-256";

#[test]
fn clients_are_encrypted_before_a_plain_database() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start() else { return };
    let to = upstream(&postgres, "sslmode=disable");
    let world = World::before(postgres, to, with_certificate(&authority.certificate("proxy"))).unwrap();
    let world = with_scram(world, SCRAM);
    let root = format!("sslmode=verify-full&sslrootcert={}", authority.file());
    for parameters in
        [&root, "sslmode=require&channel_binding=prefer", "sslmode=require&channel_binding=disable"]
    {
        let said = login(&world, parameters).expect_success();
        assert!(said.contains("SSL connection") && said.ends_with("f\n"), "{said}");
    }
    let plain = login(&world, "sslmode=disable").expect_success();
    assert!(!plain.contains("SSL connection"), "{plain}");
    let bound = login(&world, "sslmode=require&channel_binding=require");
    assert!(bound.stderr.contains("channel binding"), "{bound:?}");
}

#[test]
fn the_database_is_reached_by_tls() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start_encrypted(&authority.certificate("server")) else { return };
    let to = upstream(&postgres, &format!("sslmode=verify-full&sslrootcert={}", authority.file()));
    let world = World::before(postgres, to, |options| options).unwrap();
    let world = with_scram(world, SCRAM);
    // The server offers binding, which libpq takes for an attack on a connection that is not encrypted.
    for parameters in ["sslmode=disable", "sslmode=prefer", "channel_binding=disable"] {
        let said = login(&world, parameters).expect_success();
        assert!(!said.contains("SSL connection") && said.ends_with("t\n"), "{said}");
    }
    let refused = login(&world, "sslmode=require");
    assert!(refused.stderr.contains("does not support SSL"), "{refused:?}");
}

#[test]
fn binding_passes_where_both_show_one_certificate() {
    let authority = Authority::new();
    let files = authority.certificate("shared");
    let Some(postgres) = Postgres::start_encrypted(&files) else { return };
    let to = upstream(&postgres, "sslmode=require");
    let world = World::before(postgres, to, with_certificate(&files)).unwrap();
    let world = with_scram(world, SCRAM);
    for binding in ["require", "prefer", "disable"] {
        let said = login(&world, &format!("sslmode=require&channel_binding={binding}")).expect_success();
        assert!(said.contains("SSL connection") && said.ends_with("t\n"), "{said}");
    }
    let (mut sleeper, _) = Raw::login(world.proxy().address().port());
    assert_eq!(sleeper.ask("SELECT 1"), "TDCZ", "and a plain client of another login");
}

#[test]
fn clients_that_do_not_bind_pass_between_two_certificates() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start_encrypted(&authority.certificate("server")) else { return };
    let to = upstream(&postgres, "sslmode=require");
    let world = World::before(postgres, to, with_certificate(&authority.certificate("proxy"))).unwrap();
    let world = with_scram(world, SCRAM);
    let said = login(&world, "sslmode=require&channel_binding=disable").expect_success();
    assert!(said.contains("SSL connection") && said.ends_with("t\n"), "{said}");
    let refused = login(&world, "sslmode=require&channel_binding=prefer");
    assert!(refused.stderr.contains("channel binding check failed"), "{refused:?}");
}

#[test]
fn a_preference_for_tls_gives_way_to_a_login() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start_encrypted(&authority.certificate("server")) else { return };
    let to = upstream(&postgres, "sslmode=prefer");
    let world = World::before(postgres, to, with_certificate(&authority.certificate("proxy"))).unwrap();
    let world = with_scram(world, SCRAM);
    let said = login(&world, "sslmode=require&channel_binding=prefer").expect_success();
    assert!(said.ends_with("f\n"), "begun again without TLS to the server: {said}");
    let said = login(&world, "sslmode=disable").expect_success();
    assert!(said.ends_with("t\n"), "no reason to give way: {said}");
    world.set_logins("hostssl all postgres all trust\nhostssl all new all scram-sha-256");
    let said = login(&world, "sslmode=require&channel_binding=disable").expect_success();
    assert!(said.ends_with("t\n"), "the server takes TLS alone: {said}");
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let (authority, other) = (Authority::new(), Authority::new());
    let Some(postgres) = Postgres::start_encrypted(&authority.certificate("server")) else { return };
    let to = upstream(&postgres, &format!("sslmode=verify-full&sslrootcert={}", other.file()));
    let world = World::before(postgres, to, |options| options).unwrap();
    let refused = psql(&world.url(), &["-c", "SELECT 1"]);
    assert!(refused.stderr.contains("cannot reach the database: invalid peer certificate"), "{refused:?}");
}

#[test]
fn a_database_without_tls_is_refused_if_tls_is_required() {
    let Some(postgres) = Postgres::start() else { return };
    let to = upstream(&postgres, "sslmode=require");
    let world = World::before(postgres, to, |options| options).unwrap();
    let refused = psql(&world.url(), &["-c", "SELECT 1"]);
    assert!(refused.stderr.contains("does not offer TLS"), "{refused:?}");
}

/// What is sent in clear after a request for TLS must not become a part of the session.
#[test]
fn bytes_before_the_handshake_are_no_statement() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start() else { return };
    let world = World::with(postgres, with_certificate(&authority.certificate("proxy"))).unwrap();
    let mut raw = Raw::connect(world.proxy().address().port());
    let request = [&8_u32.to_be_bytes()[..], &80_877_103_u32.to_be_bytes()].concat();
    raw.stream.write_all(&[request, query("SELECT 1")].concat()).unwrap();
    let mut answer = Vec::new();
    drop(raw.stream.read_to_end(&mut answer));
    assert!(answer.starts_with(b"S"));
    assert!(!answer.contains(&b'Z'), "{answer:?}");
    assert_eq!(world.proxy().counts().sessions, 0);
}

#[test]
fn statements_are_cancelled_over_tls() {
    let authority = Authority::new();
    let files = authority.certificate("shared");
    let Some(postgres) = Postgres::start_encrypted(&files) else { return };
    let to = upstream(&postgres, "sslmode=require");
    let world = World::before(postgres, to, with_certificate(&files)).unwrap();
    let url = format!("{}?sslmode=require", world.url());
    let script = "SELECT pg_sleep(60);\n";
    let mut child = std::process::Command::new("psql")
        .args(["-X", &url, "-c", script.trim()])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    crate::world::eventually("it sleeps", || {
        world.admin("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'").trim() == "1"
    });
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    assert!(said.contains("canceling statement due to user request"), "{said}");
}

/// `sslnegotiation=direct` of PostgreSQL 17: TLS without a request before it, for the protocol that it names.
#[test]
fn tls_may_begin_without_a_request() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start() else { return };
    let world = World::with(postgres, with_certificate(&authority.certificate("proxy"))).unwrap();
    for (protocol, is_taken) in [(Some("postgresql"), true), (Some("http/1.1"), false), (None, false)] {
        let mut tls = authority.client(protocol);
        let mut raw = Raw::connect(world.proxy().address().port());
        let mut stream = Stream::new(&mut tls, &mut raw.stream);
        let mut first = [0];
        let answered =
            stream.write_all(&startup(V3_0, &AS_POSTGRES)).and_then(|()| stream.read_exact(&mut first));
        assert_eq!(answered.is_ok() && first == *b"R", is_taken, "{protocol:?}");
    }
}

#[test]
fn a_socket_has_no_tls_though_there_is_a_certificate() {
    let Some(postgres) = Postgres::start() else { return };
    let authority = Authority::new();
    let (folder, files) = (&authority.folder, authority.certificate("proxy"));
    let world = World::with(postgres, |options| {
        options.with_socket_folder(folder.path()).with_certificate(&files.certificate, &files.key)
    });
    let world = world.unwrap();
    let mut client = UnixStream::connect(world.proxy().socket().unwrap()).unwrap();
    client.write_all(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]).unwrap();
    let mut answer = [0];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [b'N']);
    // A handshake without a request before it is no packet.
    let mut client = UnixStream::connect(world.proxy().socket().unwrap()).unwrap();
    client.write_all(&[0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]).unwrap();
    // It may be reset, with what was not read.
    assert_eq!(client.read(&mut answer).unwrap_or(0), 0, "the connection ends");
}
