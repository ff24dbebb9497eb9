//! A client of MySQL or MariaDB, from its first packet to its last.

use std::io;
use std::sync::Arc;

use crate::connection::Connection;
use crate::session::{farewell, relay};
use crate::shared::{Counters, Shared};

use super::follow::Following;
use super::hello::{self, Refusal};
use super::wire::{Complaint, error_packet};

/// Serves one client to its end. What goes wrong is said to the client; the proxy goes on.
pub(crate) async fn serve(shared: Arc<Shared>, client: Connection) {
    if let Err(why) = session(&shared, client).await {
        tracing::debug!(%why, "a client's connection has ended");
    }
}

async fn session(shared: &Shared, mut client: Connection) -> io::Result<()> {
    let Some(_slot) = shared.slot() else {
        Counters::add(&shared.counters.refused);
        let sentence = format!(
            "the proxy serves {} clients, which is its limit; try again when one has gone",
            shared.options.max_connections
        );
        return farewell(client, &error_packet(0, Complaint::TOO_MANY_CONNECTIONS, &sentence)).await;
    };
    Counters::add(&shared.counters.sessions);
    let begun = tokio::select! {
        begun = hello::begin(shared, &mut client) => begun,
        () = shared.end_of_serving() => return Ok(()),
    };
    match begun {
        Ok(begun) => {
            let following = Following::new(shared, begun.capabilities, begun.next);
            relay::run(shared, client, begun.upstream, &[], &following).await
        }
        Err(Refusal::Gone(why)) => Err(why),
        Err(Refusal::Answer(packet)) => farewell(client, &packet).await,
        Err(Refusal::Lost(why)) => {
            tracing::warn!(%why, "the database cannot be reached");
            let sentence = format!("the proxy cannot reach the database: {why}");
            farewell(client, &error_packet(0, Complaint::CANNOT_CONNECT, &sentence)).await
        }
    }
}
