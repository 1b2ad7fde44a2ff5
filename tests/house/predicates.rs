//! Functions whose names begin with `is_`, `has_` or `may_` only look: they change nothing that they are called on, and say yes or no.

use syn::visit::{self, Visit};
use syn::{FnArg, ReturnType, Signature};
use test_support::project::{files, read};

#[derive(Default)]
struct Predicates {
    acting: Vec<String>,
}

impl<'a> Visit<'a> for Predicates {
    fn visit_signature(&mut self, signature: &'a Signature) {
        let name = signature.ident.to_string();
        if ["is_", "has_", "may_"].iter().any(|start| name.starts_with(start)) {
            let changes = matches!(signature.inputs.first(), Some(FnArg::Receiver(me)) if me.mutability.is_some() && me.reference.is_some());
            // `Result<(), …>` is for actions that fail.
            let fails = matches!(&signature.output, ReturnType::Type(_, ty)
                if quote::ToTokens::to_token_stream(ty).to_string().contains("Result < ()"));
            if changes || fails {
                self.acting.push(name);
            }
        }
        visit::visit_signature(self, signature);
    }
}

#[test]
fn predicates_only_look() {
    let mut acting = Vec::new();
    for file in ["src", "compiler", "runtime"].iter().flat_map(|folder| files(folder, ".rs")) {
        let parsed = syn::parse_file(&read(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let mut found = Predicates::default();
        found.visit_file(&parsed);
        acting.extend(found.acting.into_iter().map(|name| format!("{file}: {name}")));
    }
    assert!(acting.is_empty(), "give these the names of what they do: {acting:#?}");
}

#[test]
fn a_predicate_that_acts_is_found() {
    let text = "impl A { fn is_a(&mut self) -> bool { true } fn is_b(&self) -> Result<(), E> { Ok(()) } fn has_c(&self) -> bool { true } }";
    let mut found = Predicates::default();
    found.visit_file(&syn::parse_file(text).expect("it is Rust"));
    assert_eq!(found.acting, ["is_a", "is_b"]);
}
