//! What `_event` is bound to, and what reaches an invoked document: translated, or refused at its place.

use super::check;
use crate::semantics::children::Tree;

/// A document of these states.
fn document(data: &str, states: &str) -> String {
    format!(
        r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="ecmascript"><datamodel>{data}</datamodel>{states}</scxml>"#
    )
}

/// The words that are refused, with the beginning of why.
fn refused(text: &str) -> Vec<(String, String)> {
    let done = check(text);
    let found = done.diagnostics.iter().filter(|d| d.rule.code == "C0503");
    found
        .map(|d| {
            let words = &text[d.span.start as usize..d.span.end as usize];
            (words.to_owned(), d.message.split([':', ',']).next().unwrap_or_default().to_owned())
        })
        .collect()
}

#[track_caller]
fn is_refused(text: &str, words: &str, why: &str) {
    let found = refused(text);
    assert!(
        found.iter().any(|(at, message)| at == words && message.contains(why)),
        "{words}: {found:?}"
    );
}

#[track_caller]
fn is_taken(text: &str) {
    assert_eq!(refused(text), [], "{text}");
}

#[test]
fn which_event_a_block_runs_for_is_not_known() {
    let led = "which event has led here is not known";
    let take = r#"<transition event="go" target="b"/>"#;
    for block in [
        r#"<onentry><assign location="n" expr="_event.name"/></onentry>"#,
        r#"<onexit><assign location="n" expr="_event.name"/></onexit>"#,
        r#"<onentry><if cond="_event.name == 'go'"><log expr="1"/></if></onentry>"#,
        r#"<onentry><send event="later"><param name="of" expr="_event.name"/></send></onentry>"#,
        "<onentry><script>n = _event.name</script></onentry>",
        r#"<onentry><log expr="_event.name"/></onentry>"#,
    ] {
        let text = document(
            r#"<data id="n" expr="''"/>"#,
            &format!(r#"<state id="a">{take}</state><state id="b">{block}{take}</state>"#),
        );
        is_refused(&text, "_event.name", led);
    }
    let asked =
        r#"<onentry><if cond="typeof _event !== 'undefined'"><log expr="1"/></if></onentry>"#;
    let text = document("", &format!(r#"<state id="a">{asked}{take}</state><state id="b"/>"#));
    assert_eq!(refused(&text).len(), 1, "it is not bound before the first event");
    let kept = r#"<state id="a"><transition event="go" target="b"><assign location="n" expr="_event.name"/></transition></state>
        <state id="b"><onentry><log expr="n"/></onentry><transition event="go" target="a"/></state>"#;
    is_taken(&document(r#"<data id="n" expr="''"/>"#, kept));
}

#[test]
fn an_eventless_transition_takes_no_event() {
    let text = document(
        "",
        r#"<state id="a"><transition event="go" target="b"/></state>
           <state id="b"><transition cond="_event.name == 'go'" target="a"/></state>"#,
    );
    is_refused(&text, "_event.name", "a transition without `event` takes no event");
}

#[test]
fn a_name_that_only_events_from_outside_have_is_not_that_of_others() {
    let known = "known of those from outside";
    let body = r#"<assign location="n" expr="_event.name"/>"#;
    let data = r#"<data id="n" expr="''"/>"#;
    let raise = r#"<onentry><raise event="tick.one"/></onentry>"#;
    let line = |raise: &str| {
        let lines = format!(r#"<transition event="tick">{body}</transition>"#);
        document(
            data,
            &format!(
                r#"<state id="a">{raise}<transition event="tick.two" target="a"/>{lines}</state>"#
            ),
        )
    };
    is_refused(&line(raise), "_event.name", known);
    is_taken(&line(""));
    let text = document(
        data,
        &format!(r#"<state id="a"><transition event="error">{body}</transition></state>"#),
    );
    is_refused(&text, "_event.name", known);
}

#[test]
fn a_line_on_everything_says_the_name_of_what_has_come() {
    let body = r#"<assign location="n" expr="n + _event.name + ' '"/>"#;
    let states = format!(
        r#"<state id="a" initial="x"><onentry><raise event="tick.one"/></onentry>
           <state id="x"><transition event="go" target="f"/></state><final id="f"/>
           <transition event="*">{body}</transition></state>"#
    );
    let mut tree = Tree::of(&document(r#"<data id="n" expr="''"/>"#, &states));
    tree.send("go");
    assert_eq!(tree.var("n"), "tick.one done.state.a ");
}

#[test]
fn where_an_event_comes_from_is_not_kept() {
    for read in [
        "_event.origin",
        "_event.sendid",
        "_event.type",
        "_event.invokeid",
        "_event.origintype",
        "_event['sendid']",
    ] {
        let text = document(
            r#"<data id="n"/>"#,
            &format!(
                r#"<state id="a"><transition event="e"><assign location="n" expr="{read}"/></transition></state>"#
            ),
        );
        assert_eq!(refused(&text).iter().map(|(at, _)| at.as_str()).collect::<Vec<_>>(), [read]);
    }
    let text = document(
        r#"<data id="n"/>"#,
        r#"<state id="a"><transition event="e"><assign location="n" expr="_event['data']"/><log expr="_event"/></transition></state>"#,
    );
    is_taken(&text);
}

/// A document that invokes another one.
fn invoking(attributes: &str, params: &str, child: &str, rest: &str, others: &str) -> String {
    document(
        r#"<data id="seen" expr="''"/>"#,
        &format!(
            r#"<state id="calls"><invoke id="c" {attributes}>{params}<content><scxml>{child}</scxml></content></invoke>{rest}</state>{others}<state id="rest"><transition event="again" target="calls"/></state>"#
        ),
    )
}

#[test]
fn what_is_not_forwarded_is_not_asked_to_be() {
    let hears = |event: &str| {
        format!(
            r##"<state id="s"><onentry><send event="back" target="#_parent"/></onentry><transition event="{event}" target="t"/></state><state id="t"><transition event="x" target="s"/></state>"##
        )
    };
    let take = r#"<transition event="back"/>"#;
    let on = r#"autoforward="true""#;
    let own = r#"<onentry><send event="tick.fast" delay="1s"/></onentry><transition event="tick"/><transition event="back"/>"#;
    is_refused(
        &invoking(on, "", &hears("back"), take, ""),
        "true",
        "would not be forwarded to the document",
    );
    is_refused(
        &invoking(on, "", &hears("*"), take, ""),
        "true",
        "would not be forwarded to the document",
    );
    is_refused(&invoking(on, "", &hears("tick"), own, ""), "true", "`tick.fast`");
    is_taken(&invoking(on, "", &hears("ping"), own, ""));
    is_taken(&invoking("", "", &hears("tick"), own, ""));
    let raised = own.replace(r#"send event="tick.fast" delay="1s""#, r#"raise event="tick.fast""#);
    is_taken(&invoking(on, "", &hears("tick"), &raised, ""));
}

#[test]
fn the_end_of_an_invoked_document_is_heard_where_it_is_invoked() {
    let end = r##"<final id="f"><onexit><send event="bye" target="#_parent"/></onexit></final>"##;
    let go = r#"<transition event="bye" target="after"/>"#;
    let after = |event: &str| {
        format!(r#"<state id="after"><transition event="{event}" target="rest"/></state>"#)
    };
    for event in ["done.invoke", "done.invoke.c", "done.invoke.*"] {
        let text = invoking("", "", end, go, &after(event));
        is_refused(&text, event, "`after` is never active together with `calls`");
    }
    is_taken(&invoking("", "", end, r#"<transition event="done.invoke" target="rest"/>"#, ""));
    let inner = r#"<state id="deep"><transition event="done.invoke.c" target="rest"/></state>"#;
    is_taken(&invoking("", "", end, inner, ""));
    let beside = document(
        "",
        r#"<parallel id="p"><state id="l"><invoke id="c"><content><scxml><final id="f"/></scxml></content></invoke></state>
           <state id="r"><transition event="done.invoke.c" target="over"/></state></parallel><final id="over"/>"#,
    );
    is_taken(&beside);
}

#[test]
fn what_an_invoked_document_says_at_its_end_comes_before_its_end() {
    let end = r##"<final id="f"><onexit><send event="bye" target="#_parent"/></onexit></final>"##;
    let lines = r#"<transition event="bye"><assign location="seen" expr="seen + 'bye '"/></transition>
        <transition event="done.invoke" target="rest"><assign location="seen" expr="seen + 'done'"/></transition>"#;
    let tree = Tree::of(&invoking("", "", end, lines, ""));
    assert_eq!((tree.leaves(), tree.var("seen")), (vec!["rest".into()], "bye done".into()));
}

#[test]
fn who_is_left_says_nothing_more() {
    let child = r##"<state id="s"><onentry><send event="t" delay="1s"/></onentry><onexit><send event="bye" target="#_parent"/></onexit><transition event="t" target="f"/></state><final id="f"/>"##;
    let lines = r#"<transition event="stop" target="other"/>"#;
    let other = r#"<state id="other"><transition event="bye" target="rest"/></state>"#;
    let mut tree = Tree::of(&invoking("", "", child, lines, other));
    tree.send("stop").at(5000);
    assert_eq!(tree.leaves(), ["other"]);
}

#[test]
fn nothing_is_invoked_with_what_cannot_be_computed() {
    let end = r#"<datamodel><data id="n"/></datamodel><final id="f"/>"#;
    let lines = r#"<transition event="done.invoke" target="calls"/><transition event="error.communication" target="calls"/>
        <transition event="error.execution" target="rest"><assign location="seen" expr="'failed'"/></transition>"#;
    for (attributes, params) in [
        (r#"namelist="nowhere""#, ""),
        ("", r#"<param name="n" expr="nowhere"/>"#),
        ("", r#"<param name="other" expr="nowhere"/>"#),
        ("", r#"<param name="other" expr="seen.length.of.what"/>"#),
        ("", r#"<param name="n" expr="seen * 2 % 0 + [].x.y"/>"#),
        (r#"idlocation="3""#, ""),
        (r#"idlocation="nowhere""#, ""),
    ] {
        let tree = Tree::of(&invoking(attributes, params, end, lines, ""));
        assert_eq!(
            (tree.leaves(), tree.var("seen")),
            (vec!["rest".into()], "failed".into()),
            "{attributes}{params}"
        );
    }
    let fine = r#"<param name="n" expr="seen.length + 1"/>"#;
    let tree = Tree::of(&invoking(
        "",
        fine,
        end,
        r#"<transition event="done.invoke" target="rest"/>"#,
        "",
    ));
    assert_eq!(tree.leaves(), ["rest"]);
}
