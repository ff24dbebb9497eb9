//! The grammar of a query source, as the table of the parent module gives it.

use lacuna_base::{Error, Result};

use super::{Kept, QueryShape, QuerySource, Want};
use crate::numbers::{parse_pair, with_commas};
use crate::{Lengths, parse_count};

/// Most ranges of one workload: 2^28, which are 4 GiB of integers.
const MAX_QUERY_COUNT: u64 = 1 << 28;

/// The form of each kind, for messages.
const FORMS: [&str; 8] = [
    "points:N",
    "uniform:N:LO-HI",
    "correlated:N:LO-HI:D",
    "split:N:LO-HI:D",
    "heldout:N:LO-HI",
    "offset:N:LO-HI:D",
    "shift:N:A-B",
    "lastbyte:N",
];
const HALF_FORM: &str = "half:N, half:N:LO-HI or half: before another kind";

pub(super) fn parse(text: &str) -> Result<QuerySource> {
    let (body, want) = split_want(text);
    let fields: Vec<&str> = body.split(':').collect();
    let source = match fields.as_slice() {
        ["half", rest @ ..] => half(rest, want),
        [kind, rest @ ..] => plain(kind, rest, want),
        [] => unreachable!("splitting gives at least one field"),
    };
    source.map_err(|error| error.with_context(format!("queries `{text}`")))
}

fn split_want(text: &str) -> (&str, Want) {
    if let Some(body) = text.strip_suffix(":hit") {
        return (body, Want::Hit);
    }
    text.strip_suffix(":any").map_or((text, Want::Empty), |body| (body, Want::Any))
}

fn plain(kind: &str, fields: &[&str], want: Want) -> Result<QuerySource> {
    let (shape, count) = shape_and_count(kind, fields)?;
    let takes_keys_out = matches!(shape, QueryShape::HeldOut { .. } | QueryShape::LastByte);
    let kept = if takes_keys_out { Kept::NineTenths } else { Kept::All };
    Ok(QuerySource { shape, count, want, kept })
}

fn half(fields: &[&str], want: Want) -> Result<QuerySource> {
    let (shape, count) = match fields {
        [kind, rest @ ..] if form_of(kind).is_some() => shape_and_count(kind, rest)?,
        [count] => (QueryShape::Points, query_count(count)?),
        [count, lengths] => {
            (QueryShape::Offset { lengths: Lengths::parse(lengths)?, distance: 0 }, query_count(count)?)
        }
        _ => return Err(Error::invalid_input(format!("the text is not {HALF_FORM}"))),
    };
    Ok(QuerySource { shape, count, want, kept: Kept::Half })
}

fn shape_and_count(kind: &str, fields: &[&str]) -> Result<(QueryShape, usize)> {
    let Some(form) = form_of(kind) else {
        let forms = FORMS.join(", ");
        return Err(Error::invalid_input(format!(
            "`{kind}` is not a kind of query; give {forms}, {HALF_FORM}"
        )));
    };
    let expected = form.split(':').count() - 1;
    if fields.len() != expected {
        return Err(Error::invalid_input(format!(
            "the form is {form}, with `:hit` or `:any` appended if you like"
        )));
    }
    Ok((shape(kind, fields)?, query_count(fields[0])?))
}

fn form_of(kind: &str) -> Option<&'static str> {
    FORMS.into_iter().find(|form| form.split(':').next() == Some(kind))
}

/// The shape of `kind`, whose form the fields are known to fill.
fn shape(kind: &str, fields: &[&str]) -> Result<QueryShape> {
    let lengths = || Lengths::parse(fields[1]);
    Ok(match kind {
        "points" => QueryShape::Points,
        "uniform" => QueryShape::Uniform { lengths: lengths()? },
        "correlated" => QueryShape::Correlated { lengths: lengths()?, degree: degree(fields[2])? },
        "split" => QueryShape::Split { lengths: lengths()?, degree: degree(fields[2])? },
        "heldout" => QueryShape::HeldOut { lengths: lengths()? },
        "offset" => QueryShape::Offset { lengths: lengths()?, distance: parse_count(fields[2])? },
        "shift" => {
            let (from, to) = parse_pair(fields[1])?;
            QueryShape::Shift { from, to }
        }
        "lastbyte" => QueryShape::LastByte,
        _ => unreachable!("every form has its shape"),
    })
}

fn degree(text: &str) -> Result<u64> {
    match parse_count(text)? {
        0 => Err(Error::invalid_input(
            "the correlation degree is 0; give at least 1, or use offset for starts at a key",
        )),
        degree => Ok(degree),
    }
}

fn query_count(text: &str) -> Result<usize> {
    let count = parse_count(text)?;
    if count > MAX_QUERY_COUNT {
        let max = with_commas(MAX_QUERY_COUNT);
        return Err(Error::invalid_input(format!("{text} queries are too many; give at most {max}")));
    }
    Ok(usize::try_from(count).expect("2^28 is a usize"))
}
