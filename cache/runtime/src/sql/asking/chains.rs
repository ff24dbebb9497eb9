//! How deep the tree of a statement would be, counted before it is parsed.
//!
//! The parser limits brackets, and builds chains such as `a + a + a` in a loop. Their trees are as deep as they are long, and what
//! walks, compares or drops them by recursion would overflow the stack of its thread.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// Most operators and words of SQL in one expression and those around it, and most sets that are united.
const MAX_OPERATORS: usize = 100;

/// Checks that a statement of these tokens can be walked by recursion.
///
/// # Errors
/// What it has too many of.
pub fn check_chains(tokens: &[Token]) -> Result<(), String> {
    // Outside of all brackets, and in each that is open.
    let (mut around, mut here) = (Vec::<usize>::new(), 0_usize);
    let mut sets = 0;
    for token in tokens {
        match token {
            Token::Comma => here = 0,
            Token::RParen | Token::RBracket | Token::RBrace => here = around.pop().unwrap_or(0),
            token => here += usize::from(is_operator(token)),
        }
        sets += usize::from(unites_sets(token));
        if around.iter().sum::<usize>() + here > MAX_OPERATORS || sets > MAX_OPERATORS {
            return Err(format!("its expressions are too deep: one has more than {MAX_OPERATORS} operators"));
        }
        if matches!(token, Token::LParen | Token::LBracket | Token::LBrace) {
            around.push(std::mem::take(&mut here));
        }
    }
    Ok(())
}

fn is_operator(token: &Token) -> bool {
    match token {
        Token::Whitespace(_)
        | Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::Placeholder(_)
        | Token::Period => false,
        Token::Word(word) => word.keyword != Keyword::NoKeyword,
        _ => true,
    }
}

/// Commas within the sets do not part the chain that they are in.
fn unites_sets(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    matches!(word.keyword, Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT | Keyword::MINUS)
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::PostgreSqlDialect;
    use sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn check(text: &str) -> Result<(), String> {
        check_chains(&Tokenizer::new(&PostgreSqlDialect {}, text).tokenize().unwrap())
    }

    #[test]
    fn chains_are_counted_whatever_stands_between_their_parts() {
        let chain = |part: &str, sign: &str| vec![part; 102].join(sign);
        for deep in [
            chain("a", " + "),
            chain("ARRAY[1, 2]", " || "),
            chain("f(a, b)", " || "),
            chain("SELECT 1, 2", " UNION ALL "),
            chain("SELECT 1, 2", " EXCEPT "),
            chain("a", " IN (1, 2) AND "),
            format!("a{}", "::int".repeat(101)),
            format!("a{}", " IS NULL".repeat(101)),
            format!("{}a{}", "abs(1 + ".repeat(40), ")".repeat(40)),
        ] {
            assert!(check(&deep).is_err(), "{deep}");
        }
        for long in [
            chain("a AS name", ", "),
            chain("f(a + 1, b)", ", "),
            format!("a IN ({})", chain("-1", ", ")),
            format!("VALUES {}", chain("(1, -2)", ", ")),
        ] {
            assert!(check(&long).is_ok(), "{long}");
        }
    }
}
