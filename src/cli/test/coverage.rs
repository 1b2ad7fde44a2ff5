//! Computes the coverage of a chart by its tests, from the traces of their runs.

use crate::cli::lines;
use crate::cli::output::StyledText;
use crate::scenario::{Did, follow};
use chartc_check::compile::Checked;
use chartc_check::lower::SourceMap;
use chartc_core::arena::TransitionId;
use chartc_core::model::{Chart, ChoiceKind, StateKind};
use chartc_runtime::trace::Line;
use chartc_text::source::Sources;
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The parts of a chart that tests have covered.
#[derive(Debug, Default)]
struct CoveredParts {
    entered: BTreeSet<String>,
    taken: BTreeSet<Span>,
    /// The guards that were seen true, and those that were seen false.
    held: BTreeSet<Span>,
    refused: BTreeSet<Span>,
    offered: BTreeSet<String>,
    chosen: BTreeSet<String>,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub(super) struct Share {
    pub(super) seen: usize,
    pub(super) all: usize,
}

impl Share {
    /// The share in percent; 100 if the total is 0.
    pub(super) fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.seen as f64 / self.all as f64 }
    }
}

/// A transition that no test takes.
#[derive(Debug, serde::Serialize)]
pub(super) struct Untaken {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) text: String,
}

/// The coverage of one chart.
#[derive(Debug, serde::Serialize)]
pub(super) struct Coverage {
    pub(super) chart: String,
    pub(super) file: String,
    /// The sum of all shares below, which `--min-coverage` compares with.
    pub(super) all: Share,
    pub(super) states: Share,
    pub(super) lines: Share,
    pub(super) options_offered: Share,
    pub(super) options_chosen: Share,
    pub(super) guards_true: Share,
    pub(super) guards_false: Share,
    /// The paths of the states that no test enters.
    pub(super) never_entered: Vec<String>,
    /// The transitions that no test takes.
    pub(super) never_taken: Vec<Untaken>,
    /// The options that no test chooses.
    pub(super) never_chosen: Vec<String>,
}

impl Coverage {
    /// The shares, each with its label.
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

/// A chart that tests have run, and what they have covered of it.
struct CoveredChart<'c> {
    chart: &'c Chart,
    map: &'c SourceMap,
    seen: CoveredParts,
}

/// Computes the coverage of each chart that ran, in the order of the sources.
pub(super) fn coverage<'c>(
    runs: impl Iterator<Item = (&'c Checked, &'c [Line])>,
    sources: &Sources,
) -> Vec<Coverage> {
    let mut subjects: BTreeMap<Span, CoveredChart<'c>> = BTreeMap::new();
    for (checked, lines) in runs {
        for one in std::iter::once(checked.lowered()).chain(checked.lowered_children()) {
            let (chart, map, seen) = (&one.chart, &one.map, CoveredParts::default());
            subjects.entry(map.name).or_insert(CoveredChart { chart, map, seen });
        }
        follow(checked, lines, |one, _, did| {
            subjects.get_mut(&one.map.name).into_iter().for_each(|subject| subject.see(&did));
        });
    }
    subjects.values().map(|subject| subject.sum(sources)).collect()
}

impl CoveredChart<'_> {
    fn see(&mut self, did: &Did) {
        let Self { chart, map, seen } = self;
        match did {
            Did::Entered(state) => {
                seen.entered.insert(chart.state(*state).path.clone());
            }
            Did::Taken(line) => {
                seen.taken.insert(map.transition(*line).whole);
                seen.held.extend(map.transition(*line).guard);
            }
            Did::Held(line) => seen.held.extend(map.transition(*line).guard),
            Did::Refused(line) => seen.refused.extend(map.transition(*line).guard),
            Did::Offered(option) => {
                seen.offered.insert(option.clone());
            }
            Did::Chosen(option) => {
                seen.chosen.insert(option.clone());
            }
            Did::Denied(_) | Did::Done(_) => {}
        }
    }

    fn untaken(&self, span: Span, sources: &Sources) -> Option<Untaken> {
        let nth = self.map.transitions.iter().position(|line| line.whole == span)?;
        let (line, text) = lines::line(self.chart, self.map, TransitionId::at(nth), sources);
        Some(Untaken { file: sources.get(span.file).name.clone(), line, text })
    }

    fn sum(&self, sources: &Sources) -> Coverage {
        let Self { chart, map, seen } = self;
        // The root is entered in every run, and a history in none.
        let real = |state: &&chartc_core::model::State| {
            state.parent.is_some() && !matches!(state.kind, StateKind::History { .. })
        };
        let states: BTreeSet<&str> =
            chart.states.iter().filter(real).map(|state| state.path.as_str()).collect();
        // Counted by source text, so that a line with `from *` counts once.
        let lines: BTreeSet<Span> = map.transitions.iter().map(|line| line.whole).collect();
        let guards: BTreeSet<Span> = map.transitions.iter().filter_map(|line| line.guard).collect();
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

/// Formats the coverage as text.
pub(super) fn human(all: &[Coverage]) -> StyledText {
    let mut text = StyledText::default();
    for one in all {
        text.line("");
        text.line(format!("{} ({})", one.chart, one.file));
        let rows = one.rows().into_iter().chain([("all", one.all)]);
        for (what, share) in rows.filter(|(_, share)| share.all > 0) {
            let (seen, all) = (share.seen, share.all);
            text.line(format!("  {what:18}{seen:>4} of {all:<4} {:>3.0} %", share.percent()));
        }
        if !one.never_entered.is_empty() {
            text.line(format!("  never entered: {}", one.never_entered.join(", ")));
        }
        if !one.never_chosen.is_empty() {
            text.line(format!("  never chosen: {}", one.never_chosen.join(", ")));
        }
        if !one.never_taken.is_empty() {
            text.line("  never taken:");
        }
        for line in &one.never_taken {
            text.line(format!("    {}:{}  {}", line.file, line.line, line.text));
        }
    }
    text
}
