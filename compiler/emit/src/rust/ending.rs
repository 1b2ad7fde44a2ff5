//! Writes the code that stores the arguments of final states.

use super::Context;
use super::body::{Arms, for_transition};
use super::code::{Fragment, code};
use super::expr::Writer;
use super::tables::transition_comment;
use super::types::owned;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Expr, Field, StateKind};
use chartc_core::semantics::unroll::Place;
use codegen::{Enum, Scope, Variant};

/// A final state with parameters.
pub(super) struct Final<'c> {
    /// The state.
    pub id: StateId,
    /// The variant of `Ending`, with the same name as the variant of `State`.
    pub name: &'c str,
    /// The declared parameters.
    pub params: &'c [Field],
    /// The fields of the variant, one for each parameter.
    pub fields: Vec<String>,
}

/// Returns all final states with parameters.
pub(super) fn finals<'c>(context: &'c Context<'_>) -> Vec<Final<'c>> {
    let all = context.chart.state_ids().filter_map(|id| match &context.chart.state(id).kind {
        StateKind::Final { params, .. } if !params.is_empty() => Some(Final {
            id,
            name: context.names.states[id.index()].as_deref()?,
            params,
            fields: params.iter().map(|f| super::ident::snake(&f.name)).collect(),
        }),
        StateKind::Final { .. }
        | StateKind::Atomic
        | StateKind::Compound { .. }
        | StateKind::Parallel
        | StateKind::History { .. } => None,
    });
    all.collect()
}

/// Adds the enum `Ending`, with one variant for each final state with parameters.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let finals = finals(context);
    if finals.is_empty() {
        return;
    }
    let mut item = Enum::new("Ending");
    item.vis("pub").doc("What a final state was given.");
    item.derive("Debug").derive("Clone").derive("PartialEq");
    for one in &finals {
        let mut variant = Variant::new(one.name);
        variant.doc(format!("Of `{}`.", context.chart.state(one.id).path));
        for (param, name) in one.params.iter().zip(&one.fields) {
            let mut field = codegen::Field::new(name, owned(context, &param.ty));
            field.doc(format!("`{}: {}`.", param.name, context.written(&param.ty)));
            variant.push_named(field);
        }
        item.push_variant(variant);
    }
    scope.push_enum(item);
}

/// Writes `read_arguments`, which stores the arguments of a final state.
pub(super) fn arguments(context: &Context<'_>) -> Arms {
    let line = ("line", "arena::TransitionId");
    let mut arms = Arms::new("read_arguments", line, "line.0", "()", "()");
    for i in 0..context.chart.transitions.len() {
        let body = read(context, TransitionId::at(i), None);
        if !body.is_empty() {
            arms.arm(i, &transition_comment(context, i), body, "Ok(())".into());
        }
    }
    arms
}

/// Writes the statements that store a transition's arguments for a final state; empty without arguments.
pub(super) fn read(context: &Context<'_>, id: TransitionId, place: Option<&Place>) -> Fragment {
    let finals = finals(context);
    let mut out = Fragment::default();
    for target in &context.chart.transition(id).targets {
        let exprs: Vec<&Expr> = target.arguments.iter().collect();
        if exprs.is_empty() || !finals.iter().any(|f| f.id == target.state) {
            continue;
        }
        let (mut writer, reading) = for_transition(context, id, &exprs, true);
        writer.place = place.cloned();
        let body = given(&mut writer, target.state, &target.arguments);
        out += reading.before(&body);
        out += body;
    }
    out
}

/// Writes the statement that stores the arguments of a final state.
pub(super) fn given(writer: &mut Writer<'_>, state: StateId, values: &[Expr]) -> Fragment {
    let finals = finals(writer.context);
    let Some(nth) = finals.iter().position(|f| f.id == state) else { return Fragment::default() };
    let Final { name, params, fields, .. } = &finals[nth];
    let values = params.iter().zip(fields).zip(values).map(|((param, field), value)| {
        code!("{field}: {value}", value = writer.kept(value, &param.ty, &param.name))
    });
    let values = Fragment::joined(values, ", ");
    code!("self.endings[{nth}] = Some(Ending::{name} {{ {values} }});\n", values)
}

/// Writes the body of `Machine::ending`, which returns the arguments of the active final child of the root.
pub(super) fn query(context: &Context<'_>) -> String {
    let mut out = String::new();
    for (nth, one) in finals(context).iter().enumerate() {
        // Only a final child of the root ends the run.
        if context.chart.state(one.id).parent == Some(StateId(0)) {
            out.push_str(&format!(
                "if self.is_in(State::{}) {{ return self.engine.program.endings[{nth}].as_ref(); }}\n",
                one.name
            ));
        }
    }
    out + "None"
}

impl Context<'_> {
    /// Whether any final state has parameters.
    pub(super) fn has_endings(&self) -> bool {
        self.chart.states.iter().any(|s| match &s.kind {
            StateKind::Final { params, .. } => !params.is_empty(),
            StateKind::Atomic
            | StateKind::Compound { .. }
            | StateKind::Parallel
            | StateKind::History { .. } => false,
        })
    }
}
