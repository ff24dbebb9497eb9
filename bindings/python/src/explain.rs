//! What a filter is, in words.

use lacuna_base::ENVELOPE_BYTES;

use crate::held::Held;

/// Lengths of ranges whose promised rate is shown.
const LENGTHS: [u64; 3] = [1, 32, 1_024];

/// Family, keys, size and rates, a line each; then what `auto` chose it among.
pub(crate) fn explain(held: &Held, design: Option<&str>) -> String {
    let key_count = held.envelope.key_count;
    let sealed = held.bytes.as_ref().len();
    let payload = sealed - ENVELOPE_BYTES;
    let rates = LENGTHS.map(|length| format!("{:.6} for {length}", held.rate_bound(length)));
    let lines = [
        ("family", held.family().to_owned()),
        ("keys", format!("{key_count} distinct, of type {}", held.envelope.key_type)),
        ("bits per key", format!("{:.2}", held.bits_per_key())),
        ("sealed", format!("{sealed} bytes: payload {payload}, envelope {ENVELOPE_BYTES}")),
        ("rate bound", format!("{} keys in a range", rates.join(", "))),
    ];
    let mut text: String = lines.iter().map(|(name, value)| format!("{name:<14}{value}\n")).collect();
    if let Some(design) = design {
        text.push('\n');
        text.push_str(design);
    }
    text
}
