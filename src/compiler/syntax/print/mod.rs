//! Prints syntax as `.chart` text with comments, for `chartc fmt` and `chartc convert`.
//!
//! Printed text parses to the same syntax, except for spans and the place of a few comments. Printing it again changes nothing. Items are
//! printed in order into one text; a body goes on one line if its layout permits that and it fits. For example:
//!
//! ```text
//! state a{on go->b // soon       state a {
//! may buy "to pay" -> c            on go -> b  // soon
//! may leave->d}                    may buy   "to pay" -> c
//!                                  may leave          -> d    the columns of adjacent `may` lines are aligned
//!                                }
//! ```
//!
//! | module | prints |
//! |---|---|
//! | this one | lines, bodies, comments, docs, blank lines; aligned columns |
//! | `items` | declarations, states, transitions, steps, statements, actions, tests |
//! | `expr` | expressions and types, texts and names |

mod expr;
mod items;

use super::{Comment, Noted};
use crate::syntax;

/// Prints a file as `chartc fmt` does, without the parts that recovery skipped.
pub fn print(file: &syntax::File) -> String {
    let mut out = Out::default();
    out.lines(&file.items, items::top_item);
    out.comments(&file.end, !file.items.is_empty());
    out.text
}

// The printed text: lines, indentation, bodies, comments.

/// The width, in characters, beyond which lines are broken where possible.
const WIDTH: usize = 100;

/// The text printed so far, and the state of the current line.
#[derive(Debug, Default)]
struct Out {
    /// Whole lines, and the start of the current line.
    text: String,
    /// The level of indentation of the current line.
    level: usize,
    /// The offsets at which columns of the current line end. [`Out::align`] aligns them with those of adjacent lines.
    stops: Vec<usize>,
}

/// The layout of a body whose items fit on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// On one line if there is only one item.
    Single,
    /// All items on one line.
    Row,
    /// One line for each item.
    Lines,
}

impl Out {
    /// Appends to the current line.
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The blanks of a level of indentation.
    fn indent(level: usize) -> String {
        "  ".repeat(level)
    }

    /// Whether `text` fits on the current line.
    fn fits(&self, text: &str) -> bool {
        let line = self.text.rfind('\n').map_or(0, |at| at + 1);
        let column = self.text[line..].chars().count();
        !text.contains('\n') && column + text.chars().count() <= WIDTH
    }

    /// Prints items, each on one or more lines, with their comments, docs and blank lines.
    fn lines<T>(&mut self, items: &[Noted<T>], mut print: impl FnMut(&mut Self, &T)) {
        let mut rows: Vec<ColumnLine> = Vec::new();
        for (n, item) in items.iter().enumerate() {
            if !follows(item) {
                self.align(&mut rows);
            }
            match self.line(item, n == 0, &mut print) {
                Some(row) => rows.push(row),
                None => self.align(&mut rows),
            }
        }
        self.align(&mut rows);
    }

    /// Prints one item. Returns its columns, if it has any and fits on one line.
    fn line<T>(
        &mut self,
        item: &Noted<T>,
        first: bool,
        print: impl FnOnce(&mut Self, &T),
    ) -> Option<ColumnLine> {
        if item.trivia.blank_before && !first {
            self.text.push('\n');
        }
        self.comments_before(&item.trivia.before);
        if item.trivia.blank_after && !item.trivia.before.is_empty() {
            self.text.push('\n');
        }
        if !item.doc.is_empty() {
            for line in item.doc.split('\n') {
                let blank = if line.is_empty() { "" } else { " " };
                self.own_line(&format!("///{blank}{}", one_line(line)));
            }
        }
        let start = self.text.len();
        self.push(&Self::indent(self.level));
        self.stops.clear();
        print(self, &item.node);
        let stops = std::mem::take(&mut self.stops);
        if let Some(comment) = &item.trivia.after {
            self.comment_after(start, comment);
        }
        let row = ColumnLine { start, end: self.text.len(), stops };
        self.text.push('\n');
        let single = !row.stops.is_empty() && !self.text[start..row.end].contains('\n');
        single.then_some(row)
    }

    fn comment_after(&mut self, start: usize, comment: &str) {
        let comment = one_line(comment);
        let end = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
        // Inside of a block string, the comment would become a part of the text: it goes above the item.
        let in_text = end < self.text.len() && self.text[start..end].ends_with("\"\"\"");
        if in_text {
            let line = format!("{}//{}\n", Self::indent(self.level), spaced(&comment));
            self.text.insert_str(start, &line);
        } else {
            self.text.insert_str(end, &format!("  //{comment}"));
        }
    }

    /// Prints the comments after the last item of a body. With `blank`, a blank line may precede the first one.
    fn comments(&mut self, comments: &[Comment], blank: bool) {
        for (n, comment) in comments.iter().enumerate() {
            if comment.blank_before && (blank || n > 0) {
                self.text.push('\n');
            }
            self.own_line(&format!("//{}", one_line(&comment.text)));
        }
    }

    fn comments_before(&mut self, comments: &[Comment]) {
        for (n, comment) in comments.iter().enumerate() {
            if comment.blank_before && n > 0 {
                self.text.push('\n');
            }
            self.own_line(&format!("//{}", spaced(&one_line(&comment.text))));
        }
    }

    fn own_line(&mut self, text: &str) {
        self.push(&Self::indent(self.level));
        self.push(text.trim_end());
        self.text.push('\n');
    }

    /// Prints `{ … }` with items: on one line if the layout permits it and no item has comments or docs.
    fn body<T>(
        &mut self,
        items: &[Noted<T>],
        end: &[Comment],
        layout: Layout,
        mut print: impl FnMut(&mut Self, &T),
    ) {
        if items.is_empty() && end.is_empty() {
            self.push("{ }");
            return;
        }
        let joins = match layout {
            Layout::Lines => false,
            Layout::Single => items.len() == 1,
            Layout::Row => true,
        };
        if joins && end.is_empty() && items.iter().all(is_bare) {
            let parts: Vec<String> =
                items.iter().map(|item| self.apart(|out| print(out, &item.node))).collect();
            let row = format!("{{ {} }}", parts.join("  "));
            if self.fits(&row) {
                self.push(&row);
                return;
            }
        }
        self.push("{\n");
        self.level += 1;
        self.lines(items, print);
        self.comments(end, !items.is_empty());
        self.level -= 1;
        self.push(&Self::indent(self.level));
        self.push("}");
    }

    /// Returns what `print` writes, one level deeper, as a separate text.
    fn apart(&mut self, print: impl FnOnce(&mut Self)) -> String {
        let before = std::mem::take(&mut self.text);
        self.level += 1;
        print(self);
        self.level -= 1;
        self.stops.clear();
        std::mem::replace(&mut self.text, before)
    }
}

/// Whether no blank line, comment or docs separate an item from the one before it.
fn follows<T>(item: &Noted<T>) -> bool {
    item.doc.is_empty() && item.trivia.before.is_empty() && !item.trivia.blank_before
}

/// Whether an item has neither comments nor docs.
fn is_bare<T>(item: &Noted<T>) -> bool {
    item.doc.is_empty() && item.trivia.before.is_empty() && item.trivia.after.is_none()
}

/// Adds a space to a comment that begins with one slash, which would otherwise become a doc comment.
fn spaced(comment: &str) -> String {
    if comment.starts_with('/') && !comment.starts_with("//") {
        format!(" {comment}")
    } else {
        comment.to_owned()
    }
}

/// Replaces the line ends of a comment with blanks.
fn one_line(comment: &str) -> String {
    comment.replace(['\n', '\r'], " ")
}

// Aligns columns: consecutive `may` transitions align their texts, guards and targets.

/// A printed line with columns.
#[derive(Debug)]
struct ColumnLine {
    /// The offset at which the line begins, indentation included.
    start: usize,
    /// The offset at which it ends.
    end: usize,
    /// The offsets at which its columns end, except the last one.
    stops: Vec<usize>,
}

impl ColumnLine {
    /// The texts of the columns, cut out of `text`.
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
    /// Ends a column of the current line.
    fn stop(&mut self) {
        self.stops.push(self.text.len());
    }

    /// Aligns the columns of `rows`. If lines become too long, a column may extend into an empty one after it; if that does not
    /// help, the lines stay as they are. The rows must be the last lines printed, apart from one item. Empties `rows`.
    fn align(&mut self, rows: &mut Vec<ColumnLine>) {
        let rows = std::mem::take(rows);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
        let lines: Vec<Vec<&str>> = rows.iter().map(|row| row.columns(&self.text)).collect();
        for reach in [Reach::Own, Reach::Empty] {
            let aligned = aligned(&lines, reach);
            if aligned.iter().all(|line| width(line) <= WIDTH) {
                let (start, end) = (first.start, last.end);
                self.text.replace_range(start..end, &aligned.join("\n"));
                return;
            }
        }
    }
}

/// The distance to which a column may extend.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// To the start of the next column.
    Own,
    /// Over an empty next column, too.
    Empty,
}

/// The lines with blanks added, so that their columns align.
fn aligned(lines: &[Vec<&str>], reach: Reach) -> Vec<String> {
    let mut texts = vec![String::new(); lines.len()];
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    for n in 0..count {
        let ends = |columns: &Vec<&str>| match reach {
            Reach::Own => columns.iter().skip(n).any(|c| !c.is_empty()),
            Reach::Empty => columns.get(n).is_some_and(|c| !c.is_empty()),
        };
        let all = texts.iter().zip(lines).filter(|(_, columns)| ends(columns));
        let stop = all.map(|(text, _)| width(text)).max().unwrap_or(0);
        for (text, columns) in texts.iter_mut().zip(lines).filter(|(_, columns)| ends(columns)) {
            let missing = stop.saturating_sub(width(text));
            text.extend(std::iter::repeat_n(' ', missing));
            text.push_str(columns.get(n).copied().unwrap_or_default());
        }
    }
    texts
}
