//! The declarations that are visible in a chart: those on the top level of its file and of imported files, and its own.

use super::uses::NameKind;
use chartc_text::load::Loaded;
use chartc_text::span::{FileId, Ident, Span};
use chartc_text::syntax::{self, ChartItem, Item, Noted};
use std::collections::BTreeMap;
use std::rc::Rc;

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
