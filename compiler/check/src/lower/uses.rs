//! Records the meaning of each name while names are resolved, for editors.

use super::Lowered;
use super::context::{Cx, NodeKind};
use chartc_core::arena::{SendId, StepId, TypeId};
use chartc_core::model::{Forward, Receiver, StepKind, Type};
use chartc_text::load::Loaded;
use chartc_text::source::Sources;
use chartc_text::span::{FileId, Ident, Span};
use chartc_text::syntax::Path;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
