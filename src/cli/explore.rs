//! The command `chartc explore`.

use super::files::Root;
use super::given::{PairKind, given as read};
use super::output::{self, Exit, StyledText, print, print_json};
use super::pick::pick_with_sources;
use chartc_compiler::explore::survey::{DEEPEST, EdgeRef, Survey, SurveyScope, survey};
use chartc_compiler::explore::witness::{self, Witness};
use chartc_compiler::explore::{Cut, Edge};
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::expr::{Value, fit, within};
use chartc_core::model::{Chart, VariableKind};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The version of the JSON format.
const VERSION: u32 = 1;

/// The maximum number of dead ends that are shown.
const MOST_SHOWN: usize = 5;

/// Try every answer and every event up to a depth: what is reached, how runs end, where they get stuck, what they cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc explore builder.chart
  chartc explore phases.chart --depth 12
  chartc explore agent.yaml --depth 6 --format json
  chartc explore phases.chart --param max_steps=3 --param goal=owls

Each run gets up to --depth stimuli. A stimulus is an event, a turn, a wait until the next deadline,
or an answer: an option, a value, an unusable answer or a failure. Only values that make a difference
to some guard are tried, also for params and inputs that you do not set.

A child chart, which a `run` step runs, is not explored itself: it may end in any of its final
states, or fail if it can, at any time.

Exit codes: 0 explored, 1 errors in the chart, or no run can start, 2 wrong usage, 3 internal error,
4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Maximum number of stimuli in a run
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=i64::from(DEEPEST)))]
    depth: u32,
    /// Maximum number of configurations to explore
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    states: usize,
    /// Fix the value of an input; JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Fix the value of a param; JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    format: String,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let (checked, sources) = match pick_with_sources(&args.file, args.chart.as_deref(), &args.root)?
    {
        Ok(found) => found,
        Err(exit) => return Ok(exit),
    };
    let chart = checked.chart();
    let scope = SurveyScope {
        inputs: args.depth,
        // At least the initial configuration is explored.
        states: args.states.max(1),
        given: given(chart, &args)?,
        children: checked.children().collect(),
    };
    let found = survey(chart, scope);
    let is_empty = found.found.points.is_empty();
    let place = |id: &TransitionId| {
        let (line, words) = output::line(chart, checked.map(), *id, &sources);
        format!("{}:{line}  {words}", sources.get(checked.map().file).name)
    };
    // A line with `from *` defines a transition of each state, and is listed once.
    let mut untaken = found.untaken.clone();
    untaken.sort_by_key(|id| checked.map().transition(*id).whole);
    untaken.dedup_by_key(|id| checked.map().transition(*id).whole);
    let lines: Vec<String> = untaken.iter().map(place).collect();
    let told = ExploreReport { chart, found: &found, depth: args.depth, lines };
    match args.format.as_str() {
        "json" => print_json(&told.json())?,
        _ => print(&told.human())?,
    }
    Ok(if is_empty { Exit::Findings } else { Exit::Clean })
}

/// Reads the values of `--param` and `--input`, and converts them to the types of the chart.
fn given(chart: &Chart, args: &Args) -> miette::Result<Vec<(VarId, Value)>> {
    let params = read(chart, PairKind::Param, &args.param)?;
    let inputs = read(chart, PairKind::Input, &args.input)?;
    let mut given = Vec::new();
    for (name, value) in params.iter().chain(inputs.iter()) {
        let Some(nth) = chart.variables.iter().position(|row| row.name == *name) else { continue };
        let row = &chart.variables[nth];
        let value = fit(value.clone(), &row.ty, &chart.types)
            .map_err(|why| miette::miette!("`{name}`: {why}"))?;
        if let VariableKind::Param { range: Some((low, high)) } = &row.kind {
            within(name, &value, low, high).map_err(|why| miette::miette!("{why}"))?;
        }
        given.push((VarId::at(nth), value));
    }
    Ok(given)
}

/// The results of an exploration with what is needed to show them.
struct ExploreReport<'c> {
    chart: &'c Arc<Chart>,
    found: &'c Survey,
    depth: u32,
    /// The transitions that were not taken, as text.
    lines: Vec<String>,
}

impl ExploreReport<'_> {
    fn path(&self, state: StateId) -> String {
        self.chart.state(state).path.clone()
    }

    fn paths(&self, states: &[StateId]) -> String {
        states.iter().map(|state| self.path(*state)).collect::<Vec<_>>().join(", ")
    }

    fn worst(&self) -> Witness {
        let way: Vec<&Edge> = self.found.worst.1.iter().map(|at| self.found.edge(*at)).collect();
        witness::witness(self.chart, &way)
    }

    fn cycle(&self, at: EdgeRef) -> Witness {
        let mut way = at.0.map(|from| self.found.found.way(from)).unwrap_or_default();
        way.push(self.found.edge(at));
        witness::witness(self.chart, &way)
    }

    fn dead(&self, point: usize) -> Witness {
        witness::witness(self.chart, &self.found.found.way(point))
    }

    fn human(&self) -> StyledText {
        let Survey { found, entered, left, ends, open, cycle, opaque_charts, worst, .. } =
            self.found;
        if found.points.is_empty() {
            return self.nothing();
        }
        let inputs = number(u128::from(self.depth), "input");
        let mut text = StyledText::default();
        text.line(format!(
            "{}: every answer and every event, {inputs} deep, {}",
            self.chart.name,
            number(found.points.len() as u128, "configuration")
        ));
        for reason in &found.reasons {
            text.line(format!("  not everything was tried: {reason}"));
        }
        for step in opaque_charts {
            text.line(format!(
                "  taken as a box: {step}, which may end in each of its ways at any time"
            ));
        }
        text.line(format!("  reached       {}", self.paths(entered)));
        if !left.is_empty() {
            let within = self.within().map_or_else(|| "  ".to_owned(), |within| within + ": ");
            text.line(format!("  not reached {within}{}", self.paths(left)));
        }
        self.add_lines(&mut text);
        for (status, runs) in ends {
            text.line(format!("  ends {status:8} {}", number(*runs, "run")));
        }
        text.line(format!("  goes on       {}", number(*open, "run")));
        self.add_dead_ends(&mut text);
        if let Some(at) = cycle {
            let mut head = "  livelock      ";
            for step in self.cycle(*at).steps {
                text.line(format!("{head}{step}"));
                head = "                ";
            }
        }
        let uncounted =
            if self.found.is_uncounted { ", less those of the charts that it runs" } else { "" };
        let calls = number(u128::from(worst.0), "model call");
        text.line(format!("  worst cost    {calls}{uncounted}"));
        if worst.0 > 0 {
            for step in self.worst().steps {
                text.line(format!("                {step}"));
            }
        }
        text
    }

    /// Adds the transitions that were not taken.
    fn add_lines(&self, text: &mut StyledText) {
        match self.within() {
            Some(within) if !self.lines.is_empty() => {
                text.line(format!("  not taken {within}:"));
                for line in &self.lines {
                    text.line(format!("                {line}"));
                }
            }
            Some(_) | None => {
                for line in &self.lines {
                    text.line(format!("  not taken     {line}"));
                }
            }
        }
    }

    fn add_dead_ends(&self, text: &mut StyledText) {
        let dead = &self.found.dead;
        if dead.is_empty() {
            text.line("  dead ends     none");
        }
        for point in dead.iter().take(MOST_SHOWN) {
            let way = self.dead(*point).steps;
            let mut head = "  dead end      ";
            for step in way {
                text.line(format!("{head}{step}"));
                head = "                ";
            }
        }
        if dead.len() > MOST_SHOWN {
            text.line(format!("  dead ends     {} more", dead.len() - MOST_SHOWN));
        }
    }

    /// The bounds that ended the search, if any did: what was not found may exist beyond them.
    fn within(&self) -> Option<String> {
        let Survey { found, is_whole, is_short, .. } = self.found;
        if *is_whole {
            return None;
        }
        let mut bounds = Vec::new();
        if *is_short {
            bounds.push(number(u128::from(self.depth), "input"));
        }
        match found.cut {
            Some(Cut::States) => bounds.push(format!(
                "{}, the maximum",
                number(found.points.len() as u128, "configuration")
            )),
            Some(Cut::Work) => bounds.push(format!(
                "{}, then the budget of the search was used up",
                number(found.points.len() as u128, "configuration")
            )),
            None => {}
        }
        if found.reasons.len() > usize::from(found.cut.is_some()) {
            bounds.push("the values tried".to_owned());
        }
        Some(format!("within {}", bounds.join(" and ")))
    }

    /// The text for a chart of which no run can start.
    fn nothing(&self) -> StyledText {
        let mut text = StyledText::default();
        text.line(format!("{}: nothing was explored, because no run can start", self.chart.name));
        for reason in &self.found.found.reasons {
            text.line(format!("  {reason}"));
        }
        text
    }

    fn json(&self) -> String {
        let Survey { found, entered, left, ends, open, dead, cycle, worst, .. } = self.found;
        let paths = |states: &[StateId]| -> Vec<String> {
            states.iter().map(|state| self.path(*state)).collect()
        };
        let way = |told: Witness| {
            let entries = told.entries.iter().filter_map(|e| serde_json::from_str(e).ok());
            let entries: Vec<Json> = entries.collect();
            json!({"steps": told.steps, "events": entries})
        };
        let ends: serde_json::Map<String, Json> =
            ends.iter().map(|(status, runs)| ((*status).to_owned(), count(*runs))).collect();
        let dead: Vec<Json> = dead.iter().map(|point| way(self.dead(*point))).collect();
        let told = json!({
            "version": VERSION,
            "chart": self.chart.name,
            "depth": self.depth,
            "points": found.points.len(),
            "bounded": found.reasons,
            "complete": self.found.is_whole,
            "boxed": self.found.opaque_charts,
            "reached": paths(entered),
            "not_reached": paths(left),
            "not_taken": self.lines,
            "ends": ends,
            "goes_on": count(*open),
            "dead_ends": dead,
            "livelock": cycle.map(|at| way(self.cycle(at))),
            "worst": {"calls": worst.0, "way": way(self.worst()), "less_children": self.found.is_uncounted},
        });
        format!("{told:#}\n")
    }
}

/// A count as JSON. Counts that do not fit in 64 bits are shown as the largest that does.
fn count(count: u128) -> Json {
    json!(u64::try_from(count).unwrap_or(u64::MAX))
}

/// Formats a count and its noun, with a comma between groups of three digits.
fn number(count: u128, word: &str) -> String {
    let digits = count.to_string();
    let mut shown = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    format!("{shown} {word}{}", if count == 1 { "" } else { "s" })
}
