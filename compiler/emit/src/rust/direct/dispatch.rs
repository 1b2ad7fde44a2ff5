//! Writes the dispatch of direct code: a `match` whose arms take the steps for each leaf and occurrence.

use super::super::Context;
use super::super::code::{Fragment, Use, code};
use super::cell::Cells;
use super::configuration;
use super::pool::Guard;
use super::shape::Form;
use super::uniform::{self, Steps};
use chartc_core::arena::{EventId, StateId};
use chartc_core::semantics::unroll::Candidate;
use chartc_core::store::Occurrence;
use codegen::{Function, Impl};
use std::collections::BTreeMap;

/// The right side of a match arm. For most methods it is an expression that says whether a transition was taken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    /// The literal `true` or `false`.
    Gives(bool),
    /// Another expression, or statements, possibly none.
    Code(Fragment),
    /// The second code if the condition holds, else `false`.
    If(Fragment, Fragment),
}

impl Does {
    /// Returns the right side for the steps of a cell.
    fn steps(steps: &Steps) -> Self {
        let nothing = {
            let mut nothing = Steps::default();
            nothing.code("false");
            nothing
        };
        if *steps == nothing { Self::Gives(false) } else { Self::Code(steps.fragment()) }
    }

    fn fragment(self) -> Fragment {
        match self {
            Self::Gives(value) => value.to_string().into(),
            Self::Code(code) => code,
            Self::If(test, code) => code!("if {test} {{ {code} }} else {{ false }}", test, code),
        }
    }
}

/// Adds the methods of `Direct` that take steps. Returns the form of the code.
pub(super) fn emit(cells: &mut Cells<'_>, item: &mut Impl) -> Form {
    let body = cells.start().fragment();
    item.push_fn(sinking("enter", None, body, false));
    let body = leave(cells).fragment();
    item.push_fn(sinking("leave", None, body, false));
    let (form, body) = on_event(cells);
    item.push_fn(sinking("on_event", Some(EVENT), body.fragment(), true));
    let body = on_other(cells).fragment();
    item.push_fn(sinking("on_other", Some(OCCURRENCE), body, true));
    let body = by_leaf(cells, None).fragment();
    item.push_fn(sinking("on_nothing", Some(FAULTS), body, true));
    dead_end(cells, item);
    let body = would_handle(cells).fragment();
    let event = body.parameter("event", Use::Event);
    item.new_fn("would_handle").arg_mut_self().arg(&event, "EventName").ret("bool").line(body.text);
    form
}

/// A parameter of a method: its use, its name and its type. It gets an underscore if the body does not read it.
type Parameter = (Use, &'static str, &'static str);

pub(super) const EVENT: Parameter = (Use::Event, "event", "EventName");
pub(super) const OCCURRENCE: Parameter = (Use::Occurrence, "occurrence", "store::Occurrence");
pub(super) const FAULTS: Parameter = (Use::Faults, "faults", "&mut u32");

/// Adds `is_dead_end`, which says whether the current configuration is a dead end.
pub(super) fn dead_end(cells: &mut Cells<'_>, item: &mut Impl) {
    let body = match cells.dead_ends().as_slice() {
        [] => "false".to_owned(),
        ends => format!("matches!(self.configuration, {})", ends.join(" | ")),
    };
    item.new_fn("is_dead_end").arg_ref_self().ret("bool").line(body);
}

/// Writes a method that is generic over the sink; the sink gets an underscore if the body does not use it.
pub(super) fn sinking(
    name: &str,
    parameter: Option<Parameter>,
    body: Fragment,
    gives: bool,
) -> Function {
    let mut function = Function::new(name);
    function.generic("S: machine::Sink + ?Sized").arg_mut_self();
    function.attr(if body.has(Use::Sink) { "inline" } else { "inline(always)" });
    for (what, name, ty) in parameter.into_iter().chain([(Use::Sink, "sink", "&mut S")]) {
        function.arg(body.parameter(name, what), ty);
    }
    if gives {
        function.ret("bool");
    }
    function.line(body.text);
    function
}

/// Writes a `match`, or a single right side if all arms are equal. Arms with equal right sides are merged; the most frequent right side
/// becomes the last arm, `_`, if it has several patterns.
fn one_of(scrutinee: &Fragment, rows: Vec<(String, Does)>) -> Does {
    let mut order: Vec<(Does, Vec<String>)> = Vec::new();
    let mut known: BTreeMap<Does, usize> = BTreeMap::new();
    for (pattern, does) in rows {
        match known.get(&does) {
            Some(i) => order[*i].1.push(pattern),
            None => {
                known.insert(does.clone(), order.len());
                order.push((does, vec![pattern]));
            }
        }
    }
    if order.len() < 2 {
        return order.pop().map_or(Does::Gives(false), |(does, _)| does);
    }
    let most = (0..order.len()).max_by_key(|i| (order[*i].1.len(), usize::MAX - i));
    let place = most.unwrap_or_default();
    let most = order.remove(place);
    let (rest, patterns) = &most;
    match (order.as_slice(), rest) {
        ([(Does::Gives(holds), few)], Does::Gives(_)) => {
            let (not, few) = (if *holds { "" } else { "!" }, few.join(" | "));
            return Does::Code(code!("{not}matches!({scrutinee}, {few})", scrutinee));
        }
        ([(Does::Code(code), few)], Does::Code(nothing)) if nothing.is_empty() => {
            let few = few.join(" | ");
            return Does::Code(code!(
                "if matches!({scrutinee}, {few}) {{ {code} }}",
                scrutinee,
                code
            ));
        }
        _ => {}
    }
    let is_false = *rest == Does::Gives(false);
    let arm = |pattern: &str, does: &Does| match does {
        // If the test fails, the `_` arm applies.
        Does::If(test, code) if is_false => {
            code!("{pattern} if {test} => {{ {code} }}\n", test, code)
        }
        Does::If(..) | Does::Gives(_) | Does::Code(_) => {
            code!("{pattern} => {{ {code} }}\n", code = does.clone().fragment())
        }
    };
    let guarded = is_false && order.iter().any(|(does, _)| matches!(does, Does::If(..)));
    let mut arms: Vec<Fragment> =
        order.iter().map(|(does, patterns)| arm(&patterns.join(" | "), does)).collect();
    // Arms stay in document order, which processors predict best; only `_` moves to the end.
    if guarded || patterns.len() > 1 {
        arms.push(arm("_", rest));
    } else {
        arms.insert(place, arm(&patterns.join(" | "), rest));
    }
    let arms: Fragment = arms.into_iter().collect();
    Does::Code(code!("match {scrutinee} {{ {arms} }}", scrutinee, arms))
}

fn configuration() -> Fragment {
    "self.configuration".into()
}

fn event() -> Fragment {
    Fragment::from("event").using(Use::Event)
}

/// Matches on the leaf; each arm takes the steps for the occurrence in that leaf. Without an occurrence, these are eventless transitions.
fn by_leaf(cells: &mut Cells<'_>, on: Option<Occurrence>) -> Does {
    let leaves = leaves(cells.context).into_iter();
    let rows = leaves.map(|leaf| {
        let guarded = if on.is_none() { cells.guarded(leaf) } else { None };
        let does = match guarded {
            Some((test, code)) => Does::If(test, code),
            None => Does::steps(&cells.cell(leaf, on)),
        };
        (cells.context.within(&[leaf]), does)
    });
    one_of(&configuration(), rows.collect())
}

/// Matches on the event first if leaves behave alike: their differences are in tables then, and the processor has few branches to predict.
/// Otherwise matches on the leaf first, because most events behave differently by leaf, and one jump is cheaper than two.
fn on_event(cells: &mut Cells<'_>) -> (Form, Does) {
    let context = cells.context;
    let leaves = leaves(context);
    let len = leaves.len();
    let events: Vec<_> = events(context).collect();
    let mut all: Vec<Vec<Steps>> = Vec::new();
    for (id, _) in &events {
        let on = Some(Occurrence::Event(*id));
        all.push(leaves.iter().map(|leaf| cells.cell(*leaf, on)).collect());
    }
    let dense: Vec<(usize, &Steps)> = all.iter().flatten().enumerate().collect();
    let at = code!("{event} as usize * {len} + self.configuration as usize", event = event());
    if let Some(code) = uniform::merged(&dense, len * events.len(), &at) {
        return (Form::Uniform, Does::Code(code));
    }
    let groups: Vec<Vec<Vec<usize>>> = all.iter().map(|row| uniform::groups(row)).collect();
    // Leaves behave alike if there are at most half as many groups as cells.
    if 2 * groups.iter().map(Vec::len).sum::<usize>() <= dense.len() {
        let at = "self.configuration as usize".into();
        let rows = events.iter().zip(all.iter().zip(&groups));
        let rows = rows.map(|((_, name), (row, groups))| {
            let arms = groups.iter().map(|group| {
                let names: Vec<String> =
                    group.iter().map(|nth| context.within(&[leaves[*nth]])).collect();
                let alike: Vec<_> = group.iter().map(|nth| (*nth, &row[*nth])).collect();
                let code = uniform::merged(&alike, len, &at);
                let does = match Does::steps(&row[group[0]]) {
                    Does::Code(_) => Does::Code(code.unwrap_or_default()),
                    given @ (Does::Gives(_) | Does::If(..)) => given,
                };
                (names.join(" | "), does)
            });
            (name.clone(), one_of(&configuration(), arms.collect()))
        });
        return (Form::ByEvent, one_of(&event(), rows.collect()));
    }
    let rows = leaves.iter().enumerate().map(|(i, leaf)| {
        let rows =
            events.iter().zip(&all).map(|((_, name), row)| (name.clone(), Does::steps(&row[i])));
        (context.within(&[*leaf]), one_of(&event(), rows.collect()))
    });
    (Form::ByLeaf, one_of(&configuration(), rows.collect()))
}

/// Returns the leaf of each configuration of a chart without parallels.
fn leaves(context: &Context<'_>) -> Vec<StateId> {
    context.configurations().iter().flatten().copied().collect()
}

pub(super) fn events<'c>(
    context: &'c Context<'_>,
) -> impl Iterator<Item = (EventId, String)> + use<'c> {
    let names = context.names.events.iter().enumerate();
    names.map(|(i, name)| (EventId::at(i), format!("EventName::{name}")))
}

fn on_other(cells: &mut Cells<'_>) -> Does {
    let all = configuration::others(cells.context.chart).into_iter();
    let rows = all.map(|other| (pattern(other), by_leaf(cells, Some(other))));
    let rows: Vec<_> = rows.filter(|(_, does)| *does != Does::Gives(false)).collect();
    if rows.is_empty() {
        return Does::Gives(false);
    }
    let arms: Fragment = rows
        .into_iter()
        .map(|(pattern, does)| code!("{pattern} => {{ {code} }}\n", code = does.fragment()))
        .collect();
    // The chart ignores all other occurrences.
    let code = code!("match occurrence {{ {arms} _ => false }}", arms);
    Does::Code(code.using(Use::Occurrence))
}

/// Writes the Rust pattern of an occurrence.
pub(super) fn pattern(occurrence: Occurrence) -> String {
    // The debug output is already Rust, except for the paths.
    let text = format!("{occurrence:?}");
    let text = text.replace("StateId", "arena::StateId");
    let text = text.replacen("Error(", "Error(machine::ErrorKind::", 1);
    format!("store::Occurrence::{text}")
}

/// Writes the steps at the end of the run, by leaf.
fn leave(cells: &mut Cells<'_>) -> Does {
    let leaves = leaves(cells.context).into_iter();
    let rows = leaves
        .map(|leaf| (cells.context.within(&[leaf]), Does::Code(cells.finish(leaf).fragment())));
    one_of(&configuration(), rows.collect())
}

/// Writes the test whether an event would take a transition. A guard that fails counts as true.
fn would_handle(cells: &mut Cells<'_>) -> Does {
    let context = cells.context;
    let mut rows = Vec::new();
    for leaf in leaves(context) {
        let inner = events(context).map(|(id, name)| (name, condition(cells, leaf, id)));
        rows.push((context.within(&[leaf]), one_of(&event(), inner.collect())));
    }
    one_of(&configuration(), rows)
}

fn condition(cells: &mut Cells<'_>, leaf: StateId, event: EventId) -> Does {
    let mut all = Fragment::default();
    let (mut last, mut sure) = (Does::Gives(false), false);
    for candidate in cells.candidates(leaf, Some(Occurrence::Event(event))) {
        let test = match candidate {
            Candidate::Guarded(transition, place) => match cells.pool.guard(transition, &place) {
                Guard::Plain(condition) => condition,
                Guard::Fallible(call) => code!("{call}.unwrap_or(true)", call),
            },
            Candidate::OutOfScope(_) => continue,
            Candidate::Sure(_) => {
                sure = true;
                continue;
            }
        };
        // Each test reads its own fields: a failure of one must not hide the next.
        if let Does::Code(before) = std::mem::replace(&mut last, Does::Code(test)) {
            all += code!("if {before} {{ return true; }}\n", before);
        }
    }
    if sure && let Does::Code(before) = std::mem::replace(&mut last, Does::Gives(true)) {
        all += code!("if {before} {{ return true; }}\n", before);
    }
    match last {
        last if all.is_empty() => last,
        last => Does::Code(code!("{all}{last}", all, last = last.fragment())),
    }
}
