//! Tests that nobody would write: nothing panics, and what is printed reads as the same.

use super::{chartc, folder};
use chartc::load::Memory;
use chartc_compiler::syntax::print::print;
use test_support::project::{files, read};

/// Changed texts of each file.
const ROUNDS: u64 = 40;

/// A generator of numbers, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// The text with a few words taken out, doubled, or put elsewhere.
fn changed(text: &str, dice: &mut Dice) -> String {
    let mut words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    for _ in 0..=dice.below(4) {
        let at = dice.below(words.len());
        match dice.below(3) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, words[dice.below(words.len())]),
            _ => {
                let other = dice.below(words.len());
                words.swap(at, other);
            }
        }
    }
    words.concat()
}

#[test]
fn changed_tests_are_read_and_printed() {
    let memory = files("charts", "").into_iter().map(|path| (path.clone(), read(&path)));
    let mut memory = Memory(memory.collect());
    for path in files("charts", ".test.chart") {
        let text = read(&path);
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ text.len() as u64);
        for round in 0..ROUNDS {
            memory.0.insert(path.clone(), changed(&text, &mut dice));
            let done = chartc::check_within(std::slice::from_ref(&path), &memory, 0);
            let file = done.files.iter().find(|f| done.sources.get(f.id).name == path);
            let printed = print(file.expect("it was read"));
            if done.diagnostics.iter().any(|d| d.rule.code.starts_with("C00")) {
                continue;
            }
            let mut again = memory.clone();
            again.0.insert(path.clone(), printed.clone());
            let once_more = chartc::check_within(std::slice::from_ref(&path), &again, 0);
            let file = once_more.files.iter().find(|f| once_more.sources.get(f.id).name == path);
            assert_eq!(print(file.expect("it was read")), printed, "{path}, round {round}");
            let words = |all: &[chartc::diagnostic::Diagnostic]| -> Vec<String> {
                all.iter().map(|d| d.message.clone()).collect()
            };
            assert_eq!(words(&once_more.diagnostics), words(&done.diagnostics), "{path}, {round}");
        }
        memory.0.insert(path.clone(), text);
    }
}

#[test]
fn bodies_that_make_no_sense() {
    let folder = folder("hostile");
    let bodies = [
        "",
        "}",
        "{",
        "expect",
        "expect not",
        "turns 99999999999999999999",
        "turns 0",
        "wait -1s",
        "wait 99999999999d",
        "expect ((((((((((((((((true))))))))))))))))",
        "answers \"x\" \"y\"",
        "given = 3",
        "at a a a",
        "at a, a",
        "expect at a, b",
        "send",
        "send go go",
        "tool x.y",
        "expect offered only",
        "expect denied ->",
        "given fn f(",
        "expect 1 / 0 == 1.0",
        "expect [x for x in [1]] == [1]",
        "set x = set x = 1",
        "answers a \"\\u{1F989}\"",
        "\u{0}",
        "// only a comment",
        "expect ended ok ended ok",
        "expect event == \"\" and state == \"\"",
    ];
    for (nth, body) in bodies.iter().enumerate() {
        let text = format!(
            "chart P {{ event go  initial a  state a {{ on go -> b }}  state b }}\ntest \"x\" for P {{ {body}\n}}\n"
        );
        std::fs::write(folder.join("it.chart"), text).expect("it can be written");
        let (found, code) = chartc(&folder, &["test", "it.chart"]);
        assert!((0..=1).contains(&code), "{nth}, `{body}`: {code}\n{found}");
    }
}

fn check(text: &str) -> chartc::Compilation {
    chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text))
}

/// Tests each of which would make far too many turns.
fn endless(tests: usize) -> String {
    let all: String =
        (0..tests).map(|n| format!("test \"t{n}\" for A {{ turns 90000 }}\n")).collect();
    let list = ["7"; 40].join(", ");
    format!(
        "chart A {{\n  var x: List(Int) = [{list}]\n  var n: Int = 0\n  initial a\n  state a {{ on turn {{ for i in x {{ for j in x {{ n = n + 1 }} }} }} }}\n}}\n{all}"
    )
}

#[test]
fn the_tests_of_a_check_share_their_steps() {
    for tests in [1, 10, 100] {
        let done = check(&endless(tests));
        let (found, steps) = chartc::scenario::failed_within(&done, 300_000);
        assert!(steps <= 300_000, "{steps}");
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!(found.rule.code, "C0014");
        assert!(tests == 1 || found.message.starts_with(&format!("{tests} tests")), "{found:?}");
    }
}

#[test]
fn tests_that_end_take_what_they_take() {
    let text = endless(1).replace("turns 90000", "turns 3 expect n == 4800");
    let (found, steps) = chartc::scenario::failed_within(&check(&text), 300_000);
    assert!(found.is_empty(), "{found:?}");
    let again = chartc::scenario::failed_within(&check(&text), 300_000).1;
    assert_eq!(steps, again);
    assert!((3 * 1600..100_000).contains(&steps), "{steps}");
}
