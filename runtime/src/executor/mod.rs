//! What steps ask and what their answers do. `code` runs inside the machine. To add a kind: a file here and an arm in [`question`]
//! and [`outcome`].

mod ask;
mod human;
mod llm;

pub use human::wanted;

use crate::budget::Prices;
use crate::ladder::{Rung, Unusable};
use crate::oracle::{Kind, Model, Question};
use chartc_core::drive::Machine;
use chartc_core::expr::Value;
use chartc_core::machine::{Outcome, StepKey};
use chartc_core::tables::{StepRowKind, Tables};

/// What an answer was read as.
#[derive(Debug, Clone, PartialEq)]
pub struct Understood {
    /// What the machine is told.
    pub outcome: Outcome<Vec<Value>>,
    /// How far down the ladder.
    pub rung: Rung,
    /// What was put right.
    pub repairs: Vec<String>,
}

/// The question of a started step; `client` in place of its own. A model's prompt ends with the host's `section`, and in a re-ask with
/// the `complaint` about its last answer.
///
/// # Errors
/// Why it cannot be put: the prompt cannot be rendered, or this runtime does not know the kind of step.
pub fn question(
    machine: &mut dyn Machine,
    key: StepKey,
    client: Option<&str>,
    (section, complaint): (&str, Option<&str>),
) -> Result<Question, String> {
    let (name, kind, client, state) = {
        let tables = machine.tables();
        let row = &tables.steps[key.step.index()];
        let state = tables.states[key.leaf.index()].path.to_owned();
        (row.name.to_owned(), row.kind, client.unwrap_or(row.client).to_owned(), state)
    };
    let model = model(&machine.tables(), &client);
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
    match kind {
        Kind::Llm | Kind::Human => question.schema = machine.answer_schema(key.step),
        Kind::Ask => {
            question.options = ask::alternatives(machine, key);
            question.forbidden = ask::forbidden(machine, &question.options);
        }
    }
    if kind != Kind::Human && !section.is_empty() {
        prompt.truncate(prompt.trim_end().len());
        prompt.push_str("\n\n");
        prompt.push_str(section);
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

/// What a chart says about a client.
fn model(tables: &Tables<'_>, client: &str) -> Model {
    let some = |n: u64| (n != 0).then_some(n);
    let row = tables.clients.iter().find(|row| row.name == client);
    row.map_or_else(Model::default, |row| Model {
        model: row.model.to_owned(),
        temperature: row.temperature,
        max_tokens: some(row.max_tokens),
        timeout: some(row.timeout),
        prices: Prices { input: row.input_price, output: row.output_price },
    })
}

/// What an answer to `question` means.
///
/// # Errors
/// Why it means nothing.
pub fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    match question.kind {
        Kind::Llm => llm::outcome(question, text),
        Kind::Ask => ask::outcome(question, text),
        Kind::Human => human::outcome(question, text),
    }
}

/// The name of what an outcome chose, and its arguments; `None` for an answer that is a value.
pub fn chosen(question: &Question, outcome: &Outcome<Vec<Value>>) -> Option<(String, Vec<Value>)> {
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
        Outcome::Done(_) | Outcome::Unusable | Outcome::Failed(_) | Outcome::Doubt => return None,
    };
    Some((hit.map(|o| o.offer.name.clone()).unwrap_or_default(), arguments))
}
