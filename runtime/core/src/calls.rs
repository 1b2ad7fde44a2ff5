//! Tool calls that the model has made: those under way, and what `streak` counts. One implementation for the interpreter and for
//! generated code.

use crate::arena::{ChoiceId, ToolId};
use crate::caller::Caller;
use crate::expr::Value;
use crate::tables::Tables;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Different calls in a row that are remembered; a streak that goes back further is cut there.
const KEPT: usize = 256;

/// A tool and what it was called with, in declared order.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Which.
    pub tool: ToolId,
    /// One value for each argument.
    pub arguments: Vec<Value>,
}

/// The calls of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Calls {
    open: BTreeMap<Caller, Call>,
    /// Calls that ended since another option was taken, oldest first, and how often each was repeated at once.
    ended: VecDeque<(Call, u32)>,
}

impl Calls {
    /// No call was made yet.
    pub const fn new() -> Self {
        Self { open: BTreeMap::new(), ended: VecDeque::new() }
    }

    /// As they were: calls under way by whose they are, and those that ended with how often.
    pub fn of(
        open: impl IntoIterator<Item = (Caller, Call)>,
        ended: impl IntoIterator<Item = (Call, u32)>,
    ) -> Self {
        Self { open: open.into_iter().collect(), ended: ended.into_iter().collect() }
    }

    /// A call begins.
    pub fn begin(&mut self, caller: Caller, tool: ToolId, arguments: Vec<Value>) {
        self.open.insert(caller, Call { tool, arguments });
    }

    /// The call has ended, well or badly: it counts.
    pub fn end(&mut self, caller: Caller) {
        let Some(call) = self.open.remove(&caller) else { return };
        match self.ended.back_mut() {
            Some((last, times)) if *last == call => *times = times.saturating_add(1),
            Some(_) | None => self.ended.push_back((call, 1)),
        }
        if self.ended.len() > KEPT {
            self.ended.pop_front();
        }
    }

    /// The call was given up: it does not count.
    pub fn forget(&mut self, caller: Caller) {
        self.open.remove(&caller);
    }

    /// Another option was taken: no streak goes on.
    pub fn break_streaks(&mut self) {
        self.ended.clear();
    }

    /// Its call under way.
    pub fn open(&self, caller: Caller) -> Option<&Call> {
        self.open.get(&caller)
    }

    /// All calls under way, questions first, by whose they are.
    pub fn opened(&self) -> impl Iterator<Item = (Caller, &Call)> {
        self.open.iter().map(|(caller, call)| (*caller, call))
    }

    /// The calls that `streak` sees, oldest first, and how often each was repeated at once.
    pub fn ended(&self) -> impl Iterator<Item = (&Call, u32)> {
        self.ended.iter().map(|(call, times)| (call, *times))
    }

    /// `streak(tool)`: how many calls in a row, up to now, were of one tool.
    pub fn streak(&self) -> i64 {
        let last = self.ended.back().map(|(call, _)| call.tool);
        self.count(|call| Some(call.tool) == last)
    }

    /// `streak(set.argument)`: how many calls in a row, up to now, were of `tools` and had one value of `argument`.
    pub fn streak_of(&self, tools: &[ToolId], argument: &str, tables: &Tables<'_>) -> i64 {
        let value = |call: &Call| {
            let row = tables.tools.get(call.tool.index()).filter(|_| tools.contains(&call.tool))?;
            let nth = row.fields.of(tables.name_pool).iter().position(|name| *name == argument)?;
            call.arguments.get(nth).cloned()
        };
        match self.ended.back().and_then(|(call, _)| value(call)) {
            Some(last) => self.count(|call| value(call).as_ref() == Some(&last)),
            None => 0,
        }
    }

    fn count(&self, goes_on: impl Fn(&Call) -> bool) -> i64 {
        let row = self.ended.iter().rev().take_while(|(call, _)| goes_on(call));
        row.map(|(_, times)| i64::from(*times)).sum()
    }
}

/// What `last_result` shows of a tool call that failed.
pub fn failure(reason: &str) -> String {
    format!("error: {reason}")
}

/// Adds an option as the engine names them; a tool that an earlier line permits is there already.
pub fn add_option(
    options: &mut Vec<(ChoiceId, Option<ToolId>)>,
    choice: ChoiceId,
    tool: Option<ToolId>,
) {
    if tool.is_none() || !options.iter().any(|(_, other)| *other == tool) {
        options.push((choice, tool));
    }
}
