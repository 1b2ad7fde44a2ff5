//! Random charts: nested states of all kinds, transitions of all kinds, steps, questions, permissions.

use std::fmt::Write;

/// A small pseudorandom generator, determined by its seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number in `0..n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n.max(1)
    }

    pub(crate) fn pick<'v, T>(&mut self, from: &'v [T]) -> &'v T {
        &from[self.below(from.len())]
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Atomic,
    Compound,
    Parallel,
    Final,
    History,
}

struct State {
    kind: Kind,
    path: String,
    children: Vec<usize>,
}

/// A tree of states; 0 is the chart.
fn tree(random: &mut Random) -> Vec<State> {
    let root = State { kind: Kind::Compound, path: String::new(), children: Vec::new() };
    let mut states = vec![root];
    let count = 4 + random.below(9);
    while states.len() <= count {
        let parent = random.below(states.len());
        let kind = match (random.below(12), states[parent].kind) {
            (_, Kind::Atomic | Kind::Final | Kind::History) => continue,
            (0..=2, _) => Kind::Compound,
            (3, _) => Kind::Parallel,
            (4, Kind::Compound) => Kind::Final,
            (5, Kind::Compound) if parent != 0 => Kind::History,
            (_, Kind::Parallel) => Kind::Compound,
            _ => Kind::Atomic,
        };
        let name = format!("s{}", states.len());
        let above = &states[parent].path;
        let path = if above.is_empty() { name } else { format!("{above}.{name}") };
        let id = states.len();
        states.push(State { kind, path, children: Vec::new() });
        states[parent].children.push(id);
    }
    for id in 0..states.len() {
        let needs = match states[id].kind {
            Kind::Compound => !states[id].children.iter().any(|c| is_place(states[*c].kind)),
            Kind::Parallel => states[id].children.len() < 2,
            Kind::Atomic | Kind::Final | Kind::History => false,
        };
        for _ in 0..2 * usize::from(needs) {
            let name = format!("s{}", states.len());
            let above = &states[id].path;
            let path = if above.is_empty() { name } else { format!("{above}.{name}") };
            let child = states.len();
            states.push(State { kind: Kind::Atomic, path, children: Vec::new() });
            states[id].children.push(child);
        }
    }
    states
}

fn is_place(kind: Kind) -> bool {
    matches!(kind, Kind::Atomic | Kind::Compound | Kind::Parallel)
}

const GUARDS: &[&str] = &[
    "",
    "",
    "",
    "",
    " if x",
    " if not x",
    " if y",
    " if x and y",
    " if n > 3",
    " if n <= 3",
    " if n > 5",
    " if n > 6 and n < 2",
    " if hot()",
    " if m < 2",
    " if n > 2 or n < 4",
    " if in(s1)",
    " if false",
];

fn target(random: &mut Random, states: &[State]) -> String {
    states[1 + random.below(states.len() - 1)].path.clone()
}

fn effect(random: &mut Random, states: &[State]) -> String {
    match random.below(8) {
        0 if random.below(3) == 0 => {
            let event = random.pick(&["a", "b", "c", "e.one"]);
            let delay = random.pick(&["", " after 2s", " after 5s"]);
            format!(" {{ send {event}{delay} }}")
        }
        0 => " { m = m + 1 }".into(),
        1 => format!(" -> {} {{ m = 0 }}", target(random, states)),
        2 => format!(" -> {} reenter", target(random, states)),
        _ => format!(" -> {}", target(random, states)),
    }
}

fn line(random: &mut Random, states: &[State], id: usize) -> String {
    let guard = *random.pick(GUARDS);
    let effect = effect(random, states);
    match random.below(15) {
        0..=5 => {
            format!("on {}{guard}{effect}", random.pick(&["a", "b", "c", "e", "e.one", "e.two"]))
        }
        6 if random.below(3) == 0 => format!("on **{guard}{effect}"),
        6 => format!("on *{guard}{effect}"),
        7 => format!("on turn{guard}{effect}"),
        8 => {
            let when =
                random.pick(&["x", "not x", "n > 3", "m < 2", "y", "hot()", "x and y", "true"]);
            format!("when {when}{effect}")
        }
        9 => format!("after {}s{}{effect}", 1 + random.below(9), random.pick(&["", "", guard])),
        10 => {
            format!("after {} turns{}{effect}", 1 + random.below(3), random.pick(&["", "", guard]))
        }
        11 => match random.pick(&states[id].children[..]) {
            child if is_place(states[*child].kind) => {
                format!("on done({}){effect}", states[*child].path)
            }
            _ => format!("on b{effect}"),
        },
        12 => format!("may o{}{guard}{effect}", random.below(1000)),
        _ => {
            let child = |random: &mut Random| &states[*random.pick(&states[id].children)].path;
            let (one, goal) = (child(random), child(random));
            let (from, effect) = match random.below(4) {
                0 => ("*".into(), effect),
                1 => (format!("* except {}", target(random, states)), effect),
                2 => (format!("{one} | {goal}"), format!(" -> {goal}")),
                _ => (format!("{one} | {}", target(random, states)), effect),
            };
            let event = random.pick(&["on a", "on b", "on e", "when x", "on *"]);
            format!("from {from} {{ {event}{effect} }}")
        }
    }
}

fn step(random: &mut Random, states: &[State], number: usize) -> String {
    let guard = *random.pick(&["", "", "", " if x", " if in(s1)", " if not in(s2)"]);
    let goal = target(random, states);
    let tools = if number.is_multiple_of(3) { " tools look calls 2" } else { "" };
    match random.below(4) {
        0 => format!(
            "ask q{number} on {} else {goal} {{ prompt \"{{options}}\" }}",
            random.pick(&["turn", "c"])
        ),
        1 => format!(
            "llm l{number}{guard} {{ prompt \"p\"{tools} retry 0 then skip error -> {goal} }}"
        ),
        2 => format!("llm l{number}{guard} {{ prompt \"p\"{tools} retry 1 then skip }} -> {goal}"),
        _ => format!("llm l{number}{guard} {{ prompt \"p\"{tools} retry 0 then fail }} -> {goal}"),
    }
}

fn body(random: &mut Random, states: &[State], id: usize, out: &mut String, depth: usize) {
    let state = &states[id];
    let pad = "  ".repeat(depth);
    if state.kind == Kind::Compound {
        let places: Vec<usize> =
            state.children.iter().copied().filter(|c| is_place(states[*c].kind)).collect();
        let initial = &states[*random.pick(&places)].path;
        let name = initial.rsplit('.').next().unwrap_or_default();
        let _ = writeln!(out, "{pad}initial {name}");
    }
    for number in 0..*random.pick(&[0, 0, 0, 1, 1, 2, 3]) {
        let _ = writeln!(out, "{pad}{}", step(random, states, 10 * id + number));
    }
    for _ in 0..random.below(4) {
        if !state.children.is_empty() || state.kind == Kind::Atomic {
            let line =
                if state.children.is_empty() { "on a".into() } else { line(random, states, id) };
            let line = if line == "on a" { flat_line(random, states) } else { line };
            let _ = writeln!(out, "{pad}{line}");
        }
    }
    for child in &state.children {
        let name = states[*child].path.rsplit('.').next().unwrap_or_default();
        match states[*child].kind {
            Kind::Final => {
                let _ = writeln!(out, "{pad}final {name}");
            }
            Kind::History => {
                let deep = if random.below(2) == 0 { " deep" } else { "" };
                let siblings: Vec<usize> =
                    state.children.iter().copied().filter(|c| is_place(states[*c].kind)).collect();
                let default = &states[*random.pick(&siblings)].path;
                let default = default.rsplit('.').next().unwrap_or_default();
                let _ = writeln!(out, "{pad}history {name}{deep} -> {default}");
            }
            kind => {
                let word = if kind == Kind::Parallel { "parallel" } else { "state" };
                let _ = writeln!(out, "{pad}{word} {name} {{");
                body(random, states, *child, out, depth + 1);
                let _ = writeln!(out, "{pad}}}");
            }
        }
    }
}

/// A line for a state without children.
fn flat_line(random: &mut Random, states: &[State]) -> String {
    loop {
        let own = line(random, states, 0);
        if !own.starts_with("from") && !own.starts_with("on done") {
            return own;
        }
    }
}

/// The text of a chart with the events `a b c e.one e.two`, the inputs `x y n` and the variable `m`.
pub(crate) fn chart(random: &mut Random) -> String {
    let states = tree(random);
    let mut out = String::from(
        "chart T {\n  event a  event b  event c  event e.one  event e.two\n  input x: Bool = false\n  \
         input y: Bool = false\n  input n: Int = 0\n  var m: Int = 0\n  fn hot() -> Bool\n  tool look() -> Bool\n",
    );
    if random.below(2) == 0 {
        let _ = writeln!(out, "  limits {{ calls {} per turn }}", random.below(4));
    }
    if random.below(4) == 0 {
        for _ in 0..3 {
            let from = if random.below(3) == 0 { "*".into() } else { target(random, &states) };
            let _ = writeln!(out, "  allow {from} -> {}", target(random, &states));
        }
    }
    body(random, &states, 0, &mut out, 1);
    if states.len().is_multiple_of(3) {
        // The result of a tool may move the chart while its step is active.
        let goal = states.iter().rfind(|state| is_place(state.kind)).map_or("s1", |s| &s.path);
        let _ = writeln!(out, "  when streak(tool) > 1 -> {goal}\n  when fails_here > 2 -> {goal}");
    }
    out.push_str("}\n");
    out
}

/// The text with a few words deleted, duplicated or swapped.
pub(crate) fn broken(random: &mut Random, text: &str) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
    for _ in 0..=random.below(5) {
        let (one, other) = (random.below(words.len()), random.below(words.len()));
        match random.below(3) {
            0 => {
                words.remove(one);
            }
            1 => words.insert(one, words[other]),
            _ => words.swap(one, other),
        }
    }
    words.concat()
}
