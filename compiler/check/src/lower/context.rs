//! The context of lowering: the chart so far, its spans, its names, and the findings.

use super::SourceMap;
use super::items::{Charts, TypeItem};
use super::segments::Segments;
use super::uses::{Inner, Print, Use};
use chartc_core::arena::{
    ClientId, EventId, FunctionId, PredicateId, SendId, StateId, StepId, ToolId, ToolSetId, TypeId,
    VarId,
};
use chartc_core::model::{Chart, Failure, FailurePolicy, Transition, Type};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::{duplicate_name, unknown_name};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The maximum number of suggestions of similar names for a chart, because each compares all names.
const GUESSES: u32 = 50;

/// The state of lowering one chart.
pub(super) struct Cx<'s> {
    pub(super) chart: Chart,
    pub(super) map: SourceMap,
    /// The syntax of each state, parallel to `chart.states`.
    pub(super) nodes: Vec<StateSource<'s>>,
    /// The children of each state by name; of those with the same name, the first.
    pub(super) children: HashMap<(StateId, &'s str), StateId>,
    /// The syntax of each step, parallel to `chart.steps`.
    pub(super) step_nodes: Vec<StepNode<'s>>,
    pub(super) names: Names<'s>,
    pub(super) findings: Vec<Diagnostic>,
    /// `-> T` of `defaults`: every step that uses it gets its own transition.
    pub(super) default_target: Option<&'s syntax::Target>,
    /// Whether a state, line or step of the source is not in the model.
    pub(super) dropped: bool,
    /// The names of undeclared variables that may be suggested for an unknown name.
    pub(super) supplied: &'s [&'static str],
    /// The charts that are visible in this one.
    pub(super) charts: Rc<Charts<'s>>,
    guesses: u32,
    /// The number of conditions in each named condition, with those that it uses expanded; parallel to `chart.predicates`.
    pub(super) lengths: Vec<u32>,
    /// The sum of the lengths of the conditions named since this was last set to 0.
    pub(super) length: u32,
    /// The state that was last asked for its final children, with these children.
    pub(super) finals: Option<(StateId, Vec<StateId>)>,
    /// The number of copies made of `each after` lines.
    pub(super) copies: usize,
    /// The `renamed_from` clauses, as written.
    pub(super) renamed: Vec<super::renamed::Written<'s>>,
    /// The ids of events that some `send` uses.
    pub(super) sent: BTreeSet<SendId>,
    /// The ids that a `cancel` names, each with its place.
    pub(super) canceled: Vec<(SendId, Span)>,
    /// The ids that a `send` gives, each with its place.
    pub(super) ids: Vec<(SendId, Span)>,
    /// Whether the meanings of names are recorded, which only editors need.
    pub(super) records: bool,
    /// The meanings of the names that were resolved so far.
    pub(super) uses: Vec<Use>,
    /// The names that are declared so far.
    pub(super) prints: Vec<Print>,
    /// Names in tests that mean something in a chart that this one runs.
    pub(super) inner: Vec<Inner<'s>>,
    /// The syntax of each type, parallel to `chart.types`.
    pub(super) type_items: Vec<TypeItem<'s>>,
    /// The syntax of each tool, parallel to `chart.tools`.
    pub(super) tool_items: Vec<&'s syntax::Tool>,
    /// The name of each event as written, parallel to `chart.events`.
    pub(super) event_paths: Vec<&'s syntax::Path>,
}

/// Declared names, each with its id and the place of its declaration.
pub(super) type Table<Id> = BTreeMap<String, (Id, Span)>;

/// The declared names of a chart.
#[derive(Default)]
pub(super) struct Names<'s> {
    pub(super) types: Table<TypeId>,
    pub(super) variables: Table<VarId>,
    pub(super) predicates: Table<PredicateId>,
    pub(super) functions: Table<FunctionId>,
    pub(super) events: Table<EventId>,
    pub(super) tools: Table<ToolId>,
    pub(super) tool_sets: Table<ToolSetId>,
    pub(super) clients: Table<ClientId>,
    pub(super) steps: Table<StepId>,
    pub(super) send_ids: BTreeMap<String, SendId>,
    pub(super) event_segments: Segments,
    pub(super) tool_segments: Segments,
    /// The place of the first option with each name.
    pub(super) choices: HashMap<String, Span>,
    /// Names of variables and conditions that are declared further down.
    pub(super) later: BTreeMap<&'s str, Span>,
}

/// The syntax of a state.
pub(super) struct StateSource<'s> {
    pub(super) kind: NodeKind<'s>,
    pub(super) items: Vec<BodyItem<'s>>,
    /// Transitions that are copied to every leaf below; filled when the state is lowered.
    pub(super) each: Vec<(Transition, super::TransitionSpans)>,
    /// The nearest state with such transitions: this one or an ancestor.
    pub(super) each_above: Option<StateId>,
}

/// The keyword that begins the state.
#[derive(Clone, Copy)]
pub(super) enum NodeKind<'s> {
    Root,
    State,
    Parallel,
    Final(&'s [syntax::Param], &'s [Option<syntax::Expr>], Option<&'s Ident>),
    History(&'s syntax::History),
}

/// An item in the body of the chart or of a state.
#[derive(Clone, Copy)]
pub(super) struct BodyItem<'s> {
    pub(super) doc: &'s str,
    pub(super) span: Span,
    pub(super) item: &'s syntax::StateItem,
}

/// The syntax of a step.
#[derive(Clone, Copy)]
pub(super) struct StepNode<'s> {
    pub(super) step: &'s syntax::Step,
    /// Whether the next item cannot be read, and may be the rest of the step.
    pub(super) is_cut: bool,
}

impl Cx<'_> {
    pub(super) fn new(name: &Ident, doc: &str, records: bool) -> Self {
        let chart = Chart {
            name: name.node.clone(),
            doc: doc.to_owned(),
            meta: Vec::new(),
            types: Vec::new(),
            variables: Vec::new(),
            events: Vec::new(),
            functions: Vec::new(),
            tools: Vec::new(),
            tool_sets: Vec::new(),
            predicates: Vec::new(),
            clients: Vec::new(),
            components: Vec::new(),
            states: Vec::new(),
            transitions: Vec::new(),
            choices: Vec::new(),
            steps: Vec::new(),
            send_ids: Vec::new(),
            permissions: Vec::new(),
            calls_per_turn: Some(1),
            defaults: FailurePolicy { retries: 0, then: Failure::Fail },
            history_kept: Some(super::HISTORY_KEPT),
            checks: Vec::new(),
            reads_amounts: false,
            renames: Vec::new(),
            alternative_texts: BTreeMap::new(),
        };
        let map = SourceMap { file: name.span.file, name: name.span, ..SourceMap::default() };
        Self {
            chart,
            map,
            nodes: Vec::new(),
            children: HashMap::new(),
            step_nodes: Vec::new(),
            names: Names::default(),
            findings: Vec::new(),
            default_target: None,
            dropped: false,
            supplied: &[],
            charts: Rc::default(),
            guesses: 0,
            lengths: Vec::new(),
            length: 0,
            finals: None,
            copies: 0,
            renamed: Vec::new(),
            sent: BTreeSet::new(),
            canceled: Vec::new(),
            ids: Vec::new(),
            records,
            uses: Vec::new(),
            prints: Vec::new(),
            inner: Vec::new(),
            type_items: Vec::new(),
            tool_items: Vec::new(),
            event_paths: Vec::new(),
        }
    }

    pub(super) fn report(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// Reports a name that is not declared; `known` are the names it may have meant.
    pub(super) fn unknown<'k>(
        &mut self,
        what: &str,
        name: &str,
        span: Span,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        let finding = unknown_name::unknown(what, name, span, self.take_guess().then_some(known));
        self.report(finding);
    }

    /// Whether the budget for suggestions of similar names is not used up.
    pub(super) fn can_guess(&self) -> bool {
        self.guesses < GUESSES
    }

    /// Takes one suggestion of similar names from the budget; `false` if none is left.
    pub(super) fn take_guess(&mut self) -> bool {
        self.guesses += 1;
        self.guesses <= GUESSES
    }

    /// The name of a type with its article, in backticks.
    pub(super) fn a(&self, ty: &Type) -> String {
        let name = self.type_name(ty);
        let vowel = name.starts_with(['A', 'E', 'I', 'O', 'U']);
        format!("{} `{name}`", if vowel { "an" } else { "a" })
    }

    /// The name of a type as a chart writes it.
    pub(super) fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "Bool".into(),
            Type::Int => "Int".into(),
            Type::Float => "Float".into(),
            Type::Text => "Text".into(),
            Type::Duration => "Duration".into(),
            Type::Json => "Json".into(),
            Type::List(item) => format!("List({})", self.type_name(item)),
            Type::Map(value) => format!("Map(Text, {})", self.type_name(value)),
            Type::Optional(inner) => format!("{}?", self.type_name(inner)),
            Type::Named(id) => {
                self.chart.types.get(id.index()).map_or_else(String::new, |t| t.name.clone())
            }
        }
    }
}

/// Declares a name, or reports that it is taken. Returns whether it was free.
pub(super) fn declare<Id>(
    findings: &mut Vec<Diagnostic>,
    table: &mut Table<Id>,
    what: &str,
    name: &str,
    span: Span,
    id: Id,
) -> bool {
    if let Some((_, first)) = table.get(name) {
        findings.push(duplicate_name::twice(what, name, span, *first));
        return false;
    }
    table.insert(name.to_owned(), (id, span));
    true
}
