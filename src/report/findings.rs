//! The findings that a report prints, and which of them it leaves out.

use chartc_compiler::allow::Suppressed;
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity};
use chartc_compiler::syntax::source::{FileId, Position, Sources, Span};
use chartc_core::visible;
use chartc_core::wording::counted;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A format of findings.
#[derive(Debug)]
pub struct Report {
    /// The name, as given to `--format`.
    pub name: &'static str,
    /// Formats all findings in the given order, with header and summary if the format has them. The result is empty or ends in a newline.
    pub format: fn(&Findings<'_>) -> String,
}

impl Report {
    /// Formats findings, where an error fails the check and nothing else does.
    pub fn render(
        &self,
        diagnostics: &[Diagnostic],
        sources: &Sources,
        terminal: Terminal,
    ) -> String {
        (self.format)(&Findings::new(diagnostics, sources, terminal))
    }
}

/// The input of a [`Report`].
#[derive(Debug, Clone, Copy)]
pub struct Findings<'f> {
    /// The findings, by file and position.
    pub diagnostics: &'f [Diagnostic],
    /// The findings that comments suppress.
    pub suppressed: &'f [Suppressed],
    /// The sources that the spans refer to.
    pub sources: &'f Sources,
    /// The lowest level that fails the check, by index of the source. Sources without an entry have `Severity::Error`.
    pub bars: &'f [Severity],
    /// The properties of the output.
    pub terminal: Terminal,
}

impl<'f> Findings<'f> {
    /// Findings without suppressed ones, where an error fails the check and nothing else does.
    pub fn new(diagnostics: &'f [Diagnostic], sources: &'f Sources, terminal: Terminal) -> Self {
        Self { diagnostics, suppressed: &[], sources, bars: &[], terminal }
    }

    /// Whether a finding fails the check.
    pub fn fails(&self, found: &Diagnostic) -> bool {
        let bar = self.bars.get(found.span.file.0 as usize).copied();
        found.severity >= bar.unwrap_or(Severity::Error)
    }
}

/// The capabilities of the output.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Whether the output shows colours.
    pub colour: bool,
    /// The width in columns.
    pub width: usize,
}

/// Counts the findings, as in `2 errors, 1 warning in 3 files`. `files` is the number of files to name.
pub fn summary(diagnostics: &[Diagnostic], files: usize) -> String {
    let all =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
            .into_iter()
            .map(|(severity, word)| {
                (diagnostics.iter().filter(|d| d.severity == severity).count(), word)
            })
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| counted(count, word))
            .collect::<Vec<_>>();
    let found = if all.is_empty() { "no findings".to_owned() } else { all.join(", ") };
    format!("{found} in {}", counted(files, "file"))
}

/// The maximum number of findings of one file that are shown to people. The others are counted.
const MOST_SHOWN: usize = 100;

/// The maximum size of a message that is shown, in bytes. A name in a message may be as long as its file.
const LONGEST_MESSAGE: usize = 400;

/// Selects the findings to show, in their order. Returns them, and the number of findings left out, by file. Those left out are the least
/// severe, and of equal ones the last.
pub(super) fn shown(diagnostics: &[Diagnostic]) -> (Vec<&Diagnostic>, BTreeMap<FileId, usize>) {
    let mut files: BTreeMap<FileId, Vec<usize>> = BTreeMap::new();
    for (i, found) in diagnostics.iter().enumerate() {
        files.entry(found.span.file).or_default().push(i);
    }
    let mut left_out = BTreeMap::new();
    let mut kept = Vec::new();
    for (file, mut found) in files {
        if found.len() > MOST_SHOWN {
            left_out.insert(file, found.len() - MOST_SHOWN);
            found.sort_by_key(|i| Reverse(diagnostics[*i].severity));
            found.truncate(MOST_SHOWN);
        }
        kept.extend(found);
    }
    // The files were taken one by one and sorted by severity: restore the given order.
    kept.sort_unstable();
    (kept.into_iter().map(|i| &diagnostics[i]).collect(), left_out)
}

/// Formats a line for each file of which findings are not shown, with their number.
pub(super) fn more(left_out: &BTreeMap<FileId, usize>, sources: &Sources) -> String {
    let line = |(file, count): (&FileId, &usize)| {
        let name = &sources.get(*file).name;
        format!("{}: {} more not shown\n", visible::line(name), counted(*count, "finding"))
    };
    left_out.iter().map(line).collect()
}

/// Replaces the middle of a message over [`LONGEST_MESSAGE`] by `…`.
pub(super) fn cut(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST_MESSAGE {
        return Cow::Borrowed(message);
    }
    let head = message.floor_char_boundary(LONGEST_MESSAGE / 2);
    let tail = message.ceil_char_boundary(message.len() - LONGEST_MESSAGE / 4);
    Cow::Owned(format!("{}…{}", &message[..head], &message[tail..]))
}

/// The start and end of a span, as line and column.
pub(super) fn positions(span: Span, sources: &Sources) -> (Position, Position) {
    let source = sources.get(span.file);
    (source.position(span.start), source.position(span.end))
}

/// Computes a fingerprint for each finding, 32 hexadecimal digits. It covers the rule, the file, the trimmed text of the finding's first
/// line, and a counter of findings that agree in all of these.
pub(crate) fn fingerprints<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &Sources,
    named: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut seen: BTreeMap<(&str, String, &str), usize> = BTreeMap::new();
    let one = |found: &'d Diagnostic| {
        let source = sources.get(found.span.file);
        let (start, _) = positions(found.span, sources);
        let line = source.text[source.line(start.line)].trim();
        let (code, file) = (found.rule.code, named(&source.name));
        let nth = seen.entry((code, file.clone(), line)).or_default();
        *nth += 1;
        let parts = [code, &file, line, &nth.to_string()].join("\0");
        format!("{:032x}", hash(parts.as_bytes()))
    };
    diagnostics.into_iter().map(one).collect()
}

/// FNV-1a with 128 bits. It stays the same in all versions of Rust, unlike `DefaultHasher`.
pub(super) fn hash(bytes: &[u8]) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;
    bytes.iter().fold(START, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
