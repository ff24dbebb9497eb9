//! How owners hear of writes past the cache.

#[cfg(feature = "cluster")]
use std::sync::Weak;

use tokio::sync::mpsc;

#[cfg(feature = "cluster")]
use crate::cluster::dendrite::DendriteState;
use crate::owner::owner_handle::OwnerCommand;

/// Tells the owners of this process that somebody has written to the store past them: nothing cached is believed any more.
/// It does not keep them at work.
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

    /// Has them drop everything, and take nothing over from now on that another process has left. It is done soon after, not when this
    /// returns.
    pub fn raise(&self) {
        let all_commands: Vec<_> = match &self.0 {
            Owners::One(commands) => commands.upgrade().into_iter().collect(),
            #[cfg(feature = "cluster")]
            Owners::All(state) => state.upgrade().map(|state| state.begin_cold()).unwrap_or_default(),
        };
        all_commands.into_iter().for_each(|commands| drop(commands.send(OwnerCommand::ForeignWrite)));
    }

    /// Nobody knows who wrote before somebody began to look: what other processes have left is not taken over. To be called before
    /// anything is owned.
    pub fn begin_cold(&self) {
        // Whoever owns a whole table takes nothing over anyway.
        #[cfg(feature = "cluster")]
        if let Owners::All(_) = self.0 {
            self.raise();
        }
    }
}
