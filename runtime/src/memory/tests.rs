use super::*;

fn map(rows: &[(&str, Value)]) -> Value {
    Value::Map(rows.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn rag(value: Value) -> Result<Option<Rag>, String> {
    Rag::of(&[("rag".to_owned(), value)]).map_err(|fault| fault.to_string())
}

/// The texts that a query brings.
fn found(memory: &dyn Memory, query: &str, limit: usize) -> Vec<String> {
    let memos = memory.search(query, limit).expect("no query is an error");
    memos.into_iter().map(|memo| memo.text).collect()
}

fn filled(texts: &[&str]) -> InProcess {
    let memory = InProcess::new();
    for (tick, text) in (1..).zip(texts) {
        memory.record_action(tick, text, Value::None).expect("it is kept");
    }
    memory
}

#[test]
fn words_are_letters_and_digits_in_small_letters() {
    let cut = |text: &str| words(text).collect::<Vec<_>>();
    assert_eq!(
        cut("Write_artifact: \"Shop-1\" 👍 (ÉTÉ)"),
        ["write", "artifact", "shop", "1", "été"]
    );
    assert_eq!(cut("買う、shop店です"), ["買", "う", "shop", "店", "で", "す"]);
    assert_eq!(cut("İstanbul \0 NEAR/2 a*b"), ["istanbul", "near", "2", "a", "b"]);
    assert_eq!(cut(" \u{307}--\"\" "), [""; 0]);
    assert_eq!(words(&"x".repeat(1000)).map(|word| word.len()).collect::<Vec<_>>(), [64]);
    assert_eq!(query_words("to be or not to be"), ["to", "be", "or", "not"]);
    let many: String = (0..1000).map(|n| format!("{n} ")).collect();
    assert_eq!(query_words(&many).len(), MOST_WORDS);
}

#[test]
fn the_rarer_the_shared_words_the_nearer() {
    let memory = filled(&["sold a lamp", "sold a chair", "sold a table", "bought a lamp of oil"]);
    assert_eq!(found(&memory, "lamp", 9), ["sold a lamp", "bought a lamp of oil"]);
    assert_eq!(found(&memory, "who sold OIL?", 2), ["bought a lamp of oil", "sold a table"]);
    assert_eq!(found(&memory, "nothing of it", 9), ["bought a lamp of oil"]);
    assert_eq!(found(&memory, "lamp", 0), [""; 0]);
}

#[test]
fn of_equally_near_ones_and_without_words_the_newest_comes_first() {
    let memory = filled(&["one lamp", "two lamp", "six lamp", "no more"]);
    assert_eq!(found(&memory, "lamp", 2), ["six lamp", "two lamp"]);
    assert_eq!(found(&memory, " -- ", 2), ["no more", "six lamp"]);
    assert_eq!(found(&InProcess::new(), "lamp", 2), [""; 0]);
}

#[test]
fn a_memory_shows_what_is_known_of_it() {
    let memory = InProcess::new();
    memory.record_action(3, "did", Value::Int(7)).expect("it is kept");
    let data = map(&[("by", text("ben")), ("text", text("another")), ("tick", Value::Int(9))]);
    memory.record_observation(4, "saw", data).expect("it is kept");
    let memos = memory.search("", 9).expect("it is read");
    let values: Vec<Value> = memos.iter().map(Memo::value).collect();
    let of = |said, kind, tick| vec![("text", text(said)), ("kind", text(kind)), ("tick", tick)];
    let mut seen = of("saw", "observation", Value::Int(4));
    seen.push(("by", text("ben")));
    let mut did = of("did", "action", Value::Int(3));
    did.push(("data", Value::Int(7)));
    assert_eq!(values, [map(&seen), map(&did)]);
}

#[test]
fn a_template_is_filled_in_as_python_does() {
    let values = |name: &str| match name {
        "goal" => Some(text("sell")),
        "balance" => Some(Value::Float(7.25)),
        "quotas" => Some(map(&[("disk", Value::List(vec![Value::Int(3), Value::Int(4)]))])),
        _ => None,
    };
    let render = |template: &str| {
        let query = Query::parse(template).map_err(|fault| fault.to_string())?;
        query.render(&values).map_err(|fault| fault.message)
    };
    assert_eq!(
        render("{{{goal}}} {balance:.1f} {quotas.disk[1]} {quotas[disk]!s}"),
        Ok("{sell} 7.2 4 [3, 4]".into())
    );
    assert_eq!(render("a {nobody:03d} b"), Ok("a  b".into()));
    assert_eq!(render(""), Ok(String::new()));
    for (template, why) in [
        ("é {", "character 3: this `{` is not closed: a brace of the text is `{{`"),
        ("a }", "character 3: this `}` closes no placeholder: write `}}`"),
        ("{}", "character 1: `{}` is no name: a brace of the text is `{{`"),
        ("{0}", "character 1: `{0}` is no name: a brace of the text is `{{`"),
        ("{a!r}", "character 1: the conversion of `{a!r}` is not available, only `!s`"),
        ("{a:{b}}", "character 1: `{a:{b}`: a placeholder inside of a format is not available"),
        ("{a.}", "character 1: `.` names no attribute"),
        ("{a[]}", "character 1: `[]` names no key"),
        ("{a[0}", "character 1: a `[` is not closed"),
        ("{a[0]b}", "character 1: `b` does not follow a name"),
        ("{goal:d}", "Text takes no format `d`"),
        ("{goal.x}", "Text has no field `x`"),
        ("{quotas.disk[9]}", "no element 9, the list has 2"),
    ] {
        assert_eq!(render(template), Err(why.to_owned()), "{template}");
    }
    let spec = render("{balance:5..}").expect_err("a precision is missing");
    assert!(spec.starts_with("character 1: `{balance:5..}`: "), "{spec}");
    let query = Query::parse("{a} {b.c} {a} d").expect("it is sound");
    assert_eq!(query.names().into_iter().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn rag_is_read_from_the_metadata_and_bad_values_are_named() {
    assert_eq!(Rag::of(&[]), Ok(None));
    assert_eq!(rag(Value::None), Ok(None));
    let read = |value| rag(value).expect("it is sound").expect("it is there");
    let whole = read(map(&[
        ("enabled", Value::Bool(false)),
        ("limit", Value::Int(3)),
        ("query_template", text("{a}")),
    ]));
    let parsed = Query::parse("{a}").expect("it is sound");
    assert_eq!(whole, Rag { enabled: false, limit: 3, query: parsed });
    let bare = read(map(&[]));
    assert_eq!((bare.enabled, bare.limit, bare.query.names().len()), (true, 5, 0));
    for (value, why) in [
        (text("yes"), "rag: a mapping is expected, not Text"),
        (map(&[("enabled", text("yes"))]), "rag.enabled: `true` or `false` is expected, not Text"),
        (map(&[("limit", Value::Float(1.5))]), "rag.limit: a whole number is expected, not Float"),
        (map(&[("limit", Value::Int(-1))]), "rag.limit: -1 is not between 0 and 1000"),
        (
            map(&[("query_template", Value::Int(1))]),
            "rag.query_template: a text is expected, not Int",
        ),
        (
            map(&[("query_template", text("a {"))]),
            "rag.query_template: character 3: this `{` is not closed: a brace of the text is `{{`",
        ),
        (
            map(&[("limits", Value::Int(1))]),
            "rag.limits: no such key; there are `enabled`, `limit`, `query_template`",
        ),
    ] {
        assert_eq!(rag(value), Err(why.to_owned()));
    }
}

#[test]
fn a_recall_looks_for_what_the_template_says() {
    let memory = filled(&["sold a lamp", "sold a chair"]);
    let rag = rag(map(&[("limit", Value::Int(1)), ("query_template", text("{goal}"))]));
    let rag = rag.expect("it is sound").expect("it is there");
    let (query, memos) =
        rag.recall(&memory, &|_| Some(text("A lamp!")), None).expect("it can be made");
    assert_eq!(
        (query.as_str(), memos.len(), memos[0].text.as_str()),
        ("A lamp!", 1, "sold a lamp")
    );
}
