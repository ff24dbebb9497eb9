//! Hard sets of byte strings.

use lacuna_workload::Rng;
use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;

use super::TestSpace;
use crate::effort;

/// Bytes that have broken encodings: terminators and their neighbours.
const RIMS: [u8; 5] = [0x00, 0x01, 0x7F, 0xFE, 0xFF];
/// Random streams of the sets below.
const STREAM: u64 = 0x2000;

impl TestSpace for [u8] {
    const PLACEMENTS: usize = 5;

    fn universe(size: usize, placement: usize) -> Vec<Vec<u8>> {
        let keys = if size == 16 { sixteen_strings() } else { (0..=255).map(|byte| vec![byte]).collect() };
        let place = |key: Vec<u8>| match placement {
            0 => key,
            1 => [b"tenant/0000000042/".to_vec(), key].concat(),
            2 => [vec![0xFF; 300], key].concat(),
            3 => [vec![0; 8], key].concat(),
            _ => [b"seven..".to_vec(), key].concat(),
        };
        keys.into_iter().map(place).collect()
    }

    fn number(number: u64) -> Vec<u8> {
        number.to_be_bytes().to_vec()
    }

    fn smallest() -> Vec<u8> {
        Vec::new()
    }

    fn largest() -> Vec<u8> {
        vec![0xFF; 400]
    }

    fn neighbours(key: &Vec<u8>) -> Vec<Vec<u8>> {
        let mut near = vec![
            Vec::new(),
            key[..key.len() / 2].to_vec(),
            [key, &[0][..]].concat(),
            [key, &[0, 0][..]].concat(),
            [key, &[0xFF][..]].concat(),
            [key, &[0xFF; 12][..]].concat(),
            vec![0xFF; key.len() + 1],
        ];
        if let Some((&last, head)) = key.split_last() {
            near.push(head.to_vec());
            near.extend(last.checked_sub(1).map(|byte| [head, &[byte, 0xFF][..]].concat()));
            near.extend(last.checked_add(1).map(|byte| [head, &[byte][..]].concat()));
        }
        near
    }

    fn nasty_sets() -> Vec<(&'static str, Vec<Vec<u8>>)> {
        let mut rng = effort::rng(STREAM);
        let under = |prefix: &[u8], tails: Vec<Vec<u8>>| -> Vec<Vec<u8>> {
            tails.into_iter().map(|tail| [prefix, &tail].concat()).collect()
        };
        vec![
            ("the empty string alone", vec![Vec::new()]),
            ("one zero byte alone", vec![vec![0]]),
            ("eight 0xFF alone", vec![vec![0xFF; 8]]),
            ("nine 0xFF alone", vec![vec![0xFF; 9]]),
            ("empty and 0xFF", vec![Vec::new(), vec![0xFF; 20]]),
            ("zeros of every length", (0..40).map(|len| vec![0; len]).collect()),
            ("0xFF of every length", (0..40).map(|len| vec![0xFF; len]).collect()),
            ("strings and their successors", with_successors(short_strings(&mut rng, 200))),
            ("short strings of rim bytes", short_strings(&mut rng, 800)),
            ("after a long prefix", under(&[b'p'; 300], short_strings(&mut rng, 300))),
            ("after 0xFF", under(&[0xFF; 11], short_strings(&mut rng, 300))),
            ("embedded zeros", (0..500u32).map(embedded_zeros).collect()),
            (
                "long shared middles",
                (0..300u32).map(|at| [&at.to_be_bytes()[2..], &[b'm'; 60]].concat()).collect(),
            ),
            ("tails beyond any window", (0..300u32).map(|at| format!("{at:>40}").into_bytes()).collect()),
            ("big-endian numbers", (0..3_000).map(|_| Self::number(rng.next_u64())).collect()),
            ("a run of numbers", (0..2_000).map(|at| Self::number((1 << 32) - 1_000 + at)).collect()),
            (
                "addresses",
                (0..1_000).map(|at| format!("https://host{}.example/{}", at % 37, at).into_bytes()).collect(),
            ),
        ]
    }

    fn any_key() -> BoxedStrategy<Vec<u8>> {
        let rims = || prop::collection::vec(prop::sample::select(RIMS.to_vec()), 0..6);
        prop_oneof![
            4 => rims(),
            2 => rims().prop_map(|tail| [b"common/prefix/".to_vec(), tail].concat()),
            2 => prop::collection::vec(any::<u8>(), 0..14),
            2 => (0u64..300).prop_map(|step| Self::number((7 << 40) + step)),
        ]
        .boxed()
    }

    fn draw_query(rng: &mut Rng, near: Option<&Vec<u8>>, range_len: u64) -> Option<(Vec<u8>, Vec<u8>)> {
        if range_len > 1 {
            return None; // between two strings lie none or infinitely many
        }
        let mut key = near.cloned().unwrap_or_default();
        key.extend_from_slice(&rng.next_u64().to_be_bytes());
        Some((key.clone(), key))
    }

    fn five_keys() -> Vec<Vec<u8>> {
        [&b""[..], b"key", b"key\0", b"key\xFF\xFF", b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"]
            .map(<[u8]>::to_vec)
            .to_vec()
    }
}

/// Sixteen strings: empty, short, zeros, 0xFF, and some that differ after the eighth byte only.
fn sixteen_strings() -> Vec<Vec<u8>> {
    let mut strings: Vec<Vec<u8>> = [0x00, b'a', 0xFF]
        .into_iter()
        .flat_map(|head| [vec![head], vec![head, 0x00], vec![head, 0xFF]])
        .chain([Vec::new(), vec![0x00; 9], vec![0x00; 10], vec![0xFF; 8], vec![0xFF; 9]])
        .chain([b"a-long-one-0".to_vec(), b"a-long-one-1".to_vec()])
        .collect();
    strings.sort();
    strings
}

fn short_strings(rng: &mut Rng, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|_| (0..rng.index(7)).map(|_| RIMS[rng.index(RIMS.len())]).collect()).collect()
}

fn with_successors(strings: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    strings.into_iter().flat_map(|string| [[&string[..], &[0]].concat(), string]).collect()
}

fn embedded_zeros(at: u32) -> Vec<u8> {
    [&b"row\0"[..], &(at % 23).to_be_bytes(), b"\0\0", &at.to_le_bytes(), b"\0"].concat()
}
