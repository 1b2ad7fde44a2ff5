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

use super::picture::{self, INDENT, Look, Places, Table, above, names, paragraph, wrap};
use crate::emit::{Emitter, Options, OutputKind};
use crate::lower::SourceMap;
use crate::notation;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{
    Chart, Failure, Otherwise, StateKind, Status, StepKind, Transition, Trigger,
};
use chartc_core::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar;

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
        lines.push(remark(format!("… {left} more states; --all shows them")));
    }
    if options.legend {
        let text = "● initial   ○ state   ◉ final   H history   ┆ region of a parallel   ▶ active   ▷ around it";
        lines.push(remark(text.into()));
    }
    Layout::new(&lines, layout).write(&lines, layout)
}

/// A line below the tree.
fn remark(text: String) -> OutlineLine {
    OutlineLine { lead: String::new(), title: vec![(Style::Faint, text)], row: None }
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
            tags.push_str(&picture::params(params));
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

// Lays out the columns: their positions, and the wrapping of rows into them.

/// The width of the first word with the blank after it, in columns.
const WORD: usize = 8;
/// The minimum distance between the first word and the arrow, in columns.
const LEAST: usize = 12;
/// The minimum width of the text, in columns, however narrow the terminal is.
const NARROW: usize = 40;

/// A line of the drawing before it is wrapped: the name of a state, or a row.
struct OutlineLine {
    /// The part of the tree to the left of the line.
    lead: String,
    title: Vec<(Style, String)>,
    row: Option<OutlineRow>,
}

/// Text that is wrapped into a column.
struct Cell<'t> {
    text: &'t str,
    /// The number of blanks before each line except the first.
    hang: usize,
}

/// The positions of the columns.
struct Layout {
    width: usize,
    /// The column at which the arrows stand.
    arrow: usize,
}

impl Layout {
    /// Puts the arrows after the longest row with an arrow. If the texts after the arrows then lack room, it puts the arrows further to the
    /// left, but not left of 60 % of the width.
    fn new(lines: &[OutlineLine], layout: &OutlineLayout) -> Self {
        let total = layout.width.max(NARROW);
        let (mut arrow, mut behind) = (0, 0);
        for line in lines {
            if let Some(row) = line.row.as_ref().filter(|r| !r.right.is_empty()) {
                let left = width(&plain(&row.left, layout.ascii)) + 2;
                arrow = arrow.max(width(&line.lead) + WORD + left.max(LEAST));
                behind = behind.max(width(&plain(&row.right, layout.ascii)));
            }
        }
        let far = (total * 6 / 10).max(total.saturating_sub(behind));
        Self { width: total, arrow: arrow.min(far) }
    }

    /// Writes the lines as text, each with its line end and without trailing blanks.
    fn write(&self, lines: &[OutlineLine], layout: &OutlineLayout) -> String {
        let mut out = String::new();
        for line in lines {
            match &line.row {
                Some(row) => self.row(&mut out, line, row, layout),
                None => self.title(&mut out, line, layout),
            }
        }
        out
    }

    /// Writes a name in full, and cuts off the text after it where the line is full.
    fn title(&self, out: &mut String, line: &OutlineLine, layout: &OutlineLayout) {
        let lead = plain(&line.lead, layout.ascii);
        Style::Faint.paint(out, &lead, layout.colour);
        let mut room = self.width.saturating_sub(width(&lead));
        for (n, (style, text)) in line.title.iter().enumerate() {
            let mut text = plain(text, layout.ascii);
            if n > 1 || line.title.len() == 1 {
                text = cut(&text, room, layout.ascii);
            }
            room = room.saturating_sub(width(&text));
            style.paint(out, &text, layout.colour);
        }
        end(out);
    }

    fn row(&self, out: &mut String, line: &OutlineLine, row: &OutlineRow, layout: &OutlineLayout) {
        let lead = plain(&line.lead, layout.ascii);
        let start = width(&lead) + WORD;
        let (left, right) = row.cells();
        let is_wide = right.is_none();
        // If the tree takes more than half of the width, the arrow moves to the right.
        let arrow = self.arrow.max(start + LEAST);
        let room = if is_wide { self.width } else { arrow.saturating_sub(2) };
        let left = wrapped(&left, room.saturating_sub(start), layout.ascii);
        let right = right.map(|r| wrapped(&r, self.width.saturating_sub(arrow), layout.ascii));
        let right = right.unwrap_or_default();
        for n in 0..left.len().max(right.len()) {
            Style::Faint.paint(out, &lead, layout.colour);
            let word = if n == 0 { row.word } else { "" };
            let style = row.look.map_or(Style::Faint, Style::Word);
            style.paint(out, word, layout.colour);
            let text = left.get(n).map_or("", String::as_str);
            let (before, behind) = (WORD.saturating_sub(word.len()), arrow.saturating_sub(start));
            out.push_str(&" ".repeat(before));
            out.push_str(text);
            if let Some(right) = right.get(n) {
                out.push_str(&" ".repeat(behind.saturating_sub(width(text))));
                out.push_str(right);
            }
            end(out);
        }
    }
}

/// Ends a line and removes its trailing blanks.
fn end(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

fn cut(text: &str, room: usize, ascii: bool) -> String {
    if width(text) <= room {
        return text.to_string();
    }
    let dots = if ascii { "..." } else { "…" };
    let room = room.saturating_sub(width(dots));
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let mut buffer = [0; 4];
        used += width(c.encode_utf8(&mut buffer));
        if used > room {
            break;
        }
        out.push(c);
    }
    format!("{}{dots}", out.trim_end())
}

/// Wraps a text at blanks into lines of at most `room` columns. A longer word gets lines of its own and is split.
fn wrapped(cell: &Cell<'_>, room: usize, ascii: bool) -> Vec<String> {
    let text = plain(cell.text, ascii);
    let room = room.max(8);
    if width(&text) <= room {
        return vec![text];
    }
    let indent = text.len() - text.trim_start().len();
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut used = indent;
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let mut rest = word;
        while !rest.is_empty() {
            let blank = usize::from(!is_empty);
            let (end, size) = beginning(rest, room.saturating_sub(used + blank));
            if end == rest.len() {
                line.push_str(&" ".repeat(blank));
                line.push_str(rest);
                used += blank + size;
                is_empty = false;
                break;
            }
            if is_empty {
                // A character that is wider than the line gets a line of its own, so that the loop ends.
                let end = end.max(rest.chars().next().map_or(0, char::len_utf8));
                line.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            lines.push(std::mem::take(&mut line));
            line.push_str(&" ".repeat(indent + cell.hang));
            used = indent + cell.hang;
            is_empty = true;
        }
    }
    if !is_empty {
        lines.push(line);
    }
    lines
}

/// The length in bytes and in columns of the longest prefix that takes at most `room` columns. The rest is not read, because a text may
/// be as long as a file.
fn beginning(text: &str, room: usize) -> (usize, usize) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        let mut buffer = [0; 4];
        let size = width(c.encode_utf8(&mut buffer));
        if used + size > room {
            return (at, used);
        }
        used += size;
    }
    (text.len(), used)
}

// The rows below a state: its blocks, its steps with their outcomes, its transitions.

/// A row below a state, in its columns.
struct OutlineRow {
    /// The keyword of the trigger, or of the kind of row.
    word: &'static str,
    look: Option<Look>,
    /// The trigger and the guard.
    left: String,
    /// The arrow with the targets, and the actions.
    right: String,
}

/// The sources from which rows are written.
#[derive(Clone, Copy)]
struct Context<'c> {
    chart: &'c Chart,
    counts: &'c Names<'c>,
    table: Option<&'c Table<'c>>,
}

/// The rows of every state, in document order as far as the model keeps it.
fn rows(places: &Places<'_>, counts: &Names<'_>) -> Vec<Vec<OutlineRow>> {
    let chart = places.chart;
    let table = Table::new(chart);
    let context = Context { chart, counts, table: table.as_ref() };
    let mut rows: Vec<Vec<OutlineRow>> = Vec::with_capacity(chart.states.len());
    for state in &chart.states {
        let own = picture::blocks(chart, state, usize::MAX).into_iter();
        rows.push(
            own.map(|b| OutlineRow {
                word: b.word,
                look: b.look,
                left: b.text,
                right: String::new(),
            })
            .collect(),
        );
    }
    let mut outcomes = BTreeSet::new();
    for index in 0..chart.steps.len() {
        let step = StepId::at(index);
        for home in places.homes(step) {
            let own = steps(&context, step, *home, &mut outcomes);
            rows[home.index()].extend(own);
        }
    }
    let (of, copies) = places.copies();
    for (index, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(index);
        if outcomes.contains(&id) || copies.contains(&id) {
            continue;
        }
        let (at, each) = match of.get(&id) {
            Some(writer) => (*writer, "each "),
            None => (transition.source, ""),
        };
        let mut row = transition_row(&context, transition, transition.source);
        if !each.is_empty() {
            row.left = format!("{} {}", row.word, row.left);
            row.word = "each";
        }
        rows[at.index()].push(row);
    }
    for permission in &chart.permissions {
        let path = |s: StateId| notation::path(&chart.state(s).path);
        let from = permission.from.map_or_else(|| "*".to_string(), path);
        let guard = permission.guard.as_ref().map(|g| notation::expression(chart, g));
        let guard = guard.map(|g| format!(" if {g}")).unwrap_or_default();
        rows[0].push(OutlineRow {
            word: "allow",
            look: None,
            left: format!("{from}{guard}"),
            right: format!("→ {}", path(permission.to)),
        });
    }
    rows
}

/// The rows of a step and its outcomes. The first `done`, or the `else` of a question, shares the row of the step itself.
fn steps(
    context: &Context<'_>,
    id: StepId,
    home: StateId,
    shown: &mut BTreeSet<TransitionId>,
) -> Vec<OutlineRow> {
    let chart = context.chart;
    let step = &chart.steps[id.index()];
    let row = picture::step(chart, id, |guard| format!("  if {guard}"));
    let mut first =
        OutlineRow { word: row.word, look: row.look, left: row.text, right: String::new() };
    let mut transitions: Vec<TransitionId> = step.outcomes.clone();
    if let StepKind::Ask { otherwise: Otherwise::Take(transition), .. } = step.kind {
        transitions.push(transition);
    }
    if let Failure::Take(transition) = step.failure.then {
        transitions.push(transition);
    }
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for id in transitions {
        if !seen.insert(id) {
            continue;
        }
        shown.insert(id);
        let transition = chart.transition(id);
        let mut row = transition_row(context, transition, home);
        // A condition in the step's row belongs to the step, so an outcome with a guard gets a row of its own.
        let joins = matches!(transition.trigger, Trigger::StepDone(_) | Trigger::StepElse(_))
            && transition.guard.is_none();
        if joins && first.right.is_empty() && rows.is_empty() && !row.right.is_empty() {
            let is_else = matches!(transition.trigger, Trigger::StepElse(_));
            first.left.push_str(if is_else { ", else" } else { "" });
            first.right = row.right;
        } else {
            let name = notation::name(&step.name);
            let rest = row.left.strip_prefix(&name).unwrap_or(&row.left).trim_start().to_string();
            row.left = format!("  {rest}");
            rows.push(row);
        }
    }
    rows.insert(0, first);
    rows
}

/// The path of a state as seen from `from`: relative to their common ancestor, or the whole path if its first name is ambiguous.
fn seen(chart: &Chart, counts: &Names<'_>, from: StateId, state: StateId) -> String {
    let mut top = state;
    for above in chart.ancestors(state).skip(1) {
        if above.0 == 0 || chart.contains(above, from) {
            break;
        }
        top = above;
    }
    let top = chart.state(top);
    if counts.get(top.name.as_str()) != Some(&1) {
        return chart.state(state).path.clone();
    }
    let above = top.path.len() - top.name.len();
    chart.state(state).path.get(above..).unwrap_or_default().to_string()
}

/// For each name, the number of states that have it.
type Names<'c> = BTreeMap<&'c str, u32>;

fn transition_row(context: &Context<'_>, transition: &Transition, home: StateId) -> OutlineRow {
    let Context { chart, counts, table } = *context;
    let (word, mut left) = picture::head(chart, transition);
    if let Some(text) = picture::told(chart, transition) {
        left.push_str(&format!("  “{}”", text.replace('\n', " ")));
    }
    if let Some(guard) = picture::guard(chart, transition) {
        left.push_str(&format!("  if {guard}"));
    }
    if let Some(scope) = &transition.scope {
        let names = |ids: &[StateId]| {
            let names: Vec<&str> = ids.iter().map(|s| chart.state(*s).path.as_str()).collect();
            names.join(" | ")
        };
        if scope.wildcard {
            left.push_str("  from *");
        } else {
            left.push_str(&format!("  from {}", names(&scope.any_of)));
        }
        let except = picture::excepted(chart, transition);
        if !except.is_empty() {
            left.push_str(&format!(" except {}", except.join(" | ")));
        }
    }
    let mut right = Vec::new();
    if !transition.targets.is_empty() {
        let target = |t: &chartc_core::model::Target| {
            let payload = notation::payload(transition);
            let arguments: Vec<String> =
                (t.arguments.iter()).map(|a| notation::expression_in(chart, a, &payload)).collect();
            let arguments = if arguments.is_empty() {
                String::new()
            } else {
                format!("({})", arguments.join(", "))
            };
            format!("{}{arguments}", seen(chart, counts, home, t.state))
        };
        let targets: Vec<String> = transition.targets.iter().map(target).collect();
        right.push(format!("→ {}", targets.join(", ")));
    }
    if !transition.actions.is_empty() {
        right.push(format!("{{ {} }}", picture::actions(chart, transition)));
    }
    if let Some(table) = table.filter(|_| picture::is_bound(transition))
        && transition.targets.iter().any(|t| table.forbids(home, t.state))
    {
        right.push("⊘ denied: no allow line".to_string());
    }
    OutlineRow {
        word,
        look: Some(Look::from_trigger(&transition.trigger)),
        left,
        right: right.join("  "),
    }
}

// The colours and characters of a terminal.

/// The look of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Bold,
    Faint,
    /// A highlighted state.
    Lit,
    /// An ancestor of a highlighted state.
    Around,
    /// The first word of a row.
    Word(Look),
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Faint => "2",
            Self::Lit => "1;30;43",
            Self::Around => "1;33",
            Self::Word(Look::Event) => "1",
            Self::Word(Look::When) => "36",
            Self::Word(Look::Clock) => "33",
            Self::Word(Look::Choice | Look::Otherwise) => "35",
            Self::Word(Look::Done) => "32",
            Self::Word(Look::Error) => "31",
        }
    }

    /// Appends `text` in this style.
    fn paint(self, out: &mut String, text: &str, colour: bool) {
        let code = self.code();
        if colour && !code.is_empty() && !text.is_empty() {
            let _ = write!(out, "\x1b[{code}m{text}\x1b[0m");
        } else {
            out.push_str(text);
        }
    }
}

/// The text on one line, with characters that the terminal cannot show replaced or escaped.
fn plain(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::line(text).chars() {
        match c {
            c if !ascii || c.is_ascii() => out.push(c),
            '│' | '├' => out.push('|'),
            '└' => out.push('`'),
            '─' => out.push('-'),
            '┆' => out.push(':'),
            '●' => out.push('*'),
            '○' => out.push('o'),
            '◉' => out.push('@'),
            '▶' => out.push('#'),
            '▷' => out.push('+'),
            '→' => out.push_str("->"),
            '⊘' => out.push('x'),
            '“' | '”' => out.push('"'),
            '…' => out.push_str("..."),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    out
}

/// The number of columns that a text takes up in a terminal.
fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}
