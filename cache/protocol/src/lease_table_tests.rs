//! The table compared with a plain queue, and consequences of its order.

use proptest::prelude::*;

use super::{Claim, LeaseId, LeaseMode, LeaseTable};
use crate::interval::Interval;

use LeaseMode::{Exclusive, Shared};

type Request = (LeaseId, LeaseMode, Vec<Claim<u8>>);

/// Requests in their order: a request is granted if no earlier one conflicts.
#[derive(Default)]
struct Queue(Vec<Request>);

impl Queue {
    fn conflict(a: &Request, b: &Request) -> bool {
        let meet = |a: &Claim<u8>, b: &Claim<u8>| a.0 == b.0 && a.1.overlaps(&b.1);
        (a.1 == Exclusive || b.1 == Exclusive)
            && a.2.iter().any(|claim| b.2.iter().any(|other| meet(claim, other)))
    }

    fn granted(&self) -> Vec<LeaseId> {
        let is_granted =
            |place: usize| !self.0[..place].iter().any(|other| Self::conflict(other, &self.0[place]));
        (0..self.0.len()).filter(|place| is_granted(*place)).map(|place| self.0[place].0).collect()
    }
}

fn claim() -> impl Strategy<Value = Claim<u8>> {
    (0usize..2, 0u8..20, 0u8..6)
        .prop_map(|(domain, lo, len)| (domain, Interval::closed(lo, lo + len).expect("lo <= hi")))
}

#[derive(Debug, Clone)]
enum Step {
    Ask(bool, Vec<Claim<u8>>),
    Release(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<bool>(), prop::collection::vec(claim(), 1..4)).prop_map(|(shared, claims)| Step::Ask(shared, claims)),
        3 => any::<usize>().prop_map(Step::Release),
    ]
}

proptest! {
    #[test]
    fn leases_are_granted_as_in_a_plain_queue(steps in prop::collection::vec(step(), 0..80)) {
        let (mut table, mut queue) = (LeaseTable::new(2), Queue::default());
        for step in steps {
            let before = queue.granted();
            let told = match step {
                Step::Ask(shared, claims) => {
                    let mode = if shared { Shared } else { Exclusive };
                    let (id, granted) = table.request(mode, claims.clone());
                    queue.0.push((id, mode, claims));
                    if granted { vec![id] } else { Vec::new() }
                }
                Step::Release(place) if !queue.0.is_empty() => {
                    let (id, ..) = queue.0.remove(place % queue.0.len());
                    table.release(id)
                }
                Step::Release(_) => Vec::new(),
            };
            let after = queue.granted();
            let news: Vec<LeaseId> = after.iter().filter(|id| !before.contains(id)).copied().collect();
            prop_assert_eq!(told, news, "exactly the newly granted requests are returned");
            prop_assert!(queue.0.iter().all(|(id, ..)| table.is_granted(*id) == after.contains(id)));
        }
        prop_assert_eq!(table.len(), queue.0.len());
    }
}

fn at(value: u8) -> Vec<Claim<u8>> {
    vec![(0, Interval::point(value))]
}

#[test]
fn a_writer_is_not_starved_by_readers() {
    let mut table = LeaseTable::new(1);
    let (first_reader, _) = table.request(Shared, at(5));
    let (writer, _) = table.request(Exclusive, at(5));
    let later_readers: Vec<LeaseId> = (0..100).map(|_| table.request(Shared, at(5)).0).collect();
    assert!(later_readers.iter().all(|reader| !table.is_granted(*reader)));
    assert_eq!(table.release(first_reader), [writer]);
    assert_eq!(table.release(writer), later_readers);
}

#[test]
fn intervals_taken_in_different_orders_do_not_lock_up() {
    let both = |first: u8, second: u8| [at(first), at(second)].concat();
    let mut table = LeaseTable::new(1);
    let (forwards, granted) = table.request(Exclusive, both(1, 9));
    let (backwards, waits) = table.request(Exclusive, both(9, 1));
    assert!(granted && !waits);
    assert_eq!(table.release(forwards), [backwards]);
}

#[test]
fn a_withdrawn_request_lets_others_through() {
    let mut table = LeaseTable::new(1);
    let (_, _) = table.request(Shared, at(5));
    let (writer, _) = table.request(Exclusive, at(5));
    let (reader, granted) = table.request(Shared, at(5));
    assert!(!granted);
    assert_eq!(table.release(writer), [reader]);
}
