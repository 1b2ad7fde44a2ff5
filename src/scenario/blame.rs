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

use super::expect::collect;
use super::failure::Failure;
use super::follow::{Did, follow};
use super::play::Player;
use super::reasons::{
    ConditionValue, asked, assigned, idle, leading, lost, named, offered, permitting, refusing,
    unusable, variables, waiting,
};
use super::test_host::Wanted;
use chartc_check::compile::Checked;
use chartc_check::lower::test::{Expected, Move, Test};
use chartc_check::lower::{Lowered, SourceMap};
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::host::Machine;
use chartc_core::machine::Status;
use chartc_core::model::{Action, Chart, Expr, State, StateKind, StepKind, Trigger};
use chartc_runtime::trace::{Line, What};
use chartc_text::span::Span;

/// The maximum number of places that a failure shows.
const MOST: usize = 3;

/// A place of a chart that a failed test points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedPlace {
    /// The source of a transition, a condition, a step or a state.
    pub span: Span,
    /// The relation to the failure, as text.
    pub what: String,
    /// The variable whose assignment within `span` is meant, if there is one.
    pub(super) sets: Option<String>,
}

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
        let waits =
            if is_awaited { waiting(self.player, self.checked, self.lines) } else { Vec::new() };
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
        let is_step = matches!(expected, Some((Expected::Asked(_) | Expected::Prompt(..), _)));
        let is_open = is_state || (expected.is_some() && !is_step && self.places.is_empty());
        let is_still = window.iter().all(|act| act.at < latest);
        if expected.is_some() && !is_step && is_still {
            let lost = lost(self.player, self.checked, self.lines);
            if !lost.is_empty() {
                self.places.extend(lost);
                self.add_leading();
                return self.places;
            }
        }
        if is_open && is_still {
            self.add_leading();
            self.places.extend(idle(self.player, self.checked, self.lines));
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
                push(&mut self.places, begins, "the run begins here, and stays");
            }
        }
        if self.places.is_empty() {
            self.places.extend(unusable(self.checked, self.lines));
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

    /// Adds what the failed expectation itself names.
    fn add_expected(&mut self) {
        let (player, checked) = (&mut *self.player, self.checked);
        match self.expected {
            Some((Expected::Holds(condition), _)) => {
                variables(condition, &mut self.reads);
                self.add_assignments();
            }
            Some((Expected::Offered(names, only), holds)) => {
                let asked = (names.as_slice(), *only, holds);
                offered(player, checked, self.acts, asked, self.lines, &mut self.places);
            }
            Some((Expected::Asked(step), holds)) => {
                asked(player, checked, step, !holds, &mut self.reads, &mut self.places);
            }
            Some((Expected::Prompt(step, _), _)) => {
                asked(player, checked, step, false, &mut self.reads, &mut self.places);
                let has_asked = self.lines.iter().any(
                    |line| matches!(&line.what, What::Question { step: other, .. } if other == step),
                );
                let nth = checked.chart().steps.iter().position(|one| one.name == *step);
                let prompt = nth.and_then(|nth| checked.map().steps[nth].prompt);
                if let Some(prompt) = prompt.filter(|_| has_asked) {
                    push(&mut self.places, prompt, "the prompt is made of this");
                }
            }
            Some((Expected::Denied(state), true)) => {
                permitting(checked, *state, self.lines, &mut self.places);
            }
            Some(_) | None => {}
        }
    }

    /// Adds the step whose answer the failed move gives, or the one that still needs an answer.
    fn add_call(&mut self, failed: Option<&Move>) {
        let (reads, places) = (&mut self.reads, &mut self.places);
        if let Some(Move::Answer(who, _) | Move::Fail(who, _)) = failed {
            if who.child.is_empty() {
                asked(self.player, self.checked, &who.step, false, reads, places);
            }
        } else if self.expected.is_none() {
            let open = self.player.desk.open();
            if let Some(Wanted::Answer(question)) = open.iter().find(|wanted| wanted.is_owed()) {
                let step = question.step.clone();
                drop(open);
                asked(self.player, self.checked, &step, true, reads, places);
            }
        }
    }

    fn add_assignments(&mut self) {
        assigned(self.acts, self.checked, &self.reads, &mut self.places);
    }

    /// Adds the transitions that lead where the run should be.
    fn add_leading(&mut self) {
        leading(self.player, self.checked, &self.wanted, &mut self.places);
    }

    /// Adds the last choice that no `allow` line permits.
    fn add_denied(&mut self, window: &[&RecordedAct<'_>]) {
        let denied = window.iter().rev().find(|act| matches!(act.did, Did::Denied(_)));
        let Some(RecordedAct { one, did: Did::Denied(id), .. }) = denied else { return };
        let span = one.map.transition(*id).whole;
        push(&mut self.places, span, "chosen, and no `allow` line permits it");
        if one.map.name == self.checked.map().name {
            refusing(self.player, self.checked, *id, &mut self.places);
        }
    }

    /// Adds the transition that was taken last. Returns the trace line from which on refused transitions count.
    fn add_last_taken(&mut self, window: &[&RecordedAct<'_>], latest: usize) -> usize {
        let stays = |act: &&&RecordedAct<'_>| act.at >= latest && matches!(act.did, Did::Taken(_));
        let last = window.iter().rev().find(|act| act.moves());
        let Some(last) = last.or_else(|| window.iter().rev().find(stays)) else { return 0 };
        if let RecordedAct { one, did: Did::Taken(id), .. } = last {
            push(&mut self.places, one.map.transition(*id).whole, &taken(&one.chart, *id));
            let guard = one.chart.transition(*id).guard.as_ref();
            if let Some(guard) = guard.filter(|_| one.map.name == self.checked.map().name) {
                variables(guard, &mut self.reads);
                named(self.checked, guard, &mut self.places);
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
            push(&mut self.places, span, &what);
            if let Some(guard) = guard.filter(|_| is_own) {
                variables(guard, &mut self.reads);
                named(self.checked, guard, &mut self.places);
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
    let sets = |actions: &[Action]| {
        let mut is_set = false;
        Action::walk(actions, &mut |action| {
            is_set |= matches!(action, Action::Assign(id, _) if reads.contains(id));
        });
        is_set
    };
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

/// Adds a place, unless one that starts at the same position is already listed.
pub(super) fn push(places: &mut Vec<RelatedPlace>, span: Span, what: &str) {
    let is_told =
        |place: &RelatedPlace| place.span.file == span.file && place.span.start == span.start;
    if !places.iter().any(is_told) {
        places.push(RelatedPlace { span, what: what.to_owned(), sets: None });
    }
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

pub(super) fn untaken(chart: &Chart, id: TransitionId) -> String {
    if let Trigger::Choice(choice) = chart.transition(id).trigger {
        return format!("false: `{}` is not offered", chart.choices[choice.index()].name);
    }
    "false: the line is not taken".to_owned()
}
