//! The filters of one database, as its processes configure them.

use std::fmt;
use std::sync::Arc;

use lacuna_base::{Error, Result};
use lacuna_guard::{Counters, CountersSnapshot, GapOptions, GuardCodec, GuardSpec, LearnedGaps, QueryLog};
use slatedb::{BloomFilterPolicy, FilterPolicy};

use crate::apply::ApplyFilters;
use crate::policy::{RangeFilterPolicy, Shared};
use crate::probes::Probes;

/// Range filters for one SlateDB database: policies for its builders, scans that teach the filters, and counts.
///
/// A clone shares counts and recorded queries; give one to each builder of the process.
///
/// ```
/// use lacuna_slatedb::{GuardCodec, RangeFilters};
///
/// let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?
///     .with_slatedb_bloom(10)?
///     .with_older_codec(GuardCodec::bytes())?;
/// let names: Vec<String> = lacuna.policies().iter().map(|policy| policy.name().to_owned()).collect();
/// assert_eq!(names, ["lacuna.v1.fixed_be:8", "_bf", "lacuna.v1.bytes"]);
/// assert!(lacuna.with_slatedb_bloom(12).is_err(), "two policies of one name");
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Clone)]
pub struct RangeFilters {
    spec: Arc<GuardSpec>,
    shared: Shared,
    policies: Vec<Arc<dyn FilterPolicy>>,
}

impl RangeFilters {
    /// Filters of `spec`.
    pub fn new(spec: GuardSpec) -> Self {
        let shared = Shared {
            log: Arc::new(QueryLog::new(spec.codec())),
            counters: Arc::new(Counters::new()),
            probes: Arc::new(Probes::new()),
            gaps: None,
        };
        let spec = Arc::new(spec);
        let policy = RangeFilterPolicy::new(Arc::clone(&spec), shared.clone());
        Self { spec, shared, policies: vec![Arc::new(policy)] }
    }

    /// Filters of the spec that `text` names, see [`GuardSpec`]. A text holds no secret: for a family that hashes under one, take
    /// [`new`](Self::new) and [`GuardSpec::with_secret`].
    ///
    /// # Errors
    /// `InvalidInput` that says which word is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let spec = GuardSpec::parse(text)?;
        spec.check()?;
        Ok(Self::new(spec))
    }

    /// Remembers `capacity` empty scans, one in `every`, instead of 20,000 and one in 100. What was remembered before is
    /// forgotten.
    #[must_use]
    pub fn with_sample_queue(mut self, capacity: usize, every: u64) -> Self {
        self.shared.log = Arc::new(QueryLog::with_capacity(self.spec.codec(), capacity, every));
        self.with_own_policy_renewed()
    }

    /// Also learns which gaps the SSTs have where filters let scans pass in vain, see [`GapLearner`](crate::GapLearner).
    /// Files written from now on carry a tag of 24 bytes; only those can learn.
    #[must_use]
    pub fn with_learned_gaps(mut self, options: GapOptions) -> Self {
        let gaps = LearnedGaps::new(self.spec.codec(), options, Arc::clone(&self.shared.counters));
        self.shared.probes.note_files();
        self.shared.gaps = Some(gaps);
        self.with_own_policy_renewed()
    }

    /// Makes the policy that builds use what is shared now.
    fn with_own_policy_renewed(mut self) -> Self {
        self.policies[0] = Arc::new(RangeFilterPolicy::new(Arc::clone(&self.spec), self.shared.clone()));
        self
    }

    /// The learned gaps; `None` unless [`with_learned_gaps`](Self::with_learned_gaps) asks for them.
    pub fn learned_gaps(&self) -> Option<&Arc<LearnedGaps>> {
        self.shared.gaps.as_ref()
    }

    /// Also builds and reads SlateDB's own Bloom filter of `bits_per_key`.
    ///
    /// # Errors
    /// As [`with_policy`](Self::with_policy).
    pub fn with_slatedb_bloom(self, bits_per_key: u32) -> Result<Self> {
        self.with_policy(Arc::new(BloomFilterPolicy::new(bits_per_key)))
    }

    /// Also reads, and no longer builds, filters of `codec`: for a database whose codec has changed.
    ///
    /// # Errors
    /// As [`with_policy`](Self::with_policy), and of a codec of your own that has a number of ours.
    pub fn with_older_codec(self, codec: GuardCodec) -> Result<Self> {
        let spec = GuardSpec::off().with_codec(codec);
        spec.check()?;
        let older = RangeFilterPolicy::decode_only(spec, self.shared.clone());
        self.with_policy(Arc::new(older))
    }

    /// Also uses a policy from elsewhere.
    ///
    /// # Errors
    /// `InvalidInput` if there already is a policy of that name: SlateDB would build both and read the first.
    pub fn with_policy(mut self, policy: Arc<dyn FilterPolicy>) -> Result<Self> {
        if self.policies.iter().any(|known| known.name() == policy.name()) {
            return Err(Error::invalid_input(format!(
                "there already is a filter policy called `{}`; leave one out or change its codec",
                policy.name()
            )));
        }
        self.policies.push(policy);
        Ok(self)
    }

    /// The policies, ours first.
    pub fn policies(&self) -> Vec<Arc<dyn FilterPolicy>> {
        self.policies.clone()
    }

    /// Sets the policies of a database, reader, compactor or compaction worker, in place of those it had: every SST
    /// written from here on has a filter.
    ///
    /// # Panics
    /// If the spec needs a secret and has none, see [`try_install`](Self::try_install).
    #[must_use]
    pub fn install<B: ApplyFilters>(&self, builder: B) -> B {
        self.try_install(builder).unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// As [`install`](Self::install), without a panic. Code that hands over the [`policies`](Self::policies) itself can ask
    /// [`GuardSpec::check`].
    ///
    /// # Errors
    /// `InvalidInput` if no SST would get a filter: the spec hashes under a secret and has none, or its codec makes byte strings.
    ///
    /// ```
    /// use lacuna_slatedb::{GuardSpec, RangeFilters};
    /// use slatedb::{Db, object_store::memory::InMemory};
    /// use std::sync::Arc;
    ///
    /// let lacuna = RangeFilters::new(GuardSpec::parse("ribbon:secret@14 codec=fixed_be:8")?);
    /// let problem = lacuna.try_install(Db::builder("sensors", Arc::new(InMemory::new()))).map(|_| ()).unwrap_err();
    /// assert!(problem.to_string().ends_with("give one beside the text of the spec"), "{problem}");
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    pub fn try_install<B: ApplyFilters>(&self, builder: B) -> Result<B> {
        self.spec.check()?;
        Ok(builder.with_policies(self.policies()))
    }

    /// The spec that is built.
    pub fn spec(&self) -> &GuardSpec {
        &self.spec
    }

    /// The counts of this process so far.
    pub fn stats(&self) -> CountersSnapshot {
        self.shared.counters.snapshot()
    }

    /// Number of empty scans remembered.
    pub fn sample_len(&self) -> usize {
        self.shared.log.len()
    }

    /// The remembered scans as bytes, for a process that builds filters but answers no scan.
    pub fn sample_bytes(&self) -> Vec<u8> {
        self.shared.log.to_bytes()
    }

    /// Remembers the scans in the [`sample_bytes`](Self::sample_bytes) of another process; returns how many.
    ///
    /// # Errors
    /// `Corrupt` or `Unsupported` if the bytes are damaged, newer, or of another codec; build without them then.
    pub fn seed_sample(&self, bytes: &[u8]) -> Result<usize> {
        self.shared.log.seed_from_bytes(bytes)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl fmt::Debug for RangeFilters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.policies.iter().map(|policy| policy.name()).collect();
        f.debug_struct("RangeFilters")
            .field("spec", &self.spec)
            .field("policies", &names)
            .finish_non_exhaustive()
    }
}
