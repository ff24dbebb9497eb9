//! The events of 2,000 sensors, and what is asked about them.
//!
//! Each sensor records an event every 0.2 s on average, at random (Poisson). All of them together are then one stream
//! with an event every 100,000 ns, each from a sensor at random; of such a stream, N events in N times 100,000 ns lie
//! anywhere with equal chance. So a key is two random numbers, without a logarithm, which may differ between machines.

use lacuna_workload::Rng;

/// Sensors.
const SENSORS: u64 = 2_000;
/// Mean time between two events of all sensors: 0.2 s over 2,000.
pub(super) const MEAN_GAP_NS: u64 = 100_000;
/// Streams of one seed.
const EVENTS: u64 = 101;
const WARMING: u64 = 102;
const QUESTIONS: u64 = 103;

/// A key: nanoseconds, then the sensor, both big-endian.
pub(super) type Key = [u8; 16];

/// Events in the order of time.
#[derive(Debug)]
pub struct Events {
    keys: Vec<u128>,
    span_ns: u64,
}

/// A question: a closed range of keys; a point when both are the same.
pub(super) type Question = (u128, u128);

impl Events {
    /// `count` events, fewer only where two are the same.
    pub(crate) fn new(count: usize, seed: u64) -> Self {
        let mut rng = Rng::with_stream(seed, EVENTS);
        let span_ns = MEAN_GAP_NS * count.max(1) as u64;
        let mut keys: Vec<u128> = (0..count).map(|_| key(rng.below(span_ns), rng.below(SENSORS))).collect();
        keys.sort_unstable();
        keys.dedup();
        Self { keys, span_ns }
    }

    /// Number of events.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys as bytes, ascending.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> + Clone {
        self.keys.iter().map(|key| key.to_be_bytes())
    }

    /// `count` events, each chosen at random.
    pub(crate) fn picked(&self, count: usize, seed: u64) -> Vec<Key> {
        let mut rng = Rng::with_stream(seed, WARMING);
        (0..count).map(|_| self.keys[rng.index(self.keys.len())].to_be_bytes()).collect()
    }

    /// `count` questions from a random time and sensor to the same sensor `range_ns` later.
    pub(crate) fn questions(&self, count: usize, range_ns: u64, seed: u64) -> Vec<Question> {
        // Each length has starts of its own: blocks that one of them has cached are not the next one's.
        let mut rng = Rng::with_stream(seed, QUESTIONS + range_ns);
        let question = |_| {
            let (time, sensor) = (rng.below(self.span_ns), rng.below(SENSORS));
            (key(time, sensor), key(time + range_ns, sensor))
        };
        (0..count).map(question).collect()
    }

    /// The earliest event of a range.
    pub(crate) fn first_in(&self, (low, high): Question) -> Option<Key> {
        let first = self.keys.get(self.keys.partition_point(|key| *key < low));
        first.filter(|key| **key <= high).map(|key| key.to_be_bytes())
    }
}

fn key(time: u64, sensor: u64) -> u128 {
    u128::from(time) << 64 | u128::from(sensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_empty_as_often_as_planned() {
        let events = Events::new(50_000, 5);
        for (percent, range_ns) in [(90_i32, 10_536), (50, 69_315), (10, 230_259)] {
            let questions = events.questions(4_000, range_ns, 6);
            let empty = questions.iter().filter(|question| events.first_in(**question).is_none()).count();
            let difference = (empty as f64 / 4_000.0 - f64::from(percent) / 100.0).abs();
            assert!(difference < 0.03, "{empty} of 4,000 at {percent} %, seeds 5 and 6");
        }
    }

    #[test]
    fn events_are_found_from_their_start() {
        let events = Events { keys: vec![key(7, 3), key(9, 1)], span_ns: 10 };
        assert_eq!(events.first_in((key(7, 3), key(7, 3))), Some(key(7, 3).to_be_bytes()));
        assert_eq!(events.first_in((key(7, 4), key(9, 2))), Some(key(9, 1).to_be_bytes()));
        assert_eq!(events.first_in((key(7, 4), key(9, 0))), None);
    }
}
