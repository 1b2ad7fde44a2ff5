//! The agents of one chart in a store.

use chartc::load::Memory as Files;
use chartc_core::expr::Map;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::{Clock, RealClock};
use chartc_runtime::driver::Parts;
use chartc_runtime::oracle::{Deny, Oracle, Script};
use chartc_runtime::stepped::Making;
use chartc_runtime::tools::Tools;
use chartc_runtime::trace::Sink;
use chartc_store::{Options, Safety, Sqlite, Store, Worker};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

pub(crate) type Machine = Interpreter<Script>;

/// The plan of the only chart of a file.
pub(crate) fn plan(file: &str) -> Result<Plan, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let done = chartc::check(&[file.to_owned()], &Files::of(file, &text));
    let Some(checked) = done.charts.first() else {
        return Err(format!("{file} has faults: `chartc check {file}` says which").into());
    };
    Ok(Plan::new(checked.chart()))
}

/// A session around a machine.
pub(crate) fn session<T: Sink>(
    plan: &Plan,
    making: Option<&Making<'_>>,
    clock: Arc<dyn Clock>,
    sink: T,
) -> Result<Session<Machine, T>, String> {
    let machine = match making.and_then(|making| making.saved) {
        Some(saved) => Interpreter::resume(plan, [], Script::empty(), saved.machine())
            .map_err(|why| why.to_string())?,
        None => {
            Interpreter::new(plan, Script::empty(), Map::new()).map_err(|why| why.to_string())?
        }
    };
    Ok(Session::new(machine, Arc::new(Deny), clock, sink))
}

/// The engine on a store, and its worker; a script answers, or nobody.
pub(crate) fn engine(
    plan: &Plan,
    store: &Path,
    script: Option<&str>,
) -> Result<(Sqlite, Worker<'static, Machine>), Box<dyn Error>> {
    let plan = plan.clone();
    let store = Store::own(store, Safety::Full)?;
    let clock: Arc<dyn Clock> = Arc::new(RealClock::starting_at(store.moment(None, true)?));
    let (oracle, tools): (Arc<dyn Oracle>, Arc<dyn Tools>) = match script {
        Some(text) => {
            let script = Arc::new(Script::parse("script", text, clock.clone())?);
            (script.clone(), script)
        }
        None => (Arc::new(Deny), Arc::new(Script::empty())),
    };
    let options = Options {
        make: Box::new(move |making| {
            let (driver, run) = (making.driver.clone(), making.run.to_owned());
            let session =
                session(&plan, Some(&making), making.clock.clone(), making.journal.clone())?;
            Ok(session.with_driver(driver).with_run(run.as_str()))
        }),
        driver: Arc::new(Parts { oracle, people: None, tools }),
        clock,
        is_real: true,
        replies: false,
        workers: 64,
        show: Box::new(|_, _| Ok(())),
        after: Box::new(|_, _| Ok(())),
        given: String::new(),
        service: None,
    };
    let (engine, mut worker) = Worker::new(store, options);
    worker.load_all()?;
    Ok((engine, worker))
}
