//! Selects the places of a chart that a failed test shows.
//!
//! A failed expectation says what is wrong, not why. The run has been recorded line by line, so the places to look at can be
//! selected from it: the call that the run still waits for, the event that nothing handled, the last decisions and the values that
//! they read. For `expect at shut` against `state ajar { after 10s if calm -> shut }` after `wait 10s`:
//!
//! 1. [`follow`] lists what the run did: `Entered(ajar)`, then `Refused` for the `after` line.
//! 2. The run should be in `shut`, and this transition leads there: its guard is shown first, with `calm = false`.
//! 3. `calm` is read by that guard: the place that last set it is shown, too.
//!
//! Every place states a fact about the run, none a guess. At most [`MOST`] are shown, the most telling first.

use super::RelatedPlace;
use super::play::{Failure, Player, collect};
use super::test_host::Wanted;
use crate::scenario;
use chartc_compiler::compile::Checked;
use chartc_compiler::lower::test::{Expected, Move, Test};
use chartc_compiler::lower::{Lowered, SourceMap};
use chartc_compiler::notation;
use chartc_compiler::syntax::source::Span;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::{Status, StepKey};
use chartc_core::model::{
    Action, Chart, ChoiceKind, Expr, ExprKind, State, StateKind, StepKind, Transition, Trigger,
};
use chartc_runtime::trace::view::{EventFate, Fate, Happening, Outcome, Request, StepPhase};
use chartc_runtime::trace::{Line, LineName, TraceEvent};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of places that a failure shows.
const MOST: usize = 3;

/// An act of the run, with the index of the trace line that records it.
pub(super) struct RecordedAct<'c> {
    pub(super) one: &'c Lowered,
    pub(super) at: usize,
    pub(super) did: Did,
}

impl RecordedAct<'_> {
    pub(super) fn map(&self) -> &SourceMap {
        &self.one.map
    }

    fn moves(&self) -> bool {
        let chart = &self.one.chart;
        matches!(self.did, Did::Taken(id) if !chart.transition(id).targets.is_empty())
    }
}

/// Selects the places that explain `failure`, the most telling first, from what the run did and what it waits for.
pub(super) fn decided(
    player: &mut Player<'_>,
    checked: &Checked,
    test: &Test,
    failure: &Failure,
    lines: &[Line],
) -> Vec<RelatedPlace> {
    let mut acts = Vec::new();
    follow(checked, lines, |one, at, did| acts.push(RecordedAct { one, at, did }));
    let failed = test.moves.iter().find(|(_, span)| *span == failure.span).map(|(step, _)| step);
    let expected = failed.and_then(|step| {
        if let Move::Expect(expected, holds) = step { Some((expected, *holds)) } else { None }
    });
    let blame = Blame {
        wanted: wanted(checked.chart(), expected),
        player,
        checked,
        acts: &acts,
        lines,
        expected,
        places: Vec::new(),
        reads: Vec::new(),
    };
    let mut places = blame.explain(test, failed);
    places.truncate(MOST);
    places
}

/// A failure, and the places that explain it so far.
struct Blame<'b, 'p> {
    player: &'b mut Player<'p>,
    checked: &'b Checked,
    /// Everything that the run did.
    acts: &'b [RecordedAct<'b>],
    lines: &'b [Line],
    /// What the failed move expected, and whether it should hold.
    expected: Option<(&'b Expected, bool)>,
    /// The states that the run should be in.
    wanted: Vec<StateId>,
    places: Vec<RelatedPlace>,
    /// The variables that the places read.
    reads: Vec<VarId>,
}

impl<'b> Blame<'b, '_> {
    /// All places, the most telling first.
    fn explain(mut self, test: &Test, failed: Option<&Move>) -> Vec<RelatedPlace> {
        let expected = self.expected;
        let is_awaited = matches!(
            expected,
            None | Some((Expected::At(_) | Expected::Ended(_) | Expected::Holds(_), true))
        );
        let waits = if is_awaited { self.waiting() } else { Vec::new() };
        // While a call is under way, the test expects something that has not happened yet: the call is the cause, so it comes first.
        let is_walking = self.player.session.machine().is_walking();
        let is_held_up = expected.is_some() && !waits.is_empty() && is_walking;
        let (first, later) = if is_walking { (waits, Vec::new()) } else { (Vec::new(), waits) };
        self.places.extend(first);
        self.add_expected();
        self.add_call(failed);
        self.add_assignments();
        if is_held_up {
            return self.places;
        }
        let window = self.window();
        let latest = self.player.marks.last().copied().unwrap_or(0);
        let is_state = matches!(expected, Some((Expected::At(_) | Expected::Ended(_), true)));
        let is_step = matches!(
            expected,
            Some((Expected::Asked(_) | Expected::Asking(_) | Expected::Prompt(..), _))
        );
        let is_open = is_state || (expected.is_some() && !is_step && self.places.is_empty());
        let is_still = window.iter().all(|act| act.at < latest);
        if expected.is_some() && !is_step && is_still && self.add_lost() {
            self.add_leading();
            return self.places;
        }
        if is_open && is_still {
            self.add_leading();
            let idle = self.idle();
            self.places.extend(idle);
        }
        self.add_denied(&window);
        let since = self.add_last_taken(&window, latest);
        self.add_refused(window.iter().copied().filter(|act| act.at >= since));
        self.add_leading();
        self.add_assignments();
        if self.places.is_empty()
            && test.begins.is_empty()
            && !self.acts.iter().any(RecordedAct::moves)
        {
            let begins = self.checked.map().states.first().and_then(|root| root.initial);
            if let Some(begins) = begins {
                self.push(begins, "the run begins here, and stays");
            }
        }
        if self.places.is_empty() {
            self.places.extend(self.unusable(self.lines));
        }
        self.places.extend(later);
        self.places
    }

    /// The decisions after the last input of the test that led to any: earlier decisions have been superseded.
    fn window(&self) -> Vec<&'b RecordedAct<'b>> {
        let decides = |act: &&RecordedAct<'_>| {
            matches!(act.did, Did::Taken(_) | Did::Refused(_) | Did::Denied(_))
        };
        let starts = self.player.marks.iter().rev().copied().chain([0]);
        let mut windows = starts.map(|start| {
            self.acts.iter().filter(|act| act.at >= start).filter(decides).collect::<Vec<_>>()
        });
        windows.find(|window| !window.is_empty()).unwrap_or_default()
    }

    /// Adds a place, unless one that starts at the same position is already listed.
    fn push(&mut self, span: Span, what: &str) {
        let is_told =
            |place: &RelatedPlace| place.span.file == span.file && place.span.start == span.start;
        if !self.places.iter().any(is_told) {
            self.places.push(RelatedPlace { span, what: what.to_owned(), sets: None });
        }
    }

    /// Adds what the failed expectation itself names.
    fn add_expected(&mut self) {
        match self.expected {
            Some((Expected::Holds(condition), _)) => {
                variables(condition, &mut self.reads);
                self.add_assignments();
            }
            Some((Expected::Offered(names, only), holds)) => self.add_offered(names, *only, holds),
            Some((Expected::Asked(step), holds)) => self.add_asked(step, !holds),
            Some((Expected::Asking(asked), holds)) if asked.child.is_empty() => {
                self.add_asked(&asked.step, !holds);
            }
            Some((Expected::Prompt(step, _), _)) => {
                self.add_asked(step, false);
                let has_asked = self.lines.iter().map(Line::event).any(|event| {
                    let is_question =
                        matches!(event.what, Happening::CallBegun(_, Request::Question { .. }));
                    is_question && event.subject == step
                });
                let prompt = self.step(step).and_then(|nth| self.checked.map().steps[nth].prompt);
                if let Some(prompt) = prompt.filter(|_| has_asked) {
                    self.push(prompt, "the prompt is made of this");
                }
            }
            Some((Expected::Denied(state), true)) => self.add_permitting(*state),
            Some(_) | None => {}
        }
    }

    /// The number of a step.
    fn step(&self, name: &str) -> Option<usize> {
        self.checked.chart().steps.iter().position(|one| one.name == name)
    }

    /// Adds the step whose answer the failed move gives, or the one that still needs an answer.
    fn add_call(&mut self, failed: Option<&Move>) {
        if let Some(Move::Answer(who, _) | Move::Fail(who, _)) = failed {
            if who.child.is_empty() {
                self.add_asked(&who.step, false);
            }
        } else if self.expected.is_none() {
            let open = self.player.desk.open();
            if let Some(Wanted::Answer(question)) = open.iter().find(|wanted| wanted.is_owed()) {
                let step = question.step.clone();
                drop(open);
                self.add_asked(&step, true);
            }
        }
    }

    /// Adds the place where each of the variables that were read was last set, by a transition or a `code` step.
    fn add_assignments(&mut self) {
        let (chart, map) = (self.checked.chart(), self.checked.map());
        for id in self.reads.clone() {
            let is_set = |actions: &[Action]| sets(actions, &[id]);
            let own = self.acts.iter().filter(|act| act.map().name == map.name);
            let last = own.rev().find_map(|act| match act.did {
                Did::Taken(line) => {
                    let actions = &chart.transition(line).actions;
                    is_set(actions).then(|| map.transition(line).whole)
                }
                Did::Done(step) => match &chart.steps[step.index()].kind {
                    StepKind::Code(actions) => is_set(actions).then(|| map.step(step).whole),
                    _ => None,
                },
                _ => None,
            });
            let name = &chart.variables[id.index()].name;
            if let Some(span) = last {
                let before = self.places.len();
                self.push(span, &format!("`{name}` is set here"));
                if let Some(place) = self.places.get_mut(before) {
                    place.sets = Some(name.clone());
                }
            }
        }
    }

    /// Adds the transitions of active states that lead where the run should be, and were not taken.
    fn add_leading(&mut self) {
        let (chart, map) = (self.checked.chart(), self.checked.map());
        for (line, spans) in chart.transitions.iter().zip(&map.transitions) {
            let target = line.targets.iter().find(|target| self.wanted.contains(&target.state));
            let is_active = self.player.session.machine().is_active(line.source);
            if let Some(target) = target.filter(|_| is_active) {
                let what =
                    format!("leads to `{}`, and is not taken", chart.state(target.state).path);
                // Skip a transition whose guard is listed already.
                if !self.places.iter().any(|p| {
                    spans.whole.file == p.span.file
                        && spans.whole.start <= p.span.start
                        && p.span.end <= spans.whole.end
                }) {
                    self.push(spans.whole, &what);
                }
            }
        }
    }

    /// Adds the last choice that no `allow` line permits.
    fn add_denied(&mut self, window: &[&RecordedAct<'_>]) {
        let denied = window.iter().rev().find(|act| matches!(act.did, Did::Denied(_)));
        let Some(RecordedAct { one, did: Did::Denied(id), .. }) = denied else { return };
        let span = one.map.transition(*id).whole;
        self.push(span, "chosen, and no `allow` line permits it");
        if one.map.name == self.checked.map().name {
            self.add_refusing(*id);
        }
    }

    /// Adds the transition that was taken last. Returns the trace line from which on refused transitions count.
    fn add_last_taken(&mut self, window: &[&RecordedAct<'_>], latest: usize) -> usize {
        let stays = |act: &&&RecordedAct<'_>| act.at >= latest && matches!(act.did, Did::Taken(_));
        let last = window.iter().rev().find(|act| act.moves());
        let Some(last) = last.or_else(|| window.iter().rev().find(stays)) else { return 0 };
        if let RecordedAct { one, did: Did::Taken(id), .. } = last {
            self.push(one.map.transition(*id).whole, &taken(&one.chart, *id));
            let guard = one.chart.transition(*id).guard.as_ref();
            if let Some(guard) = guard.filter(|_| one.map.name == self.checked.map().name) {
                self.add_guard(guard);
            }
        }
        let before = window.iter().rev().find(|act| act.moves() && act.at < last.at);
        before.map_or(0, |act| act.at + 1)
    }

    /// Adds the transitions whose guards did not hold. Those that lead where the run should be come first, then the latest.
    fn add_refused(&mut self, acts: impl Iterator<Item = &'b RecordedAct<'b>>) {
        let mut refused: Vec<(&RecordedAct<'_>, TransitionId)> = acts
            .filter_map(|act| if let Did::Refused(id) = act.did { Some((act, id)) } else { None })
            .collect();
        refused.reverse();
        refused.sort_by_key(|(act, id)| !self.leads(act, *id));
        for (act, id) in refused.into_iter().take(MOST - 1) {
            let Some(span) = act.map().transition(id).guard else { continue };
            let is_own = act.map().name == self.checked.map().name;
            // The guard read the present values only if nothing has changed them since.
            let guard = act.one.chart.transition(id).guard.as_ref();
            let is_fresh = guard.is_some_and(|guard| {
                !self.acts.iter().any(|later| later.at > act.at && may_change(later, guard))
            });
            let why =
                if is_own && is_fresh { self.player.why(id, act.at, self.lines) } else { None };
            let why = why.filter(|why| !why.holds).map(|ConditionValue { text, .. }| text);
            let what = why.unwrap_or_else(|| untaken(&act.one.chart, id));
            self.push(span, &what);
            if let Some(guard) = guard.filter(|_| is_own) {
                self.add_guard(guard);
            }
        }
    }

    /// Whether a transition leads to a state that the run should be in.
    fn leads(&self, act: &RecordedAct<'_>, id: TransitionId) -> bool {
        let chart = &act.one.chart;
        let targets = &chart.transition(id).targets;
        targets.iter().any(|target| self.wanted.iter().any(|w| chart.contains(*w, target.state)))
    }
}

/// Returns whether what a run did may have changed the value of a guard.
fn may_change(act: &RecordedAct<'_>, guard: &Expr) -> bool {
    let chart = &act.one.chart;
    let mut leaves = Vec::new();
    collect(guard, &mut leaves);
    let mut reads = Vec::new();
    variables(guard, &mut reads);
    // Observables and functions may change at any time, variables only when they are set.
    let is_plain = leaves.len() == reads.len();
    let sets = |actions: &[Action]| sets(actions, &reads);
    match act.did {
        Did::Taken(id) => !is_plain || sets(&chart.transition(id).actions),
        Did::Done(step) => match &chart.steps[step.index()].kind {
            StepKind::Code(actions) => !is_plain || sets(actions),
            _ => !is_plain || chart.steps[step.index()].into.is_some(),
        },
        Did::Entered(state) => {
            !is_plain || chart.state(state).entry.iter().any(|actions| sets(actions))
        }
        _ => false,
    }
}

/// The states in which the test expects the run to be.
fn wanted(chart: &Chart, expected: Option<(&Expected, bool)>) -> Vec<StateId> {
    match expected {
        Some((Expected::At(states), true)) => states.clone(),
        Some((Expected::Ended(word), true)) => {
            let fits = |status: &Status| word.as_ref().is_none_or(|word| word == status.word());
            let is_end = |state: &State| {
                matches!(&state.kind, StateKind::Final { status, .. } if fits(status))
                    && state.parent == Some(StateId(0))
            };
            let ends = chart.states.iter().enumerate().filter(|(_, state)| is_end(state));
            ends.map(|(nth, _)| StateId::at(nth)).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

/// Whether actions set one of these variables.
fn sets(actions: &[Action], ids: &[VarId]) -> bool {
    let mut is_set = false;
    Action::walk(actions, &mut |action| {
        is_set |= matches!(action, Action::Assign(id, _) if ids.contains(id));
    });
    is_set
}

fn taken(chart: &Chart, id: TransitionId) -> String {
    let targets = &chart.transition(id).targets;
    let paths: Vec<String> =
        targets.iter().map(|target| format!("`{}`", chart.state(target.state).path)).collect();
    if paths.is_empty() {
        "taken last, and it stays".to_owned()
    } else {
        format!("taken last: it leads to {}", paths.join(", "))
    }
}

fn untaken(chart: &Chart, id: TransitionId) -> String {
    if let Trigger::Choice(choice) = chart.transition(id).trigger {
        return format!("false: `{}` is not offered", chart.choices[choice.index()].name);
    }
    "false: the line is not taken".to_owned()
}

// Follows a run through its trace, and reports what happened to the transitions, states and options of its charts.

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
        let event = line.event();
        if let Happening::Begun { chart, .. } = event.what
            && let Some(one) = family.iter().find(|one| one.chart.name == chart)
            && !event.child.is_empty()
        {
            places.insert(event.child, one.map.name);
        }
        let place = places.get(event.child);
        if let Some((subject, one)) = place.and_then(|at| subjects.get_mut(at)) {
            subject.read(&event, &mut |did| see(one, nth, did));
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

    fn read(&mut self, event: &TraceEvent<'_>, see: &mut impl FnMut(Did)) {
        match event.what {
            Happening::Begun { .. } => {
                self.active.clear();
                self.leaves.clear();
            }
            Happening::Entered(state) => {
                if let Some(state) = self.paths.get(state) {
                    self.active.insert(*state);
                    see(Did::Entered(*state));
                }
            }
            Happening::Exited(state) => {
                if let Some(state) = self.paths.get(state) {
                    self.active.remove(state);
                }
            }
            Happening::Step(StepPhase::Started(state)) => {
                if let Some(state) = self.paths.get(state) {
                    self.leaves.insert(event.subject.to_owned(), *state);
                }
            }
            Happening::Turn(_) | Happening::Event { fate: EventFate::Handled(_), .. } => {
                self.rest(see);
            }
            Happening::Transition(line, fate) => {
                let did = match fate {
                    Fate::Taken(_) => Did::Taken,
                    Fate::Lost("guard") => Did::Refused,
                    Fate::Lost(_) => return,
                    Fate::Denied => Did::Denied,
                };
                self.line(line).map(did).into_iter().for_each(see);
            }
            Happening::CallBegun(_, Request::Question { options, .. }) => {
                self.rest(see);
                options.iter().cloned().map(Did::Offered).for_each(&mut *see);
                let leaf = self.leaves.get(event.subject);
                if let Some(leaf) = leaf.filter(|_| !options.is_empty()) {
                    self.offer(*leaf, options, see);
                }
            }
            Happening::Chosen { option, is_asked } => {
                if !is_asked {
                    see(Did::Offered(option.to_owned()));
                }
                see(Did::Chosen(option.to_owned()));
            }
            Happening::ToolChosen(tool) => see(Did::Chosen(tool.to_owned())),
            Happening::Step(StepPhase::Done(None)) => {
                let nth = self.chart.steps.iter().position(|one| one.name == event.subject);
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

// Explains parts of a chart after a failed test: guards with their values, options, permissions, and assignments of variables.

/// The maximum number of values that are shown of a condition.
const MOST_VALUES: usize = 4;

/// Collects the variables that an expression reads, each once.
fn variables(expr: &Expr, found: &mut Vec<VarId>) {
    let mut leaves = Vec::new();
    collect(expr, &mut leaves);
    for leaf in &leaves {
        if let ExprKind::Variable(id) = base(leaf).kind
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
}

/// The expression at the start of a path: `a` of `a.b.c`.
fn base(expr: &Expr) -> &Expr {
    if let ExprKind::Field(inner, _) = &expr.kind { base(inner) } else { expr }
}

impl Blame<'_, '_> {
    /// Adds the options that the last question wrongly offers or leaves out.
    fn add_offered(&mut self, names: &[String], only: bool, holds: bool) {
        let (chart, map, all) = (self.checked.chart(), self.checked.map(), self.acts);
        let own = |act: &&RecordedAct<'_>| act.map().name == map.name;
        let is_option = |act: &&RecordedAct<'_>| matches!(act.did, Did::Held(_) | Did::Refused(_));
        let Some(last) = all.iter().filter(own).rfind(|act| matches!(act.did, Did::Held(_))) else {
            return;
        };
        let mut unknown: Vec<&String> = names.iter().filter(|_| holds).collect();
        let mut end = None;
        for act in all.iter().filter(own).filter(is_option).filter(|act| act.at == last.at) {
            let (Did::Held(id) | Did::Refused(id)) = act.did else { continue };
            let Trigger::Choice(choice) = chart.transition(id).trigger else { continue };
            let name = &chart.choices[choice.index()].name;
            let is_named = names.contains(name);
            unknown.retain(|other| *other != name);
            let is_offered = matches!(act.did, Did::Held(_));
            let is_wrong = if is_offered {
                if holds { only && !is_named } else { is_named }
            } else {
                holds && is_named
            };
            let spans = map.transition(id);
            end = Some(spans.whole);
            if is_wrong {
                let what = self.player.why(id, act.at, self.lines).map(|why| why.text);
                let what = what.unwrap_or_else(|| match (is_offered, spans.guard) {
                    (true, None) => "offered, as it has no condition".to_owned(),
                    (true, Some(_)) => "true: it is offered".to_owned(),
                    (false, _) => untaken(chart, id),
                });
                self.push(spans.guard.unwrap_or(spans.whole), &what);
            }
        }
        // A name with a dot is a tool: tools are offered by lines that name a set of them.
        let is_option = |name: &&&String| !name.contains('.');
        if let (Some(end), Some(name)) = (end, unknown.iter().find(is_option)) {
            self.push(end, &format!("the last option here: `{name}` is none of them"));
        }
    }

    /// Adds the condition of a step that was skipped, or that asks although it should not (`unexpected`).
    fn add_asked(&mut self, step: &str, unexpected: bool) {
        let Some(nth) = self.step(step) else { return };
        let spans = &self.checked.map().steps[nth];
        if let (Some(guard), Some(span)) = (&self.checked.chart().steps[nth].guard, spans.guard) {
            let what = self.player.condition_value(guard, &[], &[]).map(|why| why.text);
            self.push(span, &what.unwrap_or_else(|| format!("decides whether `{step}` asks")));
            self.add_guard(guard);
        } else if unexpected {
            self.push(spans.name, "it asks whenever the turn comes to it: it has no condition");
        }
    }

    /// Adds what a condition reads: its variables, and the declarations of the named conditions that it uses.
    fn add_guard(&mut self, guard: &Expr) {
        variables(guard, &mut self.reads);
        self.add_named(guard);
    }

    /// Adds the declarations of the named conditions that a condition uses.
    fn add_named(&mut self, guard: &Expr) {
        let mut leaves = Vec::new();
        collect(guard, &mut leaves);
        for leaf in &leaves {
            if let ExprKind::Predicate(id) = leaf.kind
                && let Some(span) = self.checked.map().predicates.get(id.index())
            {
                let name = &self.checked.chart().predicates[id.index()].name;
                self.push(*span, &format!("`{name}` is declared here"));
            }
        }
    }

    /// Adds the permission whose false guard denied the move.
    fn add_refusing(&mut self, id: TransitionId) {
        let chart = self.checked.chart();
        let (leaf, line) = (self.player.leaf(), chart.transition(id));
        let is_from = |from: Option<StateId>| from.is_none_or(|from| chart.contains(from, leaf));
        let rows = chart.permissions.iter().zip(&self.checked.map().permissions);
        let mut rows = rows.filter(|(row, _)| is_from(row.from));
        let closed = rows.find(|(row, _)| line.targets.iter().any(|to| to.state == row.to));
        if let Some((row, span)) = closed {
            let guard = row.guard.as_ref();
            let why = guard.and_then(|guard| self.player.condition_value(guard, &[], &[]));
            let what = why.map_or_else(|| "its condition is false".to_owned(), |why| why.text);
            self.push(*span, &what);
        }
    }

    /// Adds the permissions that allowed a move that the test expected to be denied.
    fn add_permitting(&mut self, state: Option<StateId>) {
        let chart = self.checked.chart();
        let left = self.lines.iter().rev().find_map(|line| match line.event().what {
            Happening::Exited(state) => Some(state),
            _ => None,
        });
        for (row, span) in chart.permissions.iter().zip(&self.checked.map().permissions) {
            let is_from = row.from.is_none_or(|from| Some(&*chart.state(from).path) == left);
            if is_from && Some(row.to) == state {
                self.push(*span, "this permits it");
                row.guard.iter().for_each(|guard| self.add_named(guard));
            }
        }
    }

    /// The step with the last unusable answer in these lines, if there was one.
    fn unusable(&self, lines: &[Line]) -> Option<RelatedPlace> {
        unusable_answers(lines).find_map(|(step, why)| {
            let span = self.checked.map().steps[self.step(step)?].name;
            let what = format!("its answer cannot be used: {why}");
            Some(RelatedPlace { span, what, sets: None })
        })
    }

    /// The calls that the run waits for, those to people last.
    fn waiting(&self) -> Vec<RelatedPlace> {
        let (machine, chart) = (self.player.session.machine(), self.checked.chart());
        let mut keys = machine.pending();
        let is_person = |step: StepId| matches!(chart.steps[step.index()].kind, StepKind::Human(_));
        // A person may take any time, so a waiting model or tool is the likelier cause.
        keys.sort_by_key(|key| is_person(key.step));
        let place = |key: StepKey| {
            let step = &chart.steps[key.step.index()];
            let name = &step.name;
            let of = match step.failure.retry.times {
                0 => String::new(),
                retries => format!(": attempt {} of {}", key.attempt, retries + 1),
            };
            let what = match machine.calls(key) {
                Some(tool) => {
                    let tool = &chart.tools[tool.index()].name;
                    format!("`{name}` waits for the tool `{tool}`{of}")
                }
                None if matches!(step.kind, StepKind::Run(_)) => {
                    format!("`{name}` has not ended yet")
                }
                None => format!("`{name}` still waits for an answer{of}"),
            };
            let before = unusable_answers(self.lines)
                .find(|(other, _)| key.attempt > 1 && other == name)
                .map(|(_, why)| format!("; the last could not be used: {why}"));
            let what = what + &before.unwrap_or_default();
            RelatedPlace { span: self.checked.map().step(key.step).name, what, sets: None }
        };
        keys.into_iter().map(place).collect()
    }

    /// The lines of the run's own chart since the last input of the test.
    fn since_the_last_input(&self) -> &[Line] {
        let since = self.player.marks.last().copied().unwrap_or(0).min(self.lines.len());
        &self.lines[since..]
    }

    /// Adds the transitions for an event that nothing handled which exclude the present state; if there are none, the state itself.
    /// Returns whether there was such an event.
    fn add_lost(&mut self) -> bool {
        let (chart, map) = (self.checked.chart(), self.checked.map());
        let own = self.since_the_last_input().iter().filter(|line| line.child.is_empty());
        let refused = own.rev().find_map(|line| match line.event().what {
            Happening::Event { event, fate: EventFate::Refused | EventFate::PassedOn } => {
                Some(event.to_owned())
            }
            _ => None,
        });
        let Some(name) = refused else { return false };
        let leaf = self.player.leaf();
        let is_about = |line: &Transition| {
            if let Trigger::Event(events) = &line.trigger {
                return events.iter().any(|e| chart.events[e.index()].name == name);
            }
            line.trigger == Trigger::AnyEvent
        };
        let mut is_any = false;
        for (line, spans) in chart.transitions.iter().zip(&map.transitions) {
            let Some(scope) = line.scope.as_ref().filter(|_| is_about(line)) else { continue };
            let machine = self.player.session.machine();
            let left_out = scope.none_of.iter().find(|state| machine.is_active(**state));
            if let Some(state) = left_out.filter(|_| machine.is_active(line.source)) {
                let path = &chart.state(*state).path;
                let is_target = line.targets.iter().any(|target| target.state == *state);
                let why = if is_target { "its own target, " } else { "" };
                let what = format!("not taken: this leaves out {why}`{path}`, where the run is");
                self.push(spans.whole, &what);
                is_any = true;
            }
        }
        if !is_any {
            self.push(map.state(leaf).name, &format!("no line here is about `{name}`"));
        }
        true
    }

    /// The state in which the run stays although the host did something.
    fn idle(&self) -> Option<RelatedPlace> {
        let state = self.checked.map().states.get(self.player.leaf().index())?;
        let lines = self.since_the_last_input();
        if let Some(place) = self.unusable(lines) {
            return Some(place);
        }
        let mut own = lines.iter().filter(|line| line.child.is_empty());
        let is_turn = own.any(|line| matches!(line.event().what, Happening::TurnEnded));
        let what = if is_turn {
            "a turn leads nowhere from here"
        } else {
            "the run stays here: no line is taken"
        };
        Some(RelatedPlace { span: state.name, what: what.to_owned(), sets: None })
    }
}

/// The unusable answers of the run's own chart, the last one first: the step and the reason.
fn unusable_answers(lines: &[Line]) -> impl Iterator<Item = (&str, &str)> {
    lines.iter().rev().map(Line::event).filter_map(|event| match event.what {
        Happening::CallEnded(_, Outcome::Unusable(why)) if event.child.is_empty() => {
            Some((event.subject, why))
        }
        _ => None,
    })
}

/// The value of a condition.
struct ConditionValue {
    holds: bool,
    /// The value as text, with the values that the condition reads.
    text: String,
}

impl Player<'_> {
    /// Evaluates a transition's guard now. `at` is the trace line of the decision, whose event gives the payload.
    fn why(&mut self, id: TransitionId, at: usize, lines: &[Line]) -> Option<ConditionValue> {
        let chart = self.chart;
        let line = chart.transition(id);
        let is_event = matches!(line.trigger, Trigger::Event(_));
        let payload = if is_event { payload(at, lines) } else { Vec::new() };
        self.condition_value(line.guard.as_ref()?, &payload, &notation::payload(line))
    }

    /// Evaluates a condition now, with this payload and these names of its values. Returns `None` if it reads values that are gone.
    fn condition_value(
        &mut self,
        guard: &Expr,
        payload: &[Value],
        names: &[&str],
    ) -> Option<ConditionValue> {
        let chart = self.chart;
        let mut leaves = Vec::new();
        collect(guard, &mut leaves);
        let needs = leaves.iter().any(|leaf| {
            if let ExprKind::Payload(nth) = base(leaf).kind {
                return nth as usize >= payload.len();
            }
            matches!(base(leaf).kind, ExprKind::Answer(_))
        });
        let Value::Bool(is_so) = self.now(guard, payload).filter(|_| !needs)? else { return None };
        let mut shown = Vec::new();
        for leaf in leaves.iter().filter(|leaf| *leaf != guard).take(MOST_VALUES) {
            let value = self.now(leaf, payload)?;
            let name = notation::expression_in(chart, leaf, names);
            shown.push(format!("{name} = {}", scenario::short(&scenario::value(&value), 40)));
        }
        let shown =
            if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) };
        let what = scenario::short(&notation::expression_in(chart, guard, names), 80);
        Some(ConditionValue { holds: is_so, text: format!("`{what}` is {is_so}{shown}") })
    }

    fn now(&mut self, expr: &Expr, payload: &[Value]) -> Option<Value> {
        let leaf = self.leaf();
        self.desk.look(true);
        let value = self.session.machine_mut().evaluate(leaf, expr, payload);
        self.desk.look(false);
        if self.desk.missing().is_empty() { value.ok() } else { None }
    }
}

/// The data of the event that was being handled at line `at` of the trace.
fn payload(at: usize, lines: &[Line]) -> Vec<Value> {
    let event = lines[..=at].iter().rev().find_map(|line| match line.event().what {
        Happening::Event { fate: EventFate::Handled(Value::Map(data)), .. } => Some(data),
        _ => None,
    });
    event.map(|data| data.iter().map(|(_, value)| value.clone()).collect()).unwrap_or_default()
}
