//! Prompts, the texts of options, and advice.

use super::Context;
use super::body::{Arms, can_fail, mentions};
use super::expr::{Binding, Writer};
use super::tables::comment;
use chartc_core::arena::StepId;
use chartc_core::model::{Expr, Position, StepKind, Template};
use codegen::Impl;

/// Adds `advice`: the text of the innermost active state that has one.
pub(super) fn advice(context: &Context<'_>, methods: &mut Impl) {
    let mut arms = String::new();
    for (i, state) in context.chart.states.iter().enumerate() {
        if let Some(text) = &state.advice {
            let body = Writer::new(context).template(text);
            let comment = comment(&state.path);
            arms.push_str(&format!(
                "{comment}Some(arena::StateId({i})) => {{ {body} Ok(text) }}\n"
            ));
        }
    }
    if arms.is_empty() && !context.advice.get() {
        return;
    }
    let function = methods.new_fn("advice").arg_mut_self();
    function.arg(if arms.is_empty() { "_view" } else { "view" }, "&program::View<'_>");
    function.ret(format!("Result<String, {}>", context.error()));
    if arms.is_empty() {
        function.line("Ok(String::new())");
    } else {
        function.line(format!("match view.adviser() {{ {arms} _ => Ok(String::new()), }}"));
    }
}

/// Adds `prompt_of` and `option_text`.
pub(super) fn emit(context: &Context<'_>, methods: &mut Impl) {
    let mut arms =
        Arms::new("prompt_of", "step: arena::StepId", "step.0", "String", "String::new()");
    for (i, step) in context.chart.steps.iter().enumerate() {
        let own = match &step.kind {
            StepKind::Human(question) => Some(question),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Run(..) => step.prompt.as_ref(),
        };
        if let Some(body) = prompt(context, StepId::at(i), own) {
            arms.arm(i, &step.name, body, "text".to_owned());
        }
    }
    arms.emit_with(context, methods, &[("options", "Option<&str>")]);

    let none = "String::new()";
    let mut arms = Arms::new("option_text", "choice: arena::ChoiceId", "choice.0", "String", none);
    for (i, choice) in context.chart.choices.iter().enumerate() {
        if let Some(text) = &choice.text {
            let mut body = Writer::new(context).template(text);
            if mentions(&body, "options") {
                body = format!("let options: Option<&str> = None;\n{body}");
            }
            arms.arm(i, &choice.name, body, "text".to_owned());
        }
    }
    arms.emit(context, methods);
}

/// A component's part in a prompt.
struct Part<'c> {
    guard: Option<&'c Expr>,
    /// For the note of a guard that fails.
    title: String,
    text: &'c Template,
}

/// Statements that leave the prompt in `text`: components at the start, the step's own text or what replaces it, components at
/// the end, with an empty line between them.
fn prompt(context: &Context<'_>, step: StepId, own: Option<&Template>) -> Option<String> {
    let of = |wanted: Position| -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for component in &context.chart.components {
            for insert in &component.inserts {
                if insert.step == step && insert.place == wanted {
                    parts.push(Part {
                        guard: insert.guard.as_ref(),
                        title: format!(
                            "`if` of `{}` into `{}`",
                            component.name,
                            context.chart.steps[step.index()].name
                        ),
                        text: &component.text,
                    });
                }
            }
        }
        parts
    };
    let (start, replace, end) = (of(Position::Start), of(Position::Replace), of(Position::End));
    if start.is_empty() && replace.is_empty() && end.is_empty() {
        return own.map(|own| Writer::new(context).template(own));
    }
    let writer = Writer::new(context);
    context.allocates.set(true);
    let mut out = "let mut parts: Vec<String> = Vec::new();\n".to_owned();
    for part in &start {
        out.push_str(&guarded(&writer, part, ""));
    }
    let whole = |text: &Template| format!("{{ {} parts.push(text); }}\n", writer.template(text));
    match own {
        Some(own) if replace.is_empty() => out.push_str(&whole(own)),
        None | Some(_) => {
            if own.is_some() {
                out.push_str("let mut replaced = false;\n");
            }
            for part in &replace {
                let also = if own.is_some() { "replaced = true;" } else { "" };
                out.push_str(&guarded(&writer, part, also));
            }
            if let Some(own) = own {
                out.push_str(&format!("if !replaced {}", whole(own)));
            }
        }
    }
    for part in &end {
        out.push_str(&guarded(&writer, part, ""));
    }
    out.push_str("let text = parts.join(\"\\n\\n\");\n");
    Some(out)
}

fn guarded(writer: &Writer<'_>, part: &Part<'_>, also: &str) -> String {
    let text = writer.template(part.text);
    let push = format!("{{ {text} parts.push(text); {also} }}");
    let Some(guard) = part.guard else {
        return push + "\n";
    };
    let condition = writer.condition(guard, Binding::Block);
    if !can_fail(&condition) {
        return format!("if {condition} {push}\n");
    }
    // A guard that fails is false.
    format!(
        "let holds = (|| -> Result<bool, {}> {{ Ok({condition}) }})();\n\
         if generated::holds(&mut self.notes, {:?}, holds) {push}\n",
        writer.context.error(),
        part.title
    )
}
