//! Writes the code that stores answers and results, and the current event or answer.

use super::body::Methods;
use super::code::{Code, Fragment, Use, code};
use super::expr::Writer;
use super::payload::{answer_field, answering};
use super::types::optional_inner;
use super::{Context, blocks, tools};
use chartc_core::arena::{StepId, VarId};
use chartc_core::model::Type;

/// Adds methods that store an answer for expressions, `into` and `{last_result}`, if any of these needs it. Returns the statements of
/// `bind` that call them.
pub(super) fn answers(context: &Context<'_>, methods: &mut Methods) -> String {
    let (each, whole): (Vec<StepId>, Vec<StepId>) =
        answering(context).partition(|step| context.chart.steps[step.index()].each.is_some());
    let mut calls = String::new();
    for (name, answer, steps, all) in [
        ("keep", "Answer", &whole, whole.len() + each.len()),
        ("keep_all", "Gathered", &each, each.len()),
    ] {
        if keeper(context, methods, name, answer, steps, all) {
            calls += &format!(
                "if let program::Bound::Answer(_, Payload::{answer}(answer)) = &bound \
                 {{ self.{name}(answer); }}\n"
            );
        }
    }
    calls
}

/// Adds the method `name` for the answers of these steps, which are variants of the enum `enumeration` with `all` variants. Returns whether
/// there is anything to store.
fn keeper(
    context: &Context<'_>,
    methods: &mut Methods,
    name: &str,
    enumeration: &str,
    steps: &[StepId],
    all: usize,
) -> bool {
    let mut arms = Vec::new();
    for step in steps {
        let row = &context.chart.steps[step.index()];
        let variant = &context.names.steps[step.index()];
        let ty = &row.returns;
        let answer =
            Code::lent(if *ty == Type::Text { "answer.as_str()" } else { "answer" }, ty.clone());
        let mut writer = Writer::new(context);
        let mut body = Fragment::default();
        if context.needs.last_result {
            let value = if *ty == Type::Json {
                answer.lend()
            } else {
                code!("&{value}", value = writer.json(answer.clone()))
            };
            body += code!("self.last_result = generated::shown({value});\n", value);
        }
        if let Some(id) = row.into {
            body += into(context, &mut writer, id, answer.clone());
        }
        if context.needs.answers.contains(step) {
            let field = answer_field(context, *step);
            let value = writer.own(&answer);
            body += if optional_inner(ty).is_some() {
                code!("self.answers.{field} = {value};\n", value)
            } else {
                code!("self.answers.{field} = Some({value});\n", value)
            };
        }
        if !body.is_empty() {
            arms.push((format!("{enumeration}::{variant}(answer)"), body.text));
        }
    }
    if arms.is_empty() {
        return false;
    }
    let body = matched("answer", &arms, arms.len() < all);
    methods.add(name, body.into()).arg("answer", format!("&{enumeration}"));
    true
}

/// Writes a match whose arms are statements. With `rest`, it ignores all other values.
pub(super) fn matched(scrutinee: &str, rows: &[(String, String)], rest: bool) -> String {
    match rows {
        // Clippy rejects a `match` with a single arm that does something.
        [(pattern, body)] if rest => format!("if let {pattern} = {scrutinee} {{ {body} }}"),
        rows => {
            let arms = rows.iter().map(|(pattern, body)| format!("{pattern} => {{ {body} }}\n"));
            let arms: String = arms.collect();
            let rest = if rest { "_ => {}" } else { "" };
            format!("match {scrutinee} {{ {arms}{rest} }}")
        }
    }
}

/// Writes statements that store an answer in a variable. If its type does not fit, the variable keeps its value.
pub(super) fn into(
    context: &Context<'_>,
    writer: &mut Writer<'_>,
    id: VarId,
    answer: Code,
) -> Fragment {
    let variable = &context.chart.variables[id.index()];
    let place = format!("self.data.{}", context.names.variables[id.index()]);
    let supplied = context.is_supplied(id);
    let code = writer.convert(answer, &variable.ty);
    let copy = context.facts.is_copy(&variable.ty);
    if code.text().has(Use::Failure) {
        let result = context.caught(&code);
        blocks::fitted(context, &result, &place, supplied, &format!("`{}`", variable.name))
    } else if supplied {
        code!("{place} = Some({value});\n", value = code.own(copy))
    } else {
        code!("{place} = {value};\n", value = code.own(copy))
    }
}

pub(super) fn bind(context: &Context<'_>, keeps: &str, keeps_results: bool, program: &mut Methods) {
    let bind = program.item.new_fn("bind").arg_mut_self().arg("bound", "program::Bound<Payload>");
    bind.line(keeps);
    bind.line(tools::bound(context, keeps_results));
    bind.line("self.bound.set(match bound {");
    bind.line(
        "program::Bound::Nothing | program::Bound::Call(..) | program::Bound::Returned(..) \
         | program::Bound::CallFailed(..) => None,",
    );
    bind.line(
        "program::Bound::Event(_, payload) | program::Bound::Answer(_, payload) \
         | program::Bound::Reason(_, payload) | program::Bound::Choice(_, payload) => payload.read(),",
    );
    bind.line("});");
    if !context.bare {
        let rest = program.item.new_fn("rest").arg_mut_self();
        rest.line("self.bound.set(None);");
    }
}
