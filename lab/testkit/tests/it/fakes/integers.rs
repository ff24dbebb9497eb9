//! An exact filter over integers that keeps its keys as they are: 64 bits each, no false positive, one quirk.
#![expect(clippy::extra_unused_type_parameters, reason = "families name the key space here, fakes have one")]

use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_base::testing::cross;
use lacuna_base::{
    Budget, BuildPlan, DynFilter, DynSpec, ENVELOPE_BYTES, Envelope, Error, FilterBuilder, FilterSpec,
    KeySpaceId, RangeFilter, Result, Sealed, SortedKeys, U64Range,
};

use super::quirk::Quirk;

pub(crate) fn spec<K>(text: &str) -> Result<Box<dyn DynSpec<u64>>> {
    Ok(Box::new(FakeSpec { quirk: Quirk::parse(text)? }))
}

pub(crate) fn open<K, B: AsRef<[u8]> + std::fmt::Debug + Send + Sync + 'static>(
    bytes: B,
) -> Result<Box<DynFilter<u64>>> {
    let (envelope, payload) = Envelope::open(bytes.as_ref())?;
    let quirk = Quirk::of_kind(envelope.kind)?;
    if envelope.key_space != KeySpaceId::U64 || (envelope.payload_version > 1 && quirk != Quirk::TakesNewer) {
        return Err(Error::unsupported("newer, or of another key space"));
    }
    if payload.len() % 8 != 0 && quirk != Quirk::PanicsOnDamage {
        return Err(Error::corrupt("a key has eight bytes"));
    }
    if quirk == Quirk::NeedsAlignment && payload.as_ptr().addr() % 8 != 0 {
        return Err(Error::corrupt("not aligned"));
    }
    if quirk == Quirk::OpeningAllocates {
        drop(std::hint::black_box(vec![0u8; usize::try_from(envelope.key_count % 100_000).expect("small")]));
    }
    Ok(Box::new(FakeFilter { envelope, bytes, quirk }))
}

pub(crate) fn open_verified<K, B: AsRef<[u8]> + std::fmt::Debug + Send + Sync + 'static>(
    bytes: B,
) -> Result<Box<DynFilter<u64>>> {
    Envelope::open_verified(bytes.as_ref())?;
    open::<K, B>(bytes)
}

#[derive(Debug)]
struct FakeSpec {
    quirk: Quirk,
}

impl FilterSpec<u64> for FakeSpec {
    type Builder = FakeBuilder;

    fn name(&self) -> String {
        if self.quirk == Quirk::ForgetsItsName { Quirk::None.text() } else { self.quirk.text() }
    }

    fn builder(&self, plan: &BuildPlan<u64>) -> Result<FakeBuilder> {
        Ok(FakeBuilder { quirk: self.quirk, plan: plan.clone(), keys: Vec::new() })
    }

    fn build(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        seal(self.quirk, keys.column(), plan)
    }
}

struct FakeBuilder {
    quirk: Quirk,
    plan: BuildPlan<u64>,
    keys: Vec<u64>,
}

impl FilterBuilder<u64> for FakeBuilder {
    fn add(&mut self, key: u64) -> Result<()> {
        match self.keys.last() {
            Some(&last) if key < last && self.quirk != Quirk::TakesUnsorted => {
                Err(Error::invalid_input("keys come in ascending order"))
            }
            Some(&last) if key == last && self.quirk != Quirk::CountsRepeats => Ok(()),
            _ => {
                self.keys.push(key);
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Result<Sealed> {
        self.keys.sort_unstable();
        if self.quirk == Quirk::BuilderDiffers {
            self.keys.push(u64::MAX);
        }
        seal(self.quirk, &self.keys, &self.plan)
    }
}

static BUILDS: AtomicU64 = AtomicU64::new(0);
/// Queries to all fakes that count them.
static QUERIES: AtomicU64 = AtomicU64::new(0);

fn seal(quirk: Quirk, keys: &[u64], plan: &BuildPlan<u64>) -> Result<Sealed> {
    // The first word is the salt, the rest are the keys.
    let salt = match quirk {
        Quirk::Salted | Quirk::Marked => plan.seed(),
        Quirk::Unstable => BUILDS.fetch_add(1, Ordering::Relaxed),
        Quirk::IsaDecides => u64::from(std::env::var_os("LACUNA_ISA").is_some_and(|isa| isa == "scalar")),
        _ => 0,
    };
    let mut words = vec![salt];
    words.extend_from_slice(keys);
    if quirk == Quirk::OverBudget && keys.len() > 10 {
        words.extend([u64::MAX; 9]);
    }
    let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let smallest = Budget::smallest_for(payload.len(), keys.len());
    if payload.len() > plan.budget().payload_bytes(keys.len()) && quirk != Quirk::OverBudget {
        let named = if quirk == Quirk::NamesTooSmallABudget { smallest * 0.9 } else { smallest };
        return Err(Error::budget_too_small("fake", named));
    }
    let envelope = Envelope {
        kind: quirk.kind(),
        payload_version: 1,
        key_space: KeySpaceId::U64,
        codec: plan.codec(),
        key_type: plan.key_type(),
        key_count: keys.len() as u64,
        smallest: keys.first().copied().unwrap_or(0),
        largest: keys.last().copied().unwrap_or(0),
    };
    Ok(Sealed::assemble(&envelope, &payload))
}

#[derive(Debug)]
struct FakeFilter<B> {
    envelope: Envelope,
    bytes: B,
    quirk: Quirk,
}

impl<B: AsRef<[u8]>> FakeFilter<B> {
    fn payload(&self) -> &[u8] {
        &self.bytes.as_ref()[ENVELOPE_BYTES..]
    }

    fn key_places(&self) -> usize {
        (self.payload().len() / 8).saturating_sub(1)
    }

    fn key(&self, place: usize) -> u64 {
        let word = self.payload()[8 * (place + 1)..].first_chunk();
        u64::from_le_bytes(*word.expect("a place has eight bytes"))
    }

    fn holds_any(&self, range: U64Range) -> bool {
        let (mut low, mut high) = (0, self.key_places());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < range.lo() { low = middle + 1 } else { high = middle }
        }
        let denied = match self.quirk {
            Quirk::DeniesAKey => Some(self.key_places() / 2),
            Quirk::DeniesTheThird => Some(2),
            Quirk::DeniesTheLargest => {
                (0..self.key_places()).last().filter(|&last| self.key(last) == u64::MAX)
            }
            _ => None,
        };
        let low = if denied == Some(low) { low + 1 } else { low };
        low < self.key_places() && self.key(low) <= range.hi()
    }

    fn answer(&self, range: U64Range) -> bool {
        let truth = self.holds_any(range);
        match self.quirk {
            Quirk::Marked => {
                cross("fake: marked");
                truth
            }
            Quirk::DeniesWideRanges => truth && range.hi() - range.lo() < 1 << 50,
            Quirk::DeniesPoints => truth && (range.lo() < range.hi() || range.lo() % 1_021 != 77),
            Quirk::EmptySaysMaybe => truth || self.envelope.key_count == 0,
            Quirk::LiesAboutRate => true,
            Quirk::LiesAboutExactness => truth || range.lo() % 5 == 2,
            Quirk::PanicsOnZero => {
                assert!(range.lo() > 0 || range.hi() > 0, "zero");
                truth
            }
            Quirk::PanicsOnDamage => {
                assert_eq!(self.envelope.key_count, self.key_places() as u64, "damaged");
                truth
            }
            Quirk::HangsOnDamage => {
                while self.envelope.key_count != self.key_places() as u64 {
                    std::thread::park();
                }
                truth
            }
            Quirk::QueriesAllocate => std::hint::black_box(vec![truth])[0],
            Quirk::CountsQueries => truth || QUERIES.fetch_add(1, Ordering::Relaxed) % 4_999 == 17,
            _ => truth,
        }
    }
}

impl<B: AsRef<[u8]> + std::fmt::Debug + Send + Sync> RangeFilter<u64> for FakeFilter<B> {
    fn may_contain_range(&self, range: U64Range) -> bool {
        self.answer(range)
    }

    fn may_contain_ranges(&self, ranges: &[U64Range], answers: &mut [bool]) {
        assert_eq!(ranges.len(), answers.len(), "one answer for each range");
        for (place, (range, answer)) in ranges.iter().zip(answers).enumerate() {
            let forgotten = self.quirk == Quirk::BatchDiffers && place == 6 && ranges.len() == 7;
            if !forgotten {
                *answer = self.answer(*range);
            }
        }
    }

    fn may_contain_pairs(&self, los: &[u64], his: &[u64], answers: &mut [bool]) {
        for (place, ((&lo, &hi), answer)) in los.iter().zip(his).zip(answers).enumerate() {
            let forgotten = self.quirk == Quirk::PairsDiffer && place == 6 && los.len() == 7;
            match U64Range::new(lo, hi) {
                Some(range) if !forgotten => *answer = self.answer(range),
                Some(_) => {}
                None => *answer = self.quirk == Quirk::InvertedPairSaysMaybe,
            }
        }
    }

    fn may_contain_bounds(&self, lo: std::ops::Bound<u64>, hi: std::ops::Bound<u64>) -> bool {
        match U64Range::from_bounds(lo, hi) {
            Some(range) => self.answer(range),
            None => self.quirk == Quirk::InvertedSaysMaybe,
        }
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        match self.quirk {
            Quirk::LiesAboutRate => (range_len as f64 / 4_096.0).min(1.0),
            Quirk::CountsQueries => 1.0,
            _ => 0.0,
        }
    }

    fn key_count(&self) -> u64 {
        self.envelope.key_count + u64::from(self.quirk == Quirk::Miscounts)
    }

    fn size_in_bytes(&self) -> usize {
        self.bytes.as_ref().len()
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.as_ref().len()
    }
}
