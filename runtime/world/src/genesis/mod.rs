//! Genesis artifacts: the artifacts of the world itself, through which agents use its services.
//!
//! To add one, write a file here with a [`Genesis`], and add it to [`ALL`].

mod arguments;
mod escrow;
mod event_log;
mod ledger;
mod mint;
mod rights_registry;
mod spawn;
mod store;

use crate::state::{State, Tried, fail, text};
pub(crate) use store::row;

use arguments::Arguments;
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;

/// All genesis artifacts, in the order of their ids.
const ALL: [&Genesis; 6] = [
    &escrow::GENESIS,
    &event_log::GENESIS,
    &ledger::GENESIS,
    &mint::GENESIS,
    &rights_registry::GENESIS,
    &store::GENESIS,
];

/// A genesis artifact.
pub(crate) struct Genesis {
    pub(crate) id: &'static str,
    /// Its purpose, as agents read it.
    pub(crate) about: &'static str,
    pub(crate) methods: &'static [Method],
}

/// A method of a genesis artifact.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// The parameters in order. Optional ones end with `?`.
    pub(crate) params: &'static [&'static str],
    /// Its effect, as agents read it.
    pub(crate) about: &'static str,
    pub(crate) run: Run,
}

/// The function that executes a method.
pub(crate) enum Run {
    /// A method that changes nothing. Functions of charts may call it, too.
    Look(fn(&State, &Arguments<'_>) -> Tried<Value>),
    /// A method that changes the world. Only actions may invoke it.
    Change(fn(&mut State, &Arguments<'_>) -> Tried<Value>),
}

/// The genesis artifact with this id.
pub(crate) fn find(id: &str) -> Option<&'static Genesis> {
    ALL.into_iter().find(|genesis| genesis.id == id)
}

/// All genesis artifacts, in the order of their ids.
pub(crate) fn all() -> impl Iterator<Item = &'static Genesis> {
    ALL.into_iter()
}

impl Genesis {
    /// A description of the artifact and its methods. It is the content of the artifact, and the result of its methods `help` and
    /// `methods`.
    pub(crate) fn help(&self) -> Value {
        let mut methods = Map::new();
        for method in self.methods {
            let about = format!("({}): {}", method.params.join(", "), method.about);
            methods.insert(method.name.to_owned(), Value::Text(about));
        }
        let mut help = Map::new();
        help.insert("about".into(), text(self.about));
        help.insert("methods".into(), Value::Map(methods));
        Value::Map(help)
    }

    fn method(&self, name: &str) -> Tried<&Method> {
        match self.methods.iter().find(|method| method.name == name) {
            Some(method) => Ok(method),
            None => {
                let known: Vec<&str> = self.methods.iter().map(|method| method.name).collect();
                let why = format!(
                    "`{}` has no method `{name}`; it has {}, help",
                    self.id,
                    known.join(", ")
                );
                fail(FailureKind::NotFound, why)
            }
        }
    }

    /// Whether a method exists and changes the world.
    pub(crate) fn changes(&self, method: &str) -> bool {
        let found = self.methods.iter().find(|known| known.name == method);
        found.is_some_and(|method| matches!(method.run, Run::Change(_)))
    }

    /// Finds a method and checks its arguments.
    fn prepared<'a>(
        &'a self,
        caller: &'a str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<(&'a Method, Arguments<'a>)> {
        let method = self.method(method)?;
        Ok((method, Arguments::new(self.id, method, caller, arguments)?))
    }

    /// Invokes a method for an action.
    pub(crate) fn invoke(
        &self,
        state: &mut State,
        caller: &str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<Value> {
        if is_help(method) {
            return Ok(self.help());
        }
        let (method, arguments) = self.prepared(caller, method, arguments)?;
        match method.run {
            Run::Look(run) => run(state, &arguments),
            Run::Change(run) => run(state, &arguments),
        }
    }

    /// Calls a method for a function of a chart. A method that changes the world is refused.
    pub(crate) fn ask(
        &self,
        state: &State,
        caller: &str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<Value> {
        if is_help(method) {
            return Ok(self.help());
        }
        let (method, arguments) = self.prepared(caller, method, arguments)?;
        match method.run {
            Run::Look(run) => run(state, &arguments),
            Run::Change(_) => {
                let why = format!(
                    "`{}` of `{}` changes the world: invoke it by an action",
                    method.name, self.id
                );
                fail(FailureKind::PermissionDenied, why)
            }
        }
    }
}

fn is_help(method: &str) -> bool {
    matches!(method, "help" | "methods")
}
