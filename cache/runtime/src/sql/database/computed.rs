//! Virtual columns, whose values the database computes at each read.
//!
//! MariaDB lets them depend on more than their row: on the clock, the user, a random number, a setting. A cached result would keep
//! what the first read saw. What is not known to depend on the row alone counts as such a column.

/// Functions of MariaDB that give the same for the same arguments, besides those of [`FAMILIES`], and words that a bracket may
/// follow.
const KNOWN: &str = "\
    abs acos adddate addtime and ascii asin atan atan2 between bin binary bit_count bit_length case cast ceil \
    ceiling char char_length character_length chr coalesce concat concat_ws conv convert cos cot crc32 crc32c date \
    date_add date_format date_sub datediff datetime day dayofmonth dayofweek dayofyear decimal degrees div double \
    else elt exp extract field find_in_set float floor from from_base64 from_days from_unixtime greatest hex hour \
    if ifnull in insert instr interval isnull last_day lcase least left length like ln locate log log10 log2 lower \
    lpad ltrim make_set makedate md5 microsecond mid minute mod month natural_sort_key nchar not nullif nvl nvl2 \
    oct octet_length or ord period_add period_diff pi position pow power quarter quote radians regexp regexp_instr \
    regexp_replace regexp_substr repeat replace reverse right rlike round rpad rtrim second sha sha1 sha2 sign sin \
    soundex space sqrt strcmp subdate substr substring substring_index subtime tan then time_format time_to_sec \
    timestamp timestampadd timestampdiff to_base64 to_days to_seconds trim truncate ucase unhex upper using \
    varchar week weekday weekofyear when xor year yearweek";

/// How the names of whole families of such functions begin.
const FAMILIES: [&str; 5] = ["inet", "is_ipv", "json_", "mbr", "st_"];

/// What an expression of the catalogue depends on beside its row, or might: the first such word.
pub(super) fn doubt(expression: &str) -> Option<String> {
    let mut rest = expression;
    while let Some(letter) = rest.chars().next() {
        rest = match letter {
            '\'' | '`' => after_quoted(rest, letter),
            '@' => return Some("@@".to_owned()),
            _ if letter.is_alphabetic() || letter == '_' => {
                let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
                let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                let word = word.to_ascii_lowercase();
                let after_word = after.trim_start();
                let is_known = match word.as_str() {
                    // The day of a time is that of the clock, where one is asked for.
                    "time" => return Some(word),
                    "unix_timestamp" => !after_word.trim_start_matches(['(', ' ']).starts_with(')'),
                    word => {
                        KNOWN.split(' ').any(|known| known == word)
                            || FAMILIES.iter().any(|family| word.starts_with(family))
                    }
                };
                if after_word.starts_with('(') && !is_known {
                    return Some(word);
                }
                after
            }
            _ => &rest[letter.len_utf8()..],
        };
    }
    None
}

/// What follows a text or a name that `rest` begins with.
fn after_quoted(rest: &str, quote: char) -> &str {
    let mut letters = rest.char_indices().skip(1);
    while let Some((place, letter)) = letters.next() {
        if letter == '\\' && quote == '\'' {
            letters.next();
        } else if letter == quote {
            return &rest[place + 1..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::doubt;

    #[test]
    fn an_expression_that_may_change_without_its_row_is_found() {
        for (expression, word) in [
            ("timestampdiff(YEAR,`born`,curdate())", "curdate"),
            ("rand()", "rand"),
            ("concat(user(),`name`)", "user"),
            ("concat(`name`,@@hostname)", "@@"),
            ("current_timestamp(6)", "current_timestamp"),
            ("`s` + unix_timestamp()", "unix_timestamp"),
            ("concat('it\\'s',uuid())", "uuid"),
            ("concat('it''s',uuid ())", "uuid"),
            ("my_own_function(`s`)", "my_own_function"),
            ("cast(cast(`s` as time) as datetime)", "time"),
            ("greatest(TIME'10:00:00',`d`)", "time"),
        ] {
            assert_eq!(doubt(expression).as_deref(), Some(word), "{expression}");
        }
        for expression in [
            "`s` + 1",
            "case when `s` in (1,2) and `s` = 3 then `s` else -`s` end",
            "cast(`s` as char(10) charset utf8mb3)",
            "trim(both 'x' from `bb`)",
            "`born` + interval `s` day",
            "`s` DIV 2",
            "convert(`s` using utf8mb4)",
            "extract(year from `born`)",
            "if(`s` regexp 1,'now()','it\\'s')",
            "json_object('a',`now`)",
            "`now` + `rand`",
            "_latin1'x' collate latin1_bin",
            "substr(`bb`,2,3)",
            "date_format(`created`,'%Y-%m')",
            "cast(`s` as datetime(6))",
            "unix_timestamp(`created`)",
            "",
        ] {
            assert_eq!(doubt(expression), None, "{expression}");
        }
    }
}
