//! What a text names, wherever it stands: the catalogue says whether anything of a user's is among it.

use super::tokens::Token;

/// Operators that the language writes in other words (`LIKE`, `IN`, `BETWEEN`, `NULLIF`, `USING`), or stands for by sorting.
const IMPLIED: [&str; 12] = ["=", "<>", "<", "<=", ">", ">=", "~~", "!~~", "~~*", "!~~*", "~", "!~"];

/// Names and operators of a text, each once and in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mentions {
    /// Every name, and every word of the language.
    pub(crate) words: Vec<String>,
    /// Names after a name and a point: a column, or a function of a row (`t.f` is `f(t)`).
    pub(crate) fields: Vec<String>,
    /// Names before a bracket, and those that select from an expression (`(x).f` is `f(x)`).
    pub(crate) calls: Vec<String>,
    pub(crate) operators: Vec<String>,
}

impl Mentions {
    pub(super) fn among(tokens: &[Token]) -> Self {
        let mut found = Self::default();
        found.operators.extend(IMPLIED.map(str::to_owned));
        for (place, token) in tokens.iter().enumerate() {
            match token {
                Token::Word(name) | Token::Quoted(name) => {
                    found.words.push(name.clone());
                    if is_field(tokens, place) {
                        found.fields.push(name.clone());
                    }
                    if is_selection(tokens, place) || tokens.get(place + 1) == Some(&Token::Mark(b'(')) {
                        found.calls.push(name.clone());
                    }
                }
                Token::Operator(operator) => found.operators.push(operator.clone()),
                Token::Constant | Token::Param | Token::Mark(_) => {}
            }
        }
        for names in [&mut found.words, &mut found.fields, &mut found.calls, &mut found.operators] {
            names.sort_unstable();
            names.dedup();
        }
        found
    }

    /// Bytes that it takes, nearly.
    pub(crate) fn bytes(&self) -> usize {
        let Self { words, fields, calls, operators } = self;
        [words, fields, calls, operators].into_iter().flatten().map(|name| name.len() + 24).sum()
    }
}

/// The two tokens before this one.
fn before(tokens: &[Token], place: usize) -> Option<(&Token, &Token)> {
    Some((tokens.get(place.checked_sub(2)?)?, &tokens[place - 1]))
}

fn is_field(tokens: &[Token], place: usize) -> bool {
    matches!(before(tokens, place), Some((Token::Word(_) | Token::Quoted(_), Token::Mark(b'.'))))
}

/// Whether the name at `place` selects from what is no name: `(x).f`, `$1.f`, `a[1].f`.
pub(super) fn is_selection(tokens: &[Token], place: usize) -> bool {
    matches!(tokens.get(place.wrapping_sub(1)), Some(Token::Mark(b'.'))) && !is_field(tokens, place)
}
