//! What one occurrence does in one leaf, as an expression: whether a line was taken.

use super::super::Context;
use super::pool::{Guard, Pool};
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
    If(Guard, String),
    /// It is taken.
    Take(String),
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
    pub(super) fn cell(&mut self, leaf: StateId, on: Option<Occurrence>) -> String {
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
            (false, _) | (_, Faults::Ignore) => ("", ""),
            (true, Faults::Raise) => {
                ("let mut failed = false;\n", "if failed { direct::fault(self, sink); }\n")
            }
            (true, Faults::RaiseOnce) => (
                "let before = *faults;\n",
                "if before == 0 && *faults > 0 { direct::fault(self, sink); }\n",
            ),
        };
        let note = match faults {
            Faults::Raise => "failed = true;",
            Faults::RaiseOnce => "*faults += 1;",
            Faults::Ignore => "",
        };
        let mut after = format!("{report}false");
        for (line, part) in parts.into_iter().rev() {
            let n = line.0;
            let refuted =
                if on.is_none() { String::new() } else { format!("direct::refuted(sink, {n});\n") };
            after = match part {
                Try::Never => format!("direct::elsewhere(sink, {n});\n{after}"),
                Try::Take(taken) => format!("{report}{taken}true"),
                Try::If(Guard::Plain(condition), taken) => {
                    format!("if {condition} {{ {report}{taken}true }} else {{ {refuted}{after} }}")
                }
                Try::If(Guard::Fallible(call), taken) => format!(
                    "let held = {call};\n\
                     if held == Ok(true) {{ {report}{taken}true }} else {{\n\
                     if held.is_err() {{ direct::faulted(sink, {n}); {note} }} else {{ {refuted} }}\n\
                     {after} }}"
                ),
            };
        }
        before.to_owned() + &after
    }

    fn take(&mut self, leaf: StateId, line: chartc_core::arena::TransitionId) -> String {
        let unrolled = self.unroll.take(leaf, line);
        self.deeds(&unrolled)
    }

    /// The start, from nothing to the first configuration.
    pub(super) fn start(&mut self) -> String {
        let unrolled = self.unroll.start();
        self.deeds(&unrolled)
    }

    /// The end of the run, in a leaf.
    pub(super) fn finish(&mut self, leaf: StateId) -> String {
        let unrolled = self.unroll.finish(&[leaf]);
        self.deeds(&unrolled)
    }

    fn deeds(&mut self, unrolled: &Unrolled) -> String {
        let mut out = String::new();
        let mut revived = !self.revives;
        let mut entered = false;
        // What is queued comes when all else is done: after the entry of a final there is nothing else.
        let mut queued = String::new();
        for deed in &unrolled.deeds {
            match deed {
                Deed::Told(Record::Taken(line)) => {
                    let _ = writeln!(out, "direct::taken(sink, {});", line.0);
                }
                Deed::Told(Record::Exited(state)) => {
                    let _ = writeln!(out, "direct::exited(sink, {});", state.0);
                }
                Deed::Told(Record::Entered(state)) => {
                    if !revived {
                        out.push_str("self.registers.revive();\n");
                        revived = true;
                    }
                    entered = true;
                    let _ = writeln!(out, "direct::entered(sink, {});", state.0);
                }
                // The end of the run is told by what all machines share; guards are candidates.
                Deed::Told(_) | Deed::Asked(..) => {}
                Deed::Ran(block, place) => out.push_str(&self.pool.block(*block, place)),
                Deed::Read(line, place) => out.push_str(&self.pool.arguments(*line, place)),
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
            let _ =
                writeln!(out, "self.configuration = {};", self.context.within(&unrolled.lowest));
        }
        out += &queued;
        if let Some(status) = unrolled.ending {
            let _ = writeln!(out, "self.registers.end(machine::Status::{status:?});");
        }
        out
    }
}
