//! Prints states and transitions.

use super::expr::{arguments, expr, param, params};
use super::out::{Layout, Out};
use super::step::{actions, step};
use super::text::{lower, names, path, quote, renamed, template};
use crate::syntax::{
    Block, Deadline, Done, EventPattern, From, Limit, Line, LineKind, May, MayKind, Path, State,
    StateItem, StateKind, StepKind, Tail, Target,
};

/// Prints an item of a state.
pub(super) fn item(out: &mut Out, item: &StateItem) {
    match item {
        StateItem::Initial(node) => {
            out.push(&format!("initial {}", all_paths(&node.targets)));
            default_actions(out, node.actions.as_ref());
        }
        StateItem::State(node) => state(out, node),
        StateItem::History(node) => {
            let deep = if node.deep { " deep" } else { "" };
            let name = lower(&node.name.node) + &renamed(&node.renamed);
            let default = all_paths(&node.default);
            out.push(&format!("history {name}{deep} -> {default}"));
            default_actions(out, node.actions.as_ref());
        }
        StateItem::Line(node) => line(out, node),
        StateItem::From(node) => from(out, node),
        StateItem::Enter(block) => {
            out.push("enter ");
            actions(out, block);
        }
        StateItem::Exit(block) => {
            out.push("exit ");
            actions(out, block);
        }
        StateItem::Step(node) => step(out, node),
        StateItem::Allow(node) => {
            let from = node.from.as_ref().map_or("*".to_owned(), path);
            out.push(&format!("allow {from} -> {}", path(&node.to)));
            if let Some(guard) = &node.guard {
                out.push(&format!(" if {}", expr(guard, out.level)));
            }
        }
        StateItem::Advice(text) => out.push(&format!("advice {}", template(text, out.level))),
        StateItem::Limits(limits) => {
            out.push("limits ");
            out.body(limits, &[], Layout::Row, limit);
        }
        StateItem::Bad(_) => {}
    }
}

fn all_paths(targets: &[Path]) -> String {
    targets.iter().map(path).collect::<Vec<_>>().join(", ")
}

fn default_actions(out: &mut Out, block: Option<&Block>) {
    if let Some(block) = block {
        out.push(" ");
        actions(out, block);
    }
}

fn state(out: &mut Out, node: &State) {
    let name = lower(&node.name.node) + &renamed(&node.renamed);
    match &node.kind {
        StateKind::State => out.push(&format!("state {name}")),
        StateKind::Parallel => out.push(&format!("parallel {name}")),
        StateKind::Final(all, values, status) => {
            out.push(&format!("final {name}"));
            let level = out.level;
            let one = |(field, value): (_, &Option<_>)| match value {
                Some(value) => format!("{} = {}", param(field), expr(value, level)),
                None => param(field),
            };
            if !all.is_empty() {
                let all: Vec<String> = all.iter().zip(values).map(one).collect();
                out.push(&format!("({})", all.join(", ")));
            }
            if let Some(status) = status {
                out.push(&format!(" : {}", lower(&status.node)));
            }
        }
    }
    if let Some(body) = &node.body {
        out.push(" ");
        let nested = body.items.iter().any(|i| holds_lines(&i.node));
        let layout = if nested { Layout::Lines } else { Layout::Single };
        out.body(&body.items, &body.end, layout, item);
    }
}

/// Whether the item's braces are on lines of their own. Those of its parent then are, too.
fn holds_lines(item: &StateItem) -> bool {
    match item {
        StateItem::State(_) | StateItem::From(_) | StateItem::Limits(_) => true,
        StateItem::Step(step) => !step.items.is_empty() || matches!(step.kind, StepKind::Code(_)),
        _ => false,
    }
}

fn limit(out: &mut Out, node: &Limit) {
    out.push(&format!("{} {}", lower(&node.what.node), expr(&node.bound, out.level)));
    if let Some(warn) = &node.warn {
        out.push(&format!(" warn {}", expr(warn, out.level)));
    }
    if node.per_turn {
        out.push(" per turn");
    }
}

fn from(out: &mut Out, node: &From) {
    out.push("from ");
    out.push(&if node.states.is_empty() { "*".to_owned() } else { paths(&node.states) });
    if !node.except.is_empty() {
        out.push(&format!(" except {}", paths(&node.except)));
    }
    out.push(" ");
    out.body(&node.lines, &node.end, Layout::Lines, line);
}

fn paths(paths: &[Path]) -> String {
    paths.iter().map(path).collect::<Vec<_>>().join(" | ")
}

fn line(out: &mut Out, node: &Line) {
    match &node.kind {
        LineKind::On(event) => out.push(&format!("on {}", pattern(event))),
        LineKind::When(test) => out.push(&format!("when {}", expr(test, out.level))),
        LineKind::After { each, deadline } => {
            let each = if *each { "each " } else { "" };
            let bound = match deadline {
                Deadline::Time(bound) => expr(bound, out.level),
                Deadline::Turns(bound) => format!("{} turns", expr(bound, out.level)),
            };
            out.push(&format!("{each}after {bound}"));
        }
        LineKind::May(node) => may(out, node),
    }
    if matches!(node.kind, LineKind::May(_)) {
        out.stop();
        guard(out, &node.tail);
        out.stop();
        movement(out, &node.tail);
    } else {
        tail(out, &node.tail);
    }
}

fn may(out: &mut Out, node: &May) {
    match &node.kind {
        MayKind::Option(name, all) => {
            // A bare `may call x` would be a tool call.
            let name = if name.node == "call" { quote(&name.node) } else { lower(&name.node) };
            out.push(&format!("may {name}"));
            if !all.is_empty() {
                out.push(&params(all));
            }
        }
        MayKind::Call(set, into) => {
            out.push(&format!("may call {}", path(set)));
            if let Some(into) = into {
                out.push(&format!(" into {}", lower(&into.node)));
            }
        }
    }
    out.stop();
    if let Some(text) = &node.text {
        out.push(&format!(" {}", template(text, out.level)));
    }
}

/// Prints the event of an `on` transition or of an `ask`.
pub(super) fn pattern(event: &EventPattern) -> String {
    match event {
        EventPattern::Any(_) => "*".to_owned(),
        EventPattern::Everything(_) => "**".to_owned(),
        EventPattern::Turn(_) => "turn".to_owned(),
        EventPattern::Event(name, bound) => {
            let mut text = path(name);
            let first = name.names.first().map_or("", |n| n.node.as_str());
            // As the first word after `on`, these begin other patterns.
            if matches!(first, "done" | "error" | "doubt" | "limit") {
                text = format!("{}{}", quote(first), &text[first.len()..]);
            }
            if bound.is_empty() { text } else { format!("{text}({})", names(bound)) }
        }
        EventPattern::Done(done) => format!("done{}", subject(done)),
        EventPattern::Error(done) => format!("error{}", subject(done)),
        EventPattern::Doubt(done) => format!("doubt{}", subject(done)),
        EventPattern::Machine(name) => name.node.clone(),
    }
}

fn subject(node: &Done) -> String {
    let binding =
        node.binding.as_ref().map_or(String::new(), |b| format!(" as {}", lower(&b.node)));
    format!("({}){binding}", path(&node.subject))
}

/// Prints the end of a transition: `if g -> T reenter { actions }`.
pub(super) fn tail(out: &mut Out, node: &Tail) {
    guard(out, node);
    movement(out, node);
}

fn guard(out: &mut Out, node: &Tail) {
    if let Some(guard) = &node.guard {
        out.push(&format!(" if {}", expr(guard, out.level)));
    }
}

fn movement(out: &mut Out, node: &Tail) {
    if !node.targets.is_empty() {
        let targets: Vec<String> = node.targets.iter().map(|t| target(t, out.level)).collect();
        out.push(&format!(" -> {}", targets.join(", ")));
    }
    if node.reenter {
        out.push(" reenter");
    }
    if let Some(block) = &node.actions {
        out.push(" ");
        actions(out, block);
    }
}

/// Prints a target, with arguments for a final state.
pub(super) fn target(node: &Target, level: usize) -> String {
    let all =
        if node.arguments.is_empty() { String::new() } else { arguments(&node.arguments, level) };
    format!("{}{all}", path(&node.path))
}
