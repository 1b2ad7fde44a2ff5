//! Parses every condition, code step and prompt of an agent once.

use crate::diagnostic::Diagnostic;
use crate::front::agent::definition::{
    Component, Injection, Permit, Source, Step, StepType, Workflow,
};
use crate::front::agent::format::{FormatPart, parts};
use crate::front::agent::node::{Node, Value};
use crate::front::agent::python::{self, Context, ContextUse, Expr, Statement};
use crate::front::agent::scalar::Text;
use crate::span::Span;

/// The parsed parts of a workflow.
pub(super) struct Work<'a> {
    /// In list order.
    pub(super) steps: Vec<StepWork<'a>>,
    /// In list order.
    pub(super) permits: Vec<PermitWork<'a>>,
    /// In the order in which they are inserted into prompts.
    pub(super) components: Vec<ComponentWork<'a>>,
    /// The uses of `context` in code steps, in order.
    pub(super) context: Vec<ContextUse>,
}

/// A parsed step.
pub(super) struct StepWork<'a> {
    pub(super) step: &'a Step,
    pub(super) run_if: Option<Expr>,
    pub(super) code: Vec<Statement>,
    pub(super) prompt: Option<Words>,
    /// The placeholders in the arguments of its invocations, in order.
    pub(super) arguments: Vec<FormatPart>,
    /// The components inserted into its prompt.
    pub(super) injected: Vec<InjectionWork<'a>>,
}

impl StepWork<'_> {
    /// Whether some turns skip it.
    pub(super) fn is_conditional(&self) -> bool {
        self.step.run_if.is_some() || self.step.states.is_some()
    }
}

/// A parsed component.
pub(super) struct ComponentWork<'a> {
    pub(super) component: &'a Component,
    pub(super) fragment: Words,
}

/// A component inserted into the prompt of a step, parsed.
pub(super) struct InjectionWork<'a> {
    /// Its index in [`Work::components`].
    pub(super) component: usize,
    pub(super) injection: &'a Injection,
    pub(super) condition: Option<Expr>,
    pub(super) arguments: Vec<FormatPart>,
}

/// A parsed row of the transition table.
pub(super) struct PermitWork<'a> {
    pub(super) permit: &'a Permit,
    pub(super) condition: Option<Expr>,
    pub(super) arguments: Vec<FormatPart>,
}

/// A text with placeholders, parsed.
pub(super) struct Words {
    pub(super) parts: Vec<FormatPart>,
    pub(super) span: Span,
    pub(super) block: bool,
}

/// Parses the code and prompts of all steps, permissions and components; reports errors.
pub(super) fn prepare<'a>(
    workflow: &'a Workflow,
    components: &'a [Component],
    findings: &mut Vec<Diagnostic>,
) -> Work<'a> {
    let mut context_used = Vec::new();
    let mut steps = Vec::new();
    for step in &workflow.steps {
        let run_if = match &step.run_if {
            Some(Source::Text(text)) => condition(text, findings),
            Some(Source::Invoke(_)) | None => None,
        };
        let is_code = step.kind == StepType::Code;
        // Other steps ignore the key `code`.
        let read = step.code.as_ref().filter(|_| is_code).map(|text| python::code(text, findings));
        let mut context = Context::new(findings);
        let code = context.statements(read.unwrap_or_default());
        context_used.append(&mut context.used);
        let (mut prompt, mut arguments) = (None, Vec::new());
        match &step.prompt {
            Some(Source::Text(text)) if !is_code => prompt = Some(words(text)),
            Some(Source::Invoke(invoke)) if !is_code => texts(&invoke.arguments, &mut arguments),
            Some(_) | None => {}
        }
        if let Some(Source::Invoke(invoke)) = &step.run_if {
            texts(&invoke.arguments, &mut arguments);
        }
        if let Some(invoke) = &step.decision {
            texts(&invoke.arguments, &mut arguments);
        }
        steps.push(StepWork { step, run_if, code, prompt, arguments, injected: Vec::new() });
    }
    let mut permits = Vec::new();
    for permit in workflow.machine.iter().flat_map(|m| &m.transitions) {
        let (mut read, mut arguments) = (None, Vec::new());
        match &permit.condition {
            Some(Source::Text(text)) => read = condition(text, findings),
            Some(Source::Invoke(invoke)) => texts(&invoke.arguments, &mut arguments),
            None => {}
        }
        permits.push(PermitWork { permit, condition: read, arguments });
    }
    let components = super::inject::inject(components, &mut steps, findings);
    Work { steps, permits, components, context: context_used }
}

pub(super) fn condition(text: &Text, findings: &mut Vec<Diagnostic>) -> Option<Expr> {
    let expr = python::condition(text, findings)?;
    Some(Context::new(findings).expr(expr))
}

pub(super) fn words(text: &Text) -> Words {
    Words { parts: parts(text), span: text.whole(), block: text.value.contains('\n') }
}

/// Collects the placeholders of all texts in the arguments of an invocation.
pub(super) fn texts(nodes: &[Node], out: &mut Vec<FormatPart>) {
    for node in nodes {
        match &node.value {
            Value::Text(text) => out.extend(parts(text)),
            Value::List(items) => texts(items, out),
            Value::Map(entries) => {
                for (_, value) in entries {
                    texts(std::slice::from_ref(value), out);
                }
            }
            _ => {}
        }
    }
}
