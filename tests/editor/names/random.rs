//! Random charts and what goes with them.

#[path = "../../language/soundness/random.rs"]
#[allow(unreachable_pub, reason = "the tests of the analyses have it, too")]
mod charts;

use super::corpus::Set;
use super::renaming::{Tally, try_all};
use chartc::ide::names;
use chartc::load::Memory;
use charts::Random;

const FAMILIES: u64 = 12;
const BROKEN: u64 = 60;

const TOP: &str = "import \"t.chart\"
chart Top {
  event a  event e.one  event e.two
  var m: Int = 0
  initial x
  state x {
    on a -> y
    on e -> x { m = m + 1 }
  }
  state y {
    run child T
    run other T events all
    on done(child) -> z(m)
    on e.one { send a to other }
  }
  final z(n: Int)
}
test \"it moves\" for Top {
  send a
  expect at y
  expect m == 0
}
test \"the child waits\" for T {
  given m = 1
  set n = 2
  expect m == 1
}
";

/// A random chart, and another that runs it, with tests of both.
fn family(seed: u64) -> Set {
    let mut random = Random::new(seed);
    let child = charts::chart(&mut random);
    let files = [("t.chart", child), ("top.chart", TOP.to_owned())];
    let files = Memory(files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect());
    Set { name: format!("family {seed}"), files, roots: vec!["top.chart".to_owned()] }
}

#[test]
fn random_families_keep_all_but_the_name() {
    let mut tally = Tally::default();
    for seed in 0..FAMILIES {
        try_all(&family(seed), 12, &mut tally);
    }
    println!("{:#?}\n{:#?}", tally.done, tally.refused);
    assert!(tally.refused.is_empty(), "{:#?}", tally.refused);
    assert!(tally.done.values().sum::<usize>() as u64 > 8 * FAMILIES, "{:?}", tally.done);
}

/// Texts in which words are missing, doubled or swapped: every place can be asked for.
#[test]
fn no_place_of_a_broken_text_is_too_much() {
    for seed in 0..BROKEN {
        let mut random = Random::new(seed);
        let text = charts::chart(&mut random);
        let text = charts::broken(&mut random, &text);
        let done = chartc_compiler::compile::check_indexed(
            &["a.chart".to_owned()],
            &Memory::of("a.chart", &text),
            0,
        );
        let file = chartc::span::FileId(0);
        for at in (0..=text.len() + 1).chain([usize::MAX]) {
            let there = names::references(&done, file, at, true);
            let symbol = names::symbol_at(&done, file, at);
            assert_eq!(symbol.is_some(), !there.is_empty(), "{at} in\n{text}");
            if let Some(symbol) = symbol {
                assert!(there.contains(&symbol.at), "{at} in\n{text}");
                assert!(names::prepare_rename(&done, file, at).is_ok());
                assert!(!names::highlights(&done, file, at).is_empty());
                assert!(!names::definition(&done, file, at).is_empty());
            }
        }
    }
}
