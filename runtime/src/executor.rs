//! Turns steps into questions, and answers into outcomes. `code` steps run inside the machine instead. To add a kind of step, add a file
//! here and an arm in [`question`] and [`outcome`].
//!
//! ```text
//! step      ask triage on turn … may close "they are happy" -> solved; may stay -> open
//! question  the rendered prompt; options close, stay; the client's model, temperature, prices
//! answer    {"choice": "close"}
//! outcome   Outcome::Choice(close, []), rung `whole`, no repairs; the machine takes the transition
//! ```

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod table;

use crate::answer::{self, Rung, Unusable};
use crate::budget::Prices;
use crate::form::ActionForm;
use crate::oracle::{Alternative, Kind, Model, Question};
use crate::settings::{ChosenModel, Overrides};
use chartc_core::arena::{ChoiceId, ToolId};
use chartc_core::expr::Value;
use chartc_core::host::{Machine, Offer};
use chartc_core::machine::{Outcome, StepKey};
use chartc_core::tables::{StepRowKind, Tables};
use serde::{Deserialize, Serialize};
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
    /// What replaces the settings of the client; `None` for child charts.
    pub overrides: Option<&'a Overrides>,
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
    let QuestionRow { name, kind, state, model, client, has_tools, is_exact } =
        asked(machine.tables(), key, client);
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
        is_exact,
        ..Question::default()
    };
    if kind != Kind::Ask {
        question.schema = machine.answer_schema(key.step);
    }
    match kind {
        Kind::Llm if has_tools => {
            question.options = alternatives(machine, key);
            question.forbidden = forbidden(machine, &question.options);
        }
        Kind::Llm | Kind::Human => {}
        Kind::Ask => {
            question.options = alternatives(machine, key);
            question.forbidden = forbidden(machine, &question.options);
        }
    }
    // The client's own form takes precedence over that of the session.
    if question.model.actions == ActionForm::Any {
        question.model.actions = beside.actions;
    }
    if let Some(own) = beside.overrides.filter(|_| kind != Kind::Human) {
        replace(&mut question.model, own);
    }
    extend(&mut prompt, &question, has_tools, beside);
    question.prompt = prompt;
    Ok(question)
}

/// Adds to a prompt what does not come from the chart.
fn extend(prompt: &mut String, question: &Question, has_tools: bool, beside: Beside<'_>) {
    let Beside { section, used, complaint, overrides, .. } = beside;
    let kind = question.kind;
    let own = overrides.map_or("", |own| own.system_prompt.as_str());
    if kind != Kind::Human && !own.is_empty() {
        prompt.insert_str(0, &format!("{}\n\n", own.trim_end()));
    }
    // The section is for models; people see only the chart's own text.
    if kind != Kind::Human && !section.is_empty() {
        prompt.truncate(prompt.trim_end().len());
        prompt.push_str("\n\n");
        prompt.push_str(section);
    }
    if kind == Kind::Llm && has_tools {
        prompt.push_str(&told(&question.options, used));
    }
    if let Some(why) = complaint {
        prompt.push_str("\n\n");
        prompt.push_str(&match kind {
            Kind::Llm => ask_model_again(why, question),
            Kind::Ask => ask_again(why, question),
            Kind::Human => ask_person_again(why),
        });
    }
}

/// The parts of a question that come from the tables.
struct QuestionRow {
    name: Cow<'static, str>,
    kind: StepRowKind,
    state: Cow<'static, str>,
    client: Cow<'static, str>,
    model: Model,
    has_tools: bool,
    is_exact: bool,
}

/// Collects the parts of a question from the tables.
fn asked(tables: &Tables, key: StepKey, client: Option<&str>) -> QuestionRow {
    let row = &tables.steps[key.step.index()];
    let client_row = tables.clients.iter().find(|one| one.name == client.unwrap_or(&row.client));
    let some = |n: u64| (n != 0).then_some(n);
    QuestionRow {
        name: (&row.name).into(),
        kind: row.kind,
        state: (&tables.states[key.leaf.index()].path).into(),
        client: client.map_or_else(|| (&row.client).into(), |client| client.to_owned().into()),
        model: client_row.map_or_else(Model::default, |row| Model {
            model: (&row.model).into(),
            temperature: row.temperature,
            max_tokens: some(row.max_tokens),
            timeout: some(row.timeout),
            options: (&row.options).into(),
            actions: row.actions,
            prices: Prices::of_client(row),
        }),
        has_tools: row.tools.len > 0,
        is_exact: row.is_exact,
    }
}

/// Reads the answer to a question.
///
/// # Errors
/// The reason why the answer is unusable.
pub(crate) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    match question.kind {
        Kind::Llm => llm_outcome(question, text),
        Kind::Ask => ask_outcome(question, text),
        Kind::Human => human_outcome(question, text),
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

/// Replaces settings of a question by those of the agent's record.
fn replace(model: &mut Model, own: &Overrides) {
    if let Some(ChosenModel { name, prices, options }) = &own.llm_model {
        model.model = name.clone().into();
        model.prices = *prices;
        model.options = options.clone().into();
    }
    model.temperature = own.temperature.or(model.temperature);
    model.max_tokens = own.max_tokens.or(model.max_tokens);
}

// `ask` steps: a question whose answer is one of the options that are enabled now.

fn alternatives(machine: &mut dyn Machine, key: StepKey) -> Vec<Alternative> {
    let offers = machine.options(key);
    offers
        .into_iter()
        .map(|offer| {
            let schema = match offer.tool {
                Some(tool) => machine.tool_schema(tool),
                None => machine.argument_schema(offer.choice),
            };
            Alternative { offer, schema }
        })
        .collect()
}

/// The declared tools that are not among the options. An answer that names one is refused as forbidden, not treated as unreadable.
fn forbidden(machine: &dyn Machine, options: &[Alternative]) -> Vec<Alternative> {
    let tools = &machine.tables().tools;
    let offered = |tool: ToolId| options.iter().any(|option| option.offer.tool == Some(tool));
    let rows = tools.iter().enumerate().map(|(i, row)| (ToolId::at(i), &row.name));
    rows.filter(|(tool, _)| !offered(*tool))
        .map(|(tool, name)| Alternative {
            offer: Offer {
                choice: ChoiceId(u32::MAX),
                tool: Some(tool),
                name: name.into(),
                text: Cow::Borrowed(""),
                arguments: Vec::new(),
            },
            schema: String::new(),
        })
        .collect()
}

fn ask_outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let read = if question.is_exact { answer::exact_option } else { answer::option };
    let reading = match read(text, &question.options) {
        Ok(reading) => reading,
        Err(why) => return refused(question, text).ok_or(why),
    };
    let (index, arguments) = reading.meant;
    let offer = &question.options[index].offer;
    Ok(Understood {
        outcome: match offer.tool {
            Some(tool) => Outcome::Call(tool, arguments),
            None => Outcome::Choice(offer.choice, arguments),
        },
        rung: reading.rung,
        repairs: reading.repairs,
    })
}

/// The outcome of an answer that names a tool which may not be called now.
fn refused(question: &Question, text: &str) -> Option<Understood> {
    let reading = answer::option(text, &question.forbidden).ok()?;
    let tool = question.forbidden[reading.meant.0].offer.tool?;
    let outcome = Outcome::Forbidden(tool);
    Some(Understood { outcome, rung: reading.rung, repairs: reading.repairs })
}

fn ask_again(why: &str, question: &Question) -> String {
    let mut text =
        format!("Your last answer could not be used: {why}. Answer with exactly one of:");
    for option in &question.options {
        text.push_str("\n- ");
        text.push_str(&option.offer.name);
        if !option.offer.arguments.is_empty() {
            let arguments: Vec<String> =
                option.offer.arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            text.push_str(&format!("({})", arguments.join(", ")));
        }
    }
    text
}

// `human` steps: a question to a person. The answer is a text, unless the chart declares another type.

fn human_outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let said = text.trim();
    if matches!(question.schema.as_str(), "" | r#"{"type":"string"}"#) {
        // A person's text is taken word for word: cleaning is for what models add.
        let outcome = Outcome::Done(vec![Value::Text(said.to_owned())]);
        return Ok(Understood { outcome, rung: Rung::Whole, repairs: Vec::new() });
    }
    let reading = answer::value(said, &question.schema).map_err(|why| {
        let wanted = question.wanted_of_a_person();
        let why =
            if wanted == question.schema { why.why } else { format!("the answer is {wanted}") };
        Unusable { ambiguous: false, why }
    })?;
    let outcome = Outcome::Done(vec![reading.meant]);
    Ok(Understood { outcome, rung: reading.rung, repairs: reading.repairs })
}

fn ask_person_again(why: &str) -> String {
    format!("That could not be used: {why}.")
}

// `llm` steps: a model call whose answer is an action or a value of the declared type.

fn llm_outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    // With tools, an answer may be a tool call instead of the final answer. A call of a forbidden tool must be recognised, too.
    let has_tools = !question.options.is_empty() || !question.forbidden.is_empty();
    if has_tools && answer::calls(text) {
        return ask_outcome(question, text);
    }
    let reading = answer::value(text, &question.schema)?;
    Ok(Understood {
        outcome: Outcome::Done(vec![reading.meant]),
        rung: reading.rung,
        repairs: reading.repairs,
    })
}

fn ask_model_again(why: &str, question: &Question) -> String {
    let wanted = match question.wanted() {
        "" => "a JSON object with the keys `reasoning` and `action`".to_owned(),
        schema => format!("JSON that fits this schema: {schema}"),
    };
    let tools: Vec<&str> = question.options.iter().map(|o| &*o.offer.name).collect();
    let or = if tools.is_empty() {
        String::new()
    } else {
        format!(", or call one of the tools {}", tools.join(", "))
    };
    format!("Your last answer could not be used: {why}. Answer with nothing but {wanted}{or}")
}

// The part of an `llm` step's prompt about tools: those that may be called, and the calls so far with their results.

/// A tool call of an `llm` step, in the form in which the next prompt shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Used {
    call: String,
    end: Option<End>,
}

/// The end of a tool call. Saved runs store it as the text of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
enum End {
    Returned(String),
    Failed(String),
}

/// The prefix of a result, which distinguishes it from a failure in the stored text.
const RETURNED: &str = " = ";

impl From<End> for String {
    fn from(end: End) -> Self {
        match end {
            End::Returned(value) => format!("{RETURNED}{value}"),
            End::Failed(why) => format!(" failed: {why}"),
        }
    }
}

impl From<String> for End {
    fn from(text: String) -> Self {
        if let Some(value) = text.strip_prefix(RETURNED) {
            return Self::Returned(value.to_owned());
        }
        Self::Failed(text.strip_prefix(" failed: ").unwrap_or(&text).to_owned())
    }
}

impl Used {
    /// Creates a call that is under way.
    pub(crate) fn begun(tool: &str, arguments: &Value) -> Self {
        Self { call: format!("{tool}({})", json(arguments)), end: None }
    }

    /// Sets the result of the call.
    pub(crate) fn ends(&mut self, result: Result<&Value, &str>) {
        self.end = Some(match result {
            Ok(value) => End::Returned(json(value)),
            Err(why) => End::Failed(why.to_owned()),
        });
    }

    /// Changes the result to a failure, unless the call has failed already.
    pub(crate) fn fails(&mut self, why: &str) {
        if !matches!(self.end, Some(End::Failed(_))) {
            self.ends(Err(why));
        }
    }

    /// Whether the call is under way.
    pub(crate) fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The text about tools that follows the step's own prompt.
fn told(tools: &[Alternative], used: &[Used]) -> String {
    let mut text = String::new();
    if !tools.is_empty() {
        text.push_str(
            "\n\nBefore you answer you may call tools, one at a time. To call one, answer with nothing but a JSON object \
             that has its name under `tool` and its arguments under `arguments`; you are asked again with the result.",
        );
        for tool in tools {
            let offer = &tool.offer;
            text.push_str("\n- ");
            text.push_str(&offer.name);
            let arguments = offer.arguments.iter().map(|(name, ty)| format!("{name}: {ty}"));
            text.push_str(&format!("({})", arguments.collect::<Vec<_>>().join(", ")));
            if !offer.text.is_empty() {
                text.push_str(": ");
                text.push_str(&offer.text);
            }
        }
    }
    let mut ended = used.iter().filter_map(|one| Some((&one.call, one.end.as_ref()?))).peekable();
    if ended.peek().is_some() {
        text.push_str("\n\nCalled so far:");
        for (call, end) in ended {
            text.push_str(&format!("\n- {call}{}", String::from(end.clone())));
        }
        if tools.is_empty() {
            text.push_str("\n\nNo further call is possible: answer now.");
        }
    }
    text
}
