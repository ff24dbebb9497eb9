//! Composite keys: the codec hashes what ranges do not cross, and a filter with a bound keeps it over them.

use std::collections::BTreeSet;
use std::ops::Bound::Included;

use lacuna_workload::Rng;

use crate::support::Workshop;

const SEED: u64 = 27;
/// Sensors with readings, and readings of each.
const SENSORS: u64 = 20;
const READINGS: u64 = 1_000;
/// Questions of each kind.
const ASKED: usize = 20_000;

/// Where a question starts.
#[derive(Debug, Clone, Copy)]
enum Start {
    /// At most this long after a reading.
    After(u64),
    /// At any time of a sensor with readings.
    Anywhere,
    /// At any time of a sensor without readings.
    Elsewhere,
}

impl Start {
    /// A sensor and a time.
    fn draw(self, rng: &mut Rng, readings: &[(u64, u64)]) -> (u64, u64) {
        match self {
            Self::After(max) => {
                let (sensor, time) = readings[rng.index(readings.len())];
                (sensor, time + 1 + rng.below(max))
            }
            Self::Anywhere => (rng.below(SENSORS), rng.below(1 << 32)),
            Self::Elsewhere => (SENSORS + rng.below(1_000), rng.below(1 << 32)),
        }
    }
}

/// A sensor in eight bytes and a time in four; `None` after the last time.
fn key(sensor: u64, time: u64) -> Option<[u8; 12]> {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&sensor.to_be_bytes());
    key[8..].copy_from_slice(&u32::try_from(time).ok()?.to_be_bytes());
    Some(key)
}

/// Within a sensor, with readings or without, right after a reading or anywhere.
#[test]
fn composite_keys_keep_the_bound() {
    let starts =
        [Start::After(30), Start::After(1 << 10), Start::After(1 << 20), Start::Anywhere, Start::Elsewhere];
    for family in ["ribbon", "grafite"] {
        let mut rng = Rng::new(SEED);
        let drawn = (0..SENSORS * READINGS).map(|number| (number % SENSORS, rng.below(1 << 32)));
        let readings: BTreeSet<(u64, u64)> = drawn.collect();
        let listed: Vec<(u64, u64)> = readings.iter().copied().collect();
        let keys: Vec<_> = listed.iter().map(|&(sensor, time)| key(sensor, time).unwrap()).collect();
        let workshop = Workshop::parse(&format!("{family}@14 codec=composite:8,4 seed=5"));
        let sealed = workshop.build(&keys).unwrap();
        let guard = workshop.open(sealed.as_bytes());
        assert!(keys.iter().all(|key| guard.may_contain_key(key)), "{family}, seed {SEED}");
        let filter = lacuna_families::open::<u64, _>(sealed.as_bytes().to_vec()).unwrap();
        assert!(filter.rate_bound(32) < 0.02, "{family}: {}", filter.rate_bound(32));
        for (start, len) in starts.into_iter().flat_map(|start| [1, 32, 1_024].map(|len| (start, len))) {
            let (mut asked, mut found) = (0, 0);
            for _ in 0..ASKED {
                let (sensor, lo) = start.draw(&mut rng, &listed);
                let hi = lo + len - 1;
                let (Some(first), Some(last)) = (key(sensor, lo), key(sensor, hi)) else { continue };
                if readings.range((sensor, lo)..=(sensor, hi)).next().is_none() {
                    asked += 1;
                    found += u32::from(guard.may_contain_bounds(Included(&first), Included(&last)));
                }
            }
            let expected = f64::from(asked) * filter.rate_bound(len);
            let max = expected + 4.5 * expected.sqrt() + 5.0;
            let case = format!("{family}, {len} times, {start:?}, seed {SEED}");
            assert!(f64::from(found) <= max, "{case}: {found} of {asked}, not {expected}");
        }
    }
}
