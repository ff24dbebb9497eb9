//! The filter that most programs need: built in one call, opened in one call, asked with Rust's own ranges.

use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;

use lacuna_base::internal::KeyColumn;
use lacuna_base::{
    Budget, BuildPlan, DynFilter, DynSpec, Envelope, Error, KeyType, Result, SortedKeys, TypedKey,
};
use lacuna_families::FilterBytes;
use lacuna_guard::internal::GuardKey as _;

use crate::bounds::{KeyBounds, range_of};
use crate::key::{AsKey, FilterKey};

/// A range filter over `u64` or over `[u8]`, together with its bytes. "No" is always true.
///
/// A clone shares the bytes. Queries take no lock and allocate nothing but the answers of a batch.
///
/// ```
/// let keys = ["ant", "bee", "cat"].map(String::from);
/// let filter = lacuna::Filter::build(&keys, 14.0)?;
/// assert!(filter.may_contain("bee") && filter.may_contain_range("b".."c"));
/// assert!(!filter.may_contain_range("d"..), "after the last key");
///
/// // The bytes go wherever the keys go, and are opened there.
/// let bytes = filter.as_bytes().to_vec();
/// let opened: lacuna::Filter<[u8]> = lacuna::open_verified(bytes)?;
/// assert_eq!(opened.key_count(), 3);
/// # Ok::<(), lacuna::Error>(())
/// ```
pub struct Filter<K: FilterKey + ?Sized> {
    filter: Arc<DynFilter<K>>,
    bytes: Arc<dyn FilterBytes>,
    envelope: Envelope,
}

/// Bytes shared by a filter and its owner; one more pointer to follow than the bytes themselves.
#[derive(Debug)]
struct Shared<B>(Arc<B>);

impl<B: AsRef<[u8]>> AsRef<[u8]> for Shared<B> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// Opens a filter over its bytes without looking at all of them: for bytes that another layer has checksummed, such as
/// a block of an engine. Damaged bytes can then give wrong answers, but no query leaves them.
///
/// Any owner of bytes will do: `Vec<u8>`, `Arc<[u8]>`, `&'static [u8]`, a memory map. They are asked in place, need no
/// alignment, and must not change. Whether the filter is over integers or byte strings follows from how it is asked.
///
/// ```
/// let bytes = lacuna::Filter::build([3, 50, 700], 14.0)?.as_bytes().to_vec();
/// let filter = lacuna::open(bytes)?;
/// assert!(!filter.may_contain_range(701..));
/// # Ok::<(), lacuna::Error>(())
/// ```
///
/// # Errors
/// `Unsupported` if the filter is newer than this code or over other keys than it is asked for, those of a codec included;
/// `Corrupt` if the bytes do not hold together. Either way: read the data.
pub fn open<K: FilterKey + ?Sized>(bytes: impl FilterBytes) -> Result<Filter<K>> {
    let (envelope, _) = Envelope::open(bytes.as_ref())?;
    Filter::over(envelope, bytes)
}

/// As [`open`], after checking every byte against the checksum, in time linear in their number: for files of one's own.
///
/// # Errors
/// As `open`; `Corrupt` also for every flipped bit.
pub fn open_verified<K: FilterKey + ?Sized>(bytes: impl FilterBytes) -> Result<Filter<K>> {
    let (envelope, _) = Envelope::open_verified(bytes.as_ref())?;
    Filter::over(envelope, bytes)
}

impl Filter<u64> {
    /// A filter of numbers, days or moments, which notes their type. [`may_contain_value`](Self::may_contain_value) and
    /// [`may_contain_values`](Self::may_contain_values) ask it. An `f32` is the same number as an `f64`: `0.1_f32` is
    /// found by `0.1_f32` and by `0.10000000149011612`, not by `0.1`.
    ///
    /// ```
    /// use lacuna::{Filter, KeyType};
    ///
    /// let filter = Filter::build_typed([-21.5, 1.5, 3.25], 20.0)?;
    /// assert_eq!(filter.key_type(), KeyType::F64);
    /// assert!(filter.may_contain_value(1.5) && filter.may_contain_values(1.0..=2.0));
    /// assert!(!filter.may_contain_values(4.0..));
    /// # Ok::<(), lacuna::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_typed<T, B>(values: impl IntoIterator<Item = T>, budget: B) -> Result<Self>
    where
        T: TypedKey,
        B: TryInto<Budget>,
        Error: From<B::Error>,
    {
        let plan = BuildPlan::new(budget.try_into()?).with_key_type(T::KEY_TYPE);
        let keys = values.into_iter().map(TypedKey::to_key);
        Self::build_with(keys, &*u64::spec(u64::USUAL_SPEC)?, &plan)
    }

    /// Whether `value` may be there; `false` proves that it is not. A filter of values of another type, or of moments in
    /// another unit, says `true`.
    #[inline]
    pub fn may_contain_value<T: TypedKey>(&self, value: T) -> bool {
        T::KEY_TYPE != self.envelope.key_type || self.filter.may_contain(value.to_key())
    }

    /// Whether any value of `range` may be there, as [`may_contain_value`](Self::may_contain_value).
    #[inline]
    pub fn may_contain_values<T: TypedKey>(&self, range: impl RangeBounds<T>) -> bool {
        let [lo, hi] =
            [range.start_bound(), range.end_bound()].map(|bound| bound.map(|value| value.to_key()));
        let range = range_of::<u64>(&(lo, hi));
        T::KEY_TYPE != self.envelope.key_type
            || range.is_some_and(|range| self.filter.may_contain_range(range))
    }
}

impl<K: FilterKey + ?Sized> Filter<K> {
    /// A filter of `keys` in any order, within a budget: bits per key, or a [`Budget`] such as
    /// [`Budget::for_rate(0.01, 64)`](Budget::for_rate).
    ///
    /// Over integers it is `grafite`, whose rate is bounded for any keys and queries; over byte strings what `auto`
    /// predicts to be best where nothing is known of the queries. [`build_with`](Self::build_with) takes any family, a
    /// sample, a seed and a number of threads.
    ///
    /// # Errors
    /// `InvalidInput` if the budget is none; `BudgetTooSmall` with the smallest that works.
    pub fn build<T, B>(keys: impl IntoIterator<Item = T>, budget: B) -> Result<Self>
    where
        T: AsKey<K>,
        B: TryInto<Budget>,
        Error: From<B::Error>,
    {
        let plan = BuildPlan::new(budget.try_into()?);
        Self::build_with(keys, &*K::spec(K::USUAL_SPEC)?, &plan)
    }

    /// A filter of `keys` in any order, of one family and by one plan.
    ///
    /// ```
    /// use lacuna::{Budget, BuildPlan, Filter, filters::RencoderSpec};
    ///
    /// let plan = BuildPlan::new(Budget::bits_per_key(18.0)?).with_seed(7);
    /// let filter = Filter::build_with([3, 50, 700], &RencoderSpec::new(), &plan)?;
    /// assert_eq!(filter.family(), "rencoder");
    /// # Ok::<(), lacuna::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if family and plan do not go together, such as `ribbon:secret` and a plan without a secret, which is found out
    /// before a key is taken; `BudgetTooSmall` with the smallest that works.
    pub fn build_with<T: AsKey<K>>(
        keys: impl IntoIterator<Item = T>,
        spec: &(impl DynSpec<K> + ?Sized),
        plan: &BuildPlan<K>,
    ) -> Result<Self> {
        spec.secret_use().check::<K>(&spec.name(), plan.secret().is_some(), "with the plan")?;
        let keys = sorted(keys);
        let sealed = spec.build(SortedKeys::try_new(K::column(&keys))?, plan)?;
        open(sealed.into_bytes())
    }

    fn over<B: FilterBytes>(envelope: Envelope, bytes: B) -> Result<Self> {
        envelope.check_asked_directly()?;
        let bytes = Arc::new(bytes);
        let filter = K::open_kind(envelope, Shared(Arc::clone(&bytes)))?;
        Ok(Self { filter: Arc::from(filter), bytes, envelope })
    }

    /// Whether keys as they come are what the filter's keys are. The `u64` 2 is no number among floats or days: about it,
    /// the filter says nothing.
    #[inline]
    fn takes_plain_keys(&self) -> bool {
        let key_type = self.envelope.key_type;
        key_type.is_bytes() || matches!(key_type, KeyType::U64 | KeyType::Unknown)
    }

    /// Whether `key` may be there; `false` proves that it is not. A filter whose keys stand for other values than
    /// unsigned integers says `true`: ask it with [`may_contain_value`](Filter::may_contain_value), or with the integers
    /// that stand for its values through [`as_range_filter`](Self::as_range_filter).
    #[inline]
    pub fn may_contain(&self, key: impl AsKey<K>) -> bool {
        !self.takes_plain_keys() || self.filter.may_contain(key.as_key())
    }

    /// Whether any key of `range` may be there, as [`may_contain`](Self::may_contain); `false` proves that none is. A
    /// range that is empty or inverted holds none.
    #[inline]
    pub fn may_contain_range(&self, range: impl KeyBounds<K>) -> bool {
        !self.takes_plain_keys() || range_of(&range).is_some_and(|range| self.filter.may_contain_range(range))
    }

    /// Answers many ranges at once, which takes a quarter to a third of the time: their cache misses overlap. As
    /// [`may_contain_range`](Self::may_contain_range).
    pub fn may_contain_ranges<R: KeyBounds<K>>(&self, ranges: &[R]) -> Vec<bool> {
        if !self.takes_plain_keys() {
            return vec![true; ranges.len()];
        }
        let (places, asked): (Vec<usize>, Vec<_>) = ranges
            .iter()
            .enumerate()
            .filter_map(|(place, range)| range_of(range).map(|range| (place, range)))
            .unzip();
        let mut found = vec![false; asked.len()];
        self.filter.may_contain_ranges(&asked, &mut found);
        let mut answers = vec![false; ranges.len()];
        for (place, found) in places.into_iter().zip(found) {
            answers[place] = found;
        }
        answers
    }

    /// Answers many closed ranges whose ends stand in two columns, without gathering them: `answers[i]` belongs to
    /// `los[i]..=his[i]`, as [`may_contain_range`](Self::may_contain_range). An inverted pair holds no key.
    ///
    /// ```
    /// let filter = lacuna::Filter::build([3, 50, 700], 14.0)?;
    /// let mut answers = [false; 3];
    /// filter.may_contain_pairs(&[1, 60, 701], &[5, 40, 900], &mut answers);
    /// assert_eq!(answers, [true, false, false]);
    /// # Ok::<(), lacuna::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the three slices differ in length.
    pub fn may_contain_pairs<'a>(&self, los: &[K::Ref<'a>], his: &[K::Ref<'a>], answers: &mut [bool]) {
        if self.takes_plain_keys() {
            self.filter.may_contain_pairs(los, his, answers);
        } else {
            let len = answers.len();
            assert!(los.len() == len && his.len() == len, "the three slices differ in length");
            answers.fill(true);
        }
    }

    /// The sealed bytes: 64 bytes of envelope, then the payload; versioned and checksummed.
    pub fn as_bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// The family's name, such as `grafite`.
    pub fn family(&self) -> &'static str {
        lacuna_families::family(self.envelope.kind).map_or("unknown", |family| family.kind.name())
    }

    /// The type of the values that the keys stand for, as its builder noted it.
    pub fn key_type(&self) -> KeyType {
        self.envelope.key_type
    }

    /// Number of distinct keys the filter was built from.
    pub fn key_count(&self) -> u64 {
        self.filter.key_count()
    }

    /// Most false positives the filter promises among independent ranges of `range_len` keys without a key, as a share of
    /// them, whatever the keys and the queries; 1 where it promises nothing.
    pub fn rate_bound(&self, range_len: u64) -> f64 {
        self.filter.rate_bound(range_len)
    }

    /// The filter as the trait that all families implement, for code that is generic over filters. It takes the integers
    /// that stand for values, whatever their type is.
    pub fn as_range_filter(&self) -> &DynFilter<K> {
        &*self.filter
    }
}

/// The keys side by side, ascending and without repeats; they are sorted only if they are not yet.
fn sorted<K: FilterKey + ?Sized, T: AsKey<K>>(keys: impl IntoIterator<Item = T>) -> K::OwnedColumn {
    let mut column = K::OwnedColumn::default();
    for key in keys {
        K::push(&mut column, key.as_key());
    }
    if K::column(&column).first_disorder().is_some() {
        K::sort(&mut column);
    }
    column
}

impl<K: FilterKey + ?Sized> Clone for Filter<K> {
    fn clone(&self) -> Self {
        Self { filter: Arc::clone(&self.filter), bytes: Arc::clone(&self.bytes), envelope: self.envelope }
    }
}

impl<K: FilterKey + ?Sized> fmt::Debug for Filter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("family", &self.family())
            .field("key_count", &self.key_count())
            .field("bytes", &self.as_bytes().len())
            .finish()
    }
}
