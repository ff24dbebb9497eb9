//! What a filter is and why, for people.

use std::ffi::{CString, c_char};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lacuna_base::ENVELOPE_BYTES;

use crate::arguments::known;
use crate::filter::{Answers, Filter};

/// Lengths that bounds are shown for.
const SHOWN_LENGTHS: [u64; 3] = [1, 32, 1024];

impl Filter {
    fn explained(&self) -> String {
        let payload = self.as_bytes().len() - ENVELOPE_BYTES;
        let mut text = format!("{}: {}\n", self.family(), self.keys_in_figures());
        let _ =
            writeln!(text, "{payload} bytes of payload, {ENVELOPE_BYTES} of envelope{}", self.bits(payload));
        for length in SHOWN_LENGTHS {
            let (bound, keys) = (self.rate_bound(length), if length == 1 { "key" } else { "keys" });
            if bound < 1.0 {
                let _ =
                    writeln!(text, "\"maybe\" to at most {bound:.6} of the empty ranges of {length} {keys}");
            }
        }
        if let Some(design) = &self.design {
            let _ = write!(text, "chosen by its predicted cost, cheapest first:\n{design}");
        }
        text
    }

    fn keys_in_figures(&self) -> String {
        let keys = match (&self.answers, &self.codec) {
            (_, Some(codec)) => format!("keys through codec {codec}"),
            (Answers::Integers(_), None) => format!("integers of type {}", self.key_type),
            (Answers::Strings(_), None) => format!("byte strings of type {}", self.key_type),
        };
        format!("{} distinct {keys}", self.envelope.key_count)
    }

    #[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
    fn bits(&self, payload: usize) -> String {
        match self.envelope.key_count {
            0 => String::new(),
            keys => format!(", {:.2} bits a key", payload as f64 * 8.0 / keys as f64),
        }
    }
}

/// A text of a few lines for people: family, keys, size, bounds on the rate, and for a filter that "auto" has just built the
/// candidates with their predicted rates and costs. Empty for null. Valid until the filter is closed; allocates once. From any
/// thread.
///
/// # Safety
/// `filter` is open or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_explain(filter: *const Filter) -> *const c_char {
    // SAFETY: as the caller promises.
    let Some(filter) = (unsafe { known(filter) }) else { return c"".as_ptr() };
    let text = catch_unwind(AssertUnwindSafe(|| {
        filter.explanation.get_or_init(|| CString::new(filter.explained()).unwrap_or_default()).as_ptr()
    }));
    text.unwrap_or(c"".as_ptr())
}
