//! What one occurrence does in one leaf, as an expression: whether a line was taken.

use super::super::Context;
use super::super::code::{Fragment, Use, code};
use super::pool::{Guard, Pool};
use super::uniform::{Name, Steps};
use chartc_core::arena::StateId;
use chartc_core::machine::Record;
use chartc_core::semantics::unroll::{Candidate, Deed, Unroll, Unrolled};
use chartc_core::store::Occurrence;
use chartc_core::tables::Tables;
use std::fmt::Write;

/// Writes cells.
pub(super) struct Cells<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) pool: Pool<'c>,
    pub(super) unroll: Unroll<'c>,
    pub(super) queues: bool,
    pub(super) revives: bool,
}

/// What becomes of a guard that fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Faults {
    /// An error is raised.
    Raise,
    /// The same, once in a macrostep.
    RaiseOnce,
    /// A handler of errors calls for no other handler.
    Ignore,
}

/// What is tried of one line.
enum Try {
    /// It is out of its scope.
    Never,
    /// It is taken if its guard holds.
    If(Guard, Steps),
    /// It is taken.
    Take(Steps),
}

impl<'c> Cells<'c> {
    pub(super) fn new(context: &'c Context<'c>) -> Self {
        let tables: Tables<'c> = context.tables;
        let mut unroll = Unroll::new(tables);
        let revives = context.configurations().iter().any(|leaves| unroll.is_dead_end(leaves));
        let queues = context.is_queueing();
        Self { context, pool: Pool::new(context), unroll, queues, revives }
    }

    /// The lines that are tried.
    pub(super) fn candidates(&mut self, leaf: StateId, on: Option<Occurrence>) -> Vec<Candidate> {
        self.unroll.candidates(leaf, on)
    }

    /// The configurations in which nothing can ever happen again.
    pub(super) fn dead_ends(&mut self) -> Vec<String> {
        let all = self.context.configurations().iter().enumerate();
        let dead = all.filter(|(_, leaves)| self.unroll.is_dead_end(leaves));
        dead.map(|(nth, _)| self.context.configuration(nth)).collect()
    }

    /// What `on` (`None`: nothing) does in `leaf`.
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
                Candidate::Guarded(line, place) => {
                    let guard = self.pool.guard(line, &place);
                    fallible |= matches!(guard, Guard::Fallible(_));
                    (line, Try::If(guard, self.take(leaf, line)))
                }
                Candidate::OutOfScope(line) => (line, Try::Never),
                Candidate::Sure(line) => (line, Try::Take(self.take(leaf, line))),
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
        for (line, part) in parts.into_iter().rev() {
            let mut refuted = Steps::default();
            if on.is_some() {
                refuted.tell("refuted", line.0);
            }
            let mut out = Steps::default();
            match part {
                Try::Never => {
                    out.tell("elsewhere", line.0);
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
                    out.tell("faulted", line.0);
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

    /// The only line that needs no event in `leaf`, if it is taken just where its guard holds: the guard, and what is done then.
    pub(super) fn guarded(&mut self, leaf: StateId) -> Option<(Fragment, Fragment)> {
        let candidates = self.unroll.candidates(leaf, None);
        let [Candidate::Guarded(line, place)] = candidates.as_slice() else { return None };
        match self.pool.guard(*line, place) {
            Guard::Plain(condition) => {
                let mut taken = self.take(leaf, *line);
                taken.code("true");
                Some((condition, taken.fragment()))
            }
            Guard::Fallible(_) => None,
        }
    }

    fn take(&mut self, leaf: StateId, line: chartc_core::arena::TransitionId) -> Steps {
        let unrolled = self.unroll.take(leaf, line);
        self.deeds(&unrolled)
    }

    /// The start, from nothing to the first configuration.
    pub(super) fn start(&mut self) -> Steps {
        let unrolled = self.unroll.start();
        self.deeds(&unrolled)
    }

    /// The end of the run, in a leaf.
    pub(super) fn finish(&mut self, leaf: StateId) -> Steps {
        let unrolled = self.unroll.finish(&[leaf]);
        self.deeds(&unrolled)
    }

    fn deeds(&mut self, unrolled: &Unrolled) -> Steps {
        let mut out = Steps::default();
        let mut revived = !self.revives;
        let mut entered = false;
        // What is queued comes when all else is done: after the entry of a final there is nothing else.
        let mut queued = String::new();
        for deed in &unrolled.deeds {
            match deed {
                Deed::Told(Record::Taken(line)) => out.tell("taken", line.0),
                Deed::Told(Record::Exited(state)) => out.tell("exited", state.0),
                Deed::Told(Record::Entered(state)) => {
                    if !revived {
                        out.code("self.registers.revive();\n");
                        revived = true;
                    }
                    entered = true;
                    out.tell("entered", state.0);
                }
                // The end of the run is told by what all machines share; guards are candidates.
                Deed::Told(_) | Deed::Asked(..) => {}
                Deed::Ran(block, place) => out.code(self.pool.block(*block, place)),
                Deed::Read(line, place) => out.code(self.pool.arguments(*line, place)),
                Deed::Queued(Occurrence::StateDone(state)) if self.queues => {
                    let _ = writeln!(
                        queued,
                        "let _ = self.push(store::Occurrence::StateDone(arena::StateId({})));",
                        state.0
                    );
                }
                Deed::Queued(_) => {}
            }
        }
        // Also where it is the same leaf again, so that all lines that enter something read alike.
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
