//! Which transactions every read from now on shows.
//!
//! A commit is in the log before reads show it: its record is written, then it waits for standbys if there are any, and then it
//! leaves the list of running transactions. A snapshot that was taken after that does not have its number among those in
//! progress.

use std::str::FromStr;

use crate::cache::xids::whole;

/// What `pg_current_snapshot()` says: `745:748:745,747`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// All transactions below it have ended.
    min: u64,
    /// None from it on has begun.
    max: u64,
    /// Those in between that have not ended.
    in_progress: Vec<u64>,
}

impl Snapshot {
    /// Whether the transaction whose number ends in these 32 bits, and which was begun within the last two thousand million, has ended.
    pub(super) fn has_ended(&self, number: u32) -> bool {
        let Some(whole) = whole(number, self.max) else { return false };
        whole < self.min || (whole < self.max && !self.in_progress.contains(&whole))
    }

    /// Whether all transactions with smaller numbers have ended.
    pub(super) fn is_past(&self, number: u64) -> bool {
        // One that has begun after the last that ended is not listed: its number is not below `max`.
        number <= self.max && self.in_progress.iter().all(|running| *running >= number)
    }
}

impl FromStr for Snapshot {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split(':');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or(());
        let (min, max) = (number()?, number()?);
        let listed = parts.next().ok_or(())?.split(',').filter(|part| !part.is_empty());
        let in_progress = listed.map(|part| part.parse().map_err(drop)).collect::<Result<_, _>>()?;
        Ok(Self { min, max, in_progress })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_progress_has_ended() {
        let snapshot: Snapshot = "745:748:745,747".parse().unwrap();
        let ended = |number| snapshot.has_ended(number);
        assert!(ended(700) && ended(744) && ended(746) && !ended(745) && !ended(747));
        assert!(!ended(748) && !ended(900), "they have not begun when it was taken");
        let none: Snapshot = "3:3:".parse().unwrap();
        assert!(none.has_ended(2) && !none.has_ended(3));
        for text in ["", "1:2", "1:x:", "1:2:a"] {
            assert!(text.parse::<Snapshot>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_go_on_after_32_bits() {
        let first = (1_u64 << 32) + 5;
        let snapshot: Snapshot = format!("{}:{first}:{}", first - 9, first - 2).parse().unwrap();
        assert!(snapshot.has_ended(4) && !snapshot.has_ended(3), "of this round");
        assert!(!snapshot.has_ended(5) && !snapshot.has_ended(6));
        assert!(snapshot.has_ended(u32::MAX) && snapshot.has_ended(u32::MAX - 20), "of the last round");
    }

    #[test]
    fn a_snapshot_is_past_a_number_once_all_below_it_have_ended() {
        let is_past = |text: &str| text.parse::<Snapshot>().unwrap().is_past(9);
        assert!(!is_past("5:9:5,7") && !is_past("7:12:7,11"));
        assert!(!is_past("8:8:"), "8 may run and is not listed");
        assert!(is_past("9:9:") && is_past("9:12:9,11") && is_past("12:12:"));
    }
}
