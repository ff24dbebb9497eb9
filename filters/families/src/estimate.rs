//! Functions whose results decide a design: the same on every machine. Other functions come from `libm`, with the same
//! property.

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
    fn the_normal_points_have_its_moments() {
        let moment =
            |degree| NORMAL.iter().map(|(place, weight)| weight * power(*place, degree)).sum::<f64>();
        for (degree, expected) in [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (6, 15.0), (8, 105.0)] {
            assert!((moment(degree) - expected).abs() < 1e-9, "moment {degree}: {}", moment(degree));
        }
    }
}
