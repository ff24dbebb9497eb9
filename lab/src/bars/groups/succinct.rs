//! The structures below the filters beside crate `sux`: no bar, for information.
//!
//! Questions are dependent: the next one is chosen by the lowest bit of the answer. Elias-Fano holds uniform values with
//! twelve low bits each; the bit vector is half ones.

use lacuna_base::Result;
use lacuna_bench::harness::{Rounds, TaskId, dependent};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};
use lacuna_succinct::rank_select::Samples;
use lacuna_succinct::{BitVector, EliasFano, RankSelect};
use lacuna_workload::Rng;
use sux::bits::BitVec;
use sux::dict::EliasFanoBuilder;
use sux::dict::elias_fano::EfSeqDict;
use sux::rank_sel::{Rank9, SelectAdapt};
use sux::traits::{IndexedSeq, Pred, Rank, Select, Succ};

use crate::bars::bar::{Bar, Limit};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const LOW_BITS: u32 = 12;
/// Key values of a range question.
const WIDTH: u64 = 32;
/// Streams of values and questions.
const STREAMS: [u64; 3] = [128, 129, 130];

/// Measures both structures.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let mut bars = elias_fano(setting, progress);
    bars.extend(rank_select(setting, progress));
    Ok(bars)
}

fn elias_fano(setting: &Setting, progress: &Progress) -> Vec<Bar> {
    progress.say("succinct: building Elias-Fano");
    let universe = (setting.speed_keys() as u64) << LOW_BITS;
    let values = sorted_values(setting, universe);
    let ours = EliasFano::from_sorted(&values, universe - 1);
    let theirs = sux_elias_fano(&values, universe - 1);
    let pool = numbers(setting, STREAMS[1], universe - WIDTH);
    let places = numbers(setting, STREAMS[2], values.len() as u64);
    let mut rounds = Rounds::new();
    let is_odd = |value: Option<u64>| value.is_some_and(|value| value & 1 == 1);
    let pairs = [
        (
            "any in range",
            [
                add(&mut rounds, "ours", &pool, |lo| ours.any_in(lo, lo + WIDTH - 1)),
                add(&mut rounds, "sux", &pool, |lo| {
                    theirs.succ(lo).is_some_and(|(_, value)| value < lo + WIDTH)
                }),
            ],
        ),
        (
            "predecessor",
            [
                add(&mut rounds, "ours", &pool, |at| is_odd(ours.predecessor(at))),
                add(&mut rounds, "sux", &pool, |at| is_odd(theirs.pred(at).map(|(_, value)| value))),
            ],
        ),
        (
            "rank",
            [
                add(&mut rounds, "ours", &pool, |at| ours.rank(at) & 1 == 1),
                add(&mut rounds, "sux", &pool, |at| theirs.rank(at) & 1 == 1),
            ],
        ),
        (
            "get",
            [
                add(&mut rounds, "ours", &places, |at| is_odd(ours.get(at))),
                add(&mut rounds, "sux", &places, |at| theirs.get(index(at)) & 1 == 1),
            ],
        ),
    ];
    let bits = ours.as_bytes().len() as f64 * 8.0 / values.len() as f64;
    bars(setting, progress, rounds, &format!("Elias-Fano of {bits:.2} bits a value"), &pairs)
}

fn rank_select(setting: &Setting, progress: &Progress) -> Vec<Bar> {
    progress.say("succinct: building bit vectors");
    let bits = random_bits(setting);
    let theirs: BitVec = (0..bits.len()).map(|place| bits.get(place)).collect();
    let theirs = SelectAdapt::new(Rank9::new(theirs));
    let mut bytes = Vec::new();
    RankSelect::encode(&bits, Samples { ones: true, zeros: false }, &mut bytes);
    let ours = RankSelect::open(&bytes).expect("written by the line above");
    let places = numbers(setting, STREAMS[1], bits.len() as u64);
    let ranks = numbers(setting, STREAMS[2], bits.count_ones());
    let (bytes, places, ranks) = (&bytes[..], &places[..], &ranks[..]);
    let mut rounds = Rounds::new();
    let pairs = [
        (
            "rank",
            [
                rounds.add_serial("ours", places.len(), move || {
                    dispatch(Ranks { layout: ours, bytes, places })
                }),
                add(&mut rounds, "sux", places, |at| theirs.rank(index(at)) & 1 == 1),
            ],
        ),
        (
            "select",
            [
                rounds.add_serial("ours", ranks.len(), move || {
                    dispatch(Selects { layout: ours, bytes, ranks })
                }),
                add(&mut rounds, "sux", ranks, |at| {
                    theirs.select(index(at)).is_some_and(|place| place & 1 == 1)
                }),
            ],
        ),
    ];
    bars(setting, progress, rounds, &format!("bit vector of {} bits", bits.len()), &pairs)
}

/// Adds dependent questions over `pool`.
fn add<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    pool: &'a [u64],
    ask: impl Fn(u64) -> bool + Copy + 'a,
) -> TaskId {
    rounds.add_serial(name, pool.len(), move || dependent(pool, 1, ask))
}

fn bars(
    setting: &Setting,
    progress: &Progress,
    rounds: Rounds<'_>,
    name: &str,
    pairs: &[(&str, [TaskId; 2])],
) -> Vec<Bar> {
    let of = setting.query_rounds();
    let timings =
        rounds.run(of, &mut |round| progress.say(format!("succinct: {name}, round {round} of {of}")));
    let bar = |(question, tasks): &(&str, [TaskId; 2])| {
        Bar::times_longer(format!("{name}: {question}"), &timings, *tasks, Limit::None)
    };
    pairs.iter().map(bar).collect()
}

/// Rank questions, compiled for one instruction set together with what they call.
struct Ranks<'a> {
    layout: RankSelect,
    bytes: &'a [u8],
    places: &'a [u64],
}

impl Kernel for Ranks<'_> {
    type Output = usize;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        dependent(self.places, 1, |at| self.layout.rank1(isa, self.bytes, at) & 1 == 1)
    }
}

/// As [`Ranks`], for select.
struct Selects<'a> {
    layout: RankSelect,
    bytes: &'a [u8],
    ranks: &'a [u64],
}

impl Kernel for Selects<'_> {
    type Output = usize;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        dependent(self.ranks, 1, |at| {
            self.layout.select1(isa, self.bytes, at).is_some_and(|place| place & 1 == 1)
        })
    }
}

/// Twelve times as many bits as there are keys, half of them ones.
fn random_bits(setting: &Setting) -> BitVector {
    let mut rng = Rng::with_stream(setting.seed, STREAMS[0]);
    let mut bits = BitVector::new();
    while bits.len() < setting.speed_keys() * 12 {
        bits.push_bits(rng.next_u64(), 64);
    }
    bits
}

fn sorted_values(setting: &Setting, universe: u64) -> Vec<u64> {
    let mut rng = Rng::with_stream(setting.seed, STREAMS[0]);
    let mut values: Vec<u64> = (0..setting.speed_keys()).map(|_| rng.below(universe)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn numbers(setting: &Setting, stream: u64, bound: u64) -> Vec<u64> {
    let mut rng = Rng::with_stream(setting.seed, stream);
    (0..setting.questions()).map(|_| rng.below(bound)).collect()
}

fn sux_elias_fano(values: &[u64], last: u64) -> EfSeqDict<u64> {
    let mut builder = EliasFanoBuilder::new(values.len(), last);
    values.iter().for_each(|value| builder.push(*value));
    builder.build_with_seq_and_dict()
}

fn index(place: u64) -> usize {
    usize::try_from(place).expect("a place in memory")
}
