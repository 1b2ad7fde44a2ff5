//! Aligns text in columns. Padding is written as blanks, not with `{:width$}`, which panics for widths over 65,535.

use super::output::StyledText;
use chartc_core::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The maximum width of a cell, in columns. The last cell of a row may be wider, because nothing is aligned behind it.
const WIDEST: usize = 80;
const WIDEST_LAST: usize = 400;

/// The width of a text on one line, in columns of the terminal.
pub(super) fn width(text: &str) -> usize {
    visible::line(text).width()
}

/// Cuts a text to at most `columns` columns, the last of which is then `…`.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let text = visible::line(text);
    if text.width() <= columns {
        return text.into_owned();
    }
    let mut out = String::new();
    // One column is for the `…`.
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Pads a text on the right to `columns` columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", blanks(text, columns))
}

/// Pads a text on the left to `columns` columns.
fn padded_left(text: &str, columns: usize) -> String {
    format!("{}{text}", blanks(text, columns))
}

fn blanks(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text)))
}

/// Lays out rows under a head, in columns as wide as their widest cell. The columns in `right` are aligned on the right. Too long cells are
/// cut.
pub(super) fn columns(head: &[&str], rows: &[Vec<String>], right: &[usize]) -> StyledText {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(&head).chain(rows).map(|r| fitting(r)).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |n: usize| rows.iter().filter_map(|row| row.get(n)).map(|c| width(c)).max();
    let widths: Vec<usize> = (0..count).map(|n| widest(n).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, most))| {
            if right.contains(&i) { padded_left(cell, *most) } else { padded(cell, *most) }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        format!("  {}", line.trim_end())
    };
    let mut page = StyledText::default();
    for row in &rows {
        page.line(line(row));
    }
    page
}

/// Cuts the cells of a row to the maximum width.
fn fitting(row: &[String]) -> Vec<String> {
    let last = row.len().saturating_sub(1);
    let most = |n: usize| if n == last { WIDEST_LAST } else { WIDEST };
    row.iter().enumerate().map(|(n, cell)| cut(cell, most(n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("日本語", 4), "日…");
    }

    #[test]
    fn a_long_cell_does_not_widen_the_others_without_bound() {
        let long = "x".repeat(70_000);
        let rows =
            [vec![long.clone(), "1".into(), long], vec!["a".into(), "22".into(), "b".into()]];
        let table = columns(&["name", "n", ""], &rows, &[1]);
        let widths: Vec<usize> = table.as_str().lines().map(width).collect();
        assert_eq!(widths, [2 + 80 + 2 + 2, 2 + 80 + 2 + 2 + 2 + 400, 2 + 80 + 2 + 2 + 2 + 1]);
    }
}
