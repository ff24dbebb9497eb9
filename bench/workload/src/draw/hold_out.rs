//! Taking keys out of a set, so that a query can ask for a key that could have been there.
//!
//! Exactly one key in ten, or every other one, is taken, each choice equally likely (selection sampling, Knuth,
//! "The Art of Computer Programming" 2, 3.4.2, algorithm S); both parts stay ascending.

use lacuna_base::{ByteColumn, Error, Result};

use crate::{Kept, Rng};

/// Splits ascending integers into kept ones and held-out ones.
pub(super) fn hold_out_integers(keys: Vec<u64>, kept: Kept, rng: &mut Rng) -> Result<(Vec<u64>, Vec<u64>)> {
    let Some(taken) = taken_out(keys.len(), kept)? else { return Ok((keys, Vec::new())) };
    let mut selection = Selection { left: keys.len(), wanted: taken };
    Ok(keys.into_iter().partition(|_| !selection.takes_next(rng)))
}

/// Splits ascending byte strings into kept ones and held-out ones.
pub(super) fn hold_out_bytes(
    keys: ByteColumn,
    kept: Kept,
    rng: &mut Rng,
) -> Result<(ByteColumn, ByteColumn)> {
    let Some(taken) = taken_out(keys.len(), kept)? else { return Ok((keys, ByteColumn::new())) };
    let mut selection = Selection { left: keys.len(), wanted: taken };
    let (mut inserted, mut held_out) = (ByteColumn::new(), ByteColumn::new());
    for key in keys.iter() {
        if selection.takes_next(rng) { held_out.push(key) } else { inserted.push(key) }
    }
    Ok((inserted, held_out))
}

/// How many of `count` keys are taken out, at least one; `None` when all stay.
fn taken_out(count: usize, kept: Kept) -> Result<Option<usize>> {
    let share = match kept {
        Kept::All => return Ok(None),
        Kept::NineTenths => 10,
        Kept::Half => 2,
    };
    if count < 2 {
        return Err(Error::invalid_input("keys can only be taken out of at least 2; give more keys"));
    }
    Ok(Some((count / share).max(1)))
}

/// Picks `wanted` of the `left` things that come by.
struct Selection {
    left: usize,
    wanted: usize,
}

impl Selection {
    fn takes_next(&mut self, rng: &mut Rng) -> bool {
        let takes = rng.index(self.left) < self.wanted;
        self.left -= 1;
        self.wanted -= usize::from(takes);
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_share_is_taken() {
        let mut rng = Rng::new(1);
        for (count, kept, taken) in
            [(100, Kept::NineTenths, 10), (101, Kept::Half, 50), (2, Kept::NineTenths, 1)]
        {
            let (inserted, held_out) = hold_out_integers((0..count).collect(), kept, &mut rng).unwrap();
            assert_eq!(
                (inserted.len() + held_out.len(), held_out.len()),
                (usize::try_from(count).unwrap(), taken)
            );
            assert!(inserted.is_sorted() && held_out.is_sorted());
        }
    }

    #[test]
    fn each_key_is_taken_equally_often() {
        let mut rng = Rng::new(2);
        let mut taken = [0_u32; 10];
        for _ in 0..10_000 {
            let (_, held_out) = hold_out_integers((0..10).collect(), Kept::Half, &mut rng).unwrap();
            held_out.into_iter().for_each(|key| taken[usize::try_from(key).unwrap()] += 1);
        }
        assert!(taken.iter().all(|&count| (4_800..5_200).contains(&count)), "{taken:?}, seed 2");
    }
}
