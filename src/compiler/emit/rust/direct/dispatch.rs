//! Writes the dispatch of direct code: a `match` whose arms take the steps for each leaf and occurrence.

use super::super::code::{Fragment, Use, code};
use super::super::{Context, blocks, direct, keep, machine, program};
use super::cells::{self, Cells, Guard, Steps};
use super::rows::Rows;
use super::{EVENT, FAULTS, Form, OCCURRENCE, dead_end, pattern, sinking};
use crate::emit::rust::methods::Methods;
use chartc_core::arena::{EventId, StateId};
use chartc_core::model::StateKind;
use chartc_core::semantics::unroll::Candidate;
use chartc_core::store::Occurrence;
use chartc_core::visible;
use codegen::{Enum, Impl, Scope, Variant};
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

/// Adds the methods of `Direct` that take steps.
fn emit(cells: &mut Cells<'_>, item: &mut Impl) {
    let body = cells.start().fragment();
    item.push_fn(sinking("enter", None, body, false));
    let body = leave(cells).fragment();
    item.push_fn(sinking("leave", None, body, false));
    let body = on_event(cells).fragment();
    item.push_fn(sinking("on_event", Some(EVENT), body, true));
    let body = on_other(cells).fragment();
    item.push_fn(sinking("on_other", Some(OCCURRENCE), body, true));
    let body = by_leaf(cells, None).fragment();
    item.push_fn(sinking("on_nothing", Some(FAULTS), body, true));
    dead_end(cells, item);
    let body = would_handle(cells).fragment();
    let event = body.parameter("event", Use::Event);
    item.new_fn("would_handle").arg_mut_self().arg(&event, "EventName").ret("bool").line(body.text);
}

/// A parameter of a method: its use, its name and its type. It gets an underscore if the body does not read it.
pub(super) type Parameter = (Use, &'static str, &'static str);

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

/// Matches on the event, and then on groups of leaves that behave alike: their differences are in tables, and the processor has few branches
/// to predict.
fn on_event(cells: &mut Cells<'_>) -> Does {
    let context = cells.context;
    let leaves = leaves(context);
    let at = "self.configuration as usize".into();
    let events: Vec<_> = events(context).collect();
    let rows = events.into_iter().map(|(id, name)| {
        let on = Some(Occurrence::Event(id));
        let row: Vec<Steps> = leaves.iter().map(|leaf| cells.cell(*leaf, on)).collect();
        let arms = cells::groups(&row).into_iter().map(|group| {
            let names: Vec<String> =
                group.iter().map(|nth| context.within(&[leaves[*nth]])).collect();
            let alike: Vec<_> = group.iter().map(|nth| (*nth, &row[*nth])).collect();
            let does = match Does::steps(&row[group[0]]) {
                Does::Code(_) => Does::Code(cells::merged(&alike, leaves.len(), &at)),
                given @ (Does::Gives(_) | Does::If(..)) => given,
            };
            (names.join(" | "), does)
        });
        (name, one_of(&configuration(), arms.collect()))
    });
    let rows = rows.collect();
    one_of(&event(), rows)
}

/// Whether a chart without guards does the same for each event in each leaf, but for the numbers of transitions and states.
fn is_uniform(cells: &mut Cells<'_>) -> bool {
    let context = cells.context;
    if context.chart.transitions.iter().any(|transition| transition.guard.is_some()) {
        return false;
    }
    let mut all = Vec::new();
    for leaf in leaves(context) {
        for (id, _) in events(context) {
            all.push(cells.cell(leaf, Some(Occurrence::Event(id))));
        }
    }
    cells::groups(&all).len() == 1
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
    let all = direct::others(cells.context.chart).into_iter();
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

// Writes `Configuration`, the struct `Core`, and its implementation of `direct::Direct`.

/// Adds the enum `Configuration`, and the struct `Core` with its methods and its implementation of `Direct`. Returns the form of the steps.
pub(in crate::emit::rust) fn emit_core(context: &Context<'_>, scope: &mut Scope) -> Form {
    configurations(context, scope);
    let mut cells = Cells::new(context);
    let mut item = Impl::new("Core<H>");
    item.generic("H: Host").impl_trait("direct::Direct");
    facts(context, &mut cells, &mut item);
    registers(context, &mut item);
    queue(context, &mut item);
    let mut methods = Methods::new(program::inherent(context));
    let form = if context.has_parallels() || is_uniform(&mut Cells::new(context)) {
        Rows::new(&mut cells).emit(&mut cells, &mut item, &mut methods);
        Form::Data
    } else {
        emit(&mut cells, &mut item);
        Form::Match
    };
    let mut item = Methods::new(item);
    blocks::begin_turn(context, &mut item);
    cells.pool.emit(&mut methods);
    blocks::emit(context, &mut item);
    methods.called_by(&item);
    program::predicates(context, &mut methods);
    program::calls(context, &mut methods);
    keep::emit_ending(context, scope);
    if context.needs.repeats {
        item.item.new_fn("refuel").arg_mut_self().line("self.work.refuel();");
    }
    if !context.bare {
        let heed = item.item.new_fn("heed").arg_mut_self().generic("S: machine::Sink + ?Sized");
        heed.arg("sink", "&S").line("self.notes.heed(sink);");
    }
    scope.push_struct(machine::core(context));
    methods.push(scope);
    scope.push_impl(item.item);
    form
}

fn configurations(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Enum::new("Configuration");
    // Public, because the names of its variants come from the chart, and some variants may never be constructed.
    item.vis("pub").doc(if context.has_parallels() {
        "The configurations, each by its active leaves."
    } else {
        "The active leaf, which says the whole configuration."
    });
    for name in ["Debug", "Clone", "Copy", "PartialEq", "Eq"] {
        item.derive(name);
    }
    for (nth, leaves) in context.configurations().iter().enumerate() {
        let name = context.configuration(nth);
        let mut variant = Variant::new(name.trim_start_matches("Configuration::"));
        let paths = leaves.iter().map(|leaf| format!("`{}`", context.tables.state(*leaf).path));
        variant.doc(visible::line(&(paths.collect::<Vec<_>>().join(", ") + ".")));
        item.push_variant(variant);
    }
    scope.push_enum(item);
}

/// Returns the fields of `Core` for the steps of direct code, each with its type and first value.
pub(in crate::emit::rust) fn fields(context: &Context<'_>) -> Vec<(&'static str, String, String)> {
    if !context.is_direct() {
        return Vec::new();
    }
    let first = Cells::new(context).unroll.start();
    let mut all = vec![
        ("configuration", "Configuration".to_owned(), context.within(&first.lowest)),
        ("registers", "direct::Registers".to_owned(), "direct::Registers::new()".to_owned()),
    ];
    let ring = || "generated::Ring::new()".to_owned();
    if context.is_queueing() {
        all.push(("queue", context.queue_of("store::Occurrence"), ring()));
    }
    if context.is_binding() {
        all.push(("bound", "Payload".to_owned(), "Payload::Nothing".to_owned()));
        all.push(("raised", context.queue(), ring()));
    }
    all
}

/// Adds the associated types and constants of `Direct`.
fn facts(context: &Context<'_>, cells: &mut Cells<'_>, item: &mut Impl) {
    let ends = context.chart.states.iter().any(|state| {
        matches!(state.kind, StateKind::Final { .. }) && state.parent == Some(StateId(0))
    });
    for (name, holds) in [
        ("GOES_ON", ends || context.is_queueing()),
        ("DEAD_ENDS", !cells.dead_ends().is_empty()),
        ("READS_EVENT", direct::reads_event(context.chart)),
    ] {
        item.associate_const(name, "bool", holds.to_string(), "");
    }
}

fn registers(context: &Context<'_>, item: &mut Impl) {
    let get = "&self.registers";
    item.new_fn("registers").arg_ref_self().ret("&direct::Registers").attr("inline").line(get);
    item.new_fn("registers_mut")
        .arg_mut_self()
        .ret("&mut direct::Registers")
        .attr("inline")
        .line("&mut self.registers");
    let all = context.configurations();
    let ids = |leaves: &Vec<StateId>| {
        let ids: Vec<String> =
            leaves.iter().map(|id| format!("arena::StateId({})", id.0)).collect();
        format!("&[{}]", ids.join(", "))
    };
    let rows: Vec<String> = all.iter().map(ids).collect();
    item.new_fn("leaves")
        .arg_ref_self()
        .ret("&'static [arena::StateId]")
        .line(format!("static LEAVES: [&[arena::StateId]; {}] = [{}];", all.len(), rows.join(", ")))
        .line("LEAVES[self.configuration as usize]");
    let names: Vec<String> = (0..all.len()).map(|nth| context.configuration(nth)).collect();
    item.new_fn("go_to").arg_mut_self().arg("leaves", "&[arena::StateId]").ret("bool").line(
        format!(
            "const ALL: [Configuration; {}] = [{}];
        let before = self.configuration;
        for one in ALL {{
            self.configuration = one;
            if direct::Direct::leaves(self) == leaves {{ return true; }}
        }}
        self.configuration = before;
        false",
            names.len(),
            names.join(", ")
        ),
    );
    if context.is_binding() {
        item.new_fn("bind")
            .arg_mut_self()
            .attr("inline")
            .arg("payload", "Option<Payload>")
            .line("self.bound = payload.unwrap_or(Payload::Nothing);");
        item.new_fn("dequeue")
            .arg_mut_self()
            .line("self.bound = self.raised.pop_front().unwrap_or(Payload::Nothing);");
    }
}

fn queue(context: &Context<'_>, item: &mut Impl) {
    if !context.is_queueing() {
        return;
    }
    item.new_fn("push")
        .arg_mut_self()
        .ret("bool")
        .arg("occurrence", "store::Occurrence")
        .line(format!("if self.queue.len() >= {} {{ return false; }}", context.places()))
        .line("self.queue.push_back(occurrence);\ntrue");
    item.new_fn("pop")
        .arg_mut_self()
        .ret("Option<store::Occurrence>")
        .attr("inline")
        .line("self.queue.pop_front()");
}
