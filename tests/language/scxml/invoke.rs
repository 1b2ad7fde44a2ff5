//! Documents that invoke documents.

use super::check;
use crate::semantics::children::Tree;
use chartc_core::expr::Value;

/// A document with these data, whose state `calling` has this in it.
fn calling(data: &str, inside: &str) -> Tree {
    Tree::of(&format!(
        r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="ecmascript">
           <datamodel>{data}<data id="seen"/></datamodel>
           <state id="calling">{inside}<transition event="stop" target="rest"/></state>
           <state id="rest"><transition event="again" target="calling"/></state>
           </scxml>"#
    ))
}

/// `<invoke>` of a document of these states.
fn invoke(attributes: &str, params: &str, states: &str) -> String {
    format!("<invoke {attributes}>{params}<content><scxml>{states}</scxml></content></invoke>")
}

const KEEP: &str = r#"<transition event="done.invoke.c" target="rest">
    <assign location="seen" expr="_event.data"/></transition>"#;

#[test]
fn data_go_in_as_params_and_come_back_with_the_end() {
    let states = r#"<datamodel><data id="n" expr="7"/><data id="m" expr="n + 1"/><data id="k" expr="5"/></datamodel>
        <state id="s">
          <onentry><assign location="n" expr="n * 10"/></onentry>
          <transition event="never"/>
          <transition cond="n == 30" target="over"><assign location="n" expr="n + 1"/></transition>
        </state>
        <final id="over">
          <onentry><assign location="n" expr="n + 100"/></onentry>
          <donedata><param name="n" expr="n"/><param name="m" expr="m"/><param name="k" expr="k"/></donedata>
        </final>"#;
    let given = r#"<param name="n" expr="three"/>"#;
    let data = r#"<data id="three" expr="3"/>"#;
    let tree = calling(data, &(invoke(r#"id="c""#, given, states) + KEEP));
    assert_eq!(
        (tree.leaves(), tree.var("seen")),
        (vec!["rest".into()], "{'n': 131, 'm': 4, 'k': 5}".into())
    );
}

#[test]
fn an_end_without_data_has_none() {
    let end = r#"<final id="over"/>"#;
    let tree = calling(r#"<data id="x" expr="1"/>"#, &(invoke(r#"id="c""#, "", end) + KEEP));
    assert_eq!((tree.leaves(), tree.var("seen")), (vec!["rest".into()], "None".into()));
}

#[test]
fn whoever_is_left_is_stopped_and_invoked_anew() {
    let states = r#"<datamodel><data id="n" expr="0"/></datamodel>
        <state id="s"><onentry><send event="t" delay="5s"/></onentry>
        <transition event="t" target="over"/></state><final id="over"/>"#;
    let mut tree = calling("", &(invoke(r#"id="c""#, "", states) + KEEP));
    assert_eq!(tree.leaves(), ["calling", "c: s"]);
    tree.at(3000).send("stop").at(4000).send("again");
    assert_eq!(tree.leaves(), ["calling", "c: s"]);
    tree.since();
    // Five seconds after it was invoked the second time.
    assert_eq!(tree.at(8000).since(), "");
    assert!(
        tree.at(9000).since().starts_with("c: -s · c: +over · c: -over · c: ended ok · done c")
    );
    assert_eq!(tree.leaves(), ["rest"]);
}

#[test]
fn a_state_that_is_left_in_the_same_macrostep_invokes_nothing() {
    let mut tree =
        calling("", &(invoke("", "", r#"<final id="f"/>"#) + r#"<transition target="rest"/>"#));
    assert_eq!(
        (tree.leaves(), tree.since()),
        (vec!["rest".into()], "+calling · -calling · +rest".into())
    );
}

#[test]
fn only_who_has_autoforward_hears_events() {
    let hear = r#"<state id="s"><transition event="ping" target="t"/></state><state id="t"><transition event="x"/></state>"#;
    let deaf = invoke(r#"id="deaf""#, "", hear);
    let hears = invoke(r#"id="hears" autoforward="true""#, "", hear);
    let mut tree = calling("", &format!("{deaf}{hears}"));
    tree.send_data("ping.loud", Value::None);
    assert_eq!(tree.leaves(), ["calling", "deaf: s", "hears: t"]);
    // Also of what is handled.
    let mut tree = calling("", &format!("{deaf}{hears}<transition event=\"ping\"/>"));
    tree.send_data("ping", Value::None);
    assert_eq!(tree.leaves(), ["calling", "deaf: s", "hears: t"]);
}

#[test]
fn invoked_documents_invoke_others_and_every_word_of_done_is_heard() {
    let end = r#"<final id="f"><donedata><content expr="'deep'"/></donedata></final>"#;
    let inner = invoke(r#"id="in.ner""#, "", end);
    let outer = format!(
        r#"<datamodel><data id="got"/></datamodel>
        <state id="s">{inner}<transition event="done.invoke.in" target="f">
        <assign location="got" expr="_event.data"/></transition></state>
        <final id="f"><donedata><content expr="got + '!'"/></donedata></final>"#
    );
    for (word, seen) in [
        ("done", "deep!"),
        ("done.invoke", "deep!"),
        ("done.invoke.*", "deep!"),
        ("done.invoke.c", "deep!"),
        ("*", "1"),
    ] {
        let read = if word == "*" { "1" } else { "_event.data" };
        let line = format!(
            r#"<transition event="{word}" target="rest"><assign location="seen" expr="{read}"/></transition>"#
        );
        let tree = calling("", &(invoke(r#"id="c""#, "", &outer) + &line));
        assert_eq!(
            (tree.leaves(), tree.var("seen").as_str()),
            (vec!["rest".into()], seen),
            "{word}"
        );
    }
}

#[test]
fn a_document_that_can_do_nothing_more_is_an_error() {
    for word in ["error", "error.communication"] {
        let line = format!(r#"<transition event="{word}" target="rest"/>"#);
        let tree = calling("", &(invoke("", "", r#"<state id="s"/>"#) + &line));
        assert_eq!(tree.leaves(), ["rest"], "{word}");
    }
}

#[test]
fn a_family_of_documents_is_restored() {
    let states = r#"<state id="s"><onentry><send event="t" delay="5s"/></onentry>
        <transition event="t" target="over"/></state>
        <final id="over"><donedata><content expr="3"/></donedata></final>"#;
    let mut tree = calling("", &(invoke(r#"id="c""#, "", states) + KEEP));
    tree.restart();
    tree.at(5000);
    assert_eq!((tree.leaves(), tree.var("seen")), (vec!["rest".into()], "3".into()));
}

#[test]
fn errors_inside_an_invoked_document_are_not_those_of_others() {
    let done = check(
        r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="outer">
        <state id="a">
          <invoke id="one"><content><scxml name="one"><state id="a"><transition event="e" target="zz"/></state></scxml></content></invoke>
          <invoke id="two"><content><scxml name="two"><state id="a"><transition event="e"/></state></scxml></content></invoke>
          <transition event="e" target="b"/>
        </state><final id="b"/></scxml>"#,
    );
    let names: Vec<&str> = done.charts.iter().map(|c| c.chart().name.as_str()).collect();
    assert_eq!(names, ["Two"], "the outer one runs the faulty one");
    let lowered: Vec<&str> = done.lowered.iter().map(|l| l.chart.name.as_str()).collect();
    assert_eq!(lowered, ["Outer", "One", "Two"]);
}

#[test]
fn documents_send_each_other_events() {
    let child = r##"<datamodel><data id="n" expr="0"/></datamodel>
        <state id="s">
          <onentry><send event="hello" target="#_parent"/></onentry>
          <transition event="ask.*"><assign location="n" expr="_event.data.n"/>
            <send event="answer.good" target="#_parent"><param name="twice" expr="n * 2"/></send></transition>
          <transition event="*" target="t"/>
        </state>
        <state id="t"><onentry><send event="bye" target="#_parent" delay="2s"/></onentry>
          <transition event="end" target="over"/></state>
        <final id="over"><onentry><send event="last" target="#_parent"><content>5</content></send></onentry></final>"##;
    let parent = r##"
        <transition event="hello"><send event="ask.number" target="#_the.child"><param name="n" expr="21"/></send></transition>
        <transition event="answer"><assign location="seen" expr="_event.data.twice"/><send event="what" target="#_the.child" delay="1s"/></transition>
        <transition event="bye"><send event="end" target="#_the.child"/></transition>
        <transition event="last"><assign location="seen" expr="seen + _event.data"/></transition>
        <transition event="done.invoke" target="rest"/>"##;
    let mut tree = calling("", &(invoke(r#"id="the.child""#, "", child) + parent));
    assert_eq!(
        (tree.leaves(), tree.var("seen")),
        (vec!["calling".into(), "the_child: s".into()], "42".into())
    );
    tree.at(1000);
    assert_eq!(tree.leaves(), ["calling", "the_child: t"]);
    tree.at(3000);
    assert_eq!((tree.leaves(), tree.var("seen")), (vec!["rest".into()], "47".into()));
}
