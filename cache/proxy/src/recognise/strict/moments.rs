//! Dates and timestamps in the forms that mean the same in every session, as the integers that the server keeps.
//!
//! `2026-11-26` is 9,826: days since 2000-01-01. `2026-11-26 21:30:00.5` counts microseconds since that midnight, and with a time
//! zone, `2026-11-26 21:30:00.5+01`, since that midnight in UTC. The order of these integers is that of the values, `infinity`
//! included, so that ranges of moments are ranges of integers.
//!
//! Four digits of a year in front are year, month and day under every `DateStyle`. Everything else is unknown here: another
//! order, words such as `today`, a zone by its name or left out, more than six digits of a second, which the server rounds.

/// Types of moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A day.
    Date,
    /// Without a time zone.
    Timestamp,
    /// With a time zone.
    Timestamptz,
}

const MICROS_A_SECOND: i64 = 1_000_000;
const SECONDS_A_DAY: i64 = 86_400;
const MICROS_A_DAY: i64 = SECONDS_A_DAY * MICROS_A_SECOND;

impl Moment {
    /// The number of the type.
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::Date => 1_082,
            Self::Timestamp => 1_114,
            Self::Timestamptz => 1_184,
        }
    }

    /// The integer that the server keeps for this text.
    pub(crate) fn read(self, text: &str) -> Option<i64> {
        let mut text = Text(text.as_bytes());
        let days = text.day()?;
        if self == Self::Date {
            return Some(days).filter(|_| text.0.is_empty());
        }
        let micros = if text.0.is_empty() { 0 } else { text.time()? };
        let offset = if self == Self::Timestamptz { text.offset()? } else { 0 };
        let is_over = text.0.is_empty();
        is_over.then(|| (days * SECONDS_A_DAY - offset) * MICROS_A_SECOND + micros)
    }

    /// The moment of this integer as text, in UTC; outside the years 1 to 9999 the integer.
    pub(crate) fn shown(self, value: i64) -> String {
        let (days, micros) = match self {
            Self::Date => (value, 0),
            _ => (value.div_euclid(MICROS_A_DAY), value.rem_euclid(MICROS_A_DAY)),
        };
        let Some((year, month, day)) = date(days) else { return value.to_string() };
        let day = format!("{year:04}-{month:02}-{day:02}");
        if self == Self::Date {
            return day;
        }
        let (seconds, micros) = (micros / MICROS_A_SECOND, micros % MICROS_A_SECOND);
        let time = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
        let zone = if self == Self::Timestamptz { "Z" } else { "" };
        format!("{day} {time}{fraction}{zone}")
    }

    /// The same for the bytes of a parameter in binary.
    pub(crate) fn read_binary(self, bytes: &[u8]) -> Option<i64> {
        match self {
            Self::Date => bytes.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).into()),
            Self::Timestamp | Self::Timestamptz => bytes.try_into().ok().map(i64::from_be_bytes),
        }
    }
}

/// What is left of a text.
struct Text<'t>(&'t [u8]);

impl Text<'_> {
    fn take(&mut self, byte: u8) -> Option<()> {
        let (first, left) = self.0.split_first()?;
        self.0 = left;
        (*first == byte).then_some(())
    }

    /// Exactly `count` digits, as a number of at most `max`.
    fn number(&mut self, count: usize, max: i64) -> Option<i64> {
        let (digits, left) = self.0.split_at_checked(count)?;
        self.0 = left;
        let value = |sum: i64, digit: &u8| digit.is_ascii_digit().then(|| 10 * sum + i64::from(digit - b'0'));
        digits.iter().try_fold(0, value).filter(|number| *number <= max)
    }

    /// `2026-11-26`, as days since 2000-01-01.
    fn day(&mut self) -> Option<i64> {
        let year = self.number(4, 9_999)?;
        self.take(b'-')?;
        let month = self.number(2, 12)?;
        self.take(b'-')?;
        let day = self.number(2, 31)?;
        (year > 0 && month > 0 && (1..=days_in(year, month)).contains(&day)).then(|| days(year, month, day))
    }

    /// ` 21:30:00.5` after a day, in microseconds; a `T` may be there for the space.
    fn time(&mut self) -> Option<i64> {
        let is_iso = self.0.first() == Some(&b'T');
        self.take(if is_iso { b'T' } else { b' ' })?;
        let hours = self.number(2, 23)?;
        self.take(b':')?;
        let minutes = self.number(2, 59)?;
        self.take(b':')?;
        let seconds = self.number(2, 59)?;
        let fraction = if self.0.first() == Some(&b'.') { self.fraction()? } else { 0 };
        Some((hours * 3_600 + minutes * 60 + seconds) * MICROS_A_SECOND + fraction)
    }

    /// `.5`, of one to six digits, in microseconds.
    fn fraction(&mut self) -> Option<i64> {
        self.take(b'.')?;
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let missing = u32::try_from(6_usize.checked_sub(count)?).ok()?;
        (count > 0).then_some(())?;
        Some(self.number(count, i64::MAX)? * 10_i64.pow(missing))
    }

    /// `+01`, `-05:30` or `Z`, in seconds to the east.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.0.first()? {
            b'Z' => return self.take(b'Z').map(|()| 0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let hours = self.number(2, 15)?;
        let minutes =
            if self.0.is_empty() { 0 } else { self.take(b':').and_then(|()| self.number(2, 59))? };
        Some(sign * (hours * 3_600 + minutes * 60))
    }
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 2000-01-01. The year begins in March, so that a leap day is its last.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before_year = 365 * year + year / 4 - year / 100 + year / 400;
    let before_month = (153 * month + 2) / 5;
    // 2000-03-01 is the day 730,485 of this count, and 60 days after 2000-01-01.
    before_year + before_month + day - 1 - 730_485 + 60
}

/// Year, month and day of a count of days since 2000-01-01, for the years 1 to 9999: the reverse of [`days`].
fn date(count: i64) -> Option<(i64, i64, i64)> {
    if !(days(1, 1, 1)..=days(9_999, 12, 31)).contains(&count) {
        return None;
    }
    // In 8,000 years there are 1,940 leap days, which are fewer than six years.
    let guess = 2_000 + count.div_euclid(365);
    let year = (guess - 6..=guess + 6).rev().find(|year| days(*year, 1, 1) <= count)?;
    let month = (1..=12).rev().find(|month| days(year, *month, 1) <= count)?;
    Some((year, month, count - days(year, month, 1) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_the_integers_of_the_server() {
        for (moment, text, expected) in [
            (Moment::Date, "2000-01-01", 0),
            (Moment::Date, "2000-02-29", 59),
            (Moment::Date, "1999-12-31", -1),
            (Moment::Date, "0001-01-01", -730_119),
            (Moment::Date, "9999-12-31", 2_921_939),
            (Moment::Timestamp, "2000-01-01", 0),
            (Moment::Timestamp, "2000-01-01 00:00:01.5", 1_500_000),
            (Moment::Timestamp, "1999-12-31T23:59:59.999999", -1),
            (Moment::Timestamptz, "2000-01-01 01:00:00+01", 0),
            (Moment::Timestamptz, "2000-01-01 00:00:00-05:30", 19_800_000_000),
            (Moment::Timestamptz, "2000-01-01 00:00:00Z", 0),
        ] {
            assert_eq!(moment.read(text), Some(expected), "{text}");
        }
        assert_eq!(Moment::Date.read_binary(&7_i32.to_be_bytes()), Some(7));
        assert_eq!(Moment::Timestamp.read_binary(&7_i64.to_be_bytes()), Some(7));
        assert_eq!(Moment::Date.read_binary(&7_i64.to_be_bytes()), None);
    }

    #[test]
    fn texts_of_moments_are_read_again() {
        for days in (-730_119..=2_921_939).step_by(97).chain([-730_119, -1, 0, 59, 60, 2_921_939]) {
            let text = Moment::Date.shown(days);
            assert_eq!(Moment::Date.read(&text), Some(days), "{text}");
        }
        for micros in [0, -1, 1_500_000, 86_399_999_999, -86_400_000_000, 252_455_615_999_999_999] {
            for moment in [Moment::Timestamp, Moment::Timestamptz] {
                let text = moment.shown(micros);
                assert_eq!(moment.read(&text), Some(micros), "{text}");
            }
        }
        assert_eq!(Moment::Date.shown(2_921_940), "2921940");
        assert_eq!(Moment::Timestamptz.shown(-1), "1999-12-31 23:59:59.999999Z");
    }

    #[test]
    fn what_depends_on_anything_is_unknown() {
        for text in [
            "today",
            "now",
            "infinity",
            "-infinity",
            "epoch",
            "",
            "2026-1-5",
            "26-01-05",
            "20260105",
            "01/05/2026",
            "2026-01-05 BC",
            "10000-01-01",
            "0000-01-01",
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-04-31",
            " 2026-01-05",
            "2026-01-05 ",
            "+026-01-05",
            "2026-01-05 24:00:00",
            "2026-01-05 23:59:60",
            "2026-01-05 1:00:00",
            "2026-01-05 10:00",
            "2026-01-05 10:00:00.",
            "2026-01-05 10:00:00.1234567",
            "2026-01-05 10:00:00 UTC",
            "2026-01-05 10:00:00+1",
            "2026-01-05 10:00:00+16",
            "2026-01-05 10:00:00+01:60",
            "2026-01-05 10:00:00+01:00:00",
            "J2451187",
        ] {
            for moment in [Moment::Date, Moment::Timestamp, Moment::Timestamptz] {
                assert_eq!(moment.read(text), None, "{moment:?} {text}");
            }
        }
        assert_eq!(Moment::Timestamptz.read("2026-01-05 10:00:00"), None, "it is of the session's zone");
        assert_eq!(Moment::Timestamptz.read("2026-01-05"), None);
        assert_eq!(Moment::Timestamp.read("2026-01-05 10:00:00+00"), None);
        assert_eq!(Moment::Date.read("2026-01-05 10:00:00"), None);
    }
}
