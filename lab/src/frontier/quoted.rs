//! Public range filters that cannot be built here: in C++, or crates that this workspace does not depend on.
//!
//! Their figures were measured by this project, from their sources, once: not by this command and not on these keys.

/// Name, payload bits a key that it took, and rates at 1, 32 and 1,024 keys, for starts anywhere and 1 to 1,024 after a key.
type Quoted = (&'static str, f64, [f64; 3], [f64; 3], &'static str);

/// At 14 bits a key asked for, or the nearest that the filter offers.
const PEERS: [Quoted; 13] = [
    (
        "Grafite (authors)",
        14.62,
        [0.000_22, 0.007_6, 0.22],
        [0.000_25, 0.007_8, 0.22],
        "denies keys across blocks",
    ),
    ("Memento", 13.86, [0.000_57, 0.016, 0.4], [0.000_47, 0.016, 0.4], "built anew for each length"),
    ("crate grafite 0.2.0", 16.10, [0.000_26, 0.007_9, 0.22], [0.000_26, 0.007_6, 0.22], ""),
    ("Bucketing (authors of Grafite)", 14.62, [0.000_29, 0.000_26, 0.000_25], [1.0, 1.0, 1.0], ""),
    ("Diva", 14.88, [0.000_66, 0.000_64, 0.000_64], [1.0, 1.0, 1.0], ""),
    (
        "SNARF (authors)",
        13.36,
        [0.000_59, 0.000_54, 0.000_45],
        [1.0, 1.0, 1.0],
        "denies keys: 29 of 300,000 ranges",
    ),
    ("Oasis+", 13.93, [0.000_4, 0.000_3, 0.000_34], [1.0, 1.0, 1.0], ""),
    (
        "Proteus (authors)",
        14.0,
        [0.001, 0.001_2, 0.001_2],
        [0.015, 0.008_8, 0.05],
        "trained on the workload of each length",
    ),
    ("Rosetta (by the authors of Memento)", 14.0, [0.001_2, 0.058, 0.74], [0.001_2, 0.057, 0.73], ""),
    ("REncoder (authors)", 14.0, [0.002_1, 0.062, 0.87], [0.002_3, 0.062, 0.87], ""),
    ("REncoder SS (authors)", 14.0, [0.001_5, 0.001_4, 0.001_3], [1.0, 1.0, 1.0], ""),
    ("bloomRF (not by its authors)", 14.0, [0.001_4, 0.003_3, 0.007], [0.2, 0.51, 0.97], ""),
    ("SuRF (authors), 8 real bits", 16.22, [0.002_8, 0.001_3, 0.001_4], [1.0, 1.0, 1.0], ""),
];

/// The section of the page.
pub(super) fn section() -> String {
    let mut page = String::from(
        "## Public filters, not measured by this command\n\n\
         Measured by this project on 24 November 2026, each built from its authors' source with g++ 12 and `-O3 -march=native`, or from \
         the crate: 10,000,000 uniform keys, 14 bits a key asked for, 200,000 to 400,000 empty ranges. **These figures are not of this \
         run**: other keys, another machine, and sizes as they came out. Rates at 1 / 32 / 1,024 keys.\n\n\
         | filter | bits a key | starts anywhere | starts 1 to 1,024 after a key | |\n| --- | ---: | --- | --- | --- |\n",
    );
    for (name, bits, anywhere, near, remark) in PEERS {
        let [anywhere, near] = [anywhere, near].map(|rates| rates.map(|rate| rate.to_string()).join(" / "));
        page += &format!("| {name} | {bits:.2} | {anywhere} | {near} | {remark} |\n");
    }
    page
}
