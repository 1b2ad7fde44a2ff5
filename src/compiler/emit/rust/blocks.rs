//! Writes action blocks, code steps, and `begin_turn`.
//!
//! The problem: an action that fails ends its block, and the machine raises an error. In Rust that is a `Result`; but most blocks cannot
//! fail, and then it would only make the code longer. The idea: each action becomes a `Fragment`, which knows what its code uses: whether
//! it may fail (`Use::Failure`), whether it needs the outbox, and so on. A block joins its fragments, and whoever writes the method around
//! it looks at the sum. So a new kind of action needs an arm in `action`, and its fragment says what it uses.
//!
//! `blocks` and `code_steps` write `run` and `code` of the program, with an arm for each block; direct code takes single blocks
//! from `of`. `waits` finds the variables whose first value needs inputs or the start of the run; `emit` writes `begin` for them. For
//! example, of
//!
//! ```text
//! on mail(n) -> open { total = total + n  raise counted }
//! ```
//!
//! the block becomes, in short:
//!
//! ```text
//! self.data.total = ops::add(self.data.total, n)?;                               may fail: overflow
//! let event = Event::Counted;
//! if !outbox.raise(EventName::Counted.id()) { return Err(…); }                   may fail: the queue is full
//! self.raised.push_back(Payload::Event(event));
//! ```

use super::Context;
use super::code::{self, Binding, Code, Constant, Fragment, Use, code};
use super::expr::{Writer, loop_head};
use super::methods::{Arms, Hook, Methods, for_trigger};
use super::names;
use super::tables::transition_comment;
use chartc_core::arena::{EventId, SendId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Receiver, Starts, StepKind, Trigger, Type, VariableKind,
};
use chartc_core::program::Block;
use chartc_core::semantics::unroll::Place;

/// Writes `run`: entry, exit and transition actions.
pub(super) fn blocks(context: &Context<'_>) -> Arms {
    let mut arms = Arms::new(Hook {
        name: "run",
        arguments: &[("block", "program::Block")],
        more: Some((Some(Use::Outbox), "outbox", "&mut program::Outbox<'_>")),
        scrutinee: "block",
        result: "()",
        otherwise: "()",
    });
    let mut add = |block: Block, title: &str| {
        let pattern = format!("program::Block::{}", path(block));
        arms.pattern(&pattern, title, of(context, block, None), "Ok(())".into());
    };
    for (i, state) in context.chart.states.iter().enumerate() {
        let id = StateId::at(i);
        for nth in 0..state.entry.len() as u32 {
            add(Block::Entry(id, nth), &format!("entry {}", state.path));
        }
        for nth in 0..state.exit.len() as u32 {
            add(Block::Exit(id, nth), &format!("exit {}", state.path));
        }
        if !state.default_actions.is_empty() {
            add(Block::Default(id), &format!("default of {}", state.path));
        }
    }
    for (i, transition) in context.chart.transitions.iter().enumerate() {
        if !transition.actions.is_empty() {
            add(Block::Transition(TransitionId::at(i)), &transition_comment(context, i));
        }
    }
    for (i, step) in context.chart.steps.iter().enumerate() {
        if !step.asking.is_empty() {
            add(Block::Asking(StepId::at(i)), &format!("asking {}", step.name));
        }
    }
    for (nth, line) in (0..).zip(context.chart.tool_lines()) {
        if !line.calling.is_empty() {
            let title = chartc_core::wording::tool_line_of(&context.tables, nth as usize);
            add(Block::Calling(nth), &format!("calling by {title}"));
        }
    }
    arms
}

/// The variant of `program::Block` for a block.
pub(super) fn path(block: Block) -> String {
    match block {
        Block::Entry(state, nth) => format!("Entry(arena::StateId({}), {nth})", state.0),
        Block::Exit(state, nth) => format!("Exit(arena::StateId({}), {nth})", state.0),
        Block::Default(state) => format!("Default(arena::StateId({}))", state.0),
        Block::Transition(transition) => {
            format!("Transition(arena::TransitionId({}))", transition.0)
        }
        Block::Asking(step) => format!("Asking(arena::StepId({}))", step.0),
        Block::Calling(nth) => format!("Calling({nth})"),
    }
}

/// The actions of a block.
pub(super) fn list<'c>(context: &Context<'c>, block: Block) -> &'c [Action] {
    match block {
        Block::Entry(state, nth) => &context.chart.state(state).entry[nth as usize],
        Block::Exit(state, nth) => &context.chart.state(state).exit[nth as usize],
        Block::Default(state) => &context.chart.state(state).default_actions,
        Block::Transition(transition) => &context.chart.transition(transition).actions,
        Block::Asking(step) => &context.chart.steps[step.index()].asking,
        Block::Calling(nth) => {
            context.chart.tool_lines().nth(nth as usize).map_or(&[][..], |line| &line.calling)
        }
    }
}

/// The statements of a block, for the configuration `place` if it is known.
pub(super) fn of(context: &Context<'_>, block: Block, place: Option<&Place>) -> Fragment {
    let list = list(context, block);
    let trigger = match block {
        Block::Transition(transition) => context.chart.transition(transition).trigger.clone(),
        Block::Asking(step) => {
            if let Starts::OnEvent(events) = &context.chart.steps[step.index()].starts {
                Trigger::Event(events.clone())
            } else {
                Trigger::Turn
            }
        }
        Block::Entry(..) | Block::Exit(..) | Block::Default(_) | Block::Calling(_) => Trigger::Turn,
    };
    let mut exprs: Vec<&Expr> = Vec::new();
    Action::walk(list, &mut |action| exprs.extend(action.expressions()));
    let (mut writer, reading) = for_trigger(context, &trigger, &exprs, true);
    writer.place = place.cloned();
    if let Block::Asking(step) = block {
        writer.payload.extend(arguments(context, step));
    }
    let body = actions(&mut writer, list);
    code!("{before}{body}", before = reading.before(&body), body)
}

/// The arguments of the tool call about which a step asks a person.
fn arguments(context: &Context<'_>, step: StepId) -> Vec<Code> {
    let line = context.chart.tool_lines().find(|line| line.asks == Some(step));
    let tool = line.and_then(|line| line.tools.first());
    let params = tool.map_or(&[][..], |tool| &context.chart.tools[tool.index()].params).iter();
    let read = params.enumerate().map(|(nth, param)| {
        let ty = names::owned(context, &param.ty);
        let call = format!("generated::argument::<{ty}, _, _, _, _>(&self.bound, {nth})");
        Code::tried(call, param.ty.clone(), true)
    });
    read.collect()
}

/// The number of actions in a row that stand together. The time that the Rust compiler takes grows with the square of their number.
const TOGETHER: usize = 50;

pub(super) fn actions(writer: &mut Writer<'_>, actions: &[Action]) -> Fragment {
    if actions.len() <= TOGETHER {
        return actions.iter().map(|a| action(writer, a)).collect();
    }
    let error = writer.context.error();
    let parts = actions.chunks(TOGETHER).map(|part| {
        let part: Fragment = part.iter().map(|a| action(writer, a)).collect();
        let (result, done, end) = if part.has(Use::Failure) {
            (format!(" -> Result<(), {error}>"), "Ok(())", "?")
        } else {
            (String::new(), "", "")
        };
        code!("{APART}\n(||{result} {{ {part} {done} }})(){end};\n", part)
    });
    parts.collect()
}

const APART: &str = "#[allow(clippy::redundant_closure_call, unused_assignments, reason = \"compiled apart, which takes less time\")]";

fn action(writer: &mut Writer<'_>, action: &Action) -> Fragment {
    let context = writer.context;
    match action {
        Action::Assign(variable, expr) => assign(writer, *variable, expr),
        Action::If(condition, then, otherwise) => branch(writer, condition, then, otherwise).0,
        Action::For(local, source, body) => {
            let elements = writer.each(source, local.id, code::nodes_of(context.chart, body));
            let body = actions(writer, body);
            writer.forget(local.id);
            let head = loop_head(elements, local.id, &body);
            code!("for {head} {{ {body} }}\n", head, body)
        }
        Action::Do(function, arguments) => {
            code!("{call};\n", call = writer.host_call(*function, arguments).text())
        }
        Action::Raise(event, arguments) => raise(writer, *event, arguments),
        Action::Send {
            event,
            arguments,
            after,
            id,
            to: to @ (Receiver::Parent | Receiver::Child(_) | Receiver::Element(..)),
            element,
        } => {
            let to = (*to, element.as_deref());
            send(writer, *event, arguments, after.as_ref(), *id, to)
        }
        Action::Send { event, arguments, after, id, to: Receiver::Own, .. } => {
            let row = &context.chart.events[event.index()];
            let name = &context.names.events[event.index()];
            let (delay, id) = (delay(writer, after.as_ref()), id_of(*id));
            let full = context.failure(&format!("no room to send `{}`", row.name));
            let payload = payload(writer, *event, arguments);
            let text = code!(
                "let event = {payload};\n\
                 let delay: u64 = {delay};\n\
                 let Some(slot) = outbox.send(EventName::{name}.id(), delay, {id}) \
                 else {{ return {full}; }};\n\
                 self.sent.put(slot, Payload::Event(event));\n",
                payload,
                delay,
            );
            text.using(Use::Outbox).using(Use::Failure)
        }
        Action::Result(state, values) => super::payload::given(writer, *state, values),
        Action::Cancel(SendId(n)) => {
            Fragment::from(format!("outbox.cancel(arena::SendId({n}));\n")).using(Use::Outbox)
        }
        Action::Log(text) => {
            let text = writer.template(text);
            code!("{{ {text} generated::log(&mut self.notes, &text); }}\n", text)
        }
    }
}

/// Writes `if condition { then } else { otherwise }` without branches that do nothing. The flag says whether it may follow an `else`.
fn branch(
    writer: &mut Writer<'_>,
    condition: &Expr,
    then: &[Action],
    otherwise: &[Action],
) -> (Fragment, bool) {
    let test = writer.truth(condition);
    let then_code = actions(writer, then);
    let (other_code, goes_on) = match otherwise {
        [Action::If(condition, then, otherwise)] => branch(writer, condition, then, otherwise),
        otherwise => (actions(writer, otherwise), false),
    };
    match test.constant {
        Some(Constant::Bool(true)) => return (code!("{{ {then_code} }}\n", then_code), true),
        Some(Constant::Bool(false)) => return (code!("{{ {other_code} }}\n", other_code), true),
        Some(_) | None => {}
    }
    let (test, then, other) = match (then_code.is_empty(), other_code.is_empty()) {
        (true, true) => {
            let test = test.truth(Binding::Block);
            return (code!("let _: bool = {test};\n", test), false);
        }
        // Both branches are equal, so the condition matters only if it fails.
        (false, false) if then_code == other_code => {
            let test = test.truth(Binding::Block);
            return (code!("let _: bool = {test};\n{then_code}", test, then_code), false);
        }
        (true, false) => (writer.not(condition), other_code, Fragment::default()),
        (false, _) => (test, then_code, other_code),
    };
    let test = test.truth(Binding::Block);
    // A condition that is computed in a block is bound to a name, which is easier to read than `if { … } { … }`.
    let is_bare = !test.has(Use::Braces);
    let (before, test) = if is_bare {
        (Fragment::default(), test)
    } else {
        (code!("let holds: bool = {test};\n", test), Fragment::from("holds"))
    };
    let text = if other.is_empty() {
        code!("{before}if {test} {{ {then} }}\n", before, test, then)
    } else if goes_on {
        code!("{before}if {test} {{ {then} }} else {other}", before, test, then, other)
    } else {
        code!("{before}if {test} {{ {then} }} else {{ {other} }}\n", before, test, then, other)
    };
    (text, is_bare)
}

/// The delay of a sent event in milliseconds.
pub(super) fn delay(writer: &mut Writer<'_>, after: Option<&Expr>) -> Fragment {
    match after {
        None => "0".into(),
        Some(after) => millis(&writer.value_code(after, &Type::Duration), after),
    }
}

/// A duration as code for its milliseconds.
pub(super) fn millis(code: &Code, expr: &Expr) -> Fragment {
    if let ExprKind::Duration(millis) = expr.kind {
        return millis.to_string().into();
    }
    code!("{whole}.0", whole = code.within(Binding::Whole))
}

/// The code for the id by which `cancel` finds a sent event.
pub(super) fn id_of(id: Option<SendId>) -> String {
    id.map_or("None".to_owned(), |SendId(n)| format!("Some(arena::SendId({n}))"))
}

/// The code for an event with its data.
fn payload(writer: &mut Writer<'_>, event: EventId, arguments: &[Expr]) -> Fragment {
    let context = writer.context;
    let row = &context.chart.events[event.index()];
    let name = &context.names.events[event.index()];
    let fields = row.fields.iter().zip(&context.names.event_fields[event.index()]).zip(arguments);
    let fields = fields.map(|((field, name), value)| {
        code!("{name}: {value}", value = writer.kept(value, &field.ty, &field.name))
    });
    let fields = Fragment::joined(fields, ", ");
    if fields.is_empty() {
        return format!("Event::{name}").into();
    }
    code!("Event::{name} {{ {fields} }}", fields).using(Use::Braces)
}

fn assign(writer: &mut Writer<'_>, variable: VarId, expr: &Expr) -> Fragment {
    let context = writer.context;
    let row = &context.chart.variables[variable.index()];
    let supplied = context.is_supplied(variable);
    let place = format!("self.data.{}", context.names.variables[variable.index()]);
    let is_own = |expr: &Expr| expr.kind == ExprKind::Variable(variable);
    if !supplied {
        // `x = x` of a supplied variable may fail, as it may be unset.
        if is_own(expr) {
            return Fragment::default();
        }
        if row.ty == Type::Float
            && let Some(change) = writer.changed(&place, expr, is_own)
        {
            return change;
        }
    }
    let value = writer.kept(expr, &row.ty, &row.name);
    if supplied {
        code!("{place} = Some({value});\n", value)
    } else {
        code!("{place} = {value};\n", value)
    }
}

/// Writes `code`: code steps.
pub(super) fn code_steps(context: &Context<'_>) -> Arms {
    let mut arms = Arms::new(Hook {
        name: "code",
        arguments: &[("step", "arena::StepId")],
        more: None,
        scrutinee: "step.0",
        result: "()",
        otherwise: "()",
    });
    for (i, step) in context.chart.steps.iter().enumerate() {
        if let StepKind::Code(all) = &step.kind {
            arms.arm(i, &step.name, actions(&mut Writer::new(context), all), "Ok(())".into());
        }
    }
    arms
}

/// Writes `begin_turn`, which resets `per turn` variables and answers.
pub(super) fn begin_turn(context: &Context<'_>, methods: &mut Methods) {
    let mut body = Fragment::default();
    for (i, row) in context.chart.variables.iter().enumerate() {
        let VariableKind::Var { per_turn: true } = row.kind else { continue };
        let Some(default) = &row.default else { continue };
        let name = &context.names.variables[i];
        let code = Writer::new(context).value_code(default, &row.ty);
        let copy = context.facts.is_copy(&row.ty);
        body += if code.text().has(Use::Failure) {
            let fresh = context.caught(&code);
            fitted(
                context,
                &fresh,
                &format!("self.data.{name}"),
                false,
                &format!("default of `{}`", row.name),
            )
        } else {
            code!("self.data.{name} = {value};\n", value = code.own(copy))
        };
    }
    if !context.needs.answers.is_empty() {
        body += "self.answers = Answers::default();\n".into();
    }
    if body.is_empty() {
        return;
    }
    let view = context.view(&body);
    let function = methods.add("begin_turn", body);
    if let Some(view) = view {
        function.arg(&view, "&program::View<'_>");
    }
}

/// The statements that put an event into the internal queue, or leave the block if the queue is full.
fn raise(writer: &mut Writer<'_>, event: EventId, arguments: &[Expr]) -> Fragment {
    let context = writer.context;
    let row = &context.chart.events[event.index()];
    let name = &context.names.events[event.index()];
    let value = payload(writer, event, arguments);
    let full = context.failure(&format!("no room to raise `{}`", row.name));
    let text = if !context.is_direct() {
        code!(
            "let event = {value};\n\
             if !outbox.raise(EventName::{name}.id()) {{ return {full}; }}\n\
             self.raised.push_back(Payload::Event(event));\n",
            value
        )
        .using(Use::Outbox)
    } else {
        let places = context.places();
        let push = format!(
            "if self.queue.len() >= {places} {{ return {full}; }}\n\
             self.queue.push_back(store::Occurrence::Event(EventName::{name}.id()));\n",
        );
        if context.is_binding() {
            code!(
                "let event = {value};\n{push}self.raised.push_back(Payload::Event(event));\n",
                value
            )
        } else if value.has(Use::Failure) {
            // Nothing reads the fields, but computing them may fail, and a failure leaves the block.
            code!("let _ = {value};\n{push}", value)
        } else {
            push.into()
        }
    };
    text.using(Use::Failure).using(Use::Braces)
}

/// The statement that assigns a value, which may be a failure, to a place, which may be unset. Without an allocator, a failure is not
/// recorded.
pub(super) fn fitted(
    context: &Context<'_>,
    result: &Fragment,
    place: &str,
    supplied: bool,
    what: &str,
) -> Fragment {
    let value = if supplied { "Some(value)" } else { "value" };
    if context.bare {
        return code!("if let Ok(value) = {result} {{ {place} = {value}; }}\n", result);
    }
    code!(
        "match {result} {{ Ok(value) => {place} = {value}, \
         Err(why) => {{ generated::note(&mut self.notes, || {what:?}, why); }} }}\n",
        result
    )
}

// Finds the variables whose initial value is unknown before the start, or may change until then, and writes their initialization. For
// example, `var b: Int = a` waits for the inputs if `a` is an input with a default, and for the start if `a` has none.

/// What a variable's initial value waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wait {
    /// Nothing: the value is known when the machine is created.
    Nothing,
    /// The inputs: the value is known, but is computed again at the start, because the host may have set inputs.
    Inputs,
    /// The start: the value is unknown until then, or until the host sets it.
    Start,
}

/// Returns for each variable what its initial value waits for, given what its default reads.
pub(super) fn waits(chart: &Chart) -> Vec<Wait> {
    let mut waits: Vec<Wait> = Vec::new();
    for row in &chart.variables {
        let wait = match (&row.default, &row.kind) {
            (None, VariableKind::Input | VariableKind::Asked) => Wait::Start,
            (None, VariableKind::Param { .. } | VariableKind::Var { .. })
            | (Some(_), VariableKind::Param { .. } | VariableKind::Input) => Wait::Nothing,
            (Some(default), VariableKind::Var { .. } | VariableKind::Asked) => {
                let mut wait = Wait::Nothing;
                default.walk(&mut |expr| {
                    wait = wait.max(match &expr.kind {
                        ExprKind::Variable(id) => {
                            let input = chart.variables[id.index()].kind == VariableKind::Input;
                            // A variable that is declared later has no value yet.
                            let own = waits.get(id.index()).copied().unwrap_or(Wait::Start);
                            if input { own.max(Wait::Inputs) } else { own }
                        }
                        ExprKind::Call(..)
                        | ExprKind::Observable(_)
                        | ExprKind::Predicate(_)
                        | ExprKind::Answer(_) => Wait::Start,
                        ExprKind::None
                        | ExprKind::Bool(_)
                        | ExprKind::Int(_)
                        | ExprKind::Float(_)
                        | ExprKind::Text(_)
                        | ExprKind::Duration(_)
                        | ExprKind::Enum(..)
                        | ExprKind::Local(_)
                        | ExprKind::Payload(_)
                        | ExprKind::Field(..)
                        | ExprKind::Index(..)
                        | ExprKind::Slice(..)
                        | ExprKind::Unary(..)
                        | ExprKind::Binary(..)
                        | ExprKind::Compare(..)
                        | ExprKind::If(..)
                        | ExprKind::Default(..)
                        | ExprKind::Builtin(..)
                        | ExprKind::List(_)
                        | ExprKind::Map(_)
                        | ExprKind::Record(..)
                        | ExprKind::Comprehension { .. }
                        | ExprKind::Unknown(_) => Wait::Nothing,
                    });
                });
                // What a question shows is set when it is asked, not at the start.
                let is_asked = row.kind == VariableKind::Asked && wait == Wait::Inputs;
                if is_asked { Wait::Nothing } else { wait }
            }
        };
        waits.push(wait);
    }
    waits
}

/// Adds `begin`, which initializes variables at the start; nothing if no variable waits.
pub(super) fn emit(context: &Context<'_>, methods: &mut Methods) {
    if !context.has_begin() {
        return;
    }
    let mut body = Fragment::default();
    for (i, row) in context.chart.variables.iter().enumerate() {
        let id = VarId::at(i);
        let (Some(default), VariableKind::Var { .. }) = (&row.default, &row.kind) else { continue };
        if context.waits[i] == Wait::Nothing {
            continue;
        }
        let name = &context.names.variables[i];
        let value = Writer::new(context).value(default, &row.ty);
        body += if context.is_supplied(id) {
            code!("self.data.{name} = Some({value});\n", value)
        } else {
            code!("self.data.{name} = {value};\n", value)
        };
    }
    body += "Ok(())".into();
    let view = context.view(&body);
    let function = methods.add("begin", body);
    if let Some(view) = view {
        function.arg(&view, "&program::View<'_>");
    }
    function.ret(format!("Result<(), {}>", context.error()));
}

impl Context<'_> {
    /// Whether any variable is initialized at the start.
    pub(super) fn has_begin(&self) -> bool {
        let rows = self.chart.variables.iter().zip(&self.waits);
        rows.into_iter().any(|(row, wait)| {
            *wait != Wait::Nothing && matches!(row.kind, VariableKind::Var { .. })
        })
    }

    /// Whether a variable may have no value yet, so that its field is an `Option`.
    pub(super) fn is_supplied(&self, id: VarId) -> bool {
        self.waits[id.index()] == Wait::Start
    }
}

/// Writes the statements that send an event to another chart.
fn send(
    writer: &mut Writer<'_>,
    event: EventId,
    arguments: &[Expr],
    after: Option<&Expr>,
    id: Option<SendId>,
    (to, element): (Receiver, Option<&Expr>),
) -> Fragment {
    let context = writer.context;
    let row = &context.chart.events[event.index()];
    let name = format!("EventName::{}.id()", context.names.events[event.index()]);
    let values = row.fields.iter().zip(arguments);
    let values = values.map(|(field, value)| writer.valued(value, &field.ty));
    let values = Fragment::joined(values, ", ");
    // The language evaluates the index of an element last.
    let (to, addressed) = match (element, to) {
        (Some(index), Receiver::Child(StepId(n))) => {
            let whole = writer.value_code(index, &Type::Int);
            let whole = writer.own(&whole);
            let absent = context.failure("there is no such element");
            let addressed = code!(
                "let Ok(element) = u32::try_from({whole}) else {{ return {absent}; }};
                let to = machine::Receiver::Element(arena::StepId({n}), machine::Element::at(element));",
                whole
            );
            ("to".to_owned(), addressed.using(Use::Failure))
        }
        _ => (to_text(to), Fragment::default()),
    };
    let payload = if values.is_empty() {
        "Vec::new()".into()
    } else {
        code!("Vec::from([{values}])", values)
    };
    let payload = code!("let payload: Vec<Value> = {payload};", payload).using(Use::Outbox);
    let post = format!(
        "outbox.post({name}, {to});
        self.posts.posted.push(host::Post {{ event: {name}, to: {to}, payload }});"
    );
    if after.is_none() {
        return code!("{{ {payload}\n{addressed}\n{post} }}\n", payload, addressed);
    }
    let (delay, id) = (delay(writer, after), id_of(id));
    let full = context.failure(&format!("no room to send `{}`", row.name));
    let text = code!(
        "{payload}
        let delay: u64 = {delay};
        {addressed}
        if delay == 0 {{ {post} }} else {{
            let Some(slot) = outbox.send_to({name}, {to}, delay, {id}) else {{ return {full}; }};
            self.posts.letters.resize_with(self.posts.letters.len().max(slot + 1), Vec::new);
            self.posts.letters[slot] = payload;
        }}\n",
        payload,
        delay,
        addressed
    );
    text.using(Use::Failure)
}

/// Writes a receiver that is known when the code is written.
fn to_text(to: Receiver) -> String {
    match to {
        Receiver::Own => "machine::Receiver::Own".to_owned(),
        Receiver::Parent => "machine::Receiver::Parent".to_owned(),
        Receiver::Child(StepId(n)) | Receiver::Element(StepId(n), _) => {
            format!("machine::Receiver::Child(arena::StepId({n}))")
        }
    }
}
