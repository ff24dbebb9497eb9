//! The login of a session, which is over when the session has said who it is.
//!
//! Until then only proofs of the login go to the server; what a client sends early waits.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::{PATIENCE, Session, question};
use crate::session::relay::{End, pass};
use crate::wire::{Fields, Inbox, Next};

/// Both sides of a session that begins.
pub(super) struct Begin<'b, 's, R, W, S, U> {
    pub(super) session: &'b Session<'s>,
    pub(super) client: (&'b mut R, &'b mut W),
    pub(super) upstream: (&'b mut S, &'b mut U),
    pub(super) from_client: Inbox,
    pub(super) from_upstream: Inbox,
}

impl<R, W, S, U> Begin<'_, '_, R, W, S, U>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: AsyncRead + Unpin,
    U: AsyncWrite + Unpin,
{
    /// Returns what was read and has not been looked at; `sent` has come from the server already.
    pub(super) async fn run(mut self, sent: &[u8]) -> Result<(Inbox, Inbox), End> {
        self.from_upstream.push(sent);
        let ready = loop {
            if let Some(ready) = self.server_says().await? {
                break ready;
            }
            self.client_proves().await?;
            self.read().await?;
        };
        timeout(PATIENCE, self.ask()).await.map_err(|_| End::Upstream)??;
        self.session.is_admitted().await;
        self.session.pass_to_client(self.client.1, &ready).await?;
        Ok((self.from_client, self.from_upstream))
    }

    async fn read(&mut self) -> Result<(), End> {
        let (client, upstream) = (&mut *self.client.0, &mut *self.upstream.0);
        // A client that has sent something else than a proof is not read on.
        let may_read = self.from_client.rest().first().is_none_or(|tag| *tag == b'p');
        tokio::select! {
            read = self.from_client.read(client), if may_read => match read {
                Ok(true) => Ok(()),
                _ => Err(End::Client),
            },
            read = self.from_upstream.read(upstream) => match read {
                Ok(true) => Ok(()),
                _ => Err(End::Upstream),
            },
        }
    }

    /// Passes on what the server says up to the end of the login, which it returns.
    async fn server_says(&mut self) -> Result<Option<Vec<u8>>, End> {
        let mut out = Vec::new();
        let ready = loop {
            let place = match self.from_upstream.next() {
                Next::Nothing => break None,
                Next::Whole(tag, place) => {
                    let message = self.from_upstream.bytes(&place);
                    if tag == b'K'
                        && let Some(pid) = Fields::new(&message[5..]).int32()
                    {
                        self.session.process(pid);
                    }
                    if tag == b'Z' {
                        self.session.login_received(message);
                        break Some(message.to_vec());
                    }
                    place
                }
                Next::Part { place, .. } | Next::Broken(place) => place,
            };
            let bytes = self.from_upstream.bytes(&place);
            self.session.login_received(bytes);
            out.extend_from_slice(bytes);
        };
        self.session.pass_to_client(self.client.1, &out).await?;
        Ok(ready)
    }

    /// Passes on the client's proofs.
    async fn client_proves(&mut self) -> Result<(), End> {
        let mut out = Vec::new();
        while self.from_client.rest().first() == Some(&b'p') || !self.from_client.is_between_messages() {
            let (Next::Whole(_, place) | Next::Part { place, .. } | Next::Broken(place)) =
                self.from_client.next()
            else {
                break;
            };
            let bytes = self.from_client.bytes(&place);
            self.session.login_sent(bytes)?;
            out.extend_from_slice(bytes);
        }
        pass(self.upstream.1, &out).await.map_err(|_| End::Upstream)
    }

    async fn ask(&mut self) -> Result<(), End> {
        self.session.asks();
        pass(self.upstream.1, &question()).await.map_err(|_| End::Upstream)?;
        loop {
            let mut received = super::Received::default();
            self.session.received(&mut self.from_upstream, &mut received);
            self.session.pass_to_client(self.client.1, &received.bytes).await?;
            if received.is_answered {
                return Ok(());
            }
            match self.from_upstream.read(self.upstream.0).await {
                Ok(true) => {}
                _ => return Err(End::Upstream),
            }
        }
    }
}
