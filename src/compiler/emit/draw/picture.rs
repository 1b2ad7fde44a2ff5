//! The parts of pictures that do not depend on the format: arrows and their origins, the rows of a state, the words for a transition, and
//! looks.
//!
//! The problem: `dot`, `mermaid` and `outline` write different formats, but must agree on what a chart shows. The idea: this module
//! decides, and they only write:
//!
//! - `Places` decides where an edge starts (`Origin`) and at which node one ends (`PictureNode`). Graphviz cannot end an edge at a
//!   compound, so each compound has a topmost and a lowest node that stand for it.
//! - `arrows` turns transitions into arrows, adds what the `allow` lines say about each, and returns the `allow` lines that no transition
//!   uses.
//! - `Edges` draws arrows with the same ends and the same look as one edge, until its label is too long.
//! - `Rows` has what is listed in a state: blocks, steps, and transitions without a target.
//! - `Look`, `title`, `head` and `parts` give a transition its colour, its sign and its words. A new kind of trigger needs an arm in
//!   `Look::from_trigger`, `head` and `title`.
//!
//! For example, of `state a { on go -> b  on tick { n = n + 1 } }` all formats draw an arrow from `a` to `b` with the words `go`, and list
//! `tick / n = n + 1` as a row in `a`. They differ in how they write a node, an edge and a label.

use crate::emit::Options;
use crate::lower::SourceMap;
use crate::notation;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    Action, BinaryOp, Chart, ChoiceKind, Each, Expr, ExprKind, Failure, Field, Limits, Lost,
    Observable, Otherwise, Starts, State, StateKind, Status, Step, StepKind, ToolLine, Transition,
    Trigger,
};
use std::collections::{BTreeMap, BTreeSet};

// The positions in the picture: the nodes that represent a state, and the states from which a transition starts.

/// A node of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::emit) enum PictureNode {
    /// A state without children.
    State(StateId),
    /// The dot that marks the initial state of a compound.
    Initial(StateId),
    /// `*`: any state of a compound.
    Any(StateId),
}

impl PictureNode {
    pub(in crate::emit) fn name(self) -> String {
        match self {
            Self::State(s) => format!("s{}", s.0),
            Self::Initial(s) => format!("i{}", s.0),
            Self::Any(s) => format!("any{}", s.0),
        }
    }
}

/// The place at which the edge of a transition starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::emit) enum Origin {
    /// The border of a state.
    State(StateId),
    /// The `*` of a compound.
    Any(StateId),
}

/// The positions in the picture of a chart's states, steps and transitions.
pub(in crate::emit) struct Places<'c> {
    pub(in crate::emit) chart: &'c Chart,
    map: &'c SourceMap,
    /// For each state, the node at which an edge from above ends if it is not clipped.
    top: Vec<PictureNode>,
    /// For each state, the node at which an edge from above ends if it is clipped at the state's border. No node in the state is higher, so
    /// the edge's label is not drawn inside the state.
    border: Vec<PictureNode>,
    /// For each state, the node at which an edge from below ends.
    bottom: Vec<PictureNode>,
    /// For each step, the states to which its `if` restricts it.
    homes: Vec<Vec<StateId>>,
}

impl<'c> Places<'c> {
    /// Computes all positions in time linear in the size of the chart.
    pub(in crate::emit) fn new(chart: &'c Chart, map: &'c SourceMap) -> Self {
        let mut top: Vec<PictureNode> = chart.state_ids().map(PictureNode::State).collect();
        let (mut bottom, mut border) = (top.clone(), top.clone());
        // Children come after their parent, so they are placed first.
        for id in (0..chart.states.len()).rev().map(StateId::at) {
            match &chart.state(id).kind {
                StateKind::Compound { initial } => {
                    top[id.index()] = PictureNode::Initial(id);
                    // A history is drawn above its default.
                    let is_history =
                        |c: &StateId| matches!(chart.state(*c).kind, StateKind::History { .. });
                    let history = chart.children(id).find(is_history);
                    border[id.index()] =
                        history.map_or(PictureNode::Initial(id), PictureNode::State);
                    let last =
                        chart.children(id).filter(|c| is_left_by_transitions(chart, *c)).last();
                    // The initial state is drawn below its dot, and so below its siblings.
                    let pushed = initial.iter().copied().find(|s| !is_beside_dot(chart, id, *s));
                    let lowest = pushed.or(last);
                    bottom[id.index()] =
                        lowest.map_or(PictureNode::Initial(id), |c| bottom[c.index()]);
                }
                StateKind::Parallel => {
                    if let Some(first) =
                        chart.children(id).find(|c| is_left_by_transitions(chart, *c))
                    {
                        top[id.index()] = top[first.index()];
                        border[id.index()] = border[first.index()];
                        bottom[id.index()] = bottom[first.index()];
                    }
                }
                StateKind::Atomic | StateKind::Final { .. } | StateKind::History { .. } => {}
            }
        }
        let homes = chart.steps.iter().map(|s| homes(chart, s.state, s.guard.as_ref()).0).collect();
        Self { chart, map, top, border, bottom, homes }
    }

    pub(in crate::emit) fn top(&self, state: StateId) -> PictureNode {
        self.top[state.index()]
    }

    pub(in crate::emit) fn border(&self, state: StateId) -> PictureNode {
        self.border[state.index()]
    }

    pub(in crate::emit) fn bottom(&self, state: StateId) -> PictureNode {
        self.bottom[state.index()]
    }

    /// Whether a state is drawn as a cluster: it has children that are drawn inside.
    pub(in crate::emit) fn is_cluster(&self, state: StateId) -> bool {
        state.0 != 0 && self.top(state) != PictureNode::State(state)
    }

    /// The states whose labels list a step: those that its `if` names, or else its own state.
    pub(in crate::emit) fn homes(&self, step: StepId) -> &[StateId] {
        match self.homes[step.index()].as_slice() {
            // A question about a tool call is shown with the step whose model makes the call.
            _ if self.chart.steps[step.index()].approves.is_some() => &[],
            [] => std::slice::from_ref(&self.chart.steps[step.index()].state),
            homes => homes,
        }
    }

    /// The origins of a transition's edges. For a transition without targets, the states whose labels list it.
    pub(in crate::emit) fn origins(&self, transition: &Transition) -> Vec<Origin> {
        if let Some(scope) = &transition.scope {
            return match scope.any_of.as_slice() {
                [] => vec![Origin::Any(transition.source)],
                any_of => any_of.iter().map(|s| Origin::State(*s)).collect(),
            };
        }
        let states = match transition.trigger.step() {
            Some(step) if self.chart.steps[step.index()].state == transition.source => {
                self.homes(step)
            }
            _ => std::slice::from_ref(&transition.source),
        };
        states.iter().map(|s| self.origin(*s, transition)).collect()
    }

    fn origin(&self, source: StateId, transition: &Transition) -> Origin {
        let has_children = self.top(source) != PictureNode::State(source);
        let goes_inside = transition.targets.iter().any(|t| self.chart.contains(source, t.state));
        if source.0 == 0 || (has_children && goes_inside) {
            Origin::Any(source)
        } else {
            Origin::State(source)
        }
    }

    /// The transitions that come from one `each` line: the first of them, with the state that contains the line, and the set of all others.
    pub(in crate::emit) fn copies(
        &self,
    ) -> (BTreeMap<TransitionId, StateId>, BTreeSet<TransitionId>) {
        let mut first_at = BTreeMap::new();
        let (mut of, mut others) = (BTreeMap::new(), BTreeSet::new());
        for (index, spans) in
            self.map.transitions.iter().enumerate().take(self.chart.transitions.len())
        {
            let id = TransitionId::at(index);
            // Only `after` lines can have an `each`.
            let is_deadline = matches!(
                self.chart.transition(id).trigger,
                Trigger::After(_) | Trigger::AfterTurns(_)
            );
            if !is_deadline {
                continue;
            }
            match first_at.get(&spans.whole) {
                None => {
                    first_at.insert(spans.whole, id);
                }
                Some(first) => {
                    others.insert(id);
                    of.entry(*first).or_insert_with(|| self.writer(*first));
                }
            }
        }
        (of, others)
    }

    /// The innermost ancestor of the transition's source whose text contains the line.
    fn writer(&self, transition: TransitionId) -> StateId {
        let span = self.map.transition(transition).whole;
        let source = self.chart.transition(transition).source;
        let holds = |s: &StateId| {
            self.map
                .states
                .get(s.index())
                .is_some_and(|spans| spans.whole.start <= span.start && span.end <= spans.whole.end)
        };
        self.chart.ancestors(source).find(holds).unwrap_or(StateId(0))
    }
}

/// Whether the dot of a compound is drawn beside its initial state, because a transition leads from that state to a later sibling.
pub(in crate::emit) fn is_beside_dot(chart: &Chart, compound: StateId, initial: StateId) -> bool {
    let is_child = |s: StateId| chart.state(s).parent == Some(compound);
    compound.0 > 0
        && is_child(initial)
        && (chart.state(initial).transitions.iter())
            .flat_map(|t| &chart.transition(*t).targets)
            .any(|t| t.state > initial && is_child(t.state))
}

fn is_left_by_transitions(chart: &Chart, state: StateId) -> bool {
    !matches!(chart.state(state).kind, StateKind::Final { .. } | StateKind::History { .. })
}

/// The states that a guard names in a conjunct `in(a) or in(b)`, if all are descendants of `state`, and the other conjuncts.
pub(in crate::emit) fn homes<'e>(
    chart: &Chart,
    state: StateId,
    guard: Option<&'e Expr>,
) -> (Vec<StateId>, Vec<&'e Expr>) {
    let Some(guard) = guard else { return (Vec::new(), Vec::new()) };
    let mut found = Vec::new();
    let mut rest = Vec::new();
    for conjunct in operands(guard, BinaryOp::And) {
        let states: Option<Vec<StateId>> = operands(conjunct, BinaryOp::Or)
            .into_iter()
            .map(|e| {
                let ExprKind::Observable(Observable::In(s)) = &e.kind else { return None };
                chart.contains(state, *s).then_some(*s)
            })
            .collect();
        match states {
            Some(states) if found.is_empty() => found = states,
            _ => rest.push(conjunct),
        }
    }
    (found, rest)
}

/// The operands of `a op b op c`, in order.
fn operands(expr: &Expr, op: BinaryOp) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        if let ExprKind::Binary(o, left, right) = &next.kind
            && *o == op
        {
            open.extend([&**right, &**left]);
        } else {
            found.push(next);
        }
    }
    found
}

// Turns the transitions of a chart into the arrows of a picture.

/// A transition with a target, drawn from one of its origins.
pub(in crate::emit) struct Arrow {
    pub(in crate::emit) transition: TransitionId,
    pub(in crate::emit) origin: Origin,
    /// Whether it was written once, as an `each` line for every leaf below its state.
    pub(in crate::emit) is_each: bool,
    /// The conditions of the `allow` lines that permit it.
    pub(in crate::emit) permits: Vec<String>,
    /// Whether no `allow` line permits it.
    pub(in crate::emit) is_denied: bool,
}

/// An `allow` line that no transition of the chart uses.
pub(in crate::emit) struct Permit {
    pub(in crate::emit) origin: Origin,
    pub(in crate::emit) target: StateId,
    pub(in crate::emit) guard: Option<String>,
}

/// All transitions with a target, in document order, and the `allow` lines that none of them uses.
pub(in crate::emit) fn arrows(places: &Places<'_>) -> (Vec<Arrow>, Vec<Permit>) {
    let chart = places.chart;
    let table = Table::new(chart);
    let mut arrows = Vec::new();
    let mut driven = BTreeSet::new();
    let (of, copies) = places.copies();
    for (index, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(index);
        if transition.targets.is_empty() || copies.contains(&id) {
            continue;
        }
        let writer = of.get(&id);
        let origins = match writer {
            Some(writer) => {
                let inside = transition.targets.iter().any(|t| chart.contains(*writer, t.state));
                let is_any = writer.0 == 0 || inside;
                vec![if is_any { Origin::Any(*writer) } else { Origin::State(*writer) }]
            }
            None => places.origins(transition),
        };
        for origin in origins {
            let mut arrow = Arrow {
                transition: id,
                origin,
                is_each: writer.is_some(),
                permits: Vec::new(),
                is_denied: false,
            };
            if let Some(table) = table.as_ref().filter(|_| is_bound(transition)) {
                let (Origin::State(source) | Origin::Any(source)) = origin;
                for target in &transition.targets {
                    driven.insert((origin, target.state));
                    arrow.permits.extend(table.condition(source, target.state));
                    arrow.is_denied |= table.forbids(source, target.state);
                }
            }
            arrows.push(arrow);
        }
    }
    (arrows, permits(places, &driven))
}

fn permits(places: &Places<'_>, driven: &BTreeSet<(Origin, StateId)>) -> Vec<Permit> {
    let chart = places.chart;
    let mut permits = Vec::new();
    for permission in &chart.permissions {
        let origin = match permission.from {
            None => Origin::Any(StateId(0)),
            Some(from) if places.is_cluster(from) && chart.contains(from, permission.to) => {
                Origin::Any(from)
            }
            Some(from) => Origin::State(from),
        };
        if !driven.contains(&(origin, permission.to)) {
            let guard = permission.guard.as_ref().map(|g| notation::expression(chart, g));
            permits.push(Permit { origin, target: permission.to, guard });
        }
    }
    permits
}

// The edges of a picture, each for one or more arrows.

/// An edge.
pub(in crate::emit) struct Edge<E> {
    /// Where it starts and ends, and its look.
    pub(in crate::emit) ends: E,
    /// The transitions that the edge shows; none for a permission.
    pub(in crate::emit) transitions: Vec<TransitionId>,
    pub(in crate::emit) label: Vec<String>,
    /// What does not fit into the label.
    pub(in crate::emit) notes: Vec<String>,
}

/// The edges in order. Those with equal ends are joined, as long as their label has no more than `most` parts.
pub(in crate::emit) struct Edges<E> {
    pub(in crate::emit) all: Vec<Edge<E>>,
    last: BTreeMap<E, usize>,
    most: usize,
}

impl<E: Clone + Ord> Edges<E> {
    pub(in crate::emit) const fn new(most: usize) -> Self {
        Self { all: Vec::new(), last: BTreeMap::new(), most }
    }

    pub(in crate::emit) fn add(&mut self, edge: Edge<E>) {
        let like = self.last.get(&edge.ends).map(|nth| &mut self.all[*nth]);
        if let Some(like) = like.filter(|e| e.label.len() + edge.label.len() <= self.most) {
            like.transitions.extend(edge.transitions);
            like.label.extend(edge.label);
            like.notes.extend(edge.notes);
            return;
        }
        self.last.insert(edge.ends.clone(), self.all.len());
        self.all.push(edge);
    }
}

// The transition table (the `allow` lines): the moves that it permits, and their conditions.

/// The permissions of a chart.
pub(in crate::emit) struct Table<'c> {
    chart: &'c Chart,
    /// The targets of the rows from `*`.
    anywhere: BTreeSet<StateId>,
    /// The conditions of the other rows, by target and source; `None` for a row without a condition.
    rows: BTreeMap<(StateId, StateId), Vec<Option<&'c Expr>>>,
}

impl<'c> Table<'c> {
    pub(in crate::emit) fn new(chart: &'c Chart) -> Option<Self> {
        if chart.permissions.is_empty() {
            return None;
        }
        let mut table = Self { chart, anywhere: BTreeSet::new(), rows: BTreeMap::new() };
        for permission in &chart.permissions {
            match permission.from {
                None => {
                    table.anywhere.insert(permission.to);
                }
                Some(from) => {
                    let row = table.rows.entry((permission.to, from)).or_default();
                    row.push(permission.guard.as_ref());
                }
            }
        }
        Some(table)
    }

    /// Whether no row permits a move to `target` from `source`, its ancestors or its descendants.
    pub(in crate::emit) fn forbids(&self, source: StateId, target: StateId) -> bool {
        let end = self.chart.state(source).end;
        !self.anywhere.contains(&target)
            // A subtree is a range of ids, so its rows for one target are a range of keys.
            && self.rows.range((target, source)..(target, end)).next().is_none()
            && !self.chart.ancestors(source).any(|above| self.rows.contains_key(&(target, above)))
    }

    /// The condition under which the rows of exactly this move permit it. `None` if a row permits it without one.
    pub(in crate::emit) fn condition(&self, source: StateId, target: StateId) -> Option<String> {
        let guards = self.rows.get(&(target, source))?;
        if self.anywhere.contains(&target) || guards.iter().any(Option::is_none) {
            return None;
        }
        let guards = guards.iter().flatten().map(|g| notation::expression(self.chart, g));
        Some(guards.collect::<Vec<_>>().join(" or "))
    }
}

/// Whether the transition needs a permission: it is a move by a step, or by the choice of an option.
pub(in crate::emit) fn is_bound(transition: &Transition) -> bool {
    transition.trigger.step().is_some() || matches!(transition.trigger, Trigger::Choice(_))
}

// Looks: one for each kind of transition, and one for each status of a run.

/// The kind of a transition's trigger, as far as the picture distinguishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::emit) enum Look {
    /// An event of the host, or a turn.
    Event,
    /// A condition over data (`when`).
    When,
    /// A deadline.
    Clock,
    /// A choice of the model.
    Choice,
    /// The success of a step.
    Done,
    /// A failure of a step or of the run.
    Error,
    /// The fallback of a question without a usable answer.
    Otherwise,
}

impl Look {
    pub(in crate::emit) const ALL: [(Self, &'static str); 7] = [
        (Self::Event, "host event"),
        (Self::Choice, "the model's choice"),
        (Self::When, "data"),
        (Self::Clock, "clock"),
        (Self::Done, "step done"),
        (Self::Error, "failure"),
        (Self::Otherwise, "no usable answer"),
    ];

    pub(in crate::emit) fn from_trigger(trigger: &Trigger) -> Self {
        match trigger {
            Trigger::Event(_) | Trigger::AnyEvent | Trigger::AnyOccurrence | Trigger::Turn => {
                Self::Event
            }
            Trigger::When => Self::When,
            Trigger::After(_) | Trigger::AfterTurns(_) => Self::Clock,
            Trigger::Choice(_) => Self::Choice,
            Trigger::StateDone(_) | Trigger::StepDone(_) => Self::Done,
            Trigger::StepError(_)
            | Trigger::StepTimeout(..)
            | Trigger::StepDoubt(_)
            | Trigger::Error(_)
            | Trigger::LimitWarn(_) => Self::Error,
            Trigger::StepElse(_) => Self::Otherwise,
        }
    }

    pub(in crate::emit) const fn colour(self) -> &'static str {
        match self {
            Self::Event => "#1e293b",
            Self::When => "#0369a1",
            Self::Clock => "#b45309",
            Self::Choice | Self::Otherwise => "#7c3aed",
            Self::Done => "#15803d",
            Self::Error => "#b91c1c",
        }
    }

    /// Whether the transition starts at a diamond.
    pub(in crate::emit) const fn is_choice(self) -> bool {
        matches!(self, Self::Choice | Self::Otherwise)
    }
}

/// The colours of the fill and the border of a final state.
pub(in crate::emit) const fn final_colours(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Ok => ("#dcfce7", "#15803d"),
        Status::Partial => ("#fef9c3", "#a16207"),
        Status::Stuck => ("#ffedd5", "#c2410c"),
        Status::Limit => ("#fef3c7", "#b45309"),
        Status::Canceled => ("#e2e8f0", "#475569"),
        Status::Error => ("#fee2e2", "#b91c1c"),
    }
}

/// The border of states.
pub(in crate::emit) const BORDER: &str = "#475569";
/// The colour of secondary elements.
pub(in crate::emit) const FAINT: &str = "#94a3b8";
/// The fill of a highlighted state.
pub(in crate::emit) const LIT: &str = "#fde68a";
/// The border of a highlighted state and its ancestors.
pub(in crate::emit) const LIT_BORDER: &str = "#b45309";

/// The ancestors of highlighted states that are not highlighted themselves, without the root.
pub(in crate::emit) fn above(chart: &Chart, lit: &BTreeSet<StateId>) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    for state in lit.iter().filter(|s| s.index() < chart.states.len()) {
        for above in chart.ancestors(*state).skip(1).take_while(|s| s.0 > 0) {
            if !found.insert(above) {
                // Its own ancestors were found before.
                break;
            }
        }
    }
    found.retain(|s| !lit.contains(s));
    found
}

// The rows in a state, below its name: blocks, steps, and the transitions without a target.

/// The maximum number of characters of an action block or of advice.
pub(in crate::emit) const LONGEST_BLOCK: usize = 76;

/// A row: an optional emphasised word, and the text after it.
pub(in crate::emit) struct LabelRow {
    pub(in crate::emit) word: &'static str,
    /// The look of the word; `None` for a faint word.
    pub(in crate::emit) look: Option<Look>,
    pub(in crate::emit) text: String,
    /// Whether the row is a step for each element of a list.
    pub(in crate::emit) is_many: bool,
}

fn row(word: &'static str, look: Option<Look>, text: String) -> LabelRow {
    LabelRow { word, look, text, is_many: false }
}

/// The bounds of a step for each element, as far as they differ from the defaults.
fn bounds(each: &Each) -> String {
    let mut parts = Vec::new();
    if each.most != Each::MOST {
        parts.push(format!("up to {}", each.most));
    }
    if let Some(enough) = each.enough {
        parts.push(format!("enough {enough}"));
    }
    if each.at_a_time != Each::AT_A_TIME {
        parts.push(format!("{} at a time", each.at_a_time));
    }
    match each.lost {
        Lost::Fail => {}
        Lost::Skip => parts.push("else skip".to_owned()),
        Lost::None => parts.push("else none".to_owned()),
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The rows of every state, in document order.
pub(in crate::emit) struct Rows {
    rows: Vec<Vec<LabelRow>>,
}

impl Rows {
    pub(in crate::emit) fn new(places: &Places<'_>) -> Self {
        let chart = places.chart;
        let mut rows: Vec<Vec<LabelRow>> =
            chart.states.iter().map(|s| blocks(chart, s, LONGEST_BLOCK)).collect();
        for index in 0..chart.steps.len() {
            for home in places.homes(StepId::at(index)) {
                let guard = |g: &str| format!(" [{}]", short(g, LONGEST_BLOCK));
                rows[home.index()].push(step(chart, StepId::at(index), guard));
            }
        }
        let (of, copies) = places.copies();
        for (index, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(index);
            // A transition with targets is an edge. Of the transitions of an `each` line only the first is listed.
            if !transition.targets.is_empty() || copies.contains(&id) {
                continue;
            }
            let look = Look::from_trigger(&transition.trigger);
            let mut text = title(chart, transition);
            if let Some(guard) = self::guard(chart, transition) {
                text.push_str(&format!(" [{guard}]"));
            }
            if !transition.actions.is_empty() {
                text.push_str(&format!(" / {}", actions(chart, transition)));
            }
            let word = if of.contains_key(&id) { "each" } else { "" };
            let at = of.get(&id).map(|s| vec![Origin::State(*s)]);
            for origin in at.unwrap_or_else(|| places.origins(transition)) {
                let (Origin::State(state) | Origin::Any(state)) = origin;
                rows[state.index()].push(row(word, Some(look), short(&text, LONGEST_BLOCK)));
            }
        }
        Self { rows }
    }

    pub(in crate::emit) fn at(&self, state: StateId) -> &[LabelRow] {
        &self.rows[state.index()]
    }
}

/// The rows of entry and exit actions, deferred events, advice and limits. The texts have at most `long` characters.
pub(in crate::emit) fn blocks(chart: &Chart, state: &State, long: usize) -> Vec<LabelRow> {
    let mut rows = Vec::new();
    for (word, blocks) in [("enter", &state.entry), ("exit", &state.exit)] {
        for block in blocks {
            let text = joined(chart, block, &[]);
            rows.push(row(word, None, short(&text, long)));
        }
    }
    if !state.default_actions.is_empty() {
        let word =
            if matches!(state.kind, StateKind::History { .. }) { "first" } else { "initial" };
        let text = joined(chart, &state.default_actions, &[]);
        rows.push(row(word, None, short(&text, long)));
    }
    if !state.defers.is_empty() {
        let events = state.defers.iter().map(|id| notation::path(&chart.events[id.index()].name));
        rows.push(row("defer", None, short(&events.collect::<Vec<_>>().join(", "), long)));
    }
    if let Some(advice) = &state.advice {
        let text = notation::template(chart, advice, &[]);
        rows.push(row("advice", None, short(&text, long)));
    }
    let limits = limits(chart, &state.limits);
    if !limits.is_empty() {
        rows.push(row("limits", None, limits));
    }
    rows
}

fn limits(chart: &Chart, limits: &Limits) -> String {
    let part = |(kind, most, warn): (LimitKind, Option<String>, Option<String>)| {
        let computed = |is_soft: bool| {
            let found = limits.computed.iter().find(|c| c.kind == kind && c.is_soft == is_soft);
            found.map(|limit| notation::expression(chart, &limit.value))
        };
        let warn = warn.or_else(|| computed(true)).map(|w| format!(" warn {w}"));
        let most = most.or_else(|| computed(false))?;
        Some(format!("{} {most}{}", kind.name(), warn.unwrap_or_default()))
    };
    let count = |n: Option<i64>| n.map(|n| n.to_string());
    let cost = |c: Option<f64>| c.map(|c| format!("{c:?}"));
    let time = |t: Option<u64>| t.map(notation::duration);
    let parts = [
        (LimitKind::Calls, count(limits.calls), count(limits.calls_warn)),
        (LimitKind::Tokens, count(limits.tokens), count(limits.tokens_warn)),
        (LimitKind::Cost, cost(limits.cost), cost(limits.cost_warn)),
        (LimitKind::Time, time(limits.time), time(limits.time_warn)),
        (LimitKind::Turns, count(limits.turns), count(limits.turns_warn)),
    ];
    parts.into_iter().filter_map(part).collect::<Vec<_>>().join("  ")
}

/// The words after the name of an `ask`, with a leading blank each.
fn asks(chart: &Chart, step: &Step) -> String {
    let StepKind::Ask { always, otherwise } = &step.kind else { return String::new() };
    let mut text = String::new();
    if step.is_exact {
        text.push_str(" exact");
    }
    text.push_str(if step.is_on_event() { "" } else { " on turn" });
    text.push_str(&events(chart, step));
    if *always {
        text.push_str(" always");
    }
    if matches!(otherwise, Otherwise::Stay) {
        text.push_str(" else stay");
    }
    text
}

/// The events that start a step, with a leading blank.
fn events(chart: &Chart, step: &Step) -> String {
    match &step.starts {
        Starts::OnEvent(events) => format!(" on {}", notation::event_pattern(chart, events)),
        Starts::InTurn | Starts::OnEntry => String::new(),
    }
}

/// The row of a step, without its outcomes. `guard` writes its condition.
pub(in crate::emit) fn step(chart: &Chart, id: StepId, guard: impl Fn(&str) -> String) -> LabelRow {
    let step = &chart.steps[id.index()];
    let state = step.state;
    let mut name = notation::name(&step.name);
    if !matches!(step.kind, StepKind::Ask { .. }) {
        name.push_str(&events(chart, step));
    }
    if let Some(each) = &step.each {
        let list = notation::expression(chart, &each.list);
        name.push_str(&format!(" each {} in {list}", notation::name(&each.local.name)));
    }
    let (word, look, mut text) = match &step.kind {
        StepKind::Llm => ("llm", Some(Look::Done), name),
        StepKind::Code(_) => ("code", None, name),
        StepKind::Call(tool, _) => {
            ("call", Some(Look::Done), format!("{name} {}", chart.tools[tool.index()].name))
        }
        StepKind::Human(_) => ("human", Some(Look::Done), name),
        StepKind::Run(run) => {
            let entry = if step.starts == Starts::OnEntry { " at entry" } else { "" };
            ("run", Some(Look::Done), format!("{name} {}{entry}{}", run.chart, run.forward.words()))
        }
        StepKind::Ask { .. } => ("ask", Some(Look::Choice), name + &asks(chart, step)),
    };
    let is_home = state.0 == 0 || !matches!(chart.state(state).kind, StateKind::Atomic);
    let (_, rest) = if is_home {
        homes(chart, state, step.guard.as_ref())
    } else {
        (Vec::new(), step.guard.iter().collect())
    };
    if !rest.is_empty() {
        let rest: Vec<String> = rest.iter().map(|e| conjunct(chart, e, rest.len())).collect();
        text.push_str(&guard(&rest.join(" and ")));
    }
    let is_ask = matches!(step.kind, StepKind::Ask { .. });
    text.push_str(&step.each.as_ref().map_or(String::new(), bounds));
    // The chart's own default is not repeated at each step.
    if step.failure.then == Failure::Skip && step.failure != chart.defaults && !is_ask {
        text.push_str(" (skip on failure)");
    }
    if let Some(tools) = step.tools {
        text.push_str(&format!(" (tools {})", chart.tool_sets[tools.set.index()].name));
    }
    text.extend(step.tool_lines.iter().map(|line| tool_line(chart, line)));
    let always = chartc_core::model::ExprKind::Bool(true);
    if step.ends_turn.as_ref().is_some_and(|e| e.kind == always) {
        text.push_str(" (ends turn)");
    }
    LabelRow { is_many: step.each.is_some(), ..row(word, look, text) }
}

/// What a `tool` line says, in parentheses: `(fs.write up to 3 if ready)`, `(fs.write human)`.
fn tool_line(chart: &Chart, line: &ToolLine) -> String {
    let tools = line.tools.iter().map(|tool| chart.tools[tool.index()].name.as_str());
    let mut text = format!(" ({}", tools.collect::<Vec<_>>().join(" | "));
    if let Some(most) = line.most {
        text.push_str(&format!(" up to {most}"));
    }
    let guard = line.guard.as_ref().and_then(|guard| {
        if line.most.is_none() {
            return Some(guard);
        }
        // The first conjunct is the bound.
        let ExprKind::Binary(BinaryOp::And, _, rest) = &guard.kind else { return None };
        Some(&**rest)
    });
    if let Some(guard) = guard {
        text.push_str(&format!(
            " if {}",
            short(&notation::expression(chart, guard), LONGEST_BLOCK)
        ));
    }
    if line.asks.is_some() {
        text.push_str(" human");
    }
    text + ")"
}

fn conjunct(chart: &Chart, expr: &Expr, of: usize) -> String {
    let text = notation::expression(chart, expr);
    // These bind more loosely than the `and` between the conjuncts.
    let is_or = matches!(
        &expr.kind,
        chartc_core::model::ExprKind::Binary(chartc_core::model::BinaryOp::Or, ..)
            | chartc_core::model::ExprKind::If(..)
    );
    if of > 1 && is_or { format!("({text})") } else { text }
}

/// The names of a final state's parameters in parentheses; empty without one.
pub(in crate::emit) fn params(params: &[Field]) -> String {
    let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) }
}

/// For each name, the number of states that have it.
pub(in crate::emit) fn names(chart: &Chart) -> BTreeMap<&str, u32> {
    let mut names = BTreeMap::new();
    for state in chart.states.iter().skip(1) {
        *names.entry(state.name.as_str()).or_default() += 1;
    }
    names
}

/// The maximum depth of indentation. Deeper nesting is not indented further, so that the text stays linear in the size of the chart.
pub(in crate::emit) const INDENT: usize = 12;

pub(in crate::emit) fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(INDENT) + 1)
}

// Wraps and shortens texts.

/// The number of characters in a line of a label, as far as the words permit.
pub(in crate::emit) const WIDTH: usize = 30;

/// The first paragraph of a documentation text, on one line.
pub(in crate::emit) fn paragraph(doc: &str) -> String {
    let lines: Vec<&str> = doc.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Wraps the text at blanks into lines of about `width` characters. An operator starts a line instead of ending one. A word is split only
/// if it is longer than two lines.
pub(in crate::emit) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let mut unit = word.to_owned();
        if is_operator(word)
            && let Some(next) = words.next()
        {
            unit.push(' ');
            unit.push_str(next);
        }
        for piece in pieces(&unit, 2 * width) {
            let size = piece.chars().count();
            if length > 0 && length + 1 + size > width {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(piece);
            length += size;
        }
    }
    if length > 0 || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Whether the word is an operator, which belongs to the word after it.
fn is_operator(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "not"
            | "in"
            | "div"
            | "=="
            | "!="
            | "<"
            | "<="
            | ">"
            | ">="
            | "="
            | "+"
            | "-"
            | "*"
            | "/"
            | "%"
            | "??"
    )
}

fn pieces(word: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(i, _)| i);
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

/// The first `size` characters, followed by `…` if the text is longer.
pub(in crate::emit) fn short(text: &str, size: usize) -> String {
    match text.char_indices().nth(size) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_string(),
    }
}

// Writes a transition in words: the label of its edge, or its row in a state's label.

/// The maximum number of characters of an action block on an edge. The tooltip shows the whole block.
const LONGEST_EDGE_BLOCK: usize = 58;

/// The keyword of the transition's trigger, and the text after it.
pub(in crate::emit) fn head(chart: &Chart, transition: &Transition) -> (&'static str, String) {
    let step = |s: &StepId| notation::name(notation::step_name(chart, *s));
    match &transition.trigger {
        Trigger::Event(events) => {
            let payload = notation::payload(transition);
            let pattern = notation::event_pattern(chart, events);
            let text = if payload.is_empty() {
                pattern
            } else {
                format!("{pattern}({})", payload.join(", "))
            };
            ("on", text)
        }
        Trigger::AnyEvent => ("on", "*".to_string()),
        Trigger::AnyOccurrence => ("on", "**".to_string()),
        Trigger::Turn => ("on", "turn".to_string()),
        Trigger::When => {
            let guard = transition.guard.as_ref().map(|g| notation::expression(chart, g));
            ("when", guard.unwrap_or_else(|| "true".to_string()))
        }
        Trigger::StateDone(state) => {
            ("on", format!("done({})", notation::path(&chart.state(*state).path)))
        }
        Trigger::After(time) => ("after", notation::expression(chart, time)),
        Trigger::AfterTurns(n) => ("after", format!("{} turns", notation::expression(chart, n))),
        Trigger::Choice(choice) => {
            let choice = &chart.choices[choice.index()];
            let name = notation::name(&choice.name);
            let text = match &choice.kind {
                ChoiceKind::Option(fields) if fields.is_empty() => name,
                ChoiceKind::Option(fields) => {
                    let fields: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                    format!("{name}({})", fields.join(", "))
                }
                ChoiceKind::Call(..) => format!("call {}", notation::path(&choice.name)),
            };
            ("may", text)
        }
        Trigger::StepDone(s) => ("done", step(s)),
        Trigger::StepError(s) => ("error", step(s)),
        Trigger::StepTimeout(s, time) => {
            ("timeout", format!("{} {}", step(s), notation::expression(chart, time)))
        }
        Trigger::StepDoubt(s) => ("doubt", step(s)),
        Trigger::StepElse(s) => ("else", step(s)),
        Trigger::Error(pattern) => ("on", chartc_core::wording::error_event(pattern)),
        Trigger::LimitWarn(pattern) => ("on", format!("limit.warn.{pattern}")),
    }
}

/// The trigger in a few words and signs, such as `◷ after 5s`.
pub(in crate::emit) fn title(chart: &Chart, transition: &Transition) -> String {
    let (word, text) = head(chart, transition);
    match &transition.trigger {
        Trigger::Event(_) | Trigger::StateDone(_) | Trigger::Error(_) | Trigger::LimitWarn(_) => {
            text
        }
        Trigger::AnyEvent
        | Trigger::AnyOccurrence
        | Trigger::Turn
        | Trigger::When
        | Trigger::Choice(_) => format!("{word} {text}"),
        Trigger::After(_) | Trigger::AfterTurns(_) => format!("◷ {word} {text}"),
        Trigger::StepDone(_) => format!("✓ {text}"),
        Trigger::StepError(_) => format!("✗ {text}"),
        Trigger::StepTimeout(..) => format!("◷ {text}"),
        Trigger::StepDoubt(_) => format!("doubt({text})"),
        Trigger::StepElse(_) => format!("else ({text})"),
    }
}

/// The guard. `None` for a `when` transition, whose title shows it.
pub(in crate::emit) fn guard(chart: &Chart, transition: &Transition) -> Option<String> {
    if transition.trigger == Trigger::When {
        return None;
    }
    let payload = notation::payload(transition);
    transition.guard.as_ref().map(|g| notation::expression_in(chart, g, &payload))
}

/// The actions of a transition.
pub(in crate::emit) fn actions(chart: &Chart, transition: &Transition) -> String {
    joined(chart, &transition.actions, &notation::payload(transition))
}

/// Joins actions with more than blanks, because a picture wraps its text at blanks.
pub(in crate::emit) fn joined(chart: &Chart, actions: &[Action], payload: &[&str]) -> String {
    notation::joined(chart, actions, payload, "; ")
}

/// The description of the option for the model, if the transition is an option.
pub(in crate::emit) fn told(chart: &Chart, transition: &Transition) -> Option<String> {
    let Trigger::Choice(choice) = &transition.trigger else { return None };
    let text = chart.choices[choice.index()].text.as_ref()?;
    Some(notation::template_text(chart, text, &[]))
}

/// All parts of an arrow's label; each starts a new line. `denied` says that no `allow` line permits the arrow.
pub(in crate::emit) fn parts(
    chart: &Chart,
    arrow: &Arrow,
    options: &Options,
    denied: &str,
) -> Vec<String> {
    let transition = chart.transition(arrow.transition);
    let each = if arrow.is_each { "each " } else { "" };
    let mut parts = vec![format!("{each}{}", title(chart, transition))];
    if let Some(text) = told(chart, transition) {
        parts.push(format!("“{}”", short(&text, 2 * WIDTH)));
    }
    if let Some(guard) = guard(chart, transition) {
        parts.push(format!("[{guard}]"));
    }
    let except = excepted(chart, transition);
    if !except.is_empty() {
        parts.push(format!("except {}", except.join(" | ")));
    }
    if !transition.actions.is_empty() {
        parts.push(format!("/ {}", short(&actions(chart, transition), LONGEST_EDGE_BLOCK)));
    }
    parts.extend(arrow.permits.iter().map(|condition| format!("allow [{condition}]")));
    if arrow.is_denied {
        parts.push(denied.to_owned());
    }
    parts.extend(options.times(arrow.transition).map(|times| format!("{times}×")));
    parts
}

/// The states after `except` of a `from` line, without those in which the line does not apply anyway: its targets and final states.
pub(in crate::emit) fn excepted(chart: &Chart, transition: &Transition) -> Vec<String> {
    let Some(scope) = &transition.scope else { return Vec::new() };
    (scope.none_of.iter())
        .filter(|s| !transition.targets.iter().any(|t| t.state == **s))
        .filter(|s| !matches!(chart.state(**s).kind, StateKind::Final { .. }))
        .map(|s| chart.state(*s).path.clone())
        .collect()
}

/// The whole transition in one line, as in a chart, but with the signs of [`title`].
pub(in crate::emit) fn whole(chart: &Chart, transition: &Transition) -> String {
    let mut text = title(chart, transition);
    if let Some(guard) = guard(chart, transition) {
        text.push_str(&format!(" if {guard}"));
    }
    let targets: Vec<&str> =
        transition.targets.iter().map(|t| chart.state(t.state).path.as_str()).collect();
    text.push_str(&format!(" -> {}", targets.join(", ")));
    if !transition.actions.is_empty() {
        text.push_str(&format!(" {{ {} }}", actions(chart, transition)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraph_over_several_lines() {
        assert_eq!(paragraph("Asks, and\nasks again.\n\nMore."), "Asks, and asks again.");
        assert_eq!(paragraph(""), "");
    }

    #[test]
    fn lines_break_at_blanks_and_long_words_at_two_lines() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("é".repeat(5).as_str(), 2), ["éééé", "é"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("aaaa >= bb", 7), ["aaaa", ">= bb"]);
        assert_eq!(short("äbc", 2), "äb…");
    }
}
