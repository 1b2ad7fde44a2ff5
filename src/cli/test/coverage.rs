//! Which parts of a chart its tests have gone through, from the traces of their runs.

use crate::cli::lines;
use crate::compile::Checked;
use crate::lower::SourceMap;
use crate::source::Sources;
use crate::span::Span;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, ChoiceKind, StateKind, Trigger};
use chartc_runtime::trace::{Line, LineName, What};
use std::collections::{BTreeMap, BTreeSet};

/// What has been gone through of one chart.
#[derive(Debug, Default)]
struct Seen {
    entered: BTreeSet<String>,
    taken: BTreeSet<Span>,
    /// Guards that held, and that did not.
    held: BTreeSet<Span>,
    refused: BTreeSet<Span>,
    offered: BTreeSet<String>,
    chosen: BTreeSet<String>,
}

/// Some of all.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub(super) struct Share {
    pub(super) seen: usize,
    pub(super) all: usize,
}

impl Share {
    /// Of a hundred; all of nothing is all.
    pub(super) fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.seen as f64 / self.all as f64 }
    }
}

/// A line of the chart that no test has taken.
#[derive(Debug, serde::Serialize)]
pub(super) struct Untaken {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) text: String,
}

/// What the tests have gone through of one chart.
#[derive(Debug, serde::Serialize)]
pub(super) struct Coverage {
    pub(super) chart: String,
    pub(super) file: String,
    /// The shares below added up: what `--min-coverage` is about.
    pub(super) all: Share,
    pub(super) states: Share,
    pub(super) lines: Share,
    pub(super) options_offered: Share,
    pub(super) options_chosen: Share,
    pub(super) guards_true: Share,
    pub(super) guards_false: Share,
    /// States that no test has entered.
    pub(super) never_entered: Vec<String>,
    /// Lines that no test has taken.
    pub(super) never_taken: Vec<Untaken>,
    /// Options that no test has chosen.
    pub(super) never_chosen: Vec<String>,
}

impl Coverage {
    /// What counts, each in its words.
    pub(super) fn rows(&self) -> [(&'static str, Share); 6] {
        [
            ("states entered", self.states),
            ("lines taken", self.lines),
            ("options offered", self.options_offered),
            ("options chosen", self.options_chosen),
            ("guards seen true", self.guards_true),
            ("guards seen false", self.guards_false),
        ]
    }

    fn added_up(mut self) -> Self {
        self.all = self.rows().iter().fold(Share::default(), |all, (_, row)| Share {
            seen: all.seen + row.seen,
            all: all.all + row.all,
        });
        self
    }
}

/// One chart that tests have run, with its spans.
struct Subject<'c> {
    chart: &'c Chart,
    map: &'c SourceMap,
    /// States by their paths.
    paths: BTreeMap<&'c str, StateId>,
    seen: Seen,
    /// What is active in the run that is being read.
    active: BTreeSet<StateId>,
    /// By step, the leaf that it was started for last.
    leaves: BTreeMap<String, StateId>,
}

/// The coverage of each chart that ran, by the place of the chart.
pub(super) fn coverage<'c>(
    runs: impl Iterator<Item = (&'c Checked, &'c [Line])>,
    sources: &Sources,
) -> Vec<Coverage> {
    let mut subjects: BTreeMap<Span, Subject<'c>> = BTreeMap::new();
    for (checked, lines) in runs {
        let own = checked.lowered();
        let family: Vec<_> = std::iter::once(own).chain(checked.lowered_children()).collect();
        for one in &family {
            let (chart, map) = (&one.chart, &one.map);
            subjects.entry(map.name).or_insert_with(|| Subject::of(chart, map));
        }
        // Which chart runs under which steps.
        let mut places: BTreeMap<&str, Span> = BTreeMap::from([("", own.map.name)]);
        for line in lines {
            if let What::Run { chart, .. } = &line.what
                && let Some(one) = family.iter().find(|one| one.chart.name == *chart)
                && !line.child.is_empty()
            {
                places.insert(&line.child, one.map.name);
            }
            let subject = places.get(line.child.as_str()).and_then(|at| subjects.get_mut(at));
            if let Some(subject) = subject {
                subject.see(&line.what);
            }
        }
    }
    subjects.values().map(|subject| subject.sum(sources)).collect()
}

impl<'c> Subject<'c> {
    fn of(chart: &'c Chart, map: &'c SourceMap) -> Self {
        let states = chart.states.iter().enumerate();
        let paths = states.map(|(i, state)| (state.path.as_str(), StateId::at(i))).collect();
        let (seen, active, leaves) = (Seen::default(), BTreeSet::new(), BTreeMap::new());
        Self { chart, map, paths, seen, active, leaves }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "the rest of what happens covers nothing")]
    fn see(&mut self, what: &What) {
        match what {
            What::Run { .. } => {
                self.active.clear();
                self.leaves.clear();
            }
            What::Entered { state } => {
                self.seen.entered.insert(state.clone());
                self.active.extend(self.paths.get(state.as_str()));
            }
            What::Exited { state } => {
                if let Some(state) = self.paths.get(state.as_str()) {
                    self.active.remove(state);
                }
            }
            What::Started { step, state, .. } => {
                if let Some(state) = self.paths.get(state.as_str()) {
                    self.leaves.insert(step.clone(), *state);
                }
            }
            What::Turn { .. } | What::Event { .. } => self.rest(),
            What::Taken { line } => {
                if let Some(id) = self.line(line) {
                    let spans = self.map.line(id);
                    self.seen.taken.insert(spans.whole);
                    self.seen.held.extend(spans.guard);
                }
            }
            What::Lost { line, why } if why == "guard" => {
                let guard = self.line(line).and_then(|id| self.map.line(id).guard);
                self.seen.refused.extend(guard);
            }
            What::Question { step, options, .. } => {
                self.rest();
                self.seen.offered.extend(options.iter().cloned());
                if let Some(leaf) = self.leaves.get(step).filter(|_| !options.is_empty()) {
                    self.offer(*leaf, options);
                }
            }
            What::Chosen { option } => {
                self.seen.chosen.insert(option.clone());
            }
            What::Unasked { option } => {
                self.seen.offered.insert(option.clone());
                self.seen.chosen.insert(option.clone());
            }
            What::Called { tool, .. } => {
                self.seen.chosen.insert(tool.clone());
            }
            _ => {}
        }
    }

    /// The run rests: the condition of every `when` line that could be taken now is false. The trace does not say so.
    fn rest(&mut self) {
        for (line, spans) in self.chart.transitions.iter().zip(&self.map.lines) {
            let is_open = line.trigger == Trigger::When
                && self.active.contains(&line.source)
                && line.scope.as_ref().is_none_or(|scope| {
                    let is_in = |state: &StateId| self.active.contains(state);
                    (scope.any_of.is_empty() || scope.any_of.iter().any(is_in))
                        && !scope.none_of.iter().any(is_in)
                });
            if is_open {
                self.seen.refused.extend(spans.guard);
            }
        }
    }

    /// What a question offers tells of the conditions of the options: those of the leaf and of what is around it.
    fn offer(&mut self, leaf: StateId, options: &[String]) {
        for (line, spans) in self.chart.transitions.iter().zip(&self.map.lines) {
            let Trigger::Choice(choice) = line.trigger else { continue };
            if !self.chart.contains(line.source, leaf) || line.scope.is_some() {
                continue;
            }
            let choice = &self.chart.choices[choice.index()];
            let is_offered = match &choice.kind {
                ChoiceKind::Option(_) => options.contains(&choice.name),
                ChoiceKind::Call(set, _) => {
                    let tools = self.chart.tools_of(*set);
                    tools.iter().any(|tool| options.contains(&self.chart.tools[tool.index()].name))
                }
            };
            let seen = if is_offered { &mut self.seen.held } else { &mut self.seen.refused };
            seen.extend(spans.guard);
        }
    }

    /// The line that a trace names: of a state's lines, the nth.
    fn line(&self, name: &LineName) -> Option<TransitionId> {
        let state = self.paths.get(name.state.as_str())?;
        let first = self.chart.transitions.iter().position(|line| line.source == *state)?;
        let id = TransitionId::at(first + (name.nth as usize).checked_sub(1)?);
        (id.index() < self.map.lines.len()).then_some(id)
    }

    fn untaken(&self, span: Span, sources: &Sources) -> Option<Untaken> {
        let nth = self.map.lines.iter().position(|line| line.whole == span)?;
        let (line, text) = lines::line(self.chart, self.map, TransitionId::at(nth), sources);
        Some(Untaken { file: sources.get(span.file).name.clone(), line, text })
    }

    fn sum(&self, sources: &Sources) -> Coverage {
        let Self { chart, map, seen, .. } = self;
        let real = |state: &&chartc_core::model::State| {
            state.parent.is_some() && !matches!(state.kind, StateKind::History { .. })
        };
        let states: BTreeSet<&str> =
            chart.states.iter().filter(real).map(|state| state.path.as_str()).collect();
        let lines: BTreeSet<Span> = map.lines.iter().map(|line| line.whole).collect();
        let guards: BTreeSet<Span> = map.lines.iter().filter_map(|line| line.guard).collect();
        let mut options: BTreeSet<&str> = BTreeSet::new();
        for choice in &chart.choices {
            match &choice.kind {
                ChoiceKind::Option(_) => {
                    options.insert(&choice.name);
                }
                ChoiceKind::Call(set, _) => {
                    let tools = chart.tools_of(*set);
                    options.extend(tools.iter().map(|id| chart.tools[id.index()].name.as_str()));
                }
            }
        }
        let share = |all: usize, seen: usize| Share { seen, all };
        let count = |names: &BTreeSet<&str>, seen: &BTreeSet<String>| {
            names.iter().filter(|name| seen.contains(**name)).count()
        };
        let inside = |all: &BTreeSet<Span>, seen: &BTreeSet<Span>| all.intersection(seen).count();
        let without = |names: &BTreeSet<&str>, seen: &BTreeSet<String>| {
            let left = names.iter().filter(|name| !seen.contains(**name));
            left.map(|name| (*name).to_owned()).collect()
        };
        let coverage = Coverage {
            chart: chart.name.clone(),
            file: sources.get(map.file).name.clone(),
            all: Share::default(),
            states: share(states.len(), count(&states, &seen.entered)),
            lines: share(lines.len(), inside(&lines, &seen.taken)),
            options_offered: share(options.len(), count(&options, &seen.offered)),
            options_chosen: share(options.len(), count(&options, &seen.chosen)),
            guards_true: share(guards.len(), inside(&guards, &seen.held)),
            guards_false: share(guards.len(), inside(&guards, &seen.refused)),
            never_entered: without(&states, &seen.entered),
            never_taken: lines
                .difference(&seen.taken)
                .filter_map(|at| self.untaken(*at, sources))
                .collect(),
            never_chosen: without(&options, &seen.chosen),
        };
        coverage.added_up()
    }
}

/// The coverage in words.
pub(super) fn human(all: &[Coverage]) -> String {
    let mut text = String::new();
    for one in all {
        text.push_str(&format!("\n{} ({})\n", one.chart, one.file));
        let rows = one.rows().into_iter().chain([("all", one.all)]);
        for (what, share) in rows.filter(|(_, share)| share.all > 0) {
            let (seen, all) = (share.seen, share.all);
            text.push_str(&format!(
                "  {what:18}{seen:>4} of {all:<4} {:>3.0} %\n",
                share.percent()
            ));
        }
        if !one.never_entered.is_empty() {
            text.push_str(&format!("  never entered: {}\n", one.never_entered.join(", ")));
        }
        if !one.never_chosen.is_empty() {
            text.push_str(&format!("  never chosen: {}\n", one.never_chosen.join(", ")));
        }
        if !one.never_taken.is_empty() {
            text.push_str("  never taken:\n");
        }
        for line in &one.never_taken {
            text.push_str(&format!("    {}:{}  {}\n", line.file, line.line, line.text));
        }
    }
    text
}
