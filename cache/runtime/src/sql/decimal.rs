//! Decimals as text, which is how databases take them and most return them: `-1250` with two digits after the
//! point is `-12.50`.

/// Maximum digits of a decimal that an `i128` certainly holds.
pub(crate) const MAX_DIGITS: u8 = 38;

/// Digits and scale of `text`, `None` if it is not a plain decimal of at most 38 digits.
pub(crate) fn parse(text: &str) -> Option<(i128, u8)> {
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => (-1, number),
        None => (1, text),
    };
    let (whole, behind) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(behind) {
        return None;
    }
    let scale = u8::try_from(behind.len()).ok().filter(|scale| *scale <= MAX_DIGITS)?;
    let all = [whole, behind].concat();
    let significant = all.trim_start_matches('0');
    if significant.len() > usize::from(MAX_DIGITS) {
        return None;
    }
    let digits: i128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    Some((sign * digits, scale))
}

/// `digits / 10^scale`, with all digits after the point.
pub(crate) fn print(digits: i128, scale: u8) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let scale = usize::from(scale);
    let padded = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    let (whole, behind) = padded.split_at(padded.len() - scale);
    if behind.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{behind}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_come_back_from_their_text() {
        let largest = 10i128.pow(38) - 1;
        for (digits, scale) in
            [(0, 0), (0, 2), (5, 2), (-5, 2), (-1250, 2), (largest, 38), (-largest, 0), (7, 0)]
        {
            assert_eq!(parse(&print(digits, scale)), Some((digits, scale)));
        }
        assert_eq!(print(-5, 2), "-0.05");
        assert_eq!(parse("00012.50"), Some((1250, 2)), "padded with zeros");
        for wrong in ["", "-", ".5", "NaN", "1e5", "1.2.3", "Infinity", "+1", " 1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(parse(&"9".repeat(39)), None);
    }
}
