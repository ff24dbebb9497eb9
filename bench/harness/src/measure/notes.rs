//! What a reader of a row should know beyond its numbers: what `auto` chose, which filters store every key, which see too
//! little of the keys, which were made for the very queries that they are counted with, and which times are those of few queries.
//!
//! In small files, families over integers see eight bytes of a byte string, those after the prefix that all keys share. Where a quarter of
//! the keys or more agree in those, such a filter cannot tell them from their neighbours, whatever its budget.

use lacuna_base::{ByteColumn, Window};
use lacuna_families::AutoSpec;
use lacuna_families::internal::sees_strings_as_integers;

use super::{Built, Contender, Effort, Inputs};
use crate::BenchKey;

/// Bytes of a key that a codec can hand over in order.
const ORDERED_BYTES: usize = 8;

/// The note of a row, if there is anything to say.
pub(super) fn about<K: BenchKey + ?Sized>(
    contender: &Contender<'_>,
    built: &Built<K>,
    inputs: &Inputs<'_, K>,
    effort: Effort,
    rounds: usize,
) -> Option<String> {
    let chosen = chosen(contender, built, inputs);
    let family = lacuna_families::family(built.kind);
    let is_windowed = built.has_window && family.is_ok_and(|family| sees_strings_as_integers(&family));
    let crowd = is_windowed.then(|| K::crowd(inputs.column)).flatten();
    let is_exact = built.filter.rate_bound(u64::MAX) == 0.0 && built.filter.key_count() > 2;
    let notes = [
        chosen.as_ref().map(|chosen| format!("chose {chosen}")),
        is_exact.then(|| "exact: every key is stored".to_owned()),
        crowd.map(Crowd::sentence),
        built.is_made_for_counted.then(|| "designed by the queries that are counted".to_owned()),
        warm_caches(inputs.uncounted().len(), effort),
        (rounds < effort.query_rounds)
            .then(|| format!("stopped: times of {rounds} of {} rounds", effort.query_rounds)),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// What is to be said of times of few queries, beside a floor that reads everywhere.
fn warm_caches(queries: usize, effort: Effort) -> Option<String> {
    let passes = effort.passes(queries);
    (passes > 1).then(|| {
        format!(
            "timed with {queries} queries, each asked {passes} times a round: caches hold what they touch"
        )
    })
}

/// The spec that a designer built.
fn chosen<K: BenchKey + ?Sized>(
    contender: &Contender<'_>,
    built: &Built<K>,
    inputs: &Inputs<'_, K>,
) -> Option<String> {
    let auto: AutoSpec = contender.spec.parse().ok()?;
    let design = auto.design(inputs.keys, &built.plan).ok()?;
    let family = lacuna_families::family(built.kind).ok()?.kind;
    let candidate = design.candidates().iter().find(|candidate| candidate.kind == family);
    Some(candidate.map_or(family.name().to_owned(), |candidate| candidate.spec.clone()))
}

/// Byte strings that agree in their window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowd {
    keys: usize,
    windows: usize,
    /// Length of the keys, if all have the same.
    length: Option<usize>,
}

impl Crowd {
    /// The crowd of ascending `keys`, if it is a quarter of them or more.
    pub(crate) fn of(keys: &ByteColumn) -> Option<Self> {
        let (first, last) = (keys.iter().next()?, keys.last()?);
        let prefix = &first[..Window::common_prefix_len(first, last)];
        let window = Window::new(prefix, Window::MAX_WIDTH);
        let (mut windows, mut previous) = (0, None);
        for key in keys.iter() {
            let position = Some(window.position(key));
            windows += usize::from(position != previous);
            previous = position;
        }
        let length = keys.iter().all(|key| key.len() == first.len()).then_some(first.len());
        let crowd = Self { keys: keys.len(), windows, length };
        (4 * windows <= 3 * crowd.keys).then_some(crowd)
    }

    fn sentence(self) -> String {
        let Self { keys, windows, length } = self;
        let remedy = match length.filter(|&length| length > ORDERED_BYTES) {
            Some(length) => {
                format!("in an engine, codec=composite:{},{ORDERED_BYTES} helps", length - ORDERED_BYTES)
            }
            None => "surf and proteus see whole keys".to_owned(),
        };
        format!("sees 8 bytes, in which {keys} keys have {windows} values; {remedy}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_agree_in_their_window_are_a_crowd() {
        let long: ByteColumn =
            (0..100).map(|n| format!("a long path of {}/{n}", n % 2)).collect::<Vec<_>>().iter().collect();
        assert_eq!(Crowd::of(&long), None, "the common prefix is left out");
        let mut two: Vec<String> = (100..200).map(|n| format!("{}/a/long/way/{n}", n % 2)).collect();
        two.sort();
        let crowd = Crowd::of(&two.iter().collect()).unwrap();
        assert_eq!((crowd.keys, crowd.windows), (100, 2));
        assert!(crowd.sentence().ends_with("codec=composite:8,8 helps"), "{}", crowd.sentence());
        two.push("z".to_owned());
        let sentence = Crowd::of(&two.iter().collect()).unwrap().sentence();
        assert!(sentence.contains("101 keys have 3 values; surf and proteus"), "{sentence}");
        assert_eq!(Crowd::of(&ByteColumn::new()), None);
    }
}
