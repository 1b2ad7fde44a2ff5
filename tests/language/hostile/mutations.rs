//! Every text of the project with a few tokens changed, and soup of the grammar's words: no stage panics, every finding lies in its
//! file, and whatever comes out sound can be drawn and generated.

use chartc::emit::{EMITTERS, Options};
use chartc::load::Memory;
use chartc::source::Sources;
use chartc::span::Span;
use test_support::project::{corpus, read};

/// Texts that are tried of each kind.
const TRIES: usize = 250;

/// Longer texts are left to others.
const LONGEST: usize = 4_000;

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

/// Words, runs of blanks, and every other character by itself.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => 0,
        ' ' | '\n' => 1,
        _ => 2,
    };
    let mut found = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        if last.is_some_and(|l| l != kind(c) || l == 2) {
            found.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    found.push(&text[start..]);
    found
}

/// What the grammar files write in quotes, and what people may type.
fn words(grammar: &str) -> Vec<&str> {
    let quoted = grammar.split('"').skip(1).step_by(2);
    let own = [
        "a", "b", "A", "x", "1", "0.5", "30s", "\"{x}\"", "\"\"\"", "{", "}", "é", "\u{feff}",
        "\r\n", "\t", "- ", ": ",
    ];
    quoted.filter(|w| !w.is_empty() && !w.contains('\\')).chain(own).collect()
}

fn mutated(text: &str, words: &[&str], dice: &mut Dice) -> String {
    let mut tokens = tokens(text);
    for _ in 0..=dice.below(4) {
        let (at, other) = (dice.below(tokens.len()), dice.below(tokens.len()));
        match dice.below(5) {
            0 => tokens[at] = "",
            1 => tokens.insert(at, tokens[other]),
            2 => tokens.swap(at, other),
            3 => tokens[at] = dice.of(words),
            _ => tokens.truncate(tokens.len().max(40) - dice.below(40)),
        }
    }
    tokens.concat()
}

fn lies_in_its_file(span: Span, sources: &Sources) -> bool {
    let text = &sources.get(span.file).text;
    span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some()
}

/// Runs every stage on a text; what a panic would not show is asserted.
fn survives(name: &str, text: &str) {
    let done = chartc::check(&[name.into()], &Memory::of(name, text));
    for found in &done.diagnostics {
        let spans = std::iter::once(found.span).chain(found.related.iter().map(|(span, _)| *span));
        for span in spans {
            let code = found.rule.code;
            assert!(lies_in_its_file(span, &done.sources), "{code} at {span:?} in\n{text}");
        }
    }
    for report in chartc::report::REPORTS {
        let paper = chartc::report::Terminal { colour: false, width: 100 };
        assert!(!report.render(&done.diagnostics, &done.sources, paper).contains('\0'));
    }
    for file in &done.files {
        chartc_compiler::syntax::print::print(file);
    }
    for chart in &done.charts {
        for emitter in EMITTERS {
            if chart.not_yet().is_empty() {
                let _ = (emitter.emit)(chart, &Options::default());
            }
        }
    }
}

#[test]
fn changed_texts_are_checked_drawn_and_generated() {
    let grammar = read("grammar/chart.pest") + &read("grammar/expression.pest");
    let words = words(&grammar);
    let texts: Vec<_> = corpus().into_iter().filter(|(_, text)| text.len() < LONGEST).collect();
    let mut dice = Dice(1);
    for _ in 0..TRIES {
        let (name, text) = &texts[dice.below(texts.len())];
        survives(name.rsplit('/').next().unwrap_or(name), &mutated(text, &words, &mut dice));
    }
}

#[test]
fn soup_of_words_is_checked() {
    let grammar = read("grammar/chart.pest") + &read("grammar/expression.pest");
    let words = words(&grammar);
    let mut dice = Dice(2);
    for length in 0..TRIES {
        let soup: Vec<&str> = (0..length).map(|_| dice.of(&words)).collect();
        let soup = soup.join(dice.of(&[" ", "\n", ""]));
        survives("a.chart", &format!("chart A {{\n  initial a\n  state a {{\n{soup}"));
        survives("agent.yaml", &format!("id: a\nworkflow:\n  steps:\n    - {soup}"));
    }
}
