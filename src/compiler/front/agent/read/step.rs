//! Reads `steps`, and reports keys that a type of step requires or ignores.

use super::{Fields, Reader};
use crate::front::agent::definition::{Invoke, Machine, Permit, Policy, Source, Step, StepType};
use crate::front::agent::keys::{INVOKE, MACHINE, PERMIT, STEP_KEYS, TYPES};
use crate::front::agent::node::{Node, Value};
use crate::rules::{conflicting_fields, legacy, missing_field, unmapped_answer};
use crate::syntax::source::{Ident, Span};

impl Reader<'_> {
    pub(super) fn steps(&mut self, node: &Node, at: Span) -> Vec<Step> {
        let Value::List(items) = &node.value else {
            self.wrong_type(node, at, "`steps`", "a list");
            return Vec::new();
        };
        let steps: Vec<Step> =
            items.iter().enumerate().filter_map(|(i, item)| self.step(item, at, i)).collect();
        if steps.is_empty() && items.is_empty() {
            self.malformed(at, "`steps` must have at least one step");
        }
        steps
    }

    fn step(&mut self, node: &Node, at: Span, index: usize) -> Option<Step> {
        let fields = self.fields(node, at, "a step", &STEP_KEYS)?;
        let word = fields.get("type").map(|(node, at)| self.word(node, at, "`type`", TYPES));
        let given = |key: &str| fields.get(key).is_some();
        let kind = match word {
            Some(Some(word)) if word.node == "llm" => StepType::Llm,
            Some(Some(word)) if word.node == "transition" => StepType::Transition,
            Some(Some(_)) | None => StepType::Code,
            // An unknown type, which is reported. The keys of the step show what was meant.
            Some(None) if given("transition_map") => StepType::Transition,
            Some(None) if given("prompt") => StepType::Llm,
            Some(None) => StepType::Code,
        };
        let name = match fields.get("name") {
            Some((node, at)) => self.name(node, at, "`name`"),
            None => {
                if !self.escalate_misspelling(&fields, &["name"]) {
                    self.missing(&fields, "a step needs a `name`");
                }
                None
            }
        };
        // A step without a name is kept, so that its other errors are found.
        let name = name.unwrap_or_else(|| Ident::new(format!("step_{}", index + 1), fields.head()));
        let text = |reader: &mut Self, key: &str| {
            fields
                .get(key)
                .filter(|(node, _)| node.value != Value::Null)
                .and_then(|(node, at)| reader.text(node, at, &format!("`{key}`")))
        };
        let code = text(self, "code");
        let mut source = |key: &str| {
            fields
                .get(key)
                .filter(|(node, _)| node.value != Value::Null)
                .and_then(|(n, at)| self.source(n, at, &format!("`{key}`")))
        };
        let (run_if, prompt) = (source("run_if"), source("prompt"));
        let present = |key: &str| fields.get(key).filter(|(node, _)| node.value != Value::Null);
        let to = present("transition_to").and_then(|(n, at)| self.name(n, at, "`transition_to`"));
        let map = present("transition_map").map(|(n, at)| self.map(n, at));
        let decision = present("transition_source").and_then(|(n, at)| self.invoke(n, at));
        let action = present("action").and_then(|(n, at)| self.name(n, at, "`action`"));
        let states = present("in_state").map(|(n, at)| self.in_state(n, at));
        let policy = Policy {
            on_failure: present("on_failure")
                .and_then(|(n, at)| self.on_failure(n, at, "`on_failure`")),
            max_retries: present("max_retries")
                .and_then(|(n, at)| self.count(n, at, "`max_retries`")),
        };
        if let (Some((_, to)), Some((_, map))) =
            (fields.get("transition_to"), present("transition_map"))
        {
            self.findings.push(conflicting_fields::two_targets(to, map));
        }
        if let (Some(on), Some((_, retries))) = (&policy.on_failure, present("max_retries"))
            && policy.max_retries.is_some()
            && let Some(word) = on.node.at_once()
        {
            self.findings.push(conflicting_fields::never_retried(word, retries, on.span));
        }
        let step = Step {
            name,
            kind,
            states,
            run_if,
            prompt,
            code,
            action,
            to,
            map,
            decision,
            policy,
            span: node.span,
        };
        let is_known =
            word_of(&fields).is_none_or(|word| TYPES.iter().any(|known| known.word == word));
        if is_known {
            self.requirements(&step, &fields);
        }
        self.fallback(&step, &fields);
        Some(step)
    }

    /// Reports keys that the type of the step requires or ignores.
    fn requirements(&mut self, step: &Step, fields: &Fields<'_>) {
        if fields.get("type").is_none() {
            let has =
                |key: &str| fields.get(key).is_some_and(|(node, _)| node.value != Value::Null);
            let meant = if has("code") || has("action") {
                None
            } else if has("transition_map") || has("transition_source") {
                Some("transition")
            } else {
                has("prompt").then_some("llm")
            };
            let finding = missing_field::untyped(&step.name.node, meant, step.name.span);
            self.findings.push(finding);
            if meant.is_some() {
                return;
            }
        }
        let (word, called) = match step.kind {
            StepType::Llm => ("llm", "an llm"),
            StepType::Code => ("code", "a code"),
            StepType::Transition => ("transition", "a transition"),
        };
        let case = STEP_KEYS.case(Some(word));
        let ignored = case.map(|case| case.ignores).unwrap_or_default();
        for (key, _) in fields.iter().filter(|(key, _)| ignored.contains(&key.node.as_str())) {
            self.findings.push(conflicting_fields::means_nothing(&key.node, called, key.span));
        }
        let missing: Option<(&str, &[&str])> = match step.kind {
            StepType::Llm if step.prompt.is_none() => {
                Some(("an llm step needs a `prompt`", &["prompt"][..]))
            }
            // A step with only a target is a plain move, which needs neither `code` nor `action`.
            StepType::Code if step.code.is_none() && step.action.is_none() && step.to.is_none() => {
                Some(("a code step needs `code` or `action`", &["code", "action"]))
            }
            StepType::Transition if step.to.is_none() && step.map.is_none() => Some((
                "a transition step needs `transition_to` or `transition_map`",
                &["transition_to", "transition_map"],
            )),
            StepType::Llm | StepType::Code | StepType::Transition => None,
        };
        // A value of the wrong type is reported already. Other keys may be the ones that were meant, and a component may contain the
        // prompt.
        let mut given = case.iter().flat_map(|case| case.needs).map(|need| need.key);
        if let Some((message, keys)) = missing
            && !given.any(|k| fields.get(k).is_some_and(|(n, _)| n.value != Value::Null))
        {
            if !self.escalate_misspelling(fields, keys) {
                self.findings.push(missing_field::lacks(message, step.name.span));
            }
            return;
        }
        if step.kind != StepType::Transition || fields.get("transition_map").is_some() {
            return;
        }
        let decides = [("prompt", "the answer"), ("transition_source", "its decision")];
        let decides = decides.into_iter().find_map(|(key, what)| Some((fields.get(key)?.1, what)));
        let (name, to) = (&step.name.node, step.to.as_ref().map(|to| to.node.as_str()));
        match decides {
            Some((at, what)) => {
                self.findings.push(legacy::decides_nothing(name, what, to, at));
            }
            None if to.is_some() => {
                self.findings.push(legacy::ignored_answer(name, step.name.span));
            }
            None => {}
        }
    }

    /// Reports a `fallback` (the decision if the source fails) that is no key of the map.
    fn fallback(&mut self, step: &Step, fields: &Fields<'_>) {
        let (Some(source), Some(map)) = (&step.decision, &step.map) else { return };
        let (Some(value), Some((_, at))) = (&source.fallback, fields.get("transition_map")) else {
            return;
        };
        if step.kind != StepType::Transition || map.is_empty() {
            return;
        }
        let word = match &value.value {
            Value::Text(text) => text.value.trim().to_owned(),
            Value::Bool(b) => b.to_string(),
            Value::Int(i) => i.to_string(),
            Value::Null => "none".to_owned(),
            Value::Float(_) | Value::List(_) | Value::Map(_) => return,
        };
        let mut keys = map.iter().map(|(answer, _)| answer.node.as_str());
        if keys.clone().any(|key| key.eq_ignore_ascii_case(&word)) {
            return;
        }
        let known = keys.by_ref().collect::<Vec<_>>();
        self.findings.push(unmapped_answer::fallback(&word, at, value.span, known.into_iter()));
    }

    fn in_state(&mut self, node: &Node, at: Span) -> Vec<Ident> {
        if matches!(node.value, Value::List(_)) {
            let states = self.names(node, at, "`in_state`");
            if matches!(&node.value, Value::List(items) if items.is_empty()) {
                self.malformed(at, "`in_state` names no state: the step never runs");
            }
            return states;
        }
        self.name(node, at, "`in_state`").into_iter().collect()
    }

    fn map(&mut self, node: &Node, at: Span) -> Vec<(Ident, Ident)> {
        let Some(entries) = self.entries(node, at, "`transition_map`") else { return Vec::new() };
        let mut map = Vec::new();
        for (answer, state) in entries.iter() {
            let what = format!("the state for `{}`", answer.node);
            if let Some(state) = self.name(state, answer.span, &what) {
                map.push((answer.clone(), state));
            }
        }
        if map.is_empty() && entries.iter().next().is_none() {
            self.malformed(at, "`transition_map` maps no answer");
        }
        map
    }
}

/// The text under `type`, if there is one.
fn word_of<'n>(fields: &Fields<'n>) -> Option<&'n str> {
    match fields.get("type").map(|(node, _)| &node.value) {
        Some(Value::Text(text)) => Some(text.value.trim()),
        _ => None,
    }
}

// Reads `state_machine` and InvokeSpecs.

impl Reader<'_> {
    pub(super) fn machine(&mut self, node: &Node, at: Span) -> Option<Machine> {
        let fields = self.fields(node, at, "`state_machine`", &MACHINE)?;
        let states = match fields.get("states") {
            Some((node, at)) => self.names(node, at, "`states`"),
            None => {
                if !self.escalate_misspelling(&fields, &["states"]) {
                    self.missing(&fields, "`state_machine` needs `states`");
                }
                Vec::new()
            }
        };
        let initial =
            fields.get("initial_state").and_then(|(n, at)| self.name(n, at, "`initial_state`"));
        let transitions = match fields.get("transitions") {
            Some((node, _)) if node.value == Value::Null => Vec::new(),
            Some((node, at)) => self.transitions(node, at),
            None => Vec::new(),
        };
        if states.is_empty() {
            if let Some((node, at)) = fields.get("states")
                && matches!(&node.value, Value::List(items) if items.is_empty())
            {
                self.malformed(at, "`states` must name at least one state");
            }
            return None;
        }
        Some(Machine { states, initial, transitions })
    }

    fn transitions(&mut self, node: &Node, at: Span) -> Vec<Permit> {
        let Value::List(items) = &node.value else {
            self.wrong_type(node, at, "`transitions`", "a list");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.permit(item, at)).collect()
    }

    fn permit(&mut self, node: &Node, at: Span) -> Option<Permit> {
        if let Value::Text(text) = &node.value {
            let Some(arrow) = text.value.find("->") else {
                self.malformed(node.span, "a transition as a text is written `from->to`");
                return None;
            };
            let part = |range: std::ops::Range<usize>| {
                let whole = &text.value[range.clone()];
                let start = range.start + whole.len() - whole.trim_start().len();
                let name = whole.trim();
                Ident::new(name.to_owned(), text.span(start..start + name.len()))
            };
            let (from, to) = (part(0..arrow), part(arrow + 2..text.value.len()));
            if from.node.is_empty() || to.node.is_empty() {
                self.malformed(node.span, "a transition as a text is written `from->to`");
                return None;
            }
            let from = (from.node != "*").then_some(from);
            return Some(Permit { from, to, condition: None, span: node.span });
        }
        let fields = self.fields(node, at, "a transition", &PERMIT)?;
        let from = fields.get("from").and_then(|(n, at)| self.name(n, at, "`from`"));
        if fields.get("from").is_some() && from.is_none() {
            return None;
        }
        let Some((to, at)) = fields.get("to") else {
            if !self.escalate_misspelling(&fields, &["to"]) {
                self.missing(&fields, "a transition needs `to`");
            }
            return None;
        };
        let to = self.name(to, at, "`to`")?;
        let condition = match fields.get("condition") {
            Some((node, at)) if node.value != Value::Null => {
                // A row whose condition cannot be read is omitted: without it, the row would permit too much.
                Some(self.source(node, at, "`condition`")?)
            }
            Some(_) | None => None,
        };
        let from = from.filter(|f| f.node != "*");
        Some(Permit { from, to, condition, span: node.span })
    }

    /// Reads a text or an InvokeSpec.
    pub(super) fn source(&mut self, node: &Node, at: Span, what: &str) -> Option<Source> {
        if matches!(node.value, Value::Map(_)) {
            return self.invoke(node, at).map(|i| Source::Invoke(Box::new(i)));
        }
        self.text(node, at, what).map(Source::Text)
    }

    pub(super) fn invoke(&mut self, node: &Node, at: Span) -> Option<Invoke> {
        let fields = self.fields(node, at, "an invocation", &INVOKE)?;
        let Some((artifact, key)) = fields.get("invoke") else {
            self.missing(&fields, "an invocation needs `invoke`, the artifact");
            return None;
        };
        let artifact = self.name(artifact, key, "`invoke`")?;
        let method = fields.get("method").and_then(|(n, at)| self.name(n, at, "`method`"));
        let arguments = match fields.get("args") {
            Some((Node { value: Value::List(items), .. }, _)) => items.clone(),
            Some((node, at)) => {
                self.wrong_type(node, at, "`args`", "a list");
                Vec::new()
            }
            None => Vec::new(),
        };
        let fallback = fields.get("fallback").map(|(node, _)| node.clone());
        Some(Invoke { artifact, method, arguments, fallback, span: node.span })
    }
}
