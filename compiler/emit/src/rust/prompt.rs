//! Writes prompts, the texts of options, and advice.

use super::Context;
use super::body::{Arms, Methods};
use super::code::{Binding, Fragment, Use, code};
use super::expr::Writer;
use super::tables::comment;
use chartc_core::arena::StepId;
use chartc_core::model::{Expr, Position, StepKind, Template};

/// Adds `advice`, if something reads it; it returns the advice of the innermost active state that has any.
pub(super) fn advice(context: &Context<'_>, methods: &mut Methods) {
    if !context.needs.advice {
        return;
    }
    let mut arms = Fragment::default();
    for (i, state) in context.chart.states.iter().enumerate() {
        if let Some(text) = &state.advice {
            let body = alone(Writer::new(context).template(text));
            let comment = comment(&state.path);
            arms += code!("{comment}Some(arena::StateId({i})) => {{ {body} Ok(text) }}\n", body);
        }
    }
    let body = if arms.is_empty() {
        "Ok(String::new())".into()
    } else {
        code!("match view.adviser() {{ {arms} _ => Ok(String::new()), }}", arms).using(Use::View)
    };
    let view = body.parameter("view", Use::View);
    let function = methods.add("advice", body);
    function.arg(&view, "&program::View<'_>");
    function.ret(format!("Result<String, {}>", context.error()));
}

/// Writes `prompt_of`, which returns the prompts of steps.
pub(super) fn prompts(context: &Context<'_>) -> Arms {
    let key = ("key", "machine::StepKey");
    let mut arms = Arms::new("prompt_of", key, "key.step.0", "String", "String::new()");
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
            arms.arm(i, &step.name, body, "Ok(text)".into());
        }
    }
    arms
}

/// Writes `option_text`, which returns the descriptions of options.
pub(super) fn options(context: &Context<'_>) -> Arms {
    let choice = ("choice", "arena::ChoiceId");
    let mut arms = Arms::new("option_text", choice, "choice.0", "String", "String::new()");
    for (i, choice) in context.chart.choices.iter().enumerate() {
        if let Some(text) = &choice.text {
            let body = alone(Writer::new(context).template(text));
            arms.arm(i, &choice.name, body, "Ok(text)".into());
        }
    }
    arms
}

/// Writes a text outside a question, which has no options to show.
fn alone(body: Fragment) -> Fragment {
    if !body.has(Use::Options) {
        return body;
    }
    code!("let options: Option<&str> = None;\n{body}", body).without(Use::Options)
}

/// The text that a component inserts into a prompt.
struct ComponentPart<'c> {
    guard: Option<&'c Expr>,
    /// The name of the guard in the note that says that it failed.
    title: String,
    text: &'c Template,
}

/// Writes statements that leave the prompt in `text`: components at the start, the step's own text or its replacement, and components at
/// the end, separated by empty lines.
fn prompt(context: &Context<'_>, step: StepId, own: Option<&Template>) -> Option<Fragment> {
    let of = |wanted: Position| -> Vec<ComponentPart<'_>> {
        let mut parts = Vec::new();
        for component in &context.chart.components {
            for insert in &component.inserts {
                if insert.step == step && insert.place == wanted {
                    parts.push(ComponentPart {
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
        return own.map(|own| own_text(context, step, own));
    }
    let mut writer = Writer::new(context);
    let mut out = Fragment::from("let mut parts: Vec<String> = Vec::new();\n");
    for part in &start {
        out += guarded(&mut writer, part, "");
    }
    // An unconditional replacement makes the step's own text unnecessary.
    let own = own.filter(|_| replace.iter().all(|part| part.guard.is_some()));
    let mark = if own.is_some() && !replace.is_empty() { "replaced = true;" } else { "" };
    if !mark.is_empty() {
        out += "let mut replaced = false;\n".into();
    }
    for part in &replace {
        out += guarded(&mut writer, part, mark);
    }
    if let Some(own) = own {
        let test = if mark.is_empty() { "" } else { "if !replaced " };
        out += code!("{test}{{ {own} parts.push(text); }}\n", own = own_text(context, step, own));
    }
    for part in &end {
        out += guarded(&mut writer, part, "");
    }
    out += "let text = parts.join(\"\\n\\n\");\n".into();
    Some(out.using(Use::Allocator))
}

/// Writes the step's own text, which may show the element.
fn own_text(context: &Context<'_>, step: StepId, own: &Template) -> Fragment {
    let mut writer = Writer::new(context);
    writer.begin_element(step);
    let text = writer.template(own);
    code!("{element}{text}", element = writer.element(step, &text), text)
}

fn guarded(writer: &mut Writer<'_>, part: &ComponentPart<'_>, also: &str) -> Fragment {
    let text = writer.template(part.text);
    let push = code!("{{ {text} parts.push(text); {also} }}\n", text);
    let Some(guard) = part.guard else { return push };
    let condition = writer.truth(guard);
    let test = condition.truth(Binding::Block);
    if !test.has(Use::Failure) {
        return code!("if {test} {push}", test, push);
    }
    // A guard that fails counts as false.
    let holds = writer.context.caught(&condition);
    let title = &part.title;
    code!(
        "let holds = {holds};\nif generated::holds(&mut self.notes, {title:?}, holds) {push}",
        holds,
        push
    )
}
