//! What one dendrite said: the text format of Prometheus, as far as dendrites use it.

use std::collections::BTreeMap;

const PREFIX: &str = "lacuna_cache_";

/// Numbers by table and name; `reads_total` of `people`, for example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) tables: BTreeMap<String, BTreeMap<String, u64>>,
    /// Requests by table and range.
    pub(super) ranges: BTreeMap<(String, String), u64>,
}

impl Sample {
    /// Metrics of others are passed over.
    ///
    /// # Errors
    /// If no line is one of a dendrite.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut sample = Self::default();
        for line in text.lines() {
            let Some((name, labels, value)) = parsed(line) else { continue };
            let Some(table) = labels.get("table").cloned() else { continue };
            match labels.get("range") {
                Some(range) => drop(sample.ranges.insert((table, range.clone()), value)),
                None => drop(sample.tables.entry(table).or_default().insert(name, value)),
            }
        }
        if sample.tables.is_empty() { Err("no dendrite answers there".to_owned()) } else { Ok(sample) }
    }
}

/// Name without prefix, labels and value of a line.
fn parsed(line: &str) -> Option<(String, BTreeMap<String, String>, u64)> {
    let (name, rest) = line.strip_prefix(PREFIX)?.split_once('{')?;
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    while let Some((label, text)) = rest.split_once("=\"") {
        let (value, after) = quoted(text)?;
        labels.insert(label.trim_start_matches(',').to_owned(), value);
        rest = after;
        if rest.starts_with('}') {
            break;
        }
    }
    let value = rest.strip_prefix('}')?.trim().parse().ok()?;
    Some((name.to_owned(), labels, value))
}

/// The value of a label up to its quote, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut letters) = (String::new(), text.char_indices());
    while let Some((place, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[place + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_dendrite_are_read_and_others_passed_over() {
        let text = "# HELP lacuna_cache_reads_total Reads.\nlacuna_cache_reads_total{table=\"a\"} 7\nup 1\n\
                    lacuna_cache_entries{table=\"odd \\\"name\\\\ \\n\"} 3\n\
                    lacuna_cache_range_requests_total{table=\"a\",range=\"2\"} 9\n";
        let sample = Sample::read(text).unwrap();
        assert_eq!(sample.tables["a"]["reads_total"], 7);
        assert_eq!(sample.tables["odd \"name\\ \n"]["entries"], 3);
        assert_eq!(sample.ranges[&("a".to_owned(), "2".to_owned())], 9);
    }

    #[test]
    fn answers_of_others_are_refused() {
        for text in
            ["", "go_threads 7\n", "lacuna_cache_reads_total{table=\"a\n", "lacuna_cache_reads_total{} 1\n"]
        {
            assert!(Sample::read(text).is_err(), "{text}");
        }
    }
}
