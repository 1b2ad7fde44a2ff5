//! Collects the names that a file declares.

use super::Named;
use crate::span::Ident;
use crate::syntax::{
    Chart, ChartItem, EventPattern, File, Function, Item, Line, LineKind, MayKind, Noted, Param,
    Path, Scenario, State, StateItem, StateKind, Step, Tool,
};

/// All declared names, in document order.
pub(super) fn of(file: &File) -> Vec<Named<'_>> {
    let mut found = NameCollector(Vec::new());
    for item in &file.items {
        found.item(&item.node);
    }
    found.0
}

struct NameCollector<'f>(Vec<Named<'f>>);

impl<'f> NameCollector<'f> {
    fn add(&mut self, what: &'static str, name: &'f Ident) {
        self.0.push((what, name));
    }

    fn path(&mut self, what: &'static str, path: &'f Path) {
        self.0.extend(path.names.iter().map(|name| (what, name)));
    }

    fn params(&mut self, what: &'static str, params: &'f [Param]) {
        self.0.extend(params.iter().map(|param| (what, &param.name)));
    }

    fn item(&mut self, item: &'f Item) {
        match item {
            Item::Record(record) => {
                self.add("type", &record.name);
                self.0.extend(record.fields.iter().map(|field| ("field", &field.node.name)));
            }
            Item::Enum(list) => {
                self.add("type", &list.name);
                self.0.extend(list.names.iter().map(|name| ("value", &name.node)));
            }
            Item::Function(function) => self.function(function),
            Item::Tool(tool) => self.tool(tool),
            Item::ToolSet(set) => self.add("set of tools", &set.name),
            Item::Client(client) => self.add("client", &client.name),
            Item::Component(component) => self.add("component", &component.name),
            Item::Chart(chart) => self.chart(chart),
            Item::Scenario(test) => self.scenario(test),
            Item::Import(_) | Item::Bad(_) => {}
        }
    }

    fn function(&mut self, function: &'f Function) {
        self.add("function", &function.name);
        self.params("parameter", &function.params);
    }

    fn tool(&mut self, tool: &'f Tool) {
        self.path("tool", &tool.name);
        self.params("parameter", &tool.params);
    }

    fn scenario(&mut self, test: &'f Scenario) {
        self.add("test", &test.name);
    }

    fn chart(&mut self, chart: &'f Chart) {
        self.add("chart", &chart.name);
        for item in &chart.items {
            match &item.node {
                ChartItem::Variable(variable) => self.add("variable", &variable.name),
                ChartItem::Event(name, fields) => {
                    self.path("event", name);
                    self.params("field", fields);
                }
                ChartItem::Function(function) => self.function(function),
                ChartItem::Tool(tool) => self.tool(tool),
                ChartItem::ToolSet(set) => self.add("set of tools", &set.name),
                ChartItem::Predicate(predicate) => self.add("condition", &predicate.name),
                ChartItem::Client(client) => self.add("client", &client.name),
                ChartItem::Component(component) => self.add("component", &component.name),
                ChartItem::State(item) => self.state_item(item),
                _ => {}
            }
        }
    }

    fn state(&mut self, state: &'f State) {
        self.add("state", &state.name);
        if let StateKind::Final(params, ..) = &state.kind {
            self.params("parameter", params);
        }
        for item in state.body.iter().flat_map(|body| &body.items) {
            self.state_item(&item.node);
        }
    }

    fn state_item(&mut self, item: &'f StateItem) {
        match item {
            StateItem::State(state) => self.state(state),
            StateItem::History(history) => self.add("state", &history.name),
            StateItem::Line(line) => self.line(line),
            StateItem::From(from) => self.lines(&from.lines),
            StateItem::Step(step) => self.step(step),
            _ => {}
        }
    }

    fn lines(&mut self, lines: &'f [Noted<Line>]) {
        for line in lines {
            self.line(&line.node);
        }
    }

    fn line(&mut self, line: &'f Line) {
        match &line.kind {
            LineKind::May(may) => {
                if let MayKind::Option(name, params) = &may.kind {
                    self.add("option", name);
                    self.params("argument", params);
                }
            }
            LineKind::On(EventPattern::Event(_, bound)) => {
                self.0.extend(bound.iter().map(|name| ("name", name)));
            }
            LineKind::On(_) | LineKind::When(_) | LineKind::After { .. } => {}
        }
    }

    fn step(&mut self, step: &'f Step) {
        self.add("step", &step.name);
    }
}
