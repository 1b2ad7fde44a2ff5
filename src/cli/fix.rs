//! Applies fixes for `chartc check --fix`, and the command `chartc fmt`: both change files, or show what they would change.

use super::files::{Files, Root, STDIN, write};
use super::output::{
    Colour, Exit, StyledText, complain, complain_report, print, print_made, say, terminal,
};
use crate::disk::is_marked;
use crate::report::REPORTS;
use crate::report::Terminal;
use chartc_compiler::compile::Compilation;
use chartc_compiler::fix::{Extent, Fixed, fix};
use chartc_compiler::front::load::Loader;
use chartc_compiler::front::{Alone, chart};
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity};
use chartc_compiler::syntax::source::{Source, Sources};
use chartc_core::wording::counted;
use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};
use std::ops::Range;
use std::path::Path;

/// The number of unchanged lines around a change that are shown.
const CONTEXT: u32 = 3;

/// The options of fixes.
#[derive(Debug, clap::Args)]
pub(super) struct Fixing {
    /// Apply the safe fixes to the files, and report what is left; with -, print the fixed text
    #[arg(long, conflicts_with_all = ["cost"])]
    fix: bool,
    /// Apply the other fixes, too: review what they change
    #[arg(long, conflicts_with_all = ["cost"])]
    unsafe_fixes: bool,
    /// Change nothing: show what --fix would change
    #[arg(long, conflicts_with_all = ["cost"])]
    diff: bool,
}

/// The result of fixing.
pub(super) enum Outcome {
    /// Everything has been shown, and the command ends.
    Shown(Exit),
    /// The files are written, and standard input is on standard output. The remaining findings have to be reported, then the summary of
    /// what was fixed, if anything was.
    Applied(Box<Compilation>, Option<String>),
}

impl Fixing {
    /// Whether any of the options was given.
    pub(super) fn is_asked(&self) -> bool {
        self.fix || self.diff || self.unsafe_fixes
    }

    /// Prints standard input unchanged.
    ///
    /// # Errors
    /// Standard input cannot be read, or standard output cannot be written.
    pub(super) fn keep(&self, files: &Files, stdin: &str) -> miette::Result<Exit> {
        let text =
            files.read(stdin).map_err(|why| miette::miette!("cannot read {stdin}: {why}"))?;
        if !self.diff {
            print_made(&text)?;
        }
        Ok(Exit::Clean)
    }

    /// Fixes the files, or shows the differences. `counts` selects the findings to fix. `states` is the maximum to explore for a file.
    ///
    /// # Errors
    /// `--unsafe-fixes` was given alone, or a file could not be written.
    pub(super) fn apply(
        &self,
        files: &Files,
        states: &dyn Fn(&str) -> usize,
        counts: &dyn Fn(&str, &Diagnostic) -> bool,
        terminal: Terminal,
    ) -> miette::Result<Outcome> {
        if !self.fix && !self.diff {
            return Err(miette::miette!(
                help = "add --fix to apply them, or --diff to see them",
                "--unsafe-fixes changes nothing by itself"
            ));
        }
        let extent = if self.unsafe_fixes { Extent::All } else { Extent::Safe };
        let counts = |done: &Compilation, found: &Diagnostic| {
            counts(&done.sources.get(found.span.file).name, found)
        };
        let fixed = fix(files.names(), files, states, extent, &counts);
        let changes = fixed.texts.iter().map(|(name, new)| (name, &fixed.originals[name], new));
        let changed: Vec<_> = changes.filter(|(_, old, new)| old != new).collect();
        if self.diff {
            for (name, old, new) in &changed {
                print(&difference(name, old, new, terminal))?;
            }
            complain(said("would fix", &fixed, changed.len()));
            let exit = if changed.is_empty() { Exit::Clean } else { Exit::Findings };
            return Ok(Outcome::Shown(exit));
        }
        for (name, _, new) in &changed {
            if Some(name.as_str()) != files.stdin() {
                let path = Path::new(name);
                // Reading removed the byte order mark: keep the file as its editor wrote it.
                let mark = if is_marked(path) { "\u{feff}" } else { "" };
                write(path, &format!("{mark}{new}"))?;
            }
        }
        let summary = (!changed.is_empty()).then(|| said("fixed", &fixed, changed.len()));
        if let Some(stdin) = files.stdin() {
            let text = fixed.texts.get(stdin).or_else(|| fixed.originals.get(stdin));
            print_made(text.map_or("", String::as_str))?;
        }
        Ok(Outcome::Applied(Box::new(fixed.done), summary))
    }
}

fn said(what: &str, fixed: &Fixed, files: usize) -> String {
    format!("{what} {} in {}", counted(fixed.count, "finding"), counted(files, "file"))
}

/// The differences between two texts of a file, in the unified format.
pub(super) fn difference(name: &str, old: &str, new: &str, terminal: Terminal) -> StyledText {
    let mut out = StyledText::on(terminal);
    out.styled("1", format!("--- {name}"));
    out.styled("1", format!("+++ {name}"));
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let changes: Vec<Hunk> = diff.hunks().collect();
    let mut put = |colour: &str, text: String| out.styled(colour, text);
    let lines = |put: &mut dyn FnMut(&str, String), colour: &str, sign: char, tokens: &[Token]| {
        for token in tokens {
            let line = input.interner[*token];
            let text = line.strip_suffix('\n').unwrap_or(line);
            put(colour, format!("{sign}{}", text.strip_suffix('\r').unwrap_or(text)));
            if !line.ends_with('\n') {
                put("", "\\ No newline at end of file".to_owned());
            }
        }
    };
    // Changes whose surroundings touch are shown together.
    for part in changes.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        let (first, last) = (&part[0], &part[part.len() - 1]);
        let from = first.before.start.saturating_sub(CONTEXT);
        let until = (last.before.end + CONTEXT).min(input.before.len() as u32);
        let (before, behind) = (first.before.start - from, until - last.before.end);
        let new = first.after.start - before..last.after.end + behind;
        put("36", format!("@@ -{} +{} @@", place(&(from..until)), place(&new)));
        let mut at = from;
        for change in part {
            lines(&mut put, "", ' ', &input.before[range(at..change.before.start)]);
            lines(&mut put, "31", '-', &input.before[range(change.before.clone())]);
            lines(&mut put, "32", '+', &input.after[range(change.after.clone())]);
            at = change.before.end;
        }
        lines(&mut put, "", ' ', &input.before[range(at..until)]);
    }
    out
}

/// The first line and the number of lines of a part, as its header has them.
fn place(lines: &Range<u32>) -> String {
    match lines.len() {
        // An empty part has the number of the line before it.
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn range(lines: Range<u32>) -> Range<usize> {
    lines.start as usize..lines.end as usize
}

// The command `chartc fmt`.

/// Format charts: indentation, spaces and line breaks; comments are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc fmt                     every *.chart below this folder
  chartc fmt charts/ my.chart    some files and folders
  chartc fmt --check             only list the files that are not formatted
  chartc fmt --diff              only show what would change
  cat my.chart | chartc fmt -    standard input to standard output

Exit codes: 0 formatted, 1 errors in a file or, with --check or --diff, unformatted files, 2 wrong usage,
3 internal error, 4 no chart found")]
pub(super) struct Args {
    /// Files, folders, or - for standard input [default: this folder]
    paths: Vec<String>,
    /// Change nothing; list the files that would change
    #[arg(long)]
    check: bool,
    /// Change nothing; show what would change
    #[arg(long)]
    diff: bool,
}

/// The result of formatting one text.
#[derive(Debug)]
pub(super) enum Formatted {
    /// The text is already formatted.
    Same,
    /// The formatted text.
    Changed(String),
    /// The errors for which the text cannot be formatted.
    Broken(Vec<Diagnostic>, Sources),
    /// The formatted text could not be parsed, or formats differently: an error in chartc.
    Failed,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let files = Files::find(&args.paths, &Root::default())?;
    let charts = files.names().iter();
    let charts: Vec<&String> =
        charts.filter(|file| *file == STDIN || (chart::FRONTEND.takes)(file)).collect();
    if charts.is_empty() {
        complain("nothing to format: no *.chart found here; name a file or a folder");
        return Ok(Exit::Nothing);
    }
    let mut exit = Exit::Clean;
    for file in charts {
        let text = match files.read(file) {
            Ok(text) => text,
            Err(why) if files.is_found(file) => {
                complain(format!("error: cannot read {file}: {why}"));
                exit = Exit::Findings;
                continue;
            }
            Err(why) => return Err(miette::miette!("cannot read {file}: {why}")),
        };
        match formatted(file, &text) {
            Formatted::Failed => {
                return Err(miette::miette!(
                    "{file} cannot be formatted; this is an error in chartc"
                ));
            }
            Formatted::Broken(findings, sources) => {
                complain_report(&REPORTS[0].render(&findings, &sources, terminal(Colour::Auto)));
                exit = Exit::Findings;
            }
            Formatted::Changed(new) if args.check || args.diff => {
                if args.diff {
                    print(&difference(file, &text, &new, terminal(Colour::Auto)))?;
                } else {
                    say(file)?;
                }
                exit = Exit::Findings;
            }
            Formatted::Changed(new) if file == STDIN => print_made(&new)?,
            Formatted::Same if file == STDIN && !args.check && !args.diff => print_made(&text)?,
            Formatted::Changed(new) => write(Path::new(file), &new)?,
            Formatted::Same => {}
        }
    }
    Ok(exit)
}

/// Formats the text of a file. The result is parsed and printed again, so that no file is overwritten with text that chartc cannot parse.
pub(super) fn formatted(file: &str, text: &str) -> Formatted {
    let mut sources = Sources::default();
    let id = sources.add(Source::new(file, text));
    let mut findings = Vec::new();
    let parse = chart::FRONTEND.parse;
    let tree = parse(id, sources.get(id), &mut Alone, &mut findings);
    if !findings.is_empty() {
        return Formatted::Broken(findings, sources);
    }
    let new = chartc_compiler::syntax::print::print(&tree);
    let mut raw = chartc_compiler::confusables::unwritable(&tree, sources.get(id), &new);
    if file != STDIN {
        // A file may keep hidden characters that do not mislead: they are in it already. Standard output would show them raw.
        raw.retain(|found| found.severity == Severity::Error);
    }
    if !raw.is_empty() {
        return Formatted::Broken(raw, sources);
    }
    let again = parse(id, &Source::new(file, new.as_str()), &mut Alone, &mut findings);
    if !findings.is_empty() || chartc_compiler::syntax::print::print(&again) != new {
        return Formatted::Failed;
    }
    if new == text { Formatted::Same } else { Formatted::Changed(new) }
}
