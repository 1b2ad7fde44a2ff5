//! Follows a run through its trace, and reports what happened to the transitions, states and options of its charts.

use chartc_check::compile::Checked;
use chartc_check::lower::{Lowered, SourceMap};
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Chart, ChoiceKind, Trigger};
use chartc_runtime::trace::{Line, LineName, What};
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Something that happened to a part of a chart during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Did {
    /// A state was entered.
    Entered(StateId),
    /// The guard of a transition held, or the transition was taken.
    Taken(TransitionId),
    /// The guard of an option held, and the option was offered.
    Held(TransitionId),
    /// The guard of a transition or option did not hold.
    Refused(TransitionId),
    /// A transition was chosen, but no `allow` line permits its target.
    Denied(TransitionId),
    /// An option was offered, by its name.
    Offered(String),
    /// An option or a tool was chosen, by its name.
    Chosen(String),
    /// A step has ended.
    Done(StepId),
}

/// One chart of a run.
struct FollowedChart<'c> {
    chart: &'c Chart,
    map: &'c SourceMap,
    /// All states, by path.
    paths: BTreeMap<&'c str, StateId>,
    /// The active states.
    active: BTreeSet<StateId>,
    /// The leaf for which each step was last started, by the name of the step.
    leaves: BTreeMap<String, StateId>,
}

/// Follows a run of `checked` and its child charts. `see` gets the chart concerned, the index of the line in `lines`, and what happened.
pub(crate) fn follow<'c>(
    checked: &'c Checked,
    lines: &[Line],
    mut see: impl FnMut(&'c Lowered, usize, Did),
) {
    let own = checked.lowered();
    let family: Vec<&Lowered> = std::iter::once(own).chain(checked.lowered_children()).collect();
    let mut subjects: BTreeMap<Span, (FollowedChart<'c>, &'c Lowered)> =
        family.iter().map(|one| (one.map.name, (FollowedChart::new(one), *one))).collect();
    // The chart that runs at each path of `run` steps, by its name's span: the same chart may run at several.
    let mut places: BTreeMap<&str, Span> = BTreeMap::from([("", own.map.name)]);
    for (nth, line) in lines.iter().enumerate() {
        if let What::Run { chart, .. } = &line.what
            && let Some(one) = family.iter().find(|one| one.chart.name == *chart)
            && !line.child.is_empty()
        {
            places.insert(&line.child, one.map.name);
        }
        let place = places.get(line.child.as_str());
        if let Some((subject, one)) = place.and_then(|at| subjects.get_mut(at)) {
            subject.read(&line.what, &mut |did| see(one, nth, did));
        }
    }
}

impl<'c> FollowedChart<'c> {
    fn new(one: &'c Lowered) -> Self {
        let (chart, map) = (&one.chart, &one.map);
        let states = chart.states.iter().enumerate();
        let paths = states.map(|(i, state)| (state.path.as_str(), StateId::at(i))).collect();
        Self { chart, map, paths, active: BTreeSet::new(), leaves: BTreeMap::new() }
    }

    fn read(&mut self, what: &What, see: &mut impl FnMut(Did)) {
        match what {
            What::Run { .. } => {
                self.active.clear();
                self.leaves.clear();
            }
            What::Entered { state } => {
                if let Some(state) = self.paths.get(state.as_str()) {
                    self.active.insert(*state);
                    see(Did::Entered(*state));
                }
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
            What::Turn { .. } | What::Event { .. } => self.rest(see),
            What::Taken { line, .. } => self.line(line).map(Did::Taken).into_iter().for_each(see),
            What::Lost { line, why } if why == "guard" => {
                self.line(line).map(Did::Refused).into_iter().for_each(see);
            }
            What::Denied { line } => self.line(line).map(Did::Denied).into_iter().for_each(see),
            What::Question { step, options, .. } => {
                self.rest(see);
                options.iter().cloned().map(Did::Offered).for_each(&mut *see);
                if let Some(leaf) = self.leaves.get(step).filter(|_| !options.is_empty()) {
                    self.offer(*leaf, options, see);
                }
            }
            What::Chosen { option } => see(Did::Chosen(option.clone())),
            What::Unasked { option } => {
                see(Did::Offered(option.clone()));
                see(Did::Chosen(option.clone()));
            }
            What::Called { tool, .. } => see(Did::Chosen(tool.clone())),
            What::Done { step, element: None } => {
                let nth = self.chart.steps.iter().position(|one| one.name == *step);
                nth.map(|nth| Did::Done(StepId::at(nth))).into_iter().for_each(see);
            }
            _ => {}
        }
    }

    /// Reports that the guard of every applicable `when` transition is false. The trace has no line for it, but in a stable configuration
    /// it is so.
    fn rest(&self, see: &mut impl FnMut(Did)) {
        for (nth, line) in self.chart.transitions.iter().enumerate() {
            let is_open = line.trigger == Trigger::When
                && self.active.contains(&line.source)
                && line.scope.as_ref().is_none_or(|scope| {
                    let is_in = |state: &StateId| self.active.contains(state);
                    (scope.any_of.is_empty() || scope.any_of.iter().any(is_in))
                        && !scope.none_of.iter().any(is_in)
                });
            if is_open {
                see(Did::Refused(TransitionId::at(nth)));
            }
        }
    }

    /// Reports the guards of the options of the leaf and its ancestors: those of offered options held, the others did not.
    fn offer(&self, leaf: StateId, options: &[String], see: &mut impl FnMut(Did)) {
        for (nth, line) in self.chart.transitions.iter().enumerate() {
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
            let id = TransitionId::at(nth);
            see(if is_offered { Did::Held(id) } else { Did::Refused(id) });
        }
    }

    /// The transition that a trace names by its source state and its number among that state's transitions, from 1.
    fn line(&self, name: &LineName) -> Option<TransitionId> {
        let state = self.paths.get(name.state.as_str())?;
        let first = self.chart.transitions.iter().position(|line| line.source == *state)?;
        let id = TransitionId::at(first + (name.nth as usize).checked_sub(1)?);
        (id.index() < self.map.transitions.len()).then_some(id)
    }
}
