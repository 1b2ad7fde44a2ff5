//! Reports parts of a document that SCXML does not define.

use super::elements::{self, EXECUTABLE, Tag};
use super::xml::{Attribute, Child, Element};
use crate::diagnostic::Diagnostic;
use crate::rules::{left_out, unknown_field};

/// Reports attributes and elements that SCXML does not define, in `root` and below it.
pub(super) fn check(root: &Element, findings: &mut Vec<Diagnostic>) {
    let mut open = vec![root];
    while let Some(element) = open.pop() {
        let Some(Tag { name, attributes, inside, .. }) = row(element) else { continue };
        for Attribute { name: attribute, .. } in &element.attributes {
            let known = attributes.iter().map(|known| known.name);
            if !known.clone().any(|known| known == attribute.node) {
                let what = format!("`<{name}>`");
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
                Child::Foreign(found) if inside.first().is_some_and(|n| EXECUTABLE.contains(n)) => {
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

fn row(element: &Element) -> Option<&'static Tag> {
    elements::named(&element.name.node)
}

/// Whether SCXML permits this child in this parent.
pub(super) fn fits(parent: &Element, child: &Element) -> bool {
    row(parent).is_some_and(|tag| tag.inside.contains(&child.name.node.as_str()))
}
