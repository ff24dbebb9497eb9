//! Files that share a budget of places.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

fn gaps_of(codec: &str, options: GapOptions) -> Arc<LearnedGaps> {
    LearnedGaps::new(&GuardCodec::parse(codec).unwrap(), options, Arc::new(Counters::new()))
}

/// Room for this many files.
fn room_for(files: usize) -> GapOptions {
    let memory_bytes = size_of::<LearnedGaps>() + files * (1_000 + PLACE_BYTES);
    GapOptions { memory_bytes, memory_bytes_per_file: 1_000, hints: 0, ..GapOptions::default() }
}

fn tag(number: u8) -> FileTag {
    FileTag([number; 16])
}

fn between<'a>(below: &'a [u8], above: &'a [u8]) -> Neighbours<'a> {
    Neighbours { below: Some(below), above: Some(above), smallest: below, largest: above }
}

fn knows(file: &FileGaps, lo: &[u8], hi: &[u8]) -> bool {
    file.is_known_empty(Included(lo), Included(hi))
}

#[test]
fn memory_of_all_files_stays_within_its_budget() {
    for memory_bytes in [0, 1_000, 20_000, 1 << 20] {
        let options =
            GapOptions { memory_bytes, memory_bytes_per_file: 3_000, hints: 4, ..GapOptions::default() };
        let all = gaps_of("fixed_be:2", options);
        for number in 0..200 {
            let file = all.open_file(tag(number));
            (0..250).for_each(|key| file.learn(&between(&[key, 0], &[key, 9])));
        }
        let fixed = size_of::<LearnedGaps>() + 4 * Hint::MAX_BYTES;
        assert!(all.memory_bytes() <= memory_bytes.max(fixed), "{} of {memory_bytes}", all.memory_bytes());
        assert_eq!(all.gap_count() > 0, memory_bytes > 10_000, "{memory_bytes}");
    }
}

#[test]
fn a_file_that_lost_its_place_knows_nothing() {
    let all = gaps_of("fixed_be:1", room_for(2));
    let files: Vec<_> = (1..=3).map(|number| all.open_file(tag(number))).collect();
    for file in &files {
        file.learn(&between(&[10], &[20]));
    }
    let known: Vec<bool> = files.iter().map(|file| knows(file, &[11], &[19])).collect();
    assert_eq!(known.iter().filter(|known| **known).count(), 2, "{known:?}");
    assert!(known[2], "the last one has just moved in");
}

#[test]
fn files_that_are_asked_for_keep_their_place() {
    let all = gaps_of("fixed_be:1", room_for(3));
    let favourite = all.open_file(tag(0));
    favourite.learn(&between(&[10], &[20]));
    for number in 1..100 {
        let other = all.open_file(tag(number));
        other.learn(&between(&[30], &[40]));
        assert!(knows(&favourite, &[11], &[12]), "lost after {number} others");
    }
}

#[test]
fn a_file_that_is_opened_again_finds_its_gaps() {
    let all = gaps_of("bytes", room_for(3));
    let first = all.open_file(tag(1));
    first.learn(&between(b"a", b"m"));
    let number = first.number();
    assert!(Arc::ptr_eq(&first, &all.open_file(tag(1))) && all.file(number).is_some());
    drop(first);
    assert!(all.file(number).is_none());
    let again = all.open_file(tag(1));
    assert!(again.number() == number && knows(&again, b"b", b"c"));
    assert!(!knows(&all.open_file(tag(2)), b"b", b"c"), "another file");
}

#[test]
fn files_nobody_has_open_are_forgotten() {
    let all = gaps_of("bytes", room_for(1));
    for number in 0..10_000u32 {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        drop(all.open_file(FileTag(bytes)));
    }
    assert!(all.lock().open.len() <= 64, "{} files", all.lock().open.len());
}

#[test]
fn a_file_is_known_by_its_tag_alone() {
    let all = gaps_of("fixed_be:1", room_for(3));
    let knows = |number, lo: u8, hi: u8| all.is_known_empty(tag(number), Included(&[lo]), Included(&[hi]));
    for number in 1..=3 {
        all.open_file(tag(number)).learn(&between(&[10 * number], &[10 * number + 5]));
    }
    assert!(knows(1, 11, 14) && knows(2, 21, 24) && knows(3, 31, 34));
    assert!(!knows(1, 21, 24) && !knows(2, 11, 14) && !knows(4, 11, 14));
    all.open_file(tag(4)).learn(&between(&[40], &[45]));
    assert!(knows(4, 41, 44));
    assert!((1..=3).all(|number| !knows(number, 41, 44)), "a file without a place knows no gaps");
    // A file that comes back adds to what is known of it.
    all.open_file(tag(4)).learn(&between(&[60], &[65]));
    assert!(knows(4, 41, 44) && knows(4, 61, 64));
}

#[test]
fn a_file_that_others_were_noted_over_is_found_once_it_learns_again() {
    // All tags point to the same eight numbers of the index, and there are nine.
    let tags: Vec<FileTag> = (1..=9).map(|number| FileTag::from_halves([5, number])).collect();
    let all = gaps_of("fixed_be:1", room_for(tags.len()));
    let learn = |tag| all.open_file(tag).learn(&between(&[10], &[20]));
    let is_found = |tag| all.is_known_empty(tag, Included(&[11]), Included(&[19]));
    tags.iter().for_each(|&tag| learn(tag));
    let lost: Vec<FileTag> = tags.iter().copied().filter(|&tag| !is_found(tag)).collect();
    assert_eq!(lost.len(), 1, "{lost:?}");
    learn(lost[0]);
    assert!(is_found(lost[0]));
}

/// Two codecs under which a gap between codes would be wrong: keys of one file, and a key of it between the codes.
#[test]
fn gaps_stand_between_keys_and_not_between_codes() {
    // Under `head:1` all of these share the code of `b`.
    let all = gaps_of("head:1", room_for(1));
    let file = all.open_file(tag(1));
    file.learn(&between(b"ba", b"bz"));
    assert!(knows(&file, b"bb", b"by") && !knows(&file, b"ba", b"by") && !knows(&file, b"b", b"b"));
    // Under `composite:1,1` codes are in the order of hashed prefixes: those of other prefixes may lie between.
    let all = gaps_of("composite:1,1", room_for(1));
    let file = all.open_file(tag(1));
    file.learn(&between(b"a9", b"c1"));
    assert!(knows(&file, b"b0", b"bz") && knows(&file, b"az", b"c0"));
    assert!(
        (0..=255u8)
            .all(|prefix| (b'a'..=b'c').contains(&prefix) || !knows(&file, &[prefix, 5], &[prefix, 6]))
    );
}

#[test]
fn open_ends_are_taken_as_the_engine_means_them() {
    let all = gaps_of("fixed_be:1", room_for(1));
    let file = all.open_file(tag(1));
    file.learn(&Neighbours { below: None, above: Some(&[10]), smallest: &[10], largest: &[20] });
    file.learn(&Neighbours { below: Some(&[20]), above: None, smallest: &[10], largest: &[20] });
    assert!(
        file.is_known_empty(Unbounded, Excluded(&[10])) && file.is_known_empty(Excluded(&[20]), Unbounded)
    );
    assert!(
        !file.is_known_empty(Unbounded, Included(&[10])) && !file.is_known_empty(Included(&[20]), Unbounded)
    );
    assert!(!file.is_known_empty(Unbounded, Unbounded));
}

/// While files take each other's place, none ever gets another's gaps.
#[test]
fn no_file_is_told_of_anothers_gaps() {
    for codec in ["fixed_be:1", "bytes"] {
        let all = gaps_of(codec, room_for(1));
        let (low, high) = (all.open_file(tag(1)), all.open_file(tag(2)));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let by_tag =
                    |number, key: u8| all.is_known_empty(tag(number), Included(&[key]), Included(&[key]));
                while !done.load(Ordering::Relaxed) {
                    assert!(!knows(&low, &[20], &[20]) && !by_tag(1, 20), "{codec}: it holds 20");
                    assert!(!knows(&high, &[80], &[80]) && !by_tag(2, 80), "{codec}: it holds 80");
                }
            });
            for _ in 0..20_000 {
                low.learn(&between(&[20], &[120]));
                high.learn(&between(&[10], &[80]));
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

/// "No limit" is a number like any other, and so is nothing.
#[test]
fn options_may_be_as_large_and_as_small_as_numbers_are() {
    for memory_bytes in [0, 1, 5_000, 1 << 20, usize::MAX] {
        for memory_bytes_per_file in [0, 1, 1 << 12, usize::MAX] {
            for hints in [0, 1, usize::MAX] {
                let options =
                    GapOptions { memory_bytes, memory_bytes_per_file, hints, ..GapOptions::default() };
                let gaps = gaps_of("fixed_be:8", options);
                assert_eq!(gaps.options(), options);
                gaps.open_file(FileTag([1; 16]));
            }
        }
    }
}
