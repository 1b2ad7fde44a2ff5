//! Who answers: a script for each agent, and whoever notes what was paid for.

use chartc_core::host::ToolCall;
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::oracle::{Asking, Oracle, Question, Script};
use chartc_runtime::tools::{Calling, Tools};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

type Text = dyn Fn(&str) -> String + Send + Sync;

/// A script of its own for each agent. It begins anew with the process.
pub(crate) struct Scripts {
    text: Box<Text>,
    clock: Arc<dyn Clock>,
    runs: Mutex<BTreeMap<Arc<str>, Arc<Script>>>,
}

impl Scripts {
    /// The text of each is told by the agent's name.
    pub(crate) fn new(
        text: impl Fn(&str) -> String + Send + Sync + 'static,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { text: Box::new(text), clock, runs: Mutex::default() }
    }

    fn of(&self, id: &CallId) -> Arc<Script> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let made = runs.entry(id.run.clone()).or_insert_with(|| {
            let script = Script::parse("script", &(self.text)(&id.run), self.clock.clone());
            // Whoever wrote it learns of it at once, and not from an agent that stands still.
            Arc::new(script.unwrap_or_else(|why| panic!("{why}")))
        });
        made.clone()
    }
}

impl Driver for Scripts {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        self.of(id).ask(question)
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        Tools::call(self.of(id).as_ref(), call)
    }

    fn name(&self) -> String {
        "script".into()
    }
}

/// Notes each call in a file before it is made: what was paid for.
pub(crate) struct Ledger {
    file: Mutex<File>,
    driver: Scripts,
}

impl Ledger {
    pub(crate) fn new(path: &str, driver: Scripts) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file: Mutex::new(file), driver })
    }

    fn pay(&self, id: &CallId) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // One write, so that a line is whole or not there.
        if let Err(why) = file.write_all(format!("{id}\n").as_bytes()) {
            eprintln!("the ledger cannot be written: {why}");
            std::process::abort();
        }
    }
}

impl Driver for Ledger {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        self.pay(id);
        self.driver.ask(id, question)
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        self.pay(id);
        self.driver.call(id, call)
    }

    fn name(&self) -> String {
        self.driver.name()
    }
}
