//! What can be written at a place of an SCXML document.

use crate::desk::{FIRST, alone, broken, root, shipped};
use chartc::ide::complete::{Completion, Insert, complete};
use chartc::ide::hover::hover;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is offered at `§`.
fn offers(text: &str) -> Vec<Completion> {
    let offset = text.find('§').expect("a place");
    complete(&alone("a.scxml", &text.replace('§', "")), FIRST, offset, None)
}

fn labels(text: &str) -> Vec<String> {
    offers(text).into_iter().map(|offer| offer.label).collect()
}

/// The text with an offer taken, without the places to fill in.
fn taken(text: &str, label: &str) -> String {
    let found = offers(text).into_iter().find(|offer| offer.label == label);
    let found = found.unwrap_or_else(|| panic!("{label} in {:?}", labels(text)));
    let (Insert::Plain(insert) | Insert::Snippet(insert)) = found.insert;
    let bare = text.replace('§', "");
    let (start, end) = (found.replaces.start as usize, found.replaces.end as usize);
    format!("{}{insert}{}", &bare[..start], &bare[end..])
}

#[track_caller]
fn holds(text: &str, wanted: &[&str], absent: &[&str]) {
    let found = labels(text);
    for word in wanted {
        assert!(found.iter().any(|known| known == word), "{word} in {found:?}");
    }
    for word in absent {
        assert!(!found.iter().any(|known| known == word), "no {word} in {found:?}");
    }
}

const PLAYER: &str = r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" initial="off">
  <datamodel><data id="played" expr="0"/><data id="list"/></datamodel>
  <state id="off"><transition event="power" target="on"/></state>
  <state id="on" initial="playing">
    <state id="playing"><onentry><send event="nap" delay="1s" id="sleep"/></onentry></state>
    <state id="paused"/>
    <invoke type="scxml" id="refund"><content><scxml><datamodel><data id="amount"/></datamodel><state id="asked"/></scxml></content></invoke>
    HERE
  </state>
  <final id="over"/>
</scxml>
"#;

fn on(text: &str) -> String {
    PLAYER.replace("HERE", text)
}

#[test]
fn elements_are_those_of_the_place() {
    let state = ["transition", "onentry", "state"];
    holds(&on("<§"), &state, &["raise", "data", "scxml"]);
    holds(&on("§"), &state, &["raise"]);
    holds(&on("<onentry><§</onentry>"), &["raise", "send", "/onentry"], &["state", "else"]);
    holds(&on("<onentry><if cond=\"true\"><§"), &["else", "elseif", "/if"], &["state"]);
    // A tag that is not closed hides nothing.
    holds(&on("<tran§\n <state id=\"x\"/>"), &["transition"], &["raise"]);
    holds(&on("<state id=\"x\"\n <§"), &state, &[]);
    assert_eq!(labels("<§"), ["scxml"]);
    assert_eq!(labels(&on("<onentry></§"))[..2], ["onentry", "state"]);
    assert_eq!(labels(&on("<!-- <§ -->")), [""; 0]);
    assert_eq!(labels(&on("words §")), [""; 0]);
    assert_eq!(labels(&on("<strange><§")), ["/strange", "/state", "/scxml"]);
}

#[test]
fn elements_are_written_with_what_they_need() {
    let written = |text: &str, label: &str| taken(&on(text), label).replace(&on(""), "");
    let has = |text: &str, label: &str, wanted: &str| {
        let written = written(text, label);
        assert!(written.contains(wanted), "{wanted} in {written}");
    };
    has("<§", "transition", "<transition event=\"$1\" target=\"$2\"/>");
    has("§", "onentry", "<onentry>\n  $0\n</onentry>");
    has("<onentry><§</onentry>", "assign", "<assign location=\"$1\" expr=\"$2\"/>");
    has("<onentry><§</onentry>", "/onentry", "<onentry></onentry></onentry>");
    assert!(taken(&on("<onentry></§>"), "onentry").contains("<onentry></onentry>\n"));
    // The attributes are there already.
    has("<tr§ event=\"nap\"/>", "transition", "<transition event=\"nap\"/>");
}

#[test]
fn attributes_are_those_that_are_missing() {
    assert_eq!(labels(&on("<transition §/>")), ["event", "target", "cond", "type"]);
    assert_eq!(labels(&on("<transition event=\"a\" §/>")), ["target", "cond", "type"]);
    assert_eq!(labels(&on("<transition event=\"a\" ta§")), ["target"]);
    assert!(taken(&on("<transition ta§"), "target").contains("<transition target=\"$0\""));
    assert!(taken(&on("<transition ta§=\"on\""), "target").contains("<transition target=\"on\""));
    assert_eq!(labels(&on("<transition event=\"a\"§/>")), [""; 0]);
}

#[test]
fn values_are_names_of_the_document() {
    let states = ["playing", "paused", "off", "on", "over"];
    let target = on("<transition target=\"§\"/>");
    holds(&target, &states, &["asked", "power"]);
    assert_eq!(labels(&on("<transition target=\"off §\"/>")).len(), 5);
    assert_eq!(labels(&on("<transition target=\"pl§\n  <state/>"))[0], "playing");
    assert_eq!(labels(&on("<initial><transition target=\"§\"/></initial>")), ["playing", "paused"]);
    assert_eq!(
        labels(&PLAYER.replace("initial=\"playing\"", "initial=\"§\"")),
        ["playing", "paused"]
    );
    assert!(taken(&on("<transition target=§/>"), "off").contains("target=\"off\""));
    holds(
        &on("<transition event=\"§\"/>"),
        &["nap", "power", "done.invoke.refund", "error.execution", "*", "done.state.on"],
        &["off"],
    );
    holds(&on("<onentry><raise event=\"§\"/></onentry>"), &["nap", "power"], &["*", "error"]);
    assert_eq!(labels(&on("<onexit><cancel sendid=\"§\"/></onexit>")), ["sleep"]);
    assert_eq!(
        labels(&on("<onexit><send event=\"x\" target=\"§\"/></onexit>")),
        ["#_refund", "#_internal", "#_parent"]
    );
    assert_eq!(labels(&on("<transition type=\"§\"/>")), ["external", "internal"]);
    assert_eq!(labels(&on("<history type=\"d§\"/>")), ["deep"]);
    assert_eq!(
        labels(&on(
            "<invoke><param name=\"§\"/><content><scxml><datamodel><data id=\"q\"/></datamodel></scxml></content></invoke>"
        )),
        ["q"]
    );
    assert_eq!(labels(&on("<state id=\"§\"/>")), [""; 0]);
}

#[test]
fn expressions_have_variables_functions_and_states() {
    let cond = |text: &str| on(&format!("<transition cond=\"{text}\"/>"));
    assert_eq!(labels(&cond("§"))[..2], ["played", "list"]);
    holds(&cond("§"), &["In", "_event", "_event.data", "Math.abs"], &["amount", "off"]);
    assert_eq!(labels(&cond("played &lt; pl§"))[0], "played");
    assert_eq!(labels(&cond("In('pa§')")), ["paused", "playing"]);
    assert!(taken(&cond("In('pa§')"), "paused").contains("cond=\"In('paused')\""));
    assert_eq!(labels(&cond("list == 'pa§'")), [""; 0]);
    assert_eq!(labels(&cond("_event.§"))[..2], ["data", "name"]);
    holds(&cond("Math.§"), &["abs", "PI"], &["played"]);
    holds(
        &on(
            "<onentry><foreach array=\"list\" item=\"one\" index=\"n\"><log expr=\"§\"/></foreach></onentry>",
        ),
        &["one", "n", "played"],
        &[],
    );
    assert_eq!(labels(&on("<onentry><assign location=\"§\"/></onentry>")), ["played", "list"]);
    holds(&on("<onentry><script>pl§</script></onentry>"), &["played"], &["state"]);
}

#[test]
fn hover_tells_what_elements_and_attributes_are_for() {
    let done = alone("a.scxml", PLAYER);
    let at = |word: &str| {
        let offset = PLAYER.find(word).expect("a word") + 2;
        let shown = hover(&done, FIRST, offset)?;
        Some((done.sources.get(FIRST).slice(shown.span).to_owned(), shown.markdown))
    };
    let (word, text) = at("<onentry").expect("an element");
    assert_eq!((word.as_str(), text.trim()), ("onentry", "Executed when its state is entered."));
    let (word, text) = at("target=").expect("an attribute");
    assert!(word == "target" && text.contains("What is entered"), "{text}");
    assert_eq!(at("1.0").map(|(word, _)| word), None);
}

#[test]
fn documents_with_a_prefix_keep_it() {
    let text = "<sc:scxml xmlns:sc=\"http://www.w3.org/2005/07/scxml\"><sc:state id=\"a\"><§";
    holds(text, &["sc:transition", "/sc:state"], &["transition"]);
    assert_eq!(labels(&text.replace("<§", "<sc:transition target=\"§")), ["a"]);
}

/// The documents of the project, and those of the shared folder.
fn documents() -> Vec<(String, String)> {
    let mut found =
        [shipped("charts", ".scxml"), shipped("tests/language/fixtures", ".scxml")].concat();
    found.retain(|(name, _)| !name.ends_with("faults.scxml"));
    let shared =
        std::env::var_os("CHARTC_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let mut open = vec![shared.join("conformance/scion")];
    if !open[0].is_dir() {
        eprintln!("skipped, not found: {}", open[0].display());
        open.clear();
    }
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).expect("a folder").flatten().map(|one| one.path()));
        } else if path.extension().is_some_and(|ending| ending == "scxml") {
            let text = std::fs::read_to_string(&path).expect("a text");
            found.push((path.to_string_lossy().into_owned(), text));
        }
    }
    found.sort();
    found
}

/// The words of a sound document that may be asked for, with what they are.
fn words(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|n| at + n) {
        let rest = &text[start..];
        if rest.starts_with("<!--") {
            at = start + rest.find("-->").expect("the end of a comment");
            continue;
        }
        let mut quoted = false;
        let ends = |c: char| {
            quoted ^= c == '"';
            c == '>' && !quoted
        };
        let end = start + rest.find(ends).expect("the end of a tag");
        at = end;
        let prefix = text[start..end].split_whitespace().next().and_then(|tag| tag.find(':'));
        let name = start + 1 + prefix.unwrap_or(0);
        let word = text[name..].find(|c: char| !c.is_alphanumeric()).expect("an end");
        let element = &text[name..name + word];
        if element.is_empty() {
            continue;
        }
        if prefix.is_none() {
            found.push((name..name + word, "element".to_owned()));
        }
        let mut here = name + word;
        while let Some(equals) = text[here..end].find("=\"").map(|n| here + n) {
            let before = text[..equals].trim_end();
            let own = before.rfind(char::is_whitespace).map_or(0, |n| n + 1);
            let attribute = &before[own..];
            let close = equals + 2 + text[equals + 2..].find('"').expect("a quote");
            here = close + 1;
            if attribute.contains(':') {
                continue;
            }
            found.push((own..before.len(), "attribute".to_owned()));
            let value = equals + 2..close;
            let kind = format!("{element} {attribute}");
            match kind.as_str() {
                "scxml xmlns" | "scxml version" | "scxml datamodel" | "history type"
                | "transition type" => found.push((value, kind)),
                "scxml initial" | "state initial" | "transition target" | "transition event"
                | "raise event" | "send event" | "cancel sendid" | "send target" => {
                    let mut from = value.start;
                    for word in text[value.clone()].split_whitespace() {
                        let start = from + text[from..].find(word).expect("a word");
                        from = start + word.len();
                        found.push((start..from, kind.clone()));
                    }
                }
                _ if matches!(attribute, "cond" | "expr" | "array" | "location")
                    && !text[value.clone()].contains("&quot;") =>
                {
                    found.extend(names(text, value).into_iter().map(|name| (name, kind.clone())));
                }
                _ => {}
            }
        }
    }
    found
}

/// The names of an expression that begin a chain, and the states of `In`.
fn names(text: &str, value: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = value.start;
    while at < value.end {
        let rest = &text[at..value.end];
        let c = rest.chars().next().expect("a character");
        if let '\'' = c {
            let len = rest[1..].find('\'').expect("a quote");
            if text[..at].ends_with("In(") {
                found.push(at + 1..at + 1 + len);
            }
            at += len + 2;
        } else if c.is_alphanumeric() || c == '_' {
            let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let is_first = !text[..at].ends_with(['.', '&']) && !c.is_ascii_digit();
            let is_key = text[at + len..].trim_start().starts_with(':');
            if is_first && !is_key {
                found.push(at..at + len);
            }
            at += len;
        } else {
            at += c.len_utf8();
        }
    }
    found
}

/// Each word is offered where it stands, with none, one and two of its letters written.
#[test]
fn words_of_documents_are_offered_where_they_stand() {
    let (mut all, mut found, mut near) = (0, 0, 0);
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    let documents = documents();
    let every = std::env::var("EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(7);
    for (name, text) in &documents {
        let words = words(text);
        for (nth, (at, kind)) in words.iter().enumerate() {
            let written = &text[at.clone()];
            // An event is declared by its use.
            let is_like = |(other, kind): &&(std::ops::Range<usize>, String)| {
                kind.ends_with("event") && text[other.clone()].trim_end_matches(".*") == written
            };
            let is_only = kind.ends_with("event") && words.iter().filter(is_like).count() < 2;
            if nth % every != 0 || is_only && !written.starts_with(['*', 'd', 'e']) {
                continue;
            }
            for keep in [0, 1, 2] {
                if keep > 0 && keep >= written.len() {
                    continue;
                }
                let changed = format!("{}{}", &text[..at.start + keep], &text[at.end..]);
                let done = alone("a.scxml", &changed);
                let offers = complete(&done, FIRST, at.start + keep, None);
                all += 1;
                match offers.iter().position(|offer| offer.label == written) {
                    Some(nth) => {
                        found += 1;
                        near += usize::from(nth < 10);
                        if nth >= 10 && keep == 0 {
                            *missed.entry(format!("late {kind}")).or_default() += 1;
                        }
                    }
                    None => {
                        *missed.entry(format!("{kind} {keep} {written} {name}")).or_default() += 1;
                    }
                }
            }
        }
    }
    let shares = format!("{found} of {all} offered, {near} among the first ten");
    if std::env::var("SHOW").is_ok() {
        println!("{shares}, in {} documents\n{missed:#?}", documents.len());
    }
    assert!(all > 300, "{all}");
    assert!(found * 100 >= all * 98, "{shares}\n{missed:#?}");
    assert!(near * 100 >= all * 96, "{shares}\n{missed:#?}");
}

#[test]
fn no_text_and_no_offset_is_too_broken() {
    for (name, text) in documents() {
        let text: String = text.chars().take(1500).collect();
        for (nth, broken) in broken(&text, name.len() as u64).into_iter().enumerate() {
            let done = alone("a.scxml", &broken);
            for offset in (nth..broken.len() + 3).step_by(11) {
                for offer in complete(&done, FIRST, offset, None) {
                    let (start, end) = (offer.replaces.start as usize, offer.replaces.end as usize);
                    assert!(broken.get(start..end).is_some());
                    assert!(start <= offset && offset <= end);
                }
            }
        }
    }
    let nested = format!("{}<transition event=\"", "<state id='a'>".repeat(20_000));
    for hostile in [
        nested.clone(),
        nested.replace("event", "target"),
        "<".repeat(50_000),
        "<a>".repeat(30_000),
        "<a ".repeat(30_000),
        "<a></b>".repeat(20_000),
    ] {
        let done = alone("a.scxml", &hostile);
        complete(&done, FIRST, hostile.len(), None);
    }
}
