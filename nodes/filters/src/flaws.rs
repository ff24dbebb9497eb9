//! Rules of the protocol that tests take back one by one, to see the simulation find a lie.
//!
//! Only the feature `flaws` compiles them; this crate's tests switch it on. Without it [`is_flawed`] is `false` and the setting
//! does not exist.

/// Whether a test has taken this rule back.
macro_rules! is_flawed {
    ($config:expr, $flaw:ident) => {{
        #[cfg(feature = "flaws")]
        let is_flawed = $config.flaw == Some($crate::Flaw::$flaw);
        #[cfg(not(feature = "flaws"))]
        let is_flawed = {
            let _: &$crate::Config = &$config;
            false
        };
        is_flawed
    }};
}

#[cfg(feature = "flaws")]
pub use enabled::Flaw;

#[cfg(feature = "flaws")]
mod enabled {
    /// A protocol with one rule taken back: the negative controls of the tests.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Flaw {
        /// Acknowledgements do not wait for lease holders.
        AcknowledgeAtOnce,
        /// A lease counts from when its grant arrives, not from when it was asked for.
        LeaseFromGrant,
        /// Missing deltas are not noticed.
        IgnoreGaps,
        /// A lease outlives a change of the ring.
        IgnoreRing,
        /// A node that has just started acknowledges, although leases of its last life may hold.
        AcknowledgeAfterBoot,
        /// A clock stands still while its machine sleeps: the simulation's clocks then do.
        ClockStopsAsleep,
        /// The write of a partition that the filter has waits for nothing, although its announcement is still on its way.
        OverwritesAreKnown,
        /// A read may show what lease holders do not know yet.
        RevealAtOnce,
        /// A renewal counts as the acknowledgement of what came before.
        RenewalAcknowledges,
        /// A delta is confirmed when it has come, and applied when the next one comes.
        ConfirmedBeforeApplied,
        /// Deltas that were applied are confirmed by requests alone.
        NothingIsConfirmed,
        /// A confirmation that another frame should carry is left out.
        CarriersLoseConfirmations,
        /// A table without a copy counts as empty.
        TrustUnknown,
        /// A deletion that is no proof makes a key dead.
        BuryUnproven,
        /// A write leaves the key dead.
        WriteKeepsDead,
        /// A write leaves the margins that it falls into.
        WriteKeepsMargins,
        /// A write ends a margin, and no other node is sent that.
        MarginsEndQuietly,
        /// A proof that ends inside a bucket counts for the rest of it, too.
        MarginsBeyondProofs,
        /// A write leaves the water marks that it lies under.
        WriteKeepsWaterMarks,
        /// A proof that begins after the first place counts from the first on.
        WaterMarksBeyondProofs,
        /// A read that began after a mark counts although the mark has ended meanwhile: the simulation's coordinators then let it.
        WaterMarksAskedOnce,
        /// A proof counts although a write has come since it was read: the simulation's replicas then let it.
        OvertakenProofsCount,
        /// One replica without the key is enough.
        AskOneReplica,
        /// One replica fewer than a quorum is enough.
        AskFewer,
        /// Keys are published at the next tick, their writes acknowledged before.
        PublishLate,
        /// News are not seen by readers that look at the flag only.
        NewsRaiseNoFlag,
        /// The flag says that all know what they do not know yet.
        FlagLoweredEarly,
        /// A filter that was rebuilt counts as the one that peers have.
        RebuildQuietly,
        /// A copy that a peer fetches is the filter of the moment at which the copy was begun, and counts as that of its end.
        CopiesAreOld,
        /// A filter that an earlier life has saved counts as whole: the simulation's replicas then load nothing that came since.
        RestoredIsWhole,
        /// A slot counts as open before its holders know.
        SlotsOpenEarly,
        /// A slot is closed without what came to it.
        SlotsCloseEmpty,
        /// A snapshot does not say which slots are open.
        SnapshotsForgetSlots,
        /// A key in a slot that is not open waits for nothing if it has a twin in an open one.
        PutOffTwinsAreKnown,
    }
}
