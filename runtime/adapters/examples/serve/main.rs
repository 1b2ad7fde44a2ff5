//! Agents of a chart on a Restate server, with answers from a script:
//! `serve CHART SCRIPT [--listen ADDRESS] [--register ADMIN] [--param NAME=VALUE]… [--ledger FILE]`.
#![allow(clippy::disallowed_methods, reason = "a program reads its arguments and its files")]

mod drivers;

use chartc::load::Memory;
use chartc_adapters::restate::{Restate, Service};
use chartc_core::expr::Value;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::RealClock;
use chartc_runtime::driver::Driver;
use chartc_runtime::oracle::{Deny, Script};
use chartc_runtime::stepped::{Making, PendingLines};
use drivers::{Ledger, Scripts};
use std::error::Error;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// What the command line says.
struct Given {
    chart: String,
    script: String,
    listen: String,
    register: Option<String>,
    ledger: Option<String>,
    params: Vec<(String, Value)>,
}

fn given() -> Result<Given, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut files = Vec::new();
    let mut given = Given {
        chart: String::new(),
        script: String::new(),
        listen: "127.0.0.1:9080".into(),
        register: None,
        ledger: None,
        params: Vec::new(),
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
        match word.as_str() {
            "--listen" => given.listen = value()?,
            "--register" => given.register = Some(value()?),
            "--ledger" => given.ledger = Some(value()?),
            "--param" => {
                let value = value()?;
                let (name, text) = value.split_once('=').ok_or("`--param` takes NAME=VALUE")?;
                given.params.push((name.to_owned(), Value::Text(text.into())));
            }
            _ => files.push(word),
        }
    }
    let Ok([chart, script]) = <[String; 2]>::try_from(files) else {
        return Err("give a chart and a script".into());
    };
    Ok(Given { chart, script, ..given })
}

/// The only chart of a file.
fn chart(file: &str) -> Result<Arc<Chart>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let done = chartc::check(&[file.to_owned()], &Memory::of(file, &text));
    match done.charts.first() {
        Some(checked) => Ok(checked.chart().clone()),
        None => Err(format!("{file} has faults: `chartc check {file}` says which").into()),
    }
}

/// The session of an agent, new or as it was saved.
fn session(
    plan: &Plan,
    params: &[(String, Value)],
    making: Making<'_>,
) -> Result<Session<Interpreter<Script>, PendingLines>, String> {
    let machine = match making.saved {
        Some(saved) => Interpreter::resume(plan, [], Script::empty(), saved.machine())
            .map_err(|why| why.to_string())?,
        None => Interpreter::new(plan, Script::empty(), params.iter().cloned())
            .map_err(|why| why.to_string())?,
    };
    let session = Session::new(machine, Arc::new(Deny), making.clock, making.journal);
    Ok(session.with_driver(making.driver).with_run(making.run))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Given { chart: file, script, listen, register, ledger, params } = given()?;
    let plan: Plan = Plan::new(&chart(&file)?);
    let clock = Arc::new(RealClock::new());
    let script = std::fs::read_to_string(&script)?;
    Script::parse("script", &script, clock.clone())?;
    let scripts = Scripts::new(move |_| script.clone(), clock);
    let driver: Arc<dyn Driver> = match ledger {
        Some(path) => Arc::new(Ledger::new(&path, scripts)?),
        None => Arc::new(scripts),
    };
    let service = Service::new(move |making| session(&plan, &params, making), driver);
    let listener = TcpListener::bind(&listen).await?;
    let address = listener.local_addr()?;
    println!("listening on {address}");
    let mut end = signal(SignalKind::terminate())?;
    let served = service.serve(listener, async move { _ = end.recv().await });
    let registered = async {
        match register {
            Some(admin) => Restate::new("").register(&admin, &format!("http://{address}")).await,
            None => Ok(()),
        }
    };
    let ((), registered) = tokio::join!(served, registered);
    Ok(registered?)
}
