//! Lowers steps and their outcome lines.

use super::context::Cx;
use super::expr::{self, Env, Options};
use super::uses::NameKind;
use super::{block, cut, data, declare, doubt, fan, once, outcome, run, tools, trigger, types};
use chartc_core::arena::StepId;
use chartc_core::model::{AskOn, Expr, ExprKind, Otherwise, StepKind, StepTools, Type};
use chartc_text::rules::ILLEGAL_STRUCTURE;
use chartc_text::rules::unknown_name;
use chartc_text::span::{Ident, Span, Spanned};
use chartc_text::syntax::{self, EventPattern, FailWord, Noted, StepItem};

/// Determines the type of a step's answer. It must be known before expressions that read the answer are lowered.
pub(super) fn signature(cx: &mut Cx<'_>, id: StepId) {
    let node = cx.step_nodes[id.index()];
    let written = node.step.items.iter().find_map(|noted| match &noted.node {
        StepItem::Returns(ty, _) => Some(ty),
        _ => None,
    });
    let unless_written = match &node.step.kind {
        syntax::StepKind::Human(_) => Type::Text,
        syntax::StepKind::Call(path, _) => match cx.names.tools.get(&path.text()) {
            Some((tool, _)) => cx.chart.tools[tool.index()].result.clone(),
            None => Type::Json,
        },
        _ => Type::Json,
    };
    let returns = written.map_or(unless_written, |ty| types::resolve(cx, ty));
    cx.chart.steps[id.index()].returns =
        fan::answer(&node.step.items, node.step.each.is_some(), returns);
}

/// Lowers a step that the skeleton has numbered, and adds its transitions.
pub(super) fn step(cx: &mut Cx<'_>, id: StepId) {
    let node = cx.step_nodes[id.index()];
    let state = cx.chart.steps[id.index()].state;
    let mut env = Env::at(state);
    if let Some(guard) = &node.step.guard {
        let guard_expr = expr::condition(cx, &mut env, guard);
        cx.map.steps[id.index()].guard = Some(guard.span);
        // The body runs only if the condition holds.
        env.learn(&guard_expr, true);
        cx.chart.steps[id.index()].guard = Some(guard_expr);
    }
    let is_each = fan::begin(cx, &mut env, node.step, id);
    let kind = kind(cx, &mut env, node.step, id);
    cx.chart.steps[id.index()].kind = kind;
    client(cx, node.step, id);
    cx.chart.steps[id.index()].failure = cx.chart.defaults;
    once::items(cx, &node.step.items);
    let mut policy = Policy::default();
    for noted in &node.step.items {
        item(cx, &mut env, id, noted, &mut policy);
    }
    if is_each {
        fan::check(cx, id, node.step);
    }
    if let Some(tail) = &node.step.then {
        outcome::trailing(cx, id, tail);
    }
    outcome::fail(cx, id, policy.retry, policy.then.as_ref());
    if let syntax::StepKind::Ask(ask) = &node.step.kind {
        outcome::otherwise(cx, id, ask);
    }
}

fn kind(cx: &mut Cx<'_>, env: &mut Env, step: &syntax::Step, id: StepId) -> StepKind {
    match &step.kind {
        syntax::StepKind::Llm => StepKind::Llm,
        syntax::StepKind::Code(body) => StepKind::Code(block::listed(cx, env, body)),
        syntax::StepKind::Ask(ask) => StepKind::Ask {
            on: ask_on(cx, &ask.on),
            always: ask.always,
            otherwise: Otherwise::Stay,
        },
        syntax::StepKind::Call(path, arguments) => call(cx, env, path, arguments),
        syntax::StepKind::Human(question) => {
            let (text, spans) = expr::template(cx, env, question, Options::No);
            cx.map.steps[id.index()].prompt = Some(question.span);
            cx.map.steps[id.index()].prompt_parts = spans;
            StepKind::Human(text)
        }
        syntax::StepKind::Run(written) => run::step(cx, env, id, written),
    }
}

fn call(
    cx: &mut Cx<'_>,
    env: &mut Env,
    path: &syntax::Path,
    arguments: &[syntax::Expr],
) -> StepKind {
    let name = path.text();
    cx.record_tool_use(&path.names);
    let Some((tool, _)) = cx.names.tools.get(&name).copied() else {
        for argument in arguments {
            expr::expr(cx, env, argument, None);
        }
        let known: Vec<String> = cx.names.tools.keys().cloned().collect();
        cx.unknown("tool", &name, path.span, known.iter().map(String::as_str));
        return StepKind::Llm;
    };
    let params = cx.chart.tools[tool.index()].params.clone();
    let what = format!("tool `{name}`");
    StepKind::Call(tool, expr::arguments(cx, env, &what, &params, arguments, path.span))
}

fn ask_on(cx: &mut Cx<'_>, pattern: &EventPattern) -> AskOn {
    match pattern {
        EventPattern::Turn(_) => AskOn::Turn,
        EventPattern::Event(path, names) => {
            if let Some(name) = names.first() {
                let finding = ILLEGAL_STRUCTURE
                    .at(name.span, "an `ask` cannot name the data of its event")
                    .help("keep them in a `var` with an `on` line of their own");
                cx.report(finding);
            }
            AskOn::Event(data::events_of(cx, path))
        }
        EventPattern::Any(span)
        | EventPattern::Everything(span)
        | EventPattern::Done(syntax::Done { subject: syntax::Path { span, .. }, .. })
        | EventPattern::Error(syntax::Done { subject: syntax::Path { span, .. }, .. })
        | EventPattern::Doubt(syntax::Done { subject: syntax::Path { span, .. }, .. })
        | EventPattern::Machine(chartc_text::span::Spanned { span, .. }) => {
            let finding = ILLEGAL_STRUCTURE
                .at(*span, "an `ask` waits for `turn` or for a declared event")
                .help("write `on turn` or `on some_event`");
            cx.report(finding);
            AskOn::Turn
        }
    }
}

fn client(cx: &mut Cx<'_>, step: &syntax::Step, id: StepId) {
    let Some(client) = &step.client else { return };
    let found = declare::client_named(cx, &client.node, client.span);
    cx.chart.steps[id.index()].client = found;
    let asks_a_model = matches!(&step.kind, syntax::StepKind::Llm | syntax::StepKind::Ask(_));
    if !asks_a_model {
        let finding = ILLEGAL_STRUCTURE
            .at(client.span, "`with` is allowed only on steps that call a model: `llm` and `ask`");
        cx.report(finding);
    }
}

/// The failure policy of a step. Its parts may be written in several lines.
#[derive(Default)]
struct Policy {
    retry: Option<u32>,
    then: Option<FailWord>,
}

fn item(cx: &mut Cx<'_>, env: &mut Env, id: StepId, noted: &Noted<StepItem>, policy: &mut Policy) {
    let is_ask = trigger::is_ask(&cx.chart.steps[id.index()].kind);
    match &noted.node {
        StepItem::Prompt(text) => prompt(cx, env, id, text, is_ask),
        StepItem::Tools(set, calls) => tools(cx, id, set, calls.as_ref(), noted.span),
        StepItem::Policy(written) => {
            if policy.retry.is_some() && written.retry.is_some()
                || policy.then.is_some() && written.then.is_some()
            {
                let message = "a second failure policy in one step";
                cx.report(ILLEGAL_STRUCTURE.at(written.span, message));
            }
            if is_ask && written.then.is_some() {
                let finding = ILLEGAL_STRUCTURE
                    .at(written.span, "`then` has no meaning in an `ask`")
                    .help("its `else` says what happens without a usable answer");
                cx.report(finding);
            }
            policy.retry = written.retry.as_ref().map(|n| n.node).or(policy.retry);
            policy.then = written.then.clone().or(policy.then.take());
        }
        StepItem::Returns(_, into) => {
            if is_ask {
                let finding = ILLEGAL_STRUCTURE
                    .at(noted.span, "the answer of an `ask` is an option, it returns nothing else")
                    .help("give the option an argument: `may x(value: T)`");
                cx.report(finding);
            }
            let returns = cx.chart.steps[id.index()].returns.clone();
            let into = into.as_ref().and_then(|name| trigger::variable(cx, name, &returns));
            cx.chart.steps[id.index()].into = into;
        }
        StepItem::Outcome(written) => outcome::outcome(cx, id, written, noted.span, is_ask),
        StepItem::DoubtRetry => doubt::retry(cx, id, noted.span),
        StepItem::CutOk => cut::ok(cx, id, noted.span),
        StepItem::EndsTurn(test) => {
            let mut env = Env::at(env.state);
            // The condition is evaluated when the step is done, so its answer exists.
            env.answer = Some(id);
            let always = Expr { kind: ExprKind::Bool(true), ty: Type::Bool };
            let test = test.as_ref().map_or(always, |test| expr::condition(cx, &mut env, test));
            cx.chart.steps[id.index()].ends_turn = Some(test);
        }
        StepItem::AtATime(_) | StepItem::UpTo(_) | StepItem::Enough(_) | StepItem::Lost(_) => {
            fan::item(cx, id, &noted.node, noted.span);
        }
        StepItem::Bad(_) => cx.dropped = true,
    }
}

/// Lowers `tools SET calls N`.
fn tools(
    cx: &mut Cx<'_>,
    id: StepId,
    set: &syntax::Path,
    calls: Option<&Spanned<u32>>,
    span: Span,
) {
    let Some(found) = tools::named(cx, &set.names) else { return };
    let finding = match &cx.chart.steps[id.index()].kind {
        StepKind::Llm => None,
        StepKind::Ask { .. } => {
            let finding = ILLEGAL_STRUCTURE
                .at(span, "`tools` belongs in an `llm` step: an `ask` offers its `may` lines");
            Some(finding.help(format!("write `may call {}` in the state", set.text())))
        }
        _ => {
            let message = "`tools` is allowed only in `llm` steps: this step has no model that could call them";
            Some(ILLEGAL_STRUCTURE.at(span, message))
        }
    };
    if let Some(finding) = finding {
        cx.report(finding);
        return;
    }
    if let Some(zero) = calls.filter(|calls| calls.node == 0) {
        let finding = ILLEGAL_STRUCTURE
            .at(zero.span, "with 0 calls the tools cannot be used")
            .help("leave the line out");
        cx.report(finding);
        return;
    }
    if cx.chart.tools_of(found).is_empty() {
        let finding = ILLEGAL_STRUCTURE
            .at(set.span, format!("there is no tool in `{}`", set.text()))
            .help("declare one, `tool a.b(x: Text) -> Json`, or leave the line out");
        cx.report(finding);
        return;
    }
    cx.map.steps[id.index()].tool_calls = calls.map(|calls| calls.span);
    let calls = calls.map_or(StepTools::CALLS, |calls| calls.node);
    cx.chart.steps[id.index()].tools = Some(StepTools { set: found, calls });
}

fn prompt(cx: &mut Cx<'_>, env: &mut Env, id: StepId, text: &syntax::Template, is_ask: bool) {
    let options = if is_ask { Options::Yes } else { Options::No };
    let (lowered, spans) = expr::template(cx, env, text, options);
    let step = &mut cx.chart.steps[id.index()];
    if step.prompt.is_some() {
        let mut finding = ILLEGAL_STRUCTURE.at(text.span, "a second prompt in one step");
        if let Some(first) = cx.map.steps[id.index()].prompt {
            finding = finding.related(first, "the first one");
        }
        cx.report(finding);
        return;
    }
    step.prompt = Some(lowered);
    cx.map.steps[id.index()].prompt = Some(text.span);
    cx.map.steps[id.index()].prompt_parts = spans;
}

/// The step with this name, for a component; reports nothing.
pub(super) fn named(cx: &mut Cx<'_>, name: &Ident) -> Option<StepId> {
    let (id, place) = cx.names.steps.get(&name.node).copied()?;
    cx.record_use(name.span, place, NameKind::Step);
    Some(id)
}

/// The finding for a step that is not declared.
pub(super) fn no_such(cx: &mut Cx<'_>, name: &Ident) -> chartc_text::diagnostic::Diagnostic {
    let known = cx.take_guess().then(|| cx.names.steps.keys().map(String::as_str));
    unknown_name::unknown("step", &name.node, name.span, known)
}
