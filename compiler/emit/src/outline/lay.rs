//! Lays out the columns: their positions, and the wrapping of rows into them.

use super::OutlineLayout;
use super::row::OutlineRow;
use super::style::{Style, plain, width};

/// The width of the first word with the blank after it, in columns.
const WORD: usize = 8;
/// The minimum distance between the first word and the arrow, in columns.
const LEAST: usize = 12;
/// The minimum width of the text, in columns, however narrow the terminal is.
pub(super) const NARROW: usize = 40;

/// A line of the drawing before it is wrapped: the name of a state, or a row.
pub(super) struct OutlineLine {
    /// The part of the tree to the left of the line.
    pub(super) lead: String,
    pub(super) title: Vec<(Style, String)>,
    pub(super) row: Option<OutlineRow>,
}

/// Text that is wrapped into a column.
pub(super) struct Cell<'t> {
    pub(super) text: &'t str,
    /// The number of blanks before each line except the first.
    pub(super) hang: usize,
}

/// The positions of the columns.
pub(super) struct Layout {
    width: usize,
    /// The column at which the arrows stand.
    arrow: usize,
}

impl Layout {
    /// Puts the arrows after the longest row with an arrow. If the texts after the arrows then lack room, it puts the arrows further to the
    /// left, but not left of 60 % of the width.
    pub(super) fn new(lines: &[OutlineLine], layout: &OutlineLayout) -> Self {
        let total = layout.width.max(NARROW);
        let (mut arrow, mut behind) = (0, 0);
        for line in lines {
            if let Some(row) = line.row.as_ref().filter(|r| !r.right.is_empty()) {
                let left = width(&plain(&row.left, layout.ascii)) + 2;
                arrow = arrow.max(width(&line.lead) + WORD + left.max(LEAST));
                behind = behind.max(width(&plain(&row.right, layout.ascii)));
            }
        }
        let far = (total * 6 / 10).max(total.saturating_sub(behind));
        Self { width: total, arrow: arrow.min(far) }
    }

    /// Writes the lines as text, each with its line end and without trailing blanks.
    pub(super) fn write(&self, lines: &[OutlineLine], layout: &OutlineLayout) -> String {
        let mut out = String::new();
        for line in lines {
            match &line.row {
                Some(row) => self.row(&mut out, line, row, layout),
                None => self.title(&mut out, line, layout),
            }
        }
        out
    }

    /// Writes a name in full, and cuts off the text after it where the line is full.
    fn title(&self, out: &mut String, line: &OutlineLine, layout: &OutlineLayout) {
        let lead = plain(&line.lead, layout.ascii);
        Style::Faint.paint(out, &lead, layout.colour);
        let mut room = self.width.saturating_sub(width(&lead));
        for (n, (style, text)) in line.title.iter().enumerate() {
            let mut text = plain(text, layout.ascii);
            if n > 1 || line.title.len() == 1 {
                text = cut(&text, room, layout.ascii);
            }
            room = room.saturating_sub(width(&text));
            style.paint(out, &text, layout.colour);
        }
        end(out);
    }

    fn row(&self, out: &mut String, line: &OutlineLine, row: &OutlineRow, layout: &OutlineLayout) {
        let lead = plain(&line.lead, layout.ascii);
        let start = width(&lead) + WORD;
        let (left, right) = row.cells();
        let is_wide = right.is_none();
        // If the tree takes more than half of the width, the arrow moves to the right.
        let arrow = self.arrow.max(start + LEAST);
        let room = if is_wide { self.width } else { arrow.saturating_sub(2) };
        let left = wrapped(&left, room.saturating_sub(start), layout.ascii);
        let right = right.map(|r| wrapped(&r, self.width.saturating_sub(arrow), layout.ascii));
        let right = right.unwrap_or_default();
        for n in 0..left.len().max(right.len()) {
            Style::Faint.paint(out, &lead, layout.colour);
            let word = if n == 0 { row.word } else { "" };
            let style = row.look.map_or(Style::Faint, Style::Word);
            style.paint(out, word, layout.colour);
            let text = left.get(n).map_or("", String::as_str);
            let (before, behind) = (WORD.saturating_sub(word.len()), arrow.saturating_sub(start));
            out.push_str(&" ".repeat(before));
            out.push_str(text);
            if let Some(right) = right.get(n) {
                out.push_str(&" ".repeat(behind.saturating_sub(width(text))));
                out.push_str(right);
            }
            end(out);
        }
    }
}

/// Ends a line and removes its trailing blanks.
fn end(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

fn cut(text: &str, room: usize, ascii: bool) -> String {
    if width(text) <= room {
        return text.to_string();
    }
    let dots = if ascii { "..." } else { "…" };
    let room = room.saturating_sub(width(dots));
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let mut buffer = [0; 4];
        used += width(c.encode_utf8(&mut buffer));
        if used > room {
            break;
        }
        out.push(c);
    }
    format!("{}{dots}", out.trim_end())
}

/// Wraps a text at blanks into lines of at most `room` columns. A longer word gets lines of its own and is split.
fn wrapped(cell: &Cell<'_>, room: usize, ascii: bool) -> Vec<String> {
    let text = plain(cell.text, ascii);
    let room = room.max(8);
    if width(&text) <= room {
        return vec![text];
    }
    let indent = text.len() - text.trim_start().len();
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut used = indent;
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let mut rest = word;
        while !rest.is_empty() {
            let blank = usize::from(!is_empty);
            let (end, size) = beginning(rest, room.saturating_sub(used + blank));
            if end == rest.len() {
                line.push_str(&" ".repeat(blank));
                line.push_str(rest);
                used += blank + size;
                is_empty = false;
                break;
            }
            if is_empty {
                // A character that is wider than the line gets a line of its own, so that the loop ends.
                let end = end.max(rest.chars().next().map_or(0, char::len_utf8));
                line.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            lines.push(std::mem::take(&mut line));
            line.push_str(&" ".repeat(indent + cell.hang));
            used = indent + cell.hang;
            is_empty = true;
        }
    }
    if !is_empty {
        lines.push(line);
    }
    lines
}

/// The length in bytes and in columns of the longest prefix that takes at most `room` columns. The rest is not read, because a text may
/// be as long as a file.
fn beginning(text: &str, room: usize) -> (usize, usize) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        let mut buffer = [0; 4];
        let size = width(c.encode_utf8(&mut buffer));
        if used + size > room {
            return (at, used);
        }
        used += size;
    }
    (text.len(), used)
}
