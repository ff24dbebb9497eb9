//! Proof by exhaustion: every key set of a small universe against every range of it.
//!
//! The universes are also spread over the key space by strides and pushed against its rims, so that blocks wrap and
//! directories end where no random set would make them. A short run takes a share of the 65,536 sets, one of 27 of the plain
//! universe under the family as it is; which, the seed decides. `LACUNA_LONG=1` takes them all.
//!
//! Two integers need no body in most families, since the envelope has both: so all sets of three among 256 are asked, too. A
//! filter whose bound is 0 must be right about ranges without a key as well.

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
/// Bits per key of the sets of three keys: so few that a filter takes as little as it can, so many that it takes all it wants,
/// and between them.
const BUDGETS_OF_THREE: [f64; 3] = [1.0, 10.0, 128.0];
/// Sets of three among 256 keys.
const SETS_OF_THREE: usize = choose_3(256);

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

/// All 2,763,520 sets of three keys among 256 answer truthfully the ranges that end at, beside or far from a key, each set in one
/// placement and one budget: the smallest sets of which every family has a body. A short run takes one of 919.
///
/// # Errors
/// As above.
pub fn every_three_keys_of_256_are_answered<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    subject.all_texts().try_for_each(|text| threes_under(subject, text))
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
        let mut bench = Bench::new(subject, text, &universe, &SMALL_BUDGETS)?;
        let every = share(subject, text, placement);
        for mask in (0..1usize << 16).skip(first.index(every)).step_by(every) {
            let members = (0..16).filter(|place| mask >> place & 1 == 1);
            bench.prove(mask, members, None).map_err(|fault| at(fault, text, placement))?;
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
        let mut bench = Bench::new(subject, text, &universe, &SMALL_BUDGETS)?;
        let every = if placement == 0 { 17 } else { 121 };
        let every = if long { 1 } else { every };
        let pairs = (0..256_usize).flat_map(|low| (low..256).map(move |high| [low, high]));
        bench.prove(0, std::iter::empty(), None).map_err(|fault| at(fault, text, placement))?;
        for (count, pair) in pairs.enumerate().skip(placement % every).step_by(every) {
            let ends = ends_around(&pair, rng.index(256));
            let ends = if long && placement == 0 { None } else { Some(&ends[..]) };
            bench.prove(count, pair.into_iter(), ends).map_err(|fault| at(fault, text, placement))?;
        }
    }
    Ok(())
}

fn threes_under<K: TestSpace + ?Sized>(subject: &Subject<K>, text: &str) -> Verdict {
    let mut rng = effort::rng(STREAM + 1);
    let every = effort::short_or_long(919, 1);
    let first = rng.index(every);
    for placement in 0..K::PLACEMENTS {
        let universe = K::universe(256, placement);
        let mut bench = Bench::new(subject, text, &universe, &BUDGETS_OF_THREE)?;
        // The placements take the sets in turn.
        for number in (first + placement * every..SETS_OF_THREE).step_by(every * K::PLACEMENTS) {
            let members = set_of_three(number);
            let ends = ends_around(&members, rng.index(256));
            let turn = rng.index(bench.plans.len());
            bench
                .prove(turn, members.into_iter(), Some(&ends))
                .map_err(|fault| at(fault, text, placement))?;
        }
    }
    Ok(())
}

/// Sets of three among `count`.
const fn choose_3(count: usize) -> usize {
    count * count.saturating_sub(1) * count.saturating_sub(2) / 6
}

/// Sets of two among `count`.
const fn choose_2(count: usize) -> usize {
    count * count.saturating_sub(1) / 2
}

/// The set of three places with this number, in the order of the largest, the second and the smallest.
fn set_of_three(number: usize) -> [usize; 3] {
    let largest = (0..256).rev().find(|&place| choose_3(place) <= number).expect("choose_3(0) is 0");
    let number = number - choose_3(largest);
    let second = (0..256).rev().find(|&place| choose_2(place) <= number).expect("choose_2(0) is 0");
    [number - choose_2(second), second, largest]
}

/// The places at and beside `members`, and one far from them, ascending.
fn ends_around(members: &[usize], far: usize) -> Vec<usize> {
    let around = members.iter().flat_map(|&place| place.saturating_sub(1)..=(place + 1).min(255));
    let mut ends: Vec<usize> = around.chain([far]).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
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
    fn new(
        subject: &'a Subject<K>,
        text: &str,
        universe: &'a [K::Owned],
        budgets: &[f64],
    ) -> Result<Self, Fault> {
        let plans = budgets
            .iter()
            .flat_map(|bits| BUILD_SEEDS.map(|seed| plan(*bits).map(|plan| plan.with_seed(seed))));
        let plans: Result<Vec<_>, _> = plans.collect();
        Ok(Self {
            subject,
            spec: subject.spec(text)?,
            universe,
            ranges: closed_ranges::<K>(universe),
            plans: plans.expect("budgets lie between 0 and 128"),
            next_member: Vec::new(),
            asked: Vec::new(),
            batch: Vec::new(),
            answers: Vec::new(),
        })
    }

    /// Builds the set of `members` and asks the ranges between any two of `ends`, which ascend, or all; `turn` picks budget
    /// and seed.
    fn prove(
        &mut self,
        turn: usize,
        members: impl Iterator<Item = usize> + Clone,
        ends: Option<&[usize]>,
    ) -> Verdict {
        let (universe, plan) = (self.universe, turn % self.plans.len());
        let mut column = K::OwnedColumn::default();
        let mut previous = None;
        for member in members.clone().filter(|&member| previous.replace(member) != Some(member)) {
            K::push(&mut column, K::borrow(&universe[member]));
        }
        self.choose(members.clone(), ends);
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
    fn choose(&mut self, members: impl Iterator<Item = usize>, ends: Option<&[usize]>) {
        self.next_member.clear();
        for member in members {
            self.next_member.resize((member + 1).max(self.next_member.len()), member);
        }
        let size = self.universe.len();
        self.next_member.resize(size, usize::MAX);
        let (ranges, next) = (&self.ranges, &self.next_member);
        let asked = |&(range, lo, hi): &(KeyRange<'a, K>, usize, usize)| (range, next[lo] <= hi);
        self.asked.clear();
        match ends {
            None => self.asked.extend(ranges.iter().map(asked)),
            Some(ends) => {
                for (place, &lo) in ends.iter().enumerate() {
                    self.asked.extend(ends[place..].iter().map(|&hi| asked(&ranges[place_of(lo, hi, size)])));
                }
            }
        }
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
        let is_exact = filter.rate_bound(u64::MAX) == 0.0;
        for (&(range, truth), &answer) in self.asked.iter().zip(&self.answers) {
            ensure(answer || !truth, || format!("{range:?} holds a key and is denied in a batch"))?;
            ensure(answer == truth || !is_exact, || {
                format!("{range:?} holds no key and is \"maybe\", though the bound is 0: it is not exact")
            })?;
            ensure(answer == filter.may_contain_range(range), || {
                format!("{range:?} is {answer} in a batch, but not alone")
            })?;
        }
        Ok(())
    }
}

/// Where the range from `lo` to `hi` stands among [`closed_ranges`] of `size` keys.
fn place_of(lo: usize, hi: usize, size: usize) -> usize {
    // Before it stand `size` ranges from the first key on, one less from the second, and so forth.
    lo * (2 * size - lo + 1) / 2 + (hi - lo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_give_each_set_of_three_once() {
        assert_eq!(SETS_OF_THREE, 2_763_520);
        let (first, last) = (set_of_three(0), set_of_three(SETS_OF_THREE - 1));
        assert_eq!((first, last), ([0, 1, 2], [253, 254, 255]));
        for number in (0..SETS_OF_THREE).step_by(211) {
            let [smallest, second, largest] = set_of_three(number);
            assert!(smallest < second && second < largest && largest < 256, "{number}");
            assert_eq!(choose_3(largest) + choose_2(second) + smallest, number);
        }
    }

    #[test]
    fn ranges_are_found_by_their_ends() {
        for size in [1, 2, 16] {
            let keys = &u64::universe(16, 0)[..size];
            for (place, (_, lo, hi)) in closed_ranges::<u64>(keys).into_iter().enumerate() {
                assert_eq!(place_of(lo, hi, size), place, "{lo} to {hi} of {size}");
            }
        }
    }
}
