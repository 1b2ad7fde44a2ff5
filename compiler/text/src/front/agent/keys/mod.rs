//! The tables of the keys of `agent.yaml` and of its components. The reader accepts these keys and no others.

mod agent;
mod component;
mod step;
mod workflow;

pub use agent::{AGENT, BUDGET, COMPONENTS, FORMS, MEMORY, RAG, WORKING_MEMORY};
pub use component::{COMPONENT, INJECTION, KINDS, PLACES};
pub use step::{INVOKE, STEP, TYPES};
pub use workflow::{ERRORS, FAILURES, MACHINE, PERMIT, STEP_FAILURES, WORKFLOW};

use crate::keys::{Names, Shape};

/// A name that nothing else in the file declares.
const NAME: Shape = Shape::Name(Names::Free);
/// A name of a state.
const STATE: Shape = Shape::Name(Names::State);
/// A text, or an invocation whose result is one.
const SOURCE: Shape = Shape::Either(&[Shape::Text, Shape::Mapping(&INVOKE)]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Key, Mapping};
    use std::collections::BTreeMap;

    fn collect(shape: &'static Shape, all: &mut BTreeMap<&'static str, &'static Mapping>) {
        for shape in shape.alternatives() {
            if let Shape::Mapping(mapping) = shape {
                walk(mapping, all);
            } else if let Shape::List { of, .. } | Shape::ByName { of, .. } = shape {
                collect(of, all);
            }
        }
    }

    fn walk(mapping: &'static Mapping, all: &mut BTreeMap<&'static str, &'static Mapping>) {
        if let Some(known) = all.insert(mapping.name, mapping) {
            assert_eq!(known, mapping, "two mappings are called {}", mapping.name);
            return;
        }
        mapping.keys.iter().for_each(|key: &Key| collect(&key.shape, all));
    }

    #[test]
    fn tables_are_whole() {
        let mut all = BTreeMap::new();
        walk(&AGENT, &mut all);
        walk(&COMPONENT, &mut all);
        assert!(all.len() > 12, "{:?}", all.keys());
        for mapping in all.values() {
            let mut names: Vec<_> = mapping.keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), mapping.keys.len(), "a key of {} is there twice", mapping.name);
            for case in mapping.cases {
                let named =
                    case.needs.iter().flat_map(|need| need.without.iter().chain([&need.key]));
                for key in named.chain(case.ignores).chain([&case.key]) {
                    assert!(mapping.key(key).is_some(), "{} has no key {key}", mapping.name);
                }
            }
            for key in mapping.keys {
                assert!(key.doc.ends_with('.'), "{}: {}", key.name, key.doc);
                assert!(!key.is_required || key.default.is_none(), "{}", key.name);
            }
        }
    }
}
