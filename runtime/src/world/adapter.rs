//! The functions of a chart, from artifacts: what a machine calls by a function's name goes to the artifact that its `from` names.

use super::host::ArtifactHost;
use super::record::SharedRecord;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::model::{Chart, Function, FunctionKind, Method, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The function of an `agent.yaml` that the agent's record decides: whether its last three actions were on one artifact.
pub const REPEATS: &str = "repeats_one_artifact";

/// Two charts of a family mean different methods by one function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{function}` is the method `{}` of `{}` in one chart and another thing in another: give the functions names of their own",
    .method.name, .method.artifact
)]
pub struct TwoMethods {
    /// The function.
    pub function: String,
    /// What it is in the first chart that says so.
    pub method: Method,
}

/// A host of functions that has artifacts. Those without `from` go to the host beside it.
#[derive(Clone)]
pub struct Artifacts<H> {
    world: Arc<dyn ArtifactHost>,
    record: SharedRecord,
    methods: Arc<BTreeMap<String, Method>>,
    decides: bool,
    beside: H,
}

impl<H> Artifacts<H> {
    /// For a chart and those that it runs.
    ///
    /// # Errors
    /// A function that is one method here and another there.
    pub fn new(
        world: Arc<dyn ArtifactHost>,
        record: SharedRecord,
        charts: &[&Chart],
        beside: H,
    ) -> Result<Self, TwoMethods> {
        let functions = || charts.iter().flat_map(|chart| &chart.functions);
        let mut methods: BTreeMap<String, Method> = BTreeMap::new();
        for function in functions() {
            let Some(method) = method(function) else { continue };
            methods.entry(function.name.clone()).or_insert_with(|| method.clone());
        }
        for function in functions() {
            if let Some(known) = methods.get(&function.name)
                && method(function) != Some(known)
            {
                let (function, method) = (function.name.clone(), known.clone());
                return Err(TwoMethods { function, method });
            }
        }
        let decides = functions().any(is_of_the_record);
        Ok(Self { world, record, methods: Arc::new(methods), decides, beside })
    }

    /// The same host functions for another agent of these charts. Both share the world and the methods.
    #[must_use]
    pub fn another<B>(&self, record: SharedRecord, beside: B) -> Artifacts<B> {
        let Self { world, methods, decides, .. } = self;
        let (world, methods) = (world.clone(), methods.clone());
        Artifacts { world, record, methods, decides: *decides, beside }
    }
}

fn method(function: &Function) -> Option<&Method> {
    match &function.kind {
        FunctionKind::Pure { method, .. } => method.as_ref(),
        FunctionKind::Effect => None,
    }
}

/// Whether a function is the one of the heuristic, as the front end declares it.
fn is_of_the_record(function: &Function) -> bool {
    let is_text = matches!(function.params.as_slice(), [param] if param.ty == Type::Text);
    let is_yes =
        matches!(&function.kind, FunctionKind::Pure { result: Type::Bool, method: None, .. });
    function.name == REPEATS && is_text && is_yes
}

impl<H: Host> Host for Artifacts<H> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        if let Some(Method { artifact, name }) = self.methods.get(function) {
            let agent = self.record.with(|record| record.agent.clone());
            let result = self.world.invoke(&agent, artifact, name, arguments);
            return result.map_err(|failure| failure.to_string());
        }
        if self.decides && function == REPEATS {
            return Ok(Value::Bool(self.record.with(|record| record.repeats())));
        }
        self.beside.call(function, arguments)
    }
}
