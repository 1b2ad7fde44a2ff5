//! The thread that checks. It has one job at a time. If a text changes meanwhile, the job ends early, and the session gives a new one.

use super::super::config::{self, Setting, Settings};
use super::texts::{Encoding, Overlay, Places, Texts};
use crate::Compilation;
use chartc_compiler::compile::{Outdated, check_unless};
use chartc_compiler::explore::STATES;
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity, Stage};
use chartc_compiler::syntax::source::{FileId, Sources, Span};
use chartc_core::visible;
use crossbeam_channel::{Receiver, Sender, unbounded};
use gen_lsp_types as lsp;
use gen_lsp_types::Uri;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The extent of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// All checks that need no exploration and no test.
    Quick,
    /// All checks of `chartc check`.
    Full,
}

/// A text to check, together with its imports and the tests beside it.
pub(super) struct Job {
    /// The address of the text.
    pub(super) uri: Uri,
    /// The names of the files to check.
    pub(super) names: Vec<String>,
    /// The texts and files as they are now.
    pub(super) overlay: Overlay,
    /// The settings in `chartc.toml` files.
    pub(super) settings: Arc<Settings>,
    /// The extent of the check.
    pub(super) depth: Depth,
    /// The number of the last change when the job was made.
    pub(super) change: u64,
}

/// A task for the thread.
enum Task {
    Check(Box<Job>),
    /// Drop a compilation. Freeing a large one takes a while, and its memory is reused best on the thread that allocated it.
    Forget(Arc<Compilation>),
}

/// The result of a job.
pub(super) struct Done {
    /// The address of the job's text.
    pub(super) uri: Uri,
    /// The extent of the job.
    pub(super) depth: Depth,
    /// The number of the last change when the job was made.
    pub(super) change: u64,
    /// The time that the job took.
    pub(super) took: Duration,
    /// The compilation, with findings at the levels that the project sets, or the reason why there is none.
    pub(super) result: Result<Compilation, Fault>,
}

/// The reason why a job has no proper result.
#[derive(Debug)]
pub(super) enum Fault {
    /// The settings of the project are wrong. The compilation has the default levels; names in it mean the same.
    Settings(String, Box<Compilation>),
    /// The check panicked, which is an error in chartc.
    Panic,
    /// The texts have changed since the job was made.
    Outdated,
}

/// A handle of the thread that checks. Dropping it waits for the thread to end.
pub(super) struct Checker {
    tasks: Option<Sender<Task>>,
    /// The results of jobs, in their order.
    pub(super) done: Receiver<Done>,
    /// The number of the last change of any text or file. The thread compares it with that of its job.
    change: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Checker {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system cannot start it.
    pub(super) fn start() -> io::Result<Self> {
        let (tasks, received) = unbounded();
        let (send, done) = unbounded();
        let change = Arc::new(AtomicU64::new(0));
        let last = Arc::clone(&change);
        let thread = Builder::new().spawn(move || {
            for task in received {
                match task {
                    Task::Check(job) => {
                        if send.send(work(*job, &last)).is_err() {
                            break;
                        }
                    }
                    Task::Forget(compilation) => drop(compilation),
                }
            }
        })?;
        Ok(Self { tasks: Some(tasks), done, change, thread: Some(thread) })
    }

    /// Tells the thread that a text or a file has changed, so that it ends jobs of earlier texts.
    pub(super) fn changed(&self, change: u64) {
        // `Relaxed` is enough: the number is compared for equality, and guards no other memory.
        self.change.store(change, Ordering::Relaxed);
    }

    /// Queues a job.
    pub(super) fn give(&self, job: Job) {
        self.send(Task::Check(Box::new(job)));
    }

    /// Queues a compilation to be dropped.
    pub(super) fn forget(&self, compilation: Arc<Compilation>) {
        self.send(Task::Forget(compilation));
    }

    fn send(&self, task: Task) {
        if let Some(tasks) = &self.tasks {
            // The thread ends only after the sender is dropped.
            drop(tasks.send(task));
        }
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        // Without a sender the thread's loop ends.
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "how long a check takes says how often to check")]
fn work(job: Job, last: &AtomicU64) -> Done {
    let began = Instant::now();
    let Job { uri, names, overlay, settings, depth, change } = job;
    let is_outdated = || last.load(Ordering::Relaxed) != change;
    let compiled = || compile(&names, &overlay, &settings, depth, &is_outdated);
    let result = catch_unwind(AssertUnwindSafe(compiled)).unwrap_or(Err(Fault::Panic));
    Done { uri, depth, change, took: began.elapsed(), result }
}

/// Checks as `chartc check` does, up to `depth`.
fn compile(
    names: &[String],
    overlay: &Overlay,
    settings: &Settings,
    depth: Depth,
    is_outdated: &(dyn Fn() -> bool + Sync),
) -> Result<Compilation, Fault> {
    let states = |name: &str| match depth {
        Depth::Quick => 0,
        Depth::Full => settings.for_file(name).map_or(STATES, |own| own.states),
    };
    let done = check_unless(names, overlay, &states, is_outdated);
    let mut done = done.map_err(|Outdated| Fault::Outdated)?;
    let silent = std::mem::take(&mut done.silent);
    let of_file = |(_, source): (_, &chartc_compiler::syntax::source::Source)| {
        settings.for_file(&source.name)
    };
    let own: Vec<Setting> = match done.sources.iter().map(of_file).collect::<Result<_, _>>() {
        Ok(own) => own,
        Err(fault) => return Err(Fault::Settings(format!("{fault}"), Box::new(done))),
    };
    if depth == Depth::Full {
        let plays = |file: FileId| !is_outdated() && own[file.0 as usize].plays;
        super::super::check::play(&mut done, &plays);
        if is_outdated() {
            return Err(Fault::Outdated);
        }
    }
    config::apply(|file| &own[file.0 as usize].levels, &mut done.diagnostics, silent);
    Ok(done)
}

// Converts findings to the types of the protocol.

/// Converts findings and spans to the types of the protocol.
pub(super) struct LspMapper<'p> {
    /// The sources that the spans refer to.
    pub(super) sources: &'p Sources,
    /// The unit in which the client counts columns.
    pub(super) encoding: Encoding,
    /// The addresses of files.
    pub(super) places: &'p Places,
    /// The addresses of open texts.
    pub(super) texts: &'p Texts,
}

impl LspMapper<'_> {
    /// The address of a file of the compilation. An open text keeps the address that the client gave it.
    pub(super) fn uri(&self, file: FileId) -> Option<lsp::Uri> {
        let name = &self.sources.get(file).name;
        let open = self.texts.named(name).map(|(uri, _)| uri.clone());
        open.or_else(|| self.places.uri(name))
    }

    /// The location of a span; `None` if its file has no address.
    pub(super) fn location(&self, span: Span) -> Option<lsp::Location> {
        let range = self.encoding.range(self.sources, span);
        Some(lsp::Location { uri: self.uri(span.file)?, range })
    }

    /// Converts a finding.
    pub(super) fn finding(&self, found: &Diagnostic) -> lsp::Diagnostic {
        let mut message = visible::text(&found.message).into_owned();
        if let Some(help) = &found.help {
            message = format!("{message}\nhelp: {}", visible::text(help));
        }
        let related = |(span, why): &(Span, String)| {
            let location = self.location(*span)?;
            let message = visible::text(why).into_owned();
            Some(lsp::DiagnosticRelatedInformation { location, message })
        };
        let related: Vec<_> = found.related.iter().filter_map(related).collect();
        lsp::Diagnostic {
            range: self.encoding.range(self.sources, found.span),
            severity: Some(match found.severity {
                Severity::Error => lsp::DiagnosticSeverity::Error,
                Severity::Warning => lsp::DiagnosticSeverity::Warning,
                Severity::Note | Severity::Off => lsp::DiagnosticSeverity::Information,
            }),
            code: Some(lsp::Code::String(found.rule.code.to_owned())),
            code_description: None,
            source: Some("chartc".to_owned()),
            message: lsp::Message::String(message),
            tags: tag(found).map(|tag| vec![tag]),
            related_information: (!related.is_empty()).then_some(related),
            data: None,
        }
    }
}

/// The tag of a finding: editors fade unnecessary text, and strike out deprecated text.
fn tag(found: &Diagnostic) -> Option<lsp::DiagnosticTag> {
    match found.rule.name {
        name if name.starts_with("unused-") || name.starts_with("needless-") => {
            Some(lsp::DiagnosticTag::Unnecessary)
        }
        "legacy" => Some(lsp::DiagnosticTag::Deprecated),
        _ => None,
    }
    .filter(|_| found.stage != Stage::Syntax)
}

#[cfg(test)]
mod tests {
    use super::super::texts::Places;
    use super::super::texts::Texts;
    use super::*;
    use crate::cli::config::Config;

    fn job(change: u64) -> Job {
        let uri: Uri = "untitled:a".parse().expect("an address");
        let mut texts = Texts::default();
        texts.open(uri.clone(), "a.chart".to_owned(), "chart A { initial a state a }", 1);
        let places = Places::new(std::env::temp_dir());
        Job {
            uri,
            names: vec!["a.chart".to_owned()],
            overlay: Overlay::new(&texts, &places).expect("a folder"),
            settings: Arc::new(Settings::new(Config::default()).expect("settings")),
            depth: Depth::Full,
            change,
        }
    }

    #[test]
    fn a_check_of_an_old_text_ends() {
        let checker = Checker::start().expect("a thread");
        checker.changed(1);
        checker.give(job(1));
        let done = checker.done.recv().expect("it is checked");
        assert!(
            done.result.is_ok_and(|done| !done.diagnostics.is_empty() && !done.uses.is_empty())
        );
        checker.changed(2);
        checker.give(job(1));
        checker.give(job(2));
        let [old, new] = [(); 2].map(|()| checker.done.recv().expect("it is checked"));
        assert!(matches!(old.result, Err(Fault::Outdated)));
        assert!(new.result.is_ok());
    }
}
