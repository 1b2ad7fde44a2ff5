//! What a chart does, as cases: its text, inputs, and what holds after them.
//!
//! ```text
//! -- a_name_matches_whole_tokens                   the name of the test
//! chart T { event foo event foo.bar event foobar
//!   var n: Int = 0 initial s
//!   state s { on foo { n = n + 1 } } }
//! > send foo; send foo.bar                         inputs
//! n = 2; at s                                      what holds
//! > send foobar
//! n = 2                                            # and why
//! - on foo                                         another run of the chart, with this text
//! + on *                                           replaced by this
//! > send foobar
//! n = 1
//! ```
//!
//! A chart that several cases share is a section `== name`, and `= name` stands for it. `> start` begins a run where something holds at
//! its start, or the same chart runs again. The words of inputs are in [`super::inputs`], those of what holds in [`super::holds`]. Each case
//! runs twice, the second time with a machine that is restored from a snapshot before each input; every configuration must be legal.

use super::Sim;
use std::collections::BTreeSet;
use test_support::project::files;

/// A file of cases, and those that are tests.
pub(super) struct Cases {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
    pub(super) names: &'static [&'static str],
}

/// Makes a test of each case that is named.
macro_rules! cases {
    ($file:literal: $($name:ident)+) => {
        pub(in crate::semantics) const CASES: $crate::semantics::cases::Cases =
            $crate::semantics::cases::Cases {
                file: concat!("tests/language/semantics/", $file),
                text: include_str!($file),
                names: &[$(stringify!($name)),+],
            };

        $(
            #[test]
            fn $name() {
                CASES.check(stringify!($name));
            }
        )+
    };
}

/// All files of cases.
const ALL: &[&Cases] = &[
    &super::ahead::CASES,
    &super::asked::CASES,
    &super::bounds::CASES,
    &super::content::CASES,
    &super::deferred::CASES,
    &super::each::CASES,
    &super::events::CASES,
    &super::loops::CASES,
    &super::messages::CASES,
    &super::observables::CASES,
    &super::questions::CASES,
    &super::ranges::CASES,
    &super::reasons::CASES,
    &super::sending::CASES,
    &super::sets::CASES,
    &super::snapshots::CASES,
    &super::started::CASES,
    &super::step_tools::CASES,
    &super::tools::CASES,
    &super::turns::CASES,
    &super::walks::CASES,
    &super::walks::asks::CASES,
    &super::walks::ends::CASES,
];

/// A line, with its number.
type Line<'t> = (usize, &'t str);

/// What stands below a headline.
struct Section<'t> {
    head: Line<'t>,
    lines: Vec<Line<'t>>,
}

/// A text of the chart that is replaced, and what it is replaced by.
type Edit<'t> = (Line<'t>, Vec<&'t str>);

/// What happens to one machine.
struct Run<'t> {
    edits: Vec<Edit<'t>>,
    steps: Vec<(usize, Step)>,
}

enum Step {
    Inputs(String),
    Holds(String),
}

impl Cases {
    /// Runs a case, as it is and from snapshots.
    pub(super) fn check(&self, name: &str) {
        for is_restored in [false, true] {
            if let Err(why) = self.run(name, is_restored) {
                panic!("{why}");
            }
        }
    }

    /// Runs a case.
    ///
    /// # Errors
    /// It cannot be read, or something does not hold: the latter is called an assertion.
    fn run(&self, name: &str, is_restored: bool) -> Result<(), String> {
        let section = self.section(&format!("-- {name}"))?;
        let head = section.head.0;
        let (chart, lines) = self.chart(section)?;
        let runs = runs(head, &lines).map_err(|(line, why)| self.at(line, name, &why))?;
        for run in runs {
            let mut sim = Sim::of(&self.edited(&chart, &run.edits)?);
            let mut after = "start".to_owned();
            for (line, step) in run.steps {
                let failed = |after: &str, expected: &str, is: &str| {
                    let way = if is_restored { ", restored before each input" } else { "" };
                    let told = format!("after: {after}{way}\nexpected: {expected}\n      is: {is}");
                    self.at(line, name, &format!("assertion failed\n   {told}"))
                };
                match step {
                    Step::Inputs(inputs) => {
                        sim.mark();
                        for input in inputs.split("; ") {
                            if is_restored {
                                sim.restart();
                            }
                            if let Err(why) = sim.input(input) {
                                // The case is sound: it has run without restarts.
                                return Err(if is_restored {
                                    failed(&after, &format!("`{input}` is taken"), &why)
                                } else {
                                    self.at(line, name, &format!("`{input}`: {why}"))
                                });
                            }
                            if !sim.is_legal() {
                                let is = sim.leaves().join(", ");
                                return Err(failed(input, "a legal configuration", &is));
                            }
                        }
                        after = inputs;
                    }
                    Step::Holds(text) => {
                        let is = sim.told(&text).map_err(|why| self.at(line, name, &why))?;
                        if is != text {
                            return Err(failed(&after, &text, &is));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn at(&self, line: usize, name: &str, what: &str) -> String {
        format!("{}:{line}: {name}: {what}", self.file)
    }

    /// The sections, in order. Lines that begin with `#` are comments.
    fn sections(&self) -> Vec<Section<'static>> {
        let mut found: Vec<Section<'_>> = Vec::new();
        let lines = self.text.lines().enumerate().map(|(nth, line)| (nth + 1, line.trim_end()));
        for line in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            if line.1.starts_with("-- ") || line.1.starts_with("== ") {
                found.push(Section { head: line, lines: Vec::new() });
            } else {
                found.last_mut().expect("a headline comes first").lines.push(line);
            }
        }
        found
    }

    fn section(&self, head: &str) -> Result<Section<'static>, String> {
        let found = self.sections().into_iter().find(|section| section.head.1 == head);
        found.ok_or_else(|| format!("{}: there is no `{head}`", self.file))
    }

    /// The chart of a section, and the lines below it.
    fn chart(&self, section: Section<'static>) -> Result<(String, Vec<Line<'static>>), String> {
        let mut lines = section.lines;
        if let Some((line, shared)) = lines.first().copied()
            && let Some(shared) = shared.strip_prefix("= ")
        {
            let (chart, below) = self.chart(self.section(&format!("== {shared}"))?)?;
            let (edits, rest) = edits(&below);
            if !rest.is_empty() {
                return Err(self.at(line, shared, "a chart that is shared has no run"));
            }
            return Ok((self.edited(&chart, &edits)?, lines.split_off(1)));
        }
        let is_chart = |(_, line): &&Line<'_>| !line.starts_with("> ") && !line.starts_with("- ");
        let below = lines.split_off(lines.iter().take_while(is_chart).count());
        let chart: Vec<&str> = lines.into_iter().map(|(_, line)| line).collect();
        Ok((chart.join("\n"), below))
    }

    /// The chart with texts replaced, each of which it has once.
    fn edited(&self, chart: &str, edits: &[Edit<'_>]) -> Result<String, String> {
        let mut chart = chart.to_owned();
        for ((line, old), new) in edits {
            if chart.matches(old).count() != 1 {
                return Err(format!("{}:{line}: the chart does not have `{old}` once", self.file));
            }
            chart = chart.replace(old, &new.join("\n"));
        }
        Ok(chart)
    }
}

/// The edits that lines begin with, and the other lines.
fn edits<'t, 'l>(mut lines: &'l [Line<'t>]) -> (Vec<Edit<'t>>, &'l [Line<'t>]) {
    let mut found: Vec<Edit<'_>> = Vec::new();
    while let Some(((line, text), rest)) = lines.split_first() {
        if let Some(old) = text.strip_prefix("- ") {
            found.push(((*line, old), Vec::new()));
        } else if let (Some(new), Some((_, all))) = (text.strip_prefix("+ "), found.last_mut()) {
            all.push(new);
        } else {
            break;
        }
        lines = rest;
    }
    (found, lines)
}

/// What the lines below a chart say. A run must end with something that holds.
fn runs<'t>(head: usize, mut lines: &[Line<'t>]) -> Result<Vec<Run<'t>>, (usize, String)> {
    let mut found = Vec::new();
    while !lines.is_empty() || found.is_empty() {
        let (edits, below) = edits(lines);
        lines = below;
        let mut steps = Vec::new();
        let is_start = |line: &str| line == "> start" || line.starts_with("- ");
        while let Some(((line, text), mut rest)) = lines.split_first() {
            if is_start(text) && !steps.is_empty() {
                break;
            }
            let text = text.split(" # ").next().unwrap_or(text).trim_end();
            if let Some(inputs) = text.strip_prefix("> ") {
                if inputs != "start" {
                    steps.push((*line, Step::Inputs(inputs.to_owned())));
                }
            } else {
                let block = rest.iter().take_while(|(_, line)| line.starts_with("  ")).count();
                let (block, below) = rest.split_at(block);
                rest = below;
                if block.is_empty() {
                    steps.extend(text.split("; ").map(|t| (*line, Step::Holds(t.to_owned()))));
                } else {
                    let all = block.iter().fold(text.to_owned(), |all, (_, l)| all + "\n" + l);
                    steps.push((*line, Step::Holds(all)));
                }
            }
            lines = rest;
        }
        match steps.last() {
            Some((_, Step::Holds(_))) => found.push(Run { edits, steps }),
            Some((line, Step::Inputs(_))) => {
                return Err((*line, "nothing is said of what comes of this".to_owned()));
            }
            None => return Err((head, "nothing is said of what holds".to_owned())),
        }
    }
    Ok(found)
}

#[test]
fn every_section_is_a_test_and_every_test_has_one() {
    for cases in ALL {
        let sections = cases.sections();
        let found: Vec<_> = sections.iter().filter_map(|s| s.head.1.strip_prefix("-- ")).collect();
        let unlisted: Vec<_> = found.iter().filter(|name| !cases.names.contains(name)).collect();
        let missing: Vec<_> = cases.names.iter().filter(|name| !found.contains(name)).collect();
        let fits = unlisted.is_empty() && missing.is_empty();
        assert!(fits, "{}: no test: {unlisted:?}, no section: {missing:?}", cases.file);
        let heads: BTreeSet<&str> = sections.iter().map(|s| s.head.1).collect();
        assert_eq!(heads.len(), sections.len(), "{}: two have one name", cases.file);
    }
    let listed: BTreeSet<String> = ALL.iter().map(|cases| cases.file.to_owned()).collect();
    let there = files("tests/language/semantics", ".cases").into_iter().collect();
    assert_eq!(listed, there);
}

/// What is said of a case with these lines below a chart.
fn said(lines: &'static str) -> String {
    let text = format!(
        "-- c\nchart T {{ event e var n: Int = 0 initial s state s {{ on e {{ n = 1 }} }} }}\n{lines}"
    );
    let cases = Cases { file: "a.cases", text: text.leak(), names: &[] };
    cases.run("c", false).err().unwrap_or_default()
}

#[test]
fn what_cannot_be_read_is_refused() {
    for (lines, why) in [
        ("> send e\nn = 1", ""),
        ("", "a.cases:1: c: nothing is said of what holds"),
        ("> send e", "a.cases:3: c: nothing is said of what comes of this"),
        (
            "> send e\nn = 1\n> start\n> send e",
            "a.cases:6: c: nothing is said of what comes of this",
        ),
        ("> sends e\nn = 1", "a.cases:3: c: `sends e`: there is no such input"),
        ("> send f\nn = 1", "a.cases:3: c: `send f`: there is no `f`"),
        ("> send\nn = 1", "a.cases:3: c: `send`: there is no such input"),
        ("> turn e\nn = 1", "a.cases:3: c: `turn e`: there is no such input"),
        ("> done e\nn = 1", "a.cases:3: c: `done e`: there is no `e`"),
        ("> start\nis s", "a.cases:4: c: nothing is called `is`"),
        ("> start\ntrace hat event e", "a.cases:4: c: nothing is called `trace hat`"),
        ("> start\noptions f: none", "a.cases:4: c: there is no `f`"),
        ("> start\nm = 1", "a.cases:4: c: there is no `m`"),
        ("- on f\n+ on e\n> send e\nn = 1", "a.cases:3: the chart does not have `on f` once"),
    ] {
        assert_eq!(said(lines), why, "{lines}");
    }
}

#[test]
fn what_does_not_hold_is_an_assertion_that_fails() {
    assert_eq!(
        said("> start\nn = 0; at s\n> send e # once\nn = 0 # or twice"),
        "a.cases:6: c: assertion failed\n   after: send e\nexpected: n = 0\n      is: n = 1"
    );
    assert_eq!(
        said("> send e\ntrace has\n  event e\n  refused e"),
        "a.cases:4: c: assertion failed\n   after: send e\nexpected: trace has\n  event e\n  refused e\n      is: trace\n  entered \n  entered s\n  event e\n  taken on s -> "
    );
}
