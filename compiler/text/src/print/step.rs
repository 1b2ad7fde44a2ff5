//! Prints steps and actions.

use super::expr::{arguments, expr, params_given, type_expr};
use super::out::{Layout, Out};
use super::state::{pattern, tail, target};
use super::text::{lower, path, renamed, template, upper};
use crate::syntax::{
    Action, Ask, AskElse, Block, FailWord, Lost, Noted, Outcome, OutcomeKind, Policy, Step,
    StepItem, StepKind,
};

/// Prints a step.
pub(super) fn step(out: &mut Out, node: &Step) {
    let name = lower(&node.name.node) + &renamed(&node.renamed);
    let client =
        node.client.as_ref().map_or(String::new(), |c| format!(" with {}", lower(&c.node)));
    let level = out.level;
    let each = node.each.as_ref().map_or(String::new(), |each| {
        format!(" each {} in {}", lower(&each.name.node), expr(&each.list, level))
    });
    let head = match &node.kind {
        StepKind::Llm => format!("llm {name}{each}{client}"),
        StepKind::Code(_) => format!("code {name}{client}"),
        StepKind::Ask(ask) => format!("ask {name}{client} {}", on(ask, level)),
        StepKind::Call(tool, all) => {
            format!("call {name}{each} {}{}{client}", path(tool), arguments(all, level))
        }
        StepKind::Human(text) => format!("human {name}{each} {}{client}", template(text, level)),
        StepKind::Run(run) => {
            let entry = if run.at_entry { " at entry" } else { "" };
            let given = params_given(&run.arguments, level);
            let events = run.forward.words();
            format!("run {name}{each} {}{given}{entry}{events}{client}", upper(&run.chart.node))
        }
    };
    out.push(&head);
    if let Some(guard) = &node.guard {
        out.push(&format!(" if {}", expr(guard, level)));
    }
    if let StepKind::Code(statements) = &node.kind {
        out.push(" ");
        out.body(statements, &node.end, layout(statements, Layout::Single), action);
    } else if !node.items.is_empty() || !node.end.is_empty() {
        out.push(" ");
        out.body(&node.items, &node.end, Layout::Single, item);
    }
    if let Some(then) = &node.then {
        tail(out, then);
    }
    // The braces of a code step contain its actions, so its policy follows them.
    if let StepKind::Code(_) = &node.kind {
        for one in &node.items {
            if let StepItem::Policy(Policy { then: Some(then), .. }) = &one.node {
                out.push(&format!(" else {}", fail_word(then, level)));
            }
        }
    }
}

fn on(ask: &Ask, level: usize) -> String {
    let always = if ask.always { " always" } else { "" };
    let otherwise = match &ask.otherwise {
        None => String::new(),
        Some(AskElse::Stay) => " else stay".to_owned(),
        Some(AskElse::Take(to)) => format!(" else {}", target(to, level)),
    };
    format!("on {}{always}{otherwise}", pattern(&ask.on))
}

fn item(out: &mut Out, node: &StepItem) {
    match node {
        StepItem::Prompt(text) => out.push(&format!("prompt {}", template(text, out.level))),
        StepItem::Tools(set, calls) => {
            out.push(&format!("tools {}", path(set)));
            if let Some(calls) = calls {
                out.push(&format!(" calls {}", calls.node));
            }
        }
        StepItem::Policy(node) => out.push(&policy(node, out.level)),
        StepItem::Returns(ty, into) => {
            out.push(&format!("returns {}", type_expr(ty)));
            if let Some(into) = into {
                out.push(&format!(" into {}", lower(&into.node)));
            }
        }
        StepItem::Outcome(node) => outcome(out, node),
        StepItem::DoubtRetry => out.push("doubt retry"),
        StepItem::CutOk => out.push("cut ok"),
        StepItem::EndsTurn(guard) => {
            out.push("ends turn");
            if let Some(guard) = guard {
                out.push(&format!(" if {}", expr(guard, out.level)));
            }
        }
        StepItem::AtATime(count) => out.push(&format!("{} at a time", count.node)),
        StepItem::UpTo(count) => out.push(&format!("up to {}", count.node)),
        StepItem::Enough(count) => out.push(&format!("enough {}", count.node)),
        StepItem::Lost(lost) => out.push(match lost {
            Lost::Fail => "else fail",
            Lost::Skip => "else skip",
            Lost::None => "else none",
        }),
        StepItem::Bad(_) => {}
    }
}

fn outcome(out: &mut Out, node: &Outcome) {
    match &node.kind {
        OutcomeKind::Done => out.push("done"),
        OutcomeKind::Error => out.push("error"),
        OutcomeKind::Doubt => out.push("doubt"),
        OutcomeKind::Timeout(bound) => {
            out.push(&format!("timeout {}", expr(bound, out.level)));
        }
    }
    tail(out, &node.tail);
}

/// Prints a policy, such as `retry 3 then skip`.
pub(super) fn policy(node: &Policy, level: usize) -> String {
    let then = node.then.as_ref().map(|then| fail_word(then, level));
    match (&node.retry, then) {
        (Some(count), Some(then)) => format!("retry {} then {then}", count.node),
        (Some(count), None) => format!("retry {}", count.node),
        (None, Some(then)) if then.starts_with("->") => format!("then {then}"),
        (None, Some(then)) => then,
        (None, None) => String::new(),
    }
}

fn fail_word(word: &FailWord, level: usize) -> String {
    match word {
        FailWord::Fail => "fail".to_owned(),
        FailWord::Skip => "skip".to_owned(),
        FailWord::Take(to) => format!("-> {}", target(to, level)),
    }
}

/// The layout of actions: on separate lines if one contains others, else `plain`.
fn layout(actions: &[Noted<Action>], plain: Layout) -> Layout {
    let holds = |action: &Action| matches!(action, Action::If(..) | Action::For(..));
    if actions.iter().any(|a| holds(&a.node)) { Layout::Lines } else { plain }
}

fn branches(
    out: &mut Out,
    test: &crate::syntax::Expr,
    then: &[Noted<Action>],
    otherwise: &[Noted<Action>],
) {
    let (mut test, mut then, mut otherwise) = (test, then, otherwise);
    loop {
        out.push(&format!("if {} ", expr(test, out.level)));
        out.body(then, &[], Layout::Lines, action);
        match otherwise {
            [] => return,
            // An inner `if` with a comment stays in a block, where the comment has a line of its own.
            [one] if is_bare(one) => {
                if let Action::If(next, body, rest) = &one.node {
                    out.push(" else ");
                    (test, then, otherwise) = (next, body, rest);
                    continue;
                }
            }
            _ => {}
        }
        out.push(" else ");
        out.body(otherwise, &[], Layout::Lines, action);
        return;
    }
}

fn is_bare<T>(item: &Noted<T>) -> bool {
    item.doc.is_empty() && item.trivia == crate::syntax::Trivia::default()
}

/// Prints an action block: `{ actions }`.
pub(super) fn actions(out: &mut Out, block: &Block) {
    out.body(&block.actions, &[], layout(&block.actions, Layout::Row), action);
}

fn action(out: &mut Out, node: &Action) {
    let level = out.level;
    let text = match node {
        Action::Assign(name, value) => format!("{} = {}", lower(&name.node), expr(value, level)),
        Action::If(test, then, otherwise) => return branches(out, test, then, otherwise),
        Action::For(name, source, body) => {
            out.push(&format!("for {} in {} ", lower(&name.node), expr(source, level)));
            return out.body(body, &[], layout(body, Layout::Single), action);
        }
        Action::Do(name, all) => format!("{}{}", lower(&name.node), arguments(all, level)),
        Action::Raise(event, all) => format!("raise {}{}", path(event), optional(all, level)),
        Action::Send { event, arguments: all, to, after, id } => {
            let to = to.as_ref().map_or(String::new(), |to| {
                let element = to.1.as_ref().map(|index| format!("[{}]", expr(index, level)));
                format!(" to {}{}", lower(&to.0.node), element.unwrap_or_default())
            });
            let after =
                after.as_ref().map_or(String::new(), |a| format!(" after {}", expr(a, level)));
            let id = id.as_ref().map_or(String::new(), |i| format!(" as {}", lower(&i.node)));
            format!("send {}{}{to}{after}{id}", path(event), optional(all, level))
        }
        Action::Cancel(id) => format!("cancel {}", lower(&id.node)),
        Action::Log(text) => format!("log {}", template(text, level)),
    };
    out.push(&text);
}

fn optional(all: &[crate::syntax::Expr], level: usize) -> String {
    if all.is_empty() { String::new() } else { arguments(all, level) }
}
