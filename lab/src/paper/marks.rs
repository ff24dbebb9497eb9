//! Colours and marks of lines.

use plotters::coord::Shift;
use plotters::prelude::*;

/// Colours that stay apart for the colour-blind (Okabe and Ito, yellow darkened, and two more).
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(148, 133, 20),
    RGBColor(136, 34, 85),
    RGBColor(128, 128, 128),
];

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineLook {
    pub(super) colour: RGBColor,
    mark: Mark,
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Circle,
    Triangle,
    Cross,
    Square,
    Diamond,
}

const MARKS: [Mark; 5] = [Mark::Circle, Mark::Triangle, Mark::Square, Mark::Cross, Mark::Diamond];

/// The look of `name`: by its place in the paper's list of lines, else after them in the order of the legend.
pub(super) fn look(name: &str, line_names: &[&str], names: &[&str]) -> LineLook {
    let listed = line_names.iter().position(|known| *known == name);
    let unknown = names.iter().filter(|name| !line_names.contains(name));
    let place =
        listed.unwrap_or_else(|| line_names.len() + unknown.take_while(|other| **other != name).count());
    // Two marks further where colours begin again.
    let mark = place + 2 * (place / COLOURS.len());
    LineLook { colour: COLOURS[place % COLOURS.len()], mark: MARKS[mark % MARKS.len()] }
}

/// Draws the mark of a point, filled or hollow.
pub(super) fn draw_mark(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    (x, y): (i32, i32),
    look: LineLook,
    filled: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let inside = if filled { look.colour.filled() } else { WHITE.filled() };
    let outside = look.colour.stroke_width(1);
    let corners = match look.mark {
        Mark::Circle => {
            area.draw(&Circle::new((x, y), 4, inside))?;
            area.draw(&Circle::new((x, y), 4, outside))?;
            return Ok(());
        }
        Mark::Cross if filled => {
            let bold = look.colour.stroke_width(2);
            area.draw(&PathElement::new(vec![(x - 4, y - 4), (x + 4, y + 4)], bold))?;
            area.draw(&PathElement::new(vec![(x - 4, y + 4), (x + 4, y - 4)], bold))?;
            return Ok(());
        }
        Mark::Cross | Mark::Square => vec![(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4)],
        Mark::Triangle => vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)],
        Mark::Diamond => vec![(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)],
    };
    let closed: Vec<(i32, i32)> = corners.iter().chain(corners.first()).copied().collect();
    area.draw(&Polygon::new(corners, inside))?;
    area.draw(&PathElement::new(closed, outside))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_look() {
        let line_names = ["a", "b"];
        assert_eq!(look("b", &line_names, &["b"]), look("b", &line_names, &["x", "b"]));
        let looks: Vec<LineLook> =
            ["a", "b", "x", "y"].map(|name| look(name, &line_names, &["x", "y"])).to_vec();
        for (index, one) in looks.iter().enumerate() {
            assert!(!looks[..index].contains(one), "{looks:?}");
        }
    }
}
