//! Explains parts of a chart after a failed test: guards with their values, options, permissions, and assignments of variables.

use super::blame::{RecordedAct, RelatedPlace, push, untaken};
use super::expect::collect;
use super::follow::Did;
use super::play::Player;
use super::words;
use chartc_check::compile::Checked;
use chartc_check::notation;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::StepKey;
use chartc_core::model::{Action, Expr, ExprKind, StepKind, Transition, Trigger};
use chartc_runtime::trace::{Line, What};

/// The maximum number of values that are shown of a condition.
const MOST_VALUES: usize = 4;

/// Collects the variables that an expression reads, each once.
pub(super) fn variables(expr: &Expr, found: &mut Vec<VarId>) {
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

/// Adds the place where each of the variables was last set, by a transition or a `code` step.
pub(super) fn assigned(
    acts: &[RecordedAct<'_>],
    checked: &Checked,
    reads: &[VarId],
    places: &mut Vec<RelatedPlace>,
) {
    let own = acts.iter().filter(|act| act.map().name == checked.map().name);
    let own: Vec<&RecordedAct<'_>> = own.collect();
    for id in reads {
        let chart = checked.chart();
        let sets = |actions: &[Action]| {
            let mut is_set = false;
            Action::walk(actions, &mut |action| {
                is_set |= matches!(action, Action::Assign(other, _) if other == id);
            });
            is_set
        };
        let last = own.iter().rev().find_map(|act| {
            if let Did::Taken(line) = act.did {
                let is_set = sets(&chart.transition(line).actions);
                return is_set.then(|| checked.map().transition(line).whole);
            }
            let Did::Done(step) = act.did else { return None };
            let StepKind::Code(actions) = &chart.steps[step.index()].kind else { return None };
            sets(actions).then(|| checked.map().step(step).whole)
        });
        let name = &chart.variables[id.index()].name;
        if let Some(span) = last {
            let before = places.len();
            push(places, span, &format!("`{name}` is set here"));
            if let Some(place) = places.get_mut(before) {
                place.sets = Some(name.clone());
            }
        }
    }
}

/// Adds the transitions of active states that lead where the run should be, and were not taken.
pub(super) fn leading(
    player: &Player<'_>,
    checked: &Checked,
    wanted: &[StateId],
    places: &mut Vec<RelatedPlace>,
) {
    let chart = checked.chart();
    let machine = player.session.machine();
    for (line, spans) in chart.transitions.iter().zip(&checked.map().transitions) {
        let target = line.targets.iter().find(|target| wanted.contains(&target.state));
        if let Some(target) = target.filter(|_| machine.is_active(line.source)) {
            let what = format!("leads to `{}`, and is not taken", chart.state(target.state).path);
            // Skip a transition whose guard is listed already.
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

/// Adds the options that the last question wrongly offers or leaves out.
pub(super) fn offered(
    player: &mut Player<'_>,
    checked: &Checked,
    acts: &[RecordedAct<'_>],
    (names, only, holds): (&[String], bool, bool),
    lines: &[Line],
    places: &mut Vec<RelatedPlace>,
) {
    let own = |act: &&RecordedAct<'_>| act.map().name == checked.map().name;
    let is_option = |act: &&RecordedAct<'_>| matches!(act.did, Did::Held(_) | Did::Refused(_));
    let Some(last) = acts.iter().filter(own).rfind(|act| matches!(act.did, Did::Held(_))) else {
        return;
    };
    let mut unknown: Vec<&String> = names.iter().filter(|_| holds).collect();
    let mut end = None;
    let all = acts.iter().filter(own).filter(is_option).filter(|act| act.at == last.at);
    for act in all {
        let (Did::Held(id) | Did::Refused(id)) = act.did else { continue };
        let line = checked.chart().transition(id);
        let Trigger::Choice(choice) = line.trigger else { continue };
        let name = &checked.chart().choices[choice.index()].name;
        let is_named = names.contains(name);
        unknown.retain(|other| *other != name);
        let is_offered = matches!(act.did, Did::Held(_));
        let is_wrong = if is_offered {
            if holds { only && !is_named } else { is_named }
        } else {
            holds && is_named
        };
        let spans = checked.map().transition(id);
        end = Some(spans.whole);
        if is_wrong {
            let what = player.why(id, act.at, lines).map(|why| why.text);
            let what = what.unwrap_or_else(|| match (is_offered, spans.guard) {
                (true, None) => "offered, as it has no condition".to_owned(),
                (true, Some(_)) => "true: it is offered".to_owned(),
                (false, _) => untaken(checked.chart(), id),
            });
            push(places, spans.guard.unwrap_or(spans.whole), &what);
        }
    }
    // A name with a dot is a tool: tools are offered by lines that name a set of them.
    let is_option = |name: &&&String| !name.contains('.');
    if let (Some(end), Some(name)) = (end, unknown.iter().find(is_option)) {
        push(places, end, &format!("the last option here: `{name}` is none of them"));
    }
}

/// Adds the condition of a step that was skipped, or that asks although it should not (`unexpected`).
pub(super) fn asked(
    player: &mut Player<'_>,
    checked: &Checked,
    step: &str,
    unexpected: bool,
    reads: &mut Vec<VarId>,
    places: &mut Vec<RelatedPlace>,
) {
    let chart = checked.chart();
    let Some(nth) = chart.steps.iter().position(|one| one.name == step) else { return };
    let spans = &checked.map().steps[nth];
    if let (Some(guard), Some(span)) = (&chart.steps[nth].guard, spans.guard) {
        let what = player.condition_value(guard, &[], &[]).map(|why| why.text);
        push(places, span, &what.unwrap_or_else(|| format!("decides whether `{step}` asks")));
        named(checked, guard, places);
        variables(guard, reads);
    } else if unexpected {
        push(places, spans.name, "it asks whenever the turn comes to it: it has no condition");
    }
}

/// Adds the declarations of the named conditions that a condition uses.
pub(super) fn named(checked: &Checked, guard: &Expr, places: &mut Vec<RelatedPlace>) {
    let mut leaves = Vec::new();
    collect(guard, &mut leaves);
    for leaf in &leaves {
        if let ExprKind::Predicate(id) = leaf.kind
            && let Some(span) = checked.map().predicates.get(id.index())
        {
            let name = &checked.chart().predicates[id.index()].name;
            push(places, *span, &format!("`{name}` is declared here"));
        }
    }
}

/// Adds the permission whose false guard denied the move.
pub(super) fn refusing(
    player: &mut Player<'_>,
    checked: &Checked,
    id: TransitionId,
    places: &mut Vec<RelatedPlace>,
) {
    let chart = checked.chart();
    let (leaf, line) = (player.leaf(), chart.transition(id));
    let is_from = |from: Option<StateId>| from.is_none_or(|from| chart.contains(from, leaf));
    let rows = chart.permissions.iter().zip(&checked.map().permissions);
    let rows: Vec<_> = rows.filter(|(row, _)| is_from(row.from)).collect();
    let closed = rows.iter().find(|(row, _)| line.targets.iter().any(|to| to.state == row.to));
    if let Some((row, span)) = closed {
        let why = row.guard.as_ref().and_then(|guard| player.condition_value(guard, &[], &[]));
        let what = why.map_or_else(|| "its condition is false".to_owned(), |why| why.text);
        push(places, **span, &what);
    }
}

/// Adds the permissions that allowed a move that the test expected to be denied.
pub(super) fn permitting(
    checked: &Checked,
    state: Option<StateId>,
    lines: &[Line],
    places: &mut Vec<RelatedPlace>,
) {
    let chart = checked.chart();
    let left = lines
        .iter()
        .rev()
        .find_map(|line| if let What::Exited { state } = &line.what { Some(state) } else { None });
    for (row, span) in chart.permissions.iter().zip(&checked.map().permissions) {
        let is_from = row.from.is_none_or(|from| Some(&chart.state(from).path) == left);
        if is_from && Some(row.to) == state {
            push(places, *span, "this permits it");
            row.guard.iter().for_each(|guard| named(checked, guard, places));
        }
    }
}

/// The step with the last unusable answer, if there was one.
pub(super) fn unusable(checked: &Checked, lines: &[Line]) -> Option<RelatedPlace> {
    let own = lines.iter().filter(|line| line.child.is_empty());
    own.rev().find_map(|line| {
        let What::Unusable { step, why, .. } = &line.what else { return None };
        let nth = checked.chart().steps.iter().position(|one| one.name == *step)?;
        let span = checked.map().steps[nth].name;
        Some(RelatedPlace { span, what: format!("its answer cannot be used: {why}"), sets: None })
    })
}

/// The calls that the run waits for, those to people last.
pub(super) fn waiting(player: &Player<'_>, checked: &Checked, lines: &[Line]) -> Vec<RelatedPlace> {
    let machine = player.session.machine();
    let mut keys = machine.pending();
    let is_person =
        |step: StepId| matches!(checked.chart().steps[step.index()].kind, StepKind::Human(_));
    // A person may take any time, so a waiting model or tool is the likelier cause.
    keys.sort_by_key(|key| is_person(key.step));
    let place = |key: StepKey| {
        let step = &checked.chart().steps[key.step.index()];
        let name = &step.name;
        let of = match step.failure.retries {
            0 => String::new(),
            retries => format!(": attempt {} of {}", key.attempt, retries + 1),
        };
        let what = match machine.calls(key) {
            Some(tool) => {
                let tool = &checked.chart().tools[tool.index()].name;
                format!("`{name}` waits for the tool `{tool}`{of}")
            }
            None if matches!(step.kind, StepKind::Run(_)) => {
                format!("`{name}` has not ended yet")
            }
            None => format!("`{name}` still waits for an answer{of}"),
        };
        let before = lines.iter().rev().filter(|line| line.child.is_empty()).find_map(|line| {
            let What::Unusable { step: other, why, .. } = &line.what else { return None };
            (key.attempt > 1 && other == name)
                .then(|| format!("; the last could not be used: {why}"))
        });
        let what = what + &before.unwrap_or_default();
        RelatedPlace { span: checked.map().step(key.step).name, what, sets: None }
    };
    keys.into_iter().map(place).collect()
}

/// The transitions for an event that nothing handled which exclude the present state; if there are none, the state itself.
pub(super) fn lost(player: &Player<'_>, checked: &Checked, lines: &[Line]) -> Vec<RelatedPlace> {
    let chart = checked.chart();
    let since = player.marks.last().copied().unwrap_or(0).min(lines.len());
    let own = lines[since..].iter().filter(|line| line.child.is_empty());
    let refused = own.rev().find_map(|line| {
        let (What::Refused { event } | What::PassedOn { event }) = &line.what else { return None };
        Some(event)
    });
    let Some(name) = refused else { return Vec::new() };
    let leaf = player.leaf();
    let machine = player.session.machine();
    let is_about = |line: &Transition| {
        if let Trigger::Event(events) = &line.trigger {
            return events.iter().any(|e| chart.events[e.index()].name == *name);
        }
        line.trigger == Trigger::AnyEvent
    };
    let mut places = Vec::new();
    for (line, spans) in chart.transitions.iter().zip(&checked.map().transitions) {
        let Some(scope) = line.scope.as_ref().filter(|_| is_about(line)) else { continue };
        let left_out = scope.none_of.iter().find(|state| machine.is_active(**state));
        if let Some(state) = left_out.filter(|_| machine.is_active(line.source)) {
            let path = &chart.state(*state).path;
            let is_target = line.targets.iter().any(|target| target.state == *state);
            let why = if is_target { "its own target, " } else { "" };
            let what = format!("not taken: this leaves out {why}`{path}`, where the run is");
            push(&mut places, spans.whole, &what);
        }
    }
    if places.is_empty() {
        let span = checked.map().state(leaf).name;
        push(&mut places, span, &format!("no line here is about `{name}`"));
    }
    places
}

/// The state in which the run stays although the host did something.
pub(super) fn idle(player: &Player<'_>, checked: &Checked, lines: &[Line]) -> Option<RelatedPlace> {
    let leaf = player.leaf();
    let state = checked.map().states.get(leaf.index())?;
    let since = player.marks.last().copied().unwrap_or(0).min(lines.len());
    let mut own = lines[since..].iter().filter(|line| line.child.is_empty());
    if let Some(place) = unusable(checked, &lines[since..]) {
        return Some(place);
    }
    let is_turn = own.any(|line| matches!(line.what, What::TurnEnded { .. }));
    let what = if is_turn {
        "a turn leads nowhere from here"
    } else {
        "the run stays here: no line is taken"
    };
    Some(RelatedPlace { span: state.name, what: what.to_owned(), sets: None })
}

/// The value of a condition.
pub(super) struct ConditionValue {
    pub(super) holds: bool,
    /// The value as text, with the values that the condition reads.
    pub(super) text: String,
}

impl Player<'_> {
    /// Evaluates a transition's guard now. `at` is the trace line of the decision, whose event gives the payload.
    pub(super) fn why(
        &mut self,
        id: TransitionId,
        at: usize,
        lines: &[Line],
    ) -> Option<ConditionValue> {
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
            shown.push(format!("{name} = {}", words::short(&words::value(&value), 40)));
        }
        let shown =
            if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) };
        let what = words::short(&notation::expression_in(chart, guard, names), 80);
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
    let event = lines[..=at].iter().rev().find_map(|line| {
        if let What::Event { data: Value::Map(data), .. } = &line.what { Some(data) } else { None }
    });
    event.map(|data| data.iter().map(|(_, value)| value.clone()).collect()).unwrap_or_default()
}
