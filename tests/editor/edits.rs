//! Random editing: whatever is typed, the server answers every request, and shows at the end what a fresh check finds.
//!
//! By default some sequences; `CHARTC_EDITS` says how many, `CHARTC_EDITS_SEED` from which seed on.

use crate::client::{Client, folder, uri};
use chartc::load::Memory;
use serde_json::{Value, json};

/// Numbers that look random (a linear congruential generator).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    pub(crate) fn one_of<'t, T: ?Sized>(&mut self, all: &[&'t T]) -> &'t T {
        all[self.below(all.len())]
    }
}

/// What people type, and what nobody does.
const PIECES: &[&str] = &[
    "a",
    "_",
    "}",
    "{",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\"",
    "\"\"\"",
    "//",
    "///",
    "-> ",
    "if x ",
    "state s { }\n",
    "on go -> a\n",
    "on ",
    "event e\n",
    "var n: Int = 0\n",
    "prompt \"{n}\"",
    "{options}",
    "(",
    ")",
    ".",
    "é",
    "😀",
    "\u{202e}",
    "`",
    "chart C { initial a state a }",
    "test \"t\" for C { turn }\n",
    "import \"x.chart\"\n",
    "9",
    "5s",
    "- {name: s, type: llm}\n",
    "id: x\n",
    ":",
    "<state id=\"a\"/>",
    "&amp;",
    "\u{0}",
    "// chartc: allow(C0301) why\n",
];

/// A text, with places as the protocol counts them. Independent of the server's own counting.
struct Text(String);

impl Text {
    /// A random place, as a byte and as line and column in UTF-16.
    fn place(&self, dice: &mut Dice) -> (usize, Value) {
        let mut at = dice.below(self.0.len() + 1);
        while !self.0.is_char_boundary(at)
            || self.0[..at].ends_with('\r') && self.0[at..].starts_with('\n')
        {
            at -= 1;
        }
        let before = &self.0[..at];
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
        (at, json!({ "line": line, "character": column }))
    }

    /// Changes it, and says how.
    fn edit(&mut self, dice: &mut Dice) -> Value {
        if dice.below(40) == 0 {
            let half = self.0.len() / 2;
            let half = self.0.ceil_char_boundary(half);
            self.0.truncate(half);
            return json!({ "text": self.0 });
        }
        let (start, from) = self.place(dice);
        let (end, to) = match dice.below(3) {
            0 => {
                let after = self.0[start..].char_indices().nth(1 + dice.below(12));
                let end = after.map_or(self.0.len(), |(at, _)| start + at);
                let shorter = Text(self.0[..end].to_owned());
                // The end of the shorter text, in its own units.
                let line = shorter.0.matches('\n').count();
                let column =
                    shorter.0.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
                if shorter.0.ends_with('\r') {
                    (start, from.clone())
                } else {
                    (end, json!({ "line": line, "character": column }))
                }
            }
            _ => (start, from.clone()),
        };
        let piece = if end > start && dice.below(2) == 0 { "" } else { dice.one_of(PIECES) };
        self.0.replace_range(start..end, piece);
        json!({ "range": { "start": from, "end": to }, "text": piece })
    }
}

/// What a fresh check shows: every finding as the client lists it.
fn fresh(name: &str, text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut done = chartc::check(&[name.to_owned()], &Memory::of(name, text));
    let failed = chartc::scenario::failed(&done);
    done.diagnostics.extend(failed);
    done.diagnostics.sort_by_key(|found| (found.span, found.rule.code));
    let mut all = Vec::new();
    for found in &done.diagnostics {
        let source = done.sources.get(found.span.file);
        if source.name != name {
            continue;
        }
        let before = &source.text[..found.span.start as usize];
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
        let message = chartc_core::visible::text(&found.message);
        let message = message.lines().next().unwrap_or_default().to_owned();
        all.push(format!("{line}:{column} {} {message}", found.rule.code));
    }
    all
}

/// Every method about a place or a text.
const METHODS: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/completion",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/range",
    "textDocument/inlayHint",
    "textDocument/codeLens",
    "textDocument/codeAction",
    "textDocument/formatting",
    "chartc/picture",
    "chartc/tests",
    "chartc/runTests",
];

fn params(uri: &str, dice: &mut Dice, text: &Text) -> Value {
    let (_, one) = text.place(dice);
    let (_, other) = text.place(dice);
    let range = json!({ "start": one, "end": other });
    json!({
        "uri": uri,
        "textDocument": { "uri": uri },
        "position": one,
        "range": range,
        "newName": "renamed",
        "context": { "includeDeclaration": true, "diagnostics": [], "triggerKind": 1 },
        "options": { "tabSize": 2, "insertSpaces": true },
    })
}

/// Whether there is a result. A refusal has a reason: the text has changed meanwhile, or the name cannot be renamed.
fn answered(seed: u64, method: &str, answer: Result<Value, Value>, text: &Text) -> bool {
    let Err(error) = answer else { return true };
    let code = error["code"].as_i64();
    assert!(matches!(code, Some(-32801 | -32803)), "seed {seed}, {method}: {error}\n{}", text.0);
    false
}

#[test]
fn any_editing_ends_as_a_fresh_check() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let sequences = number("CHARTC_EDITS", 60);
    let first = number("CHARTC_EDITS_SEED", 1);
    let here = folder("edits");
    let mut client = Client::start(&here, json!({}));
    let begins = begins();
    let (mut edits, mut requests, mut refused) = (0, 0, 0);
    for seed in first..first + sequences {
        let mut dice = Dice(seed);
        let (kind, begin) = &begins[dice.below(begins.len())];
        let name = match *kind {
            "chart" => format!("s{seed}.chart"),
            "scxml" => format!("s{seed}.scxml"),
            _ => format!("s{seed}.agent.yaml"),
        };
        let file = uri(&here, &name);
        let mut text = Text(begin.clone());
        client.open(&file, kind, &text.0);
        let mut open = Vec::new();
        for _ in 0..=dice.below(25) {
            let changes: Vec<Value> = (0..=dice.below(3)).map(|_| text.edit(&mut dice)).collect();
            edits += changes.len();
            client.change(&file, json!(changes));
            if dice.below(3) == 0 {
                let method = dice.one_of(METHODS);
                let asked = params(&file, &mut dice, &text);
                let id = client.begin(method, asked);
                if dice.below(2) == 0 {
                    open.push((method, id));
                } else {
                    requests += 1;
                    answered(seed, method, client.wait(id), &text);
                }
            }
        }
        for (method, id) in open {
            requests += 1;
            refused += usize::from(!answered(seed, method, client.wait(id), &text));
        }
        client.tell("textDocument/didSave", json!({ "textDocument": { "uri": file } }));
        let expected = fresh(&name, &text.0);
        // Said if what is shown never becomes what is expected.
        println!("seed {seed}: {expected:#?} of\n{}", text.0);
        client.findings_until(&file, |found| found == expected);
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": file } }));
    }
    println!(
        "{sequences} sequences, {edits} edits, {requests} requests, {refused} of them about a text that had changed"
    );
    assert_eq!(client.end(), Some(0));
}

/// What is edited: shipped charts and agents, and nothing.
fn begins() -> Vec<(&'static str, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect(name);
    let mut all = vec![("chart", String::new())];
    for name in ["builder", "phases", "auction", "worker", "social"] {
        if root.join(format!("charts/{name}.chart")).exists() {
            all.push(("chart", read(&format!("charts/{name}.chart"))));
        }
    }
    for folder in ["charts", "examples", "examples/ecology/agents", "examples/feed"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.to_string_lossy().into_owned();
            if name.ends_with("agent.yaml") {
                all.push(("yaml", std::fs::read_to_string(&path).expect("an agent")));
            }
        }
    }
    all.push((
        "scxml",
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\" initial=\"a\">\n  <state id=\"a\">\n    \
         <transition event=\"go\" target=\"b\"/>\n  </state>\n  <final id=\"b\"/>\n</scxml>\n"
            .to_owned(),
    ));
    all
}
