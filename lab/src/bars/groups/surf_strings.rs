//! What shared bytes cost: points over strings in 200 groups that share 0, 20 or 40 bytes after one that differs.
//!
//! The trie walks shared bytes one by one, a node each, so this is the hardest set of its size. Without shared bytes the
//! levels below stand densely, with them they do not pay for it: the first 20 bytes cost that difference too.

use lacuna_base::{AlignedBytes, Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, Result, SortedKeys};
use lacuna_bench::harness::{Rounds, TaskId, Timings, dependent};
use lacuna_workload::Rng;

use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const SHARED: [usize; 3] = [0, 20, 40];
const GROUPS: u64 = 200;
/// Most that 20 shared bytes may add, in nanoseconds.
const MAX_NS: f64 = 500.0;

/// A filter and points to ask it.
struct Set {
    filter: Box<DynFilter<[u8]>>,
    asked: ByteColumn,
}

impl Set {
    fn draw(setting: &Setting, shared: usize) -> Result<Self> {
        let mut rng = Rng::new(setting.seed);
        let mut keys: Vec<Vec<u8>> = (0..setting.rate_keys()).map(|_| string(&mut rng, shared)).collect();
        keys.sort();
        keys.dedup();
        let column: ByteColumn = keys.iter().collect();
        let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(60.0)?).with_seed(setting.seed);
        let spec = lacuna_families::spec::<[u8]>("surf:real=4")?;
        let sealed = spec.build(SortedKeys::byte_strings(&column)?, &plan)?;
        let asked = (0..setting.questions() / 4).map(|_| string(&mut rng, shared)).collect();
        Ok(Self { filter: lacuna_families::open::<[u8], AlignedBytes>(sealed.into_bytes())?, asked })
    }
}

fn string(rng: &mut Rng, shared: usize) -> Vec<u8> {
    let group = u8::try_from(rng.below(GROUPS)).expect("below 200");
    [&[group][..], &vec![b'x'; shared], &rng.next_u64().to_be_bytes()].concat()
}

/// Measures all three sets side by side.
pub(super) fn bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("surf: strings");
    let mut sets = Vec::new();
    for shared in SHARED {
        sets.push(Set::draw(setting, shared)?);
    }
    let pools: Vec<Vec<ByteRange<'_>>> =
        sets.iter().map(|set| set.asked.iter().map(ByteRange::point).collect()).collect();
    let mut rounds = Rounds::new();
    let mut tasks = Vec::new();
    for (set, pool) in sets.iter().zip(&pools) {
        let one = move |range| set.filter.may_contain_range(range);
        tasks.push(rounds.add_serial("strings", pool.len(), move || dependent(pool, 1, one)));
    }
    let timings = rounds.run(setting.query_rounds(), &mut |_| {});
    Ok((1..SHARED.len()).map(|index| bar(&timings, &tasks, index)).collect())
}

/// The set at `index` beside the one before it.
fn bar(timings: &Timings, tasks: &[TaskId], index: usize) -> Bar {
    let [less, more] = [index - 1, index].map(|index| timings.median_ns(tasks[index]));
    let name = format!("point, {} shared bytes beside {}", SHARED[index], SHARED[index - 1]);
    let value = format!("{:+.0} ns", more - less);
    Bar::number(name, value, format!("{MAX_NS} ns on {less:.0} ns"), (more - less) / MAX_NS, AtMost(1.0))
}
