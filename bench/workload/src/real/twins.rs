//! Twins of the real integer and number sets: the same shape from a fixed seed.

use lacuna_base::{TypedKey, Zorder};

use crate::{Keys, Rng, ZipfRanks};

/// Runs of nearly consecutive ids with wide gaps between, as bulk imports leave them.
pub(super) fn ids_in_runs() -> Keys {
    let mut rng = Rng::new(1);
    let mut id = 525_206;
    let mut ids = Vec::new();
    while ids.len() < 50_000 {
        for _ in 0..ZipfRanks::new(500).draw(&mut rng) {
            ids.push(id);
            id += 1 + rng.below(3);
        }
        id += ZipfRanks::new(1 << 24).draw(&mut rng);
    }
    Keys::from_u64s(ids)
}

/// Points on a sphere in Z-order, crowded around 500 centres.
pub(super) fn places() -> Keys {
    let mut rng = Rng::new(2);
    let centres: Vec<(u32, u32)> = (0..500).map(|_| (any_u32(&mut rng), any_u32(&mut rng))).collect();
    let place = |rng: &mut Rng| {
        let (x, y) = centres[rng.index(centres.len())];
        let mut step = || u32::try_from(ZipfRanks::new(1 << 28).draw(rng)).expect("2^28 is a u32");
        Zorder { x: x.wrapping_add(step()), y: y.wrapping_add(step()) }.to_key()
    };
    Keys::from_u64s((0..50_000).map(|_| place(&mut rng)).collect())
}

/// Times in seconds: several a working hour, nearly none at night or on two days of seven.
pub(super) fn times_in_bursts() -> Keys {
    let mut rng = Rng::new(3);
    let start = 1_112_911_993 / 86_400;
    let working_days = (start..start + 4_000).filter(|day| day % 7 < 5);
    let times = working_days.flat_map(|day| {
        let commits = 2 + rng.below(20);
        (0..commits).map(|_| day * 86_400 + 28_800 + rng.below(36_000)).collect::<Vec<_>>()
    });
    Keys::from_u64s(times.collect())
}

/// Decimal measurements of very different magnitudes, some negative.
pub(super) fn measurements() -> Keys {
    let mut rng = Rng::new(4);
    let value = |rng: &mut Rng| {
        let digits = u32::try_from(ZipfRanks::new(863_964_000).draw(rng)).expect("it is below 2^32");
        let scale = [1.0, 100.0, 10_000.0][rng.index(3)];
        if rng.below(50) == 0 { -(f64::from(digits) / scale / 1e7) } else { f64::from(digits) / scale }
    };
    Keys::from_u64s((0..50_000).map(|_| value(&mut rng).to_key()).collect())
}

fn any_u32(rng: &mut Rng) -> u32 {
    u32::try_from(rng.below(1 << 32)).expect("it is below 2^32")
}
