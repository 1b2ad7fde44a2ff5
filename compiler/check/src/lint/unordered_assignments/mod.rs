//! Regions that assign one variable although nothing says which is first.
//!
//! The problem: the regions of a parallel run beside each other. If two of them assign the same variable, the value of one is lost, and
//! which one depends on document order or on time. The idea: [`site`] lists every assignment with its cause and its phase of a microstep,
//! and [`order`] decides for each pair in different regions whether they may happen together. For example:
//!
//! ```text
//! parallel work {
//!   state left  { initial a  state a { on go { best = 1 } } }
//!   state right { initial b  state b { on go { best = 2 } } }
//! }
//! ```
//!
//! 1. `best` has two assignments, whose causes are the transitions of `a` and `b`.
//! 2. The causes are in different regions of `work`, and one event, `go`, triggers both.
//! 3. Neither value is computed from `best`, the values differ, and no guards exclude each other: a race.

mod order;
mod site;

use super::lost_count::place;
use super::{Context, Lint, words};
use crate::facts::counter::{CounterChange, Writer};
use chartc_core::arena::VarId;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNORDERED_ASSIGNMENTS;
use chartc_text::span::Span;
use order::{Race, race};
use site::{Cause, Site, sites};

pub(super) static LINT: Lint = Lint { rule: &UNORDERED_ASSIGNMENTS, needs_whole: true, run };

/// The maximum number of assignments of one variable that are compared with each other.
const MOST: usize = 64;

/// The maximum number of places that a finding shows besides its own.
const SHOWN: usize = 3;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    for (variable, sites) in sites(chart, facts) {
        let sites = &sites[..sites.len().min(MOST)];
        let mut told: Vec<Span> = Vec::new();
        for (nth, later) in sites.iter().enumerate() {
            let at = span(context, variable, later);
            let mut races = sites[..nth].iter().filter_map(|earlier| {
                let race = race(chart, facts, variable, earlier, later)?;
                Some((span(context, variable, earlier), race))
            });
            let Some((first, race)) = races.next() else { continue };
            if told.contains(&at) {
                continue;
            }
            told.push(at);
            let mut places = vec![first];
            places.extend(races.filter(|(_, other)| other.kind == race.kind).map(|(at, _)| at));
            places.dedup();
            diagnostics.push(finding(context, variable, at, &places, &race));
        }
    }
}

fn finding(
    context: &Context<'_>,
    variable: VarId,
    at: Span,
    places: &[Span],
    race: &Race,
) -> Diagnostic {
    let chart = context.chart;
    let name = &chart.variables[variable.index()].name;
    let [one, two] = race.regions.map(|region| words::state(chart, region));
    let (message, help) = match race.kind {
        order::RaceKind::Event => (
            format!("{one} and {two} assign `{name}` on the same event: one of the values is lost"),
            "assign it in one of the regions only, or a variable in each",
        ),
        order::RaceKind::Outcome => (
            format!(
                "{one} and {two} assign `{name}` in any order: the one that comes last decides"
            ),
            "assign a variable in each region, and compare them when both have ended",
        ),
    };
    let found = UNORDERED_ASSIGNMENTS.at(at, message).help(help);
    places
        .iter()
        .take(SHOWN)
        .fold(found, |found, place| found.related(*place, format!("{one} assigns it here")))
}

/// The place of an assignment.
fn span(context: &Context<'_>, variable: VarId, site: &Site<'_>) -> Span {
    match (site.place, site.cause) {
        (Some((owner, nth)), _) => {
            let writer = Writer { owner, nth, change: CounterChange::Other, is_repeated: false };
            place(context, variable, writer)
        }
        (None, Cause::Transition(transition)) => context.map.transition(transition).trigger,
        (None, Cause::Step(step)) => context.map.step(step).name,
    }
}
