//! Compiles the charts that agents write: a [`Workshop`] that reads artifacts and never opens a file.

mod loader;

use chartc_check::compile::{Checked, Compilation, check_within};
use chartc_core::model::Chart;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::rules::{EMPTY_FILE, UNREADABLE_FILE};
use chartc_text::source::Sources;
use chartc_text::span::FileId;
use chartc_world::{Family, Finding, Form, Read, Workshop};
use loader::ArtifactLoader;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of findings that a writer gets. If there are more, one further finding gives the number of the others.
pub const MOST_FINDINGS: usize = 20;
/// The maximum size of one text, in bytes.
pub const MOST_BYTES: usize = 64 * 1024;
/// The maximum size of a text and everything that it imports, in bytes.
pub const MOST_BYTES_TOGETHER: usize = 4 * MOST_BYTES;
/// The maximum number of artifacts that are read to compile one, itself included.
pub const MOST_ARTIFACTS: usize = 32;

/// The number of states, transitions and steps that every chart may have. It may have one more for each [`BYTES_PER_LINE`] bytes of its
/// text. Without this bound a short text makes a large chart: one `each after` line is a transition of every leaf.
const LINES: usize = 200;
const BYTES_PER_LINE: usize = 8;
/// The code of the finding about a chart that has too many states, transitions and steps for the length of its text.
pub const TOO_LARGE: &str = "too_large";

/// Compiles the charts of artifacts.
///
/// An import or a component names another artifact by its id. No file is opened, and an agent has no system prompt but the one in its text.
/// Tests and `check` lines are parsed but not run, and nothing is explored. An artifact with any error is refused; warnings are dropped.
///
/// The chart that runs is the one named like the artifact (`price_oracle` and `PriceOracle` are the same name), else the first.
///
/// ```
/// use chartc::chart_compiler::Compiler;
/// use chartc_world::{Form, Workshop};
///
/// let text = "chart Door {\n  event open\n  initial closed\n  state closed { on opne -> opened }\n  final opened\n}\n";
/// let found = Compiler.build("door", Form::Chart, text, &|_| None).expect_err("a typo");
/// assert_eq!((found[0].code.as_str(), found[0].line, found[0].column), ("C0102", 4, 21));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Compiler;

impl Workshop for Compiler {
    fn build(
        &self,
        id: &str,
        form: Form,
        text: &str,
        read: Read<'_>,
    ) -> Result<Arc<Family>, Vec<Finding>> {
        let loader = ArtifactLoader::new(id, form, text, read);
        let root = loader.root().to_owned();
        let done = check_within(std::slice::from_ref(&root), &loader, 0);
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        let told = Telling { done: &done, loader: &loader };
        let errors: Vec<&Diagnostic> = done.diagnostics.iter().filter(is_error).collect();
        if !errors.is_empty() {
            return Err(told.all(&errors));
        }
        match chosen(id, &done.charts) {
            Some(checked) => {
                let family = checked.family();
                let (lines, most) = (lines(&family), LINES + loader.bytes() / BYTES_PER_LINE);
                if lines > most {
                    let text = format!(
                        "it has {lines} states, lines and steps, and may have {most} for its length"
                    );
                    return Err(vec![Finding { code: TOO_LARGE.into(), line: 1, column: 1, text }]);
                }
                Ok(Arc::new(Family { charts: family.into_iter().cloned().collect() }))
            }
            None if done.diagnostics.is_empty() => Err(vec![Finding {
                code: EMPTY_FILE.code.into(),
                line: 1,
                column: 1,
                text: format!("there is no chart in `{id}`"),
            }]),
            None => Err(told.all(&done.diagnostics.iter().collect::<Vec<_>>())),
        }
    }
}

/// The number of states, transitions and steps of all charts.
fn lines(charts: &[&Chart]) -> usize {
    charts.iter().map(|one| one.states.len() + one.transitions.len() + one.steps.len()).sum()
}

/// Selects the chart that is named like the artifact, else the first. Case and punctuation do not matter.
fn chosen<'c>(id: &str, charts: &'c [Checked]) -> Option<&'c Checked> {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let id = plain(id);
    charts.iter().find(|checked| plain(&checked.chart().name) == id).or(charts.first())
}

/// Turns diagnostics into the findings that the writer gets.
struct Telling<'t> {
    done: &'t Compilation,
    loader: &'t ArtifactLoader<'t>,
}

impl Telling<'_> {
    fn all(&self, found: &[&Diagnostic]) -> Vec<Finding> {
        // Diagnostics are ordered by file and place: those of the writer's own text, file 0, come first.
        let mut all: Vec<Finding> =
            found.iter().take(MOST_FINDINGS).map(|one| self.one(one)).collect();
        if let Some(last) = all.last().cloned()
            && found.len() > MOST_FINDINGS
        {
            let text = format!("{} more findings are not told", found.len() - MOST_FINDINGS);
            all.push(Finding { text, ..last });
        }
        all
    }

    fn one(&self, found: &Diagnostic) -> Finding {
        let sources: &Sources = &self.done.sources;
        let source = sources.get(found.span.file);
        let place = source.position(found.span.start);
        let mut text = found.message.clone();
        // The help about an unreadable file speaks of folders, and artifacts have none.
        if let Some(help) = &found.help
            && found.rule.code != UNREADABLE_FILE.code
        {
            text = format!("{text}; {help}");
        }
        if found.span.file == FileId(0) {
            let (line, column) = (place.line, place.column);
            return Finding { code: found.rule.code.into(), line, column, text };
        }
        // The finding is in another artifact: report it at the import, which the writer can change.
        let other = self.loader.id_of(&source.name).unwrap_or_else(|| source.name.clone());
        let from = self.imports().get(&other).copied().unwrap_or(0);
        let at = sources.get(FileId(0)).position(from);
        let text = format!("in `{other}`, {}:{}: {text}", place.line, place.column);
        Finding { code: found.rule.code.into(), line: at.line, column: at.column, text }
    }

    /// The offset of each import in the writer's own text, by the id of the imported artifact.
    fn imports(&self) -> BTreeMap<String, u32> {
        let Some(file) = self.done.files.first() else { return BTreeMap::new() };
        file.imports().map(|path| (path.node.clone(), path.span.start)).collect()
    }
}
