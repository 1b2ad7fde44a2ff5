//! Inputs that cannot hold what a world supplies under their name.

use super::{Context, Lint};
use chartc_core::expr::type_text;
use chartc_core::model::{StepKind, Type, TypeDef, TypeKind, VariableKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::{MISFIT_INPUT, misfit_input::told};

pub(super) static LINT: Lint = Lint { rule: &MISFIT_INPUT, needs_whole: false, run };

/// The shape of the values that a world supplies under a name.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Int,
    Float,
    Text,
    Bool,
    List(&'static Shape),
    /// A map with any keys.
    Map(&'static Shape),
    /// A value that the agent has written, of any type.
    Anything,
    /// A record: the fields that are always there, and those that may be missing.
    Record(&'static [(&'static str, Shape)], &'static [(&'static str, Shape)]),
}

use Shape::{Anything, Bool, Float, Int, List, Map, Record, Text};

/// The events of a world.
const EVENTS: Shape = List(&Record(
    &[
        ("number", Int),
        ("tick", Int),
        ("event", Text),
        ("by", Text),
        ("action", Text),
        ("artifact_id", Text),
        ("success", Bool),
    ],
    &[
        ("error", Text),
        ("result", Text),
        ("method", Text),
        ("type", Text),
        ("why", Text),
        ("from", Text),
        ("to", Text),
        ("agent", Text),
        ("resource", Text),
        ("winner", Text),
        ("amount", Int),
        ("bytes", Int),
        ("price", Int),
        ("bid", Int),
        ("auction", Int),
    ],
));

const ARTIFACTS: Shape =
    List(&Record(&[("id", Text), ("type", Text), ("created_by", Text), ("executable", Bool)], &[]));

const SUBMISSIONS: Shape =
    List(&Record(&[("artifact_id", Text), ("agent", Text), ("bid", Int)], &[]));

/// The shapes of the values that a world supplies, by name.
const SUPPLIED: [(&str, Shape); 31] = [
    ("agent_id", Text),
    ("tick", Int),
    ("event_number", Int),
    ("balance", Int),
    ("balances", Map(&Int)),
    ("artifacts", ARTIFACTS),
    ("my_artifacts", List(&Text)),
    ("last_action_result", Text),
    ("action_history", Text),
    ("action_history_length", Int),
    ("actions_taken", Int),
    ("successful_actions", Int),
    ("failed_actions", Int),
    ("success_rate", Text),
    ("success_rate_numeric", Float),
    ("revenue_earned", Float),
    ("artifacts_completed", Int),
    ("other_agents", List(&Text)),
    ("economic_context", Text),
    ("working_memory", Map(&Anything)),
    ("quotas", Map(&Int)),
    ("mint_submissions", SUBMISSIONS),
    ("recent_events", EVENTS),
    ("recent_failures", EVENTS),
    ("time_remaining", Text),
    ("time_remaining_seconds", Float),
    ("duration_seconds", Float),
    ("progress_percent", Float),
    ("strategic_goal", Text),
    ("current_subgoal", Text),
    ("subgoal_progress", Map(&Anything)),
];

/// The names of the values that a world supplies to agents.
pub fn supplied() -> impl Iterator<Item = &'static str> {
    SUPPLIED.iter().map(|(name, _)| *name)
}

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    // A chart without `llm` steps does not act, so no world runs it.
    if !chart.steps.iter().any(|step| step.kind == StepKind::Llm) {
        return;
    }
    for (i, variable) in chart.variables.iter().enumerate() {
        let found = SUPPLIED.iter().find(|(name, _)| *name == variable.name);
        let (Some((name, shape)), VariableKind::Input) = (found, &variable.kind) else { continue };
        if let Err(why) = holds(&variable.ty, *shape, &chart.types) {
            let why = if why.is_empty() { why } else { format!(": {why}") };
            let ty = type_text(&variable.ty, &chart.types);
            let cure = format!(
                "declare it as `{}`, or give an input of your own another name",
                usual(*shape)
            );
            diagnostics.push(told(name, &ty, &words(*shape), &why, map.variables[i]).help(cure));
        }
    }
}

/// Checks that a type holds all values of a shape. The error says what does not fit; it is empty if the types say it all.
fn holds(ty: &Type, shape: Shape, types: &[TypeDef]) -> Result<(), String> {
    let fits = |fits: bool| if fits { Ok(()) } else { Err(String::new()) };
    match (ty, shape) {
        (Type::Json, _) => Ok(()),
        (Type::Optional(inner), _) => holds(inner, shape, types),
        (Type::Int | Type::Float, Int) | (Type::Float, Float) => Ok(()),
        (Type::Text, Text) | (Type::Bool, Bool) => Ok(()),
        (Type::List(inner), List(item)) | (Type::Map(inner), Map(item)) => {
            holds(inner, *item, types)
        }
        (Type::Map(inner), Record(always, sometimes)) => {
            let mut all = always.iter().chain(sometimes);
            all.try_for_each(|(_, field)| holds(inner, *field, types))
        }
        (Type::Named(id), Record(always, sometimes)) => {
            let kind = types.get(id.index()).map(|def| &def.kind);
            let Some(TypeKind::Record(fields)) = kind else { return fits(false) };
            fields.iter().try_for_each(|field| {
                let is_optional = matches!(field.ty, Type::Optional(_));
                let of = |all: &[(&str, Shape)]| {
                    all.iter().find(|(name, _)| *name == field.name).map(|(_, shape)| *shape)
                };
                let shape = match (of(always), of(sometimes)) {
                    (Some(shape), _) => shape,
                    (None, _) if !is_optional => {
                        return Err(format!("`{}` is not always there", field.name));
                    }
                    (None, Some(shape)) => shape,
                    (None, None) => return Ok(()),
                };
                let wrong = |_| format!("`{}` is {}", field.name, words(shape));
                holds(&field.ty, shape, types).map_err(wrong)
            })
        }
        // An agent may have written any values into the fields, or left them out.
        (Type::Named(id), Map(_)) => {
            let kind = types.get(id.index()).map(|def| &def.kind);
            let Some(TypeKind::Record(fields)) = kind else { return fits(false) };
            fits(fields.iter().all(|field| matches!(field.ty, Type::Optional(_) | Type::Json)))
        }
        // Values that an agent writes are not known before, so they may fit.
        (_, Anything) => Ok(()),
        (
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Duration
            | Type::List(_)
            | Type::Map(_)
            | Type::Named(_),
            _,
        ) => fits(false),
    }
}

/// Describes a shape in words.
fn words(shape: Shape) -> String {
    match shape {
        Int => "a whole number".into(),
        Float => "a number".into(),
        Text => "a text".into(),
        Bool => "true or false".into(),
        Anything => "anything".into(),
        List(Record(always, _)) => {
            let names: Vec<&str> = always.iter().map(|(name, _)| *name).collect();
            format!("a list of records with {}", names.join(", "))
        }
        List(Text) => "a list of texts".into(),
        List(_) => "a list".into(),
        Map(_) | Record(..) => "a mapping".into(),
    }
}

/// The type that findings suggest for a shape.
fn usual(shape: Shape) -> &'static str {
    match shape {
        Int => "Int",
        Float => "Float",
        Text => "Text",
        Bool => "Bool",
        Anything => "Json",
        List(Text) => "List(Text)",
        List(_) => "List(Json)",
        Map(Int) => "Map(Text, Int)",
        Map(_) | Record(..) => "Map(Text, Json)",
    }
}
