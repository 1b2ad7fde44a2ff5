//! Answers to questions whose values may change while they wait, and that lead to effects with these values.
//!
//! The problem: a person reads "Pay 3?" and agrees, but an event has changed the amount meanwhile, and the chart pays the new amount. The
//! idea: [`window`] determines where the step waits and what may be executed meanwhile, [`changes`] finds what may change a variable in
//! this window, and [`effects`] follows the answer to the places that read the variable. A variable that the question shows, that may
//! change, and that is read afterwards is reported. For example:
//!
//! ```text
//! state deciding {
//!   on pay_for(n) { amount = n }
//!   human approve "Pay {amount}?" { returns Bool  done if approve -> paid { pay(amount) } }
//! }
//! ```
//!
//! 1. `approve` shows `amount`, and waits in `deciding` for a person, so that events and turns may come.
//! 2. Window: `on pay_for` may be taken meanwhile; it does not exit `deciding`, so the question is not withdrawn.
//! 3. Changes: `on pay_for` assigns `amount`.
//! 4. Effects: `done` follows from the answer, and `pay(amount)` reads the variable. The finding is there.

use super::{Context, Lint, data, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::implies;
use crate::analysis::facts::endless::is_outside_parallel;
use crate::analysis::facts::reach::{
    ScopeCondition, domain, entered_by_default, exclusive, is_history, is_leaf,
};
use crate::analysis::facts::usage::{reads, walk};
use crate::analysis::turn::flow::Site;
use crate::front::chart::scan::{TokenKind, tokens};
use crate::rules::OUTDATED_ANSWER;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::Span;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, CompareOp, Expr, ExprKind, Observable, Receiver,
    StateKind, StepKind, Transition, Trigger, VariableKind,
};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(super) static LINT: Lint = Lint { rule: &OUTDATED_ANSWER, needs_whole: true, run };

/// The maximum number of questions, and of changes of one variable, that are examined.
const MOST_QUESTIONS: usize = 200;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    if !context.all_read {
        return;
    }
    // This takes a pass over the chart, so it is computed only if an answer has effects.
    let writers = OnceCell::new();
    let steps = (0..chart.steps.len()).map(StepId::at);
    for (step, wait, mut shown) in steps.filter_map(|id| question(context, id)).take(MOST_QUESTIONS)
    {
        let window = Window::new(chart, facts, step, wait);
        let effects = EffectSearch::run(chart, facts, step, &window, &shown);
        if effects.is_empty() {
            continue;
        }
        let writers = writers.get_or_init(|| Writers::from_chart(chart));
        for effect in effects {
            let id = effect.variable;
            let find = |window: &Window<'_>| {
                let holds = |guard: &Expr, leaf| context.flow().may_hold(guard, leaf);
                let all = ChangeSearch::new(window, writers).of(id);
                let mut all = all.iter().take(MOST_QUESTIONS);
                let is_it = |change: &&VariableChange<'_>| {
                    !sets_once(context, step, change) && window.may_happen(change, &holds)
                };
                all.find(is_it).map(|change| change.by)
            };
            let by = if window.is_watched(id) { None } else { find(&window) };
            // After the answer of a person, the step is called in a later turn, so there is a second window.
            let by = by.or_else(|| match effect.spot {
                ReadPlace::Step(step) if wait == Wait::Turns => {
                    find(&Window::new(chart, facts, step, wait))
                }
                ReadPlace::Step(_) | ReadPlace::Transition(_) | ReadPlace::State(_) => None,
            });
            if let Some(by) = by
                && shown.remove(&id)
            {
                diagnostics.push(finding(context, step, effect, by));
            }
        }
    }
}

/// The kind of wait of a step, and the variables that it shows; `None` for a step that asks nothing or shows no variable.
fn question(context: &Context<'_>, id: StepId) -> Option<(StepId, Wait, BTreeSet<VarId>)> {
    let Context { chart, facts, .. } = context;
    let step = &chart.steps[id.index()];
    let wait = match step.kind {
        StepKind::Human(_) => Wait::Turns,
        // No walk waits for it.
        StepKind::Llm if step.is_on_event() => Wait::Turns,
        StepKind::Llm | StepKind::Ask { .. } => Wait::Call,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => return None,
    };
    let list = step.each.iter().map(|each| &each.list);
    let mut shown = BTreeSet::new();
    for expr in chart.own_prompt(id)?.holes().chain(list) {
        reads(chart, expr, &mut shown);
    }
    // What `asked.x` reads is `x` at the moment of the question, and the data of an event does not change.
    for action in &step.asking {
        let Action::Assign(id, value) = action else { continue };
        if shown.remove(id)
            && let ExprKind::Variable(of) = value.kind
        {
            shown.insert(of);
        }
    }
    let runs = !facts.scopes.step(id).within.is_empty();
    (runs && !shown.is_empty()).then_some((id, wait, shown))
}

/// Whether a change happens only while the variable has one value, which the question never shows.
fn sets_once(context: &Context<'_>, step: StepId, change: &VariableChange<'_>) -> bool {
    let flow = context.flow();
    let VariableChange { variable, guards, .. } = change;
    let parts = context.map.step(step).prompt_parts.len();
    let mut sites: Vec<Site> = (0..parts).map(|nth| Site::Prompt(step, nth)).collect();
    sites.push(Site::Arguments(step));
    let shows_it = flow.is_exact() && flow.may_be_fresh(&sites, *variable);
    !shows_it && guards.iter().any(|guard| is_unset(context.chart, guard, *variable))
}

/// Whether a condition holds only as long as the variable has one value, such as an empty one.
fn is_unset(chart: &Chart, condition: &Expr, variable: VarId) -> bool {
    let is_it = |e: &Expr| {
        let whole = ExprKind::Variable(variable);
        let counts = matches!(&e.kind, ExprKind::Builtin(Builtin::Len, of) if of.iter().all(|e| e.kind == whole));
        counts || e.kind == whole
    };
    if let ExprKind::Predicate(id) = condition.kind {
        is_unset(chart, &chart.predicates[id.index()].expr, variable)
    } else if let ExprKind::Binary(BinaryOp::And, a, b) = &condition.kind {
        is_unset(chart, a, variable) || is_unset(chart, b, variable)
    } else if let Some((a, b)) = equality(condition) {
        let reads_nothing = |e: &Expr| {
            let mut read = BTreeSet::new();
            !reads(chart, e, &mut read) && read.is_empty()
        };
        is_it(a) && reads_nothing(b) || is_it(b) && reads_nothing(a)
    } else {
        false
    }
}

fn finding(context: &Context<'_>, step: StepId, effect: Effect, by: By) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let id = effect.variable;
    let name = &chart.variables[id.index()].name;
    let asker = words::step(chart, step);
    let (span, how, cure) = match by {
        By::Transition(transition) => (
            set_in(context, id, map.transition(transition).whole),
            format!("{} may change it before this", words::transition(chart, transition)),
            format!(
                "ask again when it changes (a target with `reenter`), or set it only where {asker} does not wait"
            ),
        ),
        By::Step(other) => (
            set_in(context, id, map.step(other).whole),
            format!("{} may change it before this", words::step(chart, other)),
            format!("let {} run in a state before the question", words::step(chart, other)),
        ),
        By::Host | By::Turn => (
            map.variables[id.index()],
            match by {
                By::Turn => "each turn resets it",
                By::Host | By::Transition(_) | By::Step(_) => "the host may set it before this",
            }
            .to_owned(),
            "keep it in a variable on the way to the question, and show and use that".to_owned(),
        ),
    };
    let whole = match effect.spot {
        ReadPlace::Transition(transition) => {
            let spans = map.transition(transition);
            let from = spans.guard.map_or(spans.whole.start, |guard| guard.end);
            Span { start: from, ..spans.whole }
        }
        ReadPlace::State(state) => {
            let spans = map.state(state);
            // The values of a final state are written in its head.
            spans.entry.first().copied().unwrap_or(spans.name)
        }
        ReadPlace::Step(step) => map.step(step).whole,
    };
    let at = mention(context, whole, name).unwrap_or(match effect.spot {
        ReadPlace::Transition(transition) => map.transition(transition).whole,
        ReadPlace::State(_) => whole,
        ReadPlace::Step(step) => map.step(step).name,
    });
    let cure = match effect.spot {
        ReadPlace::Transition(line) if is_outcome(chart, step, line) => {
            format!("write `asked.{name}` for what {asker} showed; or {cure}")
        }
        ReadPlace::Transition(_) | ReadPlace::State(_) | ReadPlace::Step(_) => cure,
    };
    let message = format!("`{name}` may have changed since {asker} showed it");
    OUTDATED_ANSWER
        .at(at, message)
        .help(cure)
        .related(data::shown_at(context, step, id), "the question shows it")
        .related(span, how)
}

/// Whether a transition follows from the answer itself, so that `asked.x` is known on it.
fn is_outcome(chart: &Chart, step: StepId, line: TransitionId) -> bool {
    let trigger = &chart.transition(line).trigger;
    trigger.step() == Some(step) || matches!(trigger, Trigger::Choice(_))
}

/// The span of the first assignment to a variable within `place`; `place` itself if there is none.
fn set_in(context: &Context<'_>, id: VarId, place: Span) -> Span {
    let inside =
        |span: Span| span.file == place.file && place.start <= span.start && span.end <= place.end;
    let mut all = context.map.assignments.iter();
    all.find(|(of, span)| *of == id && inside(*span)).map_or(place, |(_, span)| *span)
}

/// The first mention of a name within a part of a chart, apart from `name =` and `name:`, which do not read it.
fn mention(context: &Context<'_>, place: Span, name: &str) -> Option<Span> {
    let text = context.sources.get(place.file).slice(place);
    let found = tokens(text);
    let nth = found.iter().enumerate().position(|(nth, token)| {
        let next = found.get(nth + 1).map(|next| next.text(text));
        let written = token.text(text);
        match token.kind {
            TokenKind::Word => written == name && !matches!(next, Some("=" | ":")),
            TokenKind::Quoted => written.trim_matches('`') == name,
            TokenKind::Text | TokenKind::Block => written.contains(&format!("{{{name}")),
            _ => false,
        }
    })?;
    let start = place.start as usize;
    Some(Span::new(place.file, start + found[nth].start, start + found[nth].end))
}

// The window in which a question waits: the leaves where it may wait, and what may be executed meanwhile.

/// The kind of wait of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// For a person, or for the next turn: events come, and turns begin.
    Turns,
    /// For a model, within a turn: events come.
    Call,
}

/// The window in which a step waits.
struct Window<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    step: StepId,
    wait: Wait,
    /// The step is canceled when this state is exited.
    home: StateId,
    /// The leaves below `home` in which the step may wait.
    inside: BTreeSet<StateId>,
    /// The leaves of other regions, which may be active meanwhile.
    beside: BTreeSet<StateId>,
}

/// The maximum of leaves times transitions for which `inside` is determined exactly; beyond it, all leaves below `home` count.
const MOST_EXACT: usize = 100_000;
/// The maximum number of leaves in which one transition is examined.
const SOME: usize = 64;

impl<'c> Window<'c> {
    /// The window of a step.
    fn new(chart: &'c Chart, facts: &'c Facts, step: StepId, wait: Wait) -> Self {
        let home = chart.steps[step.index()].state;
        let is_beside = |leaf: &StateId| {
            !chart.contains(home, *leaf)
                && !chart.contains(*leaf, home)
                && !exclusive(chart, home, *leaf)
        };
        let mut beside = BTreeSet::new();
        if !is_outside_parallel(chart, home) {
            beside.extend(facts.reach.leaves(chart).filter(is_beside));
        }
        let mut window = Self { chart, facts, step, wait, home, inside: BTreeSet::new(), beside };
        window.fill();
        window
    }

    /// Fills `inside` with the leaves in which the step may start, and those to which transitions lead while it waits.
    fn fill(&mut self) {
        let Self { chart, facts, home, .. } = *self;
        let place = facts.scopes.step(self.step);
        let all = leaves_below(chart, facts, home);
        if all.len() * chart.transitions.len() > MOST_EXACT {
            self.inside = all.into_iter().collect();
            return;
        }
        let starts = all.into_iter().filter(|leaf| place.may_hold_in(chart, *leaf));
        let mut open: Vec<StateId> = starts.flat_map(|leaf| self.with_regions(leaf)).collect();
        while let Some(leaf) = open.pop() {
            if !self.inside.insert(leaf) {
                continue;
            }
            for id in self.transitions(leaf) {
                let transition = chart.transition(id);
                if transition.trigger.step() == Some(self.step) || self.exits(transition) {
                    continue;
                }
                for target in &transition.targets {
                    // A history may restore any leaf below its parent.
                    let parent = chart.state(target.state).parent;
                    let parent = parent.filter(|_| is_history(chart, target.state));
                    open.extend(self.with_regions(parent.unwrap_or(target.state)));
                }
            }
        }
    }

    /// The leaves that may be active when a state is entered, including those of the other regions around it.
    fn with_regions(&self, state: StateId) -> impl Iterator<Item = StateId> + use<> {
        let Self { chart, facts, home, .. } = *self;
        let around = chart.ancestors(state).take_while(|s| chart.contains(home, *s));
        let outer = around.filter(|s| matches!(chart.state(*s).kind, StateKind::Parallel)).last();
        let into = outer.unwrap_or(state);
        leaves_below(chart, facts, into).into_iter()
    }

    /// The transitions that may be taken in a leaf, in the order in which they are tried.
    fn transitions(&self, leaf: StateId) -> impl Iterator<Item = TransitionId> + use<'c> {
        let Self { chart, facts, .. } = *self;
        let transitions =
            chart.ancestors(leaf).flat_map(|s| chart.state(s).transitions.iter().copied());
        transitions.filter(move |id| {
            facts.reach.can_take(*id) && facts.scopes.transition(*id).may_hold_in(chart, leaf)
        })
    }

    /// Whether a transition withdraws the question. Leaving its leaf withdraws an `ask`, because its options are those of the leaf.
    fn exits(&self, transition: &Transition) -> bool {
        let Self { chart, home, .. } = *self;
        let is_ask = matches!(chart.steps[self.step.index()].kind, StepKind::Ask { .. });
        domain(chart, transition).is_some_and(|top| {
            let is_above = chart.contains(top, home) && (top != home || is_ask);
            is_above || is_ask && chart.contains(home, top)
        })
    }

    /// The leaves among `leaves` that a scope covers.
    fn leaves_of<'w>(
        &'w self,
        place: &'w ScopeCondition,
        leaves: &'w BTreeSet<StateId>,
    ) -> impl Iterator<Item = StateId> + 'w {
        let ranges = place.within.iter().map(|state| *state..self.chart.state(*state).end);
        let all = ranges.flat_map(|range| leaves.range(range).copied());
        all.filter(|leaf| !place.excludes_leaf(self.chart, *leaf))
    }

    /// The leaves in which a transition may be taken while the step waits.
    fn acting(&self, id: TransitionId) -> impl Iterator<Item = StateId> + '_ {
        let place = self.facts.scopes.transition(id);
        let transition = self.chart.transition(id);
        let comes = self.wait == Wait::Turns || is_sudden(&transition.trigger);
        let inside = self.leaves_of(place, &self.inside).filter(move |_| comes);
        inside.chain(self.leaves_of(place, &self.beside))
    }

    /// Whether a transition may be taken, or a step may run, while the step waits, without withdrawing the question.
    fn is_between(&self, by: By) -> bool {
        match by {
            By::Transition(id) => {
                let transition = self.chart.transition(id);
                self.facts.reach.can_take(id)
                    && transition.trigger.step() != Some(self.step)
                    && self.acting(id).next().is_some()
                    && !self.exits(transition)
            }
            By::Step(id) => {
                let place = self.facts.scopes.step(id);
                let leaves = |transition: &TransitionId| {
                    let transition = self.chart.transition(*transition);
                    let is_sure =
                        transition.trigger == Trigger::StepDone(id) && transition.guard.is_none();
                    is_sure && self.exits(transition)
                };
                // The walk of a turn waits for a model, so no other step of its region runs meanwhile; the walks of other regions go on.
                let others = self.leaves_of(place, &self.beside).next().is_some();
                let acts = others || self.wait == Wait::Turns && self.is_with(id);
                id != self.step && acts && !self.chart.steps[id.index()].outcomes.iter().any(leaves)
            }
            By::Host | By::Turn => self.wait == Wait::Turns,
        }
    }

    /// Whether a transition may be taken in one of the leaves in which the step may wait.
    fn is_offered(&self, id: TransitionId) -> bool {
        self.leaves_of(self.facts.scopes.transition(id), &self.inside).next().is_some()
    }

    /// Whether a step may run in one of the leaves in which this one may wait.
    fn is_with(&self, id: StepId) -> bool {
        self.leaves_of(self.facts.scopes.step(id), &self.inside).next().is_some()
    }

    /// Whether a change may happen in some leaf where its conditions may hold, without the question being asked again.
    fn may_happen(
        &self,
        change: &VariableChange<'_>,
        holds: &dyn Fn(&Expr, StateId) -> bool,
    ) -> bool {
        let By::Transition(id) = change.by else { return true };
        let transition = self.chart.transition(id);
        let all = |leaf: StateId| change.guards.iter().all(|guard| holds(guard, leaf));
        let mut leaves = self.acting(id).take(SOME);
        leaves.any(|leaf| {
            !self.is_hidden(leaf, id) && !self.asks_again(leaf, transition) && all(leaf)
        })
    }

    /// Whether earlier transitions take all events of the transition.
    fn is_hidden(&self, leaf: StateId, id: TransitionId) -> bool {
        let transition = self.chart.transition(id);
        let Trigger::Event(events) = &transition.trigger else { return false };
        let before: Vec<TransitionId> =
            self.transitions(leaf).take_while(|other| *other != id).collect();
        events.iter().all(|event| {
            before.iter().any(|other| {
                let other = self.chart.transition(*other);
                takes(other, *event)
                    && implies(self.chart, transition.guard.as_ref(), other.guard.as_ref())
            })
        })
    }

    /// Whether the question is asked again when the transition is taken, because of the events that trigger it or that it raises.
    fn asks_again(&self, leaf: StateId, transition: &Transition) -> bool {
        let mut raised = false;
        Action::walk(&transition.actions, &mut |action| {
            if let Action::Raise(event, _) | Action::Send { event, after: None, .. } = action {
                raised |= self.withdraws(*event);
            }
        });
        let withdrawn = matches!(&transition.trigger, Trigger::Event(events)
            if events.iter().all(|event| self.withdraws(*event)));
        raised || withdrawn && !self.inside.contains(&leaf)
    }

    /// Whether the event surely withdraws the question.
    fn withdraws(&self, event: EventId) -> bool {
        let first = |leaf: &StateId| {
            let mut transitions = self.transitions(*leaf).map(|id| self.chart.transition(id));
            let transition = transitions.find(|transition| takes(transition, event));
            transition
                .is_some_and(|transition| transition.guard.is_none() && self.exits(transition))
        };
        !self.inside.is_empty() && self.inside.len() <= SOME && self.inside.iter().all(first)
    }

    /// Whether a `when` transition that reads the variable withdraws the question.
    fn is_watched(&self, variable: VarId) -> bool {
        let chart = self.chart;
        chart.transitions.iter().enumerate().any(|(i, transition)| {
            let guard = transition.guard.as_ref().filter(|_| transition.trigger == Trigger::When);
            let watches = guard.is_some_and(|guard| mentions(chart, guard, variable));
            let place = self.facts.scopes.transition(TransitionId::at(i));
            watches
                && self.exits(transition)
                && self.inside.iter().all(|leaf| place.may_hold_in(chart, *leaf))
        })
    }
}

/// The leaves below a state that a run may enter.
fn leaves_below(chart: &Chart, facts: &Facts, state: StateId) -> Vec<StateId> {
    let below = (state.0..chart.state(state).end.0).map(StateId);
    below.filter(|s| is_leaf(chart, *s) && facts.reach.can_enter(*s)).collect()
}

/// Whether the transition is triggered by the event.
fn takes(transition: &Transition, event: EventId) -> bool {
    matches!(&transition.trigger, Trigger::Event(events) if events.contains(&event))
        || matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
}

/// Whether the trigger does not depend on the walk of a turn.
const fn is_sudden(trigger: &Trigger) -> bool {
    matches!(
        trigger,
        Trigger::Event(_) | Trigger::AnyEvent | Trigger::AnyOccurrence | Trigger::After(_)
    )
}

/// Whether an expression reads a variable.
fn mentions(chart: &Chart, expr: &Expr, variable: VarId) -> bool {
    let mut found = false;
    walk(chart, expr, &mut |e| found |= e.kind == ExprKind::Variable(variable));
    found
}

// The changes of variables that may happen while a question waits.

/// The cause of a change of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// A transition, or a block that runs with it.
    Transition(TransitionId),
    /// A step, by its answer or its statements.
    Step(StepId),
    /// The host, before a turn or an event.
    Host,
    /// The beginning of a turn.
    Turn,
}

/// A possible change of a variable.
#[derive(Debug, Clone)]
struct VariableChange<'c> {
    variable: VarId,
    by: By,
    /// The conditions under which the change happens.
    guards: Vec<&'c Expr>,
}

/// An assignment to a variable.
struct Writer<'c> {
    change: VariableChange<'c>,
    /// All expressions that determine the value, if the assignment is repeated in each turn: then the value changes only with one of them.
    sources: Option<Vec<&'c Expr>>,
}

/// The assignments of a chart by variable.
struct Writers<'c>(BTreeMap<VarId, Vec<Writer<'c>>>);

impl<'c> Writers<'c> {
    /// Collects the assignments in one pass over the chart.
    fn from_chart(chart: &'c Chart) -> Self {
        let mut found = Self(BTreeMap::new());
        let exits: Vec<StateId> =
            chart.state_ids().filter(|s| !chart.state(*s).exit.is_empty()).collect();
        for (i, transition) in chart.transitions.iter().enumerate() {
            let by = By::Transition(TransitionId::at(i));
            let is_code = |id: StepId| matches!(chart.steps[id.index()].kind, StepKind::Code(_));
            let repeats = matches!(transition.trigger, Trigger::Turn | Trigger::When)
                || transition.trigger.step().is_some_and(is_code);
            let guard: Vec<&Expr> = transition.guard.iter().collect();
            for block in blocks(chart, transition, &exits) {
                found.block(chart, by, &guard, block, repeats);
            }
            if let Trigger::Choice(choice) = transition.trigger
                && let ChoiceKind::Call(_, Some(variable)) = chart.choices[choice.index()].kind
            {
                found.add(VariableChange { variable, by, guards: guard }, None);
            }
        }
        for (i, step) in chart.steps.iter().enumerate() {
            let by = By::Step(StepId::at(i));
            let guard: Vec<&Expr> = step.guard.iter().collect();
            if let StepKind::Code(actions) = &step.kind {
                found.block(chart, by, &guard, actions, true);
            }
            if let Some(variable) = step.into {
                found.add(VariableChange { variable, by, guards: guard }, None);
            }
        }
        found
    }

    fn add(&mut self, change: VariableChange<'c>, sources: Option<Vec<&'c Expr>>) {
        self.0.entry(change.variable).or_default().push(Writer { change, sources });
    }

    fn block(
        &mut self,
        chart: &'c Chart,
        by: By,
        guard: &[&'c Expr],
        actions: &'c [Action],
        repeats: bool,
    ) {
        // A `when` transition is taken again only if its guard changes.
        let is_when =
            matches!(by, By::Transition(id) if chart.transition(id).trigger == Trigger::When);
        let mut set: BTreeSet<VarId> = BTreeSet::new();
        assignments(actions, &mut guard.to_vec(), &mut Vec::new(), &mut |made| {
            let is_first = set.insert(made.variable);
            // A value that is computed from the variable itself differs each time.
            let grows = !is_when && is_first && mentions(chart, made.value, made.variable);
            let sources = if is_when { made.guards.to_vec() } else { made.sources() };
            let change =
                VariableChange { variable: made.variable, by, guards: made.guards.to_vec() };
            self.add(change, (repeats && !grows).then_some(sources));
        });
    }
}

/// Finds the changes of variables within a window.
struct ChangeSearch<'w, 'c> {
    window: &'w Window<'c>,
    writers: &'w Writers<'c>,
    /// The results so far: whether a variable changes. A variable that is being examined is `false`, so that depending on itself is no
    /// change.
    known: BTreeMap<VarId, bool>,
}

impl<'w, 'c> ChangeSearch<'w, 'c> {
    fn new(window: &'w Window<'c>, writers: &'w Writers<'c>) -> Self {
        Self { window, writers, known: BTreeMap::new() }
    }

    /// All changes of a variable that may happen while the step waits.
    fn of(&mut self, variable: VarId) -> Vec<VariableChange<'c>> {
        let mut found: Vec<VariableChange<'c>> = Vec::new();
        found.extend(self.by_itself(variable));
        let writers = self.writers;
        for writer in writers.0.get(&variable).into_iter().flatten() {
            if !self.window.is_between(writer.change.by) {
                continue;
            }
            let before = match writer.change.by {
                By::Step(id) => id < self.window.step,
                By::Transition(_) | By::Host | By::Turn => true,
            };
            // A repeated assignment was also made before the question was asked, unless its step comes later in the walk.
            let sources = writer.sources.as_ref().filter(|_| before);
            if sources.is_none_or(|all| all.iter().any(|e| self.varies(e))) {
                found.push(writer.change.clone());
            }
        }
        found
    }

    /// The change of a variable without an assignment: the host sets an input, and the beginning of a turn resets a per-turn variable.
    fn by_itself(&self, variable: VarId) -> Option<VariableChange<'c>> {
        let by = match self.window.chart.variables[variable.index()].kind {
            VariableKind::Input => By::Host,
            VariableKind::Var { per_turn: true } => By::Turn,
            VariableKind::Var { per_turn: false }
            | VariableKind::Param { .. }
            | VariableKind::Asked => return None,
        };
        let may = self.window.wait == Wait::Turns;
        may.then(|| VariableChange { variable, by, guards: Vec::new() })
    }

    /// Whether the value of an expression may change while the step waits.
    fn varies(&mut self, expr: &Expr) -> bool {
        let (mut varies, mut read) = (false, BTreeSet::new());
        walk(self.window.chart, expr, &mut |e| {
            if let ExprKind::Variable(id) = e.kind {
                read.insert(id);
            }
            varies |= matches!(
                e.kind,
                ExprKind::Payload(_)
                    | ExprKind::Answer(_)
                    | ExprKind::Call(..)
                    | ExprKind::Unknown(_)
            ) || matches!(&e.kind, ExprKind::Observable(of) if !matches!(of, Observable::In(_)));
        });
        varies || read.into_iter().any(|id| self.changes(id))
    }

    fn changes(&mut self, variable: VarId) -> bool {
        if let Some(known) = self.known.get(&variable) {
            return *known;
        }
        self.known.insert(variable, false);
        let changes = !self.of(variable).is_empty();
        self.known.insert(variable, changes);
        changes
    }
}

/// The actions of a transition, and the blocks of the states that it may exit or enter.
fn blocks<'c>(
    chart: &'c Chart,
    transition: &'c Transition,
    exits: &[StateId],
) -> Vec<&'c [Action]> {
    let mut found: Vec<&[Action]> = vec![&transition.actions];
    let Some(top) = domain(chart, transition) else { return found };
    if let Some(own) = chart.ancestors(transition.source).take_while(|s| *s != top).last() {
        let from = exits.partition_point(|s| *s < own);
        let inside = exits[from..].iter().take_while(|s| **s < chart.state(own).end);
        found.extend(inside.flat_map(|s| chart.state(*s).exit.iter().map(Vec::as_slice)));
    }
    let entered = entered(chart, transition);
    for state in entered {
        let row = chart.state(state);
        found.extend(row.entry.iter().map(Vec::as_slice));
        found.push(&row.default_actions);
    }
    found
}

/// An assignment, with the conditions and the lists of the loops around it.
struct Made<'m, 'c> {
    variable: VarId,
    value: &'c Expr,
    guards: &'m [&'c Expr],
    lists: &'m [&'c Expr],
}

impl<'c> Made<'_, 'c> {
    /// All expressions that determine the value.
    fn sources(&self) -> Vec<&'c Expr> {
        [self.guards, self.lists, &[self.value]].concat()
    }
}

/// Calls `visit` with every assignment of a block.
fn assignments<'c>(
    actions: &'c [Action],
    guards: &mut Vec<&'c Expr>,
    lists: &mut Vec<&'c Expr>,
    visit: &mut dyn FnMut(Made<'_, 'c>),
) {
    for action in actions {
        match action {
            Action::Assign(variable, value) => {
                visit(Made { variable: *variable, value, guards, lists });
            }
            Action::If(condition, then, otherwise) => {
                guards.push(condition);
                assignments(then, guards, lists, visit);
                guards.pop();
                // In the `else` branch the condition does not hold, but it still determines the value.
                lists.push(condition);
                assignments(otherwise, guards, lists, visit);
                lists.pop();
            }
            Action::For(_, list, body) => {
                lists.push(list);
                assignments(body, guards, lists, visit);
                lists.pop();
            }
            _ => {}
        }
    }
}

// Finds the reads of shown variables that follow from an answer.

/// The maximum number of transitions in a chain that is followed after an answer.
const LONGEST: usize = 8;
/// The maximum number of transitions that are followed for one answer.
const MOST_FOLLOWED: usize = 200;

/// The place where an effect reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadPlace {
    /// The targets or the actions of a transition.
    Transition(TransitionId),
    /// A block of a state.
    State(StateId),
    Step(StepId),
}

/// A read of a variable by something that follows from the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Effect {
    variable: VarId,
    spot: ReadPlace,
}

/// A transition that follows from the answer, with the variables that still have the values that the question showed.
struct Next {
    transition: TransitionId,
    kept: BTreeSet<VarId>,
    length: usize,
}

/// Follows what happens after the answer of a step, as far as it does not need the host.
struct EffectSearch<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    step: StepId,
    found: Vec<Effect>,
    open: VecDeque<Next>,
    seen: BTreeSet<TransitionId>,
}

impl<'c> EffectSearch<'c> {
    /// The reads of the given variables that follow from the answer, the nearest first.
    fn run(
        chart: &'c Chart,
        facts: &'c Facts,
        step: StepId,
        window: &Window<'c>,
        shown: &BTreeSet<VarId>,
    ) -> Vec<Effect> {
        let (found, open, seen) = (Vec::new(), VecDeque::new(), BTreeSet::new());
        let mut search = Self { chart, facts, step, found, open, seen };
        let row = &chart.steps[step.index()];
        let mut kept = shown.clone();
        kept.retain(|id| row.into != Some(*id));
        let answered = |expr: &Expr| {
            row.into.is_some_and(|id| mentions(chart, expr, id))
                || mentions_answer(chart, expr, step)
        };
        let is_ask = matches!(row.kind, StepKind::Ask { .. });
        for (i, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            let is_done = transition.trigger == Trigger::StepDone(step);
            let is_when = transition.trigger == Trigger::When;
            let waits = is_when && transition.guard.as_ref().is_some_and(answered);
            let chosen = is_ask && matches!(transition.trigger, Trigger::Choice(_));
            if is_done || (waits || chosen) && window.is_offered(id) {
                search.add(id, &kept, 0);
            }
        }
        for (i, other) in chart.steps.iter().enumerate() {
            let id = StepId::at(i);
            let waits = other.guard.as_ref().is_some_and(answered);
            if waits && id != step && window.is_with(id) {
                search.step(id, &mut kept.clone(), 0);
            }
        }
        while let Some(next) = search.open.pop_front() {
            search.transition(&next);
        }
        search.found
    }

    fn add(&mut self, transition: TransitionId, kept: &BTreeSet<VarId>, length: usize) {
        let goes_on = !kept.is_empty() && length < LONGEST && self.seen.len() < MOST_FOLLOWED;
        if goes_on && self.facts.reach.can_take(transition) && self.seen.insert(transition) {
            self.open.push_back(Next { transition, kept: kept.clone(), length });
        }
    }

    /// Notes what a transition reads, and queues what it leads to.
    fn transition(&mut self, next: &Next) {
        let chart = self.chart;
        let transition = chart.transition(next.transition);
        let mut kept = next.kept.clone();
        transition.guard.iter().for_each(|guard| confirm(chart, guard, &mut kept));
        let spot = ReadPlace::Transition(next.transition);
        for argument in transition.targets.iter().flat_map(|target| &target.arguments) {
            self.note(argument, &kept, spot);
        }
        self.block(&transition.actions, &mut kept, spot);
        let entered = entered(chart, transition);
        for state in &entered {
            let row = chart.state(*state);
            for block in row.entry.iter().chain([&row.default_actions]) {
                self.block(block, &mut kept, ReadPlace::State(*state));
            }
        }
        self.raised(next, &entered, &kept);
        for step in entered.iter().flat_map(|state| &chart.state(*state).steps) {
            self.step(*step, &mut kept, next.length + 1);
        }
        let whens = entered.iter().flat_map(|state| &chart.state(*state).transitions);
        for id in whens {
            let trigger = &chart.transition(*id).trigger;
            if matches!(trigger, Trigger::When | Trigger::StateDone(_)) {
                self.add(*id, &kept, next.length + 1);
            }
        }
    }

    /// Queues the transitions for the events that a transition raises.
    fn raised(&mut self, next: &Next, entered: &BTreeSet<StateId>, kept: &BTreeSet<VarId>) {
        let chart = self.chart;
        let mut events: BTreeSet<EventId> = BTreeSet::new();
        Action::walk(&chart.transition(next.transition).actions, &mut |action| {
            if let Action::Raise(event, _)
            | Action::Send { event, after: None, to: Receiver::Own, .. } = action
            {
                events.insert(*event);
            }
        });
        if events.is_empty() {
            return;
        }
        let source = chart.transition(next.transition).source;
        for (i, transition) in chart.transitions.iter().enumerate() {
            let takes = matches!(&transition.trigger, Trigger::Event(of)
                if of.iter().any(|event| events.contains(event)));
            let place = self.facts.scopes.transition(TransitionId::at(i));
            let is_here = |state: &StateId| {
                entered.iter().chain([&source]).any(|s| chart.contains(*state, *s))
            };
            if takes && place.within.iter().any(is_here) {
                self.add(TransitionId::at(i), kept, next.length + 1);
            }
        }
    }

    /// Notes what a step reads without the host, and queues the transitions for its outcomes.
    fn step(&mut self, id: StepId, kept: &mut BTreeSet<VarId>, length: usize) {
        let chart = self.chart;
        let step = &chart.steps[id.index()];
        step.guard.iter().for_each(|guard| confirm(chart, guard, kept));
        let spot = ReadPlace::Step(id);
        match &step.kind {
            StepKind::Call(_, arguments) => {
                let list = step.each.iter().map(|each| &each.list);
                list.chain(arguments).for_each(|e| self.note(e, kept, spot));
            }
            StepKind::Run(run) => {
                let list = step.each.iter().map(|each| &each.list);
                list.chain(run.arguments.iter().map(|(_, e)| e))
                    .for_each(|e| self.note(e, kept, spot));
            }
            StepKind::Code(actions) => self.block(actions, kept, spot),
            // A person sees the current values, so the variables are up to date again.
            StepKind::Human(text) => {
                let mut shown = BTreeSet::new();
                text.holes().for_each(|e| {
                    reads(chart, e, &mut shown);
                });
                kept.retain(|id| !shown.contains(id));
            }
            StepKind::Llm | StepKind::Ask { .. } => {}
        }
        // The answer of a later question is examined as an answer of its own.
        let goes_on = match step.kind {
            StepKind::Human(_) | StepKind::Ask { .. } => false,
            _ => id != self.step,
        };
        let mut after = kept.clone();
        after.retain(|id| step.into != Some(*id));
        for transition in step.outcomes.iter().filter(|_| goes_on) {
            if matches!(chart.transition(*transition).trigger, Trigger::StepDone(_)) {
                self.add(*transition, &after, length);
            }
        }
        *kept = after;
    }

    /// Notes what a block reads. A variable that it sets does not have the value that the question showed any more.
    fn block(&mut self, actions: &'c [Action], kept: &mut BTreeSet<VarId>, spot: ReadPlace) {
        let chart = self.chart;
        for action in actions {
            match action {
                Action::Do(_, arguments)
                | Action::Raise(_, arguments)
                | Action::Send { arguments, .. }
                | Action::Result(_, arguments) => {
                    for e in arguments {
                        self.note(e, kept, spot);
                    }
                }
                Action::Assign(variable, value) => {
                    // An update, such as `n = n + 1`, is meant to use the current value.
                    let mut others = kept.clone();
                    others.remove(variable);
                    self.note(value, &others, spot);
                    kept.remove(variable);
                }
                Action::If(condition, then, otherwise) => {
                    let mut inner = kept.clone();
                    confirm(chart, condition, &mut inner);
                    self.block(then, &mut inner, spot);
                    self.block(otherwise, kept, spot);
                }
                Action::For(_, list, body) => {
                    self.note(list, kept, spot);
                    self.block(body, kept, spot);
                }
                Action::Cancel(_) | Action::Log(_) => {}
            }
        }
    }

    fn note(&mut self, expr: &Expr, kept: &BTreeSet<VarId>, spot: ReadPlace) {
        let mut read = BTreeSet::new();
        reads(self.chart, expr, &mut read);
        for variable in read.intersection(kept).copied() {
            let effect = Effect { variable, spot };
            if !self.found.contains(&effect) {
                self.found.push(effect);
            }
        }
    }
}

/// Removes the variables that a condition compares for equality: behind it, they have the value that the author expects.
fn confirm(chart: &Chart, condition: &Expr, kept: &mut BTreeSet<VarId>) {
    if let ExprKind::Predicate(id) = condition.kind {
        confirm(chart, &chart.predicates[id.index()].expr, kept);
    } else if let ExprKind::Binary(BinaryOp::And, a, b) = &condition.kind {
        confirm(chart, a, kept);
        confirm(chart, b, kept);
    } else if let Some((a, b)) = equality(condition) {
        kept.retain(|id| [a, b].iter().all(|e| e.kind != ExprKind::Variable(*id)));
    }
}

/// The sides of `a == b`.
fn equality(condition: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Compare(a, rest) = &condition.kind else { return None };
    let [(CompareOp::Equal, b)] = &rest[..] else { return None };
    Some((&**a, b))
}

fn mentions_answer(chart: &Chart, expr: &Expr, step: StepId) -> bool {
    let mut found = false;
    crate::analysis::facts::usage::walk(chart, expr, &mut |e| {
        found |= e.kind == ExprKind::Answer(step);
    });
    found
}

/// The states that a transition enters, outer ones first. A history counts as entering its default.
fn entered(chart: &Chart, transition: &Transition) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    let Some(top) = domain(chart, transition) else { return found };
    let mut open: Vec<StateId> = crate::analysis::facts::reach::entries(chart, transition);
    while let Some(state) = open.pop() {
        let new: Vec<StateId> =
            chart.ancestors(state).take_while(|s| *s != top && !found.contains(s)).collect();
        found.extend(new);
        open.extend(entered_by_default(chart, state));
    }
    found
}
