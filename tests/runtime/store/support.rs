//! A chart with everything that is stored, a world that is called, and an engine on a file.

pub(crate) use chartc::load::Memory as Files;
pub(crate) use chartc_core::expr::{Map, Value};
pub(crate) use chartc_core::host::ToolCall;
pub(crate) use chartc_core::interpreter::Interpreter;
pub(crate) use chartc_core::model::Chart;
pub(crate) use chartc_core::plan::Plan;
pub(crate) use chartc_runtime::Session;
pub(crate) use chartc_runtime::agents::Event;
pub(crate) use chartc_runtime::clock::{Clock, VirtualClock};
pub(crate) use chartc_runtime::driver::{CallId, Driver, Probe};
pub(crate) use chartc_runtime::oracle::{
    Answer, Asking, Deny, OracleError, Question, Script, ready,
};
pub(crate) use chartc_runtime::tools::{Calling, done};
pub(crate) use chartc_runtime::trace::Line;
pub(crate) use chartc_store::{
    Committed, Options, PendingLines, Safety, Service, Sqlite, Store, StoreError, Worker,
};
pub(crate) use std::future::pending;
pub(crate) use std::io;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use tokio::sync::Notify;

pub(crate) type Machine<'p> = Interpreter<Script>;

/// Regions, a step with `each`, a child chart, a tool, attempts that fail, and a deadline.
pub(crate) const WHOLE: &str = r#"
tool look(at: Text) -> Text

chart Dig {
  param topic: Text
  var said: Text = ""
  initial digging
  state digging { llm dig { prompt "Dig {topic}."  returns Text into said  retry 2 } -> looking }
  state looking { call seen look(said) { returns Text into said } -> found(said) }
  final found(text: Text)
}

chart Whole {
  event go(word: Text)
  var word: Text = ""
  var left: Text = ""
  var right: Text = ""
  var all: List(Text) = []
  initial waiting
  state waiting { on go(w) -> work { word = w } }
  parallel work {
    state one {
      initial thinking
      state thinking { llm think { prompt "Think {word}."  returns Text into left } -> thought }
      final thought
    }
    state two {
      initial digging
      state digging {
        run digs Dig(word) at entry
        on done(digs) as it -> dug { right = it["text"] }
        on error(digs) -> dug
      }
      final dug
    }
    on done(work) -> fan
  }
  state fan {
    llm part each x in ["p", "q", "r", "s", "t"] {
      prompt "{x} of {left}"
      returns Text into all
      2 at a time
      else skip
      done -> choosing
      error -> choosing
    }
  }
  state choosing {
    ask choose on turn always else stay { prompt "Which? {options}"  retry 1 }
    may again "once more" -> rest
    may enough "enough" -> rest
  }
  state rest { after 10m -> end }
  final end
}
"#;

/// The charts of a text; the last one is run.
pub(crate) fn charts(text: &str) -> Vec<Arc<Chart>> {
    let done = chartc::check(&["t.chart".to_owned()], &Files::of("t.chart", text));
    let found: Vec<_> = done.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let main = done.charts.last().unwrap_or_else(|| panic!("{found:#?}"));
    main.plans().iter().map(|plan| plan.chart().clone()).collect()
}

pub(crate) fn plans(charts: &[Arc<Chart>]) -> Arc<[Plan]> {
    charts.iter().map(Plan::new).collect()
}

/// The world, which outlives the processes that call it: answers at once and by the name of a call, and keeps what was paid for.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) paid: Mutex<Vec<String>>,
    /// The call, from 0, from which on calls are paid for and not answered.
    pub(crate) silent: Mutex<Option<usize>>,
    /// Whether it tells what became of a call.
    pub(crate) knows: bool,
    pub(crate) stuck: Notify,
    /// Whose time passes before it answers a question.
    pub(crate) slow: Option<VirtualClock>,
}

pub(crate) fn number(id: &CallId) -> usize {
    id.to_string().bytes().fold(0, |all, byte| (all * 31 + usize::from(byte)) % 9973)
}

impl World {
    pub(crate) fn paid(&self) -> Vec<String> {
        self.paid.lock().expect("one thread").clone()
    }

    /// Pays, and says whether there will be an answer.
    pub(crate) fn pays(&self, id: &CallId) -> bool {
        let mut paid = self.paid.lock().expect("one thread");
        paid.push(id.to_string());
        let silent = *self.silent.lock().expect("one thread");
        let answers = silent.is_none_or(|first| paid.len() <= first);
        if !answers {
            self.stuck.notify_one();
        }
        answers
    }

    pub(crate) fn answer(id: &CallId) -> Result<Answer, OracleError> {
        let number = number(id);
        if id.name.attempt == 1 && number.is_multiple_of(3) {
            return Err(OracleError::Connection("dropped".into()));
        }
        Ok(Answer::from(match (id.name.step.as_str(), number % 2) {
            ("choose", 0) => "again".to_owned(),
            ("choose", _) => "enough".to_owned(),
            _ => format!("\"answer {number}\""),
        }))
    }

    pub(crate) fn result(id: &CallId) -> Value {
        Value::Text(format!("seen {}", number(id)))
    }
}

impl Driver for World {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        if !self.pays(id) {
            return Box::pin(pending());
        }
        let answer = Self::answer(id);
        let Some(clock) = self.slow.clone() else { return ready(answer) };
        let at = clock.now() + 1000 + number(id) as u64;
        Box::pin(async move {
            clock.sleep_until(at).await;
            answer
        })
    }

    fn call(&self, id: &CallId, _: ToolCall) -> Calling {
        if self.pays(id) { done(Ok(Self::result(id))) } else { Box::pin(pending()) }
    }

    fn probe(&self, id: &CallId) -> Probe {
        match (self.knows, self.paid().contains(&id.to_string())) {
            (false, _) => Probe::Unknown,
            (true, false) => Probe::NotMade,
            (true, true) if id.is_tool => Probe::Returned(Ok(Self::result(id))),
            (true, true) => Probe::Answered(Self::answer(id)),
        }
    }

    fn name(&self) -> String {
        "world".into()
    }
}

/// A file of a test's own, that is not there yet.
pub(crate) fn fresh(name: &str) -> PathBuf {
    test_support::project::folder(&format!("store-{name}")).join("s.db")
}

pub(crate) type Show = Box<dyn FnMut(&str, &Line) -> io::Result<()>>;

/// An engine in virtual time on a file, and its worker.
pub(crate) fn engine<'p>(
    plans: &'p Arc<[Plan]>,
    file: &Path,
    driver: Arc<dyn Driver>,
    show: Show,
) -> Result<(Sqlite, Worker<'p, Machine<'p>>), StoreError> {
    let store = Store::own(file, Safety::Process)?;
    let clock = VirtualClock::starting_at(store.moment(None, false)?);
    engine_at(plans, store, clock, driver, show)
}

pub(crate) fn engine_at(
    plans: &Arc<[Plan]>,
    store: Store,
    clock: VirtualClock,
    driver: Arc<dyn Driver>,
    show: Show,
) -> Result<(Sqlite, Worker<'_, Machine<'_>>), StoreError> {
    engine_after(plans, store, clock, driver, (show, Box::new(|_, _| Ok(()))))
}

pub(crate) type After<'p> =
    Box<dyn FnMut(&Committed<'_>, &Session<Machine<'p>, PendingLines>) -> Result<(), String>>;

pub(crate) fn engine_after<'p>(
    plans: &'p Arc<[Plan]>,
    store: Store,
    clock: VirtualClock,
    driver: Arc<dyn Driver>,
    told: (Show, After<'p>),
) -> Result<(Sqlite, Worker<'p, Machine<'p>>), StoreError> {
    engine_as(plans, store, clock, driver, told, None)
}

pub(crate) fn engine_as<'p>(
    plans: &'p Arc<[Plan]>,
    store: Store,
    clock: VirtualClock,
    driver: Arc<dyn Driver>,
    (show, after): (Show, After<'p>),
    service: Option<Service<'p>>,
) -> Result<(Sqlite, Worker<'p, Machine<'p>>), StoreError> {
    let options = Options {
        make: Box::new(|making| {
            let machine = match making.saved {
                Some(saved) => {
                    let machine = saved.machine();
                    Interpreter::resume(&plans[0], plans.clone(), Script::empty(), machine)
                        .map_err(|why| why.to_string())?
                }
                None => Interpreter::new(&plans[0], Script::empty(), Map::new())
                    .map_err(|why| why.to_string())?
                    .with_charts(plans.clone()),
            };
            let session = Session::new(machine, Arc::new(Deny), making.clock, making.journal);
            Ok(session.with_driver(making.driver).with_run(making.run))
        }),
        driver,
        clock: Arc::new(clock),
        is_real: false,
        replies: service.is_some(),
        workers: 64,
        show,
        after,
        given: String::new(),
        service,
    };
    let (engine, mut worker) = Worker::new(store, options);
    worker.load_all()?;
    Ok((engine, worker))
}

pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(work)
}

/// Lets the worker work while a host is there.
pub(crate) async fn while_worked<R>(
    worker: &mut Worker<'_, Machine<'_>>,
    host: impl Future<Output = R>,
) -> Result<R, StoreError> {
    let (worked, told) = tokio::join!(worker.work(), host);
    worked.map(|()| told)
}

pub(crate) fn go(id: &str, word: &str) -> Event {
    let word = Value::Text(word.into());
    Event::new(id, "go").with([("word".to_owned(), word)].into_iter().collect())
}

/// The lines of a trace as JSON, without their times.
pub(crate) fn timeless(lines: &[Line]) -> Vec<String> {
    let lines = lines.iter().map(|line| {
        let mut line = serde_json::to_value(line).expect("a line is JSON");
        line.as_object_mut().expect("an object").remove("at_ms");
        line.to_string()
    });
    lines.collect()
}
