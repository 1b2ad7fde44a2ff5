//! What the walks of all turns share, against a walk for each.

use crate::analysis::facts::Facts;
use crate::analysis::turn::cost::{cost, cost_by_walks};
use crate::compile::check_within;
use crate::front::load::Memory;
use std::fmt::Write;

/// Numbers that look random (a linear congruential generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn rarely(&mut self) -> bool {
        self.below(4) == 0
    }
}

/// A chart of the kind that agents have: steps that call, some in the chart itself, and lines to anywhere, also to ends.
struct Writer {
    text: String,
    dice: Dice,
    states: usize,
    steps: usize,
}

impl Writer {
    fn chart(seed: u64) -> String {
        let mut writer = Self { text: String::new(), dice: Dice(seed), states: 0, steps: 0 };
        writer
            .text
            .push_str("tool look() -> Text\nchart T {\n  event e0\n  event e1\n  var n: Int = 0\n");
        let states = 2 + writer.dice.below(4);
        writer.states = states;
        if writer.dice.below(3) > 0 {
            let calls = writer.dice.below(4);
            let _ = writeln!(writer.text, "  limits {{ calls {calls} per turn }}");
        }
        writer.text.push_str("  initial s0\n");
        if writer.dice.rarely() {
            writer.step(2);
        }
        for state in 0..states {
            let _ = writeln!(writer.text, "  state s{state} {{");
            let inner = if writer.dice.rarely() { 1 + writer.dice.below(2) } else { 0 };
            if inner > 0 {
                writer.text.push_str("    initial a0\n");
            }
            writer.body();
            for child in 0..inner {
                let _ = writeln!(writer.text, "    state a{child} {{");
                writer.body();
                writer.text.push_str("    }\n");
            }
            if inner > 0 {
                writer.text.push_str(&format!("    final z\n    on done(s{state}) -> s0\n"));
            }
            writer.text.push_str("  }\n");
        }
        writer.text.push_str("  final over\n  final lost : error\n}\n");
        writer.text
    }

    fn target(&mut self) -> String {
        match self.dice.below(7) {
            0 => "over".to_owned(),
            1 => "lost".to_owned(),
            _ => format!("s{}", self.dice.below(self.states)),
        }
    }

    fn body(&mut self) {
        for _ in 0..self.dice.below(3) {
            self.step(4);
        }
        for _ in 0..self.dice.below(3) {
            let (word, target) = (self.dice.below(6), self.target());
            let guard = if self.dice.rarely() { " if n > 3" } else { "" };
            let _ = match word {
                0 => writeln!(self.text, "    on e0{guard} -> {target} {{ raise e1 }}"),
                1 => writeln!(self.text, "    on turn{guard} -> {target}"),
                2 => writeln!(self.text, "    when n > 2 -> {target}"),
                3 => writeln!(self.text, "    on e1 {{ send e0 }}"),
                4 => writeln!(self.text, "    after 5s -> {target}"),
                _ => writeln!(
                    self.text,
                    "    may o{} \"so\"{guard} -> {target}",
                    self.dice.below(99)
                ),
            };
        }
    }

    fn step(&mut self, depth: usize) {
        let (nth, target, pad) = (self.steps, self.target(), " ".repeat(depth));
        self.steps += 1;
        let (again, retry) =
            if self.dice.rarely() { (" retry 2", " retry 2 then skip") } else { ("", "") };
        let ends = if self.dice.rarely() { " ends turn if n > 1" } else { "" };
        let guard = if self.dice.rarely() { " if n < 9" } else { "" };
        let _ = match self.dice.below(6) {
            0 => writeln!(self.text, "{pad}code c{nth} {{ n = n + 1 }}"),
            1 => writeln!(
                self.text,
                "{pad}call k{nth} look() {{ done -> {target}  error -> {target} }}"
            ),
            2 | 3 => writeln!(
                self.text,
                "{pad}ask q{nth} on turn else {target} {{ prompt \"\"\"Which? {{options}}\"\"\"{again}{ends} }}"
            ),
            4 => writeln!(self.text, "{pad}llm l{nth}{guard} {{ prompt \"x\"{retry}{ends} }}"),
            _ => writeln!(
                self.text,
                "{pad}llm l{nth} {{ prompt \"x\"{retry}{ends} done if n > 0 -> {target} error -> {target} }}"
            ),
        };
    }
}

#[test]
fn what_is_shared_is_what_each_walk_finds() {
    let (mut charts, mut calling) = (0, 0);
    for seed in 1..600 {
        let text = Writer::chart(seed);
        let done = check_within(&["t.chart".to_owned()], &Memory::of("t.chart", &text), 0);
        let [checked] = &done.charts[..] else { continue };
        let (chart, facts) = (checked.chart(), Facts::new(checked.chart()));
        let walked = cost_by_walks(chart, &facts).turns;
        assert_eq!(cost(chart, &facts).turns, walked, "seed {seed}\n{text}");
        charts += 1;
        calling += walked.iter().filter(|turn| turn.worst > 0).count();
    }
    assert!(charts > 100 && calling > 300, "{charts} charts, {calling} turns with calls");
}
