//! The list element for which a step with `each` is shown.

use crate::cli::given::value;
use crate::cli::instance::InitialValues;
use chartc_core::arena::{StepId, VarId};
use chartc_core::expr::{Map, Value};
use chartc_core::model::{Chart, Expr, ExprKind, Type, TypeDef, TypeKind, Variable, VariableKind};

/// The name of the added param that holds the element. Error messages show it.
const NAME: &str = "--element";

/// The list element for which a step is shown.
pub(super) enum Element {
    /// The first element of the list.
    First,
    /// The element from the command line.
    Given(Value),
    /// An example, because the list is empty.
    Example(Value),
}

impl Element {
    /// Reads `--element`. Returns `None` if the step has no `each`.
    pub(super) fn read(chart: &Chart, id: StepId, text: Option<&str>) -> Option<Self> {
        let ty = element_type(chart, id)?;
        Some(text.map_or(Self::First, |text| Self::Given(value(ty, text))))
    }

    /// An example of the type of the elements. Returns `None` if the step has no `each`.
    pub(super) fn example(chart: &Chart, id: StepId) -> Option<Self> {
        let local = &chart.steps[id.index()].each.as_ref()?.local.name;
        Some(Self::Example(example(&chart.types, element_type(chart, id)?, local)))
    }

    /// Replaces the list of the step with a list of this element alone, unless it is the first of the list anyway. Returns the initial
    /// values for the changed chart.
    pub(super) fn put(
        &self,
        chart: &mut Chart,
        id: StepId,
        given: &InitialValues,
    ) -> InitialValues {
        let InitialValues { mut params, inputs } = given.clone();
        if let (Self::Given(value) | Self::Example(value), Some(ty)) =
            (self, element_type(chart, id).cloned())
        {
            // The element becomes a param, so that it is checked against its type like any other.
            let element = VarId::at(chart.variables.len());
            chart.variables.push(Variable {
                name: NAME.into(),
                doc: String::new(),
                kind: VariableKind::Param { range: None },
                ty: ty.clone(),
                default: None,
            });
            params.insert(NAME.into(), value.clone());
            let list = Type::List(Box::new(ty.clone()));
            let element = Expr { kind: ExprKind::Variable(element), ty };
            if let Some(each) = &mut chart.steps[id.index()].each {
                each.list = Expr { kind: ExprKind::List(vec![element]), ty: list };
            }
        }
        InitialValues { params, inputs }
    }
}

fn element_type(chart: &Chart, id: StepId) -> Option<&Type> {
    let each = chart.steps[id.index()].each.as_ref()?;
    Some(if let Type::List(element) = &each.list.ty { element } else { &Type::Json })
}

/// An example of a type. A text consists of the name of what it stands for.
fn example(types: &[TypeDef], ty: &Type, name: &str) -> Value {
    match ty {
        Type::Bool => Value::Bool(true),
        Type::Int => Value::Int(1),
        Type::Float => Value::Float(1.0),
        Type::Text | Type::Json => Value::Text(format!("<{name}>")),
        Type::Duration => Value::Duration(60_000),
        Type::List(inner) => Value::List(vec![example(types, inner, name)]),
        Type::Map(inner) => {
            Value::Map(Map::from_iter([("<key>".to_owned(), example(types, inner, name))]))
        }
        Type::Optional(inner) => example(types, inner, name),
        Type::Named(id) => match &types[id.index()].kind {
            TypeKind::Record(fields) => {
                let fields =
                    fields.iter().map(|f| (f.name.clone(), example(types, &f.ty, &f.name)));
                Value::Map(fields.collect())
            }
            TypeKind::Enum(names) => names.first().cloned().map_or(Value::None, Value::Text),
        },
    }
}
