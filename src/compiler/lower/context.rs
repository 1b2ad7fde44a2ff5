//! The context of lowering: the chart so far, its spans and names, the visible declarations, the uses of names, and the findings.
//!
//! The problem: all functions that lower parts of a chart need the same things, while they build the chart that they read. An editor also
//! asks what each name means, across charts and files, which the model does not contain. The idea:
//!
//! - `Cx` is the one mutable context of a chart. Tables such as `Cx::nodes` and `Cx::step_nodes` are parallel to those of the model, so the
//!   id of a state or step also leads to its syntax.
//! - `Sight` collects what is visible in a file, once, and `Sight::declarations` adds what a chart declares itself, so that ids follow the
//!   order of the document. A chart of the file hides an imported one with the same name.
//! - While names are resolved, `Cx::record_use` and its siblings note what each one means ([`Use`]), if records are wanted. `Record::close`
//!   adds what connects charts: paths in tests, events that are passed on, imports. It also decides which uses are written as the name
//!   itself, by comparing hashes, so that renaming changes only these.
//! - Suggestions of similar names compare all names, so a chart has only `GUESSES` of them.
//!
//! For example, in
//!
//! ```text
//! event user.message
//! state open { on user.message -> done }
//! ```
//!
//! the line has two uses: `user` means the first segment of the declared name, and `message` the whole event. `Segments` finds both by
//! their prefixes, `user` and `user.message`.

use super::{Lowered, SourceMap};
use crate::front::load::Loaded;
use crate::rules::{duplicate_name, unknown_name};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Ident, Sources, Span};
use crate::syntax::{self, ChartItem, Item, Noted, Path};
use chartc_core::arena::{
    ClientId, EventId, FunctionId, PredicateId, SendId, StateId, StepId, ToolId, ToolSetId, TypeId,
    VarId,
};
use chartc_core::model::{
    Chart, Failure, FailurePolicy, Field, Forward, Receiver, Renamed, Retry, StepKind, Transition,
    Type, TypeDef, TypeKind,
};
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
    pub(super) renamed: Vec<Written<'s>>,
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

/// The records and enums of the language. A chart contains those that it uses; a type of the same name hides them.
pub(super) const BUILT_IN: [&str; 3] = ["Message", "Role", "Image"];

/// The declared names of a chart.
#[derive(Default)]
pub(super) struct Names<'s> {
    pub(super) types: Table<TypeId>,
    /// The types of the language that the chart uses.
    pub(super) built_in: BTreeMap<&'static str, TypeId>,
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
    pub(super) asked: Asked,
}

/// What the questions of a chart show.
#[derive(Default)]
pub(super) struct Asked {
    /// The data of the events that questions are asked on.
    pub(super) data: BTreeMap<StepId, Vec<EventDatum>>,
    /// The values that `asked.x` reads, by the questions that may be the one that was asked.
    pub(super) values: BTreeMap<(Vec<StepId>, String), VarId>,
    /// The variables that prompts read instead of others.
    pub(super) shown: Vec<Shown>,
}

/// A value of an event that a question is asked on.
#[derive(Clone)]
pub(super) struct EventDatum {
    pub(super) name: String,
    pub(super) place: (Span, NameKind),
    /// The variable that keeps it.
    pub(super) variable: VarId,
}

/// A variable that the prompts of questions read instead of another.
pub(super) struct Shown {
    pub(super) questions: Vec<StepId>,
    pub(super) of: VarId,
    pub(super) instead: VarId,
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
            defaults: FailurePolicy { retry: Retry::times(0), then: Failure::Fail },
            history_kept: Some(super::HISTORY_KEPT),
            turns_in_state: None,
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

// The declarations that are visible in a chart: those on the top level of its file and of imported files, and its own.

/// A declaration with its doc comment.
pub(super) struct Declared<'s, T> {
    pub(super) node: T,
    pub(super) doc: &'s str,
    /// Whether the declaration is outside of the chart, so that other charts may see it, too.
    pub(super) shared: bool,
}

/// A record or an enum.
#[derive(Clone, Copy)]
pub(super) enum TypeItem<'s> {
    Record(&'s syntax::Record),
    Enum(&'s syntax::Enum),
}

impl<'s> TypeItem<'s> {
    pub(super) fn name(self) -> &'s Ident {
        match self {
            Self::Record(record) => &record.name,
            Self::Enum(node) => &node.name,
        }
    }

    /// The place of a field or a value, the first with this name.
    pub(super) fn member(self, name: &str) -> Option<(Span, NameKind)> {
        match self {
            Self::Record(record) => {
                let mut fields = record.fields.iter().map(|field| &field.node.name);
                let found = fields.find(|field| field.node == name)?;
                Some((found.span, NameKind::Field))
            }
            Self::Enum(node) => {
                let mut values = node.names.iter().map(|value| &value.node);
                let found = values.find(|value| value.node == name)?;
                Some((found.span, NameKind::Value))
            }
        }
    }
}

/// The declarations that are visible in a chart, in document order; imported files come first.
#[derive(Default)]
pub(super) struct Declarations<'s> {
    pub(super) types: Vec<Declared<'s, TypeItem<'s>>>,
    pub(super) functions: Vec<Declared<'s, &'s syntax::Function>>,
    pub(super) tools: Vec<Declared<'s, &'s syntax::Tool>>,
    pub(super) tool_sets: Vec<Declared<'s, &'s syntax::ToolSet>>,
    pub(super) clients: Vec<Declared<'s, &'s syntax::Client>>,
    pub(super) components: Vec<Declared<'s, &'s syntax::Component>>,
    /// The charts that are visible.
    pub(super) charts: Rc<Charts<'s>>,
}

/// The visible charts in document order, imported ones first.
#[derive(Default)]
pub(super) struct Charts<'s> {
    all: Vec<&'s syntax::Chart>,
    named: BTreeMap<&'s str, Vec<&'s syntax::Chart>>,
}

impl<'s> Charts<'s> {
    /// The charts with this name.
    pub(super) fn named(&self, name: &str) -> &[&'s syntax::Chart] {
        self.named.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names of all charts.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.all.iter().map(|chart| chart.name.node.as_str())
    }
}

/// The items that are visible in the charts of a file, collected once.
pub(super) struct Sight<'s> {
    /// All but charts and tests.
    items: Vec<&'s Noted<Item>>,
    charts: Rc<Charts<'s>>,
    /// The number of items before each chart.
    places: BTreeMap<*const syntax::Chart, usize>,
}

impl<'s> Sight<'s> {
    pub(super) fn new(loaded: &'s Loaded, file: FileId) -> Self {
        let (mut items, mut charts) = (Vec::new(), Charts::default());
        let mut places = BTreeMap::new();
        // The file itself comes last, so that its charts hide imported ones of the same name.
        for id in loaded.imports(file).into_iter().filter(|id| *id != file).chain([file]) {
            for noted in loaded.files.get(id.0 as usize).iter().flat_map(|f| &f.items) {
                match &noted.node {
                    Item::Chart(chart) => {
                        places.insert(std::ptr::from_ref(chart), items.len());
                        charts.named.entry(&chart.name.node).or_default().push(chart);
                        charts.all.push(chart);
                    }
                    Item::Record(_)
                    | Item::Enum(_)
                    | Item::Function(_)
                    | Item::Tool(_)
                    | Item::ToolSet(_)
                    | Item::Client(_)
                    | Item::Component(_) => items.push(noted),
                    Item::Import(_) | Item::Scenario(_) | Item::Bad(_) => {}
                }
            }
        }
        Self { items, charts: Rc::new(charts), places }
    }

    /// The items that are visible in a chart of the file, or in the file itself if no chart is given.
    pub(super) fn declarations(&self, chart: Option<&'s syntax::Chart>) -> Declarations<'s> {
        let mut all = Declarations { charts: self.charts.clone(), ..Declarations::default() };
        let place = chart.and_then(|chart| self.places.get(&std::ptr::from_ref(chart)).copied());
        // The chart's own declarations come between those before and behind it, so that ids follow document order.
        let (before, behind) = self.items.split_at(place.unwrap_or(self.items.len()));
        for noted in before {
            top_level(&mut all, noted);
        }
        if place.is_some() {
            for noted in chart.into_iter().flat_map(|chart| &chart.items) {
                chart_level(&mut all, noted);
            }
        }
        for noted in behind {
            top_level(&mut all, noted);
        }
        all
    }
}

fn top_level<'s>(all: &mut Declarations<'s>, noted: &'s Noted<Item>) {
    let doc = noted.doc.as_str();
    match &noted.node {
        Item::Record(node) => all.types.push(shared(TypeItem::Record(node), doc)),
        Item::Enum(node) => all.types.push(shared(TypeItem::Enum(node), doc)),
        Item::Function(node) => all.functions.push(shared(node, doc)),
        Item::Tool(node) => all.tools.push(shared(node, doc)),
        Item::ToolSet(node) => all.tool_sets.push(shared(node, doc)),
        Item::Client(node) => all.clients.push(shared(node, doc)),
        Item::Component(node) => all.components.push(shared(node, doc)),
        _ => {}
    }
}

fn shared<T>(node: T, doc: &str) -> Declared<'_, T> {
    Declared { node, doc, shared: true }
}

fn chart_level<'s>(all: &mut Declarations<'s>, noted: &'s Noted<ChartItem>) {
    let doc = noted.doc.as_str();
    match &noted.node {
        ChartItem::Function(node) => all.functions.push(own(node, doc)),
        ChartItem::Tool(node) => all.tools.push(own(node, doc)),
        ChartItem::ToolSet(node) => all.tool_sets.push(own(node, doc)),
        ChartItem::Client(node) => all.clients.push(own(node, doc)),
        ChartItem::Component(node) => all.components.push(own(node, doc)),
        _ => {}
    }
}

fn own<T>(node: T, doc: &str) -> Declared<'_, T> {
    Declared { node, doc, shared: false }
}

/// The tests of the requested files, by the place where the name of the tested chart is declared.
pub(super) type Scenarios<'s> = BTreeMap<Span, Vec<&'s syntax::Scenario>>;

/// Collects the tests of the requested files.
pub(super) fn scenarios(loaded: &Loaded) -> Scenarios<'_> {
    let mut found = Scenarios::new();
    for file in loaded.files.iter().filter(|file| loaded.is_root(file.id)) {
        let of_file = |noted: &'_ Noted<Item>| matches!(noted.node, Item::Scenario(_));
        if !file.items.iter().any(of_file) {
            continue;
        }
        let seen = Sight::new(loaded, file.id).charts;
        for noted in &file.items {
            if let Item::Scenario(scenario) = &noted.node
                && let Some(chart) = meant(&seen, file.id, scenario)
            {
                found.entry(chart.name.span).or_default().push(scenario);
            }
        }
    }
    found
}

/// The chart that a test is for. A chart of the same file hides imported ones with its name.
pub(super) fn meant<'s>(
    charts: &Charts<'s>,
    file: FileId,
    scenario: &syntax::Scenario,
) -> Option<&'s syntax::Chart> {
    let named = charts.named(&scenario.chart.node);
    named.iter().find(|c| c.name.span.file == file).or_else(|| named.first()).copied()
}

// Records the meaning of each name while names are resolved, for editors.

/// A name as written, and the name that it means at its declaration.
///
/// A declaration is a use of itself. One place may have several uses: `on user` also means the events `user.message` and
/// `user.cancel`, and a line of an `agent.yaml` may declare a state and a step with one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Use {
    /// The name as written; one segment of a dotted name, without its dots.
    pub at: Span,
    /// The name at its declaration; the start of a file for an `import`.
    pub declared: Span,
    /// The kind of thing that has the name.
    pub kind: NameKind,
    /// Whether the text at `at` is the name, with or without backticks. It is not if a front end made the name, or if the text has escapes.
    pub is_written: bool,
}

/// The kinds of things that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A file that is imported.
    File,
    /// A chart.
    Chart,
    /// A record or an enum.
    Type,
    /// A field of a record.
    Field,
    /// A value of an enum.
    Value,
    /// A param, an input or a var.
    Variable,
    /// An event, or a segment before the last one of its dotted name.
    Event,
    /// A host function: `fn`, `do`.
    Function,
    /// A tool, or a segment before the last one of its dotted name.
    Tool,
    /// A set of tools.
    ToolSet,
    /// A client.
    Client,
    /// A component.
    Component,
    /// A named condition.
    Predicate,
    /// A state, also a parallel, final or history state.
    State,
    /// A step.
    Step,
    /// An option: `may x`.
    Choice,
    /// A field of an event, or a parameter of a function, a tool, an option or a final state.
    Param,
    /// A name that a line, a step, a `for` or a comprehension binds.
    Local,
    /// The id of a `send`.
    SendId,
}

impl<'s> Cx<'s> {
    /// The type of this name that the chart or the language declares, with the place of its declaration in a file.
    pub(super) fn type_of(&mut self, name: &str, span: Span) -> Option<(TypeId, Option<Span>)> {
        if let Some((id, place)) = self.names.types.get(name).copied() {
            return Some((id, Some(place)));
        }
        let known = BUILT_IN.into_iter().find(|known| *known == name)?;
        if let Some(id) = self.names.built_in.get(known) {
            return Some((*id, None));
        }
        let field = |name: &str, ty| Field { name: name.to_owned(), ty, range: None };
        let (doc, kind) = match known {
            "Message" => {
                // A role of another type would be no role.
                if self.names.types.contains_key("Role") {
                    return None;
                }
                let (role, _) = self.type_of("Role", span)?;
                let fields = vec![field("role", Type::Named(role)), field("text", Type::Text)];
                ("A message of a conversation.", TypeKind::Record(fields))
            }
            "Role" => {
                let roles = ["system", "user", "assistant", "tool"];
                ("Who has written a message.", TypeKind::Enum(roles.map(str::to_owned).to_vec()))
            }
            _ => ("A picture.", TypeKind::Record(vec![field("url", Type::Text)])),
        };
        let id = TypeId::at(self.chart.types.len());
        self.chart.types.push(TypeDef { name: known.to_owned(), doc: doc.to_owned(), kind });
        self.map.types.push(span);
        self.names.built_in.insert(known, id);
        Some((id, None))
    }

    /// Records the meaning of a name.
    pub(super) fn record_use(&mut self, at: Span, declared: Span, kind: NameKind) {
        if self.records {
            self.uses.push(used(at, declared, kind));
        }
    }

    /// Records a declaration.
    pub(super) fn record_declaration(&mut self, name: &Ident, kind: NameKind) {
        self.record_use(name.span, name.span, kind);
        self.print(name.span, kind, &name.node);
    }

    /// Records a name that a line, a step, a `for` or a comprehension binds.
    pub(super) fn record_binding(&mut self, name: &Ident, ty: &Type) {
        self.record_declaration(name, NameKind::Local);
        if self.records {
            self.map.bound.push((name.span, ty.clone()));
        }
    }

    fn print(&mut self, declared: Span, kind: NameKind, name: &str) {
        if self.records {
            self.prints.push((declared, kind, print(name)));
        }
    }

    /// Records a declared event.
    pub(super) fn record_event(&mut self, path: &'s Path) {
        if !self.records {
            return;
        }
        let means = self.names.event_segments.declare(&path.names);
        self.segments(&path.names, &means, NameKind::Event);
        self.printed(&path.names, &means, NameKind::Event);
    }

    /// Records a declared tool.
    pub(super) fn record_tool(&mut self, path: &Path) {
        if !self.records {
            return;
        }
        let means = self.names.tool_segments.declare(&path.names);
        self.segments(&path.names, &means, NameKind::Tool);
        self.printed(&path.names, &means, NameKind::Tool);
    }

    /// Records the name of an event, or of a group of events.
    pub(super) fn record_event_use(&mut self, names: &[Ident]) {
        // If nothing is recorded, there are no segments, and nothing is found.
        let means = self.names.event_segments.find(names);
        self.segments(names, &means, NameKind::Event);
    }

    /// Records the name of a tool, or of a group of tools.
    pub(super) fn record_tool_use(&mut self, names: &[Ident]) {
        let means = self.names.tool_segments.find(names);
        self.segments(names, &means, NameKind::Tool);
    }

    fn segments(&mut self, names: &[Ident], means: &[Span], kind: NameKind) {
        let all = names.iter().zip(means);
        self.uses.extend(all.map(|(name, means)| used(name.span, *means, kind)));
    }

    fn printed(&mut self, names: &[Ident], means: &[Span], kind: NameKind) {
        let all = names.iter().zip(means);
        self.prints.extend(all.map(|(name, means)| (*means, kind, print(&name.node))));
    }

    /// Records an option where it is offered. Those with one name are one option to a model and in a trace.
    pub(super) fn record_choice(&mut self, name: &Ident) {
        if !self.records {
            return;
        }
        let declared = *self.names.choices.entry(name.node.clone()).or_insert(name.span);
        self.record_use(name.span, declared, NameKind::Choice);
        self.print(declared, NameKind::Choice, &name.node);
    }

    /// Records the name of an option or a tool, in a test.
    pub(super) fn record_offer_use(&mut self, path: &Path) {
        if let Some(declared) = self.names.choices.get(&path.text()) {
            let declared = *declared;
            self.record_use(path.span, declared, NameKind::Choice);
        } else {
            self.record_tool_use(&path.names);
        }
    }

    /// Records the id of a `send`.
    pub(super) fn record_send_id(&mut self, id: SendId, at: Span, declared: Span) {
        self.record_use(at, declared, NameKind::SendId);
        if self.records {
            let name = print(&self.chart.send_ids[id.index()]);
            self.prints.push((declared, NameKind::SendId, name));
        }
    }

    /// Records the name of a value with which a final state may end.
    pub(super) fn record_result_use(&mut self, name: &Ident) {
        if !self.records {
            return;
        }
        for node in &self.nodes {
            let NodeKind::Final(params, ..) = node.kind else { continue };
            let named = params.iter().find(|param| param.name.node == name.node);
            self.uses.extend(named.map(|param| used(name.span, param.name.span, NameKind::Param)));
        }
    }

    /// Records the field of a record, or the value of an enum.
    pub(super) fn record_member_use(&mut self, ty: TypeId, name: &Ident) {
        if !self.records {
            return;
        }
        let Some(item) = self.type_items.get(ty.index()) else { return };
        if let Some((declared, kind)) = item.member(&name.node) {
            self.record_use(name.span, declared, kind);
        }
    }
}

/// A use for which it is not yet known whether the name is written.
const fn used(at: Span, declared: Span, kind: NameKind) -> Use {
    Use { at, declared, kind, is_written: false }
}

/// A hash by which two names are compared (FNV-1a).
fn print(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |print, byte| {
        (print ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A declared name: its place, its kind and its hash.
pub(super) type Print = (Span, NameKind, u64);

/// The records of charts that are lowered one after the other.
#[derive(Default)]
pub(super) struct Record<'s> {
    /// Whether anything is recorded.
    pub(super) is_kept: bool,
    pub(super) uses: Vec<Use>,
    /// The names that were declared so far.
    pub(super) prints: Vec<Print>,
    /// Names in tests that mean something in a chart that the tested one runs.
    pub(super) inner: Vec<Inner<'s>>,
    /// The names of the events of each chart, by the place of the chart's name.
    pub(super) events: BTreeMap<Span, Vec<&'s Path>>,
}

/// A path such as `a/b/s` in a test to a step of a chart that the tested one runs, with the option that is answered there.
pub(super) struct Inner<'s> {
    /// The place of the tested chart's name.
    pub(super) chart: Span,
    /// The `run` step of the tested chart with which the path begins.
    pub(super) step: StepId,
    /// The names behind the first one.
    pub(super) names: Vec<&'s Ident>,
    /// The option with which the test answers the step.
    pub(super) choice: Option<&'s Path>,
}

impl Record<'_> {
    pub(super) fn new(is_kept: bool) -> Self {
        Self { is_kept, ..Self::default() }
    }

    /// Records the meaning of a name outside of charts.
    pub(super) fn means(&mut self, at: Span, declared: Span, kind: NameKind) {
        if self.is_kept {
            self.uses.push(used(at, declared, kind));
        }
    }

    /// Adds the uses that connect several charts and files, and returns all uses, sorted and without duplicates.
    pub(super) fn close(mut self, loaded: &Loaded, all: &[&Lowered]) -> Vec<Use> {
        let by_name: BTreeMap<Span, &Lowered> =
            all.iter().map(|one| (one.map.name, *one)).collect();
        for inner in std::mem::take(&mut self.inner) {
            self.within(&inner, &by_name);
        }
        for one in all {
            self.passed(one, &by_name);
        }
        for (file, links) in &loaded.links {
            let linked = links.iter().filter(|(_, at)| at.end > at.start && at.file == *file);
            let start = |id: FileId| Span::new(id, 0, 0);
            self.uses.extend(linked.map(|(id, at)| used(*at, start(*id), NameKind::File)));
        }
        for (at, declared) in loaded.files.iter().flat_map(|file| &file.followed) {
            self.uses.push(used(*at, *declared, NameKind::State));
        }
        self.uses.sort_unstable();
        self.uses.dedup();
        self.uses.shrink_to_fit();
        self.compare(&loaded.sources);
        self.uses
    }

    /// Determines for each use whether its text is the declared name.
    fn compare(&mut self, sources: &Sources) {
        // The hash of the name, by declaration; `None` if a front end gives one place to several names.
        let mut names: HashMap<(Span, NameKind), Option<u64>> = HashMap::new();
        for (declared, kind, print) in &self.prints {
            let known = names.entry((*declared, *kind)).or_insert(Some(*print));
            *known = known.filter(|known| known == print);
        }
        let mut is_sorted = true;
        for one in &mut self.uses {
            let name = names.get(&(one.declared, one.kind)).copied().flatten();
            let text = sources.get(one.at.file).slice(one.at);
            let is_name = |text: &str| name.is_some_and(|name| print(text) == name);
            let within = |start: &str, end: &str| {
                text.strip_prefix(start)
                    .and_then(|text| text.strip_suffix(end))
                    .is_some_and(is_name)
            };
            one.is_written = one.kind == NameKind::File || is_name(text) || within("`", "`");
            if one.is_written {
                continue;
            }
            // SCXML: a text of a script that names a state, the target of a `send`.
            for (start, end) in [("'", "'"), ("\"", "\""), ("#_", "")] {
                if within(start, end) {
                    one.is_written = true;
                    one.at.start += start.len() as u32;
                    one.at.end -= end.len() as u32;
                    is_sorted = false;
                    break;
                }
            }
        }
        if !is_sorted {
            self.uses.sort_unstable();
        }
    }

    /// Records the names of a path in a test by following the `run` steps.
    fn within(&mut self, inner: &Inner<'_>, by_name: &BTreeMap<Span, &Lowered>) {
        let mut chart = by_name.get(&inner.chart).copied();
        let mut step = inner.step;
        for name in &inner.names {
            let child = chart.and_then(|chart| by_name.get(&chart.map.step(step).child?).copied());
            let Some(child) = child else { return };
            let Some(nth) = child.chart.steps.iter().position(|s| s.name == name.node) else {
                return;
            };
            step = StepId::at(nth);
            let declared = child.map.step(step).name;
            self.uses.push(used(name.span, declared, NameKind::Step));
            chart = Some(child);
        }
        let (Some(chart), Some(choice)) = (chart, inner.choice) else { return };
        let text = choice.text();
        if let Some(nth) = chart.chart.choices.iter().position(|c| c.name == text) {
            let declared = chart.map.choices[nth];
            self.uses.push(used(choice.span, declared, NameKind::Choice));
        }
    }

    /// Records that events of the same name are one event in charts that pass them to each other.
    fn passed(&mut self, one: &Lowered, by_name: &BTreeMap<Span, &Lowered>) {
        let posts = |one: &Lowered| one.map.posts.iter().any(|post| post.to != Receiver::Own);
        let sends = posts(one);
        let mut joined: BTreeSet<Span> = BTreeSet::new();
        for (step, spans) in one.chart.steps.iter().zip(&one.map.steps) {
            let Some(child) = spans.child.and_then(|child| by_name.get(&child)) else { continue };
            let passes =
                matches!(&step.kind, StepKind::Run(run) if run.forward != Forward::Nothing);
            if !joined.contains(&child.map.name) && (passes || sends || posts(child)) {
                joined.insert(child.map.name);
            }
        }
        if joined.is_empty() {
            return;
        }
        let known = |name: &Span| self.events.get(name).map(Vec::as_slice).unwrap_or_default();
        let own: BTreeMap<String, &Path> =
            known(&one.map.name).iter().map(|path| (path.text(), *path)).collect();
        let mut found = Vec::new();
        for child in joined {
            for path in known(&child) {
                let Some(outer) = own.get(&path.text()) else { continue };
                let all = path.names.iter().zip(&outer.names);
                found.extend(all.map(|(at, to)| used(at.span, to.span, NameKind::Event)));
            }
        }
        self.uses.append(&mut found);
    }
}

/// An earlier name as it is written.
pub(super) struct Written<'s> {
    pub(super) what: Renamed,
    /// The current name.
    pub(super) now: &'s str,
    pub(super) old: &'s Ident,
}

/// Stores the earlier names of a declaration until all names are known.
pub(super) fn note<'s>(cx: &mut Cx<'s>, what: Renamed, now: &'s str, names: &'s [Ident]) {
    cx.renamed.extend(names.iter().map(|old| Written { what, now, old }));
}

/// The segments of dotted names: for each prefix, the place of its last segment in the first name that begins with it.
#[derive(Default)]
pub(super) struct Segments(HashMap<String, Span>);

impl Segments {
    /// Adds a declared name. Returns, for each of its segments, the place where that prefix is declared.
    pub(in crate::lower) fn declare(&mut self, names: &[Ident]) -> Vec<Span> {
        let mut means = Vec::new();
        prefixes(names, |prefix, at| {
            means.push(*self.0.entry(prefix.to_owned()).or_insert(at));
        });
        means
    }

    /// Returns, for each segment of a name, the place where that prefix is declared, up to the first unknown segment.
    pub(in crate::lower) fn find(&self, names: &[Ident]) -> Vec<Span> {
        let mut means = Vec::new();
        prefixes(names, |prefix, _| means.extend(self.0.get(prefix)));
        means
    }
}

fn prefixes(names: &[Ident], mut visit: impl FnMut(&str, Span)) {
    let [first, rest @ ..] = names else { return };
    visit(&first.node, first.span);
    let mut prefix = String::new();
    for name in rest {
        if prefix.is_empty() {
            prefix.push_str(&first.node);
        }
        prefix.push('.');
        prefix.push_str(&name.node);
        visit(&prefix, name.span);
    }
}
