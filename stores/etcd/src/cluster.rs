//! The members of a cluster, any of which answers for all.
//!
//! Requests go to one member until it fails, then to the next. What only reads, or may be done twice, is asked of the next
//! member at once; a transaction that may have been carried out is left to the caller.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use lacuna_core::{Error, Result};
use serde_json::Value;
use tokio::time::timeout;

use crate::http::{Failed, Member};

#[derive(Debug)]
pub(crate) struct Cluster {
    members: Vec<Member>,
    /// The member that is asked first, by its place.
    favourite: AtomicUsize,
    /// How long one member is waited for.
    patience: Duration,
}

impl Cluster {
    /// The members of `etcd://host:port,host:port`; all together are waited for so long.
    pub(crate) fn new(url: &str, patience: Duration) -> Result<Self> {
        let rest = url.strip_prefix("etcd://").or_else(|| url.strip_prefix("http://"));
        let list = rest.ok_or_else(|| unreadable(url))?.trim_end_matches('/');
        let members: Vec<Member> = list
            .split(',')
            .map(|authority| {
                let is_sound = authority.parse::<hyper::http::uri::Authority>();
                let has_port = is_sound.is_ok_and(|authority| authority.port_u16().is_some());
                if has_port { Ok(Member::new(authority.to_owned())) } else { Err(unreadable(url)) }
            })
            .collect::<Result<_>>()?;
        let share = u32::try_from(members.len()).unwrap_or(u32::MAX);
        Ok(Self { members, favourite: AtomicUsize::new(0), patience: patience / share })
    }

    /// A call that may be carried out twice: every member is asked in turn until one answers.
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

    /// A call that is sent once; members that are not reached do not count.
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

    /// One member: if it fails, the next is asked first from now on.
    async fn attempt(&self, path: &str, body: &Value) -> Result<Value, Failed> {
        let place = self.favourite.load(Ordering::Relaxed);
        let late = || Failed::Unknown(Error::unavailable("a member of etcd does not answer in time"));
        let answer = timeout(self.patience, self.members[place].call(path, body)).await;
        let answer = answer.unwrap_or_else(|_| Err(late()));
        match &answer {
            Ok(_) => {}
            Err(Failed::Refused(status, _)) if !status.is_server_error() => {}
            Err(_) => self.pass_on(place),
        }
        answer
    }

    /// An endless answer of the favourite member.
    pub(crate) async fn stream(&self, path: &str, body: &Value) -> Result<Incoming> {
        let place = self.favourite.load(Ordering::Relaxed);
        let stream = timeout(self.patience, self.members[place].stream(path, body)).await;
        match stream {
            Ok(Ok(stream)) => Ok(stream),
            _ => {
                self.pass_on(place);
                Err(Error::unavailable("a member of etcd does not stream"))
            }
        }
    }

    fn pass_on(&self, from: usize) {
        let next = (from + 1) % self.members.len();
        // Whoever was faster has moved it already.
        let _ = self.favourite.compare_exchange(from, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

fn unreadable(url: &str) -> Error {
    Error::invalid_input(format!("{url} is no etcd://HOST:PORT, with more of them behind commas"))
}
