//! Keys and queries as the integer families see them, for predictions.
//!
//! Integers are taken as they are, byte strings as [`StringChoice`] sees them. A query falls into one of
//! three kinds: *settled*, a "no" from the smallest and largest key; *certain*, a "maybe" whatever the family, because
//! the window of a key lies in it; *inside*, where the family decides. Only those inside are looked at one by one, each
//! with the keys before and after it.

mod empty_query;
mod gaps;

use lacuna_base::{BuildPlan, KeySpace, KeyStatistics, Position, SortedKeys, U64Range, Window};

pub(crate) use empty_query::EmptyQuery;
pub(crate) use gaps::GapCounts;

use crate::integer_sample::IntegerSample;
use crate::rencoder::NodeCounts;
use crate::string_choice::StringChoice;
use crate::threads::Threads;

/// Places of keys that are kept for [`IntegerStatistics::share_between`].
const MAX_MARKS: usize = 4_096;

/// The facts.
#[derive(Debug)]
pub(crate) struct IntegerStatistics {
    /// Distinct integers, as far as the sampled pairs show.
    pub(crate) places: f64,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
    /// Whether there are at most two integers, which the envelope alone describes.
    pub(crate) is_settled: bool,
    /// Bits that keys have: 64, or those of the window.
    pub(crate) key_bits: u32,
    /// Most bytes of a body.
    pub(crate) max_bytes: usize,
    /// Bytes beside the body.
    pub(crate) beside_bytes: usize,
    pub(crate) nodes: NodeCounts,
    pub(crate) gaps: GapCounts,
    /// Queries that the family decides.
    pub(crate) inside: Vec<EmptyQuery>,
    /// Queries that are "maybe" whatever the family.
    pub(crate) certain: usize,
    /// All queries, settled ones too.
    pub(crate) total: usize,
    /// Neighbouring integers that stand for all.
    pub(crate) pairs: Vec<(u64, u64)>,
    marks: Vec<u64>,
}

/// A key space that integer families take: as it is, or through a window.
pub(crate) trait IntegerView: KeySpace {
    /// The facts about its keys as integers.
    fn integers(known: &KeyStatistics<'_, Self>) -> IntegerStatistics;
    /// The plan over its keys as integers.
    #[cfg_attr(not(feature = "baselines"), allow(dead_code, reason = "only baselines ask for it"))]
    fn integer_sample<'a>(keys: SortedKeys<'a, Self>, plan: &BuildPlan<Self>) -> IntegerSample<'a>;
}

/// The kind of a query: settled, certain or inside.
enum Fate {
    Settled,
    Certain,
    Inside(EmptyQuery),
}

impl IntegerStatistics {
    /// Number of keys between the smallest and the largest, less one.
    pub(crate) fn span(&self) -> u64 {
        self.largest - self.smallest
    }

    /// The distinct integers as a whole number.
    pub(crate) fn place_count(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "at most the number of keys; casts saturate")]
        let count = self.places.round() as u64;
        count.max(1)
    }

    /// Share of all keys that lie in `lo..=hi`, to about one in [`MAX_MARKS`].
    pub(crate) fn share_between(&self, lo: u64, hi: u64) -> f64 {
        let below = self.marks.partition_point(|&mark| mark < lo);
        let inside = self.marks[below..].partition_point(|&mark| mark <= hi);
        inside as f64 / self.marks.len().max(1) as f64
    }

    /// Share of the queries that a family's body is asked about.
    pub(crate) fn asked(&self) -> f64 {
        (self.inside.len() + self.certain) as f64 / self.total.max(1) as f64
    }

    /// The share of "maybe" among all queries, if the family says it to those inside with the chance `rate`.
    pub(crate) fn rate(&self, rate: impl Fn(&EmptyQuery) -> f64) -> f64 {
        let inside: f64 = self.inside.iter().map(rate).sum();
        (inside + self.certain as f64) / self.total.max(1) as f64
    }

    /// The cost of an average query, if one inside costs `cost`, and so, on average, those that are "maybe" whatever
    /// the family: it is asked about them too. Where the cost of those inside is unknown, they cost one of what is
    /// counted.
    pub(crate) fn mean(&self, cost: impl Fn(&EmptyQuery) -> f64) -> f64 {
        match self.inside.len() {
            0 => self.asked(),
            inside => self.inside.iter().map(cost).sum::<f64>() / inside as f64 * self.asked(),
        }
    }

    fn from_pairs(
        mut pairs: Vec<(u64, u64)>,
        weight: f64,
        (smallest, largest): (u64, u64),
        marks: Vec<u64>,
        fates: impl Iterator<Item = Fate>,
    ) -> Self {
        pairs.retain(|(key, next)| key < next);
        let is_settled = weight <= 1.0 && pairs.len() < 2;
        // Sampled pairs may miss the few places where many keys that share a window give way to the next.
        let seen = 1 + marks.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let (mut inside, mut certain, mut total) = (Vec::new(), 0, 0);
        for fate in fates {
            total += 1;
            match fate {
                // Two integers are described by the envelope alone.
                Fate::Inside(_) if is_settled => {}
                Fate::Settled => {}
                Fate::Certain => certain += 1,
                Fate::Inside(query) => inside.push(query),
            }
        }
        Self {
            places: f64::max(1.0 + weight * pairs.len() as f64, seen as f64),
            is_settled,
            smallest,
            largest,
            key_bits: u64::BITS,
            max_bytes: 0,
            beside_bytes: 0,
            nodes: NodeCounts::of_pairs(pairs.iter().copied(), weight),
            gaps: GapCounts::of(pairs.iter().map(|(key, next)| next - key), weight),
            inside,
            certain,
            total,
            pairs,
            marks,
        }
    }
}

/// Positions of at most [`MAX_MARKS`] keys, evenly spread.
fn mark_positions(key_count: usize) -> impl Iterator<Item = usize> {
    (0..key_count).step_by(key_count.div_ceil(MAX_MARKS).max(1))
}

impl IntegerView for u64 {
    fn integer_sample<'a>(keys: SortedKeys<'a, Self>, plan: &BuildPlan<Self>) -> IntegerSample<'a> {
        IntegerSample::of_integers(keys, plan)
    }
    fn integers(known: &KeyStatistics<'_, Self>) -> IntegerStatistics {
        let keys = known.keys().column();
        let ends = (keys.first().copied().unwrap_or(0), keys.last().copied().unwrap_or(0));
        let mut pairs = Vec::with_capacity(KeyStatistics::<u64>::MAX_PAIRS);
        for run in known.runs() {
            pairs.extend(keys[run].windows(2).map(|pair| (pair[0], pair[1])));
        }
        let marks = mark_positions(keys.len()).map(|position| keys[position]).collect();
        let fates = known.queries().iter().map(|query| match query.place {
            place if place == 0 || place >= keys.len() => Fate::Settled,
            place => Fate::Inside(EmptyQuery {
                lo: query.lo,
                hi: query.hi,
                below: Some(keys[place - 1]),
                above: Some(keys[place]),
            }),
        });
        let max_bytes = known.plan().budget().payload_bytes(keys.len());
        // All of them, at a nanosecond or two a key: a sample misses the few that are worth leaving out.
        let gaps = GapCounts::between(keys, Threads::ONE);
        IntegerStatistics {
            max_bytes,
            gaps,
            ..IntegerStatistics::from_pairs(pairs, known.weight(), ends, marks, fates)
        }
    }
}

impl IntegerView for [u8] {
    fn integer_sample<'a>(keys: SortedKeys<'a, Self>, plan: &BuildPlan<Self>) -> IntegerSample<'a> {
        IntegerSample::of_strings(keys, plan)
    }
    fn integers(known: &KeyStatistics<'_, Self>) -> IntegerStatistics {
        let keys = known.keys();
        let payload_bytes = known.plan().budget().payload_bytes(keys.len());
        let choice = StringChoice::of(keys, known.plan());
        let view = choice.view();
        let place = |key| view.place(key);
        let mut comes_to_body = choice.body_filter();
        let ends = (keys.first().map_or(0, place), keys.last().map_or(0, place));
        let pairs: Vec<(u64, u64)> = known.neighbours().map(|(a, b)| (place(a), place(b))).collect();
        let marks = mark_positions(keys.len()).map(|position| place(keys.get(position))).collect();
        let fates = known.queries().iter().map(|query| {
            let range =
                lacuna_base::ByteRange::new(query.lo, query.hi).expect("samples hold no inverted query");
            let cover = view.cover(range).filter(|_| comes_to_body(range));
            let below = query.place.checked_sub(1).map(|index| place(keys.get(index)));
            let above = (query.place < keys.len()).then(|| place(keys.get(query.place)));
            fate(cover, ends, below, above)
        });
        IntegerStatistics {
            key_bits: view.key_bits(),
            max_bytes: payload_bytes - choice.section_bytes(),
            beside_bytes: choice.section_bytes(),
            ..IntegerStatistics::from_pairs(pairs, known.weight(), ends, marks, fates)
        }
    }
}

/// The integer that `window` reads of a key of the file.
pub(crate) fn place_in(window: Window<'_>, key: &[u8]) -> u64 {
    match window.position(key) {
        Position::At(place) => place,
        Position::Below | Position::Above => 0,
    }
}

/// As the frame clips it.
fn fate(
    cover: Option<U64Range>,
    (smallest, largest): (u64, u64),
    below: Option<u64>,
    above: Option<u64>,
) -> Fate {
    let Some(cover) = cover.filter(|cover| cover.lo() <= largest && smallest <= cover.hi()) else {
        return Fate::Settled;
    };
    let (lo, hi) = (cover.lo(), cover.hi());
    let is_touched = below.is_none_or(|key| key >= lo) || above.is_none_or(|key| key <= hi);
    match is_touched || lo <= smallest || hi >= largest {
        true => Fate::Certain,
        false => Fate::Inside(EmptyQuery { lo, hi, below, above }),
    }
}
