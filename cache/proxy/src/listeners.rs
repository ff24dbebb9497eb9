//! Where clients connect to: an address, and besides it a Unix socket, if there is one.

use std::fs::{self, Permissions};
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use lacuna_base::{Error, Result};
use socket2::SockRef;
use tokio::net::{TcpListener, UnixListener};

use crate::connection::Connection;

/// Listeners that end in every process that has them when this is dropped: a child that was forked a moment ago has them, too, until
/// it runs a program of its own.
#[derive(Debug)]
pub(crate) struct Listeners {
    tcp: TcpListener,
    unix: Option<Socket>,
}

impl Listeners {
    /// Listens at `address`, and at the socket of its port in `folder`.
    ///
    /// # Errors
    /// `Unavailable` with what cannot be listened at, and why.
    pub(crate) async fn bind(address: SocketAddr, folder: Option<&Path>) -> Result<Self> {
        let cannot = |place: String| {
            move |why: io::Error| {
                Error::unavailable(format!("{place} cannot be listened at: {why}")).with_source(why)
            }
        };
        let tcp = TcpListener::bind(address).await.map_err(cannot(address.to_string()))?;
        // Two proxies that listen at one address cannot be here at once, so that one does not remove what the other has just made.
        let port = tcp.local_addr().map_err(cannot(address.to_string()))?.port();
        let path = folder.map(|folder| socket_of(folder, port));
        let unix =
            path.map(|path| Socket::bind(&path).map_err(cannot(path.display().to_string()))).transpose()?;
        Ok(Self { tcp, unix })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// The path of the socket.
    pub(crate) fn socket(&self) -> Option<&Path> {
        self.unix.as_ref().map(|socket| socket.path.as_path())
    }

    /// The next client. May be dropped at any time: no client is taken then.
    pub(crate) async fn accept(&self) -> io::Result<Connection> {
        tokio::select! {
            accepted = self.tcp.accept() => Ok(Connection::tcp(accepted?.0)),
            accepted = accept(self.unix.as_ref()) => accepted,
        }
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        // A system may know this of connections alone: then copies listen until they are closed.
        drop(SockRef::from(&self.tcp).shutdown(Shutdown::Both));
    }
}

async fn accept(socket: Option<&Socket>) -> io::Result<Connection> {
    match socket {
        Some(socket) => Ok(Connection::Unix(socket.listener.accept().await?.0)),
        None => std::future::pending().await,
    }
}

/// The socket of a server at `port`, where clients look for it.
pub(crate) fn socket_of(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!(".s.PGSQL.{port}"))
}

/// A Unix socket, whose file goes with it.
#[derive(Debug)]
struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the file: another process may have put its own in that place.
    file: (u64, u64),
}

impl Socket {
    /// Takes the place of a socket that its process has left there.
    fn bind(path: &Path) -> io::Result<Self> {
        if is_left(path)? {
            fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        // As PostgreSQL does: who may log in is asked in the session.
        fs::set_permissions(path, Permissions::from_mode(0o777))?;
        Ok(Self { listener, path: path.to_owned(), file: file_of(path)? })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        drop(SockRef::from(&self.listener).shutdown(Shutdown::Both));
        if file_of(&self.path).is_ok_and(|file| file == self.file) {
            drop(fs::remove_file(&self.path));
        }
    }
}

fn file_of(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}

/// Whether a socket is there that no process listens at.
///
/// # Errors
/// `AddrInUse` if a process does, or if something else is there.
fn is_left(path: &Path) -> io::Result<bool> {
    let kind = match fs::symlink_metadata(path) {
        Ok(file) => file.file_type(),
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(why) => return Err(why),
    };
    let taken = |why| Err(io::Error::new(io::ErrorKind::AddrInUse, why));
    if !kind.is_socket() {
        return taken("a file is there that is no socket");
    }
    match UnixStream::connect(path) {
        Ok(_) => taken("another process listens there"),
        Err(why) if why.kind() == io::ErrorKind::ConnectionRefused => Ok(true),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpStream;

    use super::*;

    const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_copy_of_the_listener_listens_no_longer() {
        let listener = std::net::TcpListener::bind(ANY).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (address, copy) = (listener.local_addr().unwrap(), listener.try_clone().unwrap());
        let listeners = Listeners { tcp: TcpListener::from_std(listener).unwrap(), unix: None };
        drop(TcpStream::connect(address).unwrap());
        drop(listeners);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        drop(copy);
    }

    #[tokio::test]
    async fn a_socket_is_there_as_long_as_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let listeners = Listeners::bind(ANY, Some(folder.path())).await.unwrap();
        let path = socket_of(folder.path(), listeners.address().unwrap().port());
        assert_eq!(listeners.socket(), Some(path.as_path()));
        drop(UnixStream::connect(&path).unwrap());
        assert!(matches!(listeners.accept().await.unwrap(), Connection::Unix(_)));
        drop(listeners);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_socket_that_its_process_has_left_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let socket = Socket::bind(&path).unwrap();
        drop(UnixStream::connect(&path).unwrap());
        drop(socket);
    }

    #[tokio::test]
    async fn a_socket_of_another_process_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let why = Socket::bind(&path).unwrap_err();
        assert!(why.to_string().contains("another process listens"), "{why}");
        drop(UnixStream::connect(&path).unwrap());
        drop(other);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "kept").unwrap();
        let why = Socket::bind(&path).unwrap_err();
        assert!(why.to_string().contains("no socket"), "{why}");
        assert_eq!(fs::read(&path).unwrap(), b"kept");
    }

    #[tokio::test]
    async fn a_socket_that_took_the_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let first = Socket::bind(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let second = Socket::bind(&path).unwrap();
        drop(first);
        drop(UnixStream::connect(&path).unwrap());
        drop(second);
    }
}
