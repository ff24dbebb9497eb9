//! Which files to open, and in which order, to find the next key: SuRF's Seek.
//!
//! **Problem.** "The smallest key at or above `from`" concerns every file that overlaps, and without help an engine reads
//! a block of each of them, although one file holds the answer and most seeks of a closed range have none.
//!
//! **Idea.** A filter that names its next *candidate* bounds what its file can hold without a read. Three files with
//! the candidates 40, 12 and 70 are opened in the order 12, 40, 70. If the first key of the second file is 15, the
//! others stay closed: all their keys are at 40 or beyond. If no candidate lies in the range, nothing is read.
//!
//! [`SeekPlanner`] does no input or output. It says "open file 1 at 12", is given "the first key there is 15", and
//! says "15 is the next key". A caller that reads on reports where the cursor of that file then stands, so the planner
//! is also a merge of files that opens each only when its turn has come: a deleted or repeated key costs one further
//! step.
//!
//! **Guarantee.** Keys come in order, and every file that may hold a key before the named one is opened. A file is
//! opened at most once, and only if its filter does not deny the range: never more files than an engine opens that
//! asks each filter for yes or no. Of all plans that know the same candidates this one opens the fewest files. Files
//! without a filter, or with one that names no candidates, are opened first: doubt means read.
//!
//! **Ties.** A candidate may be the start of an interval of keys, or a key itself, and candidates of several files may be
//! equal; [`Ties`] says whether a candidate equal to a confirmed key is still opened. Backwards over byte strings a
//! candidate may be *excluded*: the keys are below it, so it never ties. See [`docs/design/surf-seek.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/surf-seek.md) for the proofs.
//!
//! **Cost.** A heap of the files: one comparison of keys for each doubling of their number.
//!
//! Zhang and others, "SuRF", SIGMOD 2018, section 5 (Seek). Ours: both directions, files without candidates, ties and
//! keys that turn out to be deleted.

mod entry;
mod planner;

pub use entry::{Direction, Ties};
pub use planner::{SeekPlanner, SeekStep};
