//! Collects the methods for guards and blocks that may fail. Code that cannot fail is written inline.

use super::super::body::{self, Methods};
use super::super::code::{Binding, Fragment, Use, code};
use super::super::{Context, blocks, ending, reasons};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::program::Block;
use chartc_core::semantics::unroll::Place;
use std::collections::BTreeMap;

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
        let (before, condition) = body::guard(self.context, transition, guard, Some(place));
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
        let Some(body) = reasons::held(self.context, transition, place) else {
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
        };
        let body = blocks::of(self.context, block, Some(place));
        let path = blocks::path(block);
        self.result(&name, body, format!("actions_of(&TABLES, program::Block::{path})"))
    }

    /// Writes the statements that read the arguments for the final target of a transition.
    pub(super) fn arguments(&mut self, transition: TransitionId, place: &Place) -> Fragment {
        let body = ending::read(self.context, transition, Some(place));
        if body.has(Use::Failure) {
            faulted(&self.arguments_result(transition, place))
        } else {
            body
        }
    }

    /// Writes an expression of type `Result` that reads the arguments for the final target of a transition.
    pub(super) fn arguments_result(&mut self, transition: TransitionId, place: &Place) -> Fragment {
        let body = ending::read(self.context, transition, Some(place));
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
