//! Which filter for these keys and these queries? `auto` predicts every family on a sample of the queries that found
//! nothing, prints the table it chose from, and builds the cheapest.
//!
//! ```console
//! $ cargo run --release -p lacuna --example choose_for_my_queries
//! ```

use std::sync::Arc;

use lacuna::filters::AutoSpec;
use lacuna::{Budget, BuildPlan, Error, Sample, SortedKeys};

fn main() -> Result<(), Error> {
    let mut keys: Vec<u64> = (1..=200_000u64).map(|row| row.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    keys.sort_unstable();

    let workloads =
        [("that start right after a row, and are short", 3, 30), ("anywhere, and long", 1 << 42, 1 << 38)];
    for (queries, behind, length) in workloads {
        let mut sample = Sample::<u64>::new();
        for key in keys.iter().step_by(100) {
            let lo = key.saturating_add(behind);
            sample.push(lo, lo.saturating_add(length));
        }
        let plan = BuildPlan::new(Budget::bits_per_key(14.0)?).with_sample(Arc::new(sample)).with_seed(2_026);

        let design = AutoSpec::new().design(SortedKeys::integers(&keys)?, &plan)?;
        println!("Queries {queries}:\n{design}");
        let sealed = design.build()?;
        println!("Built: {} bytes for {} keys.\n", sealed.as_bytes().len(), keys.len());
    }
    Ok(())
}
