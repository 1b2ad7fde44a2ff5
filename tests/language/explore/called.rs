//! Tools that a chart does not tell apart: one stands for all of them, and what depends on which was called before is found still.

use super::budget::chart;
use chartc_compiler::explore::{Explored, Search, explore};

/// What is found where a model calls so many tools, and the run ends by whether the last two calls were alike.
fn found(tools: usize, set: &str, search: &Search) -> (Explored, Vec<String>) {
    let names = ["t.a", "t.b", "t.c", "t.d", "t.e"];
    let tools: String = names[..tools]
        .iter()
        .map(|name| format!("tool {name}(q: Text, n: Int) -> Json\n"))
        .collect();
    let chart = chart(&format!(
        "{tools}tools all = any\n{set}\nchart A {{\n  client m {{ model \"x:y\" timeout 5s }}\n  initial run\n  state run {{\n    \
         ask next with m on turn else failed {{ prompt \"What now? {{options}}\" }}\n    initial a\n    state a {{\n      may call all\n      \
         when streak(tool) >= 2 and streak(all.q) >= 2 -> both\n      when streak(tool) >= 2 -> tool_only\n      when streak(all.q) >= 2 -> word_only\n    }}\n  }}\n  \
         final both : ok\n  final tool_only : stuck\n  final word_only : canceled\n  final failed : error\n}}\n"
    ));
    let found = explore(&chart, search);
    let leaf = |point: &chartc_compiler::explore::Reached| {
        point.ended.then(|| chart.state(point.leaves[0]).name.clone())
    };
    let mut ends: Vec<String> = found.points.iter().filter_map(leaf).collect();
    ends.sort();
    (found, ends)
}

#[test]
fn tools_that_nothing_tells_apart_are_one() {
    let search = Search { states: 1000, ..Search::default() };
    let (three, ends) = found(3, "", &search);
    let (five, more_ends) = found(5, "", &search);
    assert!(three.is_complete() && five.is_complete());
    assert_eq!(three.points.len(), five.points.len());
    assert!(three.states > three.points.len() && five.states > three.states, "{}", five.states);
    assert_eq!((&ends, ends.len()), (&more_ends, 4), "{ends:?}");
}

#[test]
fn they_weigh_what_they_stand_for() {
    // Where runs are counted every tool is tried as itself.
    let search = Search { states: 1000, ..Search::default() };
    let each = Search { inputs: Some(20), ..search.clone() };
    for tools in 1..=4 {
        let ((alike, ends), (apart, all)) = (found(tools, "", &search), found(tools, "", &each));
        assert_eq!((alike.states, ends), (apart.points.len(), all), "{tools} tools");
        assert_eq!(alike.work, apart.work, "{tools} tools");
    }
}

#[test]
fn a_tool_in_another_set_is_told_from_the_others() {
    let search = Search { states: 1000, ..Search::default() };
    let (alike, _) = found(3, "", &search);
    let (apart, ends) = found(3, "tools first = t.a", &search);
    assert!(apart.is_complete() && ends.len() == 4, "{ends:?}");
    assert_eq!(apart.states, alike.states);
    assert!(apart.points.len() > alike.points.len());
}
