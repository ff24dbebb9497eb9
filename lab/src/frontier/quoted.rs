//! Public range filters that cannot be built here: in C++, or crates that this workspace does not depend on.
//!
//! Their figures were measured by this project, from their sources, once: not by this command and not on
//! these keys. They are compared all the same, where a scene asks of uniform keys what they were asked.

mod figures;

use super::columns::COLUMNS;
use super::page::{best, is_lower, shown};
use super::run::{BITS, SceneResult};
use super::scenes::{Scene, Starts};
use figures::PEERS;

/// Payload bits a key that a filter took, and its rates: for starts anywhere, and for starts 1 to 1,024 after
/// a key.
type Figure = (f64, [f64; COLUMNS], [f64; COLUMNS]);

/// A filter, and what it did when it was asked for each of [`BITS`].
struct Peer {
    name: &'static str,
    remark: &'static str,
    figures: [Option<Figure>; BITS.len()],
}

/// Sizes that miss a budget by more bits are not compared within it.
const MAX_DISTANCE: f64 = 1.0;
/// The keys that they were built over, and the laws of starts that they were asked, in the order of a
/// [`Figure`].
const KEYS: &str = "uniform";
const LAWS: [Starts; 2] = [Starts::Anywhere, Starts::After(1 << 10)];

impl Peer {
    /// The rates at `budget` as they were measured, for one of [`LAWS`].
    fn rates(&self, starts: Starts, budget: f64) -> Option<[f64; COLUMNS]> {
        let (_, anywhere, near) = self.figure(budget)?;
        match starts {
            Starts::Anywhere => Some(anywhere),
            Starts::After(_) if starts == LAWS[1] => Some(near),
            _ => None,
        }
    }

    fn figure(&self, budget: f64) -> Option<Figure> {
        let place = BITS.iter().position(|bits| *bits == budget)?;
        self.figures[place]
    }

    /// A rate that can be compared with those of other filters in `budget` bits: as of a hash table, of which
    /// each bit more halves how many keys a question meets by chance.
    fn rate(&self, starts: Starts, budget: f64, place: usize) -> Option<f64> {
        let over = self.figure(budget)?.0 - budget;
        let met = -(-self.rates(starts, budget)?[place]).ln_1p();
        let rate = -(-met * over.exp2()).exp_m1();
        (over.abs() < MAX_DISTANCE && !rate.is_nan()).then_some(rate)
    }
}

/// The least rate of these filters where `scene` asks what they were asked, and its filter.
pub(super) fn best_quoted(scene: &Scene, budget: f64, place: usize) -> Option<(f64, &'static str)> {
    if scene.set() != KEYS {
        return None;
    }
    let rates = PEERS.iter().filter_map(|peer| Some((peer.rate(scene.starts, budget, place)?, peer.name)));
    rates.min_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// The section of the page.
pub(super) fn section(results: &[SceneResult]) -> String {
    let mut page = String::from(
        "## Public filters, not measured by this command\n\n\
         Measured by this project on 24 November 2026, each built from its authors' source with g++ 12 and `-O3 -march=native`, or from \
         the crate: 10,000,000 uniform keys, 10, 14 and 18 bits a key asked for, 200,000 to 400,000 empty ranges. **These figures are not of this \
         run**: other keys, another machine, and sizes as they came out. Rates at 1 / 32 / 1,024 keys; `-` was not measured. A rate is \
         bold where it is lower, by more than a tenth and by more than chance, than that of every filter of this run over uniform keys with the same starts. For \
         that a bit of size more or less halves or doubles a small rate, and sizes that miss the budget by more than a bit are not compared.\n\n| filter |",
    );
    let mut rule = String::from("| --- |");
    for budget in BITS {
        page += &format!(" {budget}: bits | starts anywhere | starts 1 to 1,024 after a key |");
        rule += " ---: | --- | --- |";
    }
    page += &format!(" |\n{rule} --- |\n");
    for peer in &PEERS {
        let cells = BITS.map(|budget| cells(peer, budget, results));
        page += &format!("| {} |{} {} |\n", peer.name, cells.concat(), peer.remark);
    }
    page
}

/// Size and rates at one budget.
fn cells(peer: &Peer, budget: f64, results: &[SceneResult]) -> String {
    let mut cells =
        peer.figure(budget).map_or_else(|| " - |".to_owned(), |(bits, ..)| format!(" {bits:.2} |"));
    for starts in LAWS {
        let shown = |rates: [f64; COLUMNS]| {
            let cell = |place: usize| match as_quoted(rates[place]) {
                cell if is_least(peer, starts, budget, place, results) => format!("**{cell}**"),
                cell => cell,
            };
            (0..COLUMNS).map(cell).collect::<Vec<_>>().join(" / ")
        };
        let cell = peer.rates(starts, budget).map_or_else(|| "-".to_owned(), shown);
        cells += &format!(" {cell} |");
    }
    cells
}

/// A rate with the digits that it has.
fn as_quoted(rate: f64) -> String {
    match rate {
        rate if rate.is_nan() => "-".to_owned(),
        rate if rate < 0.001 => shown(rate),
        rate => rate.to_string(),
    }
}

/// Whether no filter of a scene with uniform keys and these starts has a rate as low.
fn is_least(peer: &Peer, starts: Starts, budget: f64, place: usize, results: &[SceneResult]) -> bool {
    let Some(rate) = peer.rate(starts, budget, place) else { return false };
    let scenes = results.iter().filter(|result| result.scene.set() == KEYS && result.scene.starts == starts);
    scenes
        .filter_map(|result| Some((result.asked[place], best(result, budget, place)?.0)))
        .any(|(asked, least)| is_lower(rate, least, asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static Peer {
        PEERS.iter().find(|peer| peer.name == name).expect("a quoted filter")
    }

    #[test]
    fn sizes_count_when_rates_are_compared() {
        let grafite = named("Grafite (authors)");
        let rate = grafite.rate(Starts::Anywhere, 14.0, 0).expect("near enough");
        assert!((rate / (0.000_22 * 1.537) - 1.0).abs() < 0.001, "{rate} in 14 bits, 0.00022 in 14.62");
        let high = grafite.rate(Starts::After(1 << 10), 10.0, 2).expect("near enough");
        assert!(0.98 < high && high < 1.0, "{high} in 10 bits, 0.98 in 10.61");
        assert_eq!(
            named("SNARF (authors)").rate(Starts::After(1 << 10), 10.0, 0),
            Some(1.0),
            "all are \"maybe\""
        );
        assert_eq!(grafite.rate(Starts::After(32), 14.0, 0), None);
        assert_eq!(named("crate grafite 0.2.0").rate(Starts::Anywhere, 14.0, 0), None, "2.1 bits more");
        assert_eq!(named("Memento").rate(Starts::Anywhere, 10.0, 2), None, "not asked");
    }

    #[test]
    fn only_uniform_keys_are_compared() {
        let scene = |keys: &str, starts| Scene { keys: keys.to_owned(), starts };
        let near = |keys: &str| best_quoted(&scene(keys, Starts::After(1 << 10)), 10.0, 2);
        let (rate, name) = near("uniform:1M").expect("it was asked");
        assert!((rate - 0.13).abs() < 1e-9 && name == "Proteus (authors)", "{name}: {rate}");
        assert_eq!(near("clustered:1M"), None);
        assert_eq!(best_quoted(&scene("uniform:1M", Starts::HeldOut), 10.0, 2), None);
    }

    #[test]
    fn every_peer_has_a_figure_and_every_figure_is_a_rate() {
        for peer in &PEERS {
            let figures = peer.figures.iter().flatten();
            assert!(figures.clone().count() > 0, "{}", peer.name);
            for (bits, anywhere, near) in figures {
                let mut rates = anywhere.iter().chain(near);
                assert!(
                    *bits > 8.0 && rates.all(|rate| rate.is_nan() || (0.0..=1.0).contains(rate)),
                    "{}",
                    peer.name
                );
            }
        }
    }
}
