//! A panel as a heat map: a row for each line, a column for each place on the level axis, a shade for each height.
//!
//! White stands for 0, the darkest shade for 100 and above: heights are percentages. Each field also shows its number,
//! so that the picture can be read without shades. A line without a point there leaves its field empty.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::model::{Plot, shown};
use super::svg::{Area, Drawn};

/// Room around the fields: above, right, below, left.
const EDGE: [i32; 4] = [34, 16, 52, 176];
/// The shade of 100.
const DARKEST: RGBColor = RGBColor(8, 48, 107);
/// Percentages above this are written in white.
const DARK: f64 = 45.0;

/// Draws `plot` into `area`.
pub(super) fn draw_panel(plot: &Plot, area: &Area<'_>) -> Drawn {
    let (width, height) = area.dim_in_pixel();
    let [above, right, below, left] = EDGE;
    let (width, height) = (i32::try_from(width)?, i32::try_from(height)?);
    let (right, bottom) = (width - right, height - below);
    let columns = columns(plot);
    let across = |column: usize| part(left, right, column, columns.len());
    let down = |row: usize| part(above, bottom, row, plot.lines.len());
    let middle = i32::midpoint(left, right);
    text(area, &plot.title, (middle, 8), 15, &BLACK, HPos::Center)?;
    text(
        area,
        &format!("{}; shades: {}", plot.x.title, plot.y.title),
        (width / 2, bottom + 32),
        13,
        &BLACK,
        HPos::Center,
    )?;
    for (row, line) in plot.lines.iter().enumerate() {
        let (top, low) = (down(row), down(row + 1));
        text(area, &line.name, (left - 8, i32::midpoint(top, low) - 6), 12, &BLACK, HPos::Right)?;
        for (column, place) in columns.iter().enumerate() {
            let Some(percent) = line.at(*place) else { continue };
            let (from, to) = (across(column), across(column + 1));
            let corners = [(from, top), (to - 1, low - 1)];
            area.draw(&Rectangle::new(corners, shade(percent).filled()))?;
            let ink = if percent > DARK { WHITE } else { BLACK };
            let at = (i32::midpoint(from, to), i32::midpoint(top, low) - 6);
            text(area, &shown(percent), at, 12, &ink, HPos::Center)?;
        }
    }
    for (column, place) in columns.iter().enumerate() {
        let at = (i32::midpoint(across(column), across(column + 1)), bottom + 7);
        text(area, &place.to_string(), at, 12, &BLACK, HPos::Center)?;
    }
    area.draw(&Rectangle::new([(left, above), (right, bottom)], BLACK.stroke_width(1)))?;
    Ok(())
}

/// The places on the level axis, ascending.
fn columns(plot: &Plot) -> Vec<f64> {
    let mut places: Vec<f64> = plot.lines.iter().flat_map(|line| &line.points).map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// Where field `index` of `count` begins between `low` and `high`.
fn part(low: i32, high: i32, index: usize, count: usize) -> i32 {
    let share = index as f64 / count.max(1) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a panel")]
    let pixels = (f64::from(high - low) * share).round() as i32;
    low + pixels
}

fn shade(percent: f64) -> RGBColor {
    let share = (percent / 100.0).clamp(0.0, 1.0);
    let mixed = |dark: u8| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between `dark` and 255")]
        let mixed = (255.0 - share * (255.0 - f64::from(dark))).round() as u8;
        mixed
    };
    RGBColor(mixed(DARKEST.0), mixed(DARKEST.1), mixed(DARKEST.2))
}

fn text(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    text: &str,
    at: (i32, i32),
    size: u32,
    colour: &RGBColor,
    level: HPos,
) -> Drawn {
    let style = ("sans-serif", size).into_font().color(colour).pos(Pos::new(level, VPos::Top));
    area.draw_text(text, &style, at)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_run_from_white_to_the_darkest() {
        assert_eq!((shade(0.0), shade(100.0), shade(250.0)), (WHITE, DARKEST, DARKEST));
        assert!(shade(60.0).0 < shade(30.0).0);
    }

    #[test]
    fn fields_fill_the_panel() {
        assert_eq!((part(10, 110, 0, 4), part(10, 110, 1, 4), part(10, 110, 4, 4)), (10, 35, 110));
    }
}
