//! Seeks over random sets of files against sorted keys, in both key spaces and both directions.

use std::collections::BTreeSet;
use std::ops::Bound;

use lacuna_base::{Budget, BuildPlan, DynSpec, RangeFilter, Sealed, SeekCandidate, SortedKeys};
use lacuna_families::OpenAbility;
use lacuna_guard::{Direction, SeekPlanner, SeekStep, Ties};
use lacuna_workload::Rng;

/// Filters of files: some name candidates, some say yes or no; none is the last choice.
const SPECS: [&str; 7] =
    ["surf:real=0", "surf:real=3", "surf", "surf:hash=4", "surf:cut", "grafite", "bloom"];
const SEEDS: u64 = 3_000;

/// What the model needs of a key space.
trait Space: OpenAbility {
    fn spec(text: &str) -> Box<dyn DynSpec<Self>>;
    /// A key of a small universe, so that files share keys and seeks meet them.
    fn draw(rng: &mut Rng, shape: u64) -> Self::Owned;
}

impl Space for u64 {
    fn spec(text: &str) -> Box<dyn DynSpec<Self>> {
        lacuna_families::spec(text).expect("known")
    }
    fn draw(rng: &mut Rng, shape: u64) -> u64 {
        match shape % 4 {
            0 => rng.below(40),
            1 => rng.below(6) << 56 | rng.below(3) << 24 | rng.below(4),
            2 => u64::MAX - rng.below(30),
            _ => rng.next_u64(),
        }
    }
}

impl Space for [u8] {
    fn spec(text: &str) -> Box<dyn DynSpec<Self>> {
        lacuna_families::spec(text).expect("known")
    }
    fn draw(rng: &mut Rng, shape: u64) -> Vec<u8> {
        let letters: [&[u8]; 3] = [&[0, 0xFF], b"ab", &[0, 1, 0xFE, 0xFF]];
        let letters = letters[usize::try_from(shape % 3).expect("below 3")];
        let mut key = vec![b'p'; usize::try_from(shape % 2 * 2).expect("0 or 2")];
        key.extend((0..rng.below(5)).map(|_| letters[rng.index(letters.len())]));
        key
    }
}

/// One file: its keys, and its filter in the way that an engine would have it.
struct File<K: Space + ?Sized> {
    keys: BTreeSet<K::Owned>,
    filter: Filter<K>,
}

enum Filter<K: Space + ?Sized> {
    Seekable(Box<dyn SeekCandidate<K>>),
    Plain(Box<dyn RangeFilter<K>>),
    None,
}

impl<K: Space + ?Sized> File<K> {
    fn draw(rng: &mut Rng, shape: u64) -> Self {
        let keys: BTreeSet<_> = (0..rng.below(12)).map(|_| K::draw(rng, shape)).collect();
        let filter = match SPECS.get(rng.index(SPECS.len() + 1)) {
            None => Filter::None,
            Some(text) => {
                // Two bits leave a cut trie with few levels, or with none.
                let bits = if *text == "surf:cut" { [2.0, 20.0, 60.0][rng.index(3)] } else { 128.0 };
                let plan = BuildPlan::<K>::new(Budget::bits_per_key(bits).expect("in range"));
                let mut column = K::OwnedColumn::default();
                keys.iter().for_each(|key| K::push(&mut column, K::borrow(key)));
                let sorted = SortedKeys::try_new(K::column(&column)).expect("ascending");
                Filter::open(K::spec(text).build(sorted, &plan).expect("fits"))
            }
        };
        Self { keys, filter }
    }

    fn add_to(&self, number: usize, planner: &mut SeekPlanner<'_, K>) {
        match &self.filter {
            Filter::Seekable(filter) => planner.add_seekable(number, &**filter),
            Filter::Plain(filter) => planner.add_filtered(number, &**filter),
            Filter::None => planner.add(number),
        }
    }

    /// Whether an engine that asks for yes or no reads the file.
    fn is_read_by_stock(&self, range: K::Range<'_>) -> bool {
        match &self.filter {
            Filter::Seekable(filter) => filter.may_contain_range(range),
            Filter::Plain(filter) => filter.may_contain_range(range),
            Filter::None => true,
        }
    }

    /// The first key at `at` or beyond it.
    fn find(&self, at: Bound<K::Ref<'_>>, direction: Direction) -> Option<K::Owned> {
        let at = at.map(K::to_owned);
        match direction {
            Direction::Forward => self.keys.range((at, Bound::Unbounded)).next(),
            Direction::Backward => self.keys.range((Bound::Unbounded, at)).next_back(),
        }
        .cloned()
    }
}

impl<K: Space + ?Sized> Filter<K> {
    fn open(sealed: Sealed) -> Self {
        match lacuna_families::open_seek::<K, _>(sealed.clone()) {
            Ok(filter) => Self::Seekable(filter),
            Err(_) => Self::Plain(lacuna_families::open::<K, _>(sealed).expect("just sealed")),
        }
    }
}

/// A random range; open at an end now and then.
fn draw_bounds<K: Space + ?Sized>(rng: &mut Rng, shape: u64) -> [Bound<K::Owned>; 2] {
    [0, 1].map(|_| match rng.below(8) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Excluded(K::draw(rng, shape)),
        _ => Bound::Included(K::draw(rng, shape)),
    })
}

struct Case<'a, K: Space + ?Sized> {
    files: &'a [File<K>],
    range: K::Range<'a>,
    direction: Direction,
    name: String,
}

impl<'a, K: Space + ?Sized> Case<'a, K> {
    fn planner(&self, ties: Ties) -> SeekPlanner<'a, K> {
        let planner = match self.direction {
            Direction::Forward => SeekPlanner::forward(self.range),
            Direction::Backward => SeekPlanner::backward(self.range),
        };
        let mut planner = planner.with_ties(ties);
        self.files.iter().enumerate().for_each(|(number, file)| file.add_to(number, &mut planner));
        planner
    }

    /// All keys in range with the files that hold them, in the order of the seek.
    fn truth(&self) -> Vec<(K::Owned, usize)> {
        let mut all: Vec<_> = self
            .files
            .iter()
            .enumerate()
            .flat_map(|(number, file)| file.keys.iter().map(move |key| (key.clone(), number)))
            .filter(|(key, _)| K::contains(self.range, K::borrow(key)))
            .collect();
        all.sort_by(|(left, left_file), (right, right_file)| {
            let order = match self.direction {
                Direction::Forward => left.cmp(right),
                Direction::Backward => right.cmp(left),
            };
            order.then(left_file.cmp(right_file))
        });
        all
    }

    /// The first key and every file opened for it.
    fn check_first(&self, ties: Ties) -> (usize, usize) {
        let mut planner = self.planner(ties);
        let mut opened = Vec::new();
        let found = planner.seek(|file, at| {
            opened.push(file);
            Ok::<_, ()>(self.files[file].find(at, self.direction))
        });
        let (found, truth) = (found.expect("reads do not fail"), self.truth());
        let key = found.as_ref().map(|(_, key)| key);
        assert_eq!(key, truth.first().map(|(key, _)| key), "{}", self.name);
        let stock: Vec<usize> =
            (0..self.files.len()).filter(|&file| self.files[file].is_read_by_stock(self.range)).collect();
        assert!(opened.iter().all(|file| stock.contains(file)), "{}: {opened:?} of {stock:?}", self.name);
        assert_eq!(opened.iter().collect::<BTreeSet<_>>().len(), opened.len(), "{}: twice", self.name);
        if let (Some(key), Ties::Every) = (key, ties) {
            let holders = truth.iter().filter(|(held, _)| held == key);
            holders.for_each(|(_, file)| assert!(opened.contains(file), "{}: file {file}", self.name));
        }
        (opened.len(), stock.len())
    }

    /// Reading on names every key of every file once, in order.
    fn check_all(&self) {
        let mut planner = self.planner(Ties::Every);
        let mut met = Vec::new();
        loop {
            let next = match planner.step() {
                SeekStep::Open { file, at } => self.files[file].find(at, self.direction),
                SeekStep::Key { file, key } => {
                    met.push((K::to_owned(key), file));
                    self.files[file].find(Bound::Excluded(key), self.direction)
                }
                SeekStep::Done => break,
            };
            planner.report(next.as_ref().map(K::borrow));
        }
        assert_eq!(met, self.truth(), "{}", self.name);
    }
}

/// Files opened by the plan and by the stock path.
fn seek_everywhere<K: Space + ?Sized>() -> (usize, usize) {
    let (mut opened, mut stock) = (0, 0);
    for seed in 0..SEEDS {
        let mut rng = Rng::new(seed);
        let shape = rng.next_u64();
        let files: Vec<File<K>> = (0..1 + rng.below(6)).map(|_| File::draw(&mut rng, shape)).collect();
        for _ in 0..6 {
            let [lo, hi] = draw_bounds::<K>(&mut rng, shape);
            let bounds = (lo.as_ref().map(K::borrow), hi.as_ref().map(K::borrow));
            let Some(range) = K::range(bounds.0, bounds.1) else { continue };
            for direction in [Direction::Forward, Direction::Backward] {
                let name = format!("seed {seed}, {direction:?} over {range:?}");
                let case = Case { files: &files, range, direction, name };
                let every = case.check_first(Ties::Every);
                let any = case.check_first(Ties::Any);
                assert!(any.0 <= every.0, "{}", case.name);
                case.check_all();
                opened += every.0;
                stock += every.1;
            }
        }
    }
    (opened, stock)
}

#[test]
fn integer_seeks_find_what_is_there() {
    let (opened, stock) = seek_everywhere::<u64>();
    println!("integers: {opened} files opened, {stock} by the stock path");
    assert!(opened > 0 && opened * 20 < stock * 19, "{opened} of {stock}");
}

#[test]
fn string_seeks_find_what_is_there() {
    let (opened, stock) = seek_everywhere::<[u8]>();
    println!("strings: {opened} files opened, {stock} by the stock path");
    assert!(opened > 0 && opened * 20 < stock * 19, "{opened} of {stock}");
}
