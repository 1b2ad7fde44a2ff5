//! Columns: `may` lines that follow each other show their texts, conditions and targets below each other.

use super::out::{Out, WIDTH};

/// A line of columns.
#[derive(Debug)]
pub(super) struct Row {
    /// First byte of the line, indentation included.
    pub(super) start: usize,
    /// One past its last.
    pub(super) end: usize,
    /// Where each column but the last ends.
    pub(super) stops: Vec<usize>,
}

impl Row {
    /// The columns of the line in `text`.
    fn columns<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let starts = std::iter::once(self.start).chain(self.stops.iter().copied());
        let ends = self.stops.iter().copied().chain([self.end]);
        starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

impl Out {
    /// A column ends here.
    pub(super) fn stop(&mut self) {
        self.stops.push(self.text.len());
    }

    /// Makes the columns of `rows` as wide as their widest, unless lines would become too long. The rows are the last that were
    /// printed, but perhaps for one item; they are used up.
    pub(super) fn align(&mut self, rows: &mut Vec<Row>) {
        let rows = std::mem::take(rows);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
        let lines: Vec<Vec<&str>> = rows.iter().map(|row| row.columns(&self.text)).collect();
        let count = first.stops.len();
        let widest = |n: usize| lines.iter().filter_map(|l| l.get(n)).map(|c| width(c)).max();
        let widths: Vec<usize> = (0..count).filter_map(widest).collect();
        let mut aligned: Vec<String> = Vec::new();
        for columns in &lines {
            let mut line = String::new();
            for (n, column) in columns.iter().enumerate() {
                line.push_str(column);
                if columns[n + 1..].iter().any(|c| !c.is_empty()) {
                    let missing = widths.get(n).map_or(0, |w| w.saturating_sub(width(column)));
                    line.extend(std::iter::repeat_n(' ', missing));
                }
            }
            aligned.push(line);
        }
        if aligned.iter().all(|line| width(line) <= WIDTH) {
            let (start, end) = (first.start, last.end);
            self.text.replace_range(start..end, &aligned.join("\n"));
        }
    }
}
