//! Mistakes that people make, as changes of a text: each operator gives every place where it can be made.

mod guards;
mod lines;
mod names;
mod steps;
mod texts;

use crate::edit::Edit;
use crate::text::Text;

/// One kind of mistake.
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    /// Every place of a text where it can be made.
    pub(crate) sites: fn(&Text<'_>) -> Vec<Edit>,
}

/// All of them.
pub(crate) const OPERATORS: &[Operator] = &[
    Operator { name: "delete a line", sites: lines::deleted },
    Operator { name: "duplicate a line", sites: lines::duplicated },
    Operator { name: "swap two lines", sites: lines::swapped },
    Operator { name: "retarget a line", sites: names::retargeted },
    Operator { name: "retarget the start", sites: names::started },
    Operator { name: "misspell a use", sites: names::misspelt },
    Operator { name: "drop a declaration", sites: lines::undeclared },
    Operator { name: "change a constant", sites: guards::constant },
    Operator { name: "change an operator", sites: guards::operator },
    Operator { name: "negate a condition", sites: guards::negated },
    Operator { name: "drop a condition", sites: guards::dropped },
    Operator { name: "break a placeholder", sites: texts::placeholder },
    Operator { name: "break a format", sites: texts::format },
    Operator { name: "lose a brace", sites: texts::brace },
    Operator { name: "drop an else", sites: steps::without_else },
    Operator { name: "drop an allow", sites: lines::unpermitted },
    Operator { name: "drop an outcome", sites: steps::without_outcome },
    Operator { name: "drop an option", sites: steps::without_option },
    Operator { name: "unoffer an option", sites: texts::unoffered },
    Operator { name: "move a step", sites: steps::moved },
    Operator { name: "drop an assignment", sites: lines::unassigned },
    Operator { name: "wrong type", sites: guards::mistyped },
];
