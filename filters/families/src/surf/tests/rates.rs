//! Sizes and rates against their closed forms.

use lacuna_base::{Budget, BuildPlan, ErrorKind, FilterSpec, RangeFilter, SortedKeys, U64Range};
use lacuna_workload::{Keys, Rng, real_sets};

use super::super::Surf;
use super::{integers, spec, strings};

fn uniform(count: usize, bits: u32, rng: &mut Rng) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64() >> (64 - bits)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Chance that a uniform key shares the kept bytes of one of `count` uniform keys of `bits` bits.
///
/// A key is kept to depth `d + 1` if its first `d` bytes are shared and its first `d + 1` are not. A query meets it there
/// if the `d + 1` bytes hold exactly one key, and the first `d` at least one more.
fn closed_form(count: f64, bits: i32) -> f64 {
    let chance = |depth: i32| {
        let free = f64::from(bits - 64 + 8 * depth).exp2().max(1.0);
        let mean = count / free;
        (mean, (-mean).exp())
    };
    (1..=7)
        .map(|depth| {
            let ((own, alone), (parent, _)) = (chance(depth), chance(depth - 1));
            let others_share = if depth == 1 { 1.0 } else { 1.0 - (-(parent - own)).exp() };
            own * alone * others_share
        })
        .sum()
}

/// Share of `asked`, which are not keys, that is "maybe".
fn rate<B>(surf: &Surf<u64, B>, asked: &[u64], width: u64) -> f64
where
    Surf<u64, B>: RangeFilter<u64>,
{
    let maybe =
        |lo: &&u64| surf.may_contain_range(U64Range::new(**lo, lo.saturating_add(width)).expect("in order"));
    asked.iter().filter(maybe).count() as f64 / asked.len() as f64
}

/// Uniform keys at their closed form: rate within 5 %, size within its bar.
fn holds_closed_form(count: usize, bits: u32, expected: f64, max_bits_per_key: f64) {
    let mut rng = Rng::new(count as u64);
    let keys = uniform(count, bits, &mut rng);
    let surf = integers("surf:real=0", &keys, 16.0);
    let closed = closed_form(count as f64, i32::try_from(bits).expect("64 or 63"));
    assert!((closed / expected - 1.0).abs() < 0.03, "the closed form is {closed}, not {expected}");
    let asked: Vec<u64> = (0..400_000).map(|_| rng.next_u64() >> (64 - bits)).collect();
    let measured = rate(&surf, &asked, 0);
    assert!((measured / closed - 1.0).abs() < 0.05, "{count} keys: rate {measured}, closed form {closed}");
    let bits_per_key = (surf.size_in_bytes() - 64) as f64 * 8.0 / keys.len() as f64;
    println!(
        "{count} keys of {bits} bits: {bits_per_key:.3} bits a key, rate {measured:.4}, closed form {closed:.4}"
    );
    assert!(bits_per_key <= max_bits_per_key, "{count} keys: {bits_per_key} bits a key");
}

fn is_long() -> bool {
    std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1")
}

#[test]
fn uniform_integers_keep_their_closed_form() {
    holds_closed_form(1_000_000, 64, 0.056, 10.6);
    if is_long() {
        holds_closed_form(10_000_000, 64, 0.33, 8.4);
        holds_closed_form(50_000_000, 64, 0.162, 10.7);
        holds_closed_form(50_000_000, 63, 0.038, 11.5);
    }
}

#[test]
fn each_hash_bit_halves_the_point_rate() {
    let mut rng = Rng::new(2);
    let keys = uniform(200_000, 64, &mut rng);
    let asked: Vec<u64> = (0..300_000).map(|_| rng.next_u64()).collect();
    let of = |text: &str| rate(&integers(text, &keys, 40.0), &asked, 0);
    let base = of("surf:real=0");
    let mut before = base;
    for bits in 1..=5 {
        let now = of(&format!("surf:hash={bits}"));
        let slack = 3.3 * (before / 2.0 / asked.len() as f64).sqrt() * 1.5;
        assert!((now - before / 2.0).abs() < slack, "{bits} hash bits: {now} after {before}");
        before = now;
    }
    assert!(of("surf:hash=4") <= base / 16.0 + 0.001);
}

#[test]
fn real_bits_help_ranges_and_hash_bits_do_not() {
    let mut rng = Rng::new(3);
    let keys = uniform(200_000, 64, &mut rng);
    let asked: Vec<u64> = (0..200_000).map(|_| rng.next_u64() >> 1).collect();
    let of = |text: &str| rate(&integers(text, &keys, 40.0), &asked, 31);
    let (base, hash, real) = (of("surf:real=0"), of("surf:hash=6"), of("surf:real=6"));
    assert!(base == hash, "{base} and {hash}");
    assert!(real < base / 20.0, "{base} and {real}");
}

#[test]
fn next_to_keys_the_rate_is_one() {
    let keys = uniform(50_000, 64, &mut Rng::new(4));
    let asked: Vec<u64> = keys.iter().map(|key| key.wrapping_add(1)).collect();
    assert!(rate(&integers("surf:real=8", &keys, 40.0), &asked, 31) > 0.99);
}

#[test]
fn the_budget_chooses_the_suffix() {
    let keys = uniform(100_000, 64, &mut Rng::new(5));
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let build = |text: &str, bits| {
        spec(text).build(sorted, &BuildPlan::new(Budget::bits_per_key(bits).expect("fits")))
    };
    let base = integers("surf:real=0", &keys, 30.0);
    let base_bits = (base.size_in_bytes() - 64) as f64 * 8.0 / keys.len() as f64;
    for bits in [14.0, 16.5, 20.0, 40.0, 64.0] {
        let used = build("surf", bits).expect("fits").payload().len() as f64 * 8.0 / keys.len() as f64;
        assert!(used <= bits + 0.01 && used > bits - 1.01, "{used} of {bits} bits a key");
    }
    let refused = build("surf", 6.0).expect_err("below the trie");
    let ErrorKind::BudgetTooSmall { smallest_bits_per_key } = refused.kind() else { panic!("{refused}") };
    assert!((smallest_bits_per_key - base_bits).abs() < 0.02, "{smallest_bits_per_key}, not {base_bits}");
    let cut = Surf::<u64, _>::open(build("surf:cut", 6.0).expect("cut")).expect("just sealed");
    assert!(keys.iter().all(|&key| cut.may_contain(key)) && cut.body.is_some_and(|body| body.is_cut));
}

/// `www.nasa.gov` as `gov.nasa.www`, as the paper turns its mail addresses.
fn reversed_host(host: &[u8]) -> Vec<u8> {
    let mut labels: Vec<&[u8]> = host.split(|&byte| byte == b'.').collect();
    labels.reverse();
    labels.join(&b'.')
}

#[test]
fn real_sets_print_bits_and_rate() {
    for set in real_sets() {
        let Keys::Bytes(column) = set.load().expect("sound") else { continue };
        let mut rng = Rng::new(6);
        let (mut inserted, mut held_out) = (Vec::new(), Vec::new());
        let mut keys: Vec<Vec<u8>> = column.iter().map(<[u8]>::to_vec).collect();
        if set.name() == "gov_hosts" {
            keys = keys.iter().map(|host| reversed_host(host)).collect();
            keys.sort();
        }
        for key in keys {
            if rng.below(2) == 0 { &mut inserted } else { &mut held_out }.push(key);
        }
        for text in ["surf:real=0", "surf:real=4", "surf:real=8", "surf:hash=4"] {
            let surf = strings(text, &inserted, 100.0);
            let bits = (surf.size_in_bytes() - 64) as f64 * 8.0 / inserted.len() as f64;
            let maybe = held_out.iter().filter(|key| surf.may_contain(key)).count() as f64;
            let rate = maybe / held_out.len() as f64;
            println!(
                "{}: {text} {bits:.1} bits a key, point rate {rate:.3}; the paper: 14 bits, 0.25",
                set.name()
            );
            assert!(bits < 60.0 && rate < 1.0, "{}: {bits} bits, rate {rate}", set.note());
        }
    }
}
