//! Random answers to what a machine has started.

use super::random::{Random, value};
use chartc_core::arena::{ChoiceId, ToolId};
use chartc_core::expr::Value;
use chartc_core::host::Offer;
use chartc_core::machine::{Outcome, StepKey};
use chartc_core::model::{Chart, ChoiceKind, StepKind, Type};

/// What waits for an answer.
pub(crate) struct Open {
    pub(crate) key: StepKey,
    /// The tool, of a call that the model has chosen.
    pub(crate) tool: Option<ToolId>,
    pub(crate) offers: Vec<Offer>,
}

/// An answer of any kind, one that fits most of the time.
pub(crate) fn outcome(chart: &Chart, random: &mut Random, open: &Open) -> Outcome<Vec<Value>> {
    let row = &chart.steps[open.key.step.index()];
    match random.below(20) {
        0 => return Outcome::Unusable,
        1 => return Outcome::Failed(vec![value(random, chart, &Type::Text, 1)]),
        2 => return Outcome::Final(vec![value(random, chart, &Type::Text, 1)]),
        3 => return Outcome::Doubt(vec![Value::Text("in doubt".into())]),
        _ => {}
    }
    let answer = |random: &mut Random, ty: &Type| {
        let ty = if random.one_in(10) { &Type::Json } else { ty };
        Outcome::Done(vec![value(random, chart, ty, 3)])
    };
    if let Some(tool) = open.tool.filter(|_| !random.one_in(20)) {
        return answer(random, &chart.tools[tool.index()].result);
    }
    let is_ask = matches!(row.kind, StepKind::Ask { .. });
    if row.tools.is_some() && !random.one_in(3) {
        // One that is offered, or any: the model of a step may name what it likes.
        let tool = match open.offers.as_slice() {
            [] => None,
            offers => offers[random.below(offers.len())].tool.filter(|_| !random.one_in(8)),
        };
        let tool = tool.unwrap_or_else(|| ToolId::at(random.below(chart.tools.len())));
        return call(chart, random, tool);
    }
    if !is_ask || chart.choices.is_empty() {
        return answer(random, row.one_returns());
    }
    let (choice, tool) = match open.offers.as_slice() {
        offers @ [_, ..] if random.one_in(if chart.tools.is_empty() { 5 } else { 1 }) => {
            let offer = &offers[random.below(offers.len())];
            (offer.choice, offer.tool)
        }
        _ => {
            let choice = ChoiceId::at(random.below(chart.choices.len()));
            let is_tool = !chart.tools.is_empty() && random.one_in(2);
            (choice, is_tool.then(|| ToolId::at(random.below(chart.tools.len()))))
        }
    };
    if let Some(tool) = tool {
        return call(chart, random, tool);
    }
    let fields = match &chart.choices[choice.index()].kind {
        ChoiceKind::Option(fields) => fields.as_slice(),
        ChoiceKind::Call(..) => &[],
    };
    let values = fields.iter().map(|f| value(random, chart, &f.ty, 3)).collect();
    Outcome::Choice(choice, values)
}

fn call(chart: &Chart, random: &mut Random, tool: ToolId) -> Outcome<Vec<Value>> {
    // Few values, so that some come twice in a row.
    let arguments = chart.tools[tool.index()].params.iter().map(|field| {
        let again = field.ty == Type::Text && !random.one_in(4);
        if again { Value::Text("again".into()) } else { value(random, chart, &field.ty, 3) }
    });
    let arguments = arguments.collect();
    let forbidden = random.one_in(12);
    if forbidden { Outcome::Forbidden(tool) } else { Outcome::Call(tool, arguments) }
}
