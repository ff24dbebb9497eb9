//! How owners learn of foreign writes past the cache.

#[cfg(feature = "cluster")]
use std::sync::Weak;

use tokio::sync::mpsc;

#[cfg(feature = "cluster")]
use crate::cluster::dendrite::DendriteState;
use crate::owner::owner_handle::OwnerCommand;

/// Informs the owners of this process that a foreign write went past the cache: they drop all cached entries. It
/// does not keep them running.
#[derive(Debug, Clone)]
pub struct Alarm(Owners);

#[derive(Debug, Clone)]
enum Owners {
    One(mpsc::WeakUnboundedSender<OwnerCommand>),
    #[cfg(feature = "cluster")]
    All(Weak<DendriteState>),
}

impl Alarm {
    pub(crate) fn of_one(commands: &mpsc::UnboundedSender<OwnerCommand>) -> Self {
        Self(Owners::One(commands.downgrade()))
    }

    #[cfg(feature = "cluster")]
    pub(crate) const fn of_all(state: Weak<DendriteState>) -> Self {
        Self(Owners::All(state))
    }

    /// Makes them drop all entries, and take over none that another process has left when their next tenure begins. They do so
    /// soon after this returns, not before.
    pub fn raise(&self) {
        let all_commands: Vec<_> = match &self.0 {
            Owners::One(commands) => commands.upgrade().into_iter().collect(),
            #[cfg(feature = "cluster")]
            Owners::All(state) => state.upgrade().map(|state| state.begin_cold()).unwrap_or_default(),
        };
        all_commands.into_iter().for_each(|commands| drop(commands.send(OwnerCommand::ForeignWrite)));
    }

    /// Distrusts entries from before the watch began, as earlier foreign writes are unknown: entries that other
    /// processes left are not taken over. Call it before any range is owned.
    pub fn begin_cold(&self) {
        // The owner of a whole table knows it from its start.
        #[cfg(feature = "cluster")]
        if let Owners::All(_) = self.0 {
            self.raise();
        }
    }
}
