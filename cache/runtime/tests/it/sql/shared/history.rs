//! Whether what clients of shared rows saw could have come from a table without a cache.
//!
//! The time of a moment is its place in the history. A mark is gone at the latest when the write that took it was
//! acknowledged, when somebody saw what that write left, or when that was gone. A row is compared whole: with its mark goes
//! the note that the mark's write left.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

type Mark = i64;
type Time = usize;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Insert { id: i64, to: Mark, note: i64 },
    Update { id: i64, from: Mark, to: Mark, note: i64 },
    Delete { id: i64, from: Mark },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Refused,
    NotDone,
    Unknown,
}

/// A row as a read showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) id: i64,
    pub(crate) mark: Mark,
    /// `None` if it was not asked for.
    pub(crate) note: Option<i64>,
}

#[derive(Debug, Clone)]
pub(crate) enum Moment {
    ReadBegan(u64),
    /// The ids that were asked for, and the rows that were found.
    ReadEnded(u64, RangeInclusive<i64>, Vec<Shown>),
    WriteBegan(u64, Change),
    WriteEnded(u64, Outcome),
}

#[derive(Debug, Clone, Copy)]
struct Write {
    change: Change,
    began: Time,
    /// When it ended, and how; a client that was stopped does not know.
    ended: Time,
    outcome: Outcome,
}

impl Write {
    const fn may_be_done(&self) -> bool {
        matches!(self.outcome, Outcome::Done | Outcome::Unknown)
    }

    fn acknowledged(&self) -> Option<Time> {
        (self.outcome == Outcome::Done).then_some(self.ended)
    }
}

impl Change {
    const fn id(self) -> i64 {
        match self {
            Self::Insert { id, .. } | Self::Update { id, .. } | Self::Delete { id, .. } => id,
        }
    }

    const fn from(self) -> Option<Mark> {
        match self {
            Self::Insert { .. } => None,
            Self::Update { from, .. } | Self::Delete { from, .. } => Some(from),
        }
    }

    const fn to(self) -> Option<Mark> {
        match self {
            Self::Insert { to, .. } | Self::Update { to, .. } => Some(to),
            Self::Delete { .. } => None,
        }
    }

    /// What the row has beside its mark.
    const fn note(self) -> Option<i64> {
        match self {
            Self::Insert { note, .. } | Self::Update { note, .. } => Some(note),
            Self::Delete { .. } => None,
        }
    }
}

/// Everything that is known of marks.
struct Marks {
    /// Writes that may be done, and refused ones, by the mark they took.
    takers: BTreeMap<Mark, Vec<Write>>,
    makers: BTreeMap<Mark, Write>,
    /// Marks of each row, in the order in which their writes began.
    of_row: BTreeMap<i64, Vec<Mark>>,
    /// The times at which marks of each row were there, ascending; for each, the largest place in `of_row` of those so far.
    latest: BTreeMap<i64, Vec<(Time, usize)>>,
    /// When somebody first saw it, or its write was acknowledged.
    there: BTreeMap<Mark, Time>,
    gone: BTreeMap<Mark, Time>,
}

impl Marks {
    fn new(writes: &[Write], history: &[Moment]) -> Self {
        let (takers, makers, of_row) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (latest, there, gone) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut marks = Self { takers, makers, of_row, latest, there, gone };
        for write in writes {
            if let Some(from) = write.change.from() {
                marks.takers.entry(from).or_default().push(*write);
            }
            if let Some(to) = write.change.to() {
                marks.makers.insert(to, *write);
                marks.of_row.entry(write.change.id()).or_default().push(to);
                marks.there.extend(write.acknowledged().map(|time| (to, time)));
            }
        }
        for (time, moment) in history.iter().enumerate() {
            if let Moment::ReadEnded(_, _, rows) = moment {
                for row in rows {
                    let there = marks.there.entry(row.mark).or_insert(time);
                    *there = (*there).min(time);
                }
            }
        }
        for (id, of_row) in &marks.of_row {
            let there = of_row.iter().enumerate().filter_map(|(place, mark)| {
                let time = marks.there.get(mark)?;
                Some((*time, place))
            });
            let mut latest: Vec<(Time, usize)> = there.collect();
            latest.sort_unstable();
            let mut last = 0;
            for (_, place) in &mut latest {
                last = last.max(*place);
                *place = last;
            }
            marks.latest.insert(*id, latest);
        }
        // Whoever takes a mark has begun later than its maker, so that its own is behind it here.
        let order: Vec<Mark> =
            marks.of_row.values().flat_map(|of_row| of_row.iter().rev().copied()).collect();
        for mark in order {
            let takers = marks.takers.get(&mark).into_iter().flatten().filter(|write| write.may_be_done());
            let times = takers.flat_map(|write| {
                let next = write.change.to();
                let seen = next.and_then(|next| marks.there.get(&next)).copied();
                let gone = next.and_then(|next| marks.gone.get(&next)).copied();
                [write.acknowledged(), seen, gone].into_iter().flatten()
            });
            if let Some(time) = times.min() {
                marks.gone.insert(mark, time);
            }
        }
        marks
    }

    fn takers(&self, mark: Mark) -> impl Iterator<Item = &Write> {
        self.takers.get(&mark).into_iter().flatten().filter(|write| write.may_be_done())
    }

    /// Of the marks of a row that were there before `time`, the one whose write began last.
    fn latest_before(&self, id: i64, time: Time) -> Option<Mark> {
        let latest = self.latest.get(&id)?;
        let count = latest.partition_point(|(there, _)| *there < time);
        let (_, place) = latest.get(count.checked_sub(1)?)?;
        Some(self.of_row[&id][*place])
    }

    fn is_gone_before(&self, mark: Mark, time: Time) -> bool {
        self.gone.get(&mark).is_some_and(|gone| *gone < time)
    }

    /// Whether some deletion, begun before `end`, may have taken the row on from `mark`.
    fn may_be_absent(&self, mark: Mark, end: Time) -> bool {
        self.takers(mark).filter(|write| write.began < end).any(|write| match write.change.to() {
            None => true,
            Some(next) => self.may_be_absent(next, end),
        })
    }

    /// The first thing that is wrong with a read.
    fn read(
        &self,
        began: Time,
        ended: Time,
        ids: &RangeInclusive<i64>,
        rows: &[Shown],
    ) -> Result<(), String> {
        let mut shown = BTreeSet::new();
        for Shown { id, mark, note } in rows {
            if !ids.contains(id) || !shown.insert(*id) {
                return Err(format!("row {id} is not asked for, or there twice"));
            }
            let maker = self.makers.get(mark).ok_or(format!("mark {mark} was never given"))?;
            if !maker.may_be_done() {
                return Err(format!("mark {mark} is there, whose write was {:?}", maker.outcome));
            }
            if maker.began > ended || maker.change.id() != *id {
                return Err(format!("mark {mark} comes from elsewhere"));
            }
            if note.is_some() && *note != maker.change.note() {
                return Err(format!(
                    "mark {mark} of row {id} is there with another note than {:?}",
                    maker.change
                ));
            }
            if self.is_gone_before(*mark, began) {
                return Err(format!("mark {mark} of row {id} is stale: it was gone before the read began"));
            }
        }
        for id in ids.clone().filter(|id| !shown.contains(id)) {
            let latest = self.latest_before(id, began);
            if let Some(mark) = latest.filter(|mark| !self.may_be_absent(*mark, ended)) {
                return Err(format!("row {id} is missing: mark {mark} was there, and nobody deleted it"));
            }
        }
        Ok(())
    }

    /// Acknowledged writes are whole: nobody took what another took, and what was left is there or was taken.
    fn writes(&self, writes: &[Write], last: &[Shown]) -> Result<(), String> {
        for (mark, takers) in &self.takers {
            let done: Vec<_> = takers.iter().filter(|write| write.outcome == Outcome::Done).collect();
            if done.len() > 1 {
                return Err(format!("mark {mark} was taken by acknowledged writes: {done:?}"));
            }
        }
        for write in writes.iter().filter(|write| write.outcome == Outcome::Done) {
            let Some(mark) = write.change.to() else { continue };
            let is_last = last.iter().any(|row| (row.id, row.mark) == (write.change.id(), mark));
            if !is_last && self.takers(mark).next().is_none() {
                return Err(format!("acknowledged, then gone: {write:?}"));
            }
        }
        for row in last {
            self.read(Time::MAX, Time::MAX, &(row.id..=row.id), &[*row])?;
        }
        writes
            .iter()
            .filter(|write| write.outcome == Outcome::Refused)
            .try_for_each(|write| self.refusal(write))
    }

    /// A write is refused for a change of others that had begun by then.
    fn refusal(&self, refused: &Write) -> Result<(), String> {
        let others = |write: &&Write| write.began != refused.began && write.began < refused.ended;
        let has_reason = match refused.change.from() {
            Some(from) => self.takers(from).any(|write| others(&write)),
            None => {
                let of_row = self.of_row.get(&refused.change.id()).map_or(&[][..], Vec::as_slice);
                let count = of_row.partition_point(|mark| self.makers[mark].began < refused.ended);
                // The reason is among the last of them.
                of_row[..count].iter().rev().any(|mark| {
                    let maker = &self.makers[mark];
                    maker.may_be_done() && others(&maker) && !self.is_gone_before(*mark, refused.began)
                })
            }
        };
        if has_reason { Ok(()) } else { Err(format!("refused without a reason: {refused:?}")) }
    }
}

fn writes_of(history: &[Moment]) -> Vec<Write> {
    let mut open = BTreeMap::new();
    let mut writes = Vec::new();
    for (time, moment) in history.iter().enumerate() {
        match moment {
            Moment::WriteBegan(number, change) => {
                open.insert(*number, writes.len());
                let (ended, outcome) = (Time::MAX, Outcome::Unknown);
                writes.push(Write { change: *change, began: time, ended, outcome });
            }
            Moment::WriteEnded(number, outcome) => {
                let write = &mut writes[open[number]];
                (write.ended, write.outcome) = (time, *outcome);
            }
            _ => {}
        }
    }
    writes
}

/// The first anomaly of a history whose last rows are `last`.
pub(crate) fn check(history: &[Moment], last: &[Shown]) -> Result<(), String> {
    let writes = writes_of(history);
    let marks = Marks::new(&writes, history);
    let mut began = BTreeMap::new();
    for (time, moment) in history.iter().enumerate() {
        match moment {
            Moment::ReadBegan(read) => drop(began.insert(*read, time)),
            Moment::ReadEnded(read, ids, rows) => {
                let what = marks.read(began[read], time, ids, rows);
                what.map_err(|what| format!("read {read} of {ids:?}: {what}; it saw {rows:?}"))?;
            }
            _ => {}
        }
    }
    marks.writes(&writes, last)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const INSERT: Change = Change::Insert { id: 1, to: 10, note: 0 };
    const FIRST: Change = Change::Update { id: 1, from: 10, to: 11, note: 1 };
    const SECOND: Change = Change::Update { id: 1, from: 10, to: 12, note: 2 };

    fn write(number: u64, change: Change, outcome: Outcome) -> [Moment; 2] {
        [Moment::WriteBegan(number, change), Moment::WriteEnded(number, outcome)]
    }

    /// The row with the note that the write of its mark left.
    const fn row(mark: Mark) -> Shown {
        Shown { id: 1, mark, note: Some(mark % 10) }
    }

    fn read(number: u64, rows: &[Shown]) -> [Moment; 2] {
        [Moment::ReadBegan(number), Moment::ReadEnded(number, 1..=1, rows.to_vec())]
    }

    fn verdict(moments: &[[Moment; 2]], last: Shown) -> Result<(), String> {
        check(&moments.concat(), &[last])
    }

    #[test]
    fn a_chain_of_marks_is_in_order() {
        let steps = [
            write(1, INSERT, Outcome::Done),
            read(2, &[row(10)]),
            write(3, FIRST, Outcome::Done),
            write(4, SECOND, Outcome::Refused),
            read(5, &[Shown { note: None, ..row(11) }]),
        ];
        assert_eq!(verdict(&steps, row(11)), Ok(()));
    }

    #[test]
    fn every_anomaly_is_found() {
        let made = write(1, INSERT, Outcome::Done);
        let taken = write(3, FIRST, Outcome::Done);
        let elsewhere = Change::Insert { id: 2, to: 20, note: 0 };
        let cases = [
            (vec![made.clone(), taken.clone(), write(4, SECOND, Outcome::Done)], 11, "was taken by"),
            (vec![made.clone(), taken.clone(), read(5, &[row(10)])], 11, "stale"),
            (
                vec![
                    made.clone(),
                    write(3, FIRST, Outcome::Unknown),
                    read(4, &[row(11)]),
                    read(5, &[row(10)]),
                ],
                11,
                "stale",
            ),
            (vec![made.clone(), read(5, &[])], 10, "missing"),
            (vec![made.clone(), taken.clone()], 10, "gone"),
            (vec![made.clone(), taken.clone(), write(6, elsewhere, Outcome::Done)], 11, "gone"),
            // The mark of one write with the note of another, which a patch of a part of a row could leave.
            (vec![made.clone(), taken, read(5, &[Shown { note: Some(0), ..row(11) }])], 11, "another note"),
            (vec![made.clone(), write(3, FIRST, Outcome::Refused)], 10, "without a reason"),
            (vec![made, write(3, FIRST, Outcome::Refused), read(5, &[row(11)])], 10, "whose write was"),
        ];
        for (steps, last, expected) in cases {
            let found = verdict(&steps, row(last)).unwrap_err();
            assert!(found.contains(expected), "{found} instead of {expected}");
        }
    }

    #[test]
    fn a_last_row_with_another_note_is_found() {
        let steps = [write(1, INSERT, Outcome::Done), write(3, FIRST, Outcome::Done)];
        let found = verdict(&steps, Shown { note: Some(0), ..row(11) }).unwrap_err();
        assert!(found.contains("another note"), "{found}");
    }

    /// A row that comes and goes all the time, and is never seen: were each of its marks looked at for each read, this would take minutes.
    #[test]
    fn a_long_history_is_checked_in_seconds() {
        const ROUNDS: u64 = 60_000;
        let mut moments = Vec::new();
        for round in 0..ROUNDS {
            let (number, mark) = (4 * round, 2 * round.cast_signed());
            let insert = |to| Change::Insert { id: 1, to, note: 0 };
            moments.extend(write(number, insert(mark), Outcome::Done));
            moments.extend(write(number + 1, insert(mark + 1), Outcome::Refused));
            moments.extend(write(number + 2, Change::Delete { id: 1, from: mark }, Outcome::Done));
            moments.extend(read(number + 3, &[]));
        }
        let start = Instant::now();
        assert_eq!(check(&moments, &[]), Ok(()));
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    }
}
