//! Shows cascades: which agents' actions caused which transitions of others.

use super::log::Log;
use super::states::json;
use super::{VERSION, unknown};
use crate::cli::columns::columns;
use crate::cli::output::{StyledText, print, print_json};
use crate::cli::trace::tell::{number, time};
use crate::report::Terminal;
use chartc_world::{Bounds, Cascades, Caused, Deed, Edge, Influence, Link, Tree};
use serde::Serialize;
use std::ops::ControlFlow;

/// The kinds of trace lines that cascades are computed from.
pub(super) const KINDS: [&str; 7] =
    ["event", "turn", "delivered", "input", "taken", "acted", "world"];
/// The maximum number of rows of each table.
const MOST: usize = 10;
/// The bounds of a tree in JSON.
const WHOLE: Bounds = Bounds { depth: 40, width: 10_000, total: 100_000 };

fn cascades(log: &mut Log) -> miette::Result<Cascades> {
    let mut all = Cascades::new();
    log.read(
        |head| KINDS.contains(&&*head.kind),
        |logged| {
            all.observe(&logged);
            ControlFlow::Continue(())
        },
    )?;
    Ok(all)
}

/// Shows what followed from the actions of an agent.
pub(super) fn tree(
    log: &mut Log,
    agent: &str,
    is_json: bool,
    terminal: Terminal,
) -> miette::Result<()> {
    #[derive(Serialize)]
    struct Shown {
        version: u32,
        #[serde(flatten)]
        tree: Tree,
    }
    let all = cascades(log)?;
    let bounds = if is_json { WHOLE } else { Bounds::default() };
    let Some(tree) = all.tree(agent, bounds).filter(|_| !agent.is_empty()) else {
        let names: Vec<&str> = all.names().collect();
        return Err(unknown(&log.name, agent, names.into_iter()));
    };
    if is_json {
        return print_json(&json(&Shown { version: VERSION, tree }));
    }
    let mut out = StyledText::on(terminal);
    let effects = number(tree.effects, "effect");
    let reached = number(tree.reached, "other agent");
    out.styled("1", format!("{agent}: {effects} on {reached}"));
    deeds(&mut out, &tree.actions, tree.more, "");
    print(&out)
}

/// Writes the actions of an agent, each with its effects.
fn deeds(out: &mut StyledText, deeds_: &[Deed], more: u64, margin: &str) {
    for deed in deeds_ {
        let name = if deed.action.is_empty() { "an action" } else { &deed.action };
        let failed = if deed.failed { " (failed)" } else { "" };
        out.line(format!("{margin}{} {name}{failed}, after line {}", time(deed.at_ms), deed.seq));
        let count = deed.effects.len();
        for (nth, effect) in deed.effects.iter().enumerate() {
            let is_last = nth + 1 == count && deed.more == 0;
            caused(out, effect, margin, is_last);
        }
        rest(out, deed.more, "effect", margin);
    }
    rest(out, more, "action", margin);
}

fn caused(out: &mut StyledText, effect: &Caused, margin: &str, is_last: bool) {
    let branch = if is_last { "└ " } else { "├ " };
    let event = if effect.event.is_empty() { "is made" } else { &effect.event };
    let mut text = format!("{margin}{branch}{} {event}", effect.agent);
    if !effect.transitions.is_empty() {
        text.push_str(&format!(": {}", effect.transitions.join(", ")));
    }
    if effect.more_transitions > 0 {
        text.push_str(&format!(" … {} more", effect.more_transitions));
    }
    if effect.again {
        text.push_str(" (shown above)");
    }
    out.line(text);
    let below = format!("{margin}{}", if is_last { "  " } else { "│ " });
    deeds(out, &effect.actions, effect.more, &below);
}

fn rest(out: &mut StyledText, more: u64, word: &str, margin: &str) {
    if more > 0 {
        out.line(format!("{margin}… {} more", number(more, word)));
    }
}

/// The totals of all cascades.
#[derive(Debug, Serialize)]
pub(super) struct Sums {
    pub(super) effects: u64,
    /// The number of agents whose actions had effects.
    pub(super) agents: u64,
    pub(super) longest: Vec<Link>,
    pub(super) influence: Vec<Influence>,
}

impl Sums {
    pub(super) fn new(all: &Cascades, most: usize) -> Self {
        let (effects, agents) = all.totals();
        Self { effects, agents, longest: all.longest(), influence: all.influence(most) }
    }
}

/// Shows which agents had effects on which.
pub(super) fn sums(log: &mut Log, is_json: bool) -> miette::Result<()> {
    #[derive(Serialize)]
    struct Shown {
        version: u32,
        #[serde(flatten)]
        sums: Sums,
        edges: Vec<Edge>,
    }
    let all = cascades(log)?;
    let edges = all.edges();
    if is_json {
        let sums = Sums::new(&all, usize::MAX);
        return print_json(&json(&Shown { version: VERSION, sums, edges }));
    }
    let sums = Sums::new(&all, MOST);
    let mut out = StyledText::default();
    let (effects, agents) = (number(sums.effects, "effect"), number(sums.agents, "agent"));
    out.line(format!("{effects} of the actions of {agents}"));
    if sums.effects == 0 {
        return print(&out);
    }
    out.line("");
    out.line("The most influential agents");
    let rows: Vec<Vec<String>> = (sums.influence.iter())
        .map(|row| {
            let counts = [row.effects, row.transitions, row.followed, row.reached];
            let counts = counts.iter().map(ToString::to_string);
            std::iter::once(row.agent.clone()).chain(counts).collect()
        })
        .collect();
    let head = ["agent", "effects", "transitions", "with what followed", "agents reached"];
    out.add(&columns(&head, &rows, &[1, 2, 3, 4]));
    out.line("");
    out.line("Who had effects on whom");
    let name = |name: &String| if name.is_empty() { "(the world)".into() } else { name.clone() };
    let row = |edge: &Edge| vec![name(&edge.from), name(&edge.to), edge.count.to_string()];
    let rows: Vec<Vec<String>> = edges.iter().take(MOST).map(row).collect();
    out.add(&columns(&["from", "to", "effects"], &rows, &[2]));
    rest(&mut out, edges.len().saturating_sub(MOST) as u64, "pair", "  ");
    out.line("");
    out.line(format!("The longest cascade: {}", number(sums.longest.len() as u64, "step")));
    let row = |link: &Link| {
        let event = if link.event.is_empty() { "is made" } else { &link.event };
        vec![name(&link.from), link.action.clone(), link.to.clone(), event.to_owned()]
    };
    let shown: Vec<Vec<String>> = sums.longest.iter().take(2 * MOST).map(row).collect();
    out.add(&columns(&["agent", "action", "to", "event"], &shown, &[]));
    rest(&mut out, sums.longest.len().saturating_sub(2 * MOST) as u64, "step", "  ");
    print(&out)
}
