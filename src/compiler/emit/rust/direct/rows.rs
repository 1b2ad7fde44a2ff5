//! Writes steps as data: for each occurrence and configuration a row with its operations and the next configuration.
//!
//! A block that only adds constants to numbers is also stored as sums in the rows of events. All sums of one number in a row have the same
//! sign, so an intermediate addition overflows only if the sum does. Only then does the order matter, and the operations are executed one
//! by one.

use super::super::code::{Fragment, Use};
use super::super::{Context, blocks, direct};
use super::cells::Cells;
use crate::emit::rust::methods::Methods;
use chartc_core::arena::{EventId, StateId, TransitionId, VarId};
use chartc_core::machine::{Loss, Record};
use chartc_core::model::{Action, BinaryOp, Expr, ExprKind, Type};
use chartc_core::semantics::unroll::{Operation, Unrolled};
use chartc_core::store::Occurrence;
use codegen::{Function, Impl};
use std::collections::BTreeMap;

/// The rows of a chart without guards.
pub(super) struct Rows<'c> {
    context: &'c Context<'c>,
    /// The distinct lists of operations, each with a number.
    operations: Numbered<Vec<String>>,
    runs: Numbered<Fragment>,
    /// The effects of events, by event and then by configuration.
    events: Vec<OccurrenceEffect>,
    others: Vec<(Occurrence, Vec<OccurrenceEffect>)>,
    nothing: Vec<OccurrenceEffect>,
    enter: OccurrenceEffect,
    leave: Vec<OccurrenceEffect>,
}

/// The effect of one occurrence in one configuration.
struct OccurrenceEffect {
    /// The number of the list of operations.
    operations: usize,
    /// The number of the next configuration.
    next: usize,
    taken: bool,
    /// The amounts that the blocks add to variables, if they do nothing else.
    sums: Option<BTreeMap<usize, i64>>,
}

/// Distinct things, numbered in order of first occurrence.
struct Numbered<T> {
    all: Vec<T>,
    known: BTreeMap<T, usize>,
}

impl<T: Ord + Clone> Numbered<T> {
    fn new() -> Self {
        Self { all: Vec::new(), known: BTreeMap::new() }
    }

    fn number(&mut self, one: T) -> usize {
        *self.known.entry(one).or_insert_with_key(|one| {
            self.all.push(one.clone());
            self.all.len() - 1
        })
    }
}

impl<'c> Rows<'c> {
    /// Computes every row with the step algorithm.
    pub(super) fn new(cells: &mut Cells<'c>) -> Self {
        let context = cells.context;
        let none = OccurrenceEffect { operations: 0, next: 0, taken: false, sums: None };
        let mut rows = Self {
            context,
            operations: Numbered::new(),
            runs: Numbered::new(),
            events: Vec::new(),
            others: Vec::new(),
            nothing: Vec::new(),
            enter: none,
            leave: Vec::new(),
        };
        for event in (0..context.chart.events.len()).map(EventId::at) {
            let row = rows.steps(cells, Some(Occurrence::Event(event)));
            rows.events.extend(row);
        }
        for other in direct::others(context.chart) {
            let row = rows.steps(cells, Some(other));
            if row.iter().any(|row| row.taken || !rows.operations.all[row.operations].is_empty()) {
                rows.others.push((other, row));
            }
        }
        rows.nothing = rows.steps(cells, None);
        let unrolled = cells.unroll.start();
        rows.enter = rows.row(cells, &unrolled);
        for leaves in context.configurations() {
            let mut unrolled = cells.unroll.finish(leaves);
            // The end of the run enters no state, so the configuration stays.
            unrolled.lowest = leaves.clone().into();
            let row = rows.row(cells, &unrolled);
            rows.leave.push(row);
        }
        rows
    }

    fn steps(&mut self, cells: &mut Cells<'c>, on: Option<Occurrence>) -> Vec<OccurrenceEffect> {
        let all = self.context.configurations().iter();
        all.map(|leaves| {
            let unrolled = cells.unroll.step(leaves, on);
            self.row(cells, &unrolled)
        })
        .collect()
    }

    fn row(&mut self, cells: &mut Cells<'c>, unrolled: &Unrolled) -> OccurrenceEffect {
        let mut operations = Vec::new();
        for operation in &unrolled.operations {
            let run = match operation {
                Operation::Told(record) => {
                    operations.extend(told(*record));
                    continue;
                }
                Operation::Queued(occurrence) => {
                    if cells.queues {
                        operations
                            .push(format!("Instruction::Queue({})", direct::pattern(*occurrence)));
                    }
                    continue;
                }
                Operation::Asked(..) => continue,
                Operation::Ran(block, place) => cells.pool.block_result(*block, place),
                Operation::Read(transition, place) => {
                    cells.pool.arguments_result(*transition, place)
                }
            };
            operations.push(format!("Instruction::Run({})", self.runs.number(run)));
        }
        if let Some(status) = unrolled.ending {
            operations.push(format!("Instruction::End(machine::Status::{status:?})"));
        }
        OccurrenceEffect {
            operations: self.operations.number(operations),
            next: self.context.nth(&unrolled.lowest),
            taken: unrolled.taken,
            sums: self.sums(cells, unrolled),
        }
    }

    fn sums(&self, cells: &Cells<'c>, unrolled: &Unrolled) -> Option<BTreeMap<usize, i64>> {
        if unrolled.ending.is_some() {
            return None;
        }
        let mut sums = BTreeMap::new();
        for operation in &unrolled.operations {
            match operation {
                Operation::Told(Record::Entered(_)) if cells.revives => return None,
                Operation::Queued(_) if cells.queues => return None,
                Operation::Told(_) | Operation::Queued(_) | Operation::Asked(..) => {}
                Operation::Read(..) => return None,
                Operation::Ran(block, _) => {
                    for action in blocks::list(self.context, *block) {
                        let (variable, more) = added(self.context, action)?;
                        let sum: &mut i64 = sums.entry(variable.index()).or_default();
                        if sum.signum() * more.signum() < 0 {
                            return None;
                        }
                        *sum = sum.checked_add(more)?;
                    }
                }
            }
        }
        Some(sums)
    }

    /// Adds the methods of `Direct` that take steps.
    pub(super) fn emit(self, cells: &mut Cells<'c>, item: &mut Impl, methods: &mut Methods) {
        let enter = format!(
            "direct::perform(self, Self::operations({}), sink);\nself.configuration = {};",
            self.enter.operations,
            self.context.configuration(self.enter.next)
        );
        item.push_fn(direct::sinking("enter", None, sinks(enter), false));
        let leave = format!(
            "{}direct::perform(self, Self::operations(STEPS[self.configuration as usize]), sink);",
            self.operations_of(&self.leave.iter().collect::<Vec<_>>())
        );
        item.push_fn(direct::sinking("leave", None, sinks(leave), false));
        let event = sinks(self.on_event()).using(Use::Event);
        item.push_fn(direct::sinking("on_event", Some(direct::EVENT), event, true));
        let other = self.on_other();
        item.push_fn(direct::sinking("on_other", Some(direct::OCCURRENCE), other, true));
        let nothing = self.on_nothing();
        item.push_fn(direct::sinking("on_nothing", Some(direct::FAULTS), nothing, true));
        direct::dead_end(cells, item);
        item.new_fn("would_handle")
            .arg_mut_self()
            .arg("event", "EventName")
            .ret("bool")
            .line(format!("Self::takes({})", self.place()));
        if !self.runs.all.is_empty() {
            let arms = self.runs.all.iter().enumerate();
            let arms: String = arms.map(|(nth, run)| format!("{nth} => {},\n", run.text)).collect();
            item.new_fn("run")
                .arg_mut_self()
                .arg("block", "u32")
                .ret("Result<(), machine::Fault>")
                .line(format!("match block {{ {arms} _ => Ok(()) }}"));
        }
        methods.push_function(self.operations());
        methods.push_function(self.takes());
    }

    /// Writes the index of an event's row.
    fn place(&self) -> String {
        match self.context.configurations().len() {
            1 => "event as usize + self.configuration as usize".to_owned(),
            len => format!("event as usize * {len} + self.configuration as usize"),
        }
    }

    fn on_event(&self) -> String {
        let rows: Vec<&OccurrenceEffect> = self.events.iter().collect();
        let tables = self.operations_of(&rows) + &self.next_of(&rows);
        let at = format!("let at = {};\n", self.place());
        let go_on = "self.configuration = NEXT[at];\nSelf::takes(at)";
        let exactly = format!("direct::perform(self, Self::operations(STEPS[at]), sink);\n{go_on}");
        let plain = rows.iter().filter(|row| row.sums.is_some()).count();
        if plain == 0 {
            return format!("{tables}{at}{exactly}");
        }
        let mut variables: Vec<usize> = rows
            .iter()
            .filter_map(|row| row.sums.as_ref())
            .flat_map(|s| s.keys().copied())
            .collect();
        variables.sort_unstable();
        variables.dedup();
        let told = "direct::tell(Self::operations(STEPS[at]), sink);\n";
        if variables.is_empty() && plain == rows.len() {
            return format!("{tables}{at}{told}{go_on}");
        }
        let (mut sums, mut patterns, mut values, mut kept) =
            (String::new(), Vec::new(), Vec::new(), String::new());
        if plain < rows.len() {
            let column: Vec<String> =
                rows.iter().map(|row| row.sums.is_some().to_string()).collect();
            sums += &table("PLAIN", "bool", &column);
            patterns.push("true".to_owned());
            values.push("PLAIN[at]".to_owned());
        }
        for (nth, variable) in variables.into_iter().enumerate() {
            let name = &self.context.names.variables[variable];
            let of =
                |row: &&OccurrenceEffect| row.sums.as_ref().and_then(|s| s.get(&variable)).copied();
            let column: Vec<i64> = rows.iter().map(|row| of(row).unwrap_or_default()).collect();
            let small = column.iter().all(|n| i8::try_from(*n).is_ok());
            let texts: Vec<String> = column.iter().map(i64::to_string).collect();
            sums += &format!("#[comment = {:?}]\n", format!(" What is added to `{name}`."));
            sums += &table(&format!("SUMS{nth}"), if small { "i8" } else { "i64" }, &texts);
            let sum =
                if small { format!("i64::from(SUMS{nth}[at])") } else { format!("SUMS{nth}[at]") };
            patterns.push(format!("Some(sum{nth})"));
            values.push(format!("self.data.{name}.checked_add({sum})"));
            kept += &format!("self.data.{name} = sum{nth};\n");
        }
        let (patterns, values) = match (&patterns[..], &values[..]) {
            ([pattern], [value]) => (pattern.clone(), value.clone()),
            _ => (format!("({})", patterns.join(", ")), format!("({})", values.join(", "))),
        };
        format!(
            "{tables}{sums}{at}if let {patterns} = {values} {{
                {told}{kept}self.configuration = NEXT[at];
                return Self::takes(at);
            }}
            {exactly}"
        )
    }

    fn on_other(&self) -> Fragment {
        if self.others.is_empty() {
            return "false".into();
        }
        let len = self.context.configurations().len();
        let arms = self.others.iter().enumerate();
        let arms: String = arms
            .map(|(nth, (on, _))| format!("{} => {},\n", direct::pattern(*on), nth * len))
            .collect();
        let rows: Vec<&OccurrenceEffect> = self.others.iter().flat_map(|(_, rows)| rows).collect();
        // The chart ignores all other occurrences.
        let code = format!(
            "let first = match occurrence {{ {arms} _ => return false, }};
            let at = first + self.configuration as usize;
            {}",
            self.exactly(&rows)
        );
        sinks(code).using(Use::Occurrence)
    }

    fn on_nothing(&self) -> Fragment {
        if !self.nothing.iter().any(|row| row.taken) {
            return "false".into();
        }
        let rows: Vec<&OccurrenceEffect> = self.nothing.iter().collect();
        sinks(format!("let at = self.configuration as usize;\n{}", self.exactly(&rows)))
    }

    /// Writes the step at the index `at`, operation by operation.
    fn exactly(&self, rows: &[&OccurrenceEffect]) -> String {
        let taken: Vec<String> = rows.iter().map(|row| row.taken.to_string()).collect();
        format!(
            "{}{}{}direct::perform(self, Self::operations(STEPS[at]), sink);
            self.configuration = NEXT[at];
            TAKEN[at]",
            self.operations_of(rows),
            self.next_of(rows),
            table("TAKEN", "bool", &taken)
        )
    }

    fn operations_of(&self, rows: &[&OccurrenceEffect]) -> String {
        let column: Vec<String> = rows.iter().map(|row| row.operations.to_string()).collect();
        table("STEPS", self.step(), &column)
    }

    /// Returns the integer type for the number of a list of operations.
    fn step(&self) -> &'static str {
        if self.operations.all.len() <= 256 { "u8" } else { "u16" }
    }

    fn next_of(&self, rows: &[&OccurrenceEffect]) -> String {
        let column: Vec<String> =
            rows.iter().map(|row| self.context.configuration(row.next)).collect();
        table("NEXT", "Configuration", &column)
    }

    /// Writes `operations`, which returns a list of operations by its number.
    fn operations(&self) -> Function {
        let mut function = Function::new("operations");
        function.arg("step", self.step()).ret("&'static [direct::Instruction]").attr("inline");
        function.line("use direct::Instruction;");
        let lists =
            self.operations.all.iter().map(|operations| format!("&[{}]", operations.join(", ")));
        function.line(table("OPERATIONS", "&[Instruction]", &lists.collect::<Vec<_>>()));
        // Not by an index: a sink that ignores everything should not pay for a bounds check.
        function.line("OPERATIONS.get(usize::from(step)).copied().unwrap_or_default()");
        function
    }

    /// Writes `takes`, which says whether an event takes a transition.
    fn takes(&self) -> Function {
        let mut function = Function::new("takes");
        function.ret("bool").attr("inline");
        if self.events.iter().all(|row| row.taken) {
            function.arg("_at", "usize").line("true");
        } else {
            let taken: Vec<String> = self.events.iter().map(|row| row.taken.to_string()).collect();
            function.arg("at", "usize").line(table("TAKEN", "bool", &taken)).line("TAKEN[at]");
        }
        function
    }
}

/// Marks code as code that writes to the sink.
fn sinks(text: String) -> Fragment {
    Fragment::from(text).using(Use::Sink)
}

fn table(name: &str, ty: &str, column: &[String]) -> String {
    format!("static {name}: [{ty}; {}] = [{}];\n", column.len(), column.join(", "))
}

/// Writes a record as code, if the chart's code reports it; code that all machines share reports the end of the run.
fn told(record: Record) -> Option<String> {
    let told = if let Record::Taken(TransitionId(line)) = record {
        format!("taken({line})")
    } else if let Record::Lost(TransitionId(line), Loss::Scope) = record {
        format!("elsewhere({line})")
    } else if let Record::Lost(TransitionId(line), Loss::Preempted) = record {
        format!("preempted({line})")
    } else if let Record::Exited(StateId(state)) = record {
        format!("exited({state})")
    } else if let Record::Entered(StateId(state)) = record {
        format!("entered({state})")
    } else {
        return None;
    };
    Some(format!("Instruction::{told}"))
}

/// Returns the variable and the amount of `variable = variable + constant`.
fn added(context: &Context<'_>, action: &Action) -> Option<(VarId, i64)> {
    let Action::Assign(variable, expr) = action else { return None };
    let row = &context.chart.variables[variable.index()];
    if row.ty != Type::Int || context.is_supplied(*variable) {
        return None;
    }
    let is_own = |expr: &Expr| expr.kind == ExprKind::Variable(*variable);
    let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
    let (own, constant) = if is_own(left) { (left, right) } else { (right, left) };
    let ExprKind::Int(more) = constant.kind else { return None };
    let adds = *op == BinaryOp::Add && is_own(own);
    let subtracts = *op == BinaryOp::Subtract && is_own(left);
    let more = if subtracts { more.checked_neg() } else { adds.then_some(more) };
    more.map(|more| (*variable, more))
}
