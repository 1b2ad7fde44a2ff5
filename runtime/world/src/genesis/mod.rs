//! The artifacts that the world itself has. To add one: a file here that has a [`Genesis`], and its row in [`ALL`].

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

/// All of them, by id.
const ALL: [&Genesis; 6] = [
    &escrow::GENESIS,
    &event_log::GENESIS,
    &ledger::GENESIS,
    &mint::GENESIS,
    &rights_registry::GENESIS,
    &store::GENESIS,
];

/// An artifact of the world itself.
pub(crate) struct Genesis {
    pub(crate) id: &'static str,
    /// What it is for.
    pub(crate) about: &'static str,
    pub(crate) methods: &'static [Method],
}

/// A method of one.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// Its arguments in order, optional ones with `?` behind.
    pub(crate) params: &'static [&'static str],
    /// What it does.
    pub(crate) about: &'static str,
    pub(crate) run: Run,
}

/// What a method does.
pub(crate) enum Run {
    /// It looks, and changes nothing: functions of charts may ask it.
    Look(fn(&State, &Arguments<'_>) -> Tried<Value>),
    /// It changes something.
    Change(fn(&mut State, &Arguments<'_>) -> Tried<Value>),
}

/// The artifact of this id.
pub(crate) fn find(id: &str) -> Option<&'static Genesis> {
    ALL.into_iter().find(|genesis| genesis.id == id)
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Genesis> {
    ALL.into_iter()
}

impl Genesis {
    /// What it can do, in words: its content, and what `help` and `methods` give.
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

    /// Whether a method changes anything.
    pub(crate) fn changes(&self, method: &str) -> bool {
        let found = self.methods.iter().find(|known| known.name == method);
        found.is_some_and(|method| matches!(method.run, Run::Change(_)))
    }

    /// A method, and its arguments as it declares them.
    fn prepared<'a>(
        &'a self,
        caller: &'a str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<(&'a Method, Arguments<'a>)> {
        let method = self.method(method)?;
        Ok((method, Arguments::new(self.id, method, caller, arguments)?))
    }

    /// Invokes a method.
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

    /// Asks a method that changes nothing.
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
