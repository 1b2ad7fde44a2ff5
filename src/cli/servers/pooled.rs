//! The tool servers of a run, from the command line.

#![allow(
    clippy::disallowed_methods,
    reason = "a configuration names variables of the environment, and a signal ends the process"
)]

use crate::cli::files::{Stream, read};
use crate::cli::output::{Exit, StyledText, complain, complain_page, foot};
use crate::cli::signals;
use crate::setup::{Answerers, Backends};
use chartc_adapters::tools::{Configuration, Finding, FindingKind, Pool};
use chartc_compiler::compile::Checked;
use chartc_compiler::lower::Lowered;
use chartc_compiler::syntax::source::{Position, Sources};
use chartc_core::host::ToolCall;
use chartc_core::model::Chart;
use chartc_core::visible;
use chartc_runtime::tools::{Calling, Tools};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct Options {
    /// TOML or JSON file with the servers that make the tool calls (MCP), and commands and HTTP endpoints
    ///
    /// The first part of a tool's name is its server: `tool files.read_file` calls `read_file` of the server `files`. The file is TOML
    /// (`[servers.files]`) or JSON as other MCP clients read it (`mcpServers`). Before anything runs, the chart's declarations are compared
    /// with what the servers say of their tools. Tools that the file does not map come from --functions or the script.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// File for what servers write to standard error [default: standard error, after the server's name]
    #[arg(long, value_name = "FILE", requires = "tools")]
    tools_log: Option<PathBuf>,
}

impl Options {
    /// The options of a stored run.
    #[cfg(feature = "sqlite")]
    pub(in crate::cli) fn from_file(file: Option<String>) -> Self {
        Self { tools: file.map(PathBuf::from), tools_log: None }
    }

    pub(in crate::cli) fn are_given(&self) -> bool {
        self.tools.is_some()
    }

    /// The file of `--tools`, which the store keeps.
    #[cfg(feature = "sqlite")]
    pub(in crate::cli) fn file(&self) -> Option<String> {
        self.tools.as_ref().map(|path| path.display().to_string())
    }

    /// The servers that the charts need. They are not started yet.
    pub(in crate::cli) fn servers(
        &self,
        charts: &[&Chart],
        others: Answerers<'_>,
    ) -> miette::Result<Servers> {
        let Some(path) = &self.tools else { return Ok(Servers(None)) };
        if word(others) == "replay" {
            return Err(miette::miette!(
                "`--llm {}` answers tool calls from its record: omit `--tools {}`",
                others.llm.unwrap_or_default(),
                path.display()
            ));
        }
        let configuration = configuration(path)?;
        let log = self.tools_log.as_deref().map(Stream::append).transpose()?;
        let pool = Pool::new(configuration, charts, heard(log));
        Ok(Servers(Some(Serving { pool })))
    }
}

/// The kind of oracle: the part of `--llm` before the colon.
fn word(others: Answerers<'_>) -> &str {
    others.llm.map_or("", |llm| llm.split(':').next().unwrap_or(llm))
}

/// Reads the file of `--tools`.
pub(in crate::cli) fn configuration(path: &Path) -> miette::Result<Configuration> {
    let name = path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new(""));
    let variables = |name: &str| std::env::var(name).ok();
    Configuration::read(&name, &read(path)?, folder, &variables).map_err(|fault| {
        let help = fault.help.clone();
        if help.is_empty() {
            miette::miette!("{fault}")
        } else {
            miette::miette!(help = help, "{fault}")
        }
    })
}

/// A function that writes the output of servers to a log or, without one, to standard error.
pub(in crate::cli) fn heard(log: Option<Stream>) -> impl Fn(&str, &str) + Send + Sync + use<> {
    let log = log.map(Mutex::new);
    move |name, line| match &log {
        Some(log) => {
            let line = format!("{}: {}\n", visible::line(name), visible::line(line));
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(fault) = log.write_all(line.as_bytes()) {
                complain(format!("{fault}; {}", line.trim_end()));
            }
        }
        None => {
            if foot::is_there() {
                // The line is drawn again with the next line of the run.
                drop(foot::wipe());
            }
            complain(format!("{name}: {line}"));
        }
    }
}

/// A pool of servers that end with the command, however the command ends.
pub(in crate::cli) struct Serving {
    pub(in crate::cli) pool: Pool,
}

impl Serving {
    /// Awaits the work, then ends the servers. A signal ends the servers and the process at once if `is_killed`; otherwise the work handles
    /// it.
    pub(in crate::cli) async fn during<R>(
        &self,
        is_killed: bool,
        work: impl Future<Output = R>,
    ) -> R {
        let done = tokio::select! {
            biased;
            // The signal is polled first, so that work which is always ready cannot delay it.
            number = signals::signal(), if is_killed => Err(number),
            done = work => Ok(done),
        };
        self.pool.close().await;
        // Exit instead of returning: a read of the terminal may be under way, and the runtime would wait for it until somebody presses
        // Enter.
        done.unwrap_or_else(|number| std::process::exit(128 + number))
    }
}

/// The servers of a run, if there are any.
pub(in crate::cli) struct Servers(Option<Serving>);

impl Servers {
    /// Starts the servers. A signal meanwhile ends them and the process.
    pub(in crate::cli) async fn begin(&self) {
        let Some(Serving { pool }) = &self.0 else { return };
        tokio::select! {
            biased;
            number = signals::signal() => {
                pool.close().await;
                std::process::exit(128 + number);
            }
            () = pool.begin() => {}
        }
    }

    /// Compares the tools of the servers with those of the charts, and makes the servers answer the calls of their tools. Returns an exit
    /// code if they differ.
    pub(in crate::cli) fn serve(
        &self,
        backends: &mut Backends,
        seen: &[(&Checked, &Sources)],
        others: Answerers<'_>,
    ) -> miette::Result<Option<Exit>> {
        let Some(Serving { pool }) = &self.0 else { return Ok(None) };
        let file = pool.configuration().file();
        let word = word(others);
        let scripted = backends.host.strangers(&[], &[], &[]);
        // An oracle that answers for every tool, or a script with a result for this one, may stand in for a server.
        let is_answered = |tool: &String| {
            matches!(word, "first" | "random") && others.functions.is_none()
                || scripted.contains(tool)
        };
        let (mut all, mut lowered) = (Vec::new(), Vec::new());
        for (checked, sources) in seen {
            let children = checked.lowered_children();
            let family: Vec<&Lowered> =
                std::iter::once(checked.lowered()).chain(children).collect();
            all.extend(found(pool, &family, sources));
            lowered.extend(family);
        }
        all.retain(|found| !found.is_unmapped() || !is_answered(&found.finding.tool));
        for server in pool.servers() {
            for fault in server.faults {
                complain(format!("warning: server `{}`: {fault}", server.name));
            }
        }
        if !all.is_empty() {
            let mut text = StyledText::default();
            write_findings(&all, &mut text);
            complain_page(&text);
            complain("error: not run, because the tools of the chart are not those of the servers");
            return Ok(Some(Exit::Findings));
        }
        let script = match (others.functions, others.llm) {
            (Some(path), _) => path.display().to_string(),
            (None, llm) => llm.unwrap_or_default().to_owned(),
        };
        let tools = lowered.iter().flat_map(|one| &one.chart.tools).map(|tool| &tool.name);
        let both: std::collections::BTreeSet<&String> =
            tools.filter(|tool| pool.provides(tool) && scripted.contains(tool)).collect();
        for tool in both {
            complain(format!(
                "warning: {file} maps the tool `{tool}`, so the results in {script} are not used"
            ));
        }
        let rest = backends.parts.tools.clone();
        backends.parts.tools = Arc::new(Over { pool: pool.clone(), rest });
        Ok(None)
    }

    /// Ends the servers.
    #[cfg(feature = "serve")]
    pub(in crate::cli) async fn end(&self) {
        if let Some(Serving { pool }) = &self.0 {
            pool.close().await;
        }
    }

    /// As [`Serving::during`]. Without servers, signals have their usual effect.
    pub(in crate::cli) async fn during<R>(
        &self,
        is_killed: bool,
        work: impl Future<Output = R>,
    ) -> R {
        match &self.0 {
            Some(serving) => serving.during(is_killed, work).await,
            None => work.await,
        }
    }
}

/// A pool that answers before other tools.
struct Over {
    pool: Pool,
    rest: Arc<dyn Tools>,
}

impl Tools for Over {
    fn call(&self, call: ToolCall) -> Calling {
        if self.pool.provides(&call.tool) { self.pool.call(call) } else { self.rest.call(call) }
    }
}

// Differences between the tools of charts and those of servers, with the places of both.

/// A difference, and the position of the tool in the chart.
pub(in crate::cli) struct Found {
    pub(in crate::cli) finding: Finding,
    pub(in crate::cli) file: String,
    pub(in crate::cli) place: Position,
}

/// Compares the tools of charts with those of the servers. A difference in a tool that several charts share is reported once.
pub(in crate::cli) fn found(pool: &Pool, lowered: &[&Lowered], sources: &Sources) -> Vec<Found> {
    let charts: Vec<&Chart> = lowered.iter().map(|one| &*one.chart).collect();
    let mut all: Vec<Found> = Vec::new();
    for finding in pool.check(&charts) {
        let one = lowered[finding.chart];
        let nth = one.chart.tools.iter().position(|tool| tool.name == finding.tool);
        let span = nth.and_then(|nth| one.map.tools.get(nth)).copied().unwrap_or(one.map.name);
        let source = sources.get(span.file);
        let (file, place) = (source.name.clone(), source.position(span.start));
        let is_told = all.iter().any(|other| {
            other.file == file && other.place == place && other.finding.message == finding.message
        });
        if !is_told {
            all.push(Found { finding, file, place });
        }
    }
    all
}

/// Formats the differences for people.
pub(in crate::cli) fn write_findings(all: &[Found], out: &mut StyledText) {
    for Found { finding, file, place } in all {
        let Position { line, column } = place;
        let configured = match (&finding.configured, finding.kind) {
            (Some(configured), _) => format!(" ({configured})"),
            (None, _) => String::new(),
        };
        out.line(format!(
            "{file}:{line}:{column}: tool `{}`: {}{configured}",
            finding.tool, finding.message
        ));
        if !finding.help.is_empty() {
            out.line(format!("  help: {}", finding.help));
        }
    }
}

/// Formats a difference as JSON.
pub(in crate::cli) fn finding_json(found: &Found) -> Value {
    let Found { finding, file, place } = found;
    let configured = finding.configured.as_ref();
    json!({
        "kind": finding.kind.word(),
        "tool": finding.tool,
        "file": file,
        "line": place.line,
        "column": place.column,
        "configured": configured.map(|place| json!({"file": place.file, "line": place.line})),
        "message": finding.message,
        "help": if finding.help.is_empty() { Value::Null } else { json!(finding.help) },
    })
}

impl Found {
    pub(in crate::cli) fn is_unmapped(&self) -> bool {
        self.finding.kind == FindingKind::Unmapped
    }
}
