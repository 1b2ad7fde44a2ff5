use super::{BodyKind, CompletionContext, in_placeholder, spot};

/// The place marked with `§`.
fn at(text: &str) -> CompletionContext {
    let offset = text.find('§').unwrap_or(text.len());
    spot(&text.replace('§', ""), offset).expect("a place")
}

#[test]
fn the_bodies_around_a_place_are_found_in_broken_texts() {
    let found = at("chart A {\n  state a {\n    on go -> b { x = 1  if § \n  state b {}\n}\n");
    let places: Vec<BodyKind> = found.open.iter().map(|open| open.place).collect();
    assert_eq!(places, [BodyKind::Chart, BodyKind::State, BodyKind::Actions]);
    assert!(found.next.expression, "{found:?}");
    let found = at("chart A {\n  state a {\n    llm s { done if x == 1 -> §");
    assert_eq!(found.place(), BodyKind::Step);
    assert!(found.next.name && !found.next.expression, "{found:?}");
    let found = at("chart A {\n  state 5 {\n    on §");
    assert_eq!(found.place(), BodyKind::State);
    assert!(found.next.words.contains(&"done"), "{found:?}");
}

#[test]
fn keywords_are_those_that_the_grammar_takes() {
    let words = |text: &str| at(text).next.words;
    assert!(words("§").contains(&"chart"));
    assert!(!words("§").contains(&"state"));
    let chart = words("chart A {\n  §");
    for word in ["state", "var", "on", "each", "after", "llm", "check", "meta"] {
        assert!(chart.contains(&word), "{word} in {chart:?}");
    }
    assert!(!words("chart A { state a { §").contains(&"var"));
    assert_eq!(words("chart A { from * { §"), ["after", "each", "may", "on", "when"]);
    assert!(words("chart A { ask s on turn §").contains(&"else"));
    assert!(words("chart A { ask s on turn else §").contains(&"stay"));
    assert!(words("chart A { state a { on go §").contains(&"if"));
    assert!(words("chart A { run c C at §").contains(&"entry"));
    assert!(words("chart A { llm s { done if x §").contains(&"and"));
    assert!(words("test \"t\" for A {\n  expect §").contains(&"offered"));
    assert!(in_placeholder("if x ").words.contains(&"then"));
}
