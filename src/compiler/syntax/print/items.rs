//! Prints charts and all items in them: declarations, states, transitions, steps and tests.
//!
//! Each function prints one kind of node into `Out`; nodes that are part of a line return their text. The sections are charts, top level
//! items and declarations, states and transitions, steps and actions, and tests. Within a section, functions are in the order in which they
//! call each other. A new variant of a node needs an arm in the function of its kind.
//!
//! The parser must read the printed text as the same node. So names go through `lower`, `upper` and `path`, which quote where it is needed.
//! Some names would mean something else only in one place, and are quoted there: `any` in a set of tools, `call` after `may`, and the first
//! words of other patterns, such as `done`, after `on`.
//!
//! A body in braces goes through `Out::body`, which also prints the comments in it. The caller selects the `Layout`: `holds_lines` and
//! `layout` put a body on several lines if an item in it has a body of its own. For example, `state a { enter { n = 1 } on go -> b }` is
//! printed as
//!
//! ```text
//! state a {
//!   enter { n = 1 }
//!   on go -> b
//! }
//! ```

use super::expr::{
    arguments, duration, expr, float, lower, names, param, params, params_given, path, plain,
    quote, range, renamed, state_name, state_path, template, type_expr, uninterpolated, upper,
};
use super::{Layout, Out};
use crate::syntax::{
    Action, Argument, Ask, AskElse, Assertion, Block, Chart, ChartItem, Check, CheckSubject, Claim,
    Client, ClientOption, Component, Deadline, Done, Entry, Enum, EventPattern, Expectation, Expr,
    ExprKind, FailWord, FailureReason, From, Function, FunctionKind, GivenFunction, Insert,
    InsertPosition, Item, Limit, Line, LineKind, Lost, May, MayKind, Meta, MetaValue, Noted,
    Outcome, OutcomeKind, Path, Policy, Record, Scenario, State, StateItem, StateKind, Step,
    StepItem, StepKind, StepRef, Tail, Target, TemplatePart, TestAnswer, TestItem, Tool, ToolLine,
    ToolPattern, ToolSet, ToolSum, Variable, VariableKind, is_lower_snake, is_reserved,
};

/// Prints `chart N { … }`.
pub(super) fn chart(out: &mut Out, node: &Chart) {
    out.push(&format!("chart {}{} ", upper(&node.name.node), renamed(&node.renamed, upper)));
    out.body(&node.items, &node.end, Layout::Lines, item);
}

fn item(out: &mut Out, item: &ChartItem) {
    match item {
        ChartItem::Meta(entries) => meta(out, entries),
        ChartItem::Variable(node) => variable(out, node),
        ChartItem::Event(name, fields) => {
            out.push(&format!("event {}", path(name)));
            if !fields.is_empty() {
                out.push(&params(fields));
            }
        }
        ChartItem::Function(node) => function(out, node),
        ChartItem::Tool(node) => tool(out, node),
        ChartItem::ToolSet(node) => tool_set(out, node),
        ChartItem::Predicate(node) => {
            let test = expr(&node.expr, out.level);
            out.push(&format!("pred {} = {test}", lower(&node.name.node)));
        }
        ChartItem::Client(node) => client(out, node),
        ChartItem::Component(node) => component(out, node),
        ChartItem::Defaults(node) => {
            let policy = policy(node, out.level);
            out.push(&format!("defaults {{ {policy} }}"));
        }
        ChartItem::Trace(None) => out.push("trace all"),
        ChartItem::Trace(Some(count)) => out.push(&format!("trace {count}")),
        ChartItem::Check(node) => check(out, node),
        ChartItem::State(node) => state_item(out, node),
    }
}

fn variable(out: &mut Out, node: &Variable) {
    let (word, per_turn) = match node.kind {
        VariableKind::Param => ("param", false),
        VariableKind::Input => ("input", false),
        VariableKind::Var { per_turn } => ("var", per_turn),
    };
    let name = lower(&node.name.node) + &renamed(&node.renamed, lower);
    let ty = type_expr(&node.ty) + &range(node.range.as_ref(), out.level);
    out.push(&format!("{word} {name}: {ty}"));
    if let Some(default) = &node.default {
        out.push(&format!(" = {}", expr(default, out.level)));
    }
    if per_turn {
        out.push(" per turn");
    }
}

fn check(out: &mut Out, node: &Check) {
    let level = out.level;
    let pair = |a: &CheckSubject, word: &str, b: &CheckSubject| {
        format!("{} {word} {}", check_subject(a), check_subject(b))
    };
    let argument = |argument: &Argument| match argument {
        Argument::State(state) => state_path(state),
        Argument::Unless(first, second) => pair(first, "unless", second),
        Argument::Before(first, second) => pair(first, "before", second),
        Argument::Bound(bound) => {
            let unit = &bound.unit.node;
            let unit = if unit == "turn" { unit.clone() } else { lower(unit) };
            format!("{} {unit}", expr(&bound.expr, level))
        }
    };
    let claim = match &node.claim {
        Claim::Property(name, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(argument).collect();
            format!("{}({})", lower(&name.node), arguments.join(", "))
        }
        Claim::Before(first, second) => pair(first, "before", second),
        Claim::AtMost(of, most) => {
            format!("{} at most {}", check_subject(of), expr(most, level))
        }
    };
    out.push(&format!("check {claim}"));
    for (nth, (name, from, to)) in node.given.iter().enumerate() {
        let before = if nth == 0 { " given" } else { "," };
        let (from, to) = (expr(from, level), expr(to, level));
        out.push(&format!("{before} {} in {from}..{to}", lower(&name.node)));
    }
}

fn check_subject(node: &CheckSubject) -> String {
    let name = state_path(&node.name);
    node.kind.map_or_else(|| name.clone(), |kind| format!("{} {name}", kind.word()))
}

fn meta(out: &mut Out, entries: &[Meta]) {
    let row: Vec<String> =
        entries.iter().map(|e| format!("{}: {}", key(&e.key.node), value(&e.value))).collect();
    let row = format!("meta {{ {} }}", row.join("  "));
    if entries.is_empty() {
        out.push("meta { }");
    } else if out.fits(&row) {
        out.push(&row);
    } else {
        out.push("meta {\n");
        out.level += 1;
        for entry in entries {
            out.push(&Out::indent(out.level));
            out.push(&format!("{}: ", key(&entry.key.node)));
            broken_value(out, &entry.value);
            out.push("\n");
        }
        out.level -= 1;
        out.push(&Out::indent(out.level));
        out.push("}");
    }
}

fn key(key: &str) -> String {
    if is_lower_snake(key) && !is_reserved(key) { key.to_owned() } else { plain(key) }
}

fn value(node: &MetaValue) -> String {
    match node {
        MetaValue::None => "none".to_owned(),
        MetaValue::Bool(value) => value.to_string(),
        MetaValue::Int(value) => value.to_string(),
        MetaValue::Float(value) if value.is_finite() => float(*value),
        MetaValue::Float(_) => "none".to_owned(),
        MetaValue::Text(text) => plain(text),
        MetaValue::List(items) => {
            format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", "))
        }
        MetaValue::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(k, v)| format!("{}: {}", key(k), value(v))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Prints a value on one line if it fits, else with one entry per line.
fn broken_value(out: &mut Out, node: &MetaValue) {
    let row = value(node);
    if out.fits(&row) {
        out.push(&row);
        return;
    }
    match node {
        MetaValue::List(items) => {
            out.push("[\n");
            out.level += 1;
            for item in items {
                out.push(&Out::indent(out.level));
                broken_value(out, item);
                out.push(",\n");
            }
            out.level -= 1;
            out.push(&format!("{}]", Out::indent(out.level)));
        }
        MetaValue::Map(entries) => {
            out.push("{\n");
            out.level += 1;
            for (name, item) in entries {
                out.push(&format!("{}{}: ", Out::indent(out.level), key(name)));
                broken_value(out, item);
                out.push(",\n");
            }
            out.level -= 1;
            out.push(&format!("{}}}", Out::indent(out.level)));
        }
        _ => out.push(&row),
    }
}

// Prints top level items, and the declarations that charts share with them.

/// Prints a top level item.
pub(super) fn top_item(out: &mut Out, item: &Item) {
    match item {
        Item::Import(import) => out.push(&format!("import {}", plain(&import.path.node))),
        Item::Record(node) => record(out, node),
        Item::Enum(node) => enumeration(out, node),
        Item::Function(node) => function(out, node),
        Item::Tool(node) => tool(out, node),
        Item::ToolSet(node) => tool_set(out, node),
        Item::Client(node) => client(out, node),
        Item::Component(node) => component(out, node),
        Item::Chart(node) => chart(out, node),
        Item::Scenario(node) => scenario(out, node),
        Item::Bad(_) => {}
    }
}

fn record(out: &mut Out, node: &Record) {
    out.push(&format!("type {} ", upper(&node.name.node)));
    out.body(&node.fields, &[], Layout::Row, |out, field| out.push(&param(field)));
}

fn enumeration(out: &mut Out, node: &Enum) {
    out.push(&format!("enum {} ", upper(&node.name.node)));
    out.body(&node.names, &[], Layout::Row, |out, name| out.push(&lower(&name.node)));
}

/// Prints a `fn` or a `do`.
pub(super) fn function(out: &mut Out, node: &Function) {
    let (name, all) = (lower(&node.name.node), params(&node.params));
    match &node.kind {
        FunctionKind::Effect => out.push(&format!("do {name}{all}")),
        FunctionKind::Pure(result, method, otherwise) => {
            out.push(&format!("fn {name}{all} -> {}", type_expr(result)));
            if let Some(method) = method {
                let (artifact, name) = (plain(&method.artifact.node), plain(&method.name.node));
                out.push(&format!(" from {artifact} {name}"));
            }
            if let Some(otherwise) = otherwise {
                out.push(&format!(" else {}", expr(otherwise, out.level)));
            }
        }
    }
}

/// Prints a `tool`.
pub(super) fn tool(out: &mut Out, node: &Tool) {
    let (all, result) = (params(&node.params), type_expr(&node.result));
    let idempotent = if node.idempotent { " idempotent" } else { "" };
    out.push(&format!("tool {}{all} -> {result}{idempotent}", path(&node.name)));
}

/// Prints a `tools`.
pub(super) fn tool_set(out: &mut Out, node: &ToolSet) {
    out.push(&format!("tools {} = {}", lower(&node.name.node), tool_sum(&node.tools)));
}

fn tool_sum(node: &ToolSum) -> String {
    let plus: Vec<String> = node.plus.iter().map(event_pattern).collect();
    let minus = node.minus.iter().map(|one| format!(" - {}", event_pattern(one)));
    plus.join(" | ") + &minus.collect::<String>()
}

fn event_pattern(pattern: &ToolPattern) -> String {
    match pattern {
        ToolPattern::Any(_) => "any".to_owned(),
        ToolPattern::Name(name) if name.names.len() == 1 && name.text() == "any" => {
            // Without back-quotes it would mean all tools.
            "`any`".to_owned()
        }
        ToolPattern::Name(name) => path(name),
        ToolPattern::Prefix(name) => format!("{}.*", path(name)),
    }
}

/// Prints a `client`.
pub(super) fn client(out: &mut Out, node: &Client) {
    out.push(&format!("client {} ", lower(&node.name.node)));
    out.body(&node.options, &[], Layout::Row, client_option);
}

fn client_option(out: &mut Out, node: &ClientOption) {
    if let Some(retry) = &node.retry {
        out.push(&retry_text(retry));
        return;
    }
    let value = client_value(&node.value, out.level);
    out.push(&format!("{} {value}", lower(&node.name.node)));
}

fn client_value(value: &Expr, level: usize) -> String {
    if let ExprKind::Text(text) = &value.kind {
        return uninterpolated(text);
    }
    let ExprKind::Map(entries) = &value.kind else { return expr(value, level) };
    let options = entries.iter().filter_map(|Entry { key, value }| {
        let ExprKind::Text(name) = &key.kind else { return None };
        let [TemplatePart::Text(name, _)] = name.parts.as_slice() else { return None };
        Some(format!("{} {} ", lower(name), client_value(value, level)))
    });
    format!("{{ {}}}", options.collect::<Vec<_>>().join(" "))
}

/// Prints a `component`.
pub(super) fn component(out: &mut Out, node: &Component) {
    let inserts: Vec<String> = node.inserts.iter().map(|i| insert(i, out.level)).collect();
    let text = template(&node.text, out.level);
    out.push(&format!("component {} into {} {text}", lower(&node.name.node), inserts.join(", ")));
}

fn insert(node: &Insert, level: usize) -> String {
    let guard = node.guard.as_ref().map_or(String::new(), |g| format!(" if {}", expr(g, level)));
    let place = match node.place {
        InsertPosition::Start => " at start",
        InsertPosition::End => "",
        InsertPosition::Replace => " at replace",
    };
    format!("{}{guard}{place}", lower(&node.step.node))
}

// Prints states and transitions.

/// Prints an item of a state.
pub(super) fn state_item(out: &mut Out, item: &StateItem) {
    match item {
        StateItem::Initial(node) => {
            out.push(&format!("initial {}", all_paths(&node.targets)));
            default_actions(out, node.actions.as_ref());
        }
        StateItem::State(node) => state(out, node),
        StateItem::History(node) => {
            let deep = if node.deep { " deep" } else { "" };
            let name = state_name(&node.name.node) + &renamed(&node.renamed, state_name);
            let default = all_paths(&node.default);
            out.push(&format!("history {name}{deep} -> {default}"));
            default_actions(out, node.actions.as_ref());
        }
        StateItem::Line(node) => line(out, node),
        StateItem::From(node) => from(out, node),
        StateItem::Enter(block) => {
            out.push("enter ");
            actions(out, block);
        }
        StateItem::Exit(block) => {
            out.push("exit ");
            actions(out, block);
        }
        StateItem::Defer(events) => {
            let events: Vec<String> = events.iter().map(state_pattern).collect();
            out.push(&format!("defer {}", events.join(", ")));
        }
        StateItem::Step(node) => step(out, node),
        StateItem::Allow(node) => {
            let from = node.from.as_ref().map_or("*".to_owned(), state_path);
            out.push(&format!("allow {from} -> {}", state_path(&node.to)));
            if let Some(guard) = &node.guard {
                out.push(&format!(" if {}", expr(guard, out.level)));
            }
        }
        StateItem::Advice(text) => out.push(&format!("advice {}", template(text, out.level))),
        StateItem::Limits(limits) => {
            out.push("limits ");
            out.body(limits, &[], Layout::Row, limit);
        }
        StateItem::Bad(_) => {}
    }
}

fn all_paths(targets: &[Path]) -> String {
    targets.iter().map(state_path).collect::<Vec<_>>().join(", ")
}

fn default_actions(out: &mut Out, block: Option<&Block>) {
    if let Some(block) = block {
        out.push(" ");
        actions(out, block);
    }
}

fn state(out: &mut Out, node: &State) {
    let name = state_name(&node.name.node) + &renamed(&node.renamed, state_name);
    match &node.kind {
        StateKind::State => out.push(&format!("state {name}")),
        StateKind::Parallel => out.push(&format!("parallel {name}")),
        StateKind::Final(all, values, status) => {
            out.push(&format!("final {name}"));
            let level = out.level;
            let one = |(field, value): (_, &Option<_>)| match value {
                Some(value) => format!("{} = {}", param(field), expr(value, level)),
                None => param(field),
            };
            if !all.is_empty() {
                let all: Vec<String> = all.iter().zip(values).map(one).collect();
                out.push(&format!("({})", all.join(", ")));
            }
            if let Some(status) = status {
                out.push(&format!(" : {}", lower(&status.node)));
            }
        }
    }
    if let Some(body) = &node.body {
        out.push(" ");
        let nested = body.items.iter().any(|i| holds_lines(&i.node));
        let layout = if nested { Layout::Lines } else { Layout::Single };
        out.body(&body.items, &body.end, layout, state_item);
    }
}

/// Whether the item's braces are on lines of their own. Those of its parent then are, too.
fn holds_lines(item: &StateItem) -> bool {
    match item {
        StateItem::State(_) | StateItem::From(_) | StateItem::Limits(_) => true,
        StateItem::Step(step) => !step.items.is_empty() || matches!(step.kind, StepKind::Code(_)),
        _ => false,
    }
}

fn limit(out: &mut Out, node: &Limit) {
    out.push(&format!("{} {}", lower(&node.what.node), expr(&node.bound, out.level)));
    if let Some(warn) = &node.warn {
        out.push(&format!(" warn {}", expr(warn, out.level)));
    }
    if node.per_turn {
        out.push(" per turn");
    }
}

fn from(out: &mut Out, node: &From) {
    out.push("from ");
    out.push(&if node.states.is_empty() { "*".to_owned() } else { state_paths(&node.states) });
    if !node.except.is_empty() {
        out.push(&format!(" except {}", state_paths(&node.except)));
    }
    out.push(" ");
    out.body(&node.lines, &node.end, Layout::Lines, line);
}

fn state_paths(paths: &[Path]) -> String {
    paths.iter().map(state_path).collect::<Vec<_>>().join(" | ")
}

fn line(out: &mut Out, node: &Line) {
    match &node.kind {
        LineKind::On(event) => out.push(&format!("on {}", state_pattern(event))),
        LineKind::When(test) => out.push(&format!("when {}", expr(test, out.level))),
        LineKind::After { each, deadline } => {
            let each = if *each { "each " } else { "" };
            let bound = match deadline {
                Deadline::Time(bound) => expr(bound, out.level),
                Deadline::Turns(bound) => format!("{} turns", expr(bound, out.level)),
            };
            out.push(&format!("{each}after {bound}"));
        }
        LineKind::May(node) => may(out, node),
    }
    if matches!(node.kind, LineKind::May(_)) {
        out.stop();
        guard(out, &node.tail);
        out.stop();
        movement(out, &node.tail);
    } else {
        tail(out, &node.tail);
    }
}

fn may(out: &mut Out, node: &May) {
    match &node.kind {
        MayKind::Option(name, all) => {
            // A bare `may call x` would be a tool call.
            let name = if name.node == "call" { quote(&name.node) } else { lower(&name.node) };
            out.push(&format!("may {name}"));
            if !all.is_empty() {
                out.push(&params(all));
            }
        }
        MayKind::Call(set, into) => {
            out.push(&format!("may call {}", tool_sum(set)));
            if let Some(into) = into {
                out.push(&format!(" into {}", lower(&into.node)));
            }
        }
    }
    out.stop();
    if let Some(text) = &node.text {
        out.push(&format!(" {}", template(text, out.level)));
    }
}

/// Prints the event of an `on` transition or of an `ask`.
pub(super) fn state_pattern(event: &EventPattern) -> String {
    match event {
        EventPattern::Any(_) => "*".to_owned(),
        EventPattern::Everything(_) => "**".to_owned(),
        EventPattern::Turn(_) => "turn".to_owned(),
        EventPattern::Event(name, bound) => {
            let mut text = path(name);
            let first = name.names.first().map_or("", |n| n.node.as_str());
            // As the first word after `on`, these begin other patterns.
            if matches!(first, "done" | "error" | "doubt" | "limit") {
                text = format!("{}{}", quote(first), &text[first.len()..]);
            }
            if bound.is_empty() { text } else { format!("{text}({})", names(bound)) }
        }
        EventPattern::Done(done) => format!("done{}", subject(done)),
        EventPattern::Error(done) => format!("error{}", subject(done)),
        EventPattern::Doubt(done) => format!("doubt{}", subject(done)),
        EventPattern::Machine(name) => name.node.clone(),
    }
}

fn subject(node: &Done) -> String {
    let binding =
        node.binding.as_ref().map_or(String::new(), |b| format!(" as {}", lower(&b.node)));
    format!("({}){binding}", state_path(&node.subject))
}

/// Prints the end of a transition: `if g -> T reenter { actions }`.
pub(super) fn tail(out: &mut Out, node: &Tail) {
    guard(out, node);
    movement(out, node);
}

fn guard(out: &mut Out, node: &Tail) {
    if let Some(guard) = &node.guard {
        out.push(&format!(" if {}", expr(guard, out.level)));
    }
}

fn movement(out: &mut Out, node: &Tail) {
    if !node.targets.is_empty() {
        let targets: Vec<String> = node.targets.iter().map(|t| target(t, out.level)).collect();
        out.push(&format!(" -> {}", targets.join(", ")));
    }
    if node.reenter {
        out.push(" reenter");
    }
    if let Some(block) = &node.actions {
        out.push(" ");
        actions(out, block);
    }
}

/// Prints a target, with arguments for a final state.
pub(super) fn target(node: &Target, level: usize) -> String {
    let all =
        if node.arguments.is_empty() { String::new() } else { arguments(&node.arguments, level) };
    format!("{}{all}", state_path(&node.path))
}

// Prints steps and actions.

/// Prints a step.
pub(super) fn step(out: &mut Out, node: &Step) {
    let name = lower(&node.name.node) + &renamed(&node.renamed, lower);
    let client =
        node.client.as_ref().map_or(String::new(), |c| format!(" with {}", lower(&c.node)));
    let level = out.level;
    let on = node.on.as_ref().map_or(String::new(), |on| format!(" on {}", state_pattern(on)));
    let each = node.each.as_ref().map_or(String::new(), |each| {
        format!(" each {} in {}", lower(&each.name.node), expr(&each.list, level))
    });
    let head = match &node.kind {
        StepKind::Llm => format!("llm {name}{on}{each}{client}"),
        StepKind::Code(_) => format!("code {name}{client}"),
        StepKind::Ask(ask) => {
            let exact = if ask.exact { " exact" } else { "" };
            format!("ask {name}{exact}{client}{on}{}", otherwise(ask, level))
        }
        StepKind::Call(tool, all) => {
            format!("call {name}{on}{each} {}{}{client}", path(tool), arguments(all, level))
        }
        StepKind::Human(text) => {
            format!("human {name}{on}{each} {}{client}", template(text, level))
        }
        StepKind::Run(run) => {
            let entry = if run.at_entry { " at entry" } else { "" };
            let given = params_given(&run.arguments, level);
            let events = run.forward.words();
            format!("run {name}{each} {}{given}{entry}{events}{client}", upper(&run.chart.node))
        }
    };
    out.push(&head);
    if let Some(guard) = &node.guard {
        out.push(&format!(" if {}", expr(guard, level)));
    }
    if let StepKind::Code(statements) = &node.kind {
        out.push(" ");
        out.body(statements, &node.end, layout(statements, Layout::Single), action);
    } else if !node.items.is_empty() || !node.end.is_empty() {
        out.push(" ");
        out.body(&node.items, &node.end, Layout::Single, step_item);
    }
    if let Some(then) = &node.then {
        tail(out, then);
    }
    // The braces of a code step contain its actions, so its policy follows them.
    if let StepKind::Code(_) = &node.kind {
        for one in &node.items {
            if let StepItem::Policy(Policy { then: Some(then), .. }) = &one.node {
                out.push(&format!(" else {}", fail_word(then, level)));
            }
        }
    }
}

fn otherwise(ask: &Ask, level: usize) -> String {
    let always = if ask.always { " always" } else { "" };
    let otherwise = match &ask.otherwise {
        None => String::new(),
        Some(AskElse::Stay) => " else stay".to_owned(),
        Some(AskElse::Take(to)) => format!(" else {}", target(to, level)),
    };
    format!("{always}{otherwise}")
}

fn step_item(out: &mut Out, node: &StepItem) {
    match node {
        StepItem::Prompt(text) => out.push(&format!("prompt {}", template(text, out.level))),
        StepItem::Tools(set, calls) => {
            out.push(&format!("tools {}", tool_sum(set)));
            if let Some(calls) = calls {
                out.push(&format!(" calls {}", calls.node));
            }
        }
        StepItem::Tool(ToolLine { tools, most, guard, approval }) => {
            out.push(&format!("tool {}", tool_sum(tools)));
            if let Some(most) = most {
                out.push(&format!(" up to {}", most.node));
            }
            if let Some(guard) = guard {
                out.push(&format!(" if {}", expr(guard, out.level)));
            }
            if let Some(text) = approval {
                out.push(&format!(" human {}", template(text, out.level)));
            }
        }
        StepItem::Policy(node) => out.push(&policy(node, out.level)),
        StepItem::Returns(ty, ends, into) => {
            out.push(&format!("returns {}{}", type_expr(ty), range(ends.as_ref(), out.level)));
            if let Some(into) = into {
                out.push(&format!(" into {}", lower(&into.node)));
            }
        }
        StepItem::Outcome(node) => outcome(out, node),
        StepItem::DoubtRetry => out.push("doubt retry"),
        StepItem::CutOk => out.push("cut ok"),
        StepItem::EndsTurn(guard) => {
            out.push("ends turn");
            if let Some(guard) = guard {
                out.push(&format!(" if {}", expr(guard, out.level)));
            }
        }
        StepItem::AtATime(count) => out.push(&format!("{} at a time", count.node)),
        StepItem::UpTo(count) => out.push(&format!("up to {}", count.node)),
        StepItem::Enough(count) => out.push(&format!("enough {}", count.node)),
        StepItem::Lost(lost) => out.push(match lost {
            Lost::Fail => "else fail",
            Lost::Skip => "else skip",
            Lost::None => "else none",
        }),
        StepItem::Bad(_) => {}
    }
}

fn outcome(out: &mut Out, node: &Outcome) {
    match &node.kind {
        OutcomeKind::Done => out.push("done"),
        OutcomeKind::Error => out.push("error"),
        OutcomeKind::Doubt => out.push("doubt"),
        OutcomeKind::Timeout(bound) => {
            out.push(&format!("timeout {}", expr(bound, out.level)));
        }
    }
    tail(out, &node.tail);
}

/// Prints a policy, such as `retry 3 then skip`.
pub(super) fn policy(node: &Policy, level: usize) -> String {
    let then = node.then.as_ref().map(|then| fail_word(then, level));
    match (&node.retry, then) {
        (Some(retry), Some(then)) => format!("{} then {then}", retry_text(retry)),
        (Some(retry), None) => retry_text(retry),
        (None, Some(then)) if then.starts_with("->") => format!("then {then}"),
        (None, Some(then)) => then,
        (None, None) => String::new(),
    }
}

fn retry_text(retry: &crate::syntax::Retry) -> String {
    let mut out = format!("retry {}", retry.times.node);
    if !retry.on.is_empty() {
        out.push_str(&format!(" on {}", names(&retry.on)));
    }
    if let Some((first, most)) = &retry.wait {
        out.push_str(&format!(" wait {}", duration(first.node)));
        if let Some(most) = most {
            out.push_str(&format!(" up to {}", duration(most.node)));
        }
    }
    out
}

fn fail_word(word: &FailWord, level: usize) -> String {
    match word {
        FailWord::Fail => "fail".to_owned(),
        FailWord::Skip => "skip".to_owned(),
        FailWord::Take(to) => format!("-> {}", target(to, level)),
    }
}

/// The layout of actions: on separate lines if one contains others, else `plain`.
fn layout(actions: &[Noted<Action>], plain: Layout) -> Layout {
    let holds = |action: &Action| matches!(action, Action::If(..) | Action::For(..));
    if actions.iter().any(|a| holds(&a.node)) { Layout::Lines } else { plain }
}

fn branches(
    out: &mut Out,
    test: &super::super::Expr,
    then: &[Noted<Action>],
    otherwise: &[Noted<Action>],
) {
    let (mut test, mut then, mut otherwise) = (test, then, otherwise);
    loop {
        out.push(&format!("if {} ", expr(test, out.level)));
        out.body(then, &[], Layout::Lines, action);
        match otherwise {
            [] => return,
            // An inner `if` with a comment stays in a block, where the comment has a line of its own.
            [one] if is_bare(one) => {
                if let Action::If(next, body, rest) = &one.node {
                    out.push(" else ");
                    (test, then, otherwise) = (next, body, rest);
                    continue;
                }
            }
            _ => {}
        }
        out.push(" else ");
        out.body(otherwise, &[], Layout::Lines, action);
        return;
    }
}

fn is_bare<T>(item: &Noted<T>) -> bool {
    item.doc.is_empty() && item.trivia == super::super::Trivia::default()
}

/// Prints an action block: `{ actions }`.
pub(super) fn actions(out: &mut Out, block: &Block) {
    out.body(&block.actions, &[], layout(&block.actions, Layout::Row), action);
}

fn action(out: &mut Out, node: &Action) {
    let level = out.level;
    let text = match node {
        Action::Assign(name, value) => format!("{} = {}", lower(&name.node), expr(value, level)),
        Action::If(test, then, otherwise) => return branches(out, test, then, otherwise),
        Action::For(name, source, body) => {
            out.push(&format!("for {} in {} ", lower(&name.node), expr(source, level)));
            return out.body(body, &[], layout(body, Layout::Single), action);
        }
        Action::Do(name, all) => format!("{}{}", lower(&name.node), arguments(all, level)),
        Action::Raise(event, all) => format!("raise {}{}", path(event), step_optional(all, level)),
        Action::Send { event, arguments: all, to, after, id } => {
            let to = to.as_ref().map_or(String::new(), |to| {
                let element = to.1.as_ref().map(|index| format!("[{}]", expr(index, level)));
                format!(" to {}{}", lower(&to.0.node), element.unwrap_or_default())
            });
            let after =
                after.as_ref().map_or(String::new(), |a| format!(" after {}", expr(a, level)));
            let id = id.as_ref().map_or(String::new(), |i| format!(" as {}", lower(&i.node)));
            format!("send {}{}{to}{after}{id}", path(event), step_optional(all, level))
        }
        Action::Cancel(id) => format!("cancel {}", lower(&id.node)),
        Action::Log(text) => format!("log {}", template(text, level)),
    };
    out.push(&text);
}

fn step_optional(all: &[Expr], level: usize) -> String {
    if all.is_empty() { String::new() } else { arguments(all, level) }
}

// Prints tests.

/// Prints a test.
pub(super) fn scenario(out: &mut Out, node: &Scenario) {
    out.push(&format!("test {} for {} ", plain(&node.name.node), upper(&node.chart.node)));
    out.body(&node.items, &node.end, Layout::Lines, test_item);
}

fn test_item(out: &mut Out, node: &TestItem) {
    let level = out.level;
    let text = match node {
        TestItem::Given(name, value) => {
            format!("given {} = {}", lower(&name.node), expr(value, level))
        }
        TestItem::GivenFunction(GivenFunction { name, arguments: given, result }) => {
            let given = given.as_ref().map_or(String::new(), |all| arguments(all, level));
            let result = match result {
                Ok(value) => format!("= {}", expr(value, level)),
                Err(reason) => format!("fails {}", why(reason)),
            };
            format!("given fn {}{given} {result}", lower(&name.node))
        }
        TestItem::At(states) => format!("at {}", all_paths(states)),
        TestItem::Send(event, all) => format!("send {}{}", path(event), step_optional(all, level)),
        TestItem::Turn(None) => "turn".to_owned(),
        TestItem::Turn(Some(count)) => format!("turns {}", count.node),
        TestItem::Until(step) => format!("until asked {}", asked(step)),
        TestItem::Set(name, value) => format!("set {} = {}", lower(&name.node), expr(value, level)),
        TestItem::Wait(time) => format!("wait {}", expr(time, level)),
        TestItem::Answers(step, said) => {
            let said = match said {
                TestAnswer::Text(text) => plain(&text.node),
                TestAnswer::Option(option, all) => {
                    format!("{}{}", path(option), step_optional(all, level))
                }
                TestAnswer::Value(value) => expr(value, level),
            };
            format!("answers {} {said}", asked(step))
        }
        TestItem::Fails(step, reason) => format!("fails {} {}", asked(step), why(reason)),
        TestItem::Returns(tool, value) => {
            format!("tool {} returns {}", path(tool), expr(value, level))
        }
        TestItem::ToolFails(tool, reason) => format!("tool {} fails {}", path(tool), why(reason)),
        TestItem::Expect(expectation) => expected(expectation, level),
        TestItem::Bad(_) => return,
    };
    out.push(&text);
}

/// Prints a reference to a step: `child/s[1]`.
fn asked(StepRef { path, step, element }: &StepRef) -> String {
    let names = path.iter().chain([step]).map(|name| lower(&name.node));
    let names: Vec<String> = names.collect();
    let element = element.as_ref().map_or(String::new(), |nth| format!("[{}]", nth.node));
    format!("{}{element}", names.join("/"))
}

fn expected(Expectation { negated, what }: &Expectation, level: usize) -> String {
    let not = if *negated { "not " } else { "" };
    let what = match what {
        Assertion::Holds(condition) => expr(condition, level),
        Assertion::At(states) => format!("at {}", all_paths(states)),
        Assertion::Ended(None) => "ended".to_owned(),
        Assertion::Ended(Some(status)) => format!("ended {}", status.node),
        Assertion::Offered(names, is_only) => {
            let names: Vec<String> = names.iter().map(path).collect();
            format!("offered {}{}", if *is_only { "only " } else { "" }, names.join(", "))
        }
        Assertion::Denied(None) => "denied".to_owned(),
        Assertion::Denied(Some(state)) => format!("denied -> {}", state_path(state)),
        Assertion::Called(name, all) => {
            let all = all.as_ref().map_or(String::new(), |all| arguments(all, level));
            format!("called {}{all}", path(name))
        }
        Assertion::Asked(step) => format!("asked {}", lower(&step.node)),
        Assertion::Asking(step) => format!("asking {}", self::asked(step)),
        Assertion::Prompt(step, text) => {
            format!("prompt of {} contains {}", lower(&step.node), plain(&text.node))
        }
        Assertion::Text(name, text) => {
            format!("{} contains {}", lower(&name.node), plain(&text.node))
        }
    };
    format!("expect {not}{what}")
}

fn why(why: &FailureReason) -> String {
    match why {
        FailureReason::Kind(word) => lower(&word.node),
        FailureReason::Text(text) => plain(&text.node),
    }
}
