//! Prints tests.

use super::expr::{arguments, expr};
use super::out::{Layout, Out};
use super::text::{lower, path, plain, upper};
use crate::syntax::{
    Assertion, Expectation, Expr, FailureReason, GivenFunction, Path, Scenario, StepRef,
    TestAnswer, TestItem,
};

/// Prints a test.
pub(super) fn scenario(out: &mut Out, node: &Scenario) {
    out.push(&format!("test {} for {} ", plain(&node.name.node), upper(&node.chart.node)));
    out.body(&node.items, &node.end, Layout::Lines, item);
}

fn item(out: &mut Out, node: &TestItem) {
    let level = out.level;
    let text = match node {
        TestItem::Given(name, value) => {
            format!("given {} = {}", lower(&name.node), expr(value, level))
        }
        TestItem::GivenFunction(GivenFunction { name, arguments: given, result }) => {
            let given = given.as_ref().map_or(String::new(), |all| arguments(all, level));
            let result = match result {
                Ok(value) => format!("= {}", expr(value, level)),
                Err(reason) => format!("fails {}", why(reason)),
            };
            format!("given fn {}{given} {result}", lower(&name.node))
        }
        TestItem::At(states) => format!("at {}", paths(states)),
        TestItem::Send(event, all) => format!("send {}{}", path(event), optional(all, level)),
        TestItem::Turn(None) => "turn".to_owned(),
        TestItem::Turn(Some(count)) => format!("turns {}", count.node),
        TestItem::Set(name, value) => format!("set {} = {}", lower(&name.node), expr(value, level)),
        TestItem::Wait(time) => format!("wait {}", expr(time, level)),
        TestItem::Answers(step, said) => {
            let said = match said {
                TestAnswer::Text(text) => plain(&text.node),
                TestAnswer::Option(option, all) => {
                    format!("{}{}", path(option), optional(all, level))
                }
                TestAnswer::Value(value) => expr(value, level),
            };
            format!("answers {} {said}", asked(step))
        }
        TestItem::Fails(step, reason) => format!("fails {} {}", asked(step), why(reason)),
        TestItem::Returns(tool, value) => {
            format!("tool {} returns {}", path(tool), expr(value, level))
        }
        TestItem::ToolFails(tool, reason) => format!("tool {} fails {}", path(tool), why(reason)),
        TestItem::Expect(expectation) => expected(expectation, level),
        TestItem::Bad(_) => return,
    };
    out.push(&text);
}

/// Prints a reference to a step: `child/s[1]`.
fn asked(StepRef { path, step, element }: &StepRef) -> String {
    let names = path.iter().chain([step]).map(|name| lower(&name.node));
    let names: Vec<String> = names.collect();
    let element = element.as_ref().map_or(String::new(), |nth| format!("[{}]", nth.node));
    format!("{}{element}", names.join("/"))
}

fn expected(Expectation { negated, what }: &Expectation, level: usize) -> String {
    let not = if *negated { "not " } else { "" };
    let what = match what {
        Assertion::Holds(condition) => expr(condition, level),
        Assertion::At(states) => format!("at {}", paths(states)),
        Assertion::Ended(None) => "ended".to_owned(),
        Assertion::Ended(Some(status)) => format!("ended {}", status.node),
        Assertion::Offered(names, is_only) => {
            format!("offered {}{}", if *is_only { "only " } else { "" }, paths(names))
        }
        Assertion::Denied(None) => "denied".to_owned(),
        Assertion::Denied(Some(state)) => format!("denied -> {}", path(state)),
        Assertion::Called(name, all) => {
            let all = all.as_ref().map_or(String::new(), |all| arguments(all, level));
            format!("called {}{all}", path(name))
        }
        Assertion::Asked(step) => format!("asked {}", lower(&step.node)),
        Assertion::Prompt(step, text) => {
            format!("prompt of {} contains {}", lower(&step.node), plain(&text.node))
        }
        Assertion::Text(name, text) => {
            format!("{} contains {}", lower(&name.node), plain(&text.node))
        }
    };
    format!("expect {not}{what}")
}

fn paths(all: &[Path]) -> String {
    all.iter().map(path).collect::<Vec<_>>().join(", ")
}

fn why(why: &FailureReason) -> String {
    match why {
        FailureReason::Kind(word) => lower(&word.node),
        FailureReason::Text(text) => plain(&text.node),
    }
}

fn optional(all: &[Expr], level: usize) -> String {
    if all.is_empty() { String::new() } else { arguments(all, level) }
}
