//! Days and moments in the calendar: day 19,844 since 1970-01-01 is `2024-05-01`.
//!
//! Years run over 400-year cycles of the Gregorian calendar, in both directions without end, and are counted from
//! March, so that the leap day is the last of its year. There is a year 0 here, which SQL writes as `1 BC`.

const DAYS_OF_400_YEARS: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
const MICROS_OF_A_DAY: i64 = 86_400_000_000;

/// Year, month and day of a day since 1970-01-01.
pub(crate) fn civil(day: i64) -> (i64, u8, u8) {
    let (cycle, day) = (
        (day + DAYS_TO_1970).div_euclid(DAYS_OF_400_YEARS),
        (day + DAYS_TO_1970).rem_euclid(DAYS_OF_400_YEARS),
    );
    // Whole years: leap days of every 4th year, none in every 100th, one in the 400th.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let small = |number: i64| u8::try_from(number).expect("months and days of months are small");
    (cycle * 400 + year + i64::from(month <= 2), small(month), small(day_of_month))
}

/// The day since 1970-01-01 of a date of the calendar; a day beyond the end of the month counts into the next.
pub(crate) fn day_of(year: i64, month: u8, day: u8) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = year - i64::from(month <= 2);
    let month_from_march = (month + 9) % 12;
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    year.div_euclid(400) * DAYS_OF_400_YEARS + year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100
        + day_of_year
        - DAYS_TO_1970
}

/// The day, and the microsecond within it.
pub(crate) const fn day_and_micros(micros: i64) -> (i64, i64) {
    (micros.div_euclid(MICROS_OF_A_DAY), micros.rem_euclid(MICROS_OF_A_DAY))
}

/// Microseconds since 1970 of a moment of a day.
#[cfg_attr(not(feature = "mariadb"), allow(dead_code, reason = "its driver is not built"))]
pub(crate) fn moment(day: i64, micros: i64) -> Option<i64> {
    day.checked_mul(MICROS_OF_A_DAY)?.checked_add(micros)
}

/// A day as SQL writes it.
pub(crate) fn print_day(day: i64) -> String {
    with_era(day, "")
}

/// A moment as SQL writes it, to the microsecond.
pub(crate) fn print_moment(micros: i64) -> String {
    let (day, micros) = day_and_micros(micros);
    let (second, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let time = format!(" {:02}:{:02}:{:02}.{fraction:06}", second / 3_600, second / 60 % 60, second % 60);
    with_era(day, &time)
}

fn with_era(day: i64, time: &str) -> String {
    let (year, month, day) = civil(day);
    if year > 0 {
        format!("{year:04}-{month:02}-{day:02}{time}")
    } else {
        format!("{:04}-{month:02}-{day:02}{time} BC", 1 - year)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_one_another_through_the_calendar() {
        assert_eq!((civil(0), civil(19_844)), ((1970, 1, 1), (2024, 5, 1)));
        let mut expected = (-801, 12, 31);
        for day in day_of(-801, 12, 31)..=day_of(2401, 1, 1) {
            assert_eq!(civil(day), expected);
            assert_eq!(day_of(expected.0, expected.1, expected.2), day);
            let (year, month, day) = expected;
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            expected = if day < days[usize::from(month) - 1] {
                (year, month, day + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
        }
    }

    #[test]
    fn moments_are_written_as_sql_has_them() {
        assert_eq!(print_moment(0), "1970-01-01 00:00:00.000000");
        assert_eq!(print_moment(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(print_day(day_of(-43, 3, 15)), "0044-03-15 BC");
        assert_eq!(print_day(day_of(12_000, 1, 1)), "12000-01-01");
        assert_eq!(moment(i64::MAX, 0), None);
    }
}
