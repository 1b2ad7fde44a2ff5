//! Turns steps into questions, and answers into outcomes. `code` steps run inside the machine instead. To add a kind of step, add a file
//! here and an arm in [`question`] and [`outcome`].
//!
//! ```text
//! step      ask triage on turn … may close "they are happy" -> solved; may stay -> open
//! question  the rendered prompt; options close, stay; the client's model, temperature, prices
//! answer    {"choice": "close"}
//! outcome   Outcome::Choice(close, []), rung `whole`, no repairs; the machine takes the transition
//! ```

mod ask;
mod human;
mod llm;
mod used;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod table;

pub(crate) use used::Used;

use crate::answer::{self, Rung, Unusable};
use crate::budget::Prices;
use crate::form::ActionForm;
use crate::oracle::{Kind, Model, Question};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::{Outcome, StepKey};
use chartc_core::tables::{ClientRow, StepRowKind, Tables, is_free};
use std::borrow::Cow;

/// The result of reading an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Understood {
    /// The outcome of the step, for the machine.
    pub outcome: Outcome<Vec<Value>>,
    /// How far the text had to be searched.
    pub rung: Rung,
    /// The repairs of the text.
    pub repairs: Vec<String>,
}

/// Additions to the prompt of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    /// The host's section, at the end of a model's prompt.
    pub section: &'a str,
    /// The tools that the model of an `llm` step has called since the step started.
    pub used: &'a [Used],
    /// The fault of the previous answer, if the question is asked again.
    pub complaint: Option<&'a str>,
    /// The form of actions if the client sets none.
    pub actions: ActionForm,
}

/// Creates the question of a started step. `client` replaces the step's own client.
///
/// # Errors
/// The prompt cannot be rendered, or steps of this kind ask nobody.
pub(crate) fn question(
    machine: &mut dyn Machine,
    key: StepKey,
    client: Option<&str>,
    beside: Beside<'_>,
) -> Result<Question, String> {
    // Tables of generated code are `'static`, so that their names are borrowed instead of copied for each question.
    let QuestionRow { name, kind, state, model, client, has_tools } = match machine.fixed_tables() {
        Some(tables) => asked(tables, key, client, Cow::Borrowed),
        None => asked(machine.tables(), key, client, |name| Cow::Owned(name.to_owned())),
    };
    let kind = match kind {
        StepRowKind::Llm => Kind::Llm,
        StepRowKind::Ask { .. } => Kind::Ask,
        StepRowKind::Code => return Err("a `code` step runs inside the machine".into()),
        StepRowKind::Call => return Err("a `call` step asks nobody".into()),
        StepRowKind::Human => Kind::Human,
        StepRowKind::Run { .. } => return Err("a `run` step asks nobody".into()),
    };
    let mut prompt = machine.prompt(key).map_err(|_| "the prompt cannot be rendered".to_owned())?;
    let mut question = Question {
        step: name,
        kind,
        state,
        client,
        model,
        attempt: key.attempt,
        ..Question::default()
    };
    if kind != Kind::Ask {
        question.schema = machine.answer_schema(key.step);
    }
    match kind {
        Kind::Llm if has_tools => {
            question.options = ask::alternatives(machine, key);
            question.forbidden = ask::forbidden(machine, &question.options);
        }
        Kind::Llm | Kind::Human => {}
        Kind::Ask => {
            question.options = ask::alternatives(machine, key);
            question.forbidden = ask::forbidden(machine, &question.options);
        }
    }
    let Beside { section, used, complaint, actions } = beside;
    // The client's own form takes precedence over that of the session.
    if question.model.actions == ActionForm::Any {
        question.model.actions = actions;
    }
    // The section is for models; people see only the chart's own text.
    if kind != Kind::Human && !section.is_empty() {
        prompt.truncate(prompt.trim_end().len());
        prompt.push_str("\n\n");
        prompt.push_str(section);
    }
    if kind == Kind::Llm && has_tools {
        prompt.push_str(&used::told(&question.options, used));
    }
    if let Some(why) = complaint {
        prompt.push_str("\n\n");
        prompt.push_str(&match kind {
            Kind::Llm => llm::again(why, &question),
            Kind::Ask => ask::again(why, &question),
            Kind::Human => human::again(why),
        });
    }
    question.prompt = prompt;
    Ok(question)
}

/// The parts of a question that come from the tables.
struct QuestionRow {
    name: Cow<'static, str>,
    kind: StepRowKind,
    state: Cow<'static, str>,
    client: Cow<'static, str>,
    model: Model,
    has_tools: bool,
}

/// Collects the parts of a question from the tables. `kept` borrows or copies a name.
fn asked<'t>(
    tables: &Tables<'t>,
    key: StepKey,
    client: Option<&str>,
    kept: impl Fn(&'t str) -> Cow<'static, str>,
) -> QuestionRow {
    let row = &tables.steps[key.step.index()];
    let client_row = tables.clients.iter().find(|one| one.name == client.unwrap_or(row.client));
    let some = |n: u64| (n != 0).then_some(n);
    QuestionRow {
        name: kept(row.name),
        kind: row.kind,
        state: kept(tables.states[key.leaf.index()].path),
        client: client.map_or_else(|| kept(row.client), |client| client.to_owned().into()),
        model: client_row.map_or_else(Model::default, |row| Model {
            model: kept(row.model),
            temperature: row.temperature,
            max_tokens: some(row.max_tokens),
            timeout: some(row.timeout),
            options: kept(row.options),
            actions: row.actions,
            prices: prices(row),
        }),
        has_tools: row.tools.len > 0,
    }
}

/// Reads the answer to a question.
///
/// # Errors
/// The reason why the answer is unusable.
pub(crate) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    match question.kind {
        Kind::Llm => llm::outcome(question, text),
        Kind::Ask => ask::outcome(question, text),
        Kind::Human => human::outcome(question, text),
    }
}

/// Reads an answer that was cut off. It is unusable, unless the step accepts a cut text (`cut ok`).
///
/// # Errors
/// The reason why the answer is unusable, with a remedy.
pub(crate) fn cut(
    question: &Question,
    text: &str,
    is_accepted: bool,
) -> Result<Understood, Unusable> {
    if !is_accepted {
        return Err(cut_off(question));
    }
    let reading = answer::cut_text(text)?;
    let outcome = Outcome::Done(vec![reading.meant]);
    Ok(Understood { outcome, rung: reading.rung, repairs: reading.repairs })
}

/// The error for an answer that was cut off, with a remedy.
fn cut_off(question: &Question) -> Unusable {
    let most = question.model.max_tokens.map_or_else(String::new, |most| format!(" ({most})"));
    let mut why = format!("cut off at `max_tokens`{most}: raise it");
    if question.kind == Kind::Llm && question.schema == r#"{"type":"string"}"# {
        why.push_str(", or write `cut ok` in the step if a cut text will do");
    }
    Unusable { ambiguous: false, why }
}

/// The name of the option or tool in an outcome, and its arguments; `None` if the outcome is no choice.
pub(crate) fn chosen(
    question: &Question,
    outcome: &Outcome<Vec<Value>>,
) -> Option<(String, Vec<Value>)> {
    let (hit, arguments) = match outcome {
        Outcome::Choice(choice, arguments) => (
            question.options.iter().find(|o| o.offer.choice == *choice && o.offer.tool.is_none()),
            arguments.clone(),
        ),
        Outcome::Call(tool, arguments) => {
            (question.options.iter().find(|o| o.offer.tool == Some(*tool)), arguments.clone())
        }
        Outcome::Forbidden(tool) => {
            (question.forbidden.iter().find(|o| o.offer.tool == Some(*tool)), Vec::new())
        }
        _ => return None,
    };
    Some((hit.map(|o| o.offer.name.to_string()).unwrap_or_default(), arguments))
}

/// The prices of a client. Models that run locally are free unless the client sets prices.
fn prices(row: &ClientRow<'_>) -> Prices {
    let (input, output) = (row.input_price, row.output_price);
    let is_free = input.is_none() && output.is_none() && is_free(row.model);
    if is_free { Prices { input: Some(0), output: Some(0) } } else { Prices { input, output } }
}
