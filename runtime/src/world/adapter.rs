//! Answers functions of a chart by methods of artifacts, as their `from` says.

use super::host::ArtifactHost;
use super::record::SharedRecord;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::model::{Chart, Function, FunctionKind, Method, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The built-in function of an `agent.yaml` that the agent's record answers: whether its last three actions concerned the same artifact.
pub const REPEATS: &str = "repeats_one_artifact";

/// The error for two charts of a family that mean different methods by the same function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{function}` is the method `{}` of `{}` in one chart and another thing in another: give the functions names of their own",
    .method.name, .method.artifact
)]
pub struct TwoMethods {
    /// The name of the function.
    pub function: String,
    /// The method in the first chart that declares it.
    pub method: Method,
}

/// A host that answers functions with `from` by artifacts, and passes the others on to another host.
#[derive(Clone)]
pub struct Artifacts<H> {
    world: Arc<dyn ArtifactHost>,
    record: SharedRecord,
    methods: Arc<BTreeMap<String, Method>>,
    decides: bool,
    beside: H,
}

impl<H> Artifacts<H> {
    /// Creates the host for a chart and its child charts.
    ///
    /// # Errors
    /// A function means different methods in different charts.
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
        // A function without `from` in one chart and with it in another is a conflict, too.
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

    /// The same host for another agent of these charts. Both share the world and the methods.
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

/// Whether a function is the built-in one of the record, with the signature that the front end gives it.
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
