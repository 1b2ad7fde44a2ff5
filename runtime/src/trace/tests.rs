use super::*;

#[test]
fn a_trace_is_read_as_it_was_written() {
    let line = |what| Line { v: 1, seq: 1, at_ms: 5, child: String::new(), what };
    let name =
        LineName { state: "a".into(), nth: 2, trigger: "when".into(), targets: vec!["b".into()] };
    let lines = vec![
        line(What::Taken { line: name, held: vec!["x > 1".into()] }),
        line(What::Answer {
            id: String::new(),
            which: Which::default(),
            step: "s".into(),
            attempt: 1,
            text: "x".into(),
            rung: "whole".into(),
            repairs: vec![],
            option: None,
            value: Value::List(vec![Value::Float(1.5), Value::Float(2.0)]),
        }),
        line(What::WalkEnded { why: "calls".into(), step: None, region: String::new() }),
    ];
    let mut sink = JsonLines(Vec::new());
    for line in &lines {
        Sink::line(&mut sink, line).expect("memory");
    }
    let text = String::from_utf8(sink.0).expect("JSON is text");
    assert_eq!(read(&text).expect("a trace"), lines);
    let error = read(&text.replacen("\"v\":1", "\"v\":2", 1)).expect_err("another version");
    assert_eq!(error.to_string(), "line 1: version 2 of the trace is not known; this is version 1");
}
