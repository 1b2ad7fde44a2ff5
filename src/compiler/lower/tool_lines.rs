//! Lowers the `tool` lines of `llm` steps: `tool fs.write up to 3 if g human "Write {path}?"`.
//!
//! The problem: the number of calls and the arguments of the call that a person is asked about have to survive a restart. The idea: both
//! are variables of the chart, like what a question showed ([`super::expr::asked`]). A bound is a condition over the number of calls. The
//! question to a person is a step of its own, a `human` step that begins with the call. For example:
//!
//! ```text
//! llm edit { prompt "…"  tools fs.*  tool fs.write up to 3 human "Write {path}?" }
//!
//! edit            asking: asked.edit.calls.fs.write = 0
//! its tool line   guard: asked.edit.calls.fs.write < 3     calling: asked.edit.calls.fs.write = asked.edit.calls.fs.write + 1
//! edit.fs.write   human "Write {asked.edit.fs.write.path}?"     asking: asked.edit.fs.write.path = the argument `path`
//! ```

use super::context::{Cx, EventDatum, NameKind};
use super::expr::{self, Env, Options, asked, of};
use super::tools;
use crate::rules::ILLEGAL_STRUCTURE;
use crate::syntax::source::Span;
use crate::syntax::{self, StepItem};
use chartc_core::arena::{StepId, ToolId};
use chartc_core::model::{
    Action, BinaryOp, CompareOp, Expr, ExprKind, Failure, FailurePolicy, Rename, Renamed, Step,
    StepKind, ToolLine, Type,
};
use std::collections::BTreeSet;

/// The name of the step that asks a person about a tool.
pub(super) fn approval(caller: &Step, tool: &str) -> String {
    format!("{}.{tool}", caller.name)
}

/// The tools of a line, as far as the step has them. Reports nothing.
pub(super) fn meant(cx: &Cx<'_>, step: &syntax::Step, line: &syntax::ToolLine) -> BTreeSet<ToolId> {
    let own = step.items.iter().filter_map(|item| match &item.node {
        StepItem::Tools(set, _) => Some(tools::members(cx, set)),
        _ => None,
    });
    let own: BTreeSet<ToolId> = own.flatten().collect();
    &own & &tools::members(cx, &line.tools)
}

/// Lowers the `tool` lines of a step whose own items are lowered.
pub(super) fn lower(cx: &mut Cx<'_>, id: StepId) {
    let node = cx.step_nodes[id.index()].step;
    let mut approved: BTreeSet<ToolId> = BTreeSet::new();
    for item in &node.items {
        let StepItem::Tool(written) = &item.node else { continue };
        if tools::set_of(cx, &written.tools).is_none() || !may_stand(cx, id, written, item.span) {
            continue;
        }
        let tools = meant(cx, node, written);
        if tools.is_empty() {
            let own =
                cx.chart.steps[id.index()].tools.map_or(Vec::new(), |t| cx.chart.tools_of(t.set));
            let own: Vec<String> =
                own.iter().map(|tool| cx.chart.tools[tool.index()].name.clone()).collect();
            let what = format!("tool of `{}` is named", node.name.node);
            let known = own.iter().map(String::as_str);
            cx.unknown(&what, &written.tools.text(), written.tools.span, known);
            continue;
        }
        let guard = guard(cx, id, written);
        let (bound, calling) = bound(cx, id, written);
        let guard = match (bound, guard) {
            (Some(bound), Some(guard)) => {
                let both = ExprKind::Binary(BinaryOp::And, Box::new(bound), Box::new(guard));
                Some(of(both, Type::Bool))
            }
            (bound, guard) => bound.or(guard),
        };
        if guard.is_some() {
            let tools = tools.iter().copied().collect();
            let most = written.most.as_ref().map(|most| most.node);
            let line = ToolLine { tools, guard, most, calling, asks: None };
            cx.chart.steps[id.index()].tool_lines.push(line);
        }
        if let Some(text) = &written.approval {
            for tool in tools {
                if approved.insert(tool) {
                    ask(cx, id, tool, text);
                } else {
                    let name = &cx.chart.tools[tool.index()].name;
                    let message = format!("a second question about `{name}` in one step");
                    cx.report(ILLEGAL_STRUCTURE.at(text.span, message));
                }
            }
        }
    }
}

/// Whether the line has its place in the step, and says something; reports what is wrong.
fn may_stand(cx: &mut Cx<'_>, id: StepId, written: &syntax::ToolLine, span: Span) -> bool {
    let step = &cx.chart.steps[id.index()];
    let name = written.tools.text();
    let finding = if !matches!(step.kind, StepKind::Llm) {
        let message = "`tool` is allowed only in `llm` steps: this step has no model that calls tools by itself";
        ILLEGAL_STRUCTURE.at(span, message)
    } else if step.tools.is_none() {
        let finding = ILLEGAL_STRUCTURE.at(span, "the model of this step may call no tool");
        finding.help(format!("write `tools {name}` before this line"))
    } else if written.most.is_none() && written.guard.is_none() && written.approval.is_none() {
        let finding = ILLEGAL_STRUCTURE.at(span, format!("this says nothing about `{name}`"));
        finding.help("add `up to 3`, `if g` or `human \"…\"`, or leave the line out")
    } else if let Some(zero) = written.most.as_ref().filter(|most| most.node == 0) {
        let finding = ILLEGAL_STRUCTURE.at(zero.span, "with 0 calls the tool cannot be used");
        finding.help(format!("take it away from the step: `tools … - {name}`"))
    } else {
        return true;
    };
    // A faulty `tools` has been reported.
    let is_reported = step.tools.is_none() && has_tools(cx, id);
    if !is_reported {
        cx.report(finding);
    }
    false
}

fn has_tools(cx: &Cx<'_>, id: StepId) -> bool {
    let items = &cx.step_nodes[id.index()].step.items;
    items.iter().any(|item| matches!(item.node, StepItem::Tools(..)))
}

fn guard(cx: &mut Cx<'_>, id: StepId, written: &syntax::ToolLine) -> Option<Expr> {
    let mut env = Env::at(cx.chart.steps[id.index()].state);
    written.guard.as_ref().map(|guard| expr::condition(cx, &mut env, guard))
}

/// The condition that the bound of a line has not been reached, and the actions that count a call.
fn bound(cx: &mut Cx<'_>, id: StepId, written: &syntax::ToolLine) -> (Option<Expr>, Vec<Action>) {
    let Some(most) = &written.most else { return (None, Vec::new()) };
    let int = |n: i64| of(ExprKind::Int(n), Type::Int);
    let name = format!("calls.{}", written.tools.text());
    let counter = asked::add(cx, &[id], (&name, written.tools.span), int(0));
    for old in &cx.step_nodes[id.index()].step.renamed {
        let old = format!("{}.{}.{name}", expr::ASKED, old.node);
        cx.chart.renames.push(Rename { what: Renamed::Variable(counter), old });
    }
    let count = of(ExprKind::Variable(counter), Type::Int);
    let more = ExprKind::Binary(BinaryOp::Add, Box::new(count.clone()), Box::new(int(1)));
    let room = vec![(CompareOp::Less, int(i64::from(most.node)))];
    let room = of(ExprKind::Compare(Box::new(count), room), Type::Bool);
    (Some(room), vec![Action::Assign(counter, of(more, Type::Int))])
}

/// Lowers the step that asks a person about a tool. Its question reads the arguments of the call by their names.
fn ask(cx: &mut Cx<'_>, caller: StepId, tool: ToolId, text: &syntax::Template) {
    let name = approval(&cx.chart.steps[caller.index()], &cx.chart.tools[tool.index()].name);
    // It has no step if its name is taken, which has been reported.
    let Some((id, _)) = cx.names.steps.get(&name).copied() else { return };
    let state = cx.chart.steps[caller.index()].state;
    let params = cx.chart.tools[tool.index()].params.clone();
    for (nth, param) in params.into_iter().enumerate() {
        let span = cx.tool_items[tool.index()].params[nth].name.span;
        let value = of(ExprKind::Payload(nth as u32), param.ty);
        let variable = asked::add(cx, &[id], (&param.name, span), value);
        let datum = EventDatum { name: param.name, place: (span, NameKind::Param), variable };
        // In front, where it is found first: an argument hides data of the event that have the same name.
        cx.names.asked.data.entry(id).or_default().insert(nth, datum);
    }
    let mut env = Env::at(state);
    env.question = Some(id);
    let (question, spans) = expr::template(cx, &mut env, text, Options::No);
    let retry = cx.chart.steps[caller.index()].failure.retry;
    let step = &mut cx.chart.steps[id.index()];
    step.kind = StepKind::Human(question);
    step.failure = FailurePolicy { retry, then: Failure::Skip };
    step.ends_turn = Some(of(ExprKind::Answer(id), Type::Bool));
    cx.map.steps[id.index()].prompt = Some(text.span);
    cx.map.steps[id.index()].prompt_parts = spans;
    for old in &cx.step_nodes[caller.index()].step.renamed {
        let old = format!("{}.{}", old.node, cx.chart.tools[tool.index()].name);
        cx.chart.renames.push(Rename { what: Renamed::Step(id), old });
    }
    let line = ToolLine {
        tools: vec![tool],
        guard: None,
        most: None,
        calling: Vec::new(),
        asks: Some(id),
    };
    cx.chart.steps[caller.index()].tool_lines.push(line);
}
