//! Reads the top level of an agent, and its `workflow`.

use super::Reader;
use super::fields::Fields;
use super::home::Home;
use crate::front::agent::definition::{Agent, ComponentKind, Listed, OnFailure, Policy, Workflow};
use crate::front::agent::keys::{
    AGENT, COMPONENTS, ERRORS, FAILURES, FORMS, RAG, STEP_FAILURES, WORKFLOW, WORKING_MEMORY,
};
use crate::front::agent::node::{Node, Value};
use crate::front::agent::scalar::Text;
use crate::rules::WRONG_TYPE;
use crate::rules::{disabled_agent, legacy, missing_field};
use crate::span::{Ident, Span, Spanned};

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
                if !self.escalate_misspelling(&fields, &["steps"]) {
                    self.findings.push(missing_field::lacks("`workflow` needs `steps`", at));
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
