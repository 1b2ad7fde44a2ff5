//! Puts single mistakes into sound charts and agents, and counts how many of those that matter are found, and where.
//!
//! ```console
//! cargo run -p chartc-mistakes                                  # the table
//! cargo run -p chartc-mistakes -- --seed 7 --each 60            # other mistakes, more of each kind
//! cargo run -p chartc-mistakes -- --missed "retarget a line"    # those of a kind that are not found; --missed-alone: without tests
//! cargo run -p chartc-mistakes -- --at-least 60                 # fails if analysis finds fewer than 60 of 100
//! cargo run -p chartc-mistakes -- --at-least-tested 80          # likewise, with the tests of the sources
//! ```
//!
//! A mistake matters if the changed source has an error, or if the interpreter does something else with it than with the
//! sound one on some of many random inputs, or if a test that passes on the sound one fails; the others are counted apart. It is found
//! if `check` says something that it does not say of the sound source, and found in place if one of the places named is on a changed
//! line, or names what was taken out.
//!
//! All is counted twice: by analysis alone, without any test, and with the tests of the source, which `check` plays as well. A chart or
//! an agent has the tests that lie beside it, in `x.test.chart`; random charts have those that `scenarios` writes from what they are meant to do,
//! never from what they do. A source without tests counts the same in both. Only sources whose tests pass are sound.
//! `CHARTC_SHARED` may name a folder with more agents, in `agent_yaml/files`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it is a program: it reads files and arguments and prints"
)]

mod edit;
mod input;
mod operators;
mod play;
mod random;
mod scenarios;
mod text;
mod workflow;

use chartc::Compilation;
use chartc::diagnostic::{Diagnostic, Severity};
use chartc::span::Span;
use edit::{Changed, Edit, words};
use input::{Input, inputs};
use operators::OPERATORS;
use play::{World, differ};
use random::Random;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use text::Text;

/// What the command line says.
struct Options {
    seed: u64,
    each: usize,
    missed: Option<String>,
    missed_alone: Option<String>,
    at_least: usize,
    at_least_tested: usize,
}

/// What became of a mistake, by analysis alone and with tests.
struct Verdicts {
    alone: Verdict,
    tested: Verdict,
}

/// What became of a mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It changes nothing.
    Same {
        told: bool,
    },
    Missed,
    Elsewhere,
    InPlace,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var("CHARTC_SHARED")
        .unwrap_or_else(|_| root.join("../shared").display().to_string());
    let all = inputs(&root, Some(Path::new(&shared)), options.seed);
    let agents = all.iter().filter(|i| i.notation == text::Notation::Yaml).count();
    println!(
        "{} sound sources: {} charts, {agents} agents, {} of them with tests; seed {}",
        all.len(),
        all.len() - agents,
        all.iter().filter(|i| i.is_tested()).count(),
        options.seed
    );
    let before: Vec<Before> =
        all.iter().map(|i| Before { alone: i.check(None), played: i.play(None) }).collect();
    println!(
        "| mistake | tried | without effect (told) | matter | found | % | in place | % | with tests | % | in place | % |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    let mut sum = Counts::default();
    for (number, operator) in OPERATORS.iter().enumerate() {
        let mut random = Random::new(options.seed.wrapping_add(number as u64 * 7919));
        let chosen = choose(&all, operator.sites, options.each, &mut random);
        let mut verdicts = Vec::new();
        for (i, edit) in &chosen {
            let verdict = judge(&all[*i], &before[*i], edit, options.seed);
            let is_asked = |kind: &Option<String>| {
                kind.as_ref().is_some_and(|m| m == operator.name || m == "all")
            };
            if is_asked(&options.missed) && verdict.tested != Verdict::InPlace
                || is_asked(&options.missed_alone) && verdict.alone != Verdict::InPlace
            {
                show(&all[*i], edit, &verdict);
            }
            verdicts.push(verdict);
        }
        let counts = Counts::of(&verdicts);
        println!("| {} | {} |", operator.name, counts.row());
        sum.add(&counts);
    }
    println!("| all | {} |", sum.row());
    let fewer = |found: usize, bar: usize| found * 100 < bar * sum.matter;
    if fewer(sum.alone.0, options.at_least) {
        eprintln!("analysis finds fewer than {} of 100", options.at_least);
        return ExitCode::FAILURE;
    }
    if fewer(sum.tested.0, options.at_least_tested) {
        eprintln!("with tests, fewer than {} of 100 are found", options.at_least_tested);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// How many of the mistakes of a kind were found.
#[derive(Default)]
struct Counts {
    tried: usize,
    /// Without effect, and those of them that are told of all the same.
    same: (usize, usize),
    matter: usize,
    /// Found, and found in place.
    alone: (usize, usize),
    tested: (usize, usize),
}

impl Counts {
    fn of(all: &[Verdicts]) -> Self {
        let count = |is: &dyn Fn(&Verdicts) -> bool| all.iter().filter(|v| is(v)).count();
        let both = |of: &dyn Fn(&Verdicts) -> Verdict| {
            let placed = count(&|v| of(v) == Verdict::InPlace);
            (placed + count(&|v| of(v) == Verdict::Elsewhere), placed)
        };
        let same = count(&|v| matches!(v.alone, Verdict::Same { .. }));
        let told = count(&|v| v.alone == Verdict::Same { told: true });
        Self {
            tried: all.len(),
            same: (same, told),
            matter: all.len() - same,
            alone: both(&|v| v.alone),
            tested: both(&|v| v.tested),
        }
    }

    fn add(&mut self, other: &Self) {
        let pair = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        self.tried += other.tried;
        self.same = pair(self.same, other.same);
        self.matter += other.matter;
        self.alone = pair(self.alone, other.alone);
        self.tested = pair(self.tested, other.tested);
    }

    fn row(&self) -> String {
        let mut row =
            format!("{} | {} ({}) | {}", self.tried, self.same.0, self.same.1, self.matter);
        for (found, placed) in [self.alone, self.tested] {
            let (all, here) = (share(found, self.matter), share(placed, self.matter));
            row.push_str(&format!(" | {found} | {all} | {placed} | {here}"));
        }
        row
    }
}

/// What is found in the sound source.
struct Before {
    alone: Compilation,
    played: Option<Compilation>,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut made = Options {
        seed: 1,
        each: 60,
        missed: None,
        missed_alone: None,
        at_least: 0,
        at_least_tested: 0,
    };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is no number"));
        match word.as_str() {
            "--seed" => made.seed = number()?,
            "--each" => made.each = number()? as usize,
            "--at-least" => made.at_least = number()? as usize,
            "--at-least-tested" => made.at_least_tested = number()? as usize,
            "--missed" => made.missed = Some(value),
            "--missed-alone" => made.missed_alone = Some(value),
            _ => {
                return Err(format!(
                    "no option `{word}`: there are --seed, --each, --missed, --missed-alone, --at-least and --at-least-tested"
                ));
            }
        }
    }
    Ok(made)
}

fn share(part: usize, whole: usize) -> usize {
    (100 * part + whole / 2).checked_div(whole).unwrap_or(100)
}

/// Up to `each` different mistakes of one kind, from all sources in turn.
fn choose(
    all: &[Input],
    sites: fn(&Text<'_>) -> Vec<Edit>,
    each: usize,
    random: &mut Random,
) -> Vec<(usize, Edit)> {
    let mut piles: Vec<Vec<Edit>> = all
        .iter()
        .map(|input| {
            let mut edits = sites(&Text::of(input.text(), input.notation));
            edits.sort();
            edits.dedup();
            random.shuffle(&mut edits);
            edits
        })
        .collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    random.shuffle(&mut order);
    let mut chosen = Vec::new();
    while chosen.len() < each && piles.iter().any(|p| !p.is_empty()) {
        for i in &order {
            if chosen.len() < each {
                chosen.extend(piles[*i].pop().map(|e| (*i, e)));
            }
        }
    }
    chosen
}

fn judge(input: &Input, before: &Before, edit: &Edit, seed: u64) -> Verdicts {
    let changed = edit.apply(input.text());
    let after = input.check(Some(&changed.text));
    let played = input.play(Some(&changed.text));
    let new = news(&before.alone, &after);
    let tested =
        before.played.as_ref().zip(played.as_ref()).map(|(old, now)| (news(old, now), now));
    let broken =
        after.diagnostics.iter().any(|d| d.severity == Severity::Error && d.rule.is_firm());
    let fails = tested.as_ref().is_some_and(|(new, _)| new.iter().any(|d| d.rule.code == "C0601"));
    let matters = broken || fails || before.alone.charts.len() != after.charts.len() || {
        let world = World::of(&[input.text(), &changed.text]);
        before
            .alone
            .charts
            .iter()
            .zip(&after.charts)
            .any(|(a, b)| differ(a.chart(), b.chart(), &world, seed))
    };
    if !matters {
        let same = Verdict::Same { told: !new.is_empty() };
        return Verdicts { alone: same, tested: same };
    }
    let verdict = |new: &[&Diagnostic], after: &Compilation| {
        if new.is_empty() {
            Verdict::Missed
        } else if new.iter().any(|d| is_in_place(d, input, after, &changed)) {
            Verdict::InPlace
        } else {
            Verdict::Elsewhere
        }
    };
    let alone = verdict(&new, &after);
    let tested = tested.map_or(alone, |(new, after)| verdict(&new, after));
    Verdicts { alone, tested }
}

/// The findings that were not there before: by code and words, as places move.
fn news<'a>(before: &Compilation, after: &'a Compilation) -> Vec<&'a Diagnostic> {
    let mut old: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for d in &before.diagnostics {
        *old.entry((d.rule.code, &d.message)).or_default() += 1;
    }
    let mut new = Vec::new();
    for d in &after.diagnostics {
        match old.get_mut(&(d.rule.code, d.message.as_str())) {
            Some(count) if *count > 0 => *count -= 1,
            _ => new.push(d),
        }
    }
    new
}

fn is_in_place(found: &Diagnostic, input: &Input, after: &Compilation, changed: &Changed) -> bool {
    let places = std::iter::once(found.span).chain(found.related.iter().map(|(span, _)| *span));
    for place in places {
        let source = after.sources.get(place.file);
        if !input.is_here(&source.name) {
            continue;
        }
        let (first, last) = (source.position(place.start).line, source.position(place.end).line);
        if changed.lines.iter().any(|l| first <= *l && *l <= last && last - first < 3) {
            return true;
        }
    }
    let quoted = found.message.split('`').skip(1).step_by(2);
    quoted.flat_map(words).any(|word| changed.lost.contains(&word))
}

fn show(input: &Input, edit: &Edit, verdicts: &Verdicts) {
    let changed = edit.apply(input.text());
    let how = |verdict: Verdict| match verdict {
        Verdict::Same { .. } => "without effect",
        Verdict::Missed => "missed",
        Verdict::Elsewhere => "elsewhere",
        Verdict::InPlace => "in place",
    };
    let (alone, tested) = (how(verdicts.alone), how(verdicts.tested));
    println!("  {alone}, with tests {tested}: {} line {:?}", input.name, changed.lines);
    let (old, new): (Vec<&str>, Vec<&str>) =
        (input.text().lines().collect(), changed.text.lines().collect());
    for line in old.iter().filter(|l| !new.contains(l)).take(3) {
        println!("    - {}", line.trim());
    }
    for line in new.iter().filter(|l| !old.contains(l)).take(3) {
        println!("    + {}", line.trim());
    }
    let (before, after) = match input.play(Some(&changed.text)).zip(input.play(None)) {
        Some((after, before)) => (before, after),
        None => (input.check(None), input.check(Some(&changed.text))),
    };
    for d in news(&before, &after) {
        let line = |span: Span| after.sources.get(span.file).position(span.start).line;
        println!("      {}: {} {}", line(d.span), d.rule.code, d.message);
        for (span, what) in &d.related {
            println!("        {}: {what}", line(*span));
        }
    }
}
