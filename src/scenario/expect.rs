//! Evaluates the expectations of a test.

use super::failure::Failure;
use super::play::Player;
use super::words;
use chartc_check::lower::test::Expected;
use chartc_check::notation;
use chartc_core::arena::StateId;
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::model::{Expr, ExprKind};
use chartc_runtime::trace::What;
use chartc_text::span::Span;

/// The names of the two values that only expressions of tests can read, in the order of their payload.
const NAMES: [&str; 2] = ["calls", "result"];

/// The maximum number of values that are shown of a condition that does not hold.
const MOST_SHOWN: usize = 6;

/// The result of an expectation: whether it holds, its text, and what was found instead.
struct Observation {
    holds: bool,
    what: String,
    found: String,
}

/// The end of a message about a step that has not asked: if no turn has begun, that is the likely reason.
pub(super) fn no_turn(player: &Player<'_>) -> &'static str {
    let session = &player.session;
    if session.turns() == 0 && !session.machine().is_walking() {
        ", and no turn has begun: steps start in a `turn`"
    } else {
        ""
    }
}

/// Fails unless the result of `expected` is `wanted`, which is false for `expect not`.
pub(super) fn expect(
    player: &mut Player<'_>,
    expected: &Expected,
    wanted: bool,
    span: Span,
) -> Result<(), Failure> {
    let seen = see(player, expected, span)?;
    if seen.holds == wanted {
        return Ok(());
    }
    let not = if wanted { "" } else { "not " };
    Err(Failure::new(span, format!("expected {not}{}", seen.what)).found(seen.found))
}

fn see(player: &mut Player<'_>, expected: &Expected, span: Span) -> Result<Observation, Failure> {
    let chart = player.chart;
    Ok(match expected {
        Expected::Holds(condition) => {
            let value = player.value(condition, span)?;
            let what = notation::expression_in(chart, condition, &NAMES);
            let found = describe_reads(player, condition, span);
            Observation { holds: value == Value::Bool(true), what: format!("`{what}`"), found }
        }
        Expected::At(states) => {
            let machine = player.session.machine();
            let holds = states.iter().all(|state| machine.is_active(*state));
            Observation {
                holds,
                what: format!("to be at {}", listed(player, states)),
                found: at(player),
            }
        }
        Expected::Ended(status) => {
            let ended = player.session.status().map(chartc_core::machine::Status::word);
            let holds = ended.is_some() && status.as_deref().is_none_or(|s| Some(s) == ended);
            let what = status.as_ref().map_or(String::new(), |word| format!(" {word}"));
            let found = match ended {
                Some(word) => format!("it has ended {word}, {}", at(player)),
                None => format!("it goes on, {}", at(player)),
            };
            Observation { holds, what: format!("the run to have ended{what}"), found }
        }
        Expected::Offered(names, only) => {
            let offered = player.desk.with_lines(|lines| {
                lines.iter().rev().find_map(|line| {
                    let What::Question { options, .. } = &line.what else { return None };
                    (!options.is_empty()).then(|| options.clone())
                })
            });
            let found = match &offered {
                Some(offered) => format!("offered: {}", offered.join(", ")),
                None => "nothing was offered yet".to_owned(),
            };
            let offered = offered.unwrap_or_default();
            let holds = names.iter().all(|name| offered.contains(name))
                && (!only || offered.iter().all(|name| names.contains(name)));
            let only = if *only { "only " } else { "" };
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            Observation { holds, what: format!("{only}{} to be offered", names.join(", ")), found }
        }
        Expected::Denied(state) => denied(player, *state),
        Expected::Called(name, arguments) => called(player, name, arguments.as_deref(), span)?,
        Expected::Asked(step) => {
            let holds = asked(player, step).is_some();
            let found = if holds {
                "it has asked".to_owned()
            } else {
                format!("it has not asked{}", no_turn(player))
            };
            Observation { holds, what: format!("`{step}` to have asked"), found }
        }
        Expected::Prompt(step, text) => match last_prompt(player, step) {
            Some(prompt) => Observation {
                holds: prompt.contains(text.as_str()),
                what: format!("the prompt of `{step}` to contain {}", words::quoted(text)),
                found: format!("it is: {}", words::short(&prompt, 600)),
            },
            None => {
                let message = format!("`{step}` has not asked anything");
                return Err(Failure::new(span, message).found("no prompt was sent"));
            }
        },
        Expected::Text(expr, text) => {
            let value = player.value(expr, span)?;
            let name = notation::expression_in(chart, expr, &NAMES);
            let holds = matches!(&value, Value::Text(whole) if whole.contains(text.as_str()));
            let found = format!("it is {}", words::short(&words::value(&value), 600));
            Observation {
                holds,
                what: format!("`{name}` to contain {}", words::quoted(text)),
                found,
            }
        }
    })
}

fn denied(player: &Player<'_>, state: Option<StateId>) -> Observation {
    let path = state.map(|state| player.chart.state(state).path.clone());
    let denied: Vec<String> = player.desk.with_lines(|lines| {
        let since = lines[player.since.0.min(lines.len())..].iter();
        let targets = since.filter_map(|line| {
            let What::Denied { line } = &line.what else { return None };
            Some(line.targets.join(", "))
        });
        targets.collect()
    });
    let holds = match &path {
        Some(path) => denied.iter().any(|targets| targets.split(", ").any(|t| t == path)),
        None => !denied.is_empty(),
    };
    let found = match denied.as_slice() {
        [] => "no move was denied".to_owned(),
        denied => format!("denied: -> {}", denied.join("; -> ")),
    };
    let to = path.map_or(String::new(), |path| format!(" to `{path}`"));
    Observation { holds, what: format!("a move{to} to be denied"), found }
}

fn called(
    player: &mut Player<'_>,
    name: &str,
    arguments: Option<&[Expr]>,
    span: Span,
) -> Result<Observation, Failure> {
    let wanted = match arguments {
        Some(all) => Some(player.values(all, span)?),
        None => None,
    };
    let mut calls: Vec<Vec<Value>> = player
        .desk
        .called()
        .into_iter()
        .skip(player.since.1)
        .filter(|(function, _)| function == name)
        .map(|(_, arguments)| arguments)
        .collect();
    player.desk.with_lines(|lines| {
        for line in &lines[player.since.0.min(lines.len())..] {
            if let What::ToolCall { tool, arguments: Value::Map(map), .. } = &line.what
                && tool == name
            {
                calls.push(map.iter().map(|(_, value)| value.clone()).collect());
            }
        }
    });
    let holds = match &wanted {
        Some(wanted) => calls.contains(wanted),
        None => !calls.is_empty(),
    };
    let words = |values: &Vec<Value>| {
        format!("{name}({})", values.iter().map(words::value).collect::<Vec<_>>().join(", "))
    };
    let found = match calls.as_slice() {
        [] => format!("`{name}` was not called"),
        calls => format!("called: {}", calls.iter().map(words).collect::<Vec<_>>().join("; ")),
    };
    let what = wanted.as_ref().map_or_else(|| name.to_owned(), words);
    Ok(Observation { holds, what: format!("`{what}` to have been called"), found })
}

/// The prompt of the last question that the step has asked since the last input of the host.
fn asked(player: &Player<'_>, step: &str) -> Option<String> {
    prompt_since(player, step, player.since.0)
}

fn last_prompt(player: &Player<'_>, step: &str) -> Option<String> {
    prompt_since(player, step, 0)
}

fn prompt_since(player: &Player<'_>, step: &str, since: usize) -> Option<String> {
    player.desk.with_lines(|lines| {
        lines[since.min(lines.len())..].iter().rev().find_map(|line| {
            let What::Question { step: other, prompt, .. } = &line.what else { return None };
            (other == step).then(|| prompt.clone())
        })
    })
}

fn listed(player: &Player<'_>, states: &[StateId]) -> String {
    let names = states.iter().map(|state| format!("`{}`", player.chart.state(*state).path));
    names.collect::<Vec<_>>().join(", ")
}

fn at(player: &Player<'_>) -> String {
    let states: Vec<String> =
        player.session.configuration().iter().map(|path| format!("`{path}`")).collect();
    format!("at {}", states.join(", "))
}

/// Lists what a condition reads, with the present values.
fn describe_reads(player: &mut Player<'_>, condition: &Expr, span: Span) -> String {
    let mut leaves: Vec<Expr> = Vec::new();
    collect(condition, &mut leaves);
    let mut shown = Vec::new();
    for leaf in leaves.iter().take(MOST_SHOWN) {
        let name = notation::expression_in(player.chart, leaf, &NAMES);
        let value = match player.value(leaf, span) {
            Ok(value) => words::short(&words::value(&value), 200),
            Err(failure) => failure.found.unwrap_or(failure.message),
        };
        shown.push(format!("{name} is {value}"));
    }
    if shown.is_empty() { "it is false".to_owned() } else { shown.join(", ") }
}

/// Collects the parts of an expression whose values depend on the run, each once.
pub(super) fn collect(expr: &Expr, found: &mut Vec<Expr>) {
    let mut inner: Vec<&Expr> = Vec::new();
    match &expr.kind {
        ExprKind::Variable(_)
        | ExprKind::Observable(_)
        | ExprKind::Payload(_)
        | ExprKind::Answer(_)
        | ExprKind::Predicate(_)
        | ExprKind::Call(..)
            if !found.contains(expr) =>
        {
            found.push(expr.clone());
        }
        ExprKind::Field(base, _) => {
            // `a.b = 3` says more than the whole record `a`, so a path is not descended into.
            let is_path = matches!(
                base.kind,
                ExprKind::Variable(_) | ExprKind::Payload(_) | ExprKind::Field(..)
            );
            if !is_path {
                inner.push(base);
            } else if !found.contains(expr) {
                found.push(expr.clone());
            }
        }
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => {
            inner.extend([a.as_ref(), b.as_ref()]);
        }
        ExprKind::Slice(a, from, to) => {
            inner.push(a);
            inner.extend(from.iter().chain(to).map(AsRef::as_ref));
        }
        ExprKind::Unary(_, a) => inner.push(a),
        ExprKind::Compare(first, rest) => {
            inner.push(first);
            inner.extend(rest.iter().map(|(_, e)| e));
        }
        ExprKind::If(a, b, c) => inner.extend([a.as_ref(), b.as_ref(), c.as_ref()]),
        ExprKind::Builtin(_, all) | ExprKind::List(all) => inner.extend(all),
        ExprKind::Map(pairs) => {
            for (key, value) in pairs {
                inner.extend([key, value]);
            }
        }
        ExprKind::Record(_, fields) => inner.extend(fields.iter().map(|(_, e)| e)),
        ExprKind::Comprehension { source, .. } => inner.push(source),
        _ => {}
    }
    for expr in inner {
        collect(expr, found);
    }
}
