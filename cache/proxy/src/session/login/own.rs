//! Two logins in the place of one, for a role whose keys the proxy knows: the client's ends here, and what its proof has
//! shown logs in at the database. Each is bound to the certificate that its client sees.

use std::io;

use tokio_rustls::rustls::pki_types::CertificateDer;

use super::{Begun, Refusal, offer, request, send};
use crate::connection::Connection;
use crate::scram::{self, ClientLogin, Failure, Proven, ServerLogin, Verifier};
use crate::session::code;
use crate::tls;
use crate::wire::login::{SASL_CONTINUE, SASL_FINAL, read};
use crate::wire::{self, Fields};

/// A login that is about to begin: the database has offered SCRAM.
#[derive(Debug)]
pub(super) struct Login<'a> {
    /// The certificate that the client has seen.
    pub(super) own: Option<&'a CertificateDer<'static>>,
    pub(super) role: &'a [u8],
    pub(super) verifier: &'a Verifier,
    /// The database offers to bind.
    pub(super) may_bind: bool,
}

impl Login<'_> {
    /// Logs the client in here and at the database, up to the message by which the database takes it.
    pub(super) async fn run(
        self,
        client: &mut Connection,
        mut upstream: Connection,
    ) -> Result<Begun, Refusal> {
        let proven = self.proven(client).await?;
        if let Some(refused) = self.log_in(&proven, &mut upstream).await? {
            return Ok(Begun { upstream, sent: refused });
        }
        // Only now, when the database has taken the role.
        send_to_client(client, &request(SASL_FINAL, proven.answer.as_bytes())).await?;
        Ok(Begun { upstream, sent: Vec::new() })
    }

    /// What the client's proof shows.
    async fn proven(&self, client: &mut Connection) -> Result<Proven, Refusal> {
        let endpoint = self.own.and_then(tls::endpoint);
        let offered = if endpoint.is_some() { &[scram::PLUS, scram::PLAIN][..] } else { &[scram::PLAIN] };
        send_to_client(client, &offer(offered)).await?;
        let initial = answer_of(client).await?;
        let (mechanism, first) = initial_response(&initial).ok_or_else(|| self.failed(Failure::Malformed))?;
        let nonce = scram::nonce()?;
        let login = ServerLogin::begin(self.verifier, endpoint.as_deref(), mechanism, first, &nonce);
        let login = login.map_err(|why| self.failed(why))?;
        send_to_client(client, &request(SASL_CONTINUE, login.answer().as_bytes())).await?;
        let last = answer_of(client).await?;
        login.finish(&last).map_err(|why| self.failed(why))
    }

    /// Logs in at the database; what it says if it refuses.
    async fn log_in(&self, proven: &Proven, upstream: &mut Connection) -> Result<Option<Vec<u8>>, Refusal> {
        let endpoint = upstream.certificate_of_server().filter(|_| self.may_bind).and_then(tls::endpoint);
        let mechanism = if endpoint.is_some() { scram::PLUS } else { scram::PLAIN };
        let login = ClientLogin::new(self.verifier, proven, endpoint.as_deref(), scram::nonce()?);
        let first = login.first();
        let length = u32::try_from(first.len()).expect("a nonce is short").to_be_bytes();
        let initial = [mechanism, b"\0", &length, first.as_bytes()].concat();
        let answer = match answered(upstream, SASL_CONTINUE, &initial).await? {
            Ok(answer) => answer,
            Err(refused) => return Ok(Some(refused)),
        };
        let (last, asked) = login.prove(&answer).map_err(|why| self.failed_upstream(why))?;
        let answer = match answered(upstream, SASL_FINAL, last.as_bytes()).await? {
            Ok(answer) => answer,
            Err(refused) => return Ok(Some(refused)),
        };
        asked.finish(&answer).map_err(|why| self.failed_upstream(why))?;
        Ok(None)
    }

    /// A login that the client has made wrong.
    fn failed(&self, why: Failure) -> Refusal {
        let role = String::from_utf8_lossy(self.role);
        match why {
            Failure::WrongPassword => Refusal::Login(
                code::WRONG_PASSWORD,
                format!("password authentication failed for user \"{role}\""),
            ),
            Failure::OtherCertificate => Refusal::Login(
                code::LOGIN_REFUSED,
                "the login is bound to another certificate than the proxy's: something stands between the client and the proxy"
                    .to_owned(),
            ),
            Failure::Downgraded => Refusal::Login(
                code::LOGIN_REFUSED,
                "the client could bind its login to the proxy's certificate and did not see that offered: something stands \
                 between the client and the proxy"
                    .to_owned(),
            ),
            _ => Refusal::Login(
                code::PROTOCOL_VIOLATION,
                "the client's login is not one of SCRAM-SHA-256".to_owned(),
            ),
        }
    }

    /// A login at which the database is not what the file of logins says.
    fn failed_upstream(&self, why: Failure) -> Refusal {
        let role = String::from_utf8_lossy(self.role);
        match why {
            Failure::OtherKeys | Failure::WrongServer => Refusal::Login(
                code::LOGIN_REFUSED,
                format!(
                    "the database has other keys of role \"{role}\" than the proxy's file of logins: its line must be written anew \
                     from pg_authid.rolpassword"
                ),
            ),
            _ => Refusal::Lost(not_scram()),
        }
    }
}

/// Mechanism and first message of a client that has chosen.
fn initial_response(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut fields = Fields::new(body);
    let mechanism = fields.text()?;
    let first = fields.value()??;
    fields.rest().is_empty().then_some((mechanism, first))
}

async fn send_to_client(client: &mut Connection, message: &[u8]) -> Result<(), Refusal> {
    send(client, message).await.map_err(Refusal::Gone)
}

/// The body of the client's next message, which answers a request of the login.
async fn answer_of(client: &mut Connection) -> Result<Vec<u8>, Refusal> {
    match read(client).await.map_err(Refusal::Gone)? {
        (b'p', body) => Ok(body),
        _ => Err(Refusal::Gone(io::ErrorKind::InvalidData.into())),
    }
}

/// Sends an answer to the database: the data of its next request, or the message by which it refuses.
async fn answered(upstream: &mut Connection, kind: i32, body: &[u8]) -> io::Result<Result<Vec<u8>, Vec<u8>>> {
    send(upstream, &wire::message(b'p', body)).await?;
    let (tag, body) = read(upstream).await?;
    let mut fields = Fields::new(&body);
    match tag {
        b'E' => Ok(Err(wire::message(b'E', &body))),
        b'R' if fields.int32() == Some(kind) => Ok(Ok(fields.rest().to_vec())),
        _ => Err(not_scram()),
    }
}

fn not_scram() -> io::Error {
    io::Error::other("its answer to a login is not one of SCRAM-SHA-256")
}
