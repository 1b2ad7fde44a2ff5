//! Executes the actions of blocks and `code` steps, apart from branches and loops.

use super::context::Context;
use crate::expr::{Environment, EvalError, Fuel, Locals, Value, fit, python};
use crate::host::{Host, Post};
use crate::machine::Element;
use crate::model::{Action, Expr, Field, Receiver, StateKind, TypeDef};
use crate::outbox::Outbox;
use alloc::format;
use alloc::vec::Vec;

/// Evaluates arguments, and converts them to the types of the declared fields.
pub(super) fn fields(
    arguments: &[Expr],
    declared: &[Field],
    types: &[TypeDef],
    evaluate: impl Fn(&Expr) -> Result<Value, EvalError>,
) -> Result<Vec<Value>, EvalError> {
    let values = arguments.iter().zip(declared).map(|(argument, field)| {
        fit(evaluate(argument)?, &field.ty, types)
            .map_err(|why| EvalError { message: format!("`{}`: {why}", field.name) })
    });
    values.collect()
}

/// Executes an action that neither adds events nor removes any.
pub(super) fn act<H: Host>(
    action: &Action,
    context: &mut Context<'_, H>,
    locals: Locals<'_>,
    fuel: &Fuel,
) -> Result<(), EvalError> {
    match action {
        Action::Assign(variable, expr) => {
            let value = locals.evaluate(expr, &*context, fuel)?;
            context.assign(*variable, value)
        }
        Action::Do(function, arguments) => {
            let values =
                arguments.iter().map(|argument| locals.evaluate(argument, &*context, fuel));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            context.call(*function, &values).map(drop)
        }
        Action::Log(template) => {
            let text = locals.render(template, &*context, fuel)?;
            context.data.note(|| format!("log: {text}"));
            Ok(())
        }
        Action::Result(state, values) => {
            let StateKind::Final { params, .. } = &context.chart.state(*state).kind else {
                return Ok(());
            };
            let values = fields(values, params, &context.chart.types, |e| {
                locals.evaluate(e, &*context, fuel)
            })?;
            context.data.more.finals.insert(*state, values);
            Ok(())
        }
        // `execute` handles `if` and `for` itself, and `put` handles the others. `code` steps contain none of the latter.
        _ => Ok(()),
    }
}

/// Executes an action that adds events to the outbox or removes waiting ones.
pub(super) fn put<H: Host>(
    action: &Action,
    context: &mut Context<'_, H>,
    locals: Locals<'_>,
    fuel: &Fuel,
    outbox: &mut Outbox<'_>,
) -> Result<(), EvalError> {
    let (event, arguments) = match action {
        Action::Raise(event, arguments) | Action::Send { event, arguments, .. } => {
            (*event, arguments)
        }
        Action::Cancel(id) => {
            outbox.cancel(*id);
            return Ok(());
        }
        _ => return Ok(()),
    };
    let declared = &context.chart.events[event.index()];
    let payload = fields(arguments, &declared.fields, &context.chart.types, |e| {
        locals.evaluate(e, &*context, fuel)
    })?;
    let Action::Send { after, id, to, element, .. } = action else {
        if !outbox.raise(event) {
            return Err(EvalError { message: format!("no room to raise `{}`", declared.name) });
        }
        // In the order of the queue, from which `dequeue` takes both.
        context.data.raised.push_back((event, payload));
        return Ok(());
    };
    let delay = match after {
        None => 0,
        Some(after) => {
            let after = locals.evaluate(after, &*context, fuel)?;
            let Value::Duration(millis) = after else {
                let message = format!("a delay cannot be {}", python::repr(&after)?);
                return Err(EvalError { message });
            };
            millis
        }
    };
    let to = match (element, *to) {
        (Some(element), Receiver::Child(step)) => {
            let index = locals.evaluate(element, &*context, fuel)?;
            let known =
                if let Value::Int(index) = index { u32::try_from(index).ok() } else { None };
            let Some(known) = known else {
                return Err(EvalError { message: "there is no such element".into() });
            };
            Receiver::Element(step, Element::at(known))
        }
        (_, to) => to,
    };
    // Without a delay there is nothing to wait for in the queue of sent events.
    if to != Receiver::Own && delay == 0 {
        outbox.post(event, to);
        context.data.more.posted.push(Post { event, to, payload });
        return Ok(());
    }
    let Some(slot) = outbox.send_to(event, to, delay, *id) else {
        return Err(EvalError { message: format!("no room to send `{}`", declared.name) });
    };
    let sent = &mut context.data.more.sent;
    sent.resize_with(sent.len().max(slot + 1), Vec::new);
    sent[slot] = payload;
    Ok(())
}
