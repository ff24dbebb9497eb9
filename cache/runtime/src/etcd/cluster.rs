//! The members of an etcd cluster, any of which can answer.
//!
//! Requests go to one member until it fails, then to the next. A request that only reads, or may be executed
//! twice, is sent to the next member at once; a transaction that may have been executed is reported to the caller.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use serde_json::Value;
use tokio::time::timeout;

use crate::etcd::http::{Failed, Member};
use crate::etcd::login::{Login, is_outdated};
use crate::tls::Certificates;

#[derive(Debug)]
pub(crate) struct Cluster {
    members: Vec<Member>,
    /// The index of the member that is asked first.
    favourite: AtomicUsize,
    login: Option<Login>,
    /// How long to wait for one member.
    patience: Duration,
}

impl Cluster {
    /// The members of `etcd://host:port,host:port`; `patience` limits the time for all of them together.
    ///
    /// # Errors
    /// `InvalidInput` if the URL names none, or certificates are missing or invalid.
    pub(crate) fn new(
        url: &str,
        patience: Duration,
        certificates: Option<&Certificates>,
        login: Option<Login>,
    ) -> Result<Self> {
        let starting = |schemes: [&str; 2]| schemes.iter().find_map(|scheme| url.strip_prefix(scheme));
        let (list, tls) = match (starting(["etcds://", "https://"]), certificates) {
            (Some(list), Some(certificates)) => (list, Some(certificates.config()?)),
            (Some(_), None) => {
                let message = format!("{url} is encrypted: the certificate of the authority is needed");
                return Err(Error::invalid_input(message));
            }
            (None, _) => (starting(["etcd://", "http://"]).ok_or_else(|| unreadable(url))?, None),
        };
        if tls.is_none() && certificates.is_some() {
            let message =
                format!("{url} is not encrypted, so certificates are not used: give etcds://HOST:PORT");
            return Err(Error::invalid_input(message));
        }
        let list = list.trim_end_matches('/');
        let members: Vec<Member> = list
            .split(',')
            .map(|authority| {
                let is_sound = authority.parse::<hyper::http::uri::Authority>();
                let has_port = is_sound.is_ok_and(|authority| authority.port_u16().is_some());
                if has_port {
                    Ok(Member::new(authority.to_owned(), tls.clone()))
                } else {
                    Err(unreadable(url))
                }
            })
            .collect::<Result<_>>()?;
        let share = u32::try_from(members.len()).unwrap_or(u32::MAX);
        Ok(Self { members, favourite: AtomicUsize::new(0), login, patience: patience / share })
    }

    /// Checks that a member answers, is trusted, and accepts the user.
    ///
    /// # Errors
    /// `InvalidInput` if one answers and certificates or password do not match; `Unavailable` if none answers.
    pub(crate) async fn check(&self) -> Result<()> {
        let mut why = Error::unavailable("no member of etcd was asked");
        for member in &self.members {
            let asked = async {
                match &self.login {
                    Some(login) => login.renew(member).await.map(drop),
                    None => member.connection_is_sound().await.map_err(Failed::NotSent),
                }
            };
            match timeout(self.patience, asked).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(Failed::NotSent(error))) if error.kind() == ErrorKind::InvalidInput => {
                    return Err(error);
                }
                Ok(Err(failed)) => why = failed.into_error(),
                Err(_) => why = Error::unavailable("a member of etcd did not answer in time"),
            }
        }
        Err(why)
    }

    /// A call that may be executed twice: every member is asked in turn until one answers.
    pub(crate) async fn ask(&self, path: &str, body: &Value) -> Result<Value, Failed> {
        let mut failed = Failed::NotSent(Error::unavailable("no member of etcd was asked"));
        for _ in 0..self.members.len() {
            match self.attempt(path, body).await {
                Ok(answer) => return Ok(answer),
                Err(Failed::Refused(status, message)) if !status.is_server_error() => {
                    return Err(Failed::Refused(status, message));
                }
                Err(next) => failed = next,
            }
        }
        Err(failed)
    }

    /// A call that is sent once; members that cannot be reached are skipped.
    pub(crate) async fn tell(&self, path: &str, body: &Value) -> Result<Value, Failed> {
        let mut failed = Failed::NotSent(Error::unavailable("no member of etcd was asked"));
        for _ in 0..self.members.len() {
            match self.attempt(path, body).await {
                Err(Failed::NotSent(error)) => failed = Failed::NotSent(error),
                done => return done,
            }
        }
        Err(failed)
    }

    /// A member that does not know the token has executed nothing, and is asked again with a new one.
    async fn call(&self, member: &Member, path: &str, body: &Value) -> Result<Value, Failed> {
        let Some(login) = &self.login else { return member.call(path, body, None).await };
        let token = login.token(member).await?;
        match member.call(path, body, Some(&token)).await {
            Err(failed) if is_outdated(&failed) => {
                let token = login.renew(member).await?;
                member.call(path, body, Some(&token)).await
            }
            answer => answer,
        }
    }

    /// One member: if it fails, the next is asked first from now on.
    async fn attempt(&self, path: &str, body: &Value) -> Result<Value, Failed> {
        let place = self.favourite.load(Ordering::Relaxed);
        let late = || Failed::Unknown(Error::unavailable("a member of etcd did not answer in time"));
        let answer = timeout(self.patience, self.call(&self.members[place], path, body)).await;
        let answer = answer.unwrap_or_else(|_| Err(late()));
        match &answer {
            Ok(_) => {}
            Err(Failed::Refused(status, _)) if !status.is_server_error() => {}
            Err(_) => self.pass_on(place),
        }
        answer
    }

    /// A streaming answer of the preferred member.
    pub(crate) async fn stream(&self, path: &str, body: &Value) -> Result<Incoming> {
        let place = self.favourite.load(Ordering::Relaxed);
        // Other calls renew the token.
        let token = self.login.as_ref().and_then(Login::known);
        let stream = timeout(self.patience, self.members[place].stream(path, body, token.as_deref())).await;
        match stream {
            Ok(Ok(stream)) => Ok(stream),
            _ => {
                self.pass_on(place);
                Err(Error::unavailable("a member of etcd does not stream changes"))
            }
        }
    }

    fn pass_on(&self, from: usize) {
        let next = (from + 1) % self.members.len();
        // A concurrent call has moved it already.
        let _ = self.favourite.compare_exchange(from, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

fn unreadable(url: &str) -> Error {
    Error::invalid_input(format!(
        "{url} is not of the form etcd://HOST:PORT,HOST:PORT (etcds:// if etcd is encrypted)"
    ))
}
