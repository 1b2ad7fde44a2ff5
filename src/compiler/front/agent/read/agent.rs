//! Reads the top level of an agent, its `workflow`, its budget, and components.
//!
//! The problem: a mapping of YAML may have any keys with any values, and old files have keys that the original engine ignored. The author
//! must learn of each mistake, and one of them must not hide the rest. The idea: `Reader::fields` checks the keys of a mapping against its
//! table in `keys`. Then one method reads each value, reports a wrong type, and returns nothing for it; what is absent has its default.
//! Keys that mean nothing to the chart are kept as its metadata, for the host.
//!
//! The order is that of the file: the agent, `workflow` and its policy; then budget, inputs and older keys of working memory; then the file
//! of a component. A new key needs a row in `keys` and a field in `definition`; if it becomes a part of the chart, it also belongs in
//! `INTERPRETED`. For example:
//!
//! ```text
//! id: ada
//! temperature: warm               a finding: this is no number; the rest is read as usual
//! starting_scrip: 100             metadata
//! error_handling: {max_retries: 2}
//! workflow: {steps: [], error_handling: {max_retries: 1}}
//! ```
//!
//! The outer `error_handling` belongs into `workflow`: it is a finding, and is read as far as the inner one says nothing. So there is 1
//! retry.

use super::{Fields, Home, Reader};
use crate::front::agent::comment;
use crate::front::agent::definition::{
    Agent, Component, ComponentKind, Injection, Listed, OnFailure, Policy, Source, Workflow,
};
use crate::front::agent::keys::{
    AGENT, BUDGET, COMPONENT, COMPONENTS, ERRORS, FAILURES, FORMS, INJECTION, KINDS, PLACES, RAG,
    STEP_FAILURES, WORKFLOW, WORKING_MEMORY,
};
use crate::front::agent::node::{Node, Value};
use crate::front::agent::text::Text;
use crate::rules::{
    WRONG_TYPE, conflicting_fields, disabled_agent, duplicate_name, legacy, missing_field,
    unused_fragment,
};
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::{Ident, Span, Spanned};
use crate::syntax::{ExprKind, InsertPosition};
use std::collections::BTreeMap;

/// Keys that become a part of the chart. All others are kept as its metadata.
const INTERPRETED: &[&str] = &[
    "llm_model",
    "temperature",
    "max_tokens",
    "workflow",
    "error_handling",
    "inputs",
    "cognitive_schema",
    "action_schema",
    "input_price",
    "output_price",
    "llm_budget",
    "inject_working_memory",
    "working_memory_max_bytes",
];

impl Reader<'_> {
    pub(super) fn agent(&mut self, node: &Node) -> Option<Agent> {
        let fields = self.fields(node, node.span, "an agent", &AGENT)?;
        if fields.get("id").is_none() {
            let finding = missing_field::lacks("an agent needs an `id`", fields.head());
            self.findings.push(finding.help("add `id: name` as the first line"));
        }
        let id = fields.get("id").and_then(|(n, at)| self.name(n, at, "`id`"));
        let model = fields.get("llm_model").and_then(|(n, at)| self.name(n, at, "`llm_model`"));
        let temperature =
            fields.get("temperature").and_then(|(n, at)| self.number(n, at, "`temperature`"));
        let max_tokens = fields
            .get("max_tokens")
            .and_then(|(n, at)| self.count(n, at, "`max_tokens`"))
            .map(|n| Spanned::new(i64::from(n.node), n.span));
        let query = self.carried(&fields);
        let rag = fields.get("rag").filter(|(node, _)| !says_no(node, "enabled")).map(|(_, at)| at);
        let mut workflow = fields.get("workflow").and_then(|(n, at)| self.workflow(n, at));
        if let Some((node, at)) = fields.get("error_handling") {
            let policy = self.policy(node, at, "`error_handling`");
            if let Some(workflow) = &mut workflow {
                self.outer_policy(&mut workflow.policy, policy, at);
            }
        }
        let mut meta: Vec<(Ident, Node)> = fields
            .iter()
            .filter(|(key, _)| !INTERPRETED.contains(&key.node.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.old_memory_keys(&fields, &mut meta);
        let form = fields
            .get("cognitive_schema")
            .and_then(|(n, at)| self.word(n, at, "`cognitive_schema`", FORMS));
        let prices = self.prices(&fields);
        let action_schema =
            fields.get("action_schema").and_then(|(n, at)| self.text(n, at, "`action_schema`"));
        let budget = fields.get("llm_budget").map(|(n, at)| self.budget(n, at));
        let inputs = fields.get("inputs").map(|(n, at)| self.named(n, at, "`inputs`", "an input"));
        let listed = fields.get("components").map(|(n, at)| self.components(n, at));
        Some(Agent {
            id,
            model,
            temperature,
            max_tokens,
            form,
            prices,
            action_schema,
            budget: budget.unwrap_or_default(),
            inputs: inputs.unwrap_or_default(),
            meta,
            workflow,
            listed: listed.unwrap_or_default(),
            components: Vec::new(),
            rag,
            query,
            system_prompt: None,
            span: node.span,
        })
    }

    /// Checks keys that are kept as metadata. Returns the template of the memory query.
    fn carried(&mut self, fields: &Fields<'_>) -> Option<Text> {
        if let Some((node, at)) = fields.get("enabled") {
            self.boolean(node, at, "`enabled`");
            if is_no(node) {
                self.findings.push(disabled_agent::told(node.span));
            }
        }
        for key in ["is_genesis", "has_standing", "can_execute"] {
            if let Some((node, at)) = fields.get(key) {
                self.boolean(node, at, &format!("`{key}`"));
            }
        }
        if let Some((node, at)) = fields.get("memory_artifact_id") {
            self.name(node, at, "`memory_artifact_id`");
        }
        if let Some((node, at)) = fields.get("starting_scrip") {
            self.number(node, at, "`starting_scrip`");
        }
        if let Some((node, at)) = fields.get("starting_credits") {
            self.number(node, at, "`starting_credits`");
            self.findings.push(legacy::credits(at, fields.get("starting_scrip").is_none()));
        }
        if let Some((node, at)) = fields.get("memory")
            && let Value::Map(entries) = &node.value
            && let Some((_, inner)) = entries.iter().find(|(key, _)| {
                matches!(&key.value, Value::Text(text) if text.value == "working_memory")
            })
        {
            self.working_memory(inner, at);
        }
        if let Some((node, at)) = fields.get("working_memory") {
            self.working_memory(node, at);
        }
        if let Some((node, at)) = fields.get("rag")
            && let Some(rag) = self.fields(node, at, "`rag`", &RAG)
        {
            if let Some((node, at)) = rag.get("enabled") {
                self.boolean(node, at, "`enabled`");
            }
            if let Some((node, at)) = rag.get("limit") {
                self.count(node, at, "`limit`");
            }
            if let Some((node, at)) = rag.get("query_template") {
                return self.text(node, at, "`query_template`");
            }
        }
        None
    }

    /// Checks the options of working memory. They are kept as metadata, which the host interprets.
    fn working_memory(&mut self, node: &Node, at: Span) {
        let Some(fields) = self.fields(node, at, "`working_memory`", &WORKING_MEMORY) else {
            return;
        };
        for (key, value) in fields.iter() {
            let what = format!("`{}`", key.node);
            if key.node == "max_size_bytes" {
                self.count(value, key.span, &what);
            } else {
                self.boolean(value, key.span, &what);
            }
        }
    }

    /// Reads the names of all lists, in the order in which components are inserted into prompts.
    fn components(&mut self, node: &Node, at: Span) -> Vec<Listed> {
        let mut listed = Vec::new();
        if node.value == Value::Null {
            return listed;
        }
        let Some(lists) = self.fields(node, at, "`components`", &COMPONENTS) else { return listed };
        for kind in ComponentKind::ALL {
            if let Some((node, at)) = lists.get(kind.list())
                && node.value != Value::Null
            {
                let names = self.names(node, at, &format!("`{}`", kind.list()));
                listed.extend(names.into_iter().map(|name| Listed { kind, name }));
            }
        }
        listed
    }

    fn workflow(&mut self, node: &Node, at: Span) -> Option<Workflow> {
        let fields = self.fields(node, at, "`workflow`", &WORKFLOW)?;
        let machine = fields
            .get("state_machine")
            .filter(|(node, _)| node.value != Value::Null)
            .and_then(|(n, at)| self.machine(n, at));
        let steps = match fields.get("steps") {
            Some((node, at)) => self.steps(node, at),
            None => {
                // A state machine alone can be drawn and checked.
                if !self.escalate_misspelling(&fields, &["steps"]) && machine.is_none() {
                    let message = "`workflow` has neither `steps` nor states: it does nothing";
                    let finding = missing_field::lacks(message, at);
                    self.findings.push(Diagnostic { severity: Severity::Warning, ..finding });
                }
                Vec::new()
            }
        };
        let mut policy = fields
            .get("error_handling")
            .map(|(n, at)| self.policy(n, at, "`error_handling`"))
            .unwrap_or_default();
        // The keys of `workflow` itself take precedence over those in `error_handling`.
        if let Some((node, at)) = fields.get("default_on_failure") {
            policy.on_failure =
                self.on_failure(node, at, "`default_on_failure`").or(policy.on_failure);
        }
        if let Some((node, at)) = fields.get("default_max_retries") {
            policy.max_retries =
                self.count(node, at, "`default_max_retries`").or(policy.max_retries);
        }
        let calls =
            fields.get("calls_per_turn").and_then(|(n, at)| self.count(n, at, "`calls_per_turn`"));
        let keep = fields.get("keep").map(|(n, at)| self.named(n, at, "`keep`", "a variable"));
        Some(Workflow { machine, steps, policy, calls, keep: keep.unwrap_or_default() })
    }

    /// Merges an `error_handling` beside `workflow` into the one inside, which takes precedence.
    fn outer_policy(&mut self, inner: &mut Policy, outer: Policy, at: Span) {
        let finding = legacy::outer_policy(at);
        let finding = self.homes.moved(finding, at, Home::Workflow, self.source);
        self.findings.push(finding);
        inner.on_failure = inner.on_failure.clone().or(outer.on_failure);
        inner.max_retries = inner.max_retries.clone().or(outer.max_retries);
    }

    fn policy(&mut self, node: &Node, at: Span, what: &str) -> Policy {
        let mut policy = Policy::default();
        let Some(fields) = self.fields(node, at, what, &ERRORS) else { return policy };
        if let Some((node, at)) = fields.get("on_step_failure") {
            let word = self.word(node, at, "`on_step_failure`", STEP_FAILURES);
            policy.on_failure = word.map(|w| {
                let meant = if w.node == "continue" { OnFailure::Skip } else { OnFailure::Fail };
                Spanned::new(meant, w.span)
            });
        }
        if let Some((node, at)) = fields.get("default_on_failure") {
            policy.on_failure =
                self.on_failure(node, at, "`default_on_failure`").or(policy.on_failure);
        }
        if let Some((node, at)) = fields.get("max_retries") {
            policy.max_retries = self.count(node, at, "`max_retries`");
        }
        policy
    }

    pub(super) fn on_failure(
        &mut self,
        node: &Node,
        at: Span,
        what: &str,
    ) -> Option<Spanned<OnFailure>> {
        let word = self.word(node, at, what, FAILURES)?;
        let meant = match word.node.as_str() {
            "retry" => OnFailure::Retry,
            "skip" => OnFailure::Skip,
            _ => OnFailure::Fail,
        };
        Some(Spanned::new(meant, word.span))
    }

    /// Reports a mapping that lacks a required key.
    pub(super) fn missing(&mut self, fields: &Fields<'_>, message: &str) {
        self.findings.push(missing_field::lacks(message, fields.head()));
    }

    /// Reports a value of the wrong form.
    pub(super) fn malformed(&mut self, span: Span, message: impl Into<String>) {
        self.findings.push(WRONG_TYPE.at(span, message));
    }
}

/// Whether a value is `false`, in any spelling of YAML 1.1.
fn is_no(node: &Node) -> bool {
    match &node.value {
        Value::Bool(b) => !b,
        Value::Text(text) => matches!(text.value.to_ascii_lowercase().as_str(), "no" | "off"),
        _ => false,
    }
}

/// Whether the value of this key in a mapping is `false`.
fn says_no(node: &Node, key: &str) -> bool {
    let Value::Map(entries) = &node.value else { return false };
    let is_key = |node: &Node| matches!(&node.value, Value::Text(text) if text.value == key);
    entries.iter().any(|(name, value)| is_key(name) && is_no(value))
}

// Reads an agent's budget, its inputs, and the older keys of its working memory.

/// Older keys, each with the key of `working_memory` that replaces it.
const OLD: [(&str, &str); 2] =
    [("inject_working_memory", "auto_inject"), ("working_memory_max_bytes", "max_size_bytes")];

impl Reader<'_> {
    /// Reads `input_price` and `output_price`, each the price of a million tokens.
    pub(super) fn prices(&mut self, fields: &Fields<'_>) -> Vec<(Ident, f64)> {
        let mut prices = Vec::new();
        for key in ["input_price", "output_price"] {
            let Some((node, at)) = fields.get(key) else { continue };
            if let Some(price) = self.amount(node, at, &format!("`{key}`")) {
                prices.push((Ident::new(key.to_owned(), at), price));
            }
        }
        prices
    }

    /// Reads `llm_budget`: an amount of money, or a mapping of `cost`, `tokens` and `calls`.
    pub(super) fn budget(&mut self, node: &Node, at: Span) -> Vec<(Ident, ExprKind)> {
        if !matches!(node.value, Value::Map(_)) {
            let cost = self.amount(node, at, "`llm_budget`");
            let word = Ident::new("cost".to_owned(), at);
            return cost.map(|cost| (word, ExprKind::Float(cost))).into_iter().collect();
        }
        let Some(fields) = self.fields(node, at, "`llm_budget`", &BUDGET) else {
            return Vec::new();
        };
        let mut budget = Vec::new();
        for (key, value) in fields.iter() {
            let what = format!("`{}`", key.node);
            let bound = if key.node == "cost" {
                self.amount(value, key.span, &what).map(ExprKind::Float)
            } else {
                let count = self.count(value, key.span, &what);
                count.map(|count| ExprKind::Int(i64::from(count.node)))
            };
            budget.extend(bound.map(|bound| (key.clone(), bound)));
        }
        budget
    }

    fn amount(&mut self, node: &Node, at: Span, what: &str) -> Option<f64> {
        let amount = self.number(node, at, what)?.node;
        if amount < 0.0 {
            self.malformed(node.span, format!("{what} must not be negative"));
            return None;
        }
        Some(amount)
    }

    /// Reads names with their initial values: `inputs` of the agent, `keep` of its workflow.
    pub(super) fn named(
        &mut self,
        node: &Node,
        at: Span,
        key: &str,
        what: &str,
    ) -> Vec<(Ident, Node)> {
        if node.value == Value::Null {
            return Vec::new();
        }
        let Some(entries) = self.entries(node, at, key) else { return Vec::new() };
        let mut named = Vec::new();
        for (name, value) in entries.iter() {
            let mut letters = name.node.chars();
            let is_name = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
                && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
            if is_name {
                named.push((name.clone(), value.clone()));
            } else {
                let message = format!("`{}` cannot be the name of {what}", name.node);
                self.malformed(name.span, message);
            }
        }
        named
    }

    /// Copies the older keys into `working_memory`, whose own keys take precedence.
    pub(super) fn old_memory_keys(&mut self, fields: &Fields<'_>, meta: &mut Vec<(Ident, Node)>) {
        for (old, new) in OLD {
            let Some((node, at)) = fields.get(old) else { continue };
            if new == "auto_inject" {
                self.boolean(node, at, &format!("`{old}`"));
            } else if self.count(node, at, &format!("`{old}`")).is_none() {
                continue;
            }
            let Some(entries) = options(meta, at) else { continue };
            if entries.iter().any(|(key, _)| is_key(key, new)) {
                self.findings.push(conflicting_fields::older(old, new, at));
                continue;
            }
            entries.push((key(new, at), node.clone()));
        }
    }
}

fn is_key(node: &Node, name: &str) -> bool {
    matches!(&node.value, Value::Text(text) if text.value == name)
}

fn key(name: &str, span: Span) -> Node {
    Node { value: Value::Text(Text::at(span, name)), span }
}

/// The mapping of options for working memory, created if it is absent. `None` if it is not a mapping, which is reported.
fn options(meta: &mut Vec<(Ident, Node)>, at: Span) -> Option<&mut Vec<(Node, Node)>> {
    const NAME: &str = "working_memory";
    let within = meta.iter().position(|(name, node)| {
        name.node == "memory"
            && matches!(&node.value, Value::Map(inner) if inner.iter().any(|(k, _)| is_key(k, NAME)))
    });
    let place = within.or_else(|| meta.iter().position(|(name, _)| name.node == NAME));
    let place = place.unwrap_or_else(|| {
        meta.push((
            Ident::new(NAME.to_owned(), at),
            Node { value: Value::Map(Vec::new()), span: at },
        ));
        meta.len() - 1
    });
    let (_, node) = &mut meta[place];
    let node = match (&mut node.value, within) {
        (Value::Map(inner), Some(_)) => {
            &mut inner.iter_mut().find(|(key, _)| is_key(key, NAME))?.1.value
        }
        (value, _) => value,
    };
    match node {
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}

// Reads a component's file.

impl Reader<'_> {
    pub(super) fn component(&mut self, node: &Node, listed: Listed) -> Option<Component> {
        let fields = self.fields(node, node.span, "a component", &COMPONENT)?;
        let present = |key: &str| fields.get(key).filter(|(node, _)| node.value != Value::Null);
        let kind = listed.kind.word();
        if let Some((node, at)) = present("type")
            && let Some(word) = self.word(node, at, "`type`", KINDS)
            && word.node != kind
        {
            let folder = listed.kind.list();
            let finding = conflicting_fields::other_kind(&word.node, kind, folder, word.span);
            self.findings.push(finding);
        }
        if let Some((node, at)) = present("name")
            && let Some(name) = self.name(node, at, "`name`")
            // The name is empty if the component is checked without an agent.
            && !listed.name.node.is_empty()
            && name.node != listed.name.node
        {
            self.findings.push(conflicting_fields::other_name(&listed.name.node, name.span));
        }
        let description = present("description")
            .and_then(|(n, at)| self.text(n, at, "`description`"))
            .map(|text| text.value.trim().to_owned());
        let fragment =
            present("prompt_fragment").and_then(|(n, at)| self.text(n, at, "`prompt_fragment`"));
        if present("prompt_fragment").is_none() {
            self.missing(&fields, "a component needs a `prompt_fragment`");
        }
        let place =
            present("at").and_then(|(n, at)| self.place(n, at)).unwrap_or(InsertPosition::End);
        let requires = present("requires_context")
            .map(|(n, at)| self.names(n, at, "`requires_context`"))
            .unwrap_or_default();
        let places = match fields.get("inject_into") {
            Some((node, at)) => self.injections(node, at, place),
            None => {
                let message = "a component needs `inject_into`, the steps that it goes into";
                self.missing(&fields, message);
                Vec::new()
            }
        };
        let comments = comment::texts(self.source, node);
        Some(Component { listed, description, places, fragment, requires, comments })
    }

    fn injections(&mut self, node: &Node, at: Span, place: InsertPosition) -> Vec<Injection> {
        let one = std::slice::from_ref(node);
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            Value::Text(_) | Value::Map(_) => one,
            _ => {
                self.wrong_type(node, at, "`inject_into`", "a list of steps");
                return Vec::new();
            }
        };
        if items.is_empty() {
            self.findings.push(unused_fragment::into_nothing(at));
        }
        let mut known: BTreeMap<String, Span> = BTreeMap::new();
        let mut found = Vec::new();
        for item in items {
            let Some(one) = self.injection(item, at, place) else { continue };
            let Ident { node: step, span } = &one.step;
            if let Some(first) = known.get(step) {
                let message = format!("`inject_into` names `{step}` twice");
                self.findings.push(duplicate_name::again(message, *span, *first));
                continue;
            }
            known.insert(step.clone(), *span);
            found.push(one);
        }
        found
    }

    fn injection(&mut self, node: &Node, at: Span, place: InsertPosition) -> Option<Injection> {
        if !matches!(node.value, Value::Map(_)) {
            let step = self.name(node, at, "an item of `inject_into`")?;
            return Some(Injection { step, place, condition: None });
        }
        let fields = self.fields(node, at, "an item of `inject_into`", &INJECTION)?;
        let Some((step, key)) = fields.get("step") else {
            self.missing(&fields, "an item of `inject_into` needs its `step`");
            return None;
        };
        let step = self.name(step, key, "`step`")?;
        let place = fields.get("at").and_then(|(n, at)| self.place(n, at)).unwrap_or(place);
        let always = fields.get("always").and_then(|(node, at)| {
            self.boolean(node, at, "`always`");
            let said = |b: bool| node.value == Value::Bool(b);
            (said(true) || said(false)).then(|| (said(true), at))
        });
        let condition = fields.get("if").filter(|(node, _)| node.value != Value::Null);
        match (always, condition) {
            (Some((true, at)), Some((_, unused))) => {
                self.findings.push(conflicting_fields::always(unused, at));
                Some(Injection { step, place, condition: None })
            }
            (Some((false, at)), None) => {
                self.findings.push(unused_fragment::never(&step.node, at));
                None
            }
            (_, Some((node, at))) => {
                // An injection whose condition cannot be read is omitted: without it, the fragment would be inserted too often.
                let condition: Source = self.source(node, at, "`if`")?;
                Some(Injection { step, place, condition: Some(condition) })
            }
            (_, None) => Some(Injection { step, place, condition: None }),
        }
    }

    fn place(&mut self, node: &Node, at: Span) -> Option<InsertPosition> {
        let word = self.word(node, at, "`at`", PLACES)?;
        Some(match word.node.as_str() {
            "start" => InsertPosition::Start,
            "replace" => InsertPosition::Replace,
            _ => InsertPosition::End,
        })
    }
}
