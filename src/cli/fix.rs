//! Applies fixes for `chartc check --fix`, and formats differences for it and for `chartc fmt --diff`.

use super::Exit;
use super::files::Files;
use super::output::{StyledText, complain, print, print_made};
use super::save::write;
use crate::disk::is_marked;
use crate::report::Terminal;
use chartc_check::compile::Compilation;
use chartc_check::fix::{Extent, Fixed, fix};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::load::Loader;
use similar::{ChangeTag, TextDiff};
use std::path::Path;

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
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let count = fixed.count;
    format!("{what} {count} finding{} in {files} file{}", plural(count), plural(files))
}

/// The differences between two texts of a file, in the unified format.
pub(super) fn difference(name: &str, old: &str, new: &str, terminal: Terminal) -> StyledText {
    let mut out = StyledText::on(terminal);
    out.styled("1", format!("--- {name}"));
    out.styled("1", format!("+++ {name}"));
    let diff = TextDiff::from_lines(old, new);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        out.styled("36", hunk.header().to_string());
        for change in hunk.iter_changes() {
            let (sign, colour) = match change.tag() {
                ChangeTag::Delete => ("-", "31"),
                ChangeTag::Insert => ("+", "32"),
                ChangeTag::Equal => (" ", ""),
            };
            let line = change.value();
            let text = line.strip_suffix('\n').unwrap_or(line);
            out.styled(colour, format!("{sign}{}", text.strip_suffix('\r').unwrap_or(text)));
            if !line.ends_with('\n') {
                out.line("\\ No newline at end of file");
            }
        }
    }
    out
}
