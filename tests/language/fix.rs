//! Fixes: what they change, and that they change nothing else.

use chartc::check;
use chartc::load::Memory;
use chartc_compiler::fix::{Extent, Fixed, fix};
use std::collections::BTreeMap;
use test_support::project::{cases, files, read, shared};

fn fixed(path: &str, texts: &Memory, extent: Extent) -> Fixed {
    fix(&[path.to_owned()], texts, &|_| 0, extent, &|_, _| true)
}

fn safe(path: &str, text: &str) -> String {
    let fixed = fixed(path, &Memory::of(path, text), Extent::Safe);
    fixed.texts.get(path).cloned().unwrap_or_else(|| text.to_owned())
}

const CHART: &str = "chart Door {
  event open
  param name: Text
  initial shut
  state shut {
    on open -> opened
    llm ask { prompt \"Hello {name}.\" error -> shut }
  }
  state opened { on open -> shut }
}
";

#[test]
fn each_kind_of_safe_fix_restores_the_text() {
    let base = CHART.replace("Hello {name}.", "Hello {name}. {{\\\"a\\\": {name}}}");
    for (right, wrong) in [
        ("on open -> opened", "on opne -> opened"),
        ("on open -> opened", "on open -> openedd"),
        ("state opened", "stat opened"),
        ("{name}.", "{nane}."),
        ("{{\\\"a\\\": {name}}}", "{\\\"a\\\": {name}}"),
    ] {
        let broken = base.replacen(right, wrong, 1);
        assert_ne!(broken, base, "{wrong}");
        assert_eq!(safe("door.chart", &broken), base, "{wrong}");
    }
}

#[test]
fn an_ask_gets_its_else() {
    let text = "chart A {\n  initial a\n  state a {\n    ask q on turn { prompt \"{options}\" } // why\n    may x \"x\" -> b\n    may y \"y\" -> c\n  }\n  final b\n  final c\n}\n";
    assert_eq!(safe("a.chart", text), text.replace("on turn {", "on turn else stay {"));
}

#[test]
fn keys_of_an_agent_go_where_they_belong() {
    let text = "id: x\r\nllm_model: m\r\nstate_machine:\r\n  states: [a, b]\r\n  initial_state: a\r\n# about the workflow\r\nworkflow:\r\n  steps:\r\n    - name: s\r\n      type: llm\r\n      temperature: 1 # warm\r\n      prompt: hello\r\n";
    let made = safe("agent.yaml", text);
    assert_eq!(
        made,
        "id: x\r\ntemperature: 1 # warm\r\nllm_model: m\r\n# about the workflow\r\nworkflow:\r\n  steps:\r\n    - name: s\r\n      type: llm\r\n      prompt: hello\r\n  state_machine:\r\n    states: [a, b]\r\n    initial_state: a\r\n"
    );
    // A second time, nothing is left to do.
    assert_eq!(safe("agent.yaml", &made), made);
}

#[test]
fn a_name_that_two_resemble_is_not_fixed() {
    let text = CHART
        .replace("event open", "event open\n  event opan")
        .replace("on open -> opened", "on oppn -> opened");
    assert_eq!(safe("door.chart", &text), text);
}

#[test]
fn a_distant_name_needs_consent() {
    let text = CHART.replace("on open -> opened", "on open -> opned_");
    assert_eq!(safe("door.chart", &text), text);
    let all = fixed("door.chart", &Memory::of("door.chart", &text), Extent::All);
    assert_eq!(all.texts["door.chart"], CHART);
}

/// While a declaration cannot be read, its name is not replaced by a similar one.
#[test]
fn names_are_not_guessed_while_declarations_are_unread() {
    let text = "enxum Kind { a b }\nchart A {\n  input kind: Text = \"\"\n  event go\n  initial a\n  state a { on go if kind == Kind.a -> b }\n  state b { on go -> a }\n}\n";
    let made = safe("a.chart", text);
    assert_eq!(made.lines().skip(1).collect::<Vec<_>>(), text.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn a_condition_is_written_if() {
    let text = "chart W {\n  event go(n: Int)\n  initial a\n  state a {\n    on go(n) when n > 3 -> b\n  }\n  state b { on go -> a }\n}\n";
    assert_eq!(safe("w.chart", text), text.replace("when", "if"));
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// The words of a text: letters and digits.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// The word with one slip of the finger.
fn slip(word: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = dice.below(letters.len());
    match dice.below(4) {
        0 => letters.insert(at, 'x'),
        1 => {
            letters.remove(at);
        }
        2 => letters[at] = 'q',
        _ if at > 0 => letters.swap(at - 1, at),
        _ => letters[at] = 'z',
    }
    letters.into_iter().collect()
}

/// A typo in a sound file is fixed so that the file is as it was, or so that the misspelt name is used everywhere.
#[test]
fn typos_are_fixed_and_nothing_else_changes() {
    let mut texts = BTreeMap::new();
    for ending in [".chart", ".yaml", ".scxml"] {
        for name in files("charts", ending) {
            texts.insert(name.clone(), read(&name));
        }
    }
    let own: Vec<String> = texts
        .keys()
        .filter(|name| !name.contains("_components") && !name.contains("script"))
        .filter(|name| !name.ends_with(".test.chart"))
        .filter(|name| check(&[(*name).clone()], &Memory(texts.clone())).diagnostics.is_empty())
        .cloned()
        .collect();
    assert!(own.len() >= 5, "{own:?}");
    let (mut found, mut offered, mut made) = (0, 0, 0);
    for case in 0..cases(150_u64) {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (case + 1).wrapping_mul(0xD134_2543_DE82_EF95));
        dice.below(2);
        let name = &own[dice.below(own.len())];
        let text = &texts[name];
        let all = words(text);
        let (at, word) = all[dice.below(all.len())];
        if word.len() < 3 {
            continue;
        }
        let typo = slip(word, &mut dice);
        if typo == word || typo.is_empty() {
            continue;
        }
        let mut broken = text.clone();
        broken.replace_range(at..at + word.len(), &typo);
        let mut memory = Memory(texts.clone());
        memory.0.insert(name.clone(), broken.clone());
        let before = check(std::slice::from_ref(name), &memory);
        found += usize::from(!before.diagnostics.is_empty());
        let is_offered =
            before.diagnostics.iter().any(|d| d.fix.as_ref().is_some_and(|f| f.is_safe));
        offered += usize::from(is_offered);
        let fixed = fixed(name, &memory, Extent::Safe);
        let Some(after) = fixed.texts.get(name) else { continue };
        made += 1;
        let renamed: Vec<&str> = words(after).into_iter().map(|(_, w)| w).collect();
        let original: Vec<&str> =
            all.iter().map(|(_, w)| if *w == word { typo.as_str() } else { w }).collect();
        let is_renamed = renamed.len() == original.len()
            && renamed.iter().zip(&original).all(|(a, b)| a == b || *a == word && *b == typo);
        assert!(
            after == text || is_renamed,
            "case {case}, {name}: `{word}` -> `{typo}`\n{}",
            similar_asserts(text, after)
        );
        assert!(fixed.done.diagnostics.len() <= before.diagnostics.len(), "case {case}");
        let mut again = Memory(texts.clone());
        again.0.insert(name.clone(), after.clone());
        let again = self::fixed(name, &again, Extent::Safe);
        assert!(again.texts.is_empty(), "case {case}: fixed twice");
    }
    eprintln!("{found} typos found, {offered} with a safe fix, {made} fixed");
    assert!(made * 5 >= found, "{made} of {found}");
}

/// The lines that differ.
fn similar_asserts(old: &str, new: &str) -> String {
    let lines = old.lines().zip(new.lines()).filter(|(a, b)| a != b);
    lines.map(|(a, b)| format!("- {a}\n+ {b}\n")).collect()
}

/// After the safe fixes of everything that has some, no safe fix is left, and what was sound stays as it is.
#[test]
fn shared_files_have_no_safe_fix_left() {
    let Some(shared) = shared() else { return };
    let mut open = vec![shared.join("cases"), shared.join("agent_yaml")];
    let (mut changed, mut count) = (0, 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("it is a folder");
            open.extend(entries.map(|entry| entry.expect("it is readable").path()));
            open.sort();
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = if path.starts_with(shared.join("agent_yaml")) {
            "agent.yaml".to_owned()
        } else {
            name
        };
        if !chartc_compiler::front::is_named_as_chart(&name) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let first = fixed(&name, &Memory::of(&name, &text), Extent::Safe);
        let Some(made) = first.texts.get(&name) else { continue };
        changed += 1;
        count += first.count;
        let again = fixed(&name, &Memory::of(&name, made), Extent::Safe);
        assert!(again.texts.is_empty(), "{}: fixed twice", path.display());
        assert_eq!(
            again.done.diagnostics.len(),
            first.done.diagnostics.len(),
            "{}",
            path.display()
        );
    }
    eprintln!("{count} findings fixed in {changed} shared files");
}
