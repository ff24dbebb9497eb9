use lacuna_bench::harness::{Rounds, dependent, independent};
use lacuna_core::{Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, SortedKeys};
use lacuna_workload::Rng;

fn draw(rng: &mut Rng, shared: usize) -> Vec<u8> {
    let group = u8::try_from(rng.below(G.with(|g| g.get()))).expect("below 200");
    [&[group][..], &vec![b'x'; shared], &rng.next_u64().to_be_bytes()].concat()
}

thread_local! { static G: std::cell::Cell<u64> = const { std::cell::Cell::new(200) } }
fn main() {
    G.with(|g| g.set(std::env::args().nth(1).unwrap().parse().unwrap()));
    let mut sets: Vec<(usize, Box<DynFilter<[u8]>>, Vec<Vec<u8>>)> = Vec::new();
    for shared in [0, 20, 40] {
        let mut rng = Rng::new(8);
        let mut keys: Vec<Vec<u8>> = (0..300_000).map(|_| draw(&mut rng, shared)).collect();
        keys.sort();
        let column: ByteColumn = keys.iter().collect();
        let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(60.0).unwrap());
        let sealed = lacuna_filters::spec::<[u8]>("surf:real=4")
            .unwrap()
            .build(SortedKeys::byte_strings(&column).unwrap(), &plan)
            .unwrap();
        let surf = lacuna_filters::open::<[u8], _>(sealed).unwrap();
        sets.push((shared, surf, (0..1 << 16).map(|_| draw(&mut rng, shared)).collect()));
    }
    let pools: Vec<Vec<ByteRange<'_>>> =
        sets.iter().map(|(_, _, asked)| asked.iter().map(|key| ByteRange::point(key)).collect()).collect();
    let mut rounds = Rounds::new();
    let mut ids = Vec::new();
    for ((shared, surf, _), pool) in sets.iter().zip(&pools) {
        let one = move |range| surf.may_contain_range(range);
        ids.push((
            *shared,
            rounds.add_serial("d", pool.len(), move || dependent(pool, 1, one)),
            rounds.add("i", pool.len(), move || independent(pool, 1, one)),
        ));
    }
    let t = rounds.run(15, &mut |_| {});
    let (d0, i0) = (t.median_ns(ids[0].1), t.median_ns(ids[0].2));
    for (shared, d, i) in &ids {
        let (d, i) = (t.median_ns(*d), t.median_ns(*i));
        print!("{shared}: dep {d:.0} ({:+.0}) ind {i:.0} ({:+.0});  ", d - d0, i - i0);
    }
    println!();
}
