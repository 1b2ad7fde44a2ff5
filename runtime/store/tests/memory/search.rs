//! What is found, whatever is looked for.

use chartc_core::expr::{Map, Value};
use chartc_runtime::memory::{InProcess, Memo, Memory, MemoryKind};
use chartc_store::memory::Store;
use proptest::prelude::*;

fn store() -> Store {
    Store::in_memory().expect("there is room")
}

/// The texts that a query brings.
fn found(memory: &dyn Memory, query: &str, limit: usize) -> Vec<String> {
    let memos = memory.search(query, limit).expect("no query is an error");
    memos.into_iter().map(|memo| memo.text).collect()
}

#[test]
fn a_memory_comes_back_as_it_was() {
    let mut data = Map::new();
    data.insert("action".to_owned(), Value::Text("noop \0 \"x\" 👍".to_owned()));
    data.insert(
        "list".to_owned(),
        Value::List(vec![Value::Int(-1), Value::Float(0.5), Value::None]),
    );
    let memory = store().agent("ada").expect("it is made");
    let memos = [
        Memo {
            kind: MemoryKind::Action,
            tick: 7,
            text: "sold \0 'a' \"lamp\" 👍".into(),
            data: Value::Map(data),
        },
        Memo {
            kind: MemoryKind::Observation,
            tick: u64::MAX >> 1,
            text: String::new(),
            data: Value::None,
        },
    ];
    for memo in &memos {
        memory.record(memo.clone()).expect("it is kept");
    }
    assert_eq!(memory.search("LAMP", 9).expect("it is read"), memos[..1]);
    let newest: Vec<Memo> = memos.iter().rev().cloned().collect();
    assert_eq!(memory.search("", 9).expect("it is read"), newest);
}

#[test]
fn agents_see_nothing_of_each_other() {
    let store = store();
    let (ada, ben) =
        (store.agent("ada").expect("it is made"), store.agent("ben").expect("it is made"));
    ada.record_action(1, "a lamp and a chair", Value::None).expect("it is kept");
    ada.record_action(2, "a chair", Value::None).expect("it is kept");
    let alone = found(&ada, "lamp chair", 9);
    // Words that are rare with ada are common with ben: it changes nothing for her.
    for tick in 0..50 {
        ben.record_action(tick, "lamp", Value::None).expect("it is kept");
    }
    assert_eq!(found(&ada, "lamp chair", 9), alone);
    assert_eq!(found(&ben, "chair", 9), [""; 0]);
    assert_eq!(found(&ada, "", 9).len(), 2);
    // The same agent again, and an agent whose name is no name of SQL.
    assert_eq!(found(&store.agent("ada").expect("it is known"), "lamp", 9).len(), 1);
    assert_eq!(
        found(&store.agent("x'; DROP TABLE memory; --").expect("it is made"), "lamp", 9),
        [""; 0]
    );
    assert_eq!(found(&ada, "", 9).len(), 2);
}

#[test]
fn no_query_is_syntax() {
    let memory = store().agent("ada").expect("it is made");
    memory.record_action(1, "near and or not text", Value::None).expect("it is kept");
    let huge = "lamp \"* ".repeat(1 << 17);
    assert!(huge.len() >= 1 << 20);
    let many: String = (0..200_000).map(|n| format!("w{n} ")).collect();
    for (query, count) in [
        ("\"", 1),
        ("\"\"\"", 1),
        ("*", 1),
        ("-", 1),
        ("^", 1),
        (":", 1),
        ("", 1),
        ("\0", 1),
        ("👍👩‍👩‍👧", 1),
        ("\u{301}", 1),
        ("NEAR", 1),
        ("NEAR(a b, 2)", 0),
        ("a NEAR/3 b", 1),
        ("AND", 1),
        ("OR OR", 1),
        ("NOT", 1),
        ("NOT -text*", 1),
        ("text:lamp", 1),
        ("{text} : x", 1),
        ("text*", 1),
        ("tex*", 0),
        ("te\0xt", 0),
        ("'text'", 1),
        ("\"text", 1),
        ("lamp + near", 1),
        (huge.as_str(), 0),
        (many.as_str(), 0),
    ] {
        let shown: String = query.chars().take(20).collect();
        let found = found(&memory, query, 9).len();
        let count = if query == "NEAR(a b, 2)" { 1 } else { count };
        assert_eq!(found, count, "{shown}");
    }
    let text = "word ".repeat(1 << 18);
    memory.record_observation(2, &text, Value::None).expect("it is kept");
    assert_eq!(found(&memory, "word", 9), [text]);
}

/// Texts of few words, so that they share some, between whatever a model or a person may write.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["lamp", "Lamp", "chair", "oil", "été", "店", "NEAR", "AND", "OR", "NOT"]).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["\"", "*", "(", ")", "-", "^", ":", "{", "}", "+", "'", "\0", "👍", "\u{301}", ";", "--", "\\"]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let space = prop::sample::select(vec!["", " ", "\n"]);
    prop::collection::vec((piece, space), 0..12)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, space)| piece + space).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing that can be written fails or finds other than in the memory of a process, which knows no query language.
    #[test]
    fn a_file_finds_what_the_process_finds(
        texts in prop::collection::vec(text(), 0..20), queries in prop::collection::vec(text(), 1..6), limit in 0_usize..8,
    ) {
        let kept = store().agent("ada").expect("it is made");
        let process = InProcess::new();
        for (tick, text) in (1..).zip(&texts) {
            kept.record_action(tick, text, Value::None).expect("it is kept");
            process.record_action(tick, text, Value::None).expect("it is kept");
        }
        for query in &queries {
            let in_file = kept.search(query, limit).expect("no query is an error");
            prop_assert_eq!(in_file, process.search(query, limit).expect("no query is an error"), "{:?}", query);
        }
    }
}
