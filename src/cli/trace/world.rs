//! `chartc trace` for the log of a world with many agents.
//!
//! A log is a trace whose lines name their agents. It may have millions of lines, so each view reads it once and keeps only counts.
//! The view `--agents-in busy --at 40` of a log:
//!
//! 1. [`Log::read`] parses the head of each line, and the whole line only for the kinds in [`states`], such as `entered`.
//! 2. Each of these moves an agent in a census.
//! 3. The world's `tick_summary` of tick 40 ends the reading.
//! 4. The agents that the census has in `busy` are printed.

use self::{CASCADE_KINDS as CAUSES, CENSUS_KINDS as STATES};
use super::read::{LogHead, Read, names_agent, of_lines};
use super::summary::{self, Tool, count_action, list, some};
use crate::cli::files::stream;
use crate::cli::glance::{Style, bars, fullest, name, plot};
use crate::cli::output::{
    Exit, StyledText, align_columns, complain, is_unicode, padded, print, print_json, width,
};
use crate::report::Terminal;
use chartc_compiler::syntax::diagnostic::nearest;
use chartc_core::expr::{Duration, Map, Value};
use chartc_core::wording::counted;
use chartc_runtime::trace::view::{Happening, time};
use chartc_runtime::trace::{self, Line, Logged};
use chartc_world::{
    Bounds, Cascades, Caused, Census, Deed, Distribution, Edge, Influence, Link, Unknown,
};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek};
use std::ops::ControlFlow;
use std::path::Path;

/// The version of the JSON format of all views.
const VERSION: u32 = 1;

/// What to show of a log.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Logs of worlds with many agents")]
pub(super) struct Views {
    /// Show the trace of one agent; the other options for traces apply to it
    #[arg(long, value_name = "NAME", conflicts_with = "view")]
    agent: Option<String>,
    /// List the agents in a state: a path, its last segment, or Chart.state
    #[arg(long, value_name = "STATE", group = "view")]
    agents_in: Option<String>,
    /// Show how many agents are in each state
    #[arg(long, group = "view")]
    distribution: bool,
    /// Show what the actions of an agent caused: who received events, moved, and acted in turn
    #[arg(long, value_name = "AGENT", group = "view")]
    cascade: Option<String>,
    /// Show who had effects on whom, the longest cascade and the most influential agents
    #[arg(long, group = "view")]
    cascades: bool,
    /// Plot how many agents were in each state over time
    #[arg(long, group = "view")]
    plot: bool,
    /// For --agents-in and --distribution: at the end of a tick, as 40, or at a time, as 90s [default: the end]
    #[arg(long, value_name = "TICK|TIME")]
    at: Option<String>,
    /// Draw with ASCII only
    #[arg(long)]
    ascii: bool,
}

impl Views {
    /// The name of the first given option that applies only to a log.
    pub(super) fn given(&self) -> Option<&'static str> {
        let all = [
            (self.agent.is_some(), "--agent"),
            (self.agents_in.is_some(), "--agents-in"),
            (self.distribution, "--distribution"),
            (self.cascade.is_some(), "--cascade"),
            (self.cascades, "--cascades"),
            (self.plot, "--plot"),
            (self.at.is_some(), "--at"),
        ];
        all.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }

    /// The agent whose trace is to be shown.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    fn style(&self, terminal: Terminal) -> Style {
        Style { width: terminal.width, is_unicode: is_unicode() && !self.ascii }
    }
}

/// Shows a log in the view that the options select; without one, the overview.
pub(super) fn run(
    mut log: Log,
    views: &Views,
    is_summary: bool,
    is_json: bool,
    terminal: Terminal,
) -> miette::Result<Exit> {
    if views.at.is_some() && views.agents_in.is_none() && !views.distribution {
        return Err(miette::miette!("--at needs --agents-in or --distribution"));
    }
    if is_summary && views.given().is_some() {
        return Err(miette::miette!(
            "--summary is a view of its own: omit {}",
            views.given().unwrap_or_default()
        ));
    }
    if is_summary {
        summary(&mut log, is_json)?;
    } else if let Some(state) = &views.agents_in {
        agents_in(&mut log, state, views.at.as_deref(), is_json)?;
    } else if views.distribution {
        distribution(&mut log, views.at.as_deref(), is_json, (views.style(terminal), terminal))?;
    } else if let Some(agent) = &views.cascade {
        tree(&mut log, agent, is_json, terminal)?;
    } else if views.cascades {
        sums(&mut log, is_json)?;
    } else if views.plot {
        let census = self::census(&mut log, None)?;
        if is_json {
            print_view(json!({"unit": census.unit(), "series": census.series()}))?;
        } else {
            print(&plot(&census, views.style(terminal), terminal))?;
        }
    } else {
        show(&mut log, is_json, terminal)?;
    }
    Ok(told(&log))
}

/// Reports the errors found in the log, and returns the exit code.
fn told(log: &Log) -> Exit {
    for fault in &log.faults {
        complain(format!("warning: {fault}"));
    }
    if log.faults.is_empty() { Exit::Clean } else { Exit::Findings }
}

/// Shows the totals of all agents, and those of the ticks.
fn summary(log: &mut Log, is_json: bool) -> miette::Result<()> {
    let mut sums = summary::Sums::new(1);
    let mut all = Totals::default();
    log.read(
        |_| true,
        |logged| {
            if logged.agent.is_empty() {
                all.line(&logged.line);
            } else {
                sums.add(&logged.agent, &logged.line);
            }
            ControlFlow::Continue(())
        },
    )?;
    sums.close(log.at_ms);
    let summary = sums.summary(log.faults.len());
    if is_json {
        return print_json(&summary.json(Some(&all)));
    }
    let mut page = all.text();
    if !page.is_empty() {
        page.line("");
    }
    page.add(&summary.text());
    print(&page)
}

/// The trace of one agent.
pub(super) fn trace_of(mut log: Log, agent: &str) -> miette::Result<Read> {
    let lines = lines_of(&mut log, agent)?;
    let name = format!("{} ({agent})", log.name);
    Ok(of_lines(name, lines, log.faults))
}

/// The lines of one agent.
fn lines_of(log: &mut Log, agent: &str) -> miette::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let names = Names::default();
    log.read(
        |head| {
            names.see(head);
            head.agent.as_deref() == Some(agent)
        },
        |logged| {
            lines.push(logged.line);
            ControlFlow::Continue(())
        },
    )?;
    if lines.is_empty() || agent.is_empty() {
        return Err(names.unknown(&log.name, agent));
    }
    Ok(lines)
}

/// The trace of one agent in a log, as text.
///
/// # Errors
/// The log cannot be read, or does not name the agent.
pub(in crate::cli) fn text_of(mut log: Log, agent: &str) -> miette::Result<String> {
    let lines = lines_of(&mut log, agent)?;
    told(&log);
    let texts = lines.iter().map(serde_json::to_string).collect::<Result<Vec<String>, _>>();
    let texts = texts.map_err(|why| miette::miette!("{}: {why}", log.name))?;
    Ok(texts.join("\n"))
}

/// The names of the agents seen so far.
#[derive(Default)]
struct Names(std::cell::RefCell<std::collections::BTreeSet<String>>);

impl Names {
    fn see(&self, head: &LogHead<'_>) {
        let agent = head.agent.as_deref().unwrap_or_default();
        let mut names = self.0.borrow_mut();
        if !agent.is_empty() && !names.contains(agent) {
            names.insert(agent.to_owned());
        }
    }

    /// The error that no agent has this name.
    fn unknown(&self, log: &str, agent: &str) -> miette::Report {
        unknown(log, agent, self.0.borrow().iter().map(String::as_str))
    }
}

/// The error that no agent has this name, with the nearest name or a few of those that there are.
fn unknown<'n>(
    log: &str,
    agent: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> miette::Report {
    match nearest(agent, names.clone()) {
        Some(near) => miette::miette!("{log} has no agent `{agent}`; did you mean `{near}`?"),
        None => {
            let all = names.clone().count();
            let some: Vec<&str> = names.take(8).collect();
            let dots = if all > some.len() { ", …" } else { "" };
            miette::miette!(
                help = format!("its agents: {}{dots}", some.join(", ")),
                "{log} has no agent `{agent}`"
            )
        }
    }
}

// Shows cascades: which agents' actions caused which transitions of others.

/// The kinds of trace lines that cascades are computed from.
const CASCADE_KINDS: [&str; 7] = ["event", "turn", "delivered", "input", "taken", "acted", "world"];
/// The maximum number of rows of each table.
const MOST_ROWS: usize = 10;
/// The bounds of a tree in JSON.
const WHOLE: Bounds = Bounds { depth: 40, width: 10_000, total: 100_000 };

fn cascades(log: &mut Log) -> miette::Result<Cascades> {
    let mut all = Cascades::new();
    log.read(
        |head| CASCADE_KINDS.contains(&&*head.kind),
        |logged| {
            all.observe(&logged);
            ControlFlow::Continue(())
        },
    )?;
    Ok(all)
}

/// Shows what followed from the actions of an agent.
fn tree(log: &mut Log, agent: &str, is_json: bool, terminal: Terminal) -> miette::Result<()> {
    let all = cascades(log)?;
    let bounds = if is_json { WHOLE } else { Bounds::default() };
    let Some(tree) = all.tree(agent, bounds).filter(|_| !agent.is_empty()) else {
        let names: Vec<&str> = all.names().collect();
        return Err(unknown(&log.name, agent, names.into_iter()));
    };
    if is_json {
        return print_view(tree);
    }
    let mut out = StyledText::on(terminal);
    let effects = counted(tree.effects, "effect");
    let reached = counted(tree.reached, "other agent");
    out.styled("1", format!("{agent}: {effects} on {reached}"));
    deeds(&mut out, &tree.actions, tree.more, "");
    print(&out)
}

/// Writes the actions of an agent, each with its effects.
fn deeds(out: &mut StyledText, deeds_: &[Deed], more: u64, margin: &str) {
    for deed in deeds_ {
        let name = if deed.action.is_empty() { "an action" } else { &deed.action };
        let failed = if deed.failed { " (failed)" } else { "" };
        out.line(format!("{margin}{} {name}{failed}, after line {}", time(deed.at_ms), deed.seq));
        let count = deed.effects.len();
        for (nth, effect) in deed.effects.iter().enumerate() {
            let is_last = nth + 1 == count && deed.more == 0;
            caused(out, effect, margin, is_last);
        }
        rest(out, deed.more, "effect", margin);
    }
    rest(out, more, "action", margin);
}

fn caused(out: &mut StyledText, effect: &Caused, margin: &str, is_last: bool) {
    let branch = if is_last { "└ " } else { "├ " };
    let event = if effect.event.is_empty() { "is made" } else { &effect.event };
    let mut text = format!("{margin}{branch}{} {event}", effect.agent);
    if !effect.transitions.is_empty() {
        text.push_str(&format!(": {}", effect.transitions.join(", ")));
    }
    if effect.more_transitions > 0 {
        text.push_str(&format!(" … {} more", effect.more_transitions));
    }
    if effect.again {
        text.push_str(" (shown above)");
    }
    out.line(text);
    let below = format!("{margin}{}", if is_last { "  " } else { "│ " });
    deeds(out, &effect.actions, effect.more, &below);
}

fn rest(out: &mut StyledText, more: u64, word: &str, margin: &str) {
    if more > 0 {
        out.line(format!("{margin}… {} more", counted(more, word)));
    }
}

/// The totals of all cascades.
#[derive(Debug, Serialize)]
struct Sums {
    effects: u64,
    /// The number of agents whose actions had effects.
    agents: u64,
    longest: Vec<Link>,
    influence: Vec<Influence>,
}

impl Sums {
    fn new(all: &Cascades, most: usize) -> Self {
        let (effects, agents) = all.totals();
        Self { effects, agents, longest: all.longest(), influence: all.influence(most) }
    }
}

/// Shows which agents had effects on which.
fn sums(log: &mut Log, is_json: bool) -> miette::Result<()> {
    #[derive(Serialize)]
    struct Shown {
        #[serde(flatten)]
        sums: Sums,
        edges: Vec<Edge>,
    }
    let all = cascades(log)?;
    let edges = all.edges();
    if is_json {
        let sums = Sums::new(&all, usize::MAX);
        return print_view(Shown { sums, edges });
    }
    let sums = Sums::new(&all, MOST_ROWS);
    let mut out = StyledText::default();
    let (effects, agents) = (counted(sums.effects, "effect"), counted(sums.agents, "agent"));
    out.line(format!("{effects} of the actions of {agents}"));
    if sums.effects == 0 {
        return print(&out);
    }
    out.line("");
    out.line("The most influential agents");
    let rows: Vec<Vec<String>> = (sums.influence.iter())
        .map(|row| {
            let counts = [row.effects, row.transitions, row.followed, row.reached];
            let counts = counts.iter().map(ToString::to_string);
            std::iter::once(row.agent.clone()).chain(counts).collect()
        })
        .collect();
    let head = ["agent", "effects", "transitions", "with what followed", "agents reached"];
    out.add(&align_columns(&head, &rows, &[1, 2, 3, 4]));
    out.line("");
    out.line("Who had effects on whom");
    let name = |name: &String| if name.is_empty() { "(the world)".into() } else { name.clone() };
    let row = |edge: &Edge| vec![name(&edge.from), name(&edge.to), edge.count.to_string()];
    let rows: Vec<Vec<String>> = edges.iter().take(MOST_ROWS).map(row).collect();
    out.add(&align_columns(&["from", "to", "effects"], &rows, &[2]));
    rest(&mut out, edges.len().saturating_sub(MOST_ROWS) as u64, "pair", "  ");
    out.line("");
    out.line(format!("The longest cascade: {}", counted(sums.longest.len(), "step")));
    let row = |link: &Link| {
        let event = if link.event.is_empty() { "is made" } else { &link.event };
        vec![name(&link.from), link.action.clone(), link.to.clone(), event.to_owned()]
    };
    let shown: Vec<Vec<String>> = sums.longest.iter().take(2 * MOST_ROWS).map(row).collect();
    out.add(&align_columns(&["agent", "action", "to", "event"], &shown, &[]));
    rest(&mut out, sums.longest.len().saturating_sub(2 * MOST_ROWS) as u64, "step", "  ");
    print(&out)
}

// Reads the log of a world line by line, because it may be larger than memory.

/// The maximum length of a line, in bytes.
const LONGEST: u64 = 64 << 20;
/// The maximum number of errors that are reported one by one.
const TOLD: usize = 5;

/// An open log.
pub(in crate::cli) struct Log {
    name: String,
    from: BufReader<File>,
    /// The number of lines read so far, including empty ones.
    lines: u64,
    /// The errors found so far, as text.
    faults: Vec<String>,
    unread: u64,
    /// The largest time of the lines read so far, in milliseconds.
    at_ms: u64,
}

impl Log {
    /// Opens a log. Returns `None` if the file is not one.
    pub(in crate::cli) fn open(path: &Path) -> miette::Result<Option<Self>> {
        let Some(file) = stream(path)? else { return Ok(None) };
        let name = path.display().to_string();
        let mut log = Self {
            name,
            from: BufReader::with_capacity(1 << 18, file),
            lines: 0,
            faults: Vec::new(),
            unread: 0,
            at_ms: 0,
        };
        let mut text = Vec::new();
        // The first line that can be parsed decides. A log may begin with lines that were damaged.
        // Another file, such as a snapshot, need not be read to its end.
        while log.lines < 100 && log.line(&mut text)? {
            let is_log = std::str::from_utf8(&text).ok().and_then(names_agent);
            if let Some(is_log) = is_log {
                log.from.rewind().map_err(|fault| log.fault(&fault))?;
                log.lines = 0;
                return Ok(is_log.then_some(log));
            }
        }
        Ok(None)
    }

    /// Reads the rest of the log. Lines whose heads `is_wanted` rejects are not parsed further. Lines that cannot be parsed are skipped and
    /// reported.
    fn read(
        &mut self,
        is_wanted: impl Fn(&LogHead<'_>) -> bool,
        mut take: impl FnMut(Logged) -> ControlFlow<()>,
    ) -> miette::Result<()> {
        let mut bytes = Vec::new();
        while self.line(&mut bytes)? {
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            match Self::logged(&bytes, &is_wanted) {
                Ok(Some((at_ms, logged))) => {
                    self.at_ms = self.at_ms.max(at_ms);
                    if let Some(logged) = logged
                        && take(logged).is_break()
                    {
                        break;
                    }
                }
                Ok(None) => {
                    return Err(miette::miette!(
                        help = "a log of a world and the trace of one run are different files",
                        "{}, line {} names no agent, but other lines do",
                        self.name,
                        self.lines
                    ));
                }
                Err(why) if self.faults.len() < TOLD => {
                    let end = if bytes.ends_with(b"\n") { "" } else { " (the last one, cut off)" };
                    let (name, line) = (&self.name, self.lines);
                    self.faults.push(format!("{name}, line {line}{end}: {why}; the rest is shown"));
                }
                Err(_) => self.unread += 1,
            }
        }
        if self.unread > 0 {
            let (name, unread) = (&self.name, self.unread);
            self.faults.push(format!("{name}: {unread} further lines cannot be read"));
            self.unread = 0;
        }
        Ok(())
    }

    /// Parses a line. Returns its time and, if it is wanted, the line itself; `None` if it names no agent.
    fn logged(
        bytes: &[u8],
        is_wanted: impl Fn(&LogHead<'_>) -> bool,
    ) -> Result<Option<(u64, Option<Logged>)>, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let head: LogHead<'_> = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if head.v != trace::VERSION {
            return Err(format!("version {} of the trace is not known", head.v));
        }
        if head.agent.is_none() {
            return Ok(None);
        }
        let at_ms = head.at_ms;
        if !is_wanted(&head) {
            return Ok(Some((at_ms, None)));
        }
        let logged = serde_json::from_str(text).map_err(|why| why.to_string())?;
        Ok(Some((at_ms, Some(logged))))
    }

    /// Reads the next line with its line feed. Returns false at the end of the file.
    fn line(&mut self, bytes: &mut Vec<u8>) -> miette::Result<bool> {
        bytes.clear();
        let mut limited = self.from.by_ref().take(LONGEST);
        let read = limited.read_until(b'\n', bytes).map_err(|fault| self.fault(&fault))?;
        if read as u64 == LONGEST && !bytes.ends_with(b"\n") {
            // The rest of the line is skipped. The part that was read is not valid JSON, and is reported as such.
            self.from.skip_until(b'\n').map_err(|fault| self.fault(&fault))?;
        }
        self.lines += u64::from(read > 0);
        Ok(read > 0)
    }

    fn fault(&self, fault: &std::io::Error) -> miette::Report {
        miette::miette!("cannot read {}: {fault}", self.name)
    }
}

// Counts what happened in the world, from the world's own lines.

/// The events that move scrip.
const MONEY_KINDS: [&str; 3] = ["transferred", "minted", "burned"];

/// The number and the sum of transfers of one kind.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Moved {
    times: u64,
    scrip: i64,
}

/// The events of the world by name, and the scrip that they moved.
#[derive(Debug, Default, Serialize)]
struct World {
    /// The number of events, by name.
    events: BTreeMap<String, u64>,
    /// The scrip moved, by event: `transferred`, `minted`, `burned`.
    scrip: BTreeMap<String, Moved>,
}

impl World {
    fn line(&mut self, line: &Line) {
        let Happening::World { event, data: Value::Map(data) } = line.event().what else { return };
        if event == "tick_summary" {
            return;
        }
        *self.events.entry(event.to_owned()).or_default() += 1;
        let is_money = MONEY_KINDS.contains(&event);
        if let (Some(Value::Int(amount)), true) = (data.get("amount"), is_money) {
            let moved = self.scrip.entry(event.to_owned()).or_default();
            moved.times += 1;
            moved.scrip = moved.scrip.saturating_add(*amount);
        }
    }

    /// Formats the movements of scrip on one line.
    fn scrip(&self) -> String {
        let kinds = MONEY_KINDS.iter().filter_map(|kind| Some((*kind, self.scrip.get(*kind)?)));
        let each = kinds.map(|(what, moved)| {
            let times =
                if moved.times == 1 { "once".into() } else { format!("{} times", moved.times) };
            format!("{} {what} ({times})", moved.scrip)
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// The events that moved no scrip.
    fn others(&self) -> BTreeMap<String, u64> {
        let others = self.events.iter().filter(|(event, _)| !self.scrip.contains_key(*event));
        others.map(|(event, count)| (event.clone(), *count)).collect()
    }
}

// Shows an overview of a world.

/// The kinds of trace lines that are read in addition to those for states and cascades.
const OVERVIEW_KINDS: [&str; 4] = ["not_acted", "usage", "error", "question"];
/// The maximum number of influential agents that are named.
const MOST_NAMED: usize = 3;

/// The content of the overview.
#[derive(Debug, Default, Serialize)]
struct Overview {
    lines: u64,
    unread: usize,
    time_ms: u64,
    agents: u64,
    /// The number of agents that were there from the beginning.
    genesis: u64,
    /// The number of agents by the status of their run.
    ended: BTreeMap<String, u64>,
    charts: Vec<Distribution>,
    ticks: u64,
    turns: u64,
    questions: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: f64,
    actions: BTreeMap<String, Tool>,
    /// Failed actions, and steps that gave no action, by reason.
    setbacks: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
    world: World,
    #[serde(skip_serializing_if = "Option::is_none")]
    cascades: Option<Sums>,
}

impl Overview {
    fn line(&mut self, line: &Line) {
        let event = line.event();
        match event.what {
            Happening::Action { action, outcome } => {
                count_action(&mut self.actions, &mut self.setbacks, (action, outcome));
            }
            Happening::CallUsage(_, usage) => {
                self.input_tokens += usage.input_tokens;
                self.output_tokens += usage.output_tokens;
                self.cost += usage.cost;
            }
            Happening::Error(error) => summary::count(&mut self.errors, error),
            Happening::Turn(_) => self.turns += u64::from(event.child.is_empty()),
            Happening::CallBegun(call, _) => self.questions += u64::from(!call.is_tool()),
            _ => {}
        }
    }

    fn text(&self, log: &str, terminal: Terminal) -> StyledText {
        let mut page = StyledText::on(terminal);
        let mut head = format!("{log}: {}", counted(self.agents, "agent"));
        if self.charts.len() != 1 {
            head.push_str(&format!(" of {}", counted(self.charts.len(), "chart")));
        }
        if self.ticks > 0 {
            head.push_str(&format!(", {}", counted(self.ticks, "tick")));
        }
        head.push_str(&format!(", {}, {}", time(self.time_ms), counted(self.lines, "line")));
        page.styled("1", head);
        page.line("");
        let wide = self.charts.iter().map(|chart| width(name(&chart.chart))).max().unwrap_or(0);
        let digits = self.agents.to_string().len();
        for chart in &self.charts {
            let count = chart.agents.to_string();
            let room = terminal.width.saturating_sub(2 + wide + 2 + digits + 2).max(20);
            for (nth, states) in wrapped(&fullest(chart), room).iter().enumerate() {
                let (name, count) = if nth == 0 { (name(&chart.chart), &*count) } else { ("", "") };
                page.line(format!("  {}  {count:>digits$}  {states}", padded(name, wide)));
            }
        }
        page.line("");
        let mut row = |what: &str, text: String| {
            for (nth, text) in wrapped(&text, terminal.width.saturating_sub(14)).iter().enumerate()
            {
                let what = if nth == 0 { what } else { "" };
                page.line(format!("  {what:<12}{text}"));
            }
        };
        row("genesis", some(self.genesis, counted(self.genesis, "agent")));
        row("runs", list(&self.ended));
        row("turns", some(self.turns, self.turns.to_string()));
        row("questions", some(self.questions, self.questions.to_string()));
        let cost = if self.cost > 0.0 { format!(", cost {:.4}", self.cost) } else { String::new() };
        let tokens = format!("{} in, {} out{cost}", self.input_tokens, self.output_tokens);
        row("tokens", some(self.input_tokens + self.output_tokens, tokens));
        row("actions", Tool::list(&self.actions));
        row("setbacks", list(&self.setbacks));
        row("errors", list(&self.errors));
        row("scrip", self.world.scrip());
        row("world", list(&self.world.others()));
        if let Some(sums) = &self.cascades {
            let longest = counted(sums.longest.len(), "step");
            row(
                "cascades",
                format!("{}; the longest has {longest}", counted(sums.effects, "effect")),
            );
            let most = sums.influence.iter().map(|row| {
                let (effects, reached) =
                    (counted(row.effects, "effect"), counted(row.reached, "agent"));
                format!("{} {effects} on {reached}", row.agent)
            });
            row("influence", most.collect::<Vec<_>>().join(", "));
        }
        page
    }
}

/// Whether an agent is made that is there from the beginning.
fn is_genesis_agent(line: &Line) -> bool {
    let Happening::World { event: "created", data: Value::Map(data) } = line.event().what else {
        return false;
    };
    let is = |key: &str, wanted: Value| data.get(key) == Some(&wanted);
    is("type", Value::Text("agent".into())) && is("is_genesis", Value::Bool(true))
}

/// Breaks a list after commas into lines of at most `columns` columns. An empty list has no line.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive(", ") {
        match lines.last_mut() {
            Some(last) if width(last) + width(part.trim_end()) <= columns => last.push_str(part),
            Some(_) | None => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

fn show(log: &mut Log, is_json: bool, terminal: Terminal) -> miette::Result<()> {
    let mut overview = Overview::default();
    let (mut census, mut cascades, mut ticks) = (Census::new(), Cascades::new(), Totals::default());
    let is_wanted = |kind: &str| {
        STATES.contains(&kind) || CAUSES.contains(&kind) || OVERVIEW_KINDS.contains(&kind)
    };
    log.read(
        |head| is_wanted(&head.kind),
        |logged| {
            census.observe(&logged.agent, &logged.line);
            cascades.observe(&logged);
            if logged.agent.is_empty() {
                ticks.line(&logged.line);
                overview.world.line(&logged.line);
                overview.genesis += u64::from(is_genesis_agent(&logged.line));
            } else {
                overview.line(&logged.line);
            }
            ControlFlow::Continue(())
        },
    )?;
    overview.lines = log.lines;
    overview.unread = log.faults.len();
    overview.time_ms = log.at_ms;
    overview.agents = census.agents();
    overview.charts = census.state_distribution();
    overview.ticks = ticks.ticks;
    for agent in census.names().collect::<Vec<_>>() {
        let status = census.ended(agent).unwrap_or("open");
        *overview.ended.entry(status.to_owned()).or_default() += 1;
    }
    let sums = Sums::new(&cascades, MOST_NAMED);
    overview.cascades = (sums.effects > 0).then_some(sums);
    if is_json {
        return print_view(overview);
    }
    print(&overview.text(&log.name, terminal))
}

// Shows which agents are in which state.

/// The kinds of trace lines that a census needs.
const CENSUS_KINDS: [&str; 6] = ["run", "resumed", "entered", "exited", "ended", "world"];

/// The time at which agents are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountTime {
    /// The end of a tick.
    Tick(u64),
    /// A time in milliseconds. Everything that happened at it counts.
    Time(u64),
}

impl CountTime {
    fn read(text: &str) -> miette::Result<Self> {
        if let Ok(tick) = text.parse() {
            return Ok(Self::Tick(tick));
        }
        text.parse::<Duration>().map(|time| Self::Time(time.0)).map_err(|_| {
            miette::miette!(
                help = "a tick is a as 40; a time has a unit, as 90s, 5m or 1h",
                "--at: `{text}` is neither a tick nor a time"
            )
        })
    }

    /// Whether the line, and so every later one, comes after the time.
    fn is_before(self, line: &Line) -> bool {
        match self {
            Self::Tick(_) => false,
            Self::Time(time) => line.at_ms > time,
        }
    }
}

/// Counts the agents in each state at the time `at`, or at the end of the log.
fn census(log: &mut Log, at: Option<&str>) -> miette::Result<Census> {
    let at = at.map(CountTime::read).transpose()?;
    let mut census = Census::new();
    let mut last = None;
    let mut is_over = false;
    log.read(
        |head| CENSUS_KINDS.contains(&&*head.kind),
        |logged| {
            if at.is_some_and(|at| at.is_before(&logged.line)) {
                is_over = true;
                return ControlFlow::Break(());
            }
            census.observe(&logged.agent, &logged.line);
            last = logged.line.event().tick().or(last);
            // The summary is the last line of its tick.
            if at.is_some_and(|at| last.is_some_and(|last| CountTime::Tick(last) == at)) {
                is_over = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        },
    )?;
    if let (Some(CountTime::Tick(tick)), false) = (at, is_over) {
        return Err(match last {
            Some(last) => miette::miette!("{} has no tick {tick}: its last is {last}", log.name),
            None => {
                miette::miette!(help = "name a time instead, as 90s", "{} has no ticks", log.name)
            }
        });
    }
    Ok(census)
}

/// Lists the agents in a state.
fn agents_in(log: &mut Log, state: &str, at: Option<&str>, is_json: bool) -> miette::Result<()> {
    let census = census(log, at)?;
    let agents = census.agents_in_state(state).map_err(|why| refused(&log.name, why))?;
    if is_json {
        return print_view(json!({"state": state, "count": agents.len(), "agents": agents}));
    }
    let mut out = StyledText::default();
    for agent in agents {
        let end = census.ended(agent).map(|status| format!("  ended {status}"));
        out.line(format!("{agent}{}", end.unwrap_or_default()));
    }
    print(&out)
}

/// The error that a state cannot be found, with the nearest name.
fn refused(log: &str, why: Unknown) -> miette::Report {
    match &why {
        Unknown::State { state, known } => match nearest(state, known.iter().map(String::as_str)) {
            Some(near) => miette::miette!("{log}: {why}; did you mean `{near}`?"),
            None => miette::miette!(
                help = "`chartc trace LOG --distribution` lists the states",
                "{log}: {why}"
            ),
        },
        Unknown::Ambiguous { .. } => miette::miette!(help = "name the whole path", "{log}: {why}"),
    }
}

/// Shows how many agents are in each state.
fn distribution(
    log: &mut Log,
    at: Option<&str>,
    is_json: bool,
    (style, terminal): (Style, Terminal),
) -> miette::Result<()> {
    let census = census(log, at)?;
    let charts = census.state_distribution();
    if is_json {
        return print_view(json!({"agents": census.agents(), "charts": charts}));
    }
    print(&bars(&charts, style, terminal))
}

/// Prints a view as JSON on one line, with the version of its format.
fn print_view(view: impl Serialize) -> miette::Result<()> {
    #[derive(Serialize)]
    struct Versioned<V> {
        version: u32,
        #[serde(flatten)]
        view: V,
    }
    let text = serde_json::to_string(&Versioned { version: VERSION, view }).unwrap_or_default();
    print_json(&format!("{text}\n"))
}

// Adds up the summaries of ticks.

/// The number of highlights that are kept, the last ones.
const HIGHLIGHTS: usize = 10;

/// The sums of the summaries of all ticks.
#[derive(Debug, Default, Serialize)]
struct Totals {
    ticks: u64,
    last_tick: u64,
    /// The number of agents with an action, added up over the ticks.
    agents_active: u64,
    actions_executed: u64,
    actions_by_type: BTreeMap<String, u64>,
    total_llm_tokens: u64,
    total_scrip_transferred: u64,
    artifacts_created: u64,
    errors: u64,
    skipped: u64,
    /// The last highlights, each with its tick.
    highlights: Vec<(u64, String)>,
    #[serde(skip)]
    at_ms: u64,
}

fn count(data: &Map, name: &str) -> u64 {
    match data.get(name) {
        Some(Value::Int(count)) => u64::try_from(*count).unwrap_or(0),
        Some(Value::Float(count)) => *count as u64,
        Some(_) | None => 0,
    }
}

impl Totals {
    /// Adds a line of the world, if it summarizes a tick.
    fn line(&mut self, line: &Line) {
        let Happening::World { event, data: Value::Map(data) } = line.event().what else { return };
        if event != "tick_summary" {
            return;
        }
        let tick = count(data, "tick");
        self.ticks += 1;
        self.last_tick = self.last_tick.max(tick);
        self.at_ms = self.at_ms.max(line.at_ms);
        for (sum, name) in [
            (&mut self.agents_active, "agents_active"),
            (&mut self.actions_executed, "actions_executed"),
            (&mut self.total_llm_tokens, "total_llm_tokens"),
            (&mut self.total_scrip_transferred, "total_scrip_transferred"),
            (&mut self.artifacts_created, "artifacts_created"),
            (&mut self.errors, "errors"),
            (&mut self.skipped, "skipped"),
        ] {
            *sum = sum.saturating_add(count(data, name));
        }
        if let Some(Value::Map(types)) = data.get("actions_by_type") {
            for (action, _) in types.iter() {
                *self.actions_by_type.entry(action.to_owned()).or_default() += count(types, action);
            }
        }
        if let Some(Value::List(notes)) = data.get("highlights") {
            for note in notes {
                if let Value::Text(note) = note {
                    self.highlights.push((tick, note.clone()));
                }
            }
            let over = self.highlights.len().saturating_sub(HIGHLIGHTS);
            self.highlights.drain(..over);
        }
    }

    /// Formats the sums for people; empty if there were no ticks.
    fn text(&self) -> StyledText {
        let mut out = StyledText::default();
        if self.ticks == 0 {
            return out;
        }
        let end = if self.at_ms > 0 { format!(", {}", time(self.at_ms)) } else { String::new() };
        out.line(format!("{}{end}", counted(self.ticks, "tick")));
        let active = self.agents_active as f64 / self.ticks as f64;
        out.row("active", format!("{active:.1} agents a tick"));
        let actions = format!("{}: {}", self.actions_executed, list(&self.actions_by_type));
        out.row("actions", some(self.actions_executed, actions));
        out.row("tokens", some(self.total_llm_tokens, self.total_llm_tokens.to_string()));
        let scrip = format!("{} moved", self.total_scrip_transferred);
        out.row("scrip", some(self.total_scrip_transferred, scrip));
        let made = format!("{} made", self.artifacts_created);
        out.row("artifacts", some(self.artifacts_created, made));
        out.row("errors", some(self.errors, self.errors.to_string()));
        let skipped = format!("{} for want of room", counted(self.skipped, "turn"));
        out.row("skipped", some(self.skipped, skipped));
        for (nth, (tick, note)) in self.highlights.iter().enumerate() {
            let word = if nth == 0 { "highlights" } else { "" };
            out.row(word, format!("tick {tick}: {note}"));
        }
        out
    }
}
