//! `etcd`, one member or several.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::servers::port::free_port;
use crate::servers::process::{PATIENCE, Process, is_installed};
use crate::servers::relay::{Name, Wires};
use crate::servers::tls_files::TlsFiles;

/// An etcd cluster.
#[derive(Debug)]
pub struct Etcd {
    members: Vec<Member>,
    wires: Arc<Wires>,
    folder: TempDir,
}

impl TlsFiles {
    /// Both ports, in place of the plain one alone: of several values of a flag the last counts.
    fn of_etcd(&self, (plain, encrypted): (u16, u16)) -> Vec<String> {
        let urls = format!("http://127.0.0.1:{plain},https://127.0.0.1:{encrypted}");
        let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
        let mut arguments = vec![
            format!("--listen-client-urls={urls}"),
            format!("--advertise-client-urls={urls}"),
            flag("cert-file", &self.certificate),
            flag("key-file", &self.key),
        ];
        if let Some(authority) = &self.authority_of_clients {
            arguments.extend(["--client-cert-auth".to_owned(), flag("trusted-ca-file", authority)]);
        }
        arguments
    }
}

#[derive(Debug)]
struct Member {
    process: Process,
    port: u16,
    encrypted: Option<u16>,
    arguments: Vec<String>,
    /// Its name in requests to other members: its number, in base 16.
    number: Name,
}

impl Etcd {
    /// A cluster of this number of members, with a fast election; `None` if etcd is not installed and need not be.
    ///
    /// # Panics
    /// If they do not start.
    pub fn start(count: usize) -> Option<Self> {
        Self::start_with(count, None)
    }

    /// One member that is reached at an encrypted port, too ([`Etcd::encrypted_url`]); `None` as above.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_encrypted(files: &TlsFiles) -> Option<Self> {
        Self::start_with(1, Some(files))
    }

    fn start_with(count: usize, files: Option<&TlsFiles>) -> Option<Self> {
        if !is_installed("etcd") {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for the cluster");
        // Members are known to each other at the relays before them.
        let wires = Arc::<Wires>::default();
        let relays: Vec<TcpListener> = (0..count).map(|_| listen()).collect();
        let announced: Vec<String> = relays.iter().map(url_at).collect();
        let all: Vec<String> =
            announced.iter().enumerate().map(|(place, url)| format!("m{place}={url}")).collect();
        let mut members = Vec::new();
        for (place, relay) in relays.into_iter().enumerate() {
            let (port, peer, number) = (free_port(), free_port(), Name::default());
            wires.relay(relay, peer, number.clone());
            let data = folder.path().join(format!("m{place}")).display().to_string();
            let mut arguments = arguments(place, (port, peer), &announced[place], &data, &all.join(","));
            let encrypted = files.map(|files| {
                let encrypted = free_port();
                arguments.extend(files.of_etcd((port, encrypted)));
                encrypted
            });
            let process = Process::start("etcd", &arguments, port);
            members.push(Member { process, port, encrypted, arguments, number });
        }
        let cluster = Self { members, wires, folder };
        cluster.leader();
        cluster.members.iter().for_each(Member::learn_number);
        Some(cluster)
    }

    /// Where it is.
    pub fn url(&self) -> String {
        let members: Vec<String> =
            self.members.iter().map(|member| format!("127.0.0.1:{}", member.port)).collect();
        format!("etcd://{}", members.join(","))
    }

    /// Where its only member is reached with TLS.
    ///
    /// # Panics
    /// If it is not.
    pub fn encrypted_url(&self) -> String {
        let port = self.members.first().and_then(|member| member.encrypted);
        format!("etcds://localhost:{}", port.expect("it was started with certificates"))
    }

    /// From now on every request needs a password. `root` has this one and may do everything.
    ///
    /// # Panics
    /// If etcd does not accept the setting.
    pub fn ask_for_passwords(&self, password: &str) {
        let user = format!("{{\"name\":\"root\",\"password\":\"{password}\"}}");
        let calls = [
            ("/v3/auth/user/add", user.as_str()),
            ("/v3/auth/role/add", "{\"name\":\"root\"}"),
            ("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}"),
            ("/v3/auth/enable", "{}"),
        ];
        for (path, body) in calls {
            let answer = post(self.members[0].port, path, body).expect("a member answers");
            assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        }
    }

    /// Where one member is.
    pub fn url_of(&self, place: usize) -> String {
        format!("etcd://127.0.0.1:{}", self.members[place].port)
    }

    /// Waits until a majority answers; returns the member that leads, and can be written to.
    ///
    /// # Panics
    /// If it does not in time.
    pub fn leader(&self) -> usize {
        let start = Instant::now();
        loop {
            let leader = (0..self.members.len()).find(|place| self.leads(*place).unwrap_or(false));
            if let Some(leader) = leader {
                return leader;
            }
            let folder = self.folder.path().display();
            assert!(start.elapsed() < PATIENCE, "etcd in {folder} has no leader");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn leads(&self, place: usize) -> Option<bool> {
        let port = self.members[place].port;
        let status = post(port, "/v3/maintenance/status", "{}")?;
        let own = text_after(&status, "\"member_id\":\"")?;
        let is_leader = text_after(&status, "\"leader\":\"") == Some(own);
        let is_writable = || post(port, "/v3/kv/put", "{\"key\":\"AA==\"}");
        Some(is_leader && is_writable()?.starts_with("HTTP/1.1 200"))
    }

    /// Kills a member, as a power failure would.
    pub fn kill(&mut self, place: usize) {
        self.members[place].process.kill();
    }

    /// Starts a member again, with what its disk has.
    pub fn restart(&mut self, place: usize) {
        let member = &mut self.members[place];
        member.process.kill();
        member.process = Process::start("etcd", &member.arguments, member.port);
    }

    /// Cuts a member off from the others; clients still reach it.
    pub fn isolate(&self, place: usize) {
        self.wires.cut(&self.members[place].number());
    }

    /// Ends that.
    pub fn rejoin(&self, place: usize) {
        self.wires.mend(&self.members[place].number());
    }

    /// Revokes one of the present leases, as if its time were over, although its holder believes otherwise; whether
    /// there was one.
    pub fn revoke_lease(&self, choice: usize) -> bool {
        let ports: Vec<u16> = self.members.iter().map(|member| member.port).collect();
        let all = ports.iter().find_map(|port| post(*port, "/v3/lease/leases", "{}")).unwrap_or_default();
        let numbers: Vec<&str> =
            all.split("\"ID\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let Some(number) = numbers.get(choice % numbers.len().max(1)) else { return false };
        let revoke = format!("{{\"ID\":\"{number}\"}}");
        let said = ports.iter().find_map(|port| post(*port, "/v3/lease/revoke", &revoke));
        said.is_some_and(|said| said.starts_with("HTTP/1.1 200"))
    }

    /// Pauses a member until it is resumed.
    pub fn pause(&self, place: usize) {
        self.members[place].process.pause();
    }

    /// Resumes a paused member.
    pub fn resume(&self, place: usize) {
        self.members[place].process.resume();
    }
}

impl Member {
    fn learn_number(&self) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = post(self.port, "/v3/maintenance/status", "{}") {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "a member that answered does not any more");
            std::thread::sleep(Duration::from_millis(20));
        };
        let decimal = text_after(&status, "\"member_id\":\"").expect("members have numbers");
        let number: u64 = decimal.parse().expect("numbers are decimal here");
        *self.number.lock().expect("nobody panics with it") = format!("{number:x}");
    }

    fn number(&self) -> String {
        self.number.lock().expect("nobody panics with it").clone()
    }
}

fn listen() -> TcpListener {
    TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports")
}

fn url_at(relay: &TcpListener) -> String {
    format!("http://127.0.0.1:{}", relay.local_addr().expect("it is bound").port())
}

fn arguments(
    place: usize,
    (port, peer): (u16, u16),
    announced: &str,
    data: &str,
    peers: &str,
) -> Vec<String> {
    let client = format!("http://127.0.0.1:{port}");
    let peer = format!("http://127.0.0.1:{peer}");
    let name = format!("m{place}");
    let pairs = [
        ("name", name.as_str()),
        ("data-dir", data),
        ("listen-client-urls", &client),
        ("advertise-client-urls", &client),
        ("listen-peer-urls", &peer),
        ("initial-advertise-peer-urls", announced),
        ("initial-cluster", peers),
        ("heartbeat-interval", "40"),
        ("election-timeout", "400"),
        ("log-level", "error"),
    ];
    // Members are killed and restarted with what they wrote; in tests the machine itself does not lose power.
    let flags = pairs.iter().map(|(name, value)| format!("--{name}={value}"));
    flags.chain(["--unsafe-no-fsync".to_owned()]).collect()
}

/// The answer, head and body, if there is one soon.
fn post(port: u16, path: &str, body: &str) -> Option<String> {
    let patience = Some(Duration::from_secs(3));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(patience).ok()?;
    let head = format!("POST {path} HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n");
    let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

fn text_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let rest = &text[text.find(before)? + before.len()..];
    rest.split('"').next()
}
