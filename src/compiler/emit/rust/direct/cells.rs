//! Cells: the steps for one occurrence in one leaf. Those that differ only in names become one, and what may fail becomes a method.
//!
//! The problem: direct code has no engine that looks up transitions. The code of each leaf and occurrence is written out, which is fast,
//! but grows with their product. The idea: `Unroll` runs the engine's rules once, when the code is written, and says which transitions are
//! tried and what each of them does. `Cells::cell` writes that as nested conditions. Then equal code is shared:
//!
//! - `Steps` keeps numbers of transitions and states apart from the code around them (`Name`). `groups` finds cells that are equal but for
//!   names, and `merged` writes one piece of code for them, with the names in tables.
//! - `Pool` turns guards and blocks that may fail into methods, and finds equal ones, so that each exists once.
//!
//! A guard that fails counts as false, and raises an error as `Faults` says. For example, for `state a { on go if n > 3 -> b }` with the
//! transition 0 and the states 1 and 2, the cell for `go` in `a` is, in short:
//!
//! ```text
//! if self.data.n > 3 {
//!     direct::taken(sink, 0);
//!     direct::exited(sink, 1);
//!     direct::entered(sink, 2);
//!     self.configuration = Configuration::B;
//!     true
//! } else {
//!     direct::refuted(sink, 0);
//!     false
//! }
//! ```

use super::super::code::{Binding, Fragment, Use, code};
use super::super::{Context, blocks, keep, program};
use crate::emit::rust::methods::Methods;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::machine::Record;
use chartc_core::program::Block;
use chartc_core::semantics::unroll::{Candidate, Operation, Place, Unroll, Unrolled};
use chartc_core::store::Occurrence;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The writer of cells.
pub(super) struct Cells<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) pool: Pool<'c>,
    pub(super) unroll: Unroll,
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
        let mut unroll = Unroll::new(&context.tables);
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
        let mut parts = Vec::new();
        for candidate in self.unroll.candidates(leaf, on) {
            parts.push(self.attempt(leaf, candidate));
        }
        let is_fallible =
            |(_, part): &(TransitionId, Try)| matches!(part, Try::If(Guard::Fallible(_), _));
        let (before, report) = faults.report(parts.iter().any(is_fallible));
        let mut after = Steps::default();
        after.code(report.clone());
        after.code("false");
        // From the last candidate to the first: each one continues with those after it if it is not taken.
        for (transition, part) in parts.into_iter().rev() {
            after = part.chained(transition, faults, &report, after);
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

    fn attempt(&mut self, leaf: StateId, candidate: Candidate) -> (TransitionId, Try) {
        match candidate {
            Candidate::Guarded(transition, place) => {
                let guard = self.pool.guard(transition, &place);
                let mut taken = Steps::default();
                taken.code(self.pool.why(transition, &place));
                taken.append(self.take(leaf, transition));
                (transition, Try::If(guard, taken))
            }
            Candidate::OutOfScope(transition) => (transition, Try::Never),
            Candidate::Sure(transition) => (transition, Try::Take(self.take(leaf, transition))),
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

impl Faults {
    /// The code before the candidates, and the code that reports a failure of their guards.
    fn report(self, is_fallible: bool) -> (&'static str, Fragment) {
        match self {
            Self::Raise if is_fallible => {
                let report =
                    Fragment::from("if failed { direct::fault(self, sink); }\n").using(Use::Sink);
                ("let mut failed = false;\n", report)
            }
            Self::RaiseOnce if is_fallible => {
                let report = Fragment::from(
                    "if before == 0 && *faults > 0 { direct::fault(self, sink); }\n",
                );
                ("let before = *faults;\n", report.using(Use::Sink).using(Use::Faults))
            }
            Self::Raise | Self::RaiseOnce | Self::Ignore => ("", Fragment::default()),
        }
    }

    /// The code that notes the failure of a guard.
    fn note(self) -> Fragment {
        match self {
            Self::Raise => "failed = true;".into(),
            Self::RaiseOnce => Fragment::from("*faults += 1;").using(Use::Faults),
            Self::Ignore => Fragment::default(),
        }
    }
}

impl Try {
    /// The steps that try the transition, and continue with `after` if it is not taken.
    fn chained(
        self,
        transition: TransitionId,
        faults: Faults,
        report: &Fragment,
        after: Steps,
    ) -> Steps {
        let mut refuted = Steps::default();
        let is_told = faults != Faults::RaiseOnce;
        if is_told {
            refuted.tell("refuted", transition.0);
        }
        let mut out = Steps::default();
        match self {
            Self::Never => {
                out.tell("elsewhere", transition.0);
                out.append(after);
            }
            Self::Take(taken) => {
                out.code(report.clone());
                out.append(taken);
                out.code("true");
            }
            Self::If(Guard::Plain(condition), taken) => {
                out.code(code!("if {condition} {{ {report}", condition, report = report.clone()));
                out.append(taken);
                out.code("true } else { ");
                out.append(refuted);
                out.append(after);
                out.code(" }");
            }
            Self::If(Guard::Fallible(call), taken) => {
                out.code(code!(
                    "let held = {call};\nif held == Ok(true) {{ {report}",
                    call,
                    report = report.clone()
                ));
                out.append(taken);
                out.code("true } else {\nif held.is_err() { ");
                out.tell("faulted", transition.0);
                out.code(code!("{note} }}", note = faults.note()));
                if is_told {
                    out.code(" else { ");
                    out.append(refuted);
                    out.code(" }");
                }
                out.code("\n");
                out.append(after);
                out.code(" }");
            }
        }
        out
    }
}

// Merges cells that differ only in names: one piece of code for all of them, with the names in tables. For example, `direct::taken(sink,
// 0)` and `direct::taken(sink, 1)` become `direct::taken(sink, T0[at])`, with `static T0: [u32; 2] = [0, 1]`.

/// The kind of a name that may differ between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// A transition or state, by its number.
    Row,
    /// A configuration.
    Configuration,
}

impl Name {
    fn ty(self) -> &'static str {
        match self {
            Self::Row => "u32",
            Self::Configuration => "Configuration",
        }
    }
}

/// A part of the code of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum CodePart {
    Code(Fragment),
    Name(Name, String),
}

/// The code of a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Steps(Vec<CodePart>);

impl Steps {
    /// Adds code.
    pub(super) fn code(&mut self, code: impl Into<Fragment>) {
        let code = code.into();
        match self.0.last_mut() {
            _ if code.is_empty() => {}
            Some(CodePart::Code(last)) => *last += code,
            Some(CodePart::Name(..)) | None => self.0.push(CodePart::Code(code)),
        }
    }

    /// Adds a name.
    pub(super) fn name(&mut self, name: Name, text: String) {
        self.0.push(CodePart::Name(name, text));
    }

    /// Reports a transition or state to the sink.
    pub(super) fn tell(&mut self, what: &str, row: u32) {
        self.code(Fragment::from(format!("direct::{what}(sink, ")).using(Use::Sink));
        self.name(Name::Row, row.to_string());
        self.code(");\n");
    }

    /// Adds all of `more`.
    pub(super) fn append(&mut self, more: Self) {
        for part in more.0 {
            match part {
                CodePart::Code(code) => self.code(code),
                CodePart::Name(name, text) => self.name(name, text),
            }
        }
    }

    /// Returns the steps as code.
    pub(super) fn fragment(&self) -> Fragment {
        let parts = self.0.iter().map(|part| match part {
            CodePart::Code(code) => code.clone(),
            CodePart::Name(_, text) => text.as_str().into(),
        });
        parts.collect()
    }

    /// Whether both are equal, except for names.
    fn is_like(&self, other: &Self) -> bool {
        let alike = |(a, b): (&CodePart, &CodePart)| match (a, b) {
            (CodePart::Code(a), CodePart::Code(b)) => a == b,
            (CodePart::Name(a, _), CodePart::Name(b, _)) => a == b,
            (CodePart::Code(_), CodePart::Name(..)) | (CodePart::Name(..), CodePart::Code(_)) => {
                false
            }
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(alike)
    }
}

/// Groups cells that differ only in names. A group is a list of numbers of cells; groups are ordered by their first cells.
pub(super) fn groups(cells: &[Steps]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (nth, steps) in cells.iter().enumerate() {
        match groups.iter_mut().find(|group| cells[group[0]].is_like(steps)) {
            Some(group) => group.push(nth),
            None => groups.push(vec![nth]),
        }
    }
    groups
}

/// Returns one piece of code for cells that differ only in names. `cells` pairs each cell with its index in tables of `len` entries; `at` is
/// the index of the current cell.
pub(super) fn merged(cells: &[(usize, &Steps)], len: usize, at: &Fragment) -> Fragment {
    let Some((_, first)) = cells.first() else { return Fragment::default() };
    let (mut tables, mut out) = (String::new(), Fragment::default());
    let mut names = 0;
    for (i, part) in first.0.iter().enumerate() {
        let (name, text) = match part {
            CodePart::Code(code) => {
                out += code.clone();
                continue;
            }
            CodePart::Name(name, text) => (name, text),
        };
        let of = |steps: &Steps| match &steps.0[i] {
            CodePart::Name(_, text) => text.clone(),
            CodePart::Code(_) => {
                unreachable!("cells that are alike have their names in the same places")
            }
        };
        let nth = names;
        names += 1;
        // A name that all cells share needs no table.
        if cells.iter().all(|(_, steps)| of(steps) == *text) {
            out += text.as_str().into();
            continue;
        }
        // The entries of other cells are never read.
        let mut column = vec![text.clone(); len];
        for (place, steps) in cells {
            column[*place] = of(steps);
        }
        let (ty, column) = (name.ty(), column.join(", "));
        tables += &format!("static T{nth}: [{ty}; {len}] = [{column}];\n");
        out += format!("T{nth}[at]").into();
    }
    if tables.is_empty() {
        return out;
    }
    code!("{tables}let at = {at};\n{out}", at, out)
}

// Collects the methods for guards and blocks that may fail. Code that cannot fail is written inline.

/// A guard as an expression.
pub(super) enum Guard {
    /// A condition that cannot fail.
    Plain(Fragment),
    /// A call of a method that returns a `Result`.
    Fallible(Fragment),
}

/// A method of the program. Its body returns a `Result` with the error type of expressions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PooledMethod {
    result: &'static str,
    body: Fragment,
    /// The code that names the failed part of the chart in a note; `None` without an allocator, or if the body cannot fail.
    what: Option<String>,
}

/// The methods of the program, each generated once.
pub(super) struct Pool<'c> {
    context: &'c Context<'c>,
    /// The methods, by name. A block that reads active states has one method for each place where it runs.
    methods: BTreeMap<String, Vec<PooledMethod>>,
    /// The call of each method, by which equal methods are found.
    calls: BTreeMap<PooledMethod, Fragment>,
    /// The bodies of the methods that say which alternatives hold, by name.
    reasons: BTreeMap<String, Vec<Fragment>>,
}

/// Names the block of a state; the first one has no number.
fn numbered(word: &str, state: StateId, nth: u32) -> String {
    if nth == 0 { format!("{word}_{}", state.0) } else { format!("{word}_{}_{nth}", state.0) }
}

impl<'c> Pool<'c> {
    pub(super) fn new(context: &'c Context<'c>) -> Self {
        Self { context, methods: BTreeMap::new(), calls: BTreeMap::new(), reasons: BTreeMap::new() }
    }

    /// Writes the guard of a transition.
    pub(super) fn guard(&mut self, transition: TransitionId, place: &Place) -> Guard {
        let Some(guard) = &self.context.chart.transition(transition).guard else {
            return Guard::Plain("true".into());
        };
        let (before, condition) = program::guard(self.context, transition, guard, Some(place));
        let test = condition.truth(Binding::Block);
        if before.is_empty() && !test.has(Use::Failure) && !test.has(Use::Braces) {
            return Guard::Plain(test);
        }
        let body = code!("{before}{result}", before, result = condition.result(true));
        let what = format!("guard_of(&TABLES, arena::TransitionId({}))", transition.0);
        Guard::Fallible(self.method(&format!("guard_{}", transition.0), "bool", body, what))
    }

    /// Writes the statements that report which alternatives of a guard hold; empty for a guard without alternatives.
    pub(super) fn why(&mut self, transition: TransitionId, place: &Place) -> Fragment {
        let Some(body) = program::held(self.context, transition, place) else {
            return Fragment::default();
        };
        let name = format!("why_{}", transition.0);
        let known = self.reasons.entry(name.clone()).or_default();
        let nth = known.iter().position(|other| *other == body).unwrap_or_else(|| {
            known.push(body);
            known.len() - 1
        });
        let text = format!(
            "if sink.asks_why() {{ sink.held(arena::TransitionId({}), self.{}()); }}\n",
            transition.0,
            nth_name(&name, nth)
        );
        Fragment::from(text).using(Use::Sink)
    }

    /// Writes the statements that run a block.
    pub(super) fn block(&mut self, block: Block, place: &Place) -> Fragment {
        let body = blocks::of(self.context, block, Some(place));
        if body.has(Use::Failure) { faulted(&self.block_result(block, place)) } else { body }
    }

    /// Writes an expression of type `Result` that runs a block.
    pub(super) fn block_result(&mut self, block: Block, place: &Place) -> Fragment {
        let name = match block {
            Block::Entry(state, nth) => numbered("enter", state, nth),
            Block::Exit(state, nth) => numbered("exit", state, nth),
            Block::Default(state) => format!("default_{}", state.0),
            Block::Transition(transition) => format!("actions_{}", transition.0),
            Block::Asking(step) => format!("asking_{}", step.0),
            Block::Calling(nth) => format!("calling_{nth}"),
        };
        let body = blocks::of(self.context, block, Some(place));
        let path = blocks::path(block);
        self.result(&name, body, format!("actions_of(&TABLES, program::Block::{path})"))
    }

    /// Writes the statements that read the arguments for the final target of a transition.
    pub(super) fn arguments(&mut self, transition: TransitionId, place: &Place) -> Fragment {
        let body = keep::read(self.context, transition, Some(place));
        if body.has(Use::Failure) {
            faulted(&self.arguments_result(transition, place))
        } else {
            body
        }
    }

    /// Writes an expression of type `Result` that reads the arguments for the final target of a transition.
    pub(super) fn arguments_result(&mut self, transition: TransitionId, place: &Place) -> Fragment {
        let body = keep::read(self.context, transition, Some(place));
        let what = format!("arguments_of(&TABLES, arena::TransitionId({}))", transition.0);
        self.result(&format!("arguments_{}", transition.0), body, what)
    }

    fn result(&mut self, name: &str, body: Fragment, what: String) -> Fragment {
        if !body.has(Use::Failure) {
            return code!("{{ {body}Ok(()) }}", body);
        }
        self.method(name, "()", code!("{body}Ok(())", body), what)
    }

    /// Returns the call of the method with this body, which is added if it is new. `what` names the failed part of the chart in a note.
    fn method(
        &mut self,
        name: &str,
        result: &'static str,
        body: Fragment,
        what: String,
    ) -> Fragment {
        let noted = !self.context.bare && body.has(Use::Failure);
        let held = PooledMethod { result, body, what: noted.then_some(what) };
        if let Some(call) = self.calls.get(&held) {
            return call.clone();
        }
        let methods = self.methods.entry(name.to_owned()).or_default();
        let call = Fragment::from(format!("self.{}()", nth_name(name, methods.len())));
        methods.push(held.clone());
        self.calls.insert(held, call.clone());
        call
    }

    /// Adds all collected methods.
    pub(super) fn emit(self, methods: &mut Methods) {
        for (name, all) in self.reasons {
            for (nth, body) in all.into_iter().enumerate() {
                // Only a sink that asks for reasons calls it.
                methods.add(&nth_name(&name, nth), body).attr("cold").ret("u64");
            }
        }
        for (name, all) in self.methods {
            for (nth, PooledMethod { result, body, what }) in all.into_iter().enumerate() {
                let name = nth_name(&name, nth);
                let Some(what) = what else {
                    let function = methods.add(&name, body).attr("inline");
                    function.ret(format!("Result<{result}, machine::Fault>"));
                    continue;
                };
                // The outer method records in a note why the inner one failed.
                let begin = if body.has(Use::Work) { "self.work.begin();\n" } else { "" };
                let call = format!(
                    "{begin}self.try_{name}()\
                     .map_err(|why| generated::note(&mut self.notes, || generated::{what}, why))"
                );
                let function = methods.add(&name, call.into()).attr("inline");
                function.ret(format!("Result<{result}, machine::Fault>"));
                let function = methods.add(&format!("try_{name}"), body).attr("inline");
                function.ret(format!("Result<{result}, {}>", self.context.error()));
            }
        }
    }
}

/// Names the `nth` method for one guard or block; the first one has no number.
fn nth_name(name: &str, nth: usize) -> String {
    if nth == 0 { name.to_owned() } else { format!("{name}_in_{nth}") }
}

/// Writes the statement that runs code which may fail, and reports a fault if it does.
fn faulted(result: &Fragment) -> Fragment {
    code!("if {result}.is_err() {{ direct::fault(self, sink); }}\n", result).using(Use::Sink)
}
