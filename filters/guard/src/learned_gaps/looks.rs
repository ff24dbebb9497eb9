//! Looks into files, as far as they are the same for every engine.
//!
//! An engine's learner finds the file of a hint and reads the entries around the range. What comes before that (is
//! there anything left to learn?) and after it (a gap is kept, a key is remembered so that the file is not read again)
//! is here.

use std::sync::Arc;

use lacuna_base::ByteRange;

use crate::learned_gaps::file_gaps::Neighbours;
use crate::learned_gaps::file_tag::FileTag;
use crate::learned_gaps::hints::Hint;
use crate::learned_gaps::refuted::Refuted;
use crate::learned_gaps::store::LearnedGaps;

/// Which files of a hint are worth a look, and what becomes of its outcome.
///
/// ```
/// use lacuna_guard::{Counters, FileTag, GapOptions, GuardCodec, LearnedGaps, Looks, Neighbours};
/// use std::ops::Bound::Included;
/// use std::sync::Arc;
///
/// let codec = GuardCodec::parse("fixed_be:1")?;
/// let gaps = LearnedGaps::new(&codec, GapOptions::default(), Arc::new(Counters::new()));
/// let mut looks = Looks::new(Arc::clone(&gaps));
/// let (file, other) = (FileTag([7; 16]), FileTag([8; 16]));
/// gaps.hint_tags(Included(&[50]), Included(&[60]), &[file, other]);
/// let hint = gaps.take_hint().expect("there is room");
/// // One was found to hold nothing between 10 and 90, the other to hold a key of the range.
/// let proof = Neighbours { below: Some(&[10]), above: Some(&[90]), smallest: &[10], largest: &[90] };
/// looks.conclude(file, &hint, Some(&proof));
/// looks.conclude(other, &hint, None);
/// assert!(looks.is_settled(file, &hint) && looks.is_settled(other, &hint));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug)]
pub struct Looks {
    gaps: Arc<LearnedGaps>,
    refuted: Refuted,
}

impl Looks {
    /// Nothing was looked into yet. Takes 8 KiB now.
    pub fn new(gaps: Arc<LearnedGaps>) -> Self {
        Self { gaps, refuted: Refuted::new() }
    }

    /// Where hints come from and gaps go to.
    pub fn gaps(&self) -> &Arc<LearnedGaps> {
        &self.gaps
    }

    /// Whether a look into the file would teach nothing new: its gap there is known, or a key of the range is.
    pub fn is_settled(&self, file: FileTag, hint: &Hint) -> bool {
        let (lo, hi) = hint.bounds();
        self.gaps.is_known_empty(file, lo, hi) || self.refuted.holds(number(file), hint)
    }

    /// Takes what a look has found around the hint's range: the neighbours, or `None` if the file holds a key of it.
    pub fn conclude(&mut self, file: FileTag, hint: &Hint, gap: Option<&Neighbours<'_>>) {
        self.gaps.counters().gaps().count_confirmation(gap.is_some());
        match gap {
            Some(gap) => self.gaps.open_file(file).learn(gap),
            None => self.refuted.note(number(file), hint),
        }
    }
}

/// Either half of a tag is as good as random.
fn number(file: FileTag) -> u64 {
    file.halves()[0]
}

/// Whether the keys of a file, from this smallest to this largest, reach into `range`; an end that is not
/// known may be anywhere.
pub fn reach_into(smallest: Option<&[u8]>, largest: Option<&[u8]>, range: ByteRange<'_>) -> bool {
    let starts_before_end = match (smallest, range.hi()) {
        (Some(smallest), Some(hi)) => smallest <= hi,
        _ => true,
    };
    starts_before_end && largest.is_none_or(|largest| largest >= range.lo())
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::*;

    #[test]
    fn only_files_that_reach_into_the_range_are_candidates() {
        let range = ByteRange::from_bounds(Included(b"d"), Excluded(b"g")).unwrap();
        let reaches = |smallest: &[u8], largest: &[u8]| reach_into(Some(smallest), Some(largest), range);
        assert!(reaches(b"a", b"d") && reaches(b"e", b"e") && reaches(b"f", b"z") && reaches(b"a", b"z"));
        assert!(!reaches(b"a", b"c") && !reaches(b"h", b"z"));
        assert!(reach_into(None, Some(b"e"), range) && !reach_into(None, Some(b"c"), range));
        assert!(reach_into(Some(b"e"), None, range) && !reach_into(Some(b"h"), None, range));
        let open = ByteRange::from_bounds(Included(b"d"), Unbounded).unwrap();
        assert!(reach_into(Some(b"z"), Some(b"zz"), open) && !reach_into(Some(b"a"), Some(b"c"), open));
    }
}
