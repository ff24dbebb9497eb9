//! The numbers that decide a design, from additions, multiplications and divisions only, so that every machine decides
//! alike.

/// `e^-x` for `x >= 0`.
pub(crate) fn exp_neg(x: f64) -> f64 {
    if x > 700.0 {
        return 0.0;
    }
    // e^-x = (e^(-x/1024))^1024; five terms of the series are exact to the last bits for so small an argument.
    let small = x / 1024.0;
    let series =
        1.0 - small * (1.0 - small / 2.0 * (1.0 - small / 3.0 * (1.0 - small / 4.0 * (1.0 - small / 5.0))));
    (0..10).fold(series, |power, _| power * power)
}

/// `base^exponent`.
pub(crate) fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// Places and weights of a normal variable that stand for all of it: exact for polynomials up to degree nine
/// (Gauss-Hermite, five points).
pub(crate) const NORMAL: [(f64, f64); 5] = [
    (-2.856_970_013_872_805_6, 0.011_257_411_327_720_69),
    (-1.355_626_179_974_266, 0.222_075_922_005_612_64),
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_266, 0.222_075_922_005_612_64),
    (2.856_970_013_872_805_6, 0.011_257_411_327_720_69),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_exact_enough() {
        for step in 0..3_000 {
            let x = f64::from(step) / 100.0;
            let error = (exp_neg(x) - (-x).exp()).abs() / (-x).exp();
            assert!(error < 1e-9, "e^-{x} is off by {error}");
        }
        assert!(exp_neg(1e300) == 0.0);
    }

    #[test]
    fn the_normal_points_have_its_moments() {
        let moment =
            |degree| NORMAL.iter().map(|(place, weight)| weight * power(*place, degree)).sum::<f64>();
        for (degree, expected) in [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (6, 15.0), (8, 105.0)] {
            assert!((moment(degree) - expected).abs() < 1e-9, "moment {degree}: {}", moment(degree));
        }
    }
}
