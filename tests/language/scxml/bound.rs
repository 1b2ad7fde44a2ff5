//! What `_event` is bound to, and what reaches an invoked document.

use crate::semantics::children::Tree;

/// A document of these states.
fn document(data: &str, states: &str) -> String {
    format!(
        r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="ecmascript"><datamodel>{data}</datamodel>{states}</scxml>"#
    )
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
