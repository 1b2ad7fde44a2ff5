//! Writes cells: the steps for one occurrence in one leaf, as an expression that says whether a transition was taken.

use super::super::Context;
use super::super::code::{Fragment, Use, code};
use super::pool::{Guard, Pool};
use super::uniform::{Name, Steps};
use chartc_core::arena::StateId;
use chartc_core::machine::Record;
use chartc_core::semantics::unroll::{Candidate, Operation, Unroll, Unrolled};
use chartc_core::store::Occurrence;
use chartc_core::tables::Tables;
use std::fmt::Write;

/// The writer of cells.
pub(super) struct Cells<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) pool: Pool<'c>,
    pub(super) unroll: Unroll<'c>,
    pub(super) queues: bool,
    pub(super) revives: bool,
}

/// The handling of a failing guard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Faults {
    /// The failure raises an error.
    Raise,
    /// The failure raises an error, at most once in a macrostep.
    RaiseOnce,
    /// The failure is ignored: a handler of errors must not trigger another one, endlessly.
    Ignore,
}

/// The outcome of trying a transition.
enum Try {
    /// The transition is never taken, because its scope is not active.
    Never,
    /// The transition is taken if its guard holds.
    If(Guard, Steps),
    /// The transition is always taken.
    Take(Steps),
}

impl<'c> Cells<'c> {
    pub(super) fn new(context: &'c Context<'c>) -> Self {
        let tables: Tables<'c> = context.tables;
        let mut unroll = Unroll::new(tables);
        // Only a machine that can be in a dead end must take note when it leaves one.
        let revives = context.configurations().iter().any(|leaves| unroll.ends_dead_in(leaves));
        let queues = context.is_queueing();
        Self { context, pool: Pool::new(context), unroll, queues, revives }
    }

    /// The transitions that are tried for an occurrence in a leaf, in order.
    pub(super) fn candidates(&mut self, leaf: StateId, on: Option<Occurrence>) -> Vec<Candidate> {
        self.unroll.candidates(leaf, on)
    }

    /// The code for the configurations that are dead ends.
    pub(super) fn dead_ends(&mut self) -> Vec<String> {
        let all = self.context.configurations().iter().enumerate();
        let dead = all.filter(|(_, leaves)| self.unroll.ends_dead_in(leaves));
        dead.map(|(nth, _)| self.context.configuration(nth)).collect()
    }

    /// The steps for `on` in `leaf`; `None` stands for eventless transitions.
    pub(super) fn cell(&mut self, leaf: StateId, on: Option<Occurrence>) -> Steps {
        let faults = match on {
            None => Faults::RaiseOnce,
            Some(Occurrence::Error(_)) => Faults::Ignore,
            Some(_) => Faults::Raise,
        };
        let candidates = self.unroll.candidates(leaf, on);
        let mut parts = Vec::new();
        let mut fallible = false;
        for candidate in candidates {
            parts.push(match candidate {
                Candidate::Guarded(transition, place) => {
                    let guard = self.pool.guard(transition, &place);
                    fallible |= matches!(guard, Guard::Fallible(_));
                    let mut taken = Steps::default();
                    taken.code(self.pool.why(transition, &place));
                    taken.append(self.take(leaf, transition));
                    (transition, Try::If(guard, taken))
                }
                Candidate::OutOfScope(transition) => (transition, Try::Never),
                Candidate::Sure(transition) => (transition, Try::Take(self.take(leaf, transition))),
            });
        }
        let (before, report) = match (fallible, faults) {
            (false, _) | (_, Faults::Ignore) => ("", Fragment::default()),
            (true, Faults::Raise) => {
                ("let mut failed = false;\n", "if failed { direct::fault(self, sink); }\n".into())
            }
            (true, Faults::RaiseOnce) => (
                "let before = *faults;\n",
                "if before == 0 && *faults > 0 { direct::fault(self, sink); }\n".into(),
            ),
        };
        let report = match faults {
            _ if report.is_empty() => report,
            Faults::RaiseOnce => report.using(Use::Sink).using(Use::Faults),
            Faults::Raise | Faults::Ignore => report.using(Use::Sink),
        };
        let note: Fragment = match faults {
            Faults::Raise => "failed = true;".into(),
            Faults::RaiseOnce => Fragment::from("*faults += 1;").using(Use::Faults),
            Faults::Ignore => Fragment::default(),
        };
        let mut after = Steps::default();
        after.code(report.clone());
        after.code("false");
        // From the last candidate to the first: each one continues with those after it if it is not taken.
        for (transition, part) in parts.into_iter().rev() {
            let mut refuted = Steps::default();
            if on.is_some() {
                refuted.tell("refuted", transition.0);
            }
            let mut out = Steps::default();
            match part {
                Try::Never => {
                    out.tell("elsewhere", transition.0);
                    out.append(after);
                }
                Try::Take(taken) => {
                    out.code(report.clone());
                    out.append(taken);
                    out.code("true");
                }
                Try::If(Guard::Plain(condition), taken) => {
                    out.code(code!("if {condition} {{ {report}", condition, report));
                    out.append(taken);
                    out.code("true } else { ");
                    out.append(refuted);
                    out.append(after);
                    out.code(" }");
                }
                Try::If(Guard::Fallible(call), taken) => {
                    out.code(code!(
                        "let held = {call};\nif held == Ok(true) {{ {report}",
                        call,
                        report
                    ));
                    out.append(taken);
                    out.code("true } else {\nif held.is_err() { ");
                    out.tell("faulted", transition.0);
                    out.code(code!("{note} }}", note));
                    if on.is_some() {
                        out.code(" else { ");
                        out.append(refuted);
                        out.code(" }");
                    }
                    out.code("\n");
                    out.append(after);
                    out.code(" }");
                }
            }
            after = out;
        }
        let mut out = Steps::default();
        out.code(before);
        out.append(after);
        out
    }

    /// For a leaf with a single eventless transition that is taken exactly when its guard holds: the guard, and the steps.
    pub(super) fn guarded(&mut self, leaf: StateId) -> Option<(Fragment, Fragment)> {
        let candidates = self.unroll.candidates(leaf, None);
        let [Candidate::Guarded(transition, place)] = candidates.as_slice() else { return None };
        match self.pool.guard(*transition, place) {
            Guard::Plain(condition) => {
                let mut taken = Steps::default();
                taken.code(self.pool.why(*transition, place));
                taken.append(self.take(leaf, *transition));
                taken.code("true");
                Some((condition, taken.fragment()))
            }
            Guard::Fallible(_) => None,
        }
    }

    fn take(&mut self, leaf: StateId, transition: chartc_core::arena::TransitionId) -> Steps {
        let unrolled = self.unroll.take(leaf, transition);
        self.operations(&unrolled)
    }

    /// The steps of the start, up to the first configuration.
    pub(super) fn start(&mut self) -> Steps {
        let unrolled = self.unroll.start();
        self.operations(&unrolled)
    }

    /// The steps at the end of the run, in a leaf.
    pub(super) fn finish(&mut self, leaf: StateId) -> Steps {
        let unrolled = self.unroll.finish(&[leaf]);
        self.operations(&unrolled)
    }

    fn operations(&mut self, unrolled: &Unrolled) -> Steps {
        let mut out = Steps::default();
        let mut revived = !self.revives;
        let mut entered = false;
        // Completions are queued last: nothing else follows the entry of a final state.
        let mut queued = String::new();
        for operation in &unrolled.operations {
            match operation {
                Operation::Told(Record::Taken(transition)) => out.tell("taken", transition.0),
                Operation::Told(Record::Exited(state)) => out.tell("exited", state.0),
                Operation::Told(Record::Entered(state)) => {
                    if !revived {
                        out.code("self.registers.revive();\n");
                        revived = true;
                    }
                    entered = true;
                    out.tell("entered", state.0);
                }
                // Code that all machines share reports the end of the run; guards are part of the candidates.
                Operation::Told(_) | Operation::Asked(..) => {}
                Operation::Ran(block, place) => out.code(self.pool.block(*block, place)),
                Operation::Read(transition, place) => {
                    out.code(self.pool.arguments(*transition, place));
                }
                Operation::Queued(Occurrence::StateDone(state)) if self.queues => {
                    let _ = writeln!(
                        queued,
                        "let _ = self.push(store::Occurrence::StateDone(arena::StateId({})));",
                        state.0
                    );
                }
                Operation::Queued(_) => {}
            }
        }
        // The configuration is set even if it does not change, so that equal steps have equal code and can be shared.
        if entered {
            out.code("self.configuration = ");
            out.name(Name::Configuration, self.context.within(&unrolled.lowest));
            out.code(";\n");
        }
        out.code(queued);
        if let Some(status) = unrolled.ending {
            out.code(format!("self.registers.end(machine::Status::{status:?});\n"));
        }
        out
    }
}
