//! Prints the expressions and actions of the model as `.chart` text, for diagrams, messages and comments.
//!
//! The problem: the model has no text. Names are ids, and precedence is in the shape of the tree. The idea: each operand is printed with
//! the precedence that its place requires, and gets parentheses only if it binds less tightly. For example, `(n + 1) * 2` with the variable
//! `n`:
//!
//! ```text
//! Binary(Multiply, …, …)      both operands must bind at least as tightly as a product
//!   Binary(Add, n, 1)         a sum binds less tightly: `(n + 1)`
//!   Int(2)                    a literal binds most tightly: `2`
//! ```
//!
//! Variables of comprehensions and loops keep the names in the source. A fragment without the loop that binds them gets the names `x`, `y`,
//! `z`, `x3`, …

mod expr;

use chartc_core::arena::{EventId, StepId};
use chartc_core::model::{
    Action, Chart, Expr, Field, RESERVED, Receiver, StateKind, Template, TemplatePart, Transition,
};
use chartc_core::visible;

use expr::Printer;
pub use expr::{duration, expression, expression_in};

/// The source names for the fields of a payload, by index.
pub type Payload<'c> = Vec<&'c str>;

/// The names of a transition's payload, in order; for an option, the names of its arguments.
pub fn payload(transition: &Transition) -> Payload<'_> {
    transition.bound.iter().map(String::as_str).collect()
}

/// Prints a name, in backticks if it is reserved or not a plain ASCII identifier.
pub fn name(name: &str) -> String {
    let mut chars = name.chars();
    let head = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let plain = head && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !RESERVED.contains(&name) {
        name.to_string()
    } else {
        format!("`{}`", visible::line(name))
    }
}

/// Prints a dotted path, each part as by [`name`].
pub fn path(path: &str) -> String {
    path.split('.').map(name).collect::<Vec<_>>().join(".")
}

/// Prints the events of an `on` transition: the event, or the dotted prefix that all of `events` share.
pub fn event_pattern(chart: &Chart, events: &[EventId]) -> String {
    let mut names = events.iter().map(|e| chart.events[e.index()].name.as_str());
    let first: Vec<&str> = names.next().unwrap_or_default().split('.').collect();
    let shared = names.fold(first.len(), |shared, other| {
        first.iter().zip(other.split('.')).take(shared).take_while(|(a, b)| **a == *b).count()
    });
    first[..shared].join(".")
}

/// The name of a step as declared, without backticks.
pub fn step_name(chart: &Chart, step: StepId) -> &str {
    &chart.steps[step.index()].name
}

/// Prints a string in quotes, with `{name:spec}` for placeholders and `\n` for line breaks.
pub fn template(chart: &Chart, template: &Template, payload: &[&str]) -> String {
    quoted(template, Printer::new(chart, payload))
}

fn quoted(template: &Template, names: Printer<'_>) -> String {
    format!("\"{}\"", text_in(template, names).replace('\n', "\\n"))
}

/// Prints a string without quotes, with `{name:spec}` for placeholders and its line breaks kept.
pub fn template_text(chart: &Chart, template: &Template, payload: &[&str]) -> String {
    text_in(template, Printer::new(chart, payload))
}

fn text_in(template: &Template, names: Printer<'_>) -> String {
    let mut out = String::new();
    for part in &template.parts {
        match part {
            TemplatePart::Text(text) => {
                for c in text.chars() {
                    match c {
                        // A brace in a text is doubled, because a single one begins a placeholder.
                        '{' => out.push_str("{{"),
                        '}' => out.push_str("}}"),
                        '"' => out.push_str("\\\""),
                        '\\' => out.push_str("\\\\"),
                        c => out.push(c),
                    }
                }
            }
            TemplatePart::Hole { expr, spec } => {
                out.push('{');
                out.push_str(&names.whole(expr));
                if !spec.is_empty() {
                    out.push(':');
                    out.push_str(spec);
                }
                out.push('}');
            }
            TemplatePart::Options => out.push_str("{options}"),
            TemplatePart::Bad(text) => out.push_str(text),
        }
    }
    out
}

/// Prints actions on one line, separated by two spaces.
pub fn actions(chart: &Chart, actions: &[Action], payload: &[&str]) -> String {
    joined(chart, actions, payload, "  ")
}

/// Prints actions separated by `between`, which also separates the actions in branches and loops.
pub fn joined(chart: &Chart, actions: &[Action], payload: &[&str], between: &str) -> String {
    row(actions, Printer::new(chart, payload), between)
}

fn row(actions: &[Action], names: Printer<'_>, between: &str) -> String {
    let all = actions.iter().map(|a| action(a, names, between));
    all.collect::<Vec<_>>().join(between)
}

fn action(action: &Action, names: Printer<'_>, between: &str) -> String {
    let chart = names.chart;
    let block = |inner: &[Action]| {
        if inner.is_empty() {
            return "{ }".to_string();
        }
        format!("{{ {} }}", row(inner, names, between))
    };
    let call = |name: &str, arguments: &[chartc_core::model::Expr]| {
        if arguments.is_empty() {
            return path(name);
        }
        format!("{}({})", path(name), names.all(arguments))
    };
    match action {
        Action::Assign(var, value) => {
            let target = name(&chart.variables[var.index()].name);
            format!("{target} = {}", names.whole(value))
        }
        Action::If(condition, then, otherwise) => {
            let mut out = format!("if {} {}", names.whole(condition), block(then));
            match &otherwise[..] {
                [] => {}
                // `else if` instead of a block with a nested `if`, as in the source.
                [next @ Action::If(..)] => {
                    out.push_str(&format!(" else {}", self::action(next, names, between)));
                }
                other => out.push_str(&format!(" else {}", block(other))),
            }
            out
        }
        Action::For(local, source, body) => {
            // The list is evaluated outside of the loop, so it is printed before the variable is bound.
            let source = names.whole(source);
            let bound = names.bind(local);
            let names = names.inside(&bound);
            let body = if body.is_empty() {
                "{ }".to_string()
            } else {
                format!("{{ {} }}", row(body, names, between))
            };
            format!("for {} in {source} {body}", names.local(local.id))
        }
        Action::Do(function, arguments) => {
            let function = &chart.functions[function.index()].name;
            format!("{}({})", name(function), names.all(arguments))
        }
        Action::Raise(event, arguments) => {
            format!("raise {}", call(&chart.events[event.index()].name, arguments))
        }
        Action::Send { event, arguments, after, id, to, element } => {
            let mut out = format!("send {}", call(&chart.events[event.index()].name, arguments));
            match to {
                Receiver::Own => {}
                Receiver::Parent => out.push_str(" to parent"),
                Receiver::Child(step) | Receiver::Element(step, _) => {
                    out.push_str(&format!(" to {}", name(&chart.steps[step.index()].name)));
                }
            }
            if let Some(element) = element {
                out.push_str(&format!("[{}]", names.whole(element)));
            }
            if let Some(after) = after {
                out.push_str(&format!(" after {}", names.whole(after)));
            }
            if let Some(id) = id {
                out.push_str(&format!(" as {}", name(&chart.send_ids[id.index()])));
            }
            out
        }
        Action::Cancel(id) => format!("cancel {}", name(&chart.send_ids[id.index()])),
        // The values of a final state are assignments to its parameters in the source.
        Action::Result(state, values) => {
            let StateKind::Final { params, .. } = &chart.state(*state).kind else {
                return String::new();
            };
            let one = |(param, value): (&Field, &Expr)| {
                format!("{} = {}", name(&param.name), names.whole(value))
            };
            params.iter().zip(values).map(one).collect::<Vec<_>>().join(between)
        }
        Action::Log(text) => format!("log {}", quoted(text, names)),
    }
}

/// The event name for the pattern of an error or limit: `execution` → `error.execution`, `limit.calls` → `limit.calls`.
pub fn machine_event(pattern: &str) -> String {
    let is_limit = pattern.split('.').next() == Some("limit");
    if is_limit { pattern.to_owned() } else { format!("error.{pattern}") }
}
