//! Oracles and tools that answer without a model, to explore a chart: by the minimum, or by chance.

use std::sync::Arc;

use super::{Alternative, Answer, Asking, Kind, Oracle, OracleError, Question, ready};
use crate::schema;
use crate::tools::{Calling, Tools, done};
use chartc_core::host::ToolCall;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// Always chooses the first option, the minimal value, or the action `noop`.
#[derive(Debug, Clone, Copy, Default)]
pub struct First;

impl Oracle for First {
    fn ask(&self, question: Arc<Question>) -> Asking {
        ready(answer(&question, &mut |_| 0))
    }

    fn name(&self) -> String {
        "first".into()
    }
}

/// Chooses any option, any value that fits, or the action `noop`. Equal seeds give equal answers to equal sequences of questions: the
/// numbers are those of SplitMix64, the same on every machine and in every version.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    state: Mutex<u64>,
}

impl Random {
    /// Creates an oracle with the given seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, state: Mutex::new(seed) }
    }
}

impl Oracle for Random {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        ready(answer(&question, &mut |below| next(&mut state) % below.max(1)))
    }

    fn name(&self) -> String {
        format!("random:{}", self.seed)
    }
}

/// Returns the minimal value of the tool's type.
impl Tools for First {
    fn call(&self, call: ToolCall) -> Calling {
        done(result(&call, &mut |_| 0))
    }
}

/// Returns any value of the tool's type.
impl Tools for Random {
    fn call(&self, call: ToolCall) -> Calling {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        done(result(&call, &mut |below| next(&mut state) % below.max(1)))
    }
}

fn result(
    call: &ToolCall,
    pick: &mut dyn FnMut(u64) -> u64,
) -> Result<chartc_core::expr::Value, OracleError> {
    Ok(serde_json::from_value(made_up(&call.result, pick)?).unwrap_or_default())
}

fn made_up(schema: &str, pick: &mut dyn FnMut(u64) -> u64) -> Result<Value, OracleError> {
    schema::example(schema, pick).ok_or_else(|| {
        let parts = schema::PARTS;
        OracleError::Other(format!("what fits the type has more than {parts} values in it"))
    })
}

// SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn answer(question: &Question, pick: &mut dyn FnMut(u64) -> u64) -> Result<Answer, OracleError> {
    let value = match question.kind {
        Kind::Ask => {
            let count = question.options.len();
            match question.options.get(pick(count as u64) as usize) {
                None => Value::Null,
                Some(option) if option.offer.arguments.is_empty() => {
                    json!({"choice": option.offer.name})
                }
                Some(option) => json!({
                    "choice": option.offer.name,
                    "arguments": made_up(&option.schema, pick)?,
                }),
            }
        }
        // A number below `tools + 1`: 0 answers, the others call a tool. `First` always answers, so that it cannot call tools without
        // end.
        Kind::Llm if !question.options.is_empty() => {
            match pick(question.options.len() as u64 + 1).checked_sub(1) {
                Some(nth) => call(&question.options[nth as usize], pick)?,
                None => return answer(&Question { options: Vec::new(), ..question.clone() }, pick),
            }
        }
        Kind::Llm if question.schema.is_empty() => json!({"reasoning": "", "action": "noop"}),
        Kind::Human if question.schema.is_empty() => return Ok(Answer::from(String::new())),
        Kind::Llm | Kind::Human => made_up(&question.schema, pick)?,
    };
    Ok(Answer::from(value.to_string()))
}

/// A call of a tool with generated arguments.
fn call(tool: &Alternative, pick: &mut dyn FnMut(u64) -> u64) -> Result<Value, OracleError> {
    let arguments = match tool.schema.as_str() {
        "" => json!({}),
        schema => made_up(schema, pick)?,
    };
    Ok(json!({"tool": tool.offer.name, "arguments": arguments}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut state = 1_234_567;
        let numbers: Vec<u64> = (0..3).map(|_| next(&mut state)).collect();
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
