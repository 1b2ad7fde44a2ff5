//! The thread that checks. It has one job at a time; texts that change meanwhile end it early, and are a new job.

use super::super::levels;
use super::super::settings::{Setting, Settings};
use super::texts::Overlay;
use crate::Compilation;
use chartc_check::compile::{Outdated, check_unless};
use chartc_check::explore::STATES;
use chartc_text::span::FileId;
use crossbeam_channel::{Receiver, Sender, unbounded};
use gen_lsp_types::Uri;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// Everything that needs no exploration and no test.
    Quick,
    /// All that `chartc check` does.
    Full,
}

/// A text to check, with what it imports and the tests beside it.
pub(super) struct Job {
    /// Whose text it is.
    pub(super) uri: Uri,
    /// The names of the files.
    pub(super) names: Vec<String>,
    /// All texts, as of now.
    pub(super) overlay: Overlay,
    /// What the project sets.
    pub(super) settings: Arc<Settings>,
    /// How much.
    pub(super) depth: Depth,
    /// The number of the last change that the texts have.
    pub(super) change: u64,
}

/// What the thread does.
enum Task {
    Check(Box<Job>),
    /// It takes a while to free a large compilation, and the memory is best reused where it was taken.
    Forget(Arc<Compilation>),
}

/// What became of a job.
pub(super) struct Done {
    /// Of the job.
    pub(super) uri: Uri,
    /// Of the job.
    pub(super) depth: Depth,
    /// Of the job.
    pub(super) change: u64,
    /// How long it took.
    pub(super) took: Duration,
    /// The compilation, its findings with the levels that the project sets; or why there is none.
    pub(super) result: Result<Compilation, Fault>,
}

/// Why there is no compilation.
#[derive(Debug)]
pub(super) enum Fault {
    /// The settings of the project are wrong: findings have the levels of none. What names mean does not depend on them.
    Settings(String, Box<Compilation>),
    /// An error in chartc.
    Panic,
    /// The texts have changed meanwhile.
    Outdated,
}

/// The thread.
pub(super) struct Checker {
    tasks: Option<Sender<Task>>,
    /// What becomes of jobs, in their order.
    pub(super) done: Receiver<Done>,
    /// The number of the last change of any text or file.
    change: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Checker {
    /// Starts it.
    pub(super) fn start() -> Self {
        let (tasks, received) = unbounded();
        let (send, done) = unbounded();
        let change = Arc::new(AtomicU64::new(0));
        let last = Arc::clone(&change);
        let thread = std::thread::spawn(move || {
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
        });
        Self { tasks: Some(tasks), done, change, thread: Some(thread) }
    }

    /// Says that a text or a file has changed: nobody wants to know of earlier ones.
    pub(super) fn changed(&self, change: u64) {
        self.change.store(change, Ordering::Relaxed);
    }

    /// Gives it a job.
    pub(super) fn give(&self, job: Job) {
        self.send(Task::Check(Box::new(job)));
    }

    /// Gives it a compilation that nobody needs any more.
    pub(super) fn forget(&self, compilation: Arc<Compilation>) {
        self.send(Task::Forget(compilation));
    }

    fn send(&self, task: Task) {
        if let Some(tasks) = &self.tasks {
            // It ends only behind this.
            drop(tasks.send(task));
        }
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
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

/// Checks as `chartc check` does.
fn compile(
    names: &[String],
    overlay: &Overlay,
    settings: &Settings,
    depth: Depth,
    is_outdated: &dyn Fn() -> bool,
) -> Result<Compilation, Fault> {
    let states = |name: &str| match depth {
        Depth::Quick => 0,
        Depth::Full => settings.for_file(name).map_or(STATES, |own| own.states),
    };
    let done = check_unless(names, overlay, &states, is_outdated);
    let mut done = done.map_err(|Outdated| Fault::Outdated)?;
    let silent = std::mem::take(&mut done.silent);
    let of_file = |(_, source): (_, &chartc_text::source::Source)| settings.for_file(&source.name);
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
    levels::apply(|file| &own[file.0 as usize].levels, &mut done.diagnostics, silent);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::super::places::Places;
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
        let checker = Checker::start();
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
