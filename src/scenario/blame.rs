//! Where the fault of a failed test may lie: what the chart decided last, and the lines that failed tests go through more than others.

use super::follow::{Did, follow};
use super::play::{Failure, Player};
use super::words;
use crate::compile::Checked;
use crate::lower::test::{Expected, Move, Test};
use crate::lower::{Lowered, SourceMap};
use crate::notation;
use crate::span::Span;
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::drive::Machine;
use chartc_core::expr::Value;
use chartc_core::machine::Status;
use chartc_core::model::{Action, Chart, Expr, ExprKind, State, StateKind, StepKind, Trigger};
use chartc_runtime::trace::{Line, What};

/// Places that a failure shows.
pub(super) const MOST: usize = 3;

/// Values that are shown of a condition.
const MOST_VALUES: usize = 4;

/// A place of a chart that a failed test points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// A line, a condition, a step or a state.
    pub span: Span,
    /// What it has to do with the failure.
    pub what: String,
}

/// Something that a run did, with the trace's line that says so.
struct Deed<'c> {
    one: &'c Lowered,
    at: usize,
    did: Did,
}

impl Deed<'_> {
    fn map(&self) -> &SourceMap {
        &self.one.map
    }

    fn moves(&self) -> bool {
        let chart = &self.one.chart;
        matches!(self.did, Did::Taken(id) if !chart.transition(id).targets.is_empty())
    }
}

/// What the chart decided last, before a test failed.
pub(super) fn decided(
    player: &mut Player<'_>,
    checked: &Checked,
    test: &Test,
    failure: &Failure,
    lines: &[Line],
) -> Vec<Place> {
    let mut deeds = Vec::new();
    follow(checked, lines, |one, at, did| deeds.push(Deed { one, at, did }));
    let expected = test.moves.iter().find_map(|(step, span)| {
        let Move::Expect(expected, holds) = step else { return None };
        (*span == failure.span).then_some((expected, *holds))
    });
    let wanted = wanted(checked.chart(), expected);
    let decides =
        |deed: &&Deed<'_>| matches!(deed.did, Did::Taken(_) | Did::Refused(_) | Did::Denied(_));
    let starts = player.marks.iter().rev().copied().chain([0]);
    let windows = starts.map(|start| {
        deeds.iter().filter(|deed| deed.at >= start).filter(decides).collect::<Vec<_>>()
    });
    let window = windows.into_iter().find(|window| !window.is_empty()).unwrap_or_default();

    let mut places: Vec<Place> = Vec::new();
    let mut reads: Vec<VarId> = Vec::new();
    match expected {
        Some((Expected::Holds(condition), _)) => {
            variables(condition, &mut reads);
            assigned(&deeds, checked, &reads, &mut places);
        }
        Some((Expected::Offered(names, only), holds)) => {
            let asked = (names.as_slice(), *only, holds);
            offered(player, checked, &deeds, asked, lines, &mut places);
        }
        Some(_) | None => {}
    }
    let latest = player.marks.last().copied().unwrap_or(0);
    let is_state = matches!(expected, Some((Expected::At(_) | Expected::Ended(_), true)));
    let is_open = is_state || (expected.is_some() && places.is_empty());
    if is_open && window.iter().all(|deed| deed.at < latest) {
        leading(player, checked, &wanted, &mut places);
        places.extend(idle(player, checked, lines));
    }
    let denied = window.iter().rev().find(|deed| matches!(deed.did, Did::Denied(_)));
    if let Some(Deed { one, did: Did::Denied(id), .. }) = denied {
        push(&mut places, one.map.line(*id).whole, "chosen, and no `allow` line permits it");
    }
    let last = window.iter().rev().find(|deed| deed.moves());
    let stays = |deed: &&&Deed<'_>| deed.at >= latest && matches!(deed.did, Did::Taken(_));
    let last = last.or_else(|| window.iter().rev().find(stays));
    if let Some(Deed { one, did: Did::Taken(id), .. }) = last {
        push(&mut places, one.map.line(*id).whole, &taken(&one.chart, *id));
    }
    let since = last.map_or(0, |last| {
        let before = window.iter().rev().find(|deed| deed.moves() && deed.at < last.at);
        before.map_or(0, |deed| deed.at + 1)
    });
    let leads = |deed: &Deed<'_>, id: TransitionId| {
        let chart = &deed.one.chart;
        let targets = &chart.transition(id).targets;
        targets.iter().any(|target| wanted.iter().any(|w| chart.contains(*w, target.state)))
    };
    let mut refused: Vec<(&Deed<'_>, TransitionId)> = Vec::new();
    for deed in window.iter().filter(|deed| deed.at >= since) {
        if let Did::Refused(id) = deed.did {
            refused.push((deed, id));
        }
    }
    // Those that lead where the run should be come first, then the later ones.
    refused.reverse();
    refused.sort_by_key(|(deed, id)| !leads(deed, *id));
    for (deed, id) in refused.into_iter().take(MOST - 1) {
        let Some(span) = deed.map().line(id).guard else { continue };
        let is_own = deed.map().name == checked.map().name;
        let what = if is_own { player.why(id, deed.at, lines) } else { None };
        // What was false then may be true by now.
        let what = what.filter(|what| what.contains("` is false"));
        let what = what.unwrap_or_else(|| untaken(&deed.one.chart, id));
        if let Some(guard) = &deed.one.chart.transition(id).guard.as_ref().filter(|_| is_own) {
            variables(guard, &mut reads);
        }
        push(&mut places, span, &what);
    }
    leading(player, checked, &wanted, &mut places);
    assigned(&deeds, checked, &reads, &mut places);
    places.truncate(MOST);
    places
}

/// The states that a test expects the run to be in.
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

/// One place is told of once.
fn push(places: &mut Vec<Place>, span: Span, what: &str) {
    let is_told = |place: &Place| place.span.file == span.file && place.span.start == span.start;
    if !places.iter().any(is_told) {
        places.push(Place { span, what: what.to_owned() });
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

fn untaken(chart: &Chart, id: TransitionId) -> String {
    if let Trigger::Choice(choice) = chart.transition(id).trigger {
        return format!("false: `{}` is not offered", chart.choices[choice.index()].name);
    }
    "false: the line is not taken".to_owned()
}

/// The variables that an expression reads.
fn variables(expr: &Expr, found: &mut Vec<VarId>) {
    let mut leaves = Vec::new();
    super::expect::collect(expr, &mut leaves);
    for leaf in &leaves {
        if let ExprKind::Variable(id) = base(leaf).kind
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
}

/// What a path such as `a.b.c` begins with.
fn base(expr: &Expr) -> &Expr {
    if let ExprKind::Field(inner, _) = &expr.kind { base(inner) } else { expr }
}

/// Where these variables were set last: by a line, or by a `code` step.
fn assigned(deeds: &[Deed<'_>], checked: &Checked, reads: &[VarId], places: &mut Vec<Place>) {
    let own = deeds.iter().filter(|deed| deed.map().name == checked.map().name);
    let own: Vec<&Deed<'_>> = own.collect();
    for id in reads {
        let chart = checked.chart();
        let sets = |actions: &[Action]| {
            let mut is_set = false;
            Action::walk(actions, &mut |action| {
                is_set |= matches!(action, Action::Assign(other, _) if other == id);
            });
            is_set
        };
        let last = own.iter().rev().find_map(|deed| {
            if let Did::Taken(line) = deed.did {
                let is_set = sets(&chart.transition(line).actions);
                return is_set.then(|| checked.map().line(line).whole);
            }
            let Did::Done(step) = deed.did else { return None };
            let StepKind::Code(actions) = &chart.steps[step.index()].kind else { return None };
            sets(actions).then(|| checked.map().step(step).whole)
        });
        let name = &chart.variables[id.index()].name;
        if let Some(span) = last {
            push(places, span, &format!("`{name}` is set here"));
        }
    }
}

/// Lines of active states that lead where the run should be, and were not taken.
fn leading(player: &Player<'_>, checked: &Checked, wanted: &[StateId], places: &mut Vec<Place>) {
    let chart = checked.chart();
    let machine = player.session.machine();
    for (line, spans) in chart.transitions.iter().zip(&checked.map().lines) {
        let target = line.targets.iter().find(|target| wanted.contains(&target.state));
        if let Some(target) = target.filter(|_| machine.is_active(line.source)) {
            let what = format!("leads to `{}`, and is not taken", chart.state(target.state).path);
            // The guard may be told of already, and lies in the line.
            if !places.iter().any(|p| {
                spans.whole.file == p.span.file
                    && spans.whole.start <= p.span.start
                    && p.span.end <= spans.whole.end
            }) {
                push(places, spans.whole, &what);
            }
        }
    }
}

/// Options that the last question offers and should not, or should and does not.
fn offered(
    player: &mut Player<'_>,
    checked: &Checked,
    deeds: &[Deed<'_>],
    (names, only, holds): (&[String], bool, bool),
    lines: &[Line],
    places: &mut Vec<Place>,
) {
    let own = |deed: &&Deed<'_>| deed.map().name == checked.map().name;
    let is_option = |deed: &&Deed<'_>| matches!(deed.did, Did::Held(_) | Did::Refused(_));
    let Some(last) = deeds.iter().filter(own).rfind(|deed| matches!(deed.did, Did::Held(_))) else {
        return;
    };
    let all = deeds.iter().filter(own).filter(is_option).filter(|deed| deed.at == last.at);
    for deed in all {
        let (Did::Held(id) | Did::Refused(id)) = deed.did else { continue };
        let line = checked.chart().transition(id);
        let Trigger::Choice(choice) = line.trigger else { continue };
        let is_named = names.contains(&checked.chart().choices[choice.index()].name);
        let is_offered = matches!(deed.did, Did::Held(_));
        let is_wrong = if is_offered {
            if holds { only && !is_named } else { is_named }
        } else {
            holds && is_named
        };
        let spans = checked.map().line(id);
        if is_wrong {
            let what = player.why(id, deed.at, lines);
            let what = what.unwrap_or_else(|| match (is_offered, spans.guard) {
                (true, None) => "offered, as it has no condition".to_owned(),
                (true, Some(_)) => "true: it is offered".to_owned(),
                (false, _) => untaken(checked.chart(), id),
            });
            push(places, spans.guard.unwrap_or(spans.whole), &what);
        }
    }
}

/// Where the run stays though the host did something.
fn idle(player: &Player<'_>, checked: &Checked, lines: &[Line]) -> Option<Place> {
    let leaf = player.leaf();
    let state = checked.map().states.get(leaf.index())?;
    let since = player.marks.last().copied().unwrap_or(0).min(lines.len());
    let own = lines[since..].iter().filter(|line| line.child.is_empty());
    let unused = own.clone().rev().find_map(|line| {
        let What::Unusable { step, why, .. } = &line.what else { return None };
        let nth = checked.chart().steps.iter().position(|one| one.name == *step)?;
        let span = checked.map().steps[nth].name;
        Some(Place { span, what: format!("its answer cannot be used: {why}") })
    });
    if unused.is_some() {
        return unused;
    }
    let what = own.rev().find_map(|line| {
        if let What::Refused { event } | What::PassedOn { event } = &line.what {
            return Some(format!("no line here is about `{event}`"));
        }
        let is_turn = matches!(line.what, What::TurnEnded { .. });
        is_turn.then(|| "a turn leads nowhere from here".to_owned())
    });
    let what = what.or_else(|| Some("the run stays here: no line is taken".to_owned()));
    what.map(|what| Place { span: state.name, what })
}

impl Player<'_> {
    /// Why a condition is false, with the values that it reads: only where it is so still.
    fn why(&mut self, id: TransitionId, at: usize, lines: &[Line]) -> Option<String> {
        let chart = self.chart;
        let line = chart.transition(id);
        let guard = line.guard.as_ref()?;
        let mut leaves = Vec::new();
        super::expect::collect(guard, &mut leaves);
        let is_event = matches!(line.trigger, Trigger::Event(_));
        let payload = if is_event { payload(at, lines) } else { Vec::new() };
        let needs = leaves.iter().any(|leaf| {
            if let ExprKind::Payload(nth) = base(leaf).kind {
                return nth as usize >= payload.len();
            }
            matches!(base(leaf).kind, ExprKind::Answer(_))
        });
        let Value::Bool(is_so) = self.now(guard, &payload).filter(|_| !needs)? else { return None };
        let names = notation::payload(line);
        let mut shown = Vec::new();
        for leaf in leaves.iter().filter(|leaf| *leaf != guard).take(MOST_VALUES) {
            let value = self.now(leaf, &payload)?;
            let name = notation::expression_in(chart, leaf, &names);
            shown.push(format!("{name} = {}", words::short(&words::value(&value), 40)));
        }
        let shown =
            if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) };
        let what = words::short(&notation::expression_in(chart, guard, &names), 80);
        Some(format!("`{what}` is {is_so}{shown}"))
    }

    fn now(&mut self, expr: &Expr, payload: &[Value]) -> Option<Value> {
        let leaf = self.leaf();
        self.desk.look(true);
        let value = self.session.machine_mut().evaluate(leaf, expr, payload);
        self.desk.look(false);
        if self.desk.missing().is_empty() { value.ok() } else { None }
    }
}

/// The data of the event that was handled at a line of the trace.
fn payload(at: usize, lines: &[Line]) -> Vec<Value> {
    let event = lines[..=at].iter().rev().find_map(|line| {
        if let What::Event { data: Value::Map(data), .. } = &line.what { Some(data) } else { None }
    });
    event.map(|data| data.iter().map(|(_, value)| value.clone()).collect()).unwrap_or_default()
}
