//! A client, from its first byte to its last.

mod caching;
mod cancel;
mod farewell;
mod hello;
mod login;
pub(crate) mod relay;

use std::io;
use std::sync::Arc;

use tokio::time::timeout;

use crate::connection::Connection;
use crate::credentials::Credentials;
use crate::follow::Following;
use crate::mysql;
use crate::shared::{Counters, Shared};
use crate::upstream::Protocol;
use crate::wire::error_response;

pub(crate) use farewell::farewell;
use hello::Hello;
use login::Refusal;

/// SQLSTATEs of the proxy's own errors.
mod code {
    pub(super) const CANNOT_CONNECT: &str = "08001";
    pub(super) const PROTOCOL_VIOLATION: &str = "08P01";
    pub(super) const LOGIN_REFUSED: &str = "28000";
    pub(super) const WRONG_PASSWORD: &str = "28P01";
    pub(super) const CONNECTION_LOST: &str = "08006";
    pub(super) const TOO_MANY_CONNECTIONS: &str = "53300";
    pub(super) const MESSAGE_TOO_LONG: &str = "54000";
    pub(super) const ADMIN_SHUTDOWN: &str = "57P01";
}

/// Serves one client to its end. What goes wrong is said to the client; the proxy goes on.
pub(crate) async fn serve(shared: Arc<Shared>, client: Connection) {
    match shared.options.upstream.protocol() {
        Protocol::Postgres => serve_postgres(shared, client).await,
        Protocol::MySql => mysql::session::serve(shared, client).await,
    }
}

async fn serve_postgres(shared: Arc<Shared>, client: Connection) {
    let credentials = shared.credentials();
    let greeting = hello::receive(client, credentials.identity.as_ref());
    let greeted = tokio::select! {
        greeted = timeout(shared.options.login_timeout, greeting) => greeted,
        () = shared.end_of_serving() => return,
    };
    // A client that is slow, that has gone or that speaks another protocol gets no answer, as from PostgreSQL.
    let Ok(Ok(hello)) = greeted else { return };
    let ended = match hello {
        Hello::Cancel { client, packet } => cancel::forward(&shared, client, &packet).await,
        Hello::Session { client, packet } => session(&shared, &credentials, client, &packet).await,
    };
    if let Err(why) = ended {
        tracing::debug!(%why, "a client's connection has ended");
    }
}

async fn session(
    shared: &Shared,
    credentials: &Credentials,
    mut client: Connection,
    packet: &[u8],
) -> io::Result<()> {
    let Some(_slot) = shared.slot() else {
        Counters::add(&shared.counters.refused);
        let sentence = format!(
            "the proxy serves {} clients, which is its limit; try again when one has gone",
            shared.options.max_connections
        );
        return farewell(client, &error_response(code::TOO_MANY_CONNECTIONS, &sentence)).await;
    };
    Counters::add(&shared.counters.sessions);
    // Before the connection: if that leads to another server by then, the session ends for nothing.
    let server = shared.connector.server();
    match login::begin(shared, credentials, &mut client, packet).await {
        Ok(begun) => match &shared.cache {
            Some(cache) => caching::run(shared, cache, client, begun, server).await,
            None => {
                let following = Following::new(shared);
                relay::run(shared, client, begun.upstream, &begun.sent, &following).await
            }
        },
        Err(Refusal::Gone(why)) => Err(why),
        Err(Refusal::Login(code, sentence)) => {
            tracing::info!(sentence, "a login has failed");
            farewell(client, &error_response(code, &sentence)).await
        }
        Err(Refusal::Lost(why)) => {
            tracing::warn!(%why, "the database cannot be reached");
            let sentence = format!("the proxy cannot reach the database: {why}");
            farewell(client, &error_response(code::CANNOT_CONNECT, &sentence)).await
        }
    }
}
