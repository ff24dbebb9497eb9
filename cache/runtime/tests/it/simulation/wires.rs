//! Connections of the simulation, as the drivers make them.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use lacuna_cache::cluster::testing::{Listener, Network};
use lacuna_cache_protocol::ports::Clock;
use turmoil::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use turmoil::net::{TcpListener, TcpStream};

/// Where dendrites listen.
pub(crate) const PORT: u16 = 7_400;

/// The simulated network.
#[derive(Debug)]
pub(crate) struct Wires;

impl Network for Wires {
    type Incoming = OwnedReadHalf;
    type Outgoing = OwnedWriteHalf;

    async fn connect(&self, address: &str) -> io::Result<(OwnedReadHalf, OwnedWriteHalf)> {
        Ok(TcpStream::connect(address).await?.into_split())
    }
}

/// Takes connections of the simulated network.
pub(crate) struct Ear(TcpListener);

impl Ear {
    pub(crate) async fn open() -> io::Result<Self> {
        Ok(Self(TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?))
    }
}

impl Listener for Ear {
    type Incoming = OwnedReadHalf;
    type Outgoing = OwnedWriteHalf;

    async fn accept(&self) -> io::Result<(OwnedReadHalf, OwnedWriteHalf)> {
        Ok(self.0.accept().await?.0.into_split())
    }
}

/// Time since the simulation began.
pub(crate) fn now() -> Duration {
    turmoil::sim_elapsed().unwrap_or_default()
}

/// The clock of the simulation.
#[derive(Debug)]
pub(crate) struct SimulatedClock;

impl Clock for SimulatedClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(now().as_millis()).unwrap()
    }
}
