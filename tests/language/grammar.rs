//! The grammar in `docs/language.md` is that of the parser: what it derives is parsed, and it has the parser's words.

use chartc_compiler::front::chart::FRONTEND;
use chartc_compiler::front::{Link, Nearby, Unread};
use chartc_compiler::syntax::diagnostic::Diagnostic;
use chartc_compiler::syntax::source::FileId;
use chartc_compiler::syntax::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use test_support::project::read;

const PAGE: &str = include_str!("../../docs/language.md");
const PEST: [&str; 2] =
    [include_str!("../../grammar/expression.pest"), include_str!("../../grammar/chart.pest")];

/// A part of a rule of the page.
#[derive(Debug, Clone)]
enum Part {
    /// A word, or punctuation in quotes.
    Literal(String),
    /// In upper case: a token of some kind.
    Token(String),
    Rule(String),
    Any(Vec<Part>),
    All(Vec<Part>),
    /// How often, at most; with a comma between.
    Repeated(Box<Part>, usize, usize, bool),
}

type Rules = BTreeMap<String, Part>;

/// The rules of the page.
fn rules() -> Rules {
    let section = PAGE.split("\n## Grammar\n").nth(1).expect("a section");
    let block = section.split("```").nth(1).expect("a block").trim_start_matches("text\n");
    let mut texts: Vec<(String, String)> = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        match line.split_once(" = ").filter(|_| !line.starts_with(' ')) {
            Some((name, rest)) => texts.push((name.trim().to_owned(), rest.to_owned())),
            None => {
                let (_, text) = texts.last_mut().expect("a rule goes on");
                text.push(' ');
                text.push_str(line.trim());
            }
        }
    }
    let mut rules = Rules::new();
    for (name, text) in texts {
        let symbols = symbols(&text);
        let mut reader = Reader { symbols: &symbols, at: 0 };
        let part = reader.any();
        assert_eq!(reader.at, symbols.len(), "{name} = {text}");
        assert!(rules.insert(name.clone(), part).is_none(), "{name} twice");
    }
    rules
}

/// Words, texts in quotes, and single characters.
fn symbols(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first == '\'' {
            rest[1..].find('\'').expect("a quote") + 2
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with(",*") || rest.starts_with(",+") {
            2
        } else {
            first.len_utf8()
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

struct Reader<'s> {
    symbols: &'s [&'s str],
    at: usize,
}

impl Reader<'_> {
    fn takes(&mut self, symbol: &str) -> bool {
        let is_it = self.symbols.get(self.at) == Some(&symbol);
        self.at += usize::from(is_it);
        is_it
    }

    fn any(&mut self) -> Part {
        let mut all = vec![self.all()];
        while self.takes("|") {
            all.push(self.all());
        }
        if all.len() == 1 { all.remove(0) } else { Part::Any(all) }
    }

    fn all(&mut self) -> Part {
        let mut parts = Vec::new();
        while self.symbols.get(self.at).is_some_and(|symbol| !matches!(*symbol, "|" | ")")) {
            parts.push(self.repeated());
        }
        Part::All(parts)
    }

    fn repeated(&mut self) -> Part {
        let symbol = self.symbols[self.at];
        self.at += 1;
        let part = if symbol == "(" {
            let inner = self.any();
            assert!(self.takes(")"), "a bracket is open");
            inner
        } else if let Some(text) = symbol.strip_prefix('\'') {
            Part::Literal(text.trim_end_matches('\'').to_owned())
        } else if symbol.len() > 1 && symbol.chars().all(|c| c.is_ascii_uppercase()) {
            Part::Token(symbol.to_owned())
        } else if symbol.starts_with(|c: char| c.is_ascii_uppercase()) {
            Part::Rule(symbol.to_owned())
        } else {
            assert!(symbol.starts_with(|c: char| c.is_ascii_lowercase()), "{symbol}");
            Part::Literal(symbol.to_owned())
        };
        for (sign, least, most, commas) in [
            ("?", 0, 1, false),
            ("*", 0, 3, false),
            ("+", 1, 3, false),
            (",*", 0, 3, true),
            (",+", 1, 3, true),
        ] {
            if self.takes(sign) {
                return Part::Repeated(Box::new(part), least, most, commas);
            }
        }
        part
    }
}

/// Rules whose parts have no blanks between them.
const WHOLE: [&str; 4] = ["Path", "Set", "Asked", "Fault"];

/// Writes texts of a rule.
struct Writer<'r> {
    rules: &'r Rules,
    /// How many tokens each rule has at least.
    least: &'r BTreeMap<String, usize>,
    state: u64,
    out: String,
    /// How many words may still be written freely.
    fuel: usize,
    glued: bool,
    words: BTreeSet<String>,
}

impl Writer<'_> {
    fn below(&mut self, most: usize) -> usize {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % most.max(1) as u64) as usize
    }

    fn word(&mut self, word: &str) {
        self.fuel = self.fuel.saturating_sub(1);
        if !self.glued && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.out.push_str(word);
    }

    fn write(&mut self, part: &Part, depth: usize) {
        match part {
            Part::Literal(word) => {
                self.words.insert(word.clone());
                self.word(word);
            }
            Part::Token(kind) => {
                let words: &[&str] = match kind.as_str() {
                    "NAME" => &["b1", "go_on", "zeta", "`two words`", "x"],
                    "WORD" => &["b1", "go_on"],
                    "TYPE" => &["Alpha", "Box", "Text", "Json"],
                    "TEXT" => &["\"some words\"", "\"\""],
                    "INT" => &["3", "12"],
                    "NUMBER" => &["3", "0.5", "1e9"],
                    "TIME" => &["30s", "250ms"],
                    other => panic!("no token {other}"),
                };
                let word = words[self.below(words.len())];
                self.word(word);
            }
            Part::Rule(name) => {
                let rule = self.rules.get(name).unwrap_or_else(|| panic!("no rule {name}"));
                let (glued, whole) = (self.glued, WHOLE.contains(&name.as_str()));
                if whole {
                    self.word("");
                    self.glued = true;
                }
                // Most expressions are short, so that something is left for what follows.
                let is_short = name == "Expr" && self.below(3) > 0;
                let fuel = if is_short { std::mem::take(&mut self.fuel) } else { 0 };
                self.write(rule, depth + 1);
                self.fuel += fuel;
                self.glued = glued;
            }
            Part::Any(all) => {
                // Where enough is written, what ends soonest.
                let nth = if self.fuel == 0 || depth > 40 {
                    let short = |part: &Part| least(self.least, part);
                    let all: Vec<usize> = all.iter().map(short).collect();
                    (0..all.len()).min_by_key(|nth| all[*nth]).unwrap_or(0)
                } else {
                    self.below(all.len())
                };
                self.write(&all[nth], depth);
            }
            Part::All(parts) => parts.iter().for_each(|part| self.write(part, depth)),
            Part::Repeated(part, low, high, commas) => {
                let free = if self.fuel == 0 || depth > 40 { 0 } else { high - low + 1 };
                let times = low + self.below(free);
                for nth in 0..times {
                    if *commas && nth > 0 {
                        self.word(",");
                    }
                    self.write(part, depth);
                }
            }
        }
    }
}

/// How many tokens each rule has at least.
fn shortest(rules: &Rules) -> BTreeMap<String, usize> {
    let mut found: BTreeMap<String, usize> =
        rules.keys().map(|name| (name.clone(), 1000)).collect();
    loop {
        let next = rules.iter().map(|(name, part)| (name.clone(), least(&found, part))).collect();
        if next == found {
            return found;
        }
        found = next;
    }
}

fn least(rules: &BTreeMap<String, usize>, part: &Part) -> usize {
    match part {
        Part::Literal(_) | Part::Token(_) => 1,
        Part::Rule(name) => *rules.get(name).unwrap_or_else(|| panic!("no rule {name}")),
        Part::Any(all) => all.iter().map(|p| least(rules, p)).min().unwrap_or(0),
        Part::All(all) => all.iter().map(|p| least(rules, p)).sum(),
        Part::Repeated(part, low, ..) => low * least(rules, part),
    }
}

struct Nothing;

impl Nearby for Nothing {
    fn names(&mut self, _: &str) -> Option<Arc<BTreeSet<String>>> {
        None
    }

    fn read(&mut self, _: &str, _: Link) -> Result<(FileId, Arc<Source>), Unread> {
        Err(Unread::Unreadable("no file".to_owned()))
    }
}

/// What the parser does not understand.
fn findings(text: &str) -> Vec<String> {
    let source = Source::new("a.chart", text);
    let mut found = Vec::new();
    (FRONTEND.parse)(FileId(0), &source, &mut Nothing, &mut found);
    found.retain(|one| one.rule.code == "C0001");
    let told = |one: Diagnostic| format!("{}: {}", source.slice(one.span), one.message);
    found.into_iter().map(told).collect()
}

#[test]
fn what_the_page_derives_is_parsed() {
    let rules = rules();
    let shortest = shortest(&rules);
    let mut words = BTreeSet::new();
    for seed in 1..=2000_u64 {
        let mut writer = Writer {
            rules: &rules,
            least: &shortest,
            state: seed,
            out: String::new(),
            fuel: 30 + (seed as usize % 7) * 20,
            glued: false,
            words: BTreeSet::new(),
        };
        // From the middle, too, which is seldom reached from the top.
        let (begin, rule, end) = [
            ("", "File", ""),
            ("chart A {", "Declaration", "}"),
            ("chart A {", "Item", "}"),
            ("chart A {", "Step", "}"),
            ("test \"t\" for A {", "TestItem", "}"),
        ][seed as usize % 5];
        writer.word(begin);
        let fuel = writer.fuel;
        for _ in 0..4 {
            writer.fuel = fuel;
            writer.write(&Part::Rule(rule.into()), 0);
        }
        writer.word(end);
        words.extend(writer.words);
        let found = findings(&writer.out);
        assert!(found.is_empty(), "{}\n{}", writer.out, found.join("\n"));
    }
    // Everything was tried that the page has.
    assert_eq!(words, literals(&rules));
}

/// The words and signs of the page.
fn literals(rules: &Rules) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Part> = rules.values().collect();
    while let Some(part) = open.pop() {
        match part {
            Part::Literal(word) => {
                found.insert(word.clone());
            }
            Part::Token(_) | Part::Rule(_) => {}
            Part::Any(all) | Part::All(all) => open.extend(all),
            Part::Repeated(part, ..) => open.push(part),
        }
    }
    found
}

fn is_word(word: &&str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[test]
fn the_language_on_one_page_has_every_word() {
    // Code is between backticks, in a line or in a block.
    let page = read("docs/one_page.md");
    let code = page.split('`').skip(1).step_by(2);
    let shown: BTreeSet<&str> =
        code.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect();
    let rules = rules();
    let all = literals(&rules);
    let missing: Vec<&str> =
        all.iter().map(String::as_str).filter(is_word).filter(|w| !shown.contains(w)).collect();
    assert!(missing.is_empty(), "docs/one_page.md shows no {missing:?}");
}

#[test]
fn the_page_has_the_words_of_the_parser() {
    let rules = rules();
    let page = literals(&rules);
    let page: BTreeSet<&str> = page.iter().map(String::as_str).filter(is_word).collect();
    let mut parser = BTreeSet::new();
    for line in PEST.iter().flat_map(|text| text.lines()) {
        let is_rule = |name: &str| line.starts_with(&format!("{name} = "));
        // Characters of words, signs, units, and what begins an item again behind an error.
        let skips = [
            "reserved",
            "item_word",
            "step_word",
            "test_word",
            "w",
            "duration",
            "float",
            "exponent",
        ];
        if line.trim_start().starts_with("//") || skips.into_iter().any(is_rule) {
            continue;
        }
        parser.extend(line.split('"').skip(1).step_by(2).filter(is_word));
    }
    assert_eq!(page, parser);
}
