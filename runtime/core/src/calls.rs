//! Tool calls that models make: those under way, and the ended ones that `streak` counts. One implementation for the interpreter and
//! generated code.

use crate::arena::{ChoiceId, ToolId};
use crate::caller::Caller;
use crate::expr::Value;
use crate::tables::Tables;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The maximum number of different successive calls that are stored. Older calls are dropped, so a longer streak is counted only this far.
const KEPT: usize = 256;

/// A call of a tool, with its arguments in declared order.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool that is called.
    pub tool: ToolId,
    /// The values of the arguments, one for each declared argument.
    pub arguments: Vec<Value>,
}

/// The tool calls of a run: one under way per caller at most, and those that ended since the last choice of an option.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Calls {
    open: BTreeMap<Caller, Call>,
    /// The calls that ended since another option was taken, oldest first, each with the number of times it was made in succession.
    ended: VecDeque<(Call, u32)>,
}

impl Calls {
    /// No call under way, and none that ended.
    pub const fn new() -> Self {
        Self { open: BTreeMap::new(), ended: VecDeque::new() }
    }

    /// Restores the calls of a saved run: `open` are under way, `ended` are oldest first, with the number of successive repetitions.
    pub fn of(
        open: impl IntoIterator<Item = (Caller, Call)>,
        ended: impl IntoIterator<Item = (Call, u32)>,
    ) -> Self {
        Self { open: open.into_iter().collect(), ended: ended.into_iter().collect() }
    }

    /// Records that a call begins.
    pub fn begin(&mut self, caller: Caller, tool: ToolId, arguments: Vec<Value>) {
        self.open.insert(caller, Call { tool, arguments });
    }

    /// Ends the caller's call, successful or not; streaks count it.
    pub fn end(&mut self, caller: Caller) {
        let Some(call) = self.open.remove(&caller) else { return };
        match self.ended.back_mut() {
            // Equal successive calls share an entry, so a model in a loop does not displace the other entries.
            Some((last, times)) if *last == call => *times = times.saturating_add(1),
            Some(_) | None => self.ended.push_back((call, 1)),
        }
        if self.ended.len() > KEPT {
            self.ended.pop_front();
        }
    }

    /// Removes the caller's call, which was canceled; streaks do not count it.
    pub fn forget(&mut self, caller: Caller) {
        self.open.remove(&caller);
    }

    /// Ends all streaks, because another option was taken.
    pub fn break_streaks(&mut self) {
        self.ended.clear();
    }

    /// The call that is under way for this caller.
    pub fn open(&self, caller: Caller) -> Option<&Call> {
        self.open.get(&caller)
    }

    /// All calls that are under way, with their callers; questions come first.
    pub fn opened(&self) -> impl Iterator<Item = (Caller, &Call)> {
        self.open.iter().map(|(caller, call)| (*caller, call))
    }

    /// The calls that `streak` counts, oldest first, each with the number of successive repetitions.
    pub fn ended(&self) -> impl Iterator<Item = (&Call, u32)> {
        self.ended.iter().map(|(call, times)| (call, *times))
    }

    /// `streak(tool)`: the number of most recent calls in succession that were of the same tool.
    pub fn streak(&self) -> i64 {
        let last = self.ended.back().map(|(call, _)| call.tool);
        self.count(|call| Some(call.tool) == last)
    }

    /// `streak(set.argument)`: the number of most recent calls in succession that were of one of `tools`, with the same value of
    /// `argument`.
    pub fn streak_of(&self, tools: &[ToolId], argument: &str, tables: &Tables) -> i64 {
        match self.last(tools, argument, tables) {
            Some(last) => self.count(|call| passed(call, tools, argument, tables) == Some(last)),
            None => 0,
        }
    }

    /// `repeated(set.argument)`: the value that [`Calls::streak_of`] counts; `none` if the last call is of another tool.
    pub fn repeated_value(&self, tools: &[ToolId], argument: &str, tables: &Tables) -> Value {
        self.last(tools, argument, tables).cloned().unwrap_or_default()
    }

    fn last(&self, tools: &[ToolId], argument: &str, tables: &Tables) -> Option<&Value> {
        self.ended.back().and_then(|(call, _)| passed(call, tools, argument, tables))
    }

    /// The number of times that the last call was made in succession, with the same arguments; 0 without calls.
    pub fn repeated(&self) -> u32 {
        self.ended.back().map_or(0, |(_, times)| *times)
    }

    fn count(&self, goes_on: impl Fn(&Call) -> bool) -> i64 {
        let row = self.ended.iter().rev().take_while(|(call, _)| goes_on(call));
        row.map(|(_, times)| i64::from(*times)).sum()
    }
}

/// The value of `argument` in a call of one of `tools`; `None` for a call of another tool.
fn passed<'c>(
    call: &'c Call,
    tools: &[ToolId],
    argument: &str,
    tables: &Tables,
) -> Option<&'c Value> {
    let row = tables.tools.get(call.tool.index()).filter(|_| tools.contains(&call.tool))?;
    let nth = row.fields.of(&tables.name_pool).iter().position(|name| *name == *argument)?;
    call.arguments.get(nth)
}

/// What `last_result` and `last_failed` say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastResult {
    /// The text of the last result of a step or tool, or `error: why` if a tool failed; empty before the first one.
    pub text: String,
    /// Whether a tool failed.
    pub failed: bool,
}

impl LastResult {
    /// No result yet.
    pub const NONE: Self = Self { text: String::new(), failed: false };

    /// The result of a step or tool, as prompts show it.
    pub const fn of(text: String) -> Self {
        Self { text, failed: false }
    }

    /// The failure of a tool.
    pub fn failure(reason: &str) -> Self {
        Self { text: format!("error: {reason}"), failed: true }
    }
}

/// Adds an option to those of a question. A tool that an earlier transition already permits is not added again.
pub fn add_option(
    options: &mut Vec<(ChoiceId, Option<ToolId>)>,
    choice: ChoiceId,
    tool: Option<ToolId>,
) {
    if tool.is_none() || !options.iter().any(|(_, other)| *other == tool) {
        options.push((choice, tool));
    }
}
