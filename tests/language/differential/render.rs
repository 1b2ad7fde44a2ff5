//! The text of a random chart.

use super::actions::Around;
use super::declare;
use super::spec::{Block, Flavour, Spec};
use super::tree::{Kind, State, apart, can_end, initial, place, tree};
use std::fmt::Write;

/// The text of a chart `R`.
pub(super) fn text(spec: &Spec) -> String {
    family(&[spec])
}

/// The text of several charts, each of which runs those behind it: the first is `R`, the others are `C1`, `C2` and so on.
pub(super) fn family(specs: &[&Spec]) -> String {
    let mut out = declare::before(specs);
    for nth in (0..specs.len()).rev() {
        let children = specs.iter().enumerate().skip(nth + 1);
        let children = children.map(|(nth, spec)| (format!("C{nth}"), *spec)).collect();
        let name = if nth == 0 { "R".to_owned() } else { format!("C{nth}") };
        out += &chart(&name, specs[nth], children);
    }
    out
}

fn chart(name: &str, spec: &Spec, children: Vec<(String, &Spec)>) -> String {
    let states = tree(spec.taste.flavour, &spec.nodes);
    let ends = (1..states.len()).filter(|id| can_end(&states, *id)).collect();
    let agent = spec.taste.flavour.is_agent();
    let writer = Writer { agent, spec, states: &states, ends, children };
    let mut out = format!("chart {name} {{\n");
    out += &declare::inside(spec, &writer.models());
    if agent && spec.whole >= 208 {
        for (from, to, pick) in &spec.allows {
            let from = if pick % 3 == 0 { "*" } else { writer.place(*from) };
            let guard = if pick & 8 != 0 { " if x" } else { "" };
            let _ = writeln!(out, "  allow {from} -> {}{guard}", writer.place(*to));
        }
    }
    writer.body(0, 1, &mut out);
    out.push_str("}\n");
    // What nothing is sent as cannot be taken back.
    for id in ["late", "soon"] {
        if !out.contains(&format!(" as {id}")) {
            out = out.replace(&format!("cancel {id}"), "m = m + 1");
        }
    }
    out
}

pub(super) struct Writer<'s> {
    pub(super) agent: bool,
    pub(super) spec: &'s Spec,
    pub(super) states: &'s [State],
    /// Those that can be done.
    pub(super) ends: Vec<usize>,
    /// The charts that it may run.
    pub(super) children: Vec<(String, &'s Spec)>,
}

impl Writer<'_> {
    /// Path of a state that is no pseudo-state and no end.
    pub(super) fn place(&self, nth: u8) -> &str {
        let all: Vec<&State> = self.states.iter().skip(1).filter(|s| s.is_place()).collect();
        &all[usize::from(nth) % all.len()].path
    }

    /// Whether it is about calls of several regions: then little else happens.
    pub(super) fn talks(&self) -> bool {
        self.spec.taste.flavour == Flavour::Talk
    }

    /// The source of a line: the chart itself or one of its proper states.
    pub(super) fn source(&self, nth: u8) -> usize {
        let all: Vec<usize> =
            (0..self.states.len()).filter(|i| self.states[*i].is_place()).collect();
        all[usize::from(nth) % all.len()]
    }

    /// A target, with what it takes.
    pub(super) fn target(&self, nth: u8) -> String {
        let state = &self.states[1 + usize::from(nth) % (self.states.len() - 1)];
        let given = match state.takes() {
            0 => "",
            1 => "(m)",
            _ if self.spec.taste.words => "(m, t)",
            _ => "(m, last)",
        };
        format!("{}{given}", state.path)
    }

    fn block(&self, block: &Block) -> String {
        let actions = self.actions(&block.actions, Around::BLOCK);
        match block.kind % 12 {
            0..=4 => format!("enter {{ {actions} }}"),
            // Charts that defer events have no direct code, which is to be compared, too.
            5 | 6 if self.spec.whole % 3 == 2 => {
                let events = ["a", "b", "c", "d.one, r", "d", "r", "set, a", "a, b, c, d, r"];
                format!("defer {}", events[usize::from(block.actions[0]) % events.len()])
            }
            8 if self.agent => format!("limits {{ calls {} }}", 1 + block.actions[0] % 4),
            9 if self.agent => format!("limits {{ turns {} warn 1 }}", 2 + block.actions[0] % 4),
            10 if self.agent => format!("limits {{ time {}s }}", 5 + block.actions[0] % 20),
            11 if self.agent => "advice \"try {m}\"".to_owned(),
            _ => format!("exit {{ {actions} }}"),
        }
    }

    fn body(&self, id: usize, depth: usize, out: &mut String) {
        let state = &self.states[id];
        let pad = "  ".repeat(depth);
        if state.kind == Kind::Compound {
            let _ =
                writeln!(out, "{pad}initial {}", self.begin(id, initial(self.states, id), state));
        }
        let mut had = [false; 3];
        for block in self.spec.blocks.iter().filter(|b| self.source(b.state) == id) {
            let text = self.block(block);
            // Of these a state has one.
            let once = ["limits", "advice", "defer"].iter().position(|word| text.starts_with(word));
            let again = once.is_some_and(|once| std::mem::replace(&mut had[once], true));
            if !again && (id != 0 || text.starts_with(['d', 'e'])) {
                let _ = writeln!(out, "{pad}{text}");
            }
        }
        for (number, step) in self.spec.steps.iter().enumerate() {
            // Some of them in the chart itself, where they are always to be done.
            let place = if self.talks() && step.state < 160 {
                // In what is active from the start: the parallel or one of its regions.
                let all = 1 + self.states[1].children.len();
                let nth = usize::from(step.state) % all;
                nth.checked_sub(1).map_or(1, |nth| self.states[1].children[nth])
            } else if step.pick % 4 == 1 && !self.talks() {
                0
            } else {
                self.source(step.state)
            };
            let place = if self.states[place].is_place() { place } else { 1 };
            if !self.spec.taste.plain && place == id {
                let _ = writeln!(out, "{pad}{}", self.step(*step, number, id));
            }
        }
        let mut offered: Vec<String> = Vec::new();
        for (number, line) in self.spec.lines.iter().enumerate() {
            if self.source(line.source) != id {
                continue;
            }
            let text = self.line(line, number, id);
            // A state offers a set of tools once.
            let set = text.strip_prefix("may call ").and_then(|rest| rest.split(' ').next());
            if let Some(set) = set.map(str::to_owned) {
                if offered.contains(&set) {
                    continue;
                }
                offered.push(set);
            }
            let _ = writeln!(out, "{pad}{text}");
        }
        for child in &state.children {
            let (id, child) = (*child, &self.states[*child]);
            let name = child.name();
            let _ = match child.kind {
                Kind::Final => {
                    let words = self.spec.taste.words;
                    let takes = match child.takes() {
                        0 => "",
                        1 => "(k: Int)",
                        _ if words => "(k: Int, u: Text)",
                        _ => "(k: Int, last: Level?)",
                    };
                    let status = ["", " : stuck", "", " : error", "", " : partial"];
                    let status = status[usize::from(child.pick) % status.len()];
                    let block = match self.spec.blocks.get(usize::from(child.more)) {
                        Some(block) => {
                            let word = if child.pick & 1 == 0 { "enter" } else { "exit" };
                            let actions = self.actions(&block.actions, Around::BLOCK);
                            format!(" {{ {word} {{ {actions} }} }}")
                        }
                        None => String::new(),
                    };
                    writeln!(out, "{pad}final {name}{takes}{status}{block}")
                }
                Kind::History { deep } => {
                    let deep = if deep { " deep" } else { "" };
                    let default = place(self.states, child.parent, child.pick);
                    let default = self.begin(child.parent, default, child);
                    writeln!(out, "{pad}history {name}{deep} -> {default}")
                }
                Kind::Atomic | Kind::Compound | Kind::Parallel => {
                    let word = if child.kind == Kind::Parallel { "parallel" } else { "state" };
                    let _ = writeln!(out, "{pad}{word} {name} {{");
                    self.body(id, depth + 1, out);
                    writeln!(out, "{pad}}}")
                }
            };
        }
    }

    /// Where something in `id` begins: at `plain`, or in two regions of one parallel below; and what is done then.
    fn begin(&self, id: usize, plain: usize, of: &State) -> String {
        let several =
            if of.more & 3 == 3 { apart(self.states, id, of.more >> 2, of.pick) } else { None };
        let mut out = self.below(plain, id).to_owned();
        if let Some((one, other)) = several {
            out = format!("{}, {}", self.below(one, id), self.below(other, id));
        }
        if of.more >= 160 {
            let actions = self.actions(&[of.more, of.pick], Around::BLOCK);
            let _ = write!(out, " {{ {actions} }}");
        }
        out
    }

    /// The path of a state from the one that it is in.
    fn below(&self, id: usize, from: usize) -> &str {
        let (path, above) = (&self.states[id].path, &self.states[from].path);
        path.strip_prefix(above.as_str()).unwrap_or(path).trim_start_matches('.')
    }
}
