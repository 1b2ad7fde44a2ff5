//! Lines of random charts.

use super::actions::{Around, RESET};
use super::guards::{Bound, Returns, pick};
use super::render::Writer;
use super::spec::{Flavour, Line};
use super::tree::{State, apart};
use std::fmt::Write;

impl Writer<'_> {
    /// Guard, arrow and actions of a line.
    fn tail(&self, line: &Line, around: Around, needs_arrow: bool) -> String {
        let guard = if self.is_sure() { 0 } else { line.guard };
        self.guarded(guard, around.bound) + &self.effect(line, around, needs_arrow)
    }

    /// No line has a guard: only then parallels are written out.
    fn is_sure(&self) -> bool {
        self.spec.taste.flavour == Flavour::Orthogonal && self.spec.whole % 4 != 3
    }

    fn effect(&self, line: &Line, around: Around, needs_arrow: bool) -> String {
        let outside = self.source(line.source) != 0;
        let mut out = String::new();
        let target = self.target(line.target);
        match line.arrow % 8 {
            0..=3 => _ = write!(out, " -> {target}"),
            4 if outside => _ = write!(out, " -> {target} reenter"),
            5 => match apart(self.states, 0, line.which, line.target) {
                Some((one, other)) => {
                    let (one, other) = (&self.states[one].path, &self.states[other].path);
                    let _ = write!(out, " -> {one}, {other}");
                }
                None => _ = write!(out, " -> {target}"),
            },
            _ if needs_arrow => _ = write!(out, " -> {target}"),
            _ => {}
        }
        let actions = self.actions(&line.actions, around);
        if !actions.is_empty() {
            let _ = write!(out, " {{ {actions} }}");
        } else if out.is_empty() {
            out.push_str(" { m = m + 1 }");
        }
        out
    }

    /// A line with a trigger that brings no data.
    fn plain(&self, line: &Line, trigger: &str) -> String {
        self.with(line, trigger, Bound::Nothing)
    }

    /// A line with a trigger that brings data.
    fn with(&self, line: &Line, trigger: &str, bound: Bound) -> String {
        format!("{trigger}{}", self.tail(line, Around::of(bound), false))
    }

    /// A line that raises nothing.
    fn quiet(&self, line: &Line, trigger: &str, bound: Bound) -> String {
        format!("{trigger}{}", self.tail(line, Around { bound, quiet: true }, false))
    }

    /// A `when` line; most are over when they have been taken.
    fn when(&self, line: &Line) -> String {
        let guard = self.guard(line.guard, Bound::Nothing);
        let once = ["m > 2", "v == 1", "f > 2.0", "p and m > 1"];
        let when = if guard.is_empty() { pick(&once, line.which) } else { &guard };
        let mut line = line.clone();
        if line.which < 224 {
            line.actions = vec![RESET];
        }
        format!("when {when}{}", self.effect(&line, Around::BLOCK, true))
    }

    /// A line of the state `source`.
    pub(super) fn line(&self, line: &Line, number: usize, source: usize) -> String {
        let which = line.which;
        let taste = self.spec.taste;
        let inside: Vec<&State> =
            self.states[source].children.iter().map(|c| &self.states[*c]).collect();
        let inside: Vec<&&State> = inside.iter().filter(|s| s.is_place()).collect();
        let event = pick(&["a", "b", "d", "d.one", "a", "b"], which);
        // Of charts about questions half of the lines are about them.
        let is_about = self.talks() && line.trigger % 2 == 1;
        match if is_about { 32 + line.trigger % 8 } else { line.trigger % 40 } {
            0..=7 => self.plain(line, &format!("on {event}")),
            8 | 9 => self.quiet(line, pick(&["on r", "on r", "on r.two"], which), Bound::Nothing),
            10 | 11 => self.with(line, "on c(n)", Bound::Number),
            12 if which % 4 == 3 => self.plain(line, "on heat"),
            12 => self.with(line, "on d.two(n)", Bound::Number),
            13 => self.quiet(line, "on *", Bound::Nothing),
            14 => self.with(line, "on set(g, hard)", Bound::Level),
            15 => self.plain(line, "on turn"),
            16 | 17 if !self.is_sure() && !self.talks() => self.when(line),
            18 | 26 if !taste.plain => match which % 5 {
                0 => self.plain(line, "after pause"),
                1 => self.plain(line, "after pause * m"),
                _ => self.plain(line, &format!("after {}s", 1 + which % 9)),
            },
            19 if !taste.plain => match which % 5 {
                0 => self.plain(line, "after step turns"),
                _ => self.plain(line, &format!("after {} turns", which % 4)),
            },
            20 | 21 if !self.ends.is_empty() => {
                let state = self.ends[usize::from(which) % self.ends.len()];
                self.plain(line, &format!("on done({})", self.states[state].path))
            }
            22 => {
                let errors =
                    ["on error.execution", "on error.*", "on error.livelock", "on error.stuck.*"];
                self.plain(line, pick(&errors, which))
            }
            23 | 24 if !inside.is_empty() => {
                let one = inside[usize::from(which) % inside.len()].name();
                let other = inside[usize::from(which / 4) % inside.len()].name();
                let from = match which / 64 {
                    0 => "*".to_owned(),
                    1 => format!("* except {one}"),
                    _ if one == other => one.to_owned(),
                    _ => format!("{one} | {other}"),
                };
                let lines = match line.arrow / 16 % 4 {
                    0 if !self.is_sure() && !self.talks() => self.when(line),
                    1 if !taste.plain => self.plain(line, "after 3s"),
                    2 => {
                        self.with(line, "on c(n)", Bound::Number) + "  " + &self.plain(line, "on r")
                    }
                    _ => self.plain(line, &format!("on {event}")),
                };
                format!("from {from} {{ {lines} }}")
            }
            25 if !inside.is_empty() && !taste.plain => match which % 4 {
                0 => self.plain(line, "each after 2 turns"),
                _ => self.plain(line, &format!("each after {}s", 1 + which % 9)),
            },
            27 => self.quiet(line, "on r.two(n)", Bound::Number),
            28 if taste.words => self.with(line, "on word(u, k)", Bound::Word),
            29 if taste.words => self.with(line, "on open(q)", Bound::Open),
            30 if taste.words && which.is_multiple_of(3) => self.plain(line, "on heard"),
            30 if taste.words => self.with(line, "on batch(all)", Bound::Batch),
            31 if !taste.plain => self.quiet(line, "on **", Bound::Nothing),
            32..=39 if self.agent => self.agent_line(line, number),
            35..=39 if !self.children.is_empty() => self.step_line(line),
            _ => self.plain(line, &format!("on {event}")),
        }
    }

    /// A line of a chart with steps.
    fn agent_line(&self, line: &Line, number: usize) -> String {
        let which = line.which;
        match if self.talks() { line.trigger / 8 % 8 } else { line.trigger % 8 } {
            0 => self.plain(line, &format!("may o{number} \"text {{m}}\"")),
            1 => {
                let actions =
                    ["", " { m = k }", " { m = k  raise r.two(k) }"][usize::from(which) % 3];
                let guard = self.guarded(line.guard, Bound::Nothing);
                let range = ["", " in 0..9"][number % 2];
                let target = self.target(line.target);
                format!("may o{number}(k: Int{range}){guard} -> {target}{actions}")
            }
            2 => {
                let guard = self.guarded(line.guard, Bound::Nothing);
                format!("may o{number}(u: Text, of: List(Int)?){guard} {{ t = u  l = of ?? [] }}")
            }
            3 => {
                let set =
                    pick(&["all", "w.find into j", "found", "w.count into m", "any into j"], which);
                self.plain(line, &format!("may call {set}"))
            }
            4 => {
                let limits = [
                    "on limit.warn.*",
                    "on limit.turns",
                    "on limit.calls",
                    "on error.limit.*",
                    "on limit.time",
                    "on limit.tokens",
                    "on limit.cost",
                ];
                self.plain(line, pick(&limits, which))
            }
            _ => self.step_line(line),
        }
    }

    /// A line on the end of a step.
    fn step_line(&self, line: &Line) -> String {
        let which = line.which;
        if self.spec.steps.is_empty() {
            return self.plain(line, "on turn");
        }
        let number = usize::from(which) % self.spec.steps.len();
        let step = format!("(k{number})");
        let one = self.spec.steps[number];
        match (which / 64, self.returns(one)) {
            (0, Some(returns)) => {
                self.with(line, &format!("on done{step} as ans"), Bound::Answer(returns))
            }
            (2, _) if self.agent || self.is_run(one) => {
                let reason = Bound::Answer(Returns::Text);
                self.with(line, &format!("on error{step} as ans"), reason)
            }
            (3, _) => self.plain(line, &format!("on doubt{step}")),
            (0..=2 | 4.., _) => self.plain(line, &format!("on done{step}")),
        }
    }
}
