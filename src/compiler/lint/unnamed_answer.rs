//! Answers that the prompt does not name, and words that it offers although nothing handles them.
//!
//! The problem: a prompt is free text, and a model gives the answers that it finds there. The idea: [`answers`] collects the words that a
//! step handles, [`wording`] recognizes the lists of answers in the text by their form, with [`commands`] for the words before a list, and
//! both are compared in lower case. For example:
//!
//! ```text
//! llm judge {
//!   prompt "Is it good? Answer with yes, no or maybe."
//!   returns Text
//!   done if answer == "yes" -> published
//!   done if answer == "reject" -> writing
//! }
//! ```
//!
//! 1. The step handles `yes` and `reject`. Each `done` compares the answer, so any other answer is ignored.
//! 2. `Answer with …` and the `or` in the list make it certain that `yes, no or maybe` lists answers.
//! 3. The prompt does not name `reject`: an unnamed answer. Nothing handles `no` and `maybe`: unmapped answers.

#[cfg(test)]
mod tests;

use super::data::is_yaml;
use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::usage::walk;
use crate::rules::{UNMAPPED_ANSWER, UNNAMED_ANSWER};
use crate::syntax::diagnostic::{Diagnostic, is_one_off, nearest};
use crate::syntax::source::Span;
use chartc_core::arena::{ComponentId, StateId, StepId, TransitionId, TypeId};
use chartc_core::model::{
    Action, Chart, ChoiceKind, CompareOp, Expr, ExprKind, FunctionKind, Observable, Step, StepKind,
    Template, TemplatePart, Trigger, Type, TypeKind, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(super) static LINT: Lint = Lint { rule: &UNNAMED_ANSWER, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let all = mismatches(context.chart, context.facts);
    if context.full_prompts {
        diagnostics.extend(all.iter().filter_map(|found| told(context, found)));
    }
    for found in &all {
        report_unmapped(context, found, diagnostics);
    }
}

/// Reports the answers of a step that its prompt does not name.
fn told(context: &Context<'_>, found: &Mismatch) -> Option<Diagnostic> {
    let Context { chart, map, .. } = context;
    let Mismatch { step, answers, .. } = found;
    let unnamed: Vec<usize> =
        found.unnamed.iter().copied().filter(|n| !is_slip(found, *n)).collect();
    let first = unnamed.first()?;
    let spans = map.step(*step);
    let prompt = spans.prompt.map_or(spans.name, |prompt| place(context, prompt, found));
    let spans_of = |declared| match declared {
        Declared::Transition(transition) => map.transition(transition).whole,
        Declared::Enum(id) => map.types[id.index()],
    };
    let lines = unnamed.iter().map(|n| spans_of(answers[*n].1));
    let unsaid = words::names(unnamed.iter().map(|n| answers[*n].0.as_str()));
    let name = words::step(chart, *step);
    let asks = matches!(chart.steps[step.index()].kind, StepKind::Ask { .. });
    let mut diagnostic = if unnamed.len() == answers.len() {
        let what = if answers.len() == 1 { "its answer" } else { "any of its answers" };
        let found = UNNAMED_ANSWER.at(
            prompt,
            format!(
                "the prompt of `{}` does not name {what}, {unsaid}",
                chart.steps[step.index()].name
            ),
        );
        lines.take(3).fold(found, |found, line| found.related(line, "an answer"))
    } else {
        let found = UNNAMED_ANSWER.at(
            spans_of(answers[*first].1),
            format!("the prompt of {name} does not name its answer {unsaid}"),
        );
        let rest = lines.skip(1).take(3);
        rest.fold(found, |found, line| found.related(line, "nor this one"))
            .related(prompt, "the prompt")
    };
    let all = answers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    let all = if all.len() > 6 { String::new() } else { format!(": {}", all.join(", ")) };
    // Prompts of an `agent.yaml` have no `{options}`.
    let yaml = is_yaml(context);
    diagnostic = diagnostic.help(if asks && !yaml {
        "write `{options}` into the prompt: it lists the answers that are open".to_owned()
    } else {
        format!("name them all in the prompt, such as `Answer with one of{all}`")
    });
    Some(diagnostic)
}

/// The line of the prompt where the list of answers should continue: the last one that names the closest answer before the first unnamed
/// one, or else the last line.
fn place(context: &Context<'_>, prompt: Span, found: &Mismatch) -> Span {
    let source = context.sources.get(prompt.file);
    let Some(text) = source.text.get(prompt.start as usize..prompt.end as usize) else {
        return prompt;
    };
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let says = line.trim().trim_matches('"');
        if !says.is_empty() {
            lines.push((at + line.len() - line.trim_start().len(), line.trim()));
        }
        at += line.len();
    }
    let first = found.unnamed.first().copied().unwrap_or(0);
    let mut before = found.answers[..first].iter().rev().map(|(name, _)| plain(name));
    let listed = before.find_map(|name| lines.iter().rfind(|(_, says)| names(&plain(says), &name)));
    match listed.or(lines.last()) {
        Some((at, says)) => Span {
            start: prompt.start + *at as u32,
            end: prompt.start + (at + says.len()) as u32,
            ..prompt
        },
        None => prompt,
    }
}

/// Whether the prompt offers a similar word. Then the finding about that word covers the answer.
fn is_slip(found: &Mismatch, answer: usize) -> bool {
    let name = plain(&found.answers[answer].0);
    let words: Vec<String> = found.unmapped.iter().flatten().map(|o| plain(&o.word)).collect();
    nearest(&name, words.iter().map(String::as_str)).is_some()
}

// Compares the answers that a step handles with those that its prompt offers.

/// The maximum number of answers that are looked for in a prompt; a step with more is not examined for unnamed ones.
const MOST: usize = 256;

/// A step whose prompt and answers do not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mismatch {
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
enum Declared {
    /// A transition: the option itself, or the outcome that compares the answer with the word.
    Transition(TransitionId),
    /// An enum: the return type of the step, or the type of one of its fields.
    Enum(TypeId),
}

/// A word that a prompt offers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offered {
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
fn mismatches(chart: &Chart, facts: &Facts) -> Vec<Mismatch> {
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
    for actions in chart.bodies() {
        Action::walk(actions, &mut |action| {
            if let Action::Assign(_, value) = action {
                add(value);
            }
        });
    }
    all
}

// The words with which a prompt asks for an answer.

/// Verbs after which the words are answers.
const REPLY: &[&str] = &["answer", "respond", "reply"];

/// Verbs after which the words may be answers.
const CHOICE: &[&str] = &["choose", "say", "pick", "select", "return", "output", "write"];

/// Words that may be between such a verb and the list.
const FILLERS: &[&str] = &[
    "with",
    "only",
    "exactly",
    "just",
    "simply",
    "strictly",
    "one",
    "a",
    "an",
    "the",
    "single",
    "word",
    "words",
    "of",
    "either",
    "these",
    "following",
    "between",
    "from",
    "as",
    "saying",
    "using",
];

/// Words before a verb of [`REPLY`] that make it a noun.
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "your", "this", "that", "its", "their", "his", "her", "my", "our", "each",
    "every", "any", "no", "which", "of",
];

/// Words that forbid what follows.
const NEGATIONS: &[&str] =
    &["not", "don't", "dont", "don’t", "never", "avoid", "without", "nor", "except", "cannot"];

/// Words that may be between a negation and the list, in addition to verbs and [`FILLERS`].
const BETWEEN: &[&str] = &[
    "by",
    "ever",
    "answers",
    "answering",
    "words",
    "like",
    "such",
    "anything",
    "use",
    "in",
    "any",
    "to",
];

/// Words that describe the form of an answer, and so are no answers.
const FORMS: &[&str] = &[
    "json",
    "yaml",
    "xml",
    "html",
    "csv",
    "markdown",
    "text",
    "prose",
    "english",
    "code",
    "briefly",
    "shortly",
    "concisely",
    "honestly",
    "carefully",
    "clearly",
    "politely",
];

/// The certainty that a list contains answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// Nothing indicates that the list contains answers.
    None,
    /// Brackets within a text, or a descriptive verb.
    Aside,
    /// A verb such as `choose`, or brackets at the end of the text.
    Choice,
    /// An unambiguous instruction, such as `answer with a or b`.
    Reply,
}

/// The certainty that the unquoted words after `before` are a list of answers; `None` if nothing introduces such a list. `says_or` tells
/// whether the list contains `or`.
fn leads(before: &str, says_or: bool) -> Option<Lead> {
    let before = before.trim_end().to_lowercase();
    let mut words = back(&before).take(7).skip_while(|word| FILLERS.contains(word));
    let verb = words.next();
    match verb {
        Some(verb) if REPLY.contains(&verb) => {
            let noun = words.next().is_some_and(|word| DETERMINERS.contains(&word));
            return Some(if says_or && !noun { Lead::Reply } else { Lead::Choice });
        }
        Some(verb) if CHOICE.contains(&verb) => return Some(Lead::Choice),
        Some(_) | None => {}
    }
    let listed = ["one of", "either"].iter().any(|w| before.ends_with(w)) || before.ends_with(':');
    let tells = says_or && matches!(verb, Some("is" | "are" | "be"));
    if listed { Some(Lead::None) } else { tells.then_some(Lead::Aside) }
}

/// Whether the text before a list forbids its words.
fn negated(before: &str) -> bool {
    let before = before.to_lowercase();
    let passed =
        |word: &str| [REPLY, CHOICE, FILLERS, BETWEEN].iter().any(|words| words.contains(&word));
    back(&before).find(|word| !passed(word)).is_some_and(|word| NEGATIONS.contains(&word))
}

/// The words of the last clause of the text, the last word first.
fn back(before: &str) -> impl Iterator<Item = &str> {
    let rest = before.trim_end_matches([':', ' ', '(', '[', '"', '\'', '`', '*', '“', '‘']);
    let clause = rest.rsplit(['.', '!', '?', ',', ';', ':']).next().unwrap_or(rest);
    clause.rsplit(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').filter(|w| !w.is_empty())
}

// Recognizes lists of answers in a text: lists in which some items are known answers.

/// Normalizes spelling: lower case, and a space for the `_` and `-` that join the parts of a name.
fn plain(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if matches!(c, '_' | '-') { ' ' } else { c })
        .collect()
}

/// Whether the text contains the name as a whole word; both normalized by [`plain`].
fn names(text: &str, name: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(name).any(|(at, _)| {
        !word(text[..at].chars().next_back()) && !word(text[at + name.len()..].chars().next())
    })
}

/// One word of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedWord<'t> {
    word: &'t str,
    at: Range<usize>,
    quoted: bool,
}

/// The known answers of the question to which a text belongs.
#[derive(Debug, Clone)]
struct KnownAnswers {
    /// The answers, normalized by [`plain`].
    pub words: BTreeSet<String>,
    /// Their share in all answers.
    pub are: Are,
    /// Whether the answers are named only in the text of the prompt.
    pub alone: bool,
}

/// The share of the known answers in all answers that the step handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Are {
    /// The known answers are all answers.
    All,
    /// Some: others may be handled, too.
    Some,
    /// All values of a part of the answer, such as a field.
    Parts,
}

impl KnownAnswers {
    fn has(&self, item: &ListedWord<'_>) -> bool {
        self.words.contains(&plain(item.word))
    }

    /// The words of a list of answers that are not known; none if the list is not one of answers.
    fn missing<'l, 't>(&self, list: &'l List<'t>) -> impl Iterator<Item = &'l ListedWord<'t>> {
        let hits = list.items.iter().filter(|i| self.has(i)).count();
        let others: BTreeSet<String> =
            list.items.iter().filter(|i| !self.has(i)).map(|i| plain(i.word)).collect();
        let about = || {
            hits > 0
                || others.iter().any(|word| self.words.iter().any(|w| is_wording_slip(word, w)))
        };
        let commanded = match list.lead {
            Lead::Reply => true,
            Lead::Choice if list.items.iter().all(|i| i.quoted) => self.alone,
            Lead::Choice => self.alone && about(),
            Lead::Aside | Lead::None => false,
        };
        // A form of answering is no answer: `briefly`, `kindly or firmly`.
        let is_form = || {
            list.items.iter().any(|i| FORMS.contains(&&*plain(i.word)))
                || list.items.iter().all(|i| i.word.ends_with("ly"))
        };
        let counts = match self.are {
            Are::All if list.lead == Lead::Aside => hits > 1 && hits > others.len(),
            Are::All => hits > 0 && hits >= others.len() || commanded && !is_form(),
            Are::Some => false,
            Are::Parts => hits > 1 && hits > others.len(),
        };
        list.items.iter().filter(move |i| counts && !self.has(i))
    }
}

/// A word with its byte range in a text.
type Placed = (String, Range<usize>);

/// The words that the text offers besides known answers, by list; `last` tells that nothing follows the text.
///
/// A list is: quoted words joined by commas or `or`; unquoted words after a colon, `one of`, `either` or a verb that asks for an
/// answer, up to the end of the sentence; words in final brackets; bulleted lines; or values of one key in JSON examples. It
/// counts if at least half of its items are known; always after a verb that tells to answer; and after another verb or in
/// brackets if at least one item is known or nearly so. Lists that a sentence forbids do not count.
fn offered(text: &str, known: &KnownAnswers, last: bool) -> Vec<Vec<Placed>> {
    let mut lists = Vec::new();
    let mut bullets = Vec::new();
    let mut pairs: Vec<(&str, Vec<ListedWord<'_>>)> = Vec::new();
    let mut start = 0;
    let end = if last { text.trim_end().len() } else { usize::MAX };
    for line in text.split('\n') {
        rows(line, start, end, &mut lists);
        values(line, start, &mut pairs);
        bullet(line, start, &mut bullets, &mut lists);
        start += line.len() + 1;
    }
    lists.extend(bullets.into_iter().map(|items| List::plain(items.unwrap_or_default())));
    lists.extend(pairs.into_iter().map(|(_, items)| List::plain(items)));
    let words = |list| -> Vec<Placed> {
        known.missing(list).map(|i| (i.word.to_owned(), i.at.clone())).collect()
    };
    let mut found: Vec<Vec<Placed>> = lists.iter().map(words).collect();
    found.sort_by_key(|list| list.first().map(|(_, at)| at.start));
    let mut told = BTreeSet::new();
    for list in &mut found {
        list.retain(|(word, _)| told.insert(plain(word)));
    }
    found.retain(|list| !list.is_empty());
    found
}

/// Whether two words of at least three letters differ by one edit: an insertion, deletion, substitution or transposition.
fn is_wording_slip(one: &str, other: &str) -> bool {
    one.chars().count().min(other.chars().count()) > 2 && is_one_off(one, other)
}

/// The items of a list, and how the text introduces them.
struct List<'t> {
    items: Vec<ListedWord<'t>>,
    lead: Lead,
}

impl<'t> List<'t> {
    fn plain(items: Vec<ListedWord<'t>>) -> Self {
        Self { items, lead: Lead::None }
    }
}

const QUOTES: &[(&str, &str)] =
    &[("**", "**"), ("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")];

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The word with which the text begins, quoted or not, and its length with the quotation marks. `at` is the offset of the text.
fn word(text: &str, at: usize) -> Option<(ListedWord<'_>, usize)> {
    for (open, close) in QUOTES {
        if let Some(rest) = text.strip_prefix(open) {
            let end = rest.find(|c| !is_name(c))?;
            let inner = &rest[..end];
            let closed = rest[end..].starts_with(close);
            let from = at + open.len();
            let item = ListedWord { word: inner, at: from..from + end, quoted: true };
            return (closed && end > 0).then_some((item, open.len() + end + close.len()));
        }
    }
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let begins = text.starts_with(char::is_alphabetic);
    let item = ListedWord { word: &text[..end], at: at..at + end, quoted: false };
    (end > 0 && begins).then_some((item, end))
}

/// The length of the separator between two items of a list with which the text begins; `None` without one.
fn joint(text: &str) -> Option<usize> {
    let mut rest = text.trim_start_matches(' ');
    let mut joined = false;
    if let Some(after) = rest.strip_prefix([',', '/', '|', ';']) {
        rest = after.trim_start_matches(' ');
        joined = true;
    }
    for and in ["or ", "and ", "OR "] {
        if let Some(after) = rest.strip_prefix(and)
            && (joined || rest.len() < text.len())
        {
            rest = after.trim_start_matches(' ');
            joined = true;
        }
    }
    for article in ["a ", "an ", "the "] {
        rest = rest.strip_prefix(article).filter(|_| joined).unwrap_or(rest);
    }
    joined.then_some(text.len() - rest.len())
}

/// Whether a question mark precedes the final bracket of the text.
fn asks(before: &str) -> bool {
    before.trim_end_matches(['(', '[', ' ']).ends_with('?')
}

/// Collects the lists within one line; `end` is the end of the text without trailing blanks.
fn rows<'t>(line: &'t str, start: usize, end: usize, lists: &mut Vec<List<'t>>) {
    let mut at = 0;
    while at < line.len() {
        // A word begins only where the previous character belongs to none.
        let inside = line[..at].chars().next_back().is_some_and(is_name);
        let first = if inside { None } else { word(&line[at..], start + at) };
        let Some((item, length)) = first else {
            at += line[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let (begin, quoted) = (at, item.quoted);
        let mut items = vec![item];
        at += length;
        let (mut only_or, mut says_or) = (true, false);
        while let Some(gap) = joint(&line[at..]) {
            let Some((next, length)) = word(&line[at + gap..], start + at + gap) else { break };
            // A list does not mix quoted and unquoted words.
            if next.quoted != quoted {
                break;
            }
            let between = line[at..at + gap].to_lowercase();
            only_or &= !between.contains("and");
            says_or |= between.contains(['/', '|']) || between.contains("or ");
            items.push(next);
            at += gap + length;
        }
        if items.len() < 2 || negated(&line[..begin]) {
            continue;
        }
        let rest = line[at..].trim_start();
        let ends = rest.chars().next().is_none_or(|c| ".;)]}\"'`!?".contains(c));
        let bracketed = line[..begin].ends_with(['(', '[']) && rest.starts_with([')', ']']);
        let closes = bracketed
            && start + line.len() - rest[1..].trim_start_matches(['.', '?', ':', '!']).len() >= end;
        let lead = match closes {
            // `Is it so? (yes/no)` asks for one of the words.
            true if says_or && asks(&line[..begin]) => Some(Lead::Reply),
            true => Some(Lead::Choice),
            false if bracketed => Some(Lead::Aside),
            false => leads(&line[..begin], says_or),
        };
        // The items of a sentence with `and` are not alternatives.
        let lead =
            lead.map(|lead| if only_or && ends || lead == Lead::Aside { lead } else { Lead::None });
        if quoted || (ends && lead.is_some()) {
            lists.push(List { items, lead: lead.unwrap_or(Lead::None) });
        }
    }
}

/// Collects the values of `"key": "value"` in an example; a value may list the answers, as in `"a|b"`.
fn values<'t>(line: &'t str, start: usize, pairs: &mut Vec<(&'t str, Vec<ListedWord<'t>>)>) {
    for (colon, _) in line.match_indices("\":") {
        let Some(open) = line[..colon].rfind('"') else { continue };
        let key = &line[open + 1..colon];
        let after = &line[colon + 2..];
        let gap = after.len() - after.trim_start().len();
        let Some(rest) = after.trim_start().strip_prefix('"') else { continue };
        let Some(end) = rest.find('"') else { continue };
        let mut from = start + colon + 2 + gap + 1;
        let mut items = Vec::new();
        for part in rest[..end].split('|') {
            let lead = part.len() - part.trim_start().len();
            let text = part.trim();
            if let Some((item, length)) = word(text, from + lead)
                && length == text.len()
            {
                items.push(item);
            }
            from += part.len() + 1;
        }
        match pairs.iter_mut().find(|(k, _)| *k == key) {
            Some((_, all)) => all.extend(items),
            None => pairs.push((key, items)),
        }
    }
}

/// Collects bulleted lines; a line of another kind ends the list. `None` is a list with an item that is not a word.
fn bullet<'t>(
    line: &'t str,
    start: usize,
    open: &mut Vec<Option<Vec<ListedWord<'t>>>>,
    lists: &mut Vec<List<'t>>,
) {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = if digits.len() < text.len() && digits.starts_with(['.', ')']) {
        text.len() - digits.len() + 1
    } else {
        ["-", "* ", "•"].iter().find(|m| text.starts_with(**m)).map_or(0, |m| m.len())
    };
    if mark == 0 {
        if !text.is_empty() && indent == 0 {
            lists.extend(open.drain(..).flatten().map(List::plain));
        }
        return;
    }
    if open.is_empty() {
        open.push(Some(Vec::new()));
    }
    let rest = text[mark..].trim_start();
    let at = start + line.len() - rest.len();
    let item = word(rest, at).filter(|(item, length)| {
        let after = rest[*length..].trim_start();
        let ends = after.is_empty() || after.starts_with([':', '-', '–', '—', '(', '=']);
        ends && (item.quoted || !after.starts_with(':') || !after[1..].trim().is_empty())
    });
    for list in open.iter_mut() {
        match (&mut *list, &item) {
            (Some(items), Some((item, _))) => items.push(item.clone()),
            (Some(_), None) | (None, _) => *list = None,
        }
    }
}

// Words that a prompt offers as answers and that nothing handles.

/// Reports the words of one step that are none of its answers, a finding for each list.
fn report_unmapped(context: &Context<'_>, mismatch: &Mismatch, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let Mismatch { step, answers, unmapped, .. } = mismatch;
    let name = words::step(chart, *step);
    for list in unmapped {
        let Some(first) = list.first() else { continue };
        let is = if list.len() == 1 { "is" } else { "are" };
        let shown = words::names(list.iter().map(|offered| &offered.word[..]));
        let mut found = UNMAPPED_ANSWER.at(
            place_of_word(context, *step, first),
            format!("{name} offers {shown}, which {is} none of its answers"),
        );
        let all = answers.iter().map(|(name, _)| name.as_str());
        let near = list.iter().find_map(|o| Some((&o.word, nearest(&o.word, all.clone())?)));
        found = found.help(match near {
            Some((_, near)) if list.len() == 1 => format!("did you mean `{near}`?"),
            Some((word, near)) => format!("did you mean `{near}` by `{word}`?"),
            None => format!("its answers are {}", words::names(all)),
        });
        let near = near.map(|(_, near)| near);
        let meant = near.and_then(|near| answers.iter().find(|(name, _)| name == near));
        found = match meant.or_else(|| answers.first()) {
            Some((_, Declared::Transition(transition))) => {
                let what = if meant.is_some() { "this one?" } else { "its answers begin here" };
                found.related(map.transition(*transition).whole, what)
            }
            Some((_, Declared::Enum(id))) => found.related(map.types[id.index()], "its answers"),
            None => found,
        };
        diagnostics.push(found);
    }
}

/// The span of an offered word in the source.
fn place_of_word(
    context: &Context<'_>,
    step: chartc_core::arena::StepId,
    offered: &Offered,
) -> Span {
    let Context { chart, map, sources, .. } = context;
    let row = &chart.steps[step.index()];
    let question = if let StepKind::Human(text) = &row.kind { Some(text) } else { None };
    let (text, parts): (Option<&Template>, _) = match offered.component {
        Some(id) => (Some(&chart.components[id.index()].text), &map.component_parts[id.index()]),
        None => (row.prompt.as_ref().or(question), &map.step(step).prompt_parts),
    };
    match (text.and_then(|t| t.parts.get(offered.part)), parts.get(offered.part)) {
        (Some(TemplatePart::Text(text)), Some(span)) => {
            words::piece(sources, *span, text, &offered.at)
        }
        _ => map.step(step).prompt.unwrap_or(map.step(step).name),
    }
}
