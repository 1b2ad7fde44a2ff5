//! Edges: what makes a line taken, where it goes, and how that looks.

use super::allow::{Table, is_bound};
use super::place::{Node, Origin, Places};
use super::style::{FAINT, Look};
use super::text::{WIDTH, label, quoted, short, wrap};
use crate::notation;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Action, Chart, ChoiceKind, Transition, Trigger};
use std::collections::BTreeSet;

/// Characters of an action block on an edge before it is cut; the tooltip has it whole.
const LONG: usize = 58;

/// What makes the line a candidate, in a few words.
pub(super) fn title(chart: &Chart, line: &Transition) -> String {
    let step = |s: &chartc_core::arena::StepId| notation::name(notation::step_name(chart, *s));
    match &line.trigger {
        Trigger::Event(events) => {
            let payload = notation::payload(chart, &line.trigger);
            let pattern = notation::event_pattern(chart, events);
            if payload.is_empty() { pattern } else { format!("{pattern}({})", payload.join(", ")) }
        }
        Trigger::AnyEvent => "on *".to_string(),
        Trigger::Turn => "on turn".to_string(),
        Trigger::When => match &line.guard {
            Some(guard) => format!("when {}", notation::expression(chart, guard)),
            None => "when true".to_string(),
        },
        Trigger::StateDone(state) => {
            format!("done({})", notation::path(&chart.state(*state).path))
        }
        Trigger::After(time) => format!("◷ after {}", notation::expression(chart, time)),
        Trigger::AfterTurns(n) => format!("◷ after {} turns", notation::expression(chart, n)),
        Trigger::Choice(choice) => {
            let choice = &chart.choices[choice.index()];
            match &choice.kind {
                ChoiceKind::Option(fields) if fields.is_empty() => {
                    format!("may {}", notation::name(&choice.name))
                }
                ChoiceKind::Option(fields) => {
                    let fields: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                    format!("may {}({})", notation::name(&choice.name), fields.join(", "))
                }
                ChoiceKind::Call(..) => format!("may call {}", notation::name(&choice.name)),
            }
        }
        Trigger::StepDone(s) => format!("✓ {}", step(s)),
        Trigger::StepError(s) => format!("✗ {}", step(s)),
        Trigger::StepTimeout(s, time) => {
            format!("◷ {} {}", step(s), notation::expression(chart, time))
        }
        Trigger::StepDoubt(s) => format!("doubt({})", step(s)),
        Trigger::StepElse(s) => format!("else ({})", step(s)),
        Trigger::Error(pattern) => format!("error.{pattern}"),
        Trigger::LimitWarn(pattern) => format!("limit.warn.{pattern}"),
    }
}

/// The guard; none for a `when` line, whose title it is.
pub(super) fn guard(chart: &Chart, line: &Transition) -> Option<String> {
    if line.trigger == Trigger::When {
        return None;
    }
    let payload = notation::payload(chart, &line.trigger);
    line.guard.as_ref().map(|g| notation::expression_in(chart, g, &payload))
}

/// The line's actions.
pub(super) fn actions(chart: &Chart, line: &Transition) -> String {
    joined(chart, &line.actions, &notation::payload(chart, &line.trigger))
}

/// Actions in a row: a picture wraps lines at blanks, so it takes more than blanks to keep them apart.
pub(super) fn joined(chart: &Chart, actions: &[Action], payload: &[&str]) -> String {
    actions.iter().map(|a| notation::action(chart, a, payload)).collect::<Vec<_>>().join("; ")
}

/// All lines of an edge's label.
fn lines(chart: &Chart, line: &Transition, is_each: bool) -> Vec<String> {
    let each = if is_each { "each " } else { "" };
    let mut lines = wrap(&format!("{each}{}", title(chart, line)), WIDTH);
    if let Trigger::Choice(choice) = &line.trigger
        && let Some(text) = &chart.choices[choice.index()].text
    {
        let text = notation::template_text(chart, text, &[]);
        lines.extend(wrap(&format!("“{}”", short(&text, 2 * WIDTH)), WIDTH));
    }
    if let Some(guard) = guard(chart, line) {
        lines.extend(wrap(&format!("[{guard}]"), WIDTH));
    }
    let except = excepted(chart, line);
    if !except.is_empty() {
        lines.extend(wrap(&format!("except {}", except.join(" | ")), WIDTH));
    }
    if !line.actions.is_empty() {
        lines.extend(wrap(&format!("/ {}", short(&actions(chart, line), LONG)), WIDTH));
    }
    lines
}

/// States that a `from` line leaves out, other than its targets and final children of its scope.
fn excepted(chart: &Chart, line: &Transition) -> Vec<String> {
    use chartc_core::model::StateKind;
    let Some(scope) = &line.scope else { return Vec::new() };
    (scope.none_of.iter())
        .filter(|s| !line.targets.iter().any(|t| t.state == **s))
        .filter(|s| !matches!(chart.state(**s).kind, StateKind::Final { .. }))
        .map(|s| chart.state(*s).path.clone())
        .collect()
}

/// Edges as they are written, and what they told about the picture on the way.
pub(super) struct Arrows<'c> {
    /// Lines of DOT.
    pub(super) text: String,
    /// Compounds that need a `*`.
    pub(super) any: BTreeSet<StateId>,
    /// From where to where something moves the chart that `allow` lines bind.
    driven: BTreeSet<(Origin, StateId)>,
    table: Option<Table<'c>>,
}

impl<'c> Arrows<'c> {
    /// Every line that goes anywhere, in order, then the `allow` lines that nothing follows.
    pub(super) fn of(places: &Places<'c>) -> Self {
        let mut arrows = Self {
            text: String::new(),
            any: BTreeSet::new(),
            driven: BTreeSet::new(),
            table: Table::of(places.chart),
        };
        let (of, copies) = places.copies();
        for (index, line) in places.chart.transitions.iter().enumerate() {
            let id = TransitionId::at(index);
            if line.targets.is_empty() || copies.contains(&id) {
                continue;
            }
            match of.get(&id) {
                Some(writer) => {
                    let inside =
                        line.targets.iter().any(|t| places.chart.contains(*writer, t.state));
                    let is_any = writer.0 == 0 || inside;
                    let origin = if is_any { Origin::Any(*writer) } else { Origin::State(*writer) };
                    arrows.line(places, id, origin, true);
                }
                None => {
                    for origin in places.origins(line) {
                        arrows.line(places, id, origin, false);
                    }
                }
            }
        }
        arrows.permissions(places);
        arrows
    }

    fn line(&mut self, places: &Places<'_>, id: TransitionId, origin: Origin, is_each: bool) {
        let chart = places.chart;
        let line = chart.transition(id);
        let look = Look::of(&line.trigger);
        let mut colour = look.colour();
        let mut lines = lines(chart, line, is_each);
        let mut style = if look == Look::Otherwise { "dotted" } else { "solid" };
        if line.scope.as_ref().is_some_and(|s| s.wildcard) {
            style = "dashed";
        }
        let mut is_denied = false;
        if let Some(table) = self.table.as_ref().filter(|_| is_bound(line)) {
            let (Origin::State(source) | Origin::Any(source)) = origin;
            is_denied = line.targets.iter().any(|t| table.forbids(source, t.state));
            for target in &line.targets {
                self.driven.insert((origin, target.state));
                if let Some(condition) = table.condition(source, target.state) {
                    lines.extend(wrap(&format!("allow [{condition}]"), WIDTH));
                }
            }
        }
        if is_denied {
            lines.push("denied: no allow line".to_string());
            style = "dashed";
            colour = Look::Error.colour();
        }
        let mut edge = Edge {
            attributes: format!(
                "label={}, color=\"{colour}\", fontcolor=\"{colour}\", style={style}, tooltip={}",
                label(&lines),
                quoted(&tooltip(chart, line)),
            ),
            head: if is_denied { "tee" } else { "normal" },
            tail: if look.is_choice() { "odiamond" } else { "none" },
        };
        if let [target] = line.targets.as_slice() {
            self.edge(places, origin, target.state, &edge);
            return;
        }
        let fork = format!("f{}", id.0);
        self.text.push_str(&format!(
            "  {fork} [shape=box, style=filled, fillcolor=\"{colour}\", color=\"{colour}\", label=\"\", width=0.5, height=0.05, fixedsize=true];\n"
        ));
        edge.head = "none";
        let (start, ltail) = self.start(places, origin, false);
        let (start, ends, ltail) = (start.name(), edge.ends(false), clip("ltail", ltail));
        self.text.push_str(&format!("  {start} -> {fork} [{}{ends}{ltail}];\n", edge.attributes));
        for target in &line.targets {
            let end = places.top(target.state).name();
            let is_cut = places.is_cluster(target.state);
            let lhead = clip("lhead", is_cut.then_some(target.state));
            self.text.push_str(&format!("  {fork} -> {end} [color=\"{colour}\"{lhead}];\n"));
        }
    }

    /// The node that a line starts at, and the cluster at whose border it is cut.
    fn start(
        &mut self,
        places: &Places<'_>,
        origin: Origin,
        is_upwards: bool,
    ) -> (Node, Option<StateId>) {
        match origin {
            Origin::Any(state) => {
                self.any.insert(state);
                (Node::Any(state), None)
            }
            Origin::State(state) => {
                let node = if is_upwards { places.top(state) } else { places.bottom(state) };
                (node, places.is_cluster(state).then_some(state))
            }
        }
    }

    /// One edge. Graphviz ranks by direction, so an edge that goes up the document is written from its head to its tail: the
    /// picture reads in document order.
    fn edge(&mut self, places: &Places<'_>, origin: Origin, target: StateId, look: &Edge) {
        let (Origin::State(source) | Origin::Any(source)) = origin;
        let is_upwards = target < source;
        let (start, at_start) = self.start(places, origin, is_upwards);
        // Graphviz clips at a cluster's border only edges that come from outside.
        let is_outside = !places.chart.contains(target, source);
        let at_end = (is_outside && places.is_cluster(target)).then_some(target);
        let end = if is_upwards && is_outside { places.bottom(target) } else { places.top(target) };
        let (from, ltail, to, lhead) = if is_upwards {
            (end, at_end, start, at_start)
        } else {
            (start, at_start, end, at_end)
        };
        let (from, to, ends) = (from.name(), to.name(), look.ends(is_upwards));
        let clip = [clip("ltail", ltail), clip("lhead", lhead)].concat();
        self.text.push_str(&format!("  {from} -> {to} [{}{ends}{clip}];\n", look.attributes));
    }

    /// `allow` lines that no line of the chart makes use of, drawn faintly.
    fn permissions(&mut self, places: &Places<'_>) {
        let chart = places.chart;
        for permission in &chart.permissions {
            let origin = match permission.from {
                None => Origin::Any(StateId(0)),
                Some(from) if places.is_cluster(from) && chart.contains(from, permission.to) => {
                    Origin::Any(from)
                }
                Some(from) => Origin::State(from),
            };
            if self.driven.contains(&(origin, permission.to)) {
                continue;
            }
            let guard = permission.guard.as_ref().map(|g| notation::expression(chart, g));
            let guard = guard.map(|g| format!(" [{g}]")).unwrap_or_default();
            let lines = wrap(&format!("allow{guard}"), WIDTH);
            let attributes = format!(
                "label={}, color=\"{FAINT}\", fontcolor=\"{FAINT}\", style=dotted",
                label(&lines),
            );
            let edge = Edge { attributes, head: "open", tail: "none" };
            self.edge(places, origin, permission.to, &edge);
        }
    }
}

/// How an edge looks.
struct Edge {
    /// All but the shapes of its ends.
    attributes: String,
    /// Shape where it arrives.
    head: &'static str,
    /// Shape where it starts.
    tail: &'static str,
}

impl Edge {
    /// Shapes of both ends, as attributes; swapped for an edge that is written backwards.
    fn ends(&self, is_backwards: bool) -> String {
        let (head, tail) =
            if is_backwards { (self.tail, self.head) } else { (self.head, self.tail) };
        match (head, tail) {
            ("normal", "none") => String::new(),
            _ => format!(", dir=both, arrowhead={head}, arrowtail={tail}"),
        }
    }
}

/// The attribute that cuts an edge at a cluster's border.
fn clip(end: &str, cluster: Option<StateId>) -> String {
    cluster.map(|c| format!(", {end}=cluster{}", c.0)).unwrap_or_default()
}

fn tooltip(chart: &Chart, line: &Transition) -> String {
    let mut text = title(chart, line);
    if let Some(guard) = guard(chart, line) {
        text.push_str(&format!(" if {guard}"));
    }
    let targets: Vec<&str> =
        line.targets.iter().map(|t| chart.state(t.state).path.as_str()).collect();
    text.push_str(&format!(" -> {}", targets.join(", ")));
    if !line.actions.is_empty() {
        text.push_str(&format!(" {{ {} }}", actions(chart, line)));
    }
    text
}
