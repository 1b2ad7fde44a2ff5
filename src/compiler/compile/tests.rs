mod costs;

use super::*;
use crate::front::load::Memory;
use crate::rules::RULES;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The lints in a pseudorandom order (Fisher–Yates with a linear congruential generator).
fn shuffled(seed: u64) -> Vec<&'static Lint> {
    let mut lints = LINTS.to_vec();
    let mut state = seed;
    for i in (1..lints.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lints.swap(i, (state >> 33) as usize % (i + 1));
    }
    lints
}

/// All findings for a text, in the order in which they are reported.
fn found(lints: &[&Lint], path: &str, text: &str) -> Vec<String> {
    let (states, go_on) = (|_: &str| 200, || Ok::<(), Infallible>(()));
    let check = Check { lints, states: &states, jobs: &one_by_one, go_on: &go_on };
    let Ok(done) = check.run(&[path.to_owned()], &Memory::of(path, text), None);
    done.diagnostics.iter().chain(&done.silent).map(|found| format!("{found:?}")).collect()
}

/// The examples of all pages, as pairs of path and text.
fn examples() -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for rule in RULES {
        let mut blocks = rule.page.split("```");
        while let (Some(_), Some(block)) = (blocks.next(), blocks.next()) {
            let Some((head, text)) = block.split_once('\n') else { continue };
            let path = if head.starts_with("chart") {
                "a.chart"
            } else if head.starts_with("yaml") {
                "agent.yaml"
            } else {
                continue;
            };
            all.push((path, text.to_owned()));
        }
    }
    all
}

#[test]
fn lints_find_the_same_in_any_order() {
    let examples = examples();
    assert!(examples.len() > 150, "{} examples", examples.len());
    let mut told = 0;
    for seed in [1, 7, 2026] {
        let order = shuffled(seed);
        for (path, text) in &examples {
            let one = found(LINTS, path, text);
            told += one.len();
            assert_eq!(one, found(&order, path, text), "seed {seed}\n{text}");
        }
    }
    assert!(told > 300, "{told} findings");
}

#[test]
fn findings_of_one_cause_are_one_finding() {
    let text = "chart T {\n  event go\n  var count: Text = 0\n  initial a\n  state a {\n    on go if count > 3 -> b\n    \
                on go if count < 9 { count = count + 1 }\n  }\n  final b\n}\n";
    let done = check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let [found] = &done.diagnostics[..] else { panic!("{:#?}", done.diagnostics) };
    assert_eq!((found.rule.code, found.related.len()), ("C0401", 3));
    let text = "chart T {\n  event go\n  event more\n  param n: Int = 0\n  initial a\n  \
        state a { on go -> w on more -> c }\n  \
        state w {\n    initial p\n    state p { on more -> q }\n    state q { on more -> p }\n    \
        on go if n > 5 and n < 3 -> b\n  }\n  final b\n  final c\n}\n";
    let done = check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let told: Vec<_> = done.diagnostics.iter().map(|d| (d.rule.code, d.related.len())).collect();
    // The impossible guard makes `w` a trap.
    assert_eq!(told, [("C0308", 1), ("C0203", 0)]);
}

#[test]
fn a_check_ends_when_nobody_wants_it() {
    let text = "chart T {\n  event go\n  initial a\n  state a { on go -> b }\n  state b\n  check reaches(b)\n  \
        check reaches(a)\n}\n";
    let (paths, loader) = (["a.chart".to_owned()], Memory::of("a.chart", text));
    let run = |most: usize| {
        let asked = AtomicUsize::new(0);
        let is_outdated = || asked.fetch_add(1, Ordering::Relaxed) >= most;
        (check_unless(&paths, &loader, &|_| STATES, &is_outdated), asked.into_inner())
    };
    let (done, asked) = run(usize::MAX);
    // Between stages, before each property and before each lint.
    assert!(asked > LINTS.len() + 5, "{asked}");
    let whole = check_indexed(&paths, &loader, STATES);
    let done = done.expect("it is wanted");
    assert_eq!(format!("{:?}", done.diagnostics), format!("{:?}", whole.diagnostics));
    assert_eq!(done.uses, whole.uses);
    assert!(!whole.uses.is_empty() && check(&paths, &loader).uses.is_empty());
    for most in 0..asked {
        let (done, more) = run(most);
        assert_eq!(done.err(), Some(Outdated), "{most} of {asked}");
        // A few loops ask once more as they end.
        assert!(more <= most + 4, "{more} instead of {most}");
    }
}
