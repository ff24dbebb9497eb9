//! Proof by exhaustion: every key set of a small universe against every range of it.
//!
//! The universes are also spread over the key space by strides and pushed against its rims, so that blocks wrap and
//! directories end where no random set would make them. A short run takes a share of the 65,536 sets, one of 27 of the plain
//! universe under the family as it is; which, the seed decides. `LACUNA_LONG=1` takes them all.

use lacuna_base::testing::{crossed, forget_crossings};
use lacuna_base::{BuildPlan, DynFilter, DynSpec, ErrorKind, KeyRange, KeySpace, SortedKeys};

use super::SMALL_BUDGETS;
use crate::space::closed_ranges;
use crate::subject::{plan, seal_or_coarsen};
use crate::verdict::{ensure, without_panic};
use crate::{Fault, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0x200;
/// Seeds that the builds cycle through.
const BUILD_SEEDS: [u64; 3] = [0, 1, u64::MAX];

/// All 65,536 sets in sixteen keys, or a share of them in a short run, answer every one of the 136 ranges truthfully.
///
/// # Errors
/// A fault if one is denied, or batched and single answers differ.
pub fn every_set_of_sixteen_keys_is_answered<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    sixteen_keys_under(subject, subject.text())
}

/// All sets of at most two keys among 256 answer every range truthfully: the 32,896 ranges in a long run, in a short
/// one those that end at, beside or far from a key.
///
/// # Errors
/// As above.
pub fn every_pair_of_256_keys_is_answered<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    subject.all_texts().try_for_each(|text| pairs_under(subject, text))
}

/// Forced geometries pass the proof too, and walk every rare path the family names.
///
/// # Errors
/// As above, or if a named path was not walked (noted only where debug assertions are on).
pub fn forced_geometries_walk_their_rare_paths<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    forget_crossings();
    for text in subject.all_texts().skip(1) {
        sixteen_keys_under(subject, text)?;
    }
    super::answers::ranges_around_keys_are_found(subject)?;
    let Some(walked) = crossed() else { return Ok(()) };
    let missed: Vec<_> = subject.path_names().iter().filter(|path| !walked.contains(path)).collect();
    ensure(missed.is_empty(), || format!("{}: never walked {missed:?}, only {walked:?}", subject.text()))
}

fn sixteen_keys_under<K: TestSpace + ?Sized>(subject: &Subject<K>, text: &str) -> Verdict {
    let mut first = effort::rng(STREAM);
    for placement in 0..K::PLACEMENTS {
        let universe = K::universe(16, placement);
        let mut bench = Bench::new(subject, text, &universe)?;
        let every = share(subject, text, placement);
        for mask in (0..1usize << 16).skip(first.index(every)).step_by(every) {
            let members = (0..16).filter(|place| mask >> place & 1 == 1);
            bench.prove(mask, members, |_, _| true).map_err(|fault| at(fault, text, placement))?;
        }
    }
    Ok(())
}

/// One of how many sets of sixteen keys is proved. Odd, so that each share holds every pattern of neighbours.
fn share<K: TestSpace + ?Sized>(subject: &Subject<K>, text: &str, placement: usize) -> usize {
    let has_settings = text.contains(':');
    match () {
        () if effort::is_long() => 1,
        () if placement > 0 || subject.is_proved_in_parts() => 99,
        () if has_settings => 51,
        () => 27,
    }
}

fn pairs_under<K: TestSpace + ?Sized>(subject: &Subject<K>, text: &str) -> Verdict {
    let (mut rng, long) = (effort::rng(STREAM), effort::is_long());
    for placement in 0..K::PLACEMENTS {
        let universe = K::universe(256, placement);
        let mut bench = Bench::new(subject, text, &universe)?;
        let every = if placement == 0 { 17 } else { 121 };
        let every = if long { 1 } else { every };
        let pairs = (0..256).flat_map(|low| (low..256).map(move |high| (low, high)));
        bench.prove(0, std::iter::empty(), |_, _| true).map_err(|fault| at(fault, text, placement))?;
        for (count, (low, high)) in pairs.enumerate().skip(placement % every).step_by(every) {
            let far = rng.index(256);
            let telling = |end: usize| end.abs_diff(low) <= 1 || end.abs_diff(high) <= 1 || end == far;
            let wanted = |lo, hi| (long && placement == 0) || (telling(lo) && telling(hi));
            bench
                .prove(count, [low, high].into_iter(), wanted)
                .map_err(|fault| at(fault, text, placement))?;
        }
    }
    Ok(())
}

fn at(fault: Fault, text: &str, placement: usize) -> Fault {
    fault.within(format!("{text}, placement {placement}"))
}

/// What is prepared once for a universe, and buffers that every set of it reuses.
struct Bench<'a, K: KeySpace + ?Sized> {
    subject: &'a Subject<K>,
    spec: Box<dyn DynSpec<K>>,
    universe: &'a [K::Owned],
    ranges: Vec<(KeyRange<'a, K>, usize, usize)>,
    plans: Vec<BuildPlan<K>>,
    /// For each place of the universe the first member at or after it.
    next_member: Vec<usize>,
    asked: Vec<(KeyRange<'a, K>, bool)>,
    batch: Vec<KeyRange<'a, K>>,
    answers: Vec<bool>,
}

impl<'a, K: TestSpace + ?Sized> Bench<'a, K> {
    fn new(subject: &'a Subject<K>, text: &str, universe: &'a [K::Owned]) -> Result<Self, Fault> {
        let plans = SMALL_BUDGETS
            .iter()
            .flat_map(|bits| BUILD_SEEDS.map(|seed| plan(*bits).map(|plan| plan.with_seed(seed))));
        let plans: Result<Vec<_>, _> = plans.collect();
        Ok(Self {
            subject,
            spec: subject.spec(text)?,
            universe,
            ranges: closed_ranges::<K>(universe),
            plans: plans.expect("small budgets lie between 0 and 128"),
            next_member: Vec::new(),
            asked: Vec::new(),
            batch: Vec::new(),
            answers: Vec::new(),
        })
    }

    /// Builds the set of `members` and asks the `wanted` ranges; `turn` picks budget and seed.
    fn prove(
        &mut self,
        turn: usize,
        members: impl Iterator<Item = usize> + Clone,
        wanted: impl Fn(usize, usize) -> bool,
    ) -> Verdict {
        let (universe, plan) = (self.universe, turn % self.plans.len());
        let mut column = K::OwnedColumn::default();
        let mut previous = None;
        for member in members.clone().filter(|&member| previous.replace(member) != Some(member)) {
            K::push(&mut column, K::borrow(&universe[member]));
        }
        self.choose(members.clone(), wanted);
        let keys = || members.map(|member| &universe[member]).collect::<Vec<_>>();
        let proved = without_panic("a small set", || {
            let keys = SortedKeys::try_new(K::column(&column)).expect("a universe ascends");
            let filter = self.subject.open(self.seal(keys, &self.plans[plan])?)?;
            for member in keys.iter() {
                ensure(filter.may_contain(member), || format!("key {member:?} is denied"))?;
            }
            self.hold_against_truth(&*filter)
        });
        let (bits, seed) = (self.plans[plan].budget().as_bits_per_key(), self.plans[plan].seed());
        proved.flatten().map_err(|fault| fault.within(format!("keys {:?}, {bits} bits, seed {seed}", keys())))
    }

    /// Chooses the ranges to ask, with the truth about each.
    fn choose(&mut self, members: impl Iterator<Item = usize>, wanted: impl Fn(usize, usize) -> bool) {
        self.next_member.clear();
        for member in members {
            self.next_member.resize((member + 1).max(self.next_member.len()), member);
        }
        self.next_member.resize(self.universe.len(), usize::MAX);
        let next = &self.next_member;
        let chosen = self.ranges.iter().filter(|(_, lo, hi)| wanted(*lo, *hi));
        self.asked.clear();
        self.asked.extend(chosen.map(|&(range, lo, hi)| (range, next[lo] <= hi)));
        self.batch.clear();
        self.batch.extend(self.asked.iter().map(|(range, _)| *range));
        self.answers.clear();
        self.answers.resize(self.batch.len(), false);
    }

    fn seal(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<lacuna_base::Sealed, Fault> {
        self.spec.build(keys, plan).or_else(|error| match error.kind() {
            ErrorKind::BudgetTooSmall { .. } => {
                seal_or_coarsen(&*self.spec, keys, plan.budget().as_bits_per_key(), plan.seed())
            }
            _ => Err(Fault::new(format!("it was not built: {error}"))),
        })
    }

    fn hold_against_truth(&mut self, filter: &DynFilter<K>) -> Verdict {
        filter.may_contain_ranges(&self.batch, &mut self.answers);
        for (&(range, truth), &answer) in self.asked.iter().zip(&self.answers) {
            ensure(answer || !truth, || format!("{range:?} holds a key and is denied in a batch"))?;
            ensure(answer == filter.may_contain_range(range), || {
                format!("{range:?} is {answer} in a batch, but not alone")
            })?;
        }
        Ok(())
    }
}
