//! One line of the report of `verify`: what was looked at, whether it holds, and the numbers.

/// Whether one promise is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Fails,
    NotChecked,
}

/// The result of a check of one promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    subject: &'static str,
    verdict: Verdict,
    text: String,
}

impl Finding {
    /// A promise that was put to the proof.
    pub(crate) fn new(subject: &'static str, holds: bool, text: String) -> Self {
        Self { subject, verdict: if holds { Verdict::Holds } else { Verdict::Fails }, text }
    }

    /// Something that could not be put to the proof; the text says why.
    pub(crate) fn not_checked(subject: &'static str, text: String) -> Self {
        Self { subject, verdict: Verdict::NotChecked, text }
    }

    /// The checked promise, if it does not hold.
    pub(crate) fn failed_subject(&self) -> Option<&'static str> {
        (self.verdict == Verdict::Fails).then_some(self.subject)
    }

    /// The finding as a line of a table.
    pub(crate) fn line(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Holds => "ok",
            Verdict::Fails => "FAILED",
            Verdict::NotChecked => "-",
        };
        format!("{:8}  {verdict:6}  {}", self.subject, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_broken_promise_fails() {
        let findings = [
            Finding::new("keys", true, "all".to_owned()),
            Finding::new("rate", false, "too high".to_owned()),
            Finding::not_checked("budget", "unknown".to_owned()),
        ];
        let failed: Vec<&str> = findings.iter().filter_map(Finding::failed_subject).collect();
        assert_eq!(failed, ["rate"]);
        assert_eq!(
            findings.map(|finding| finding.line()),
            ["keys      ok      all", "rate      FAILED  too high", "budget    -       unknown",]
        );
    }
}
