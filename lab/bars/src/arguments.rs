//! The command line.

use std::path::PathBuf;

use lacuna_base::{Error, Result};

use crate::groups::GROUPS;

const DEFAULT_OUT: &str = "docs/results/bars.md";

/// What to measure and where to write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Names of groups; all of them when empty.
    only: Vec<String>,
    /// Small sizes and few rounds.
    pub(crate) quick: bool,
    /// Seed of keys, queries and hashes.
    pub(crate) seed: u64,
    /// The page to write; a part of the bars, or quick ones, are written only when asked for.
    pub(crate) out: Option<PathBuf>,
}

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    Run(Arguments),
    Help,
}

impl Arguments {
    /// Whether the group called `name` shall run.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// The command that gives the same bars.
    pub(crate) fn command(&self) -> String {
        let mut options: Vec<String> = self.only.iter().map(|name| format!("--only {name}")).collect();
        if self.quick {
            options.push("--quick".to_owned());
        }
        if self.seed != 1 {
            options.push(format!("--seed {}", self.seed));
        }
        match options.is_empty() {
            true => "make bars".to_owned(),
            false => format!("make bars ARGS=\"{}\"", options.join(" ")),
        }
    }
}

/// How to call the program.
pub(crate) fn help() -> String {
    let groups: Vec<String> =
        GROUPS.iter().map(|group| format!("  {:12} {}", group.name, group.about)).collect();
    format!(
        "Measures the bars of the project and writes {DEFAULT_OUT}.\n\n\
         lacuna-bars [--only GROUP]... [--quick] [--seed N] [--out FILE]\n\n\
         --only GROUP  measure this group; may be given again\n\
         --quick       small sizes and few rounds: shows that everything runs, its ratios mean nothing\n\
         --seed N      seed of keys, queries and hashes (1)\n\
         --out FILE    write the page there, beside the groups that it holds already; with --only or --quick no page is\n\
         \x20             written otherwise\n\n\
         Groups:\n{}\n\n\
         Exit code: 0 all bars pass, 1 one does not, 2 it could not be measured.",
        groups.join("\n")
    )
}

/// Reads the arguments behind the program's name.
pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Request> {
    let mut arguments = Arguments { only: Vec::new(), quick: false, seed: 1, out: None };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--quick" => arguments.quick = true,
            "--only" => arguments.only.push(group_name(value(&mut words, &word)?)?),
            "--seed" => arguments.seed = lacuna_workload::parse_count(&value(&mut words, &word)?)?,
            "--out" => arguments.out = Some(value(&mut words, &word)?.into()),
            other => return Err(Error::invalid_input(format!("`{other}` is no option; see --help"))),
        }
    }
    if arguments.out.is_none() && arguments.only.is_empty() && !arguments.quick {
        arguments.out = Some(DEFAULT_OUT.into());
    }
    Ok(Request::Run(arguments))
}

fn value(words: &mut impl Iterator<Item = String>, option: &str) -> Result<String> {
    words.next().ok_or_else(|| Error::invalid_input(format!("{option} needs a value; see --help")))
}

fn group_name(name: String) -> Result<String> {
    if GROUPS.iter().any(|group| group.name == name) {
        return Ok(name);
    }
    let known: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
    Err(Error::invalid_input(format!("there is no group `{name}`; choose one of {}", known.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Request> {
        parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn whole_runs_write_the_page() {
        let Request::Run(whole) = parsed("").unwrap() else { panic!("no help was asked for") };
        assert_eq!(whole.out, Some(DEFAULT_OUT.into()));
        assert_eq!(whole.command(), "make bars");
        assert!(whole.wants("speed"));
    }

    #[test]
    fn parts_are_written_only_when_asked() {
        let Request::Run(part) = parsed("--only speed --quick --seed 7").unwrap() else { panic!("no help") };
        assert_eq!((part.out.clone(), part.seed), (None, 7));
        assert!(part.wants("speed") && !part.wants("rates"));
        assert_eq!(part.command(), "make bars ARGS=\"--only speed --quick --seed 7\"");
    }

    #[test]
    fn wrong_words_are_named() {
        for (text, said) in [("--only sped", "`sped`"), ("--fast", "`--fast`"), ("--seed", "--seed needs")] {
            let message = parsed(text).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
        assert_eq!(parsed("--quick --help").unwrap(), Request::Help);
    }
}
