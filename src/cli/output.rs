//! Writes to the terminal. No other module does.
//!
//! Output may contain text from models, servers, charts and files. [`StyledText`] takes it line by line and adds the colours itself,
//! so that no such text moves the cursor, changes colours, begins a line, or is a command for the build server that reads the output. [`say`] and [`complain`] do the same for single lines.
//! Generated text, JSON and reports are already escaped, and have functions of their own.

#![allow(clippy::disallowed_methods, reason = "the environment says what the terminal can show")]

use crate::report::Terminal;
use chartc_compiler::lower::SourceMap;
use chartc_compiler::syntax::source::Sources;
use chartc_core::arena::TransitionId;
use chartc_core::model::{Chart, Trigger};
use chartc_core::visible;
use std::io::{ErrorKind, IsTerminal, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The choice of when output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The properties of standard output.
pub fn terminal(colour: Colour) -> Terminal {
    let colour = match colour {
        Colour::Auto => is_coloured(Stream::Output),
        Colour::Always => true,
        Colour::Never => false,
    };
    Terminal { colour, width: columns() }
}

/// One of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Whether standard output is a terminal.
#[cfg(feature = "run")]
pub fn is_seen() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether a stream shows colours by default: it is a terminal, and `NO_COLOR` is not set.
pub fn is_coloured(stream: Stream) -> bool {
    let terminal = match stream {
        Stream::Output => std::io::stdout().is_terminal(),
        Stream::Error => std::io::stderr().is_terminal(),
    };
    terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Whether the terminal shows characters beyond ASCII, such as blocks: it does unless the environment names an encoding other than UTF-8.
#[cfg(feature = "run")]
pub fn is_unicode() -> bool {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(std::env::var_os);
    let said = said.map(|value| value.to_string_lossy().to_lowercase());
    let first = said.into_iter().find(|value| !value.is_empty());
    first.is_none_or(|value| value.contains("utf-8") || value.contains("utf8"))
}

/// The width of standard output in columns: the variable `COLUMNS`, else the width of the terminal, else 100; at least 40 and at most 200.
pub fn columns() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let is = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    said.or_else(is).unwrap_or(100).clamp(40, 200)
}

/// Text for people, built line by line.
#[derive(Debug, Default)]
pub struct StyledText {
    text: String,
    colour: bool,
}

impl StyledText {
    /// Creates an empty text, with colours if the terminal shows them.
    pub fn on(terminal: Terminal) -> Self {
        Self { text: String::new(), colour: terminal.colour }
    }

    /// Adds a line. Line ends and control characters in `text` are escaped.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.styled("", text);
    }

    /// Adds a line in a style. `code` is what stands between `ESC [` and `m`; empty for none.
    pub fn styled(&mut self, code: &str, text: impl AsRef<str>) {
        let text = visible::line(text.as_ref());
        let text = visible::inert(&text);
        if self.colour && !code.is_empty() {
            self.text.push_str(&format!("\x1b[{code}m{text}\x1b[0m\n"));
        } else {
            self.text.push_str(&text);
            self.text.push('\n');
        }
    }

    /// Adds a line that begins with a styled word of the program.
    pub fn led(&mut self, code: &str, word: &'static str, text: impl AsRef<str>) {
        let text = visible::line(text.as_ref());
        let text = visible::inert(&text);
        if self.colour {
            self.text.push_str(&format!("\x1b[{code}m{word}\x1b[0m{text}\n"));
        } else {
            self.text.push_str(&format!("{word}{text}\n"));
        }
    }

    /// Adds a line with a name and what it says, unless it says nothing.
    #[cfg(feature = "run")]
    pub fn row(&mut self, name: &str, text: impl AsRef<str>) {
        if !text.as_ref().is_empty() {
            self.line(format!("  {name:<12}{}", text.as_ref()));
        }
    }

    /// Adds each line of `text` behind `margin`, which should be one that no other line begins with.
    pub fn block(&mut self, margin: &str, text: &str) {
        for line in text.split('\n') {
            self.line(format!("{margin}{line}").trim_end());
        }
    }

    /// Adds the lines of another text.
    pub fn add(&mut self, other: &Self) {
        self.text.push_str(&other.text);
    }

    /// Whether nothing has been added.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with its escape sequences.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Writes a text to standard output, with its colours.
///
/// # Errors
/// Standard output cannot be written, for example because the disk is full. A reader that closes the pipe (`chartc … | head`) is
/// not an error.
pub fn print(page: &StyledText) -> miette::Result<()> {
    write(&page.text)
}

/// Writes a line to standard output.
///
/// # Errors
/// As [`print()`].
pub fn say(text: impl AsRef<str>) -> miette::Result<()> {
    let mut page = StyledText::default();
    page.line(text);
    print(&page)
}

/// Starts a new page of output: clears a terminal, and otherwise writes a separator.
///
/// # Errors
/// As [`print()`].
pub fn begin_anew() -> miette::Result<()> {
    if std::io::stdout().is_terminal() { write("\x1b[2J\x1b[3J\x1b[H") } else { say("----") }
}

/// Writes JSON to standard output.
///
/// # Errors
/// As [`print()`].
pub fn print_json(text: &str) -> miette::Result<()> {
    write(&visible::json(text))
}

/// Writes text that is already escaped to standard output, without colours: generated code, a chart, a picture.
///
/// # Errors
/// As [`print()`].
pub fn print_made(text: &str) -> miette::Result<()> {
    write(&visible::text(text))
}

/// Writes text that is already escaped and coloured to standard output: a report, an outline.
///
/// # Errors
/// As [`print()`].
pub fn print_coloured(text: &str) -> miette::Result<()> {
    write(&visible::coloured(text))
}

/// Asks a person: writes a text to standard output, then a prompt for the answer.
///
/// # Errors
/// As [`print()`].
#[cfg(feature = "run")]
pub fn ask(page: &StyledText, words: &str) -> miette::Result<()> {
    write(&format!("\n{}{}> ", page.text, visible::line(words)))
}

/// Standard output for bytes that are already escaped: the lines of a trace.
#[cfg(feature = "run")]
pub fn raw() -> impl Write {
    std::io::stdout()
}

/// Standard output for the messages of a protocol, which a program reads.
#[cfg(feature = "lsp")]
pub(super) fn protocol() -> impl Write {
    std::io::stdout()
}

fn write(text: &str) -> miette::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => {
            Err(miette::miette!("cannot write to standard output: {fault}"))
        }
        _ => Ok(()),
    }
}

/// Writes a message to standard error, and indents all lines but the first. Errors are ignored, because there is nowhere to report them.
pub fn complain(text: impl AsRef<str>) {
    let mut page = StyledText::default();
    for (nth, line) in text.as_ref().lines().enumerate() {
        let margin = if nth == 0 || line.starts_with(' ') { "" } else { "  " };
        page.line(format!("{margin}{line}"));
    }
    complain_page(&page);
}

/// Writes a text to standard error, as [`complain`].
pub fn complain_page(page: &StyledText) {
    let _ = std::io::stderr().write_all(page.text.as_bytes());
}

/// Writes a report to standard error, as [`print_coloured`] and [`complain`].
pub fn complain_report(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible::coloured(text.trim_end()));
}

/// The status line at the bottom of a terminal, on standard error.
#[cfg(feature = "run")]
pub mod foot {
    use super::{IsTerminal, UnicodeWidthChar, Write, visible};

    /// Whether standard error is a terminal, so that the line can be drawn.
    pub fn is_there() -> bool {
        std::io::stderr().is_terminal()
    }

    /// Erases the line.
    ///
    /// # Errors
    /// Standard error cannot be written.
    pub fn wipe() -> std::io::Result<()> {
        std::io::stderr().write_all(b"\r\x1b[K")
    }

    /// Draws the line, cut to the width of the terminal.
    ///
    /// # Errors
    /// Standard error cannot be written.
    pub fn draw(text: &str) -> std::io::Result<()> {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        let text = visible::line(text);
        let mut used = 0;
        let fits = |c: &char| {
            used += c.width().unwrap_or(0);
            // The last column stays free: some terminals wrap the line when it is written.
            used < width
        };
        let line: String = text.chars().take_while(fits).collect();
        let mut out = std::io::stderr().lock();
        write!(out, "\r\x1b[K\x1b[2m{line}\x1b[0m")?;
        out.flush()
    }
}

// Aligns text in columns. Padding is written as blanks, not with `{:width$}`, which panics for widths over 65,535.

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
pub(super) fn align_columns(head: &[&str], rows: &[Vec<String>], right: &[usize]) -> StyledText {
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

// Formats lines of a chart for messages.

/// The maximum number of characters of a line that are shown.
const SHOWN: usize = 70;

/// The line number of a transition, and its source text on one line, shortened. An outcome of a step is shown with the name of the step.
pub(super) fn line(
    chart: &Chart,
    map: &SourceMap,
    id: TransitionId,
    sources: &Sources,
) -> (usize, String) {
    let span = map.transition(id).whole;
    let source = sources.get(span.file);
    let text = source.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let trigger = &chart.transition(id).trigger;
    let of = trigger.step().map(|step| chart.steps[step.index()].name.as_str());
    let is_else = matches!(trigger, Trigger::StepElse(_));
    let is_target =
        map.transition(id).targets.first().is_some_and(|target| target.start == span.start);
    let text = match of {
        Some(step) if is_else => format!("else {text}  (of {step})"),
        Some(step) if is_target => format!("-> {text}  (of {step})"),
        Some(_) | None => text,
    };
    (source.position(span.start).line, text)
}

/// The result of a command. Its number is the exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// There are no diagnostics that matter.
    Clean = 0,
    /// There are diagnostics at or above the chosen level, or the run did not end well.
    Findings = 1,
    /// The command was used wrongly.
    Usage = 2,
    /// An internal error of chartc.
    Internal = 3,
    /// There is no file to work on.
    Nothing = 4,
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
        let table = align_columns(&["name", "n", ""], &rows, &[1]);
        let widths: Vec<usize> = table.as_str().lines().map(width).collect();
        assert_eq!(widths, [2 + 80 + 2 + 2, 2 + 80 + 2 + 2 + 2 + 400, 2 + 80 + 2 + 2 + 2 + 1]);
    }
}
