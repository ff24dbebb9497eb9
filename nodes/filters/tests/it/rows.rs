//! Rows of a partition: absent and dead buckets; rows that are seen before their writes are acknowledged.

use lacuna_node_filters::{Buckets, Config, Decision, Mode, Node, Reason};

use crate::pair::{IDS, Pair, TABLE, partition};
use crate::rules::deletion;

const SAFE: Config = Config::new(Mode::Safe);

#[test]
fn a_slice_is_empty_if_its_buckets_are() {
    let mut pair = Pair::new(SAFE, Some(Buckets::new(8, 4, 3).unwrap()));
    pair.nodes[1].write(TABLE, partition(5), Some(1_000_000));
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive), "static columns count");
    let live = Decision::Forward(Reason::MayBeLive);
    assert_eq!(pair.decide_slice(5, Some((999_000, 1_000_000))), live);
    assert_eq!(pair.decide_slice(5, Some((1_000_200, 1_050_000))), Decision::Empty);
    assert_eq!(pair.decide_slice(5, Some((0, 900_000))), Decision::Empty);
    assert_eq!(pair.decide_slice(5, Some((0, u64::MAX))), Decision::Forward(Reason::TooWide));
    assert_eq!(pair.decide_slice(6, Some((0, u64::MAX))), Decision::Empty, "there is no partition");
    // A deletion of the coarse bucket around the row.
    let bucket = (2, 1_000_000 >> 16);
    assert!(pair.nodes[1].bury_bucket(TABLE, partition(5), bucket, deletion(9, Some(8))));
    pair.settle();
    assert_eq!(pair.decide_slice(5, Some((999_000, 1_000_000))), Decision::Empty);
    pair.nodes[1].write(TABLE, partition(5), Some(1_000_001));
    pair.settle();
    assert_eq!(pair.decide_slice(5, Some((999_000, 1_000_000))), live);
}

/// Rows whose key goes on after the end of a slice's bound are in the slice.
#[test]
fn a_bound_that_is_a_prefix_holds_what_goes_on() {
    let buckets = Buckets::new(0, 8, 4).unwrap();
    let (lo, hi) = (Buckets::place(b"ab"), Buckets::last_place(b"ab"));
    let row = Buckets::place(b"abz");
    let cover = buckets.cover(lo, hi);
    assert!(cover.is_none_or(|cover| buckets.of_row(row).any(|bucket| cover.contains(&bucket))));
    assert!(lo <= row && row <= hi && Buckets::place(b"ac") > hi);
    assert_eq!(Buckets::last_place(b"12345678and more"), Buckets::place(b"12345678"));
}

/// A slice is cut into this node's buckets; a node that marks other buckets would seem to hold none of them.
#[test]
fn who_puts_rows_into_other_buckets_is_asked_for_slices() {
    let live = Decision::Forward(Reason::MayBeLive);
    for (theirs, expected) in [
        (Some((8, 4, 3)), live),
        (Some((9, 4, 3)), Decision::Forward(Reason::Unknown)),
        (Some((8, 3, 3)), Decision::Forward(Reason::Unknown)),
        (Some((8, 4, 2)), Decision::Forward(Reason::Unknown)),
        (None, Decision::Forward(Reason::Unknown)),
    ] {
        let mut pair = Pair::new(SAFE, Some(Buckets::new(8, 4, 3).unwrap()));
        let theirs = theirs.map(|(finest, step, levels)| Buckets::new(finest, step, levels).unwrap());
        pair.nodes[1].create_table(TABLE, 10_000, 0.01, theirs);
        pair.nodes[1].set_ready(TABLE);
        pair.nodes[1].write(TABLE, partition(5), Some(1_000_000));
        pair.settle();
        assert_eq!(pair.decide_slice(5, Some((999_000, 1_000_000))), expected, "{theirs:?}");
        assert_eq!(pair.decide(6), Decision::Empty, "partitions are no matter of buckets");
    }
}

/// Rows 0 to 999 of a partition, of which 100 to 899 are proven dead: buckets of 16 and of 256 rows.
#[test]
fn a_dead_stretch_of_rows_is_empty_until_it_is_written() {
    let mut pair = Pair::new(SAFE, Some(Buckets::new(4, 4, 2).unwrap()));
    for row in 0..1_000 {
        pair.nodes[1].write(TABLE, partition(5), Some(row));
    }
    assert!(pair.nodes[1].bury_rows(TABLE, partition(5), 100, 899, 7) > 10);
    assert_eq!(pair.nodes[1].bury_rows(TABLE, partition(5), 100, 899, 7), 0, "all are known");
    assert_eq!(pair.nodes[1].bury_rows(TABLE, partition(6), 0, u64::MAX, 7), 0, "nothing is there");
    pair.settle();
    let live = Decision::Forward(Reason::MayBeLive);
    for (lo, hi, expected) in [
        (112, 127, Decision::Empty),
        (120, 880, Decision::Empty),
        (90, 200, live),
        (800, 900, live),
        (0, 50, live),
    ] {
        assert_eq!(pair.decide_slice(5, Some((lo, hi))), expected, "{lo} to {hi}");
    }
    pair.nodes[1].write(TABLE, partition(5), Some(300));
    pair.settle();
    assert_eq!(pair.decide_slice(5, Some((290, 310))), live);
    assert_eq!(pair.decide_slice(5, Some((600, 700))), Decision::Empty);
}

#[test]
fn every_bucket_inside_lies_inside() {
    let mut rng = lacuna_workload::Rng::new(3);
    for round in 0..20_000 {
        let finest = u32::try_from(rng.below(50)).unwrap();
        let buckets = Buckets::new(finest, 4, 3).unwrap();
        let lo = rng.next_u64() >> rng.below(64);
        let hi = lo.saturating_add(rng.next_u64() >> rng.below(64));
        let inside = buckets.inside(lo, hi);
        for (level, number) in inside.iter().copied() {
            let width = finest + 4 * level;
            let (first, last) = (number << width, (number << width) | ((1 << width) - 1));
            assert!(
                first >= lo && last <= hi,
                "round {round}: {lo}..={hi}, bucket {number} of level {level}"
            );
        }
        // Nothing whole is left out, unless there is too much.
        let first = u128::from(lo).div_ceil(1 << finest);
        let count = ((u128::from(hi) + 1) >> finest).saturating_sub(first);
        let covered: u128 = inside.iter().map(|(level, _)| 1 << (4 * level)).sum();
        assert!(covered == count || inside.len() == Buckets::MAX_IN_COVER, "round {round}: {lo}..={hi}");
    }
}

/// A read of a new key waits until the lease holder knows it, a read of another key for nothing.
#[test]
fn a_new_key_is_shown_when_lease_holders_know_it() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    pair.nodes[1].write(TABLE, partition(7), None);
    let shows = |pair: &Pair, key| pair.nodes[1].may_reveal(pair.now, TABLE, partition(key));
    assert_eq!([5, 6, 7].map(|key| shows(&pair, key)), [true, true, false]);
    pair.nodes[1].flush(pair.now);
    assert!(!shows(&pair, 7) && pair.decide(7) == Decision::Empty);
    while pair.carry(|_| true) {}
    assert!(shows(&pair, 7) && pair.decide(7) == Decision::Forward(Reason::MayBeLive));
}

/// The second node starts again with leases of a tenth of the length: its holder may rely on the long one for as long.
#[test]
fn a_start_with_shorter_leases_waits_for_the_longest() {
    let mut pair = Pair::new(SAFE, None);
    assert_eq!(pair.decide(7), Decision::Empty);
    let mut again = Node::new(IDS[1], Config { lease: 300, ..SAFE }, 2, pair.now);
    again.set_ring(1, IDS);
    again.create_table(TABLE, 1_000, 0.01, None);
    again.set_ready(TABLE);
    let barrier = again.write(TABLE, partition(7), None);
    let (mut was_denied, began) = (false, pair.now);
    while !again.may_acknowledge(pair.now, barrier) || !again.may_reveal(pair.now, TABLE, partition(7)) {
        was_denied |= pair.decide(7) == Decision::Empty && pair.now > began + 300;
        pair.now += 50;
    }
    assert!(was_denied, "its holder answered beyond the short lease");
    assert!(pair.decide(7) != Decision::Empty && pair.now <= began + SAFE.max_lease + 50);
}

/// Rows 3 and 40 of a partition in buckets of 16; a read has found nothing from 4 to 39.
fn with_margins(config: Config) -> Pair {
    let mut pair = Pair::new(config, Some(Buckets::new(4, 4, 2).unwrap()));
    for row in [3, 40] {
        pair.nodes[1].write(TABLE, partition(5), Some(row));
    }
    pair.settle();
    pair.nodes[1].bury_rows(TABLE, partition(5), 4, 39, 0);
    pair.settle();
    pair
}

fn answers(pair: &mut Pair, slices: &[(u64, u64)]) -> Vec<bool> {
    slices.iter().map(|slice| pair.decide_slice(5, Some(*slice)) == Decision::Empty).collect()
}

const AROUND: [(u64, u64); 6] = [(4, 39), (10, 36), (5, 9), (3, 39), (4, 40), (41, 47)];

#[test]
fn a_gap_from_row_to_row_is_empty_once_it_is_proven() {
    let mut pair = with_margins(SAFE);
    assert_eq!(answers(&mut pair, &AROUND), [true, true, true, false, false, false]);
    assert_eq!(pair.nodes[1].bury_rows(TABLE, partition(5), 4, 39, 0), 0, "all are known");
    assert_eq!(pair.nodes[1].bury_rows(TABLE, partition(5), 6, 38, 0), 0, "further ones are known");
    assert_eq!(pair.nodes[1].bury_rows(TABLE, partition(5), 41, 60, 0), 1);
    pair.settle();
    assert_eq!(answers(&mut pair, &AROUND), [true, true, true, false, false, true]);
}

#[test]
fn a_row_in_a_margin_ends_it_and_a_row_beside_it_does_not() {
    for (row, expected) in [
        (2, [true, true, true, false, false, false]),
        (43, [true, true, true, false, false, false]),
        (9, [false; 6]),
        (10, [false; 6]),
        (32, [false, false, true, false, false, false]),
    ] {
        let mut pair = with_margins(SAFE);
        pair.nodes[1].write(TABLE, partition(5), Some(row));
        pair.settle();
        assert_eq!(answers(&mut pair, &AROUND), expected, "row {row}");
    }
}

/// What is left of the gap is proven again, on either side of the new row.
#[test]
fn a_gap_that_a_row_has_divided_is_two_gaps() {
    let mut pair = with_margins(SAFE);
    pair.nodes[1].write(TABLE, partition(5), Some(9));
    pair.nodes[1].bury_rows(TABLE, partition(5), 10, 39, 0);
    pair.nodes[1].bury_rows(TABLE, partition(5), 4, 8, 0);
    pair.settle();
    assert_eq!(
        answers(&mut pair, &[(10, 39), (9, 39), (4, 8)]),
        [true, false, false],
        "4 to 8 is inside a bucket"
    );
}

/// Until the lease holder knows that the margin has ended, the row in it is neither acknowledged nor shown.
#[test]
fn a_row_in_a_margin_is_shown_when_lease_holders_know_it() {
    let mut pair = with_margins(SAFE);
    let barrier = pair.nodes[1].write(TABLE, partition(5), Some(2));
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier), "no news beside the margin");
    let barrier = pair.nodes[1].write(TABLE, partition(5), Some(35));
    pair.nodes[1].flush(pair.now);
    assert!(!pair.nodes[1].may_acknowledge(pair.now, barrier));
    assert!(!pair.nodes[1].may_reveal(pair.now, TABLE, partition(5)));
    assert_eq!(pair.decide_slice(5, Some((20, 36))), Decision::Empty, "it has not heard");
    while pair.carry(|_| true) {}
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier));
    assert!(pair.nodes[1].may_reveal(pair.now, TABLE, partition(5)));
    assert_ne!(pair.decide_slice(5, Some((20, 36))), Decision::Empty);
}

/// Margins are in the snapshot that a peer fetches, and stay when the filter is built anew; writes meanwhile end them.
#[test]
fn a_copy_that_is_fetched_anew_has_the_margins() {
    let mut pair = with_margins(SAFE);
    pair.nodes[0].want(TABLE, []);
    pair.nodes[0].want(TABLE, [IDS[1]]);
    pair.settle();
    assert_eq!(answers(&mut pair, &AROUND[..2]), [true, true]);
    for written in [false, true] {
        pair.nodes[1].begin_rebuild(TABLE, 100, 0.01);
        if written {
            pair.nodes[1].write(TABLE, partition(5), Some(38));
        }
        for row in [3, 40] {
            pair.nodes[1].rebuild_key(TABLE, partition(5), Some(row));
        }
        pair.nodes[1].finish_rebuild(TABLE);
        pair.settle();
        assert_eq!(answers(&mut pair, &[(4, 39), (4, 31)]), [!written, true], "written: {written}");
    }
    pair.nodes[1].create_table(TABLE, 100, 0.01, Some(Buckets::new(4, 4, 2).unwrap()));
    pair.nodes[1].write(TABLE, partition(5), Some(20));
    pair.nodes[1].set_ready(TABLE);
    pair.settle();
    assert_eq!(answers(&mut pair, &[(4, 39), (17, 30), (4, 15)]), [false, false, true]);
}

/// A coordinator in mode eventual has to see its own writes at once, of which its copies know keys and buckets alone.
#[test]
fn eventual_mode_has_no_margins() {
    let mut pair = with_margins(Config::new(Mode::Eventual));
    assert_eq!(answers(&mut pair, &AROUND), [false; 6]);
    assert_eq!(answers(&mut pair, &[(16, 31)]), [true]);
    pair.nodes[0].forwarded(pair.now, TABLE, partition(5), Some(20), &IDS[1..]);
    assert_eq!(answers(&mut pair, &[(16, 31), (4, 31)]), [false; 2]);
}

#[test]
fn margins_stay_within_the_memory_of_their_filter() {
    let mut pair =
        Pair::new(Config { max_table_bytes: 40_000, ..SAFE }, Some(Buckets::new(4, 4, 2).unwrap()));
    let mut kept = 0;
    for key in 0..3_000 {
        pair.nodes[1].write(TABLE, partition(key), Some(3));
        kept += pair.nodes[1].bury_rows(TABLE, partition(key), 4, 15, 0);
        let bytes = pair.nodes[1].own_filter(TABLE).unwrap().memory_bytes();
        assert!(bytes <= 40_000, "{bytes} bytes at key {key}");
    }
    assert!((100..3_000).contains(&kept), "{kept} margins");
    pair.settle();
    let is_live = |key| pair.decide_slice(key, Some((3, 9))) != Decision::Empty;
    assert!((0..3_000).all(is_live), "rows are found whatever is forgotten");
}
