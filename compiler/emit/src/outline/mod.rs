//! Draws a chart as text for a terminal: the tree of its states, and below each state its blocks, steps and transitions in columns.
//!
//! Each transition is one row: its trigger and guard, an arrow, its targets and its actions. The rows of a state are in document order,
//! with `from` transitions last, in the order in which they are tried. No name is shortened; guards are wrapped. For example:
//!
//! ```text
//! chart C {                                      C
//!   initial a                                    │  on      stop  from *     → b
//!   state a { on go if n > 1 -> b { n = 0 } }    ├─● a
//!   final b                                      │     on      go  if n > 1  → b  { n = 0 }
//!   from * { on stop -> b }                      └─◉ b  final
//! }
//! ```
//!
//! The rows of all states are written first (`row`), then the widths of the columns are known, and the lines are laid out (`lay`).

mod lay;
mod row;
mod style;

use super::picture::look::above;
use super::picture::place::Places;
use super::picture::text::{paragraph, wrap};
use super::{Emitter, Options, OutputKind};
use chartc_check::lower::SourceMap;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, StateKind, Status};
use lay::{Cell, Layout, NARROW, OutlineLine};
use row::{Names, OutlineRow, names, rows, seen};
use style::Style;

/// The emitter of `chartc graph --format text`; `chartc show` fits the text to the terminal.
pub const EMITTER: Emitter = Emitter {
    name: "text",
    extension: "txt",
    kind: OutputKind::Picture,
    emit: |checked, options| {
        Ok(outline(checked.chart(), checked.map(), options, &OutlineLayout::default()))
    },
};

/// The width, the characters, and the part of the chart that the text shows.
#[derive(Debug, Clone, Copy)]
pub struct OutlineLayout {
    /// The width in columns; less than 40 counts as 40.
    pub width: usize,
    /// Whether to use colours.
    pub colour: bool,
    /// Whether to use only ASCII. Other characters of the chart are escaped, as in `\u{e9}`.
    pub ascii: bool,
    /// The maximum number of states that are drawn. The text says how many are left out.
    pub states: usize,
    /// The state that is drawn with its descendants; 0 is the whole chart.
    pub root: StateId,
}

impl Default for OutlineLayout {
    fn default() -> Self {
        Self { width: 100, colour: false, ascii: false, states: usize::MAX, root: StateId(0) }
    }
}

/// The maximum depth of indentation. Deeper nesting is not indented further, so that the text stays linear in the size of the chart.
const INDENT: usize = 12;

/// Draws the chart as text.
pub fn outline(
    chart: &Chart,
    map: &SourceMap,
    options: &Options,
    layout: &OutlineLayout,
) -> String {
    let places = Places::new(chart, map);
    let counts = names(chart);
    let mut rows = rows(&places, &counts);
    let above = above(chart, &options.highlight);
    let root = if layout.root.index() < chart.states.len() { layout.root } else { StateId(0) };
    let mut lines = Vec::new();
    // For each depth, whether the state at that depth has a sibling below it: then a vertical line continues there.
    let mut goes_on: Vec<bool> = Vec::new();
    let mut depths: Vec<StateId> = Vec::new();
    let end = chart.state(root).end;
    let shown = (root.0..end.0).map(StateId).take(layout.states.saturating_add(1));
    for id in shown {
        while depths.last().is_some_and(|above| chart.state(*above).end <= id) {
            depths.pop();
            goes_on.pop();
        }
        let is_last =
            chart.state(id).parent.is_none_or(|p| chart.state(p).end == chart.state(id).end);
        let depth = depths.len();
        depths.push(id);
        goes_on.push(depth > 0 && !is_last);
        let has_children = chart.state(id).end.0 > id.0 + 1;
        let style = if options.highlight.contains(&id) {
            Style::Lit
        } else if above.contains(&id) {
            Style::Around
        } else {
            Style::Bold
        };
        let branch = Branch { goes_on: &goes_on, is_last, has_children };
        lines.push(title(chart, &counts, id, style, &branch));
        if id.0 == 0 {
            lines.extend(branch.about(chart, layout.width));
        }
        for row in rows[id.index()].drain(..) {
            lines.push(branch.line(row));
        }
    }
    let left = (end.0 - root.0) as usize - 1;
    let left = left.saturating_sub(layout.states);
    if left > 0 {
        let text = format!("… {left} more states; --all shows them");
        lines.push(OutlineLine {
            lead: String::new(),
            title: vec![(Style::Faint, text)],
            row: None,
        });
    }
    if options.legend {
        let text = "● initial   ○ state   ◉ final   H history   ┆ region of a parallel   ▶ active   ▷ around it";
        lines.push(OutlineLine {
            lead: String::new(),
            title: vec![(Style::Faint, text.into())],
            row: None,
        });
    }
    Layout::new(&lines, layout).write(&lines, layout)
}

/// The position of a state in the tree, for the lines to its left.
struct Branch<'t> {
    goes_on: &'t [bool],
    is_last: bool,
    has_children: bool,
}

impl Branch<'_> {
    /// The vertical lines of the tree to the left of a state at `depth`.
    fn trunk(&self, depth: usize) -> String {
        let levels = self.goes_on.iter().skip(1).take(depth.saturating_sub(1)).take(INDENT);
        levels.map(|goes_on| if *goes_on { "│  " } else { "   " }).collect()
    }

    /// The part of the tree to the left of the state's name.
    fn fork(&self) -> String {
        let depth = self.goes_on.len() - 1;
        if depth == 0 {
            return String::new();
        }
        self.trunk(depth) + if self.is_last { "└─" } else { "├─" }
    }

    /// The part of the tree to the left of the state's rows.
    fn lead(&self) -> String {
        self.trunk(self.goes_on.len()) + if self.has_children { "│  " } else { "   " }
    }

    fn line(&self, row: OutlineRow) -> OutlineLine {
        OutlineLine { lead: self.lead(), title: Vec::new(), row: Some(row) }
    }

    /// The first paragraph of the chart's documentation, as lines below its name.
    fn about(&self, chart: &Chart, width: usize) -> Vec<OutlineLine> {
        let doc = &paragraph(&chart.doc);
        if doc.trim().is_empty() {
            return Vec::new();
        }
        let lead = self.lead();
        let lines = wrap(doc, width.saturating_sub(lead.chars().count()).max(NARROW / 2));
        let line =
            |text| OutlineLine { lead: lead.clone(), title: vec![(Style::Faint, text)], row: None };
        lines.into_iter().map(line).collect()
    }
}

fn title(
    chart: &Chart,
    counts: &Names<'_>,
    id: StateId,
    style: Style,
    branch: &Branch<'_>,
) -> OutlineLine {
    let state = chart.state(id);
    let mut title = Vec::new();
    if id.0 > 0 {
        let sign = match style {
            Style::Lit => '▶',
            Style::Around => '▷',
            Style::Bold | Style::Faint | Style::Word(_) => sign(chart, id),
        };
        title.push((Style::Faint, format!("{sign} ")));
    }
    title.push((style, state.name.clone()));
    let mut tags = String::new();
    match &state.kind {
        StateKind::Final { params, status } => {
            if !params.is_empty() {
                let params: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
                tags.push_str(&format!("({})", params.join(", ")));
            }
            tags.push_str("  final");
            if *status != Status::Ok {
                tags.push_str(&format!(", {}", status.word()));
            }
        }
        StateKind::Parallel => tags.push_str("  parallel"),
        StateKind::History { deep, default } => {
            let deep = if *deep { "deep history" } else { "history" };
            let first = default.iter().map(|s| seen(chart, counts, id, *s));
            let first = first.collect::<Vec<_>>().join(", ");
            tags.push_str(&format!("  {deep}, the first time {first}"));
        }
        StateKind::Compound { initial }
            if initial.iter().any(|s| chart.state(*s).parent != Some(id)) =>
        {
            let first = initial.iter().map(|s| seen(chart, counts, id, *s));
            let first = first.collect::<Vec<_>>().join(", ");
            tags.push_str(&format!("  initially {first}"));
        }
        StateKind::Atomic | StateKind::Compound { .. } => {}
    }
    title.push((Style::Faint, tags));
    let doc = state.doc.lines().next().unwrap_or_default().trim();
    if !doc.is_empty() {
        title.push((Style::Faint, format!("  {doc}")));
    }
    OutlineLine { lead: branch.fork(), title, row: None }
}

/// The character that stands for the kind of a state.
fn sign(chart: &Chart, id: StateId) -> char {
    let parent = chart.state(id).parent.map(|p| &chart.state(p).kind);
    let is_initial =
        |p: &StateKind| matches!(p, StateKind::Compound { initial } if initial[..] == [id]);
    match (&chart.state(id).kind, parent) {
        (StateKind::Final { .. }, _) => '◉',
        (StateKind::History { .. }, _) => 'H',
        (_, Some(StateKind::Parallel)) => '┆',
        (_, Some(parent)) if is_initial(parent) => '●',
        (StateKind::Atomic | StateKind::Compound { .. } | StateKind::Parallel, _) => '○',
    }
}

impl OutlineRow {
    fn cells(&self) -> (Cell<'_>, Option<Cell<'_>>) {
        let right = (!self.right.is_empty()).then_some(Cell { text: &self.right, hang: 2 });
        (Cell { text: &self.left, hang: 2 }, right)
    }
}
