//! Puts single mistakes into sound charts and agents, and counts how many of those that matter are found, and where.
//!
//! ```console
//! cargo run -p chartc-mistakes                                  # the table
//! cargo run -p chartc-mistakes -- --seed 7 --each 60            # other mistakes, more of each kind
//! cargo run -p chartc-mistakes -- --missed "retarget a line"    # those of a kind that are not found
//! cargo run -p chartc-mistakes -- --at-least 60                 # fails if fewer than 60 of 100 are found
//! ```
//!
//! A mistake matters if the changed source has an error, or if the interpreter does something else with it than with the
//! sound one on some of many random inputs; the others are counted apart. It is found if `check` says something that it does not say of
//! the sound source, and found in place if one of the places named is on a changed line, or names what was taken out.
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
mod text;
mod workflow;

use chartc::Compilation;
use chartc::diagnostic::{Diagnostic, Severity};
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
    at_least: usize,
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
        "{} sound sources: {} charts, {agents} agents; seed {}",
        all.len(),
        all.len() - agents,
        options.seed
    );
    let before: Vec<Compilation> = all.iter().map(|i| i.check(None)).collect();
    println!(
        "| mistake | tried | without effect (told) | matter | found | % | in place | % |\n|---|---|---|---|---|---|---|---|"
    );
    let (mut matter, mut found, mut placed, mut tried) = (0, 0, 0, 0);
    for (number, operator) in OPERATORS.iter().enumerate() {
        let mut random = Random::new(options.seed.wrapping_add(number as u64 * 7919));
        let chosen = choose(&all, operator.sites, options.each, &mut random);
        let mut verdicts = Vec::new();
        for (i, edit) in &chosen {
            let verdict = judge(&all[*i], &before[*i], edit, options.seed);
            if options.missed.as_ref().is_some_and(|m| m == operator.name || m == "all")
                && verdict != Verdict::InPlace
            {
                show(&all[*i], edit, verdict);
            }
            verdicts.push(verdict);
        }
        let count = |is: &dyn Fn(&Verdict) -> bool| verdicts.iter().filter(|v| is(v)).count();
        let same = count(&|v| matches!(v, Verdict::Same { .. }));
        let told = count(&|v| *v == Verdict::Same { told: true });
        let in_place = count(&|v| *v == Verdict::InPlace);
        let seen = in_place + count(&|v| *v == Verdict::Elsewhere);
        let here = verdicts.len() - same;
        println!(
            "| {} | {} | {same} ({told}) | {here} | {seen} | {} | {in_place} | {} |",
            operator.name,
            verdicts.len(),
            share(seen, here),
            share(in_place, here)
        );
        tried += verdicts.len();
        matter += here;
        found += seen;
        placed += in_place;
    }
    println!(
        "| all | {tried} | {} | {matter} | {found} | {} | {placed} | {} |",
        tried - matter,
        share(found, matter),
        share(placed, matter)
    );
    if found * 100 < options.at_least * matter {
        eprintln!("fewer than {} of 100 are found", options.at_least);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut made = Options { seed: 1, each: 60, missed: None, at_least: 0 };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is no number"));
        match word.as_str() {
            "--seed" => made.seed = number()?,
            "--each" => made.each = number()? as usize,
            "--at-least" => made.at_least = number()? as usize,
            "--missed" => made.missed = Some(value),
            _ => {
                return Err(format!(
                    "no option `{word}`: there are --seed, --each, --missed and --at-least"
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

fn judge(input: &Input, before: &Compilation, edit: &Edit, seed: u64) -> Verdict {
    let changed = edit.apply(input.text());
    let after = input.check(Some(&changed.text));
    let new = news(before, &after);
    let broken = after
        .diagnostics
        .iter()
        .any(|d| d.severity == Severity::Error && d.rule.is_firm())
        && !before.diagnostics.iter().any(|d| d.severity == Severity::Error && d.rule.is_firm());
    let matters = broken || before.charts.len() != after.charts.len() || {
        let world = World::of(&[input.text(), &changed.text]);
        before
            .charts
            .iter()
            .zip(&after.charts)
            .any(|(a, b)| differ(a.chart(), b.chart(), &world, seed))
    };
    if !matters {
        return Verdict::Same { told: !new.is_empty() };
    }
    if new.is_empty() {
        Verdict::Missed
    } else if new.iter().any(|d| is_in_place(d, &after, &changed)) {
        Verdict::InPlace
    } else {
        Verdict::Elsewhere
    }
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

fn is_in_place(found: &Diagnostic, after: &Compilation, changed: &Changed) -> bool {
    let places = std::iter::once(found.span).chain(found.related.iter().map(|(span, _)| *span));
    for place in places {
        let source = after.sources.get(place.file);
        let (first, last) = (source.position(place.start).line, source.position(place.end).line);
        if changed.lines.iter().any(|l| first <= *l && *l <= last && last - first < 3) {
            return true;
        }
    }
    let quoted = found.message.split('`').skip(1).step_by(2);
    quoted.flat_map(words).any(|word| changed.lost.contains(&word))
}

fn show(input: &Input, edit: &Edit, verdict: Verdict) {
    let changed = edit.apply(input.text());
    let how = match verdict {
        Verdict::Same { .. } => "without effect",
        Verdict::Missed => "missed",
        Verdict::Elsewhere | Verdict::InPlace => "elsewhere",
    };
    println!("  {how}: {} line {:?}", input.name, changed.lines);
    let (old, new): (Vec<&str>, Vec<&str>) =
        (input.text().lines().collect(), changed.text.lines().collect());
    for line in old.iter().filter(|l| !new.contains(l)).take(3) {
        println!("    - {}", line.trim());
    }
    for line in new.iter().filter(|l| !old.contains(l)).take(3) {
        println!("    + {}", line.trim());
    }
    if verdict != Verdict::Missed {
        let after = input.check(Some(&changed.text));
        for d in news(&input.check(None), &after) {
            let line = after.sources.get(d.span.file).position(d.span.start).line;
            println!("      {line}: {} {}", d.rule.code, d.message);
        }
    }
}
