//! The elements of SCXML, their attributes, and the elements allowed in them.

use super::xml::{Attribute, Child, Element};
use crate::diagnostic::Diagnostic;
use crate::rules::{left_out, unknown_field};

/// An element, its attributes, its child elements.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const EXECUTABLE: &[&str] =
    &["raise", "if", "foreach", "log", "assign", "script", "send", "cancel"];

const IN_IF: &[&str] =
    &["raise", "if", "foreach", "log", "assign", "script", "send", "cancel", "elseif", "else"];

const KNOWN: &[Row] = &[
    (
        "scxml",
        &["initial", "name", "xmlns", "version", "datamodel", "binding"],
        // Transitions and blocks of the whole chart are an extension that other processors also have.
        &[
            "state",
            "parallel",
            "final",
            "datamodel",
            "script",
            "initial",
            "transition",
            "onentry",
            "onexit",
            "history",
        ],
    ),
    (
        "state",
        &["id", "initial"],
        &[
            "onentry",
            "onexit",
            "transition",
            "initial",
            "state",
            "parallel",
            "final",
            "history",
            "datamodel",
            "invoke",
        ],
    ),
    (
        "parallel",
        &["id"],
        &[
            "onentry",
            "onexit",
            "transition",
            "state",
            "parallel",
            "history",
            "datamodel",
            "invoke",
            "final",
        ],
    ),
    ("transition", &["event", "cond", "target", "type"], EXECUTABLE),
    ("initial", &[], &["transition"]),
    ("final", &["id"], &["onentry", "onexit", "donedata"]),
    ("onentry", &[], EXECUTABLE),
    ("onexit", &[], EXECUTABLE),
    ("history", &["id", "type"], &["transition"]),
    ("raise", &["event"], &[]),
    ("if", &["cond"], IN_IF),
    ("elseif", &["cond"], &[]),
    ("else", &[], &[]),
    ("foreach", &["array", "item", "index"], EXECUTABLE),
    ("log", &["label", "expr"], &[]),
    ("datamodel", &[], &["data"]),
    ("data", &["id", "src", "expr"], &[]),
    ("assign", &["location", "expr"], &[]),
    ("donedata", &[], &["content", "param"]),
    ("content", &["expr"], &["scxml"]),
    ("param", &["name", "expr", "location"], &[]),
    ("script", &["src"], &[]),
    (
        "send",
        &[
            "event",
            "eventexpr",
            "target",
            "targetexpr",
            "type",
            "typeexpr",
            "id",
            "idlocation",
            "delay",
            "delayexpr",
            "namelist",
        ],
        &["param", "content"],
    ),
    ("cancel", &["sendid", "sendidexpr"], &[]),
    (
        "invoke",
        &["type", "typeexpr", "src", "srcexpr", "id", "idlocation", "namelist", "autoforward"],
        &["param", "finalize", "content"],
    ),
    ("finalize", &[], EXECUTABLE),
];

/// Reports attributes and elements that SCXML does not define, in `root` and below.
pub(super) fn check(root: &Element, findings: &mut Vec<Diagnostic>) {
    let mut open = vec![root];
    while let Some(element) = open.pop() {
        let Some((name, attributes, inside)) = row(element) else { continue };
        for Attribute { name: attribute, .. } in &element.attributes {
            if !attributes.contains(&attribute.node.as_str()) {
                let what = format!("`<{name}>`");
                let known = attributes.iter().copied();
                let finding =
                    unknown_field::attribute(&what, &attribute.node, attribute.span, known);
                findings.push(finding);
            }
        }
        for child in &element.children {
            match child {
                Child::Element(child) if inside.contains(&child.name.node.as_str()) => {
                    open.push(child);
                }
                Child::Element(child) => {
                    let found = &child.name;
                    let elsewhere = row(child).is_some();
                    findings.push(unknown_field::element(
                        name,
                        &found.node,
                        found.span,
                        elsewhere,
                        inside.iter().copied(),
                    ));
                }
                Child::Foreign(found) if EXECUTABLE.contains(inside.first().unwrap_or(&"")) => {
                    findings.push(left_out::foreign(&found.node, found.span));
                }
                Child::Text(span) if !matches!(*name, "script" | "content" | "data" | "assign") => {
                    findings.push(left_out::text(name, *span));
                }
                Child::Foreign(_) | Child::Comment(_) | Child::Text(_) => {}
            }
        }
    }
}

fn row(element: &Element) -> Option<&'static Row> {
    KNOWN.iter().find(|(name, ..)| *name == element.name.node)
}

/// Whether the parent allows this child.
pub(super) fn fits(parent: &Element, child: &Element) -> bool {
    row(parent).is_some_and(|(_, _, inside)| inside.contains(&child.name.node.as_str()))
}
