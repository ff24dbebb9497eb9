//! A figure or table of a paper: its number, and the function that makes it.

use lacuna_base::Result;

use super::conclusion::Conclusion;
use super::model::Finding;
use super::session::Session;

/// The number of a figure or table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureId {
    /// A figure of the paper.
    Figure(u8),
    /// A table of the paper.
    Table(u8),
    /// What a section of the paper says in its text, by its number.
    Section(&'static str),
    /// A figure of one of several papers on a page: whose, and its number.
    Of(&'static str, &'static str),
    /// Something that the paper does not show; a name in small letters.
    Extra(&'static str),
}

impl FigureId {
    /// Whether a person who types `text` means this: `7` or `figure7`, `table2`, or the name.
    pub(crate) fn is_named(self, text: &str) -> bool {
        let text = text.to_lowercase().replace([' ', '-'], "");
        match self {
            Self::Figure(number) => text == number.to_string() || text == format!("figure{number}"),
            Self::Table(number) => text == format!("table{number}"),
            Self::Section(number) => text == format!("section{number}"),
            Self::Of(whose, number) => text == format!("{}{number}", whose.to_lowercase()),
            Self::Extra(name) => text == name,
        }
    }

    /// What `is_named` takes, for lists.
    pub fn argument(self) -> String {
        match self {
            Self::Figure(number) => number.to_string(),
            Self::Table(number) => format!("table{number}"),
            Self::Section(number) => format!("section{number}"),
            Self::Of(whose, number) => format!("{}-{number}", whose.to_lowercase()),
            Self::Extra(name) => name.to_owned(),
        }
    }

    /// The heading, such as `Figure 7`.
    pub(crate) fn heading(self) -> String {
        match self {
            Self::Figure(number) => format!("Figure {number}"),
            Self::Table(number) => format!("Table {number}"),
            Self::Section(number) => format!("Section {number}"),
            Self::Of(whose, number) => format!("{whose}, figure {number}"),
            Self::Extra(name) => format!("Not in the paper: {name}"),
        }
    }

    /// The name of its files without ending, such as `figure-7`.
    pub fn file_stem(self) -> String {
        match self {
            Self::Figure(number) => format!("figure-{number}"),
            Self::Table(number) => format!("table-{number}"),
            Self::Section(number) => format!("section-{}", number.replace('.', "-")),
            Self::Of(..) => self.argument(),
            Self::Extra(name) => format!("extra-{name}"),
        }
    }
}

/// A figure or table and how it is made.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Its number.
    pub id: FigureId,
    /// A short title.
    pub title: &'static str,
    /// What to look for, in a sentence or two; Markdown.
    pub shows: &'static str,
    /// Measures it.
    pub run: Run,
    /// What the paper concludes from its numbers.
    pub concludes: &'static [Conclusion],
}

impl Figure {
    /// The same figure, from which the paper draws these conclusions.
    pub(super) const fn concluding(self, concludes: &'static [Conclusion]) -> Self {
        Self { concludes, ..self }
    }
}

/// The function that makes a figure.
type Run = fn(&mut Session<'_>) -> Result<Finding>;

/// Figure `number` of a paper.
pub(super) const fn figure(number: u8, title: &'static str, run: Run, shows: &'static str) -> Figure {
    Figure { id: FigureId::Figure(number), title, shows, run, concludes: &[] }
}

/// Table `number` of a paper.
pub(super) const fn table(number: u8, title: &'static str, run: Run, shows: &'static str) -> Figure {
    Figure { id: FigureId::Table(number), title, shows, run, concludes: &[] }
}

/// What section `number` of a paper says in its text.
pub(super) const fn section(
    number: &'static str,
    title: &'static str,
    run: Run,
    shows: &'static str,
) -> Figure {
    Figure { id: FigureId::Section(number), title, shows, run, concludes: &[] }
}

/// Something that the paper does not show, found by `name`.
pub(super) const fn extra(name: &'static str, title: &'static str, run: Run, shows: &'static str) -> Figure {
    Figure { id: FigureId::Extra(name), title, shows, run, concludes: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_as_people_type_them() {
        assert!(FigureId::Figure(7).is_named("7") && FigureId::Figure(7).is_named("Figure 7"));
        assert!(FigureId::Table(2).is_named("table-2") && !FigureId::Table(2).is_named("2"));
        assert!(FigureId::Extra("probes").is_named("probes"));
        let section = FigureId::Section("7.3");
        assert!(section.is_named("Section 7.3") && section.is_named(&section.argument()));
        assert_eq!(section.file_stem(), "section-7-3");
        let of = FigureId::Of("Proteus", "9e");
        assert!(of.is_named("proteus-9e") && of.is_named(&of.argument()) && !of.is_named("9e"));
    }
}
