//! The edges of a walk: what steps read, how they end, and to what their outcomes lead.

use super::edge::{Edge, Op};
use super::point::{By, Mode, Point, Points};
use super::read::{How, Site};
use super::transition::LeafTransition;
use crate::turn::dataflow::Value;
use chartc_core::arena::StepId;
use chartc_core::model::{AskOn, Failure, Step, StepKind, TemplatePart, Trigger};

impl<'c> Points<'c, '_> {
    /// Adds the edges from the beginning of a turn: `on turn` transitions, and the start of the walk if none is taken.
    pub(super) fn of_turn(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        edges: &mut Vec<Edge<'c>>,
    ) {
        // The assumption that no transition is taken; `None` once one without a guard is.
        let mut missed = Some(Vec::new());
        for (nth, transition) in transitions.iter().enumerate() {
            if !matches!(transition.row.trigger, Trigger::Turn) {
                continue;
            }
            if let Some(ops) = self.tried_before(transitions, nth, &[]) {
                self.transition(point, transition, &ops, Mode::Begin, true, edges);
            }
            match (&transition.row.guard, &mut missed) {
                (Some(guard), Some(missed)) => missed.push(Op::Assume(None, guard, false)),
                (_, missed) => *missed = None,
            }
        }
        if let Some(ops) = missed {
            let to = Point { leaf: point.leaf, mode: self.walk(point.leaf, 0, 0) };
            edges.push(Edge { ops, to, by: By::Passed, sure: true });
        }
    }

    /// Adds the readings of a step when it starts.
    pub(super) fn reads(&self, id: StepId, step: &'c Step, ops: &mut Vec<Op<'c>>) {
        for (nth, part) in step.prompt.iter().flat_map(|p| p.parts.iter().enumerate()) {
            if let TemplatePart::Hole { expr, .. } = part {
                ops.push(Op::Read(Site::Prompt(id, nth), expr, How::Hard));
            }
        }
        for (component, insert) in self.injected.get(&id).into_iter().flatten() {
            if let Some(guard) = &insert.guard {
                ops.push(Op::Read(Site::Injection(id, *component), guard, How::Soft));
            }
            // The guard is not assumed for the text, so with a guard, values that it rules out would seem to be read here.
            if insert.guard.is_none() {
                let text = &self.chart.components[component.index()].text;
                for (nth, part) in text.parts.iter().enumerate() {
                    if let TemplatePart::Hole { expr, .. } = part {
                        ops.push(Op::Read(Site::Fragment(id, *component, nth), expr, How::Hard));
                    }
                }
            }
        }
        let site = Site::Arguments(id);
        ops.extend(step.each.iter().map(|each| Op::Read(site, &each.list, How::Soft)));
        match &step.kind {
            StepKind::Call(_, arguments) => {
                ops.extend(arguments.iter().map(|e| Op::Read(site, e, How::Soft)));
            }
            StepKind::Run(run) => {
                ops.extend(run.arguments.iter().map(|(_, e)| Op::Read(site, e, How::Soft)));
            }
            StepKind::Human(text) => ops.extend(text.holes().map(|e| Op::Read(site, e, How::Hard))),
            StepKind::Llm | StepKind::Code(_) | StepKind::Ask { .. } => {}
        }
    }

    /// Adds the effects of an answer: the step has one, and so has the variable in which it is stored.
    pub(super) fn answered(&self, id: StepId, ops: &mut Vec<Op<'c>>) {
        ops.push(Op::Set(Value::Answer(id)));
        ops.extend(self.chart.steps[id.index()].into.map(|v| Op::Set(Value::Variable(v))));
    }

    /// Adds the edges from before a step: it is skipped, started and awaited, or runs at once.
    pub(super) fn of_step(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step = &self.chart.steps[id.index()];
        let leaf = point.leaf;
        let next = Point { leaf, mode: self.walk(leaf, id.0 + 1, calls) };
        let mut ops = Vec::new();
        if let Some(guard) = &step.guard {
            let ops = vec![Op::Assume(Some(Site::Guard(id)), guard, false)];
            edges.push(Edge { ops, to: next, by: By::Skipped(id), sure: true });
        }
        ops.extend(step.guard.as_ref().map(|g| Op::Assume(Some(Site::Guard(id)), g, true)));
        let model = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
        let used = if self.cap.is_some() { calls + u8::from(model) } else { 0 };
        // No call is left: the turn ends, unless the step may do without one.
        if model && self.cap.is_some_and(|cap| u32::from(calls) >= cap) {
            let to = Point { leaf, mode: Mode::Rest };
            edges.push(Edge { ops, to, by: By::Passed, sure: true });
            if matches!(step.kind, StepKind::Llm) && step.each.is_none() {
                return;
            }
            ops = step.guard.iter().map(|g| Op::Assume(Some(Site::Guard(id)), g, true)).collect();
        }
        self.reads(id, step, &mut ops);
        match &step.kind {
            StepKind::Llm | StepKind::Call(..) => {
                let is_past = model && self.cap.is_some_and(|cap| u32::from(calls) >= cap);
                if step.each.is_some() && model {
                    // An `each` over an empty list takes no call.
                    let to = Point { leaf, mode: Mode::Wait(id.0, calls) };
                    edges.push(Edge { ops: ops.clone(), to, by: By::Passed, sure: false });
                }
                if !is_past {
                    let to = Point { leaf, mode: Mode::Wait(id.0, used) };
                    edges.push(Edge { ops, to, by: By::Passed, sure: true });
                }
            }
            StepKind::Ask { on: AskOn::Event(_), .. } => {
                edges.push(Edge { ops: Vec::new(), to: next, by: By::Passed, sure: true });
            }
            StepKind::Ask { on: AskOn::Turn, .. } => {
                let past = self.cap.is_some_and(|cap| u32::from(calls) >= cap);
                let to = Point { leaf, mode: Mode::Wait(id.0, if past { calls } else { used }) };
                edges.push(Edge { ops: ops.clone(), to, by: By::Passed, sure: !past });
                // If a single option is taken without asking, it costs no call.
                let to = Point { leaf, mode: Mode::Wait(id.0, calls) };
                edges.push(Edge { ops, to, by: By::Passed, sure: false });
            }
            StepKind::Human(_) | StepKind::Run(..) => {
                ops.push(Op::Started(id));
                edges.push(Edge { ops, to: next, by: By::Passed, sure: true });
                // The step is under way already, or it starts by itself on entry.
                edges.push(Edge { ops: Vec::new(), to: next, by: By::Passed, sure: false });
            }
            StepKind::Code(actions) => {
                // `failed` continues after a part of the block has run.
                let mut failed = ops.clone();
                ops.push(Op::Do(Site::Code(id), actions));
                self.ended(point, transitions, id, calls, &ops, edges);
                failed.push(Op::Maybe(Site::Code(id), actions));
                self.failed(point, transitions, id, calls, &failed, false, edges);
            }
        }
    }

    /// Adds the edges from an awaited step: its answer or failure.
    pub(super) fn of_answer(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step = &self.chart.steps[id.index()];
        let leaf = point.leaf;
        if step.tools.is_some() {
            // After a tool of the step has returned, other transitions may be enabled.
            edges.push(Edge { ops: vec![Op::Stir], to: point, by: By::Passed, sure: false });
        }
        if matches!(step.kind, StepKind::Ask { .. }) {
            let next = Mode::Walk(id.0 + 1, calls);
            for transition in transitions {
                let other = transition.row.trigger == Trigger::StepElse(id);
                if other || matches!(transition.row.trigger, Trigger::Choice(_)) {
                    self.transition(point, transition, &[Op::Stir], next, true, edges);
                }
            }
            let to = Point { leaf, mode: self.walk(leaf, id.0 + 1, calls) };
            edges.push(Edge { ops: vec![Op::Stir], to, by: By::Passed, sure: false });
            if let Some(ends) = &step.ends_turn {
                let ops = vec![Op::Stir, Op::Assume(Some(Site::EndsTurn(id)), ends, true)];
                edges.push(Edge {
                    ops,
                    to: Point { leaf, mode: Mode::Rest },
                    by: By::Passed,
                    sure: false,
                });
            }
        } else {
            let mut ops = vec![Op::Stir];
            self.answered(id, &mut ops);
            self.ended(point, transitions, id, calls, &ops, edges);
        }
        self.failed(point, transitions, id, calls, &[Op::Stir], true, edges);
    }

    /// Adds the edges of a step that has succeeded. Its `ends turn` is evaluated before its transitions.
    fn ended(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        ops: &[Op<'c>],
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step: &'c Step = &self.chart.steps[id.index()];
        let ends = step.ends_turn.as_ref();
        let mut ways: Vec<(Vec<Op<'c>>, bool)> = Vec::new();
        match ends {
            None => ways.push((ops.to_vec(), false)),
            Some(ends) => {
                for over in [true, false] {
                    let assumed = Op::Assume(Some(Site::EndsTurn(id)), ends, over);
                    ways.push((ops.iter().copied().chain([assumed]).collect(), over));
                }
            }
        }
        for (ops, over) in ways {
            let next = if over { Mode::Rest } else { Mode::Walk(id.0 + 1, calls) };
            self.outcome(
                point,
                transitions,
                &Trigger::StepDone(id),
                &ops,
                next,
                By::Done(id),
                true,
                edges,
            );
        }
    }

    /// Adds the edges of a step that has failed for good. `sure` is false if the failure is only possible.
    #[allow(clippy::too_many_arguments, reason = "where, what, and what it adds to")]
    fn failed(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        id: StepId,
        calls: u8,
        ops: &[Op<'c>],
        sure: bool,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let step = &self.chart.steps[id.index()];
        let goes_on = Mode::Walk(id.0 + 1, calls);
        let next = match step.failure.then {
            Failure::Fail => Mode::Rest,
            Failure::Skip | Failure::Take(_) => goes_on,
        };
        let triggers = transitions.iter().map(|transition| &transition.row.trigger);
        let other = |t: &&Trigger| {
            t.step() == Some(id)
                && matches!(
                    t,
                    Trigger::StepTimeout(..) | Trigger::StepDoubt(_) | Trigger::StepElse(_)
                )
        };
        let others: Vec<Trigger> = triggers.filter(other).cloned().collect();
        for trigger in others {
            self.outcome(point, transitions, &trigger, ops, goes_on, By::Failed(id), sure, edges);
        }
        self.outcome(
            point,
            transitions,
            &Trigger::StepError(id),
            ops,
            next,
            By::Failed(id),
            sure,
            edges,
        );
    }

    /// Adds the edges of the transitions on an outcome, and the edge on which none of them is taken.
    #[allow(clippy::too_many_arguments, reason = "where, what, and what it adds to")]
    fn outcome(
        &self,
        point: Point,
        transitions: &[LeafTransition<'c>],
        trigger: &Trigger,
        ops: &[Op<'c>],
        next: Mode,
        by: By,
        sure: bool,
        edges: &mut Vec<Edge<'c>>,
    ) {
        let mut missed: Option<Vec<Op<'c>>> = Some(ops.to_vec());
        for (nth, transition) in transitions.iter().enumerate() {
            if transition.row.trigger != *trigger {
                continue;
            }
            if let Some(all) = self.tried_before(transitions, nth, ops) {
                // A transition on an error continues the walk, even if the failure would have ended the turn.
                let after =
                    if matches!(trigger, Trigger::StepError(_)) && matches!(next, Mode::Rest) {
                        past(point)
                    } else {
                        next
                    };
                self.transition(point, transition, &all, after, sure, edges);
            }
            // With a transition table, any of them may be refused, so nothing is known if none is taken.
            match (&transition.row.guard, &mut missed, self.table) {
                (_, _, true) => {}
                (Some(guard), Some(missed), _) => missed.push(Op::Assume(None, guard, false)),
                (_, missed, _) => *missed = None,
            }
        }
        if let Some(ops) = missed {
            let mode = match next {
                Mode::Walk(step, calls) => self.walk(point.leaf, step, calls),
                Mode::Rest | Mode::Begin | Mode::Wait(..) => next,
            };
            edges.push(Edge { ops, to: Point { leaf: point.leaf, mode }, by, sure });
        }
    }
}

/// The mode of a walk that continues after the step of this point.
const fn past(point: Point) -> Mode {
    match point.mode {
        Mode::Walk(step, calls) | Mode::Wait(step, calls) => Mode::Walk(step + 1, calls),
        Mode::Rest | Mode::Begin => point.mode,
    }
}
