//! The text of a random chart.

use super::parts::{RESET, pick};
use super::spec::{Block, Flavour, Line, Spec, Step};
use super::tree::{Kind, State, apart, can_end, initial, place, tree};
use std::fmt::Write;

/// Declarations that every chart has.
const PLAIN: &str = "  event a
  event b
  event c(n: Int)
  event d
  event d.one
  event d.two(n: Int)
  event r
  event r.two(n: Int)
  input x: Bool = false
  input y: Int = 0
  var m: Int = 0
  var v: Int = 0 per turn
  var f: Float = 0.5
  fn hot() -> Bool
  fn many(n: Int) -> Int else 3
  do tell(n: Int)
  pred p = m > 1 or x
";

/// Those of charts that have texts.
const AGENT: &str = "  input z: Text = \"z\"
  param name: Text
  var t: Text = \"\"
  var l: List(Int) = []
  var j: Json = none
  var o: Int? = none
  var e: E = E.one
  fn word(t: Text, n: Int?) -> Text
  defaults { retry 1 then skip }
";

/// Before the chart.
const TOOLS: &str = "enum E { one two }
tool w.find(q: Text) -> Json
tool w.count(n: Int) -> Int
tools all = any
tools found = any - w.count
";

/// The text of a chart `R`.
pub(super) fn text(spec: &Spec) -> String {
    let states = tree(spec.flavour, &spec.nodes);
    let ends = (1..states.len()).filter(|id| can_end(&states, *id)).collect();
    let writer = Writer { agent: spec.flavour == Flavour::Agent, spec, states: &states, ends };
    let mut out = String::new();
    if writer.agent {
        out += TOOLS;
    }
    out += "chart R {\n";
    out += PLAIN;
    if writer.agent {
        out += AGENT;
        match spec.whole % 8 {
            5 => out += "  limits { calls 0 per turn }\n",
            6 => out += "  limits { calls 2 per turn  turns 20 warn 9 }\n",
            7 => out += "  limits { calls 9 warn 5 }\n",
            _ => {}
        }
        if spec.whole >= 208 {
            for (from, to, pick) in &spec.allows {
                let from = if pick % 3 == 0 { "*" } else { writer.place(*from) };
                let guard = if pick & 8 != 0 { " if x" } else { "" };
                let _ = writeln!(out, "  allow {from} -> {}{guard}", writer.place(*to));
            }
        }
    }
    writer.body(0, 1, &mut out);
    out.push_str("}\n");
    out
}

pub(super) struct Writer<'s> {
    pub(super) agent: bool,
    spec: &'s Spec,
    states: &'s [State],
    /// Those that can be done.
    ends: Vec<usize>,
}

impl Writer<'_> {
    /// Path of a state that is no pseudo-state and no end.
    pub(super) fn place(&self, nth: u8) -> &str {
        let all: Vec<&State> = self.states.iter().skip(1).filter(|s| s.is_place()).collect();
        &all[usize::from(nth) % all.len()].path
    }

    /// The source of a line: the chart itself or one of its proper states.
    fn source(&self, nth: u8) -> usize {
        let all: Vec<usize> =
            (0..self.states.len()).filter(|i| self.states[*i].is_place()).collect();
        all[usize::from(nth) % all.len()]
    }

    fn target(&self, nth: u8) -> String {
        let state = &self.states[1 + usize::from(nth) % (self.states.len() - 1)];
        if state.takes_argument() { format!("{}(m)", state.path) } else { state.path.clone() }
    }

    /// Guard, arrow and actions of a line.
    fn tail(&self, line: &Line, payload: bool, needs_arrow: bool) -> String {
        let mut out = String::new();
        let guard = self.guard(line.guard, payload);
        if !guard.is_empty() {
            let _ = write!(out, " if {guard}");
        }
        out + &self.effect(line, payload, needs_arrow)
    }

    fn effect(&self, line: &Line, payload: bool, needs_arrow: bool) -> String {
        let outside = self.source(line.source) != 0;
        let mut out = String::new();
        let target = self.target(line.target);
        match line.arrow % 8 {
            0..=3 => _ = write!(out, " -> {target}"),
            4 if outside => _ = write!(out, " -> {target} reenter"),
            5 => match apart(self.states, line.which, line.target) {
                Some((one, other)) => {
                    let (one, other) = (&self.states[one].path, &self.states[other].path);
                    let _ = write!(out, " -> {one}, {other}");
                }
                None => _ = write!(out, " -> {target}"),
            },
            _ if needs_arrow => _ = write!(out, " -> {target}"),
            _ => {}
        }
        let actions = self.actions(&line.actions, payload);
        if !actions.is_empty() {
            let _ = write!(out, " {{ {actions} }}");
        } else if out.is_empty() {
            out.push_str(" { m = m + 1 }");
        }
        out
    }

    fn line(&self, line: &Line, number: usize, source: usize) -> String {
        let which = line.which;
        let plain = |trigger: &str| format!("{trigger}{}", self.tail(line, false, false));
        let event = pick(&["a", "b", "d", "d.one", "a", "b"], which);
        let inside: Vec<&State> =
            self.states[source].children.iter().map(|c| &self.states[*c]).collect();
        let inside: Vec<&&State> = inside.iter().filter(|s| s.is_place()).collect();
        match line.trigger % 32 {
            0..=7 => plain(&format!("on {event}")),
            // What raises does not answer to what is raised, or most charts would go in circles.
            8 | 9 => self.quiet(line, &format!("on {}", pick(&["r", "r", "r.two"], which))),
            10 | 11 => format!("on c(n){}", self.tail(line, true, false)),
            12 => format!("on d.two(n){}", self.tail(line, true, false)),
            13 | 14 => self.quiet(line, "on *"),
            15 => plain("on turn"),
            16 | 17 => {
                // Most are over when they have been taken.
                let guard = self.guard(line.guard, false);
                let once = ["m > 2", "v == 1", "f > 2.0", "p and m > 1"];
                let when = if guard.is_empty() { pick(&once, which) } else { &guard };
                let mut line = line.clone();
                if which < 224 {
                    line.actions = vec![RESET];
                }
                format!("when {when}{}", self.effect(&line, false, true))
            }
            18 => plain(&format!("after {}s", 1 + which % 9)),
            19 => plain(&format!("after {} turns", which % 4)),
            20 | 21 if !self.ends.is_empty() => {
                let state = self.ends[usize::from(which) % self.ends.len()];
                plain(&format!("on done({})", self.states[state].path))
            }
            22 => plain(pick(&["on error.execution", "on error.*", "on error.livelock"], which)),
            23 if !inside.is_empty() => {
                let one = inside[usize::from(which) % inside.len()].name();
                let other = inside[usize::from(which / 4) % inside.len()].name();
                let from = if one == other { one.to_owned() } else { format!("{one} | {other}") };
                format!("from {from} {{ {} }}", plain(&format!("on {event}")))
            }
            24 if !inside.is_empty() => {
                let one = inside[usize::from(which) % inside.len()].name();
                let from = if which & 1 == 0 { "*".to_owned() } else { format!("* except {one}") };
                format!("from {from} {{ {} }}", plain(&format!("on {event}")))
            }
            25 if !inside.is_empty() => plain(&format!("each after {}s", 1 + which % 9)),
            26 if self.agent => plain(&format!("may o{number} \"text\"")),
            27 if self.agent => {
                let actions = if which & 1 == 0 { " { m = k }" } else { "" };
                let guard = self.guard(line.guard, false);
                let guard = if guard.is_empty() { guard } else { format!(" if {guard}") };
                format!("may o{number}(k: Int){guard} -> {}{actions}", self.target(line.target))
            }
            28 if self.agent => {
                let set = pick(&["all", "w.find into j", "found", "w.count into m"], which);
                plain(&format!("may call {set}"))
            }
            29 if self.agent => plain(pick(&["on limit.warn.*", "on limit.turns"], which)),
            30 | 31 if self.agent && !self.spec.steps.is_empty() => {
                let step = usize::from(which) % self.spec.steps.len();
                let word = pick(&["done", "error", "doubt"], which / 64);
                plain(&format!("on {word}(k{step})"))
            }
            _ => plain(&format!("on {event}")),
        }
    }

    /// A line that raises nothing.
    fn quiet(&self, line: &Line, trigger: &str) -> String {
        let text = format!("{trigger}{}", self.tail(line, false, false));
        text.replace("raise r.two(m)", "m = m + 3").replace("raise r", "m = m + 2")
    }

    fn step(&self, step: Step, number: usize) -> String {
        let guard = self.guard(step.guard, false);
        let guard = if guard.is_empty() { guard } else { format!(" if {guard}") };
        let target = self.target(step.target);
        let pick = step.pick;
        let name = format!("k{number}");
        if !self.agent {
            let action = self.actions(&[pick & !1], false);
            let action = if action.contains('=') { action } else { "m = m + 2".to_owned() };
            let failed = ["", " else skip", " else fail"][usize::from(pick) % 3];
            return format!("code {name}{guard} {{ {action} }}{failed}");
        }
        match step.kind % 8 {
            0 => {
                let body = [
                    "m = m + 1",
                    "m = 7 div m",
                    "if m > 1 { m = 0 } else { t = \"b\" }",
                    "for i in l { m = m + i }",
                    "l = [m, 2]",
                ][usize::from(pick) % 5];
                let failed = ["", " else skip", " else fail", ""][usize::from(pick) % 4];
                format!("code {name}{guard} {{ {body} }}{failed}")
            }
            1 => format!(
                "llm {name}{guard} {{ prompt \"{{t}} {{m}}\" retry {} then skip }} -> {target}",
                pick % 3
            ),
            2 => format!(
                "llm {name}{guard} {{ prompt \"{{name}}\" returns Int into m  done if {name} > 2 -> {target}  \
                 error -> {target}  ends turn if x }}"
            ),
            3 | 4 => {
                let on = ["turn", "turn", "a", "c"][usize::from(pick) % 4];
                let always = if pick & 16 != 0 { " always" } else { "" };
                let other = if pick & 32 != 0 { "stay" } else { &target };
                format!(
                    "ask {name} on {on}{always} else {other}{guard} {{ prompt \"{{options}} {{l}}\" retry {} }}",
                    pick % 3
                )
            }
            5 => format!(
                "human {name} \"which {{m}}?\"{guard} {{ timeout 4s -> {target}  done {{ t = {name} }}  doubt {{ m = 0 }} }}"
            ),
            6 => {
                format!("call {name} w.count(m){guard} {{ returns Int into m  retry 1 then fail }}")
                    .replace(" returns Int into m ", " done { m = m + 1 } ")
            }
            _ => format!(
                "llm {name}{guard} {{ prompt \"{{t}}\" returns Text into t  retry 0 then {}  timeout 3s -> {target} }}",
                if pick & 1 == 0 { "fail".to_owned() } else { format!("-> {target}") }
            ),
        }
    }

    fn block(&self, block: &Block) -> String {
        let actions = self.actions(&block.actions, false);
        match block.kind % 12 {
            0..=4 => format!("enter {{ {actions} }}"),
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
            let _ = writeln!(out, "{pad}initial {}", self.below(initial(self.states, id), id));
        }
        let mut had = [false; 4];
        for block in self.spec.blocks.iter().filter(|b| self.source(b.state) == id) {
            let text = self.block(block);
            let kind =
                ["enter", "exit", "limits", "advice"].iter().position(|k| text.starts_with(k));
            let once = &mut had[kind.unwrap_or_default()];
            if !*once && (id != 0 || kind == Some(0)) {
                *once = true;
                let _ = writeln!(out, "{pad}{text}");
            }
        }
        for (number, step) in self.spec.steps.iter().enumerate() {
            if self.source(step.state) == id {
                let _ = writeln!(out, "{pad}{}", self.step(*step, number));
            }
        }
        for (number, line) in self.spec.lines.iter().enumerate() {
            if self.source(line.source) == id {
                let _ = writeln!(out, "{pad}{}", self.line(line, number, id));
            }
        }
        for child in &state.children {
            let (id, child) = (*child, &self.states[*child]);
            let name = child.name();
            let _ = match child.kind {
                Kind::Final => {
                    let argument = if child.takes_argument() { "(k: Int)" } else { "" };
                    let status = ["", " : stuck", "", " : error"][usize::from(child.pick) % 4];
                    writeln!(out, "{pad}final {name}{argument}{status}")
                }
                Kind::History { deep } => {
                    let deep = if deep { " deep" } else { "" };
                    let default = place(self.states, child.parent, child.pick);
                    writeln!(out, "{pad}history {name}{deep} -> {}", self.states[default].name())
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

    /// The path of a state from the one that it is in.
    fn below(&self, id: usize, from: usize) -> &str {
        let (path, above) = (&self.states[id].path, &self.states[from].path);
        path.strip_prefix(above.as_str()).unwrap_or(path).trim_start_matches('.')
    }
}
