//! Findings as one picture: panels two abreast, one legend below them all.
//!
//! A line has the same colour and mark in all panels of all figures of a paper, by its place in the paper's list of lines. Points
//! of the paper are large hollow squares of the colour of our line beside them. Zeros on a logarithmic axis are hollow
//! marks below the lowest power of ten. The same finding gives the same bytes.

use lacuna_base::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::frame::{Place, level_ticks};
use super::marks::{LineLook, draw_mark, look};
use super::model::{Finding, Line, Origin, Plot, Point};
use super::shades;

/// Size of a panel.
const PANEL: (u32, u32) = (460, 320);
/// Panels abreast.
const ABREAST: usize = 2;
/// Height of a line of the legend, and width of an entry.
const LEGEND: (u32, u32) = (22, 230);
/// Room around the plotting area of a panel: above, right, below, left.
const EDGE: [i32; 4] = [34, 16, 52, 66];

/// Least distance between the middles of two labels of the level axis.
const LABEL_ROOM: i32 = 26;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The result of a drawing step.
pub(super) type Drawn<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The panels of `finding` as an SVG document; `line_names` fixes the colours.
///
/// # Errors
/// `Unavailable` if the plotting library refuses, which it does not do for finite numbers.
pub(super) fn to_svg(finding: &Finding, line_names: &[&str]) -> Result<String> {
    let mut text = String::new();
    draw(finding, line_names, &mut text)
        .map_err(|error| Error::unavailable(format!("the figure cannot be drawn: {error}")))?;
    Ok(text)
}

fn draw(finding: &Finding, line_names: &[&str], text: &mut String) -> Drawn {
    let names = legend_names(finding);
    let abreast = finding.plots.len().clamp(1, ABREAST);
    let rows = finding.plots.len().div_ceil(abreast);
    let width = PANEL.0 * u32::try_from(abreast)?;
    let entries = (width / LEGEND.1).max(1) as usize;
    let legend_lines = (names.len() + usize::from(has_paper_points(finding))).div_ceil(entries);
    let panels_height = PANEL.1 * u32::try_from(rows)?;
    let height = panels_height + LEGEND.0 * u32::try_from(legend_lines)? + 10;
    let root = SVGBackend::with_string(text, (width, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (panels, legend) = root.split_vertically(panels_height);
    for (plot, area) in finding.plots.iter().zip(panels.split_evenly((rows, abreast))) {
        match plot.y.is_shade {
            true => shades::draw_panel(plot, &area)?,
            false => draw_panel(plot, line_names, &names, &area)?,
        }
    }
    draw_legend(&names, line_names, has_paper_points(finding), entries, &legend)?;
    root.present()?;
    Ok(())
}

/// Names of lines in the order of their first use; rows of heat maps have their names beside them.
fn legend_names(finding: &Finding) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let drawn = finding.plots.iter().filter(|plot| !plot.y.is_shade);
    for line in drawn.flat_map(|plot| &plot.lines) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

fn has_paper_points(finding: &Finding) -> bool {
    finding.plots.iter().flat_map(|plot| &plot.lines).any(|line| line.origin == Origin::Paper)
}

/// The plotting area of a panel, in pixels.
struct Panel<'a, 'b> {
    area: &'a Area<'b>,
    x: Place,
    y: Place,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

fn draw_panel(plot: &Plot, line_names: &[&str], names: &[&str], area: &Area<'_>) -> Drawn {
    let (width, height) = area.dim_in_pixel();
    let [above, right, below, left] = EDGE;
    let panel = Panel {
        area,
        x: Place::level(plot),
        y: Place::upright(plot),
        left,
        right: i32::try_from(width)? - right,
        top: above,
        bottom: i32::try_from(height)? - below,
    };
    panel.draw_axes(plot)?;
    for line in &plot.lines {
        panel.draw_line(line, look(&line.name, line_names, names))?;
    }
    Ok(())
}

impl Panel<'_, '_> {
    /// Pixels across for a position on the level axis.
    fn across(&self, position: f64) -> i32 {
        self.left + along(self.right - self.left, self.x, position)
    }

    /// Pixels down for a position on the upright axis.
    fn down(&self, position: f64) -> i32 {
        self.bottom - along(self.bottom - self.top, self.y, position)
    }

    fn draw_axes(&self, plot: &Plot) -> Drawn {
        self.draw_upright_ticks()?;
        self.draw_level_ticks(plot)?;
        let corners = vec![(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)];
        self.area.draw(&PathElement::new(corners, BLACK.stroke_width(1)))?;
        let middle = i32::midpoint(self.left, self.right);
        self.text(&plot.x.title, (middle, self.bottom + 27), 13, HPos::Center, VPos::Top)?;
        self.text(&plot.title, (middle, 8), 15, HPos::Center, VPos::Top)?;
        let style = ("sans-serif", 13).into_font().transform(FontTransform::Rotate270).color(&BLACK);
        let style = style.pos(Pos::new(HPos::Center, VPos::Top));
        self.area.draw_text(&plot.y.title, &style, (4, i32::midpoint(self.top, self.bottom)))?;
        Ok(())
    }

    fn draw_upright_ticks(&self) -> Drawn {
        let grid = ShapeStyle::from(RGBColor(222, 222, 222)).stroke_width(1);
        for (position, label) in self.y.ticks() {
            let y = self.down(position);
            self.area.draw(&PathElement::new(vec![(self.left, y), (self.right, y)], grid))?;
            self.text(&label, (self.left - 6, y), 12, HPos::Right, VPos::Center)?;
        }
        Ok(())
    }

    fn draw_level_ticks(&self, plot: &Plot) -> Drawn {
        let mut free_from = i32::MIN;
        for (position, label) in level_ticks(plot, self.x) {
            let x = self.across(position);
            if x < free_from {
                continue;
            }
            free_from = x + LABEL_ROOM;
            let tick = vec![(x, self.bottom), (x, self.bottom + 4)];
            self.area.draw(&PathElement::new(tick, BLACK.stroke_width(1)))?;
            self.text(&label, (x, self.bottom + 7), 12, HPos::Center, VPos::Top)?;
        }
        Ok(())
    }

    fn text(&self, text: &str, at: (i32, i32), size: u32, level: HPos, upright: VPos) -> Drawn {
        let style = ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(level, upright));
        self.area.draw_text(text, &style, at)?;
        Ok(())
    }

    fn draw_line(&self, line: &Line, look: LineLook) -> Drawn {
        let place = |point: &Point| (self.across(self.x.at(point.x)), self.down(self.y.at(point.y)));
        let places: Vec<(i32, i32)> = line.points.iter().map(place).collect();
        if line.origin == Origin::Ours {
            self.area.draw(&PathElement::new(places.clone(), look.colour.stroke_width(2)))?;
        }
        for (point, place) in line.points.iter().zip(places) {
            if let Some(extent) = point.extent {
                self.draw_extent(place.0, extent, look)?;
            }
            match line.origin {
                Origin::Ours => draw_mark(self.area, place, look, !self.y.is_off(point.y))?,
                Origin::Paper => draw_paper_mark(self.area, place, look)?,
            }
        }
        Ok(())
    }

    /// A thin bar from the least of some runs to the greatest.
    fn draw_extent(&self, x: i32, (low, high): (f64, f64), look: LineLook) -> Drawn {
        let [low, high] = [low, high].map(|value| self.down(self.y.at(value)));
        for (from, to) in [
            ((x, low), (x, high)),
            ((x - BAR_END, low), (x + BAR_END, low)),
            ((x - BAR_END, high), (x + BAR_END, high)),
        ] {
            self.area.draw(&PathElement::new(vec![from, to], look.colour.stroke_width(1)))?;
        }
        Ok(())
    }
}

/// Half the width of the ends of an error bar.
const BAR_END: i32 = 3;

/// Pixels from the low end of an axis of `length` pixels to `position`.
fn along(length: i32, axis: Place, position: f64) -> i32 {
    let part = (position - axis.low) / (axis.high - axis.low);
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a panel of 460 by 320")]
    let pixels = (f64::from(length) * part).round() as i32;
    pixels
}

/// A large hollow square.
fn draw_paper_mark(area: &Area<'_>, (x, y): (i32, i32), look: LineLook) -> Drawn {
    area.draw(&Rectangle::new([(x - 6, y - 6), (x + 6, y + 6)], look.colour.stroke_width(2)))?;
    Ok(())
}

fn draw_legend(
    names: &[&str],
    line_names: &[&str],
    with_paper: bool,
    entries: usize,
    area: &Area<'_>,
) -> Drawn {
    let place = |index: usize| -> Drawn<(i32, i32)> {
        let x = i32::try_from(index % entries)? * i32::try_from(LEGEND.1)? + EDGE[3] - 40;
        let y = i32::try_from(index / entries)? * i32::try_from(LEGEND.0)? + 11;
        Ok((x, y))
    };
    let style = ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
    for (index, name) in names.iter().enumerate() {
        let (x, y) = place(index)?;
        let look = look(name, line_names, names);
        area.draw(&PathElement::new(vec![(x, y), (x + 28, y)], look.colour.stroke_width(2)))?;
        draw_mark(area, (x + 14, y), look, true)?;
        area.draw_text(name, &style, (x + 36, y))?;
    }
    if with_paper {
        let (x, y) = place(names.len())?;
        area.draw(&Rectangle::new([(x + 8, y - 6), (x + 20, y + 6)], BLACK.stroke_width(2)))?;
        area.draw_text("the paper's value", &style, (x + 36, y))?;
    }
    Ok(())
}
