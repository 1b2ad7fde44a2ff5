//! Compares the answers that a step handles with those that its prompt offers.

use crate::facts::Facts;
use crate::facts::uses::{walk, written};
use crate::lint::unnamed_answer::wording::{Are, KnownAnswers, names, offered, plain};
use chartc_core::arena::{ComponentId, StateId, StepId, TransitionId, TypeId};
use chartc_core::model::{
    Action, Chart, ChoiceKind, CompareOp, Expr, ExprKind, FunctionKind, Observable, Step, StepKind,
    Template, TemplatePart, Trigger, Type, TypeKind, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The maximum number of answers that are looked for in a prompt; a step with more is not examined for unnamed ones.
const MOST: usize = 256;

/// A step whose prompt and answers do not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub step: StepId,
    /// The answers that it handles.
    pub answers: Vec<(String, Declared)>,
    /// The indices of the answers that the prompt does not name.
    pub unnamed: Vec<usize>,
    /// The words that the prompt offers and that are no answers, by list.
    pub unmapped: Vec<Vec<Offered>>,
}

/// The construct that makes a word an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    /// A transition: the option itself, or the outcome that compares the answer with the word.
    Transition(TransitionId),
    /// An enum: the return type of the step, or the type of one of its fields.
    Enum(TypeId),
}

/// A word that a prompt offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    /// The word as written.
    pub word: String,
    /// The component that contains it; `None` is the step's own prompt.
    pub component: Option<ComponentId>,
    /// The index of the part of that text.
    pub part: usize,
    /// The byte range of the word in the part.
    pub at: Range<usize>,
}

/// Finds the steps that have an answer that the prompt does not name, or whose prompt offers a word that is no answer.
pub(super) fn mismatches(chart: &Chart, facts: &Facts) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let mut offers = Offers::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        if matches!(transition.trigger, Trigger::Choice(_)) {
            offers.entry(transition.source).or_default().push(TransitionId::at(i));
        }
    }
    let mut told: Option<String> = None;
    let mut injected: BTreeMap<StepId, Vec<ComponentId>> = BTreeMap::new();
    for (i, component) in chart.components.iter().enumerate() {
        for insert in &component.inserts {
            injected.entry(insert.step).or_default().push(ComponentId::at(i));
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let question = if let StepKind::Human(text) = &step.kind { Some(text) } else { None };
        let Some(prompt) = step.prompt.as_ref().or(question) else { continue };
        let components = injected.get(&id).into_iter().flatten();
        let texts: Vec<(Option<ComponentId>, &Template)> = std::iter::once((None, prompt))
            .chain(components.map(|c| (Some(*c), &chart.components[c.index()].text)))
            .collect();
        for Closed { answers, are } in closed(chart, facts, id, &offers) {
            // The schema of an enum answer is sent to the model together with the prompt.
            let is_typed = matches!(answers[0].1, Declared::Enum(_));
            let says_more = texts.iter().any(|(_, text)| may_say_more(chart, text));
            let unnamed = if is_typed || answers.len() > MOST || says_more {
                Vec::new()
            } else {
                let mut said: String = texts.iter().map(|(_, text)| words(chart, text)).collect();
                said.push_str(told.get_or_insert_with(|| set_texts(chart)));
                let named = |(name, _): &(String, Declared)| names(&said, &plain(name));
                (0..answers.len()).filter(|n| !named(&answers[*n])).collect()
            };
            let words = answers.iter().map(|(name, _)| plain(name)).collect();
            let known = KnownAnswers { words, are, alone: !says_more };
            let mut unmapped = Vec::new();
            for (component, text) in &texts {
                let last = text.parts.len().saturating_sub(1);
                for (part, piece) in text.parts.iter().enumerate() {
                    if let TemplatePart::Text(piece) = piece {
                        let place = |(word, at)| Offered { word, component: *component, part, at };
                        let lists = offered(piece, &known, part == last).into_iter();
                        unmapped.extend(lists.map(|l| l.into_iter().map(place).collect()));
                    }
                }
            }
            if !unnamed.is_empty() || !unmapped.is_empty() {
                found.push(Mismatch { step: id, answers, unnamed, unmapped });
            }
        }
    }
    found
}

/// The `may` transitions by source.
type Offers = BTreeMap<StateId, Vec<TransitionId>>;

/// A set of words that a step handles as answers; never empty.
struct Closed {
    answers: Vec<(String, Declared)>,
    are: Are,
}

/// The sets of words that the step handles, each as an answer or as a field of one.
fn closed(chart: &Chart, facts: &Facts, id: StepId, offers: &Offers) -> Vec<Closed> {
    let step = &chart.steps[id.index()];
    let mut sets = match &step.kind {
        StepKind::Ask { .. } => {
            vec![Closed { answers: options(chart, facts, id, offers), are: Are::All }]
        }
        StepKind::Llm | StepKind::Human(_) if step.returns == Type::Text => {
            let (answers, closed) = compared(chart, step, id);
            vec![Closed { answers, are: if closed { Are::All } else { Are::Some } }]
        }
        StepKind::Llm | StepKind::Human(_) => enums(chart, &step.returns),
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(..) => Vec::new(),
    };
    sets.retain(|set| !set.answers.is_empty());
    sets
}

/// The enums of an answer of this type: the type itself, or those of its fields if it is a record.
fn enums(chart: &Chart, ty: &Type) -> Vec<Closed> {
    let of_enum = |id: TypeId, are| match &chart.types[id.index()].kind {
        TypeKind::Enum(values) => {
            let answers = values.iter().map(|v| (v.clone(), Declared::Enum(id))).collect();
            Some(Closed { answers, are })
        }
        TypeKind::Record(_) => None,
    };
    match ty {
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(_) => of_enum(*id, Are::All).into_iter().collect(),
            TypeKind::Record(fields) => {
                let named = fields
                    .iter()
                    .filter_map(|f| if let Type::Named(id) = f.ty { Some(id) } else { None });
                let once: BTreeSet<TypeId> = named.collect();
                once.into_iter().filter_map(|id| of_enum(id, Are::Parts)).collect()
            }
        },
        _ => Vec::new(),
    }
}

/// The options that may be offered where the question is asked; tools by their names.
fn options(chart: &Chart, facts: &Facts, step: StepId, offers: &Offers) -> Vec<(String, Declared)> {
    let mut transitions = BTreeSet::new();
    for top in &facts.scopes.step(step).within {
        let above = chart.ancestors(*top).filter_map(|s| offers.get(&s)).flatten();
        let below = offers.range(*top..StateId(chart.state(*top).end.0)).flat_map(|(_, l)| l);
        transitions.extend(above.chain(below).copied());
    }
    let mut answers = Vec::new();
    for transition in transitions {
        let Trigger::Choice(choice) = chart.transition(transition).trigger else { continue };
        match &chart.choices[choice.index()].kind {
            ChoiceKind::Option(_) => {
                answers.push((
                    chart.choices[choice.index()].name.clone(),
                    Declared::Transition(transition),
                ));
            }
            ChoiceKind::Call(set, _) => {
                let tools = chart.tools_of(*set).into_iter();
                let line = Declared::Transition(transition);
                answers.extend(tools.map(|t| (chart.tools[t.index()].name.clone(), line)));
            }
        }
    }
    // Several states may offer an option of the same name.
    let mut once = BTreeSet::new();
    answers.retain(|(name, _)| once.insert(name.clone()));
    answers
}

/// The texts with which the outcomes of a step compare its answer, and whether each outcome for `done` compares it.
fn compared(chart: &Chart, of: &Step, step: StepId) -> (Vec<(String, Declared)>, bool) {
    let mut answers = Vec::new();
    let mut closed = true;
    for id in &of.outcomes {
        let transition = chart.transition(*id);
        if transition.trigger != Trigger::StepDone(step) {
            continue;
        }
        let before = answers.len();
        if let Some(guard) = &transition.guard {
            walk(chart, guard, &mut |e| {
                if let ExprKind::Compare(left, rest) = &e.kind
                    && let [(CompareOp::Equal, right)] = rest.as_slice()
                    && is_answer(left, of, step)
                    && let ExprKind::Text(text) = &right.kind
                    && let Some(text) = text.literal()
                {
                    answers.push((text.to_owned(), Declared::Transition(*id)));
                }
            });
        }
        // An outcome without such a comparison handles any other answer.
        closed &= answers.len() > before;
    }
    (answers, closed)
}

/// Whether the expression is the answer itself, or the variable that has just received it.
fn is_answer(expr: &Expr, of: &Step, step: StepId) -> bool {
    matches!(expr.kind, ExprKind::Answer(of) if of == step)
        || matches!(expr.kind, ExprKind::Variable(id) if of.into == Some(id))
        || matches!(expr.kind, ExprKind::Payload(0))
}

/// Whether a text may name answers that are not written in it: it lists the options, shows the result of a host function, or shows a value
/// of the host whose name suggests instructions.
fn may_say_more(chart: &Chart, text: &Template) -> bool {
    const TELLING: &[&str] = &[
        "prompt",
        "instruction",
        "option",
        "choice",
        "answer",
        "format",
        "schema",
        "rule",
        "menu",
    ];
    text.parts.iter().any(|part| match part {
        TemplatePart::Options | TemplatePart::Bad(_) => true,
        TemplatePart::Text(_) => false,
        TemplatePart::Hole { expr, .. } => {
            let mut more = false;
            walk(chart, expr, &mut |e| {
                if let ExprKind::Call(function, _) = e.kind {
                    let kind = &chart.functions[function.index()].kind;
                    more |= matches!(kind, FunctionKind::Pure { .. });
                }
                if let ExprKind::Variable(id) = e.kind {
                    let row = &chart.variables[id.index()];
                    let name = row.name.to_lowercase();
                    let given = !matches!(row.kind, VariableKind::Var { .. });
                    more |= given && TELLING.iter().any(|word| name.contains(word));
                }
            });
            more
        }
    })
}

/// All words of a text, including those in its placeholders and in the advice that it shows.
fn words(chart: &Chart, text: &Template) -> String {
    let mut all = String::new();
    for part in &text.parts {
        match part {
            TemplatePart::Text(text) | TemplatePart::Bad(text) => all.push_str(&plain(text)),
            TemplatePart::Options => {}
            TemplatePart::Hole { expr, .. } => {
                let mut advised = false;
                walk(chart, expr, &mut |e| {
                    literals(e, &mut all);
                    advised |= matches!(e.kind, ExprKind::Observable(Observable::Advice));
                });
                if advised {
                    for advice in chart.states.iter().filter_map(|s| s.advice.as_ref()) {
                        all.extend(advice.parts.iter().map(|p| match p {
                            TemplatePart::Text(text) => plain(text),
                            TemplatePart::Options
                            | TemplatePart::Bad(_)
                            | TemplatePart::Hole { .. } => " ".into(),
                        }));
                    }
                }
                all.push(' ');
            }
        }
    }
    all
}

fn literals(expr: &Expr, all: &mut String) {
    if let ExprKind::Text(text) = &expr.kind {
        for part in &text.parts {
            if let TemplatePart::Text(text) = part {
                all.push(' ');
                all.push_str(&plain(text));
                all.push(' ');
            }
        }
    }
}

/// The texts that are initial or assigned values of variables, which a prompt may show.
fn set_texts(chart: &Chart) -> String {
    let mut all = String::from(" ");
    let mut add = |expr| walk(chart, expr, &mut |e| literals(e, &mut all));
    chart.variables.iter().filter_map(|v| v.default.as_ref()).for_each(&mut add);
    for actions in written(chart) {
        Action::walk(actions, &mut |action| {
            if let Action::Assign(_, value) = action {
                add(value);
            }
        });
    }
    all
}
