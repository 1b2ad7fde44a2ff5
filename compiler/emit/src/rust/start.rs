//! Finds the variables whose initial value is unknown before the start, or may change until then, and writes their initialization. For
//! example, `var b: Int = a` waits for the inputs if `a` is an input with a default, and for the start if `a` has none.

use super::Context;
use super::body::Methods;
use super::code::{Fragment, code};
use super::expr::Writer;
use super::uses;
use chartc_core::arena::VarId;
use chartc_core::model::{Chart, ExprKind, VariableKind};

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
            (None, VariableKind::Input) => Wait::Start,
            (None, VariableKind::Param { .. } | VariableKind::Var { .. })
            | (Some(_), VariableKind::Param { .. } | VariableKind::Input) => Wait::Nothing,
            (Some(default), VariableKind::Var { .. }) => {
                let mut wait = Wait::Nothing;
                uses::walk(default, &mut |expr| {
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
                wait
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
    // A second call must not reset variables that have changed since.
    let mut body = Fragment::from("if self.begun { return Ok(()); }\n");
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
    body += "self.begun = true;\nOk(())".into();
    let view = context.view(&body);
    let function = methods.add("begin", body);
    if let Some(view) = view {
        function.arg(&view, "&program::View<'_>");
    }
    function
        .doc("First values of variables that read what was not known before.")
        .ret(format!("Result<(), {}>", context.error()));
}

/// Writes the statement that calls `begin` before the engine starts; `refused` is the code that runs for a failure `why`.
pub(super) fn call(context: &Context<'_>, refused: &str) -> String {
    if !context.has_begin() {
        return String::new();
    }
    if context.is_direct() {
        return format!("if let Err(why) = self.engine.program.begin() {{ {refused} }}\n");
    }
    format!(
        "if let Err(why) = self.engine.with_view(arena::StateId(0), |core, view| core.begin(view)) \
         {{ {refused} }}\n"
    )
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
