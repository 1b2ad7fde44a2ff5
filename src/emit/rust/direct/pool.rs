//! The methods that hold guards and blocks which may fail. What cannot fail is written where it is used.

use super::super::Context;
use super::super::blocks;
use super::super::body::{can_fail, for_line};
use super::super::ending;
use super::super::expr::Binding;
use super::super::uses::{self, First};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::program::Block;
use chartc_core::semantics::unroll::Place;
use codegen::Impl;
use std::collections::{BTreeMap, BTreeSet};

/// A guard as code.
pub(super) enum Guard {
    /// A condition.
    Plain(String),
    /// A call that gives a `Result`.
    Fallible(String),
}

/// Whether statements may leave with an error.
fn fails(body: &str) -> bool {
    can_fail(body) || body.contains("return ")
}

/// Methods of the program, each made once.
pub(super) struct Pool<'c> {
    context: &'c Context<'c>,
    /// By name of what they hold: the bodies. Blocks that read active states have one for each place where they run.
    bodies: BTreeMap<String, Vec<(String, &'static str)>>,
    /// By body: the call.
    calls: BTreeMap<String, String>,
}

/// Whether some variable is assigned to more than once.
fn assigns_again(body: &str) -> bool {
    let mut assigned = BTreeSet::new();
    body.split("self.data.").skip(1).any(|rest| {
        let name = rest.split_once(" = ").map_or("", |(name, _)| name);
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name && !assigned.insert(name)
    })
}

/// The first block of a state needs no number of its own.
fn numbered(word: &str, state: StateId, nth: u32) -> String {
    if nth == 0 { format!("{word}_{}", state.0) } else { format!("{word}_{}_{nth}", state.0) }
}

impl<'c> Pool<'c> {
    pub(super) fn new(context: &'c Context<'c>) -> Self {
        Self { context, bodies: BTreeMap::new(), calls: BTreeMap::new() }
    }

    /// The guard of a line.
    pub(super) fn guard(&mut self, line: TransitionId, place: &Place) -> Guard {
        let Some(guard) = &self.context.chart.transition(line).guard else {
            return Guard::Plain("true".to_owned());
        };
        let surely = uses::first(guard) == First::Field;
        let (mut writer, prologue) = for_line(self.context, line, &[guard], surely);
        writer.place = Some(place.clone());
        let condition = writer.condition(guard, Binding::Block);
        let body = format!("{prologue}Ok({condition})");
        if prologue.is_empty() && !can_fail(&condition) && !condition.contains('{') {
            return Guard::Plain(condition);
        }
        let what = format!("guard_of(&TABLES, arena::TransitionId({}))", line.0);
        Guard::Fallible(self.method(&format!("guard_{}", line.0), "bool", &body, &what))
    }

    /// The statements that run a block.
    pub(super) fn block(&mut self, block: Block, place: &Place) -> String {
        let (name, body, what) = self.block_body(block, place);
        self.run(&name, &body, &what)
    }

    /// A `Result` that runs a block.
    pub(super) fn block_result(&mut self, block: Block, place: &Place) -> String {
        let (name, body, what) = self.block_body(block, place);
        self.result(&name, &body, &what)
    }

    /// Name of the method, statements, and what of the place they are.
    fn block_body(&self, block: Block, place: &Place) -> (String, String, String) {
        let (name, path) = match block {
            Block::Entry(state, nth) => (
                numbered("enter", state, nth),
                format!("Entry(arena::StateId({}), {nth})", state.0),
            ),
            Block::Exit(state, nth) => {
                (numbered("exit", state, nth), format!("Exit(arena::StateId({}), {nth})", state.0))
            }
            Block::Default(state) => {
                (format!("default_{}", state.0), format!("Default(arena::StateId({}))", state.0))
            }
            Block::Transition(line) => (
                format!("actions_{}", line.0),
                format!("Transition(arena::TransitionId({}))", line.0),
            ),
        };
        let body = blocks::of(self.context, block, Some(place));
        (name, body, format!("actions_of(&TABLES, program::Block::{path})"))
    }

    /// The statements that read the arguments of a line's final target.
    pub(super) fn arguments(&mut self, line: TransitionId, place: &Place) -> String {
        let (name, body, what) = self.arguments_body(line, place);
        self.run(&name, &body, &what)
    }

    /// A `Result` that reads the arguments of a line's final target.
    pub(super) fn arguments_result(&mut self, line: TransitionId, place: &Place) -> String {
        let (name, body, what) = self.arguments_body(line, place);
        self.result(&name, &body, &what)
    }

    fn arguments_body(&self, line: TransitionId, place: &Place) -> (String, String, String) {
        let body = ending::read(self.context, line, Some(place));
        let what = format!("arguments_of(&TABLES, arena::TransitionId({}))", line.0);
        (format!("arguments_{}", line.0), body, what)
    }

    fn run(&mut self, name: &str, body: &str, what: &str) -> String {
        if !fails(body) {
            return body.to_owned();
        }
        format!("if {}.is_err() {{ direct::fault(self, sink); }}\n", self.result(name, body, what))
    }

    fn result(&mut self, name: &str, body: &str, what: &str) -> String {
        if fails(body) {
            return self.method(name, "()", &format!("{body}Ok(())"), what);
        }
        format!("{{ {body}Ok(()) }}")
    }

    /// The call of a method with this body. `what` of the place is what has failed, for the notes.
    fn method(&mut self, name: &str, result: &'static str, body: &str, what: &str) -> String {
        let body = if self.context.bare {
            body.to_owned()
        } else {
            // A closure borrows each variable by itself, so that rustc looks for values that nobody reads.
            let allow = if assigns_again(body) { "#[allow(unused_assignments)]\n" } else { "" };
            let begin = if self.context.repeats.get() { "self.work.begin();\n" } else { "" };
            format!(
                "{begin}{allow}let done = (|| -> Result<{result}, {}> {{ {body} }})();\n\
                 done.map_err(|why| generated::note(&mut self.notes, &generated::{what}, why))",
                self.context.error()
            )
        };
        let key = format!("{result} {body}");
        if let Some(call) = self.calls.get(&key) {
            return call.clone();
        }
        let bodies = self.bodies.entry(name.to_owned()).or_default();
        bodies.push((body, result));
        let call = match bodies.len() - 1 {
            0 => format!("self.{name}()"),
            nth => format!("self.{name}_in_{nth}()"),
        };
        self.calls.insert(key, call.clone());
        call
    }

    /// Adds the methods.
    pub(super) fn emit(self, methods: &mut Impl) {
        for (name, bodies) in self.bodies {
            for (nth, (body, result)) in bodies.into_iter().enumerate() {
                let name = if nth == 0 { name.clone() } else { format!("{name}_in_{nth}") };
                let function = methods.new_fn(&name).arg_mut_self();
                function.attr("inline").ret(format!("Result<{result}, machine::Fault>"));
                function.line(body);
            }
        }
    }
}
