//! Tool calls by the model: those under way, and those that `streak` counts. One implementation for the interpreter and generated code.

use crate::arena::{ChoiceId, ToolId};
use crate::caller::Caller;
use crate::expr::Value;
use crate::tables::Tables;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The maximum number of different successive calls that are stored; longer streaks are truncated.
const KEPT: usize = 256;

/// A tool with its arguments in declared order.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub tool: ToolId,
    /// One value for each argument.
    pub arguments: Vec<Value>,
}

/// The calls of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Calls {
    open: BTreeMap<Caller, Call>,
    /// Calls that ended since another option was taken, oldest first, each with the number of successive repetitions.
    ended: VecDeque<(Call, u32)>,
}

impl Calls {
    /// No calls.
    pub const fn new() -> Self {
        Self { open: BTreeMap::new(), ended: VecDeque::new() }
    }

    /// Restores calls: those under way by caller, and the ended ones with their repetitions.
    pub fn of(
        open: impl IntoIterator<Item = (Caller, Call)>,
        ended: impl IntoIterator<Item = (Call, u32)>,
    ) -> Self {
        Self { open: open.into_iter().collect(), ended: ended.into_iter().collect() }
    }

    /// Adds a call that begins.
    pub fn begin(&mut self, caller: Caller, tool: ToolId, arguments: Vec<Value>) {
        self.open.insert(caller, Call { tool, arguments });
    }

    /// Ends the call, successfully or not: it counts for streaks.
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

    /// Removes a canceled call: it does not count.
    pub fn forget(&mut self, caller: Caller) {
        self.open.remove(&caller);
    }

    /// Ends all streaks, because another option was taken.
    pub fn break_streaks(&mut self) {
        self.ended.clear();
    }

    /// The caller's call under way.
    pub fn open(&self, caller: Caller) -> Option<&Call> {
        self.open.get(&caller)
    }

    /// All calls under way with their callers, questions first.
    pub fn opened(&self) -> impl Iterator<Item = (Caller, &Call)> {
        self.open.iter().map(|(caller, call)| (*caller, call))
    }

    /// The calls that `streak` counts, oldest first, each with the number of successive repetitions.
    pub fn ended(&self) -> impl Iterator<Item = (&Call, u32)> {
        self.ended.iter().map(|(call, times)| (call, *times))
    }

    /// `streak(tool)`: how many of the last calls in succession were of the same tool.
    pub fn streak(&self) -> i64 {
        let last = self.ended.back().map(|(call, _)| call.tool);
        self.count(|call| Some(call.tool) == last)
    }

    /// `streak(set.argument)`: how many of the last calls in succession were of `tools` with the same value of `argument`.
    pub fn streak_of(&self, tools: &[ToolId], argument: &str, tables: &Tables<'_>) -> i64 {
        match self.last(tools, argument, tables) {
            Some(last) => self.count(|call| passed(call, tools, argument, tables) == Some(last)),
            None => 0,
        }
    }

    /// `repeated(set.argument)`: the value that [`Calls::streak_of`] counts; `none` where it counts nothing.
    pub fn repeated_value(&self, tools: &[ToolId], argument: &str, tables: &Tables<'_>) -> Value {
        self.last(tools, argument, tables).cloned().unwrap_or_default()
    }

    fn last(&self, tools: &[ToolId], argument: &str, tables: &Tables<'_>) -> Option<&Value> {
        self.ended.back().and_then(|(call, _)| passed(call, tools, argument, tables))
    }

    /// How often the last call was made in succession, with the same arguments.
    pub fn repeated(&self) -> u32 {
        self.ended.back().map_or(0, |(_, times)| *times)
    }

    fn count(&self, goes_on: impl Fn(&Call) -> bool) -> i64 {
        let row = self.ended.iter().rev().take_while(|(call, _)| goes_on(call));
        row.map(|(_, times)| i64::from(*times)).sum()
    }
}

/// The value of an argument of a call, if it is of one of these tools.
fn passed<'c>(
    call: &'c Call,
    tools: &[ToolId],
    argument: &str,
    tables: &Tables<'_>,
) -> Option<&'c Value> {
    let row = tables.tools.get(call.tool.index()).filter(|_| tools.contains(&call.tool))?;
    let nth = row.fields.of(tables.name_pool).iter().position(|name| *name == argument)?;
    call.arguments.get(nth)
}

/// The text of `last_result` for a failed tool call.
pub fn failure(reason: &str) -> String {
    format!("error: {reason}")
}

/// Adds an option in the engine's form, unless it is a tool that an earlier transition permits.
pub fn add_option(
    options: &mut Vec<(ChoiceId, Option<ToolId>)>,
    choice: ChoiceId,
    tool: Option<ToolId>,
) {
    if tool.is_none() || !options.iter().any(|(_, other)| *other == tool) {
        options.push((choice, tool));
    }
}
