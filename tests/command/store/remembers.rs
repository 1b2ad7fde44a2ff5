//! `--store` with `--memory`: the memory of an agent agrees with what its run has done, whenever a process ends.

use super::*;
use crate::run::command::chartc;
use chartc_runtime::agent::LongTerm;
use chartc_runtime::agents::{Engine, Quiet};
use chartc_runtime::memory::{InProcess, Memory};
use chartc_runtime::trace::What;
use std::cell::Cell;
use std::rc::Rc;

const TURNS: u32 = 5;

fn ticks(memory: &dyn Memory) -> Vec<u64> {
    let mut ticks: Vec<u64> =
        memory.search("", 1000).expect("it can be read").iter().map(|memo| memo.tick).collect();
    ticks.reverse();
    ticks
}

/// One process; it ends when a run was committed so many times, before or after what belongs to it was remembered.
fn process(
    plans: &Arc<[Plan]>,
    file: &Path,
    memory: &Arc<InProcess>,
    ends: Option<(usize, bool)>,
) -> bool {
    let store = Store::own(file, Safety::Process).expect("a store");
    let long = LongTerm::new(memory.clone(), None, "ada");
    let (count, has_ended) = (Cell::new(0), Rc::new(Cell::new(false)));
    let ended = has_ended.clone();
    let after: After<'_> = Box::new(move |committed, session| {
        count.set(count.get() + 1);
        let is_end = |remembers| ends == Some((count.get(), remembers));
        if is_end(false) {
            ended.set(true);
            return Err("stopped".into());
        }
        let name = format!("{}:{}", committed.made_ms, committed.run);
        long.remember(&name, session).map_err(|why| why.to_string())?;
        if is_end(true) {
            ended.set(true);
            return Err("stopped".into());
        }
        Ok(())
    });
    let world = Arc::new(World { knows: true, ..World::default() });
    let show: Show = Box::new(|_, _| Ok(()));
    let begun = engine_after(plans, store, VirtualClock::new(), world, (show, after));
    let Ok((handle, mut worker)) = begun else { return has_ended.get() };
    let host = async {
        let handle = handle;
        // It may have stopped within the turn before.
        drop(handle.read("ada").await);
        handle.quiet().await;
        for turn in 1..=TURNS {
            drop(handle.fire("ada", Event::turn(turn.to_string())).await);
            handle.quiet().await;
        }
    };
    let worked = wait(while_worked(&mut worker, host));
    assert_eq!(worked.is_err(), has_ended.get());
    has_ended.get()
}

#[test]
fn each_turn_is_remembered_once_whenever_the_process_ends() {
    let charts = charts("chart T { initial a  state a { llm act { prompt \"Act.\" } } }");
    let plans = plans(&charts);
    let mut stops = 0;
    for remembers in [false, true] {
        for nth in 1.. {
            let file = fresh("remembers");
            let memory = Arc::new(InProcess::new());
            let is_ended = process(&plans, &file, &memory, Some((nth, remembers)));
            assert!(!process(&plans, &file, &memory, None));
            let want: Vec<u64> = (1..=u64::from(TURNS)).collect();
            assert_eq!(ticks(memory.as_ref()), want, "commit {nth}, {remembers}");
            if !is_ended {
                break;
            }
            stops += 1;
        }
    }
    assert!(stops > 2 * TURNS, "{stops}");
}

const AGENT: &str = "\
id: ada
rag: {enabled: true, limit: 3, query_template: \"{_current_state}\"}
workflow:
  state_machine: {states: [trading], transitions: []}
  steps:
    - name: trade
      type: llm
      in_state: trading
      prompt: \"What now? {memories}\"
";

const ANSWERS: &str = "\
answers:
  trade:
    - {reasoning: it is dark, action: invoke_artifact, artifact_id: lamps, method: buy}
    - {reasoning: trading is hard, action: read_artifact, artifact_id: chairs}
    - {reasoning: I am tired, action: read_artifact, artifact_id: lamp_0}
    - {reasoning: trading again, action: read_artifact, artifact_id: lamp_1}
    - {reasoning: it is light, action: read_artifact, artifact_id: lamp_2}
";

fn prompts(lines: &[Line]) -> Vec<String> {
    let prompt = |line: &Line| match &line.what {
        What::Question { prompt, .. } => Some(prompt.clone()),
        _ => None,
    };
    lines.iter().filter_map(prompt).collect()
}

#[test]
fn the_command_line_remembers_with_a_store_what_it_remembers_without() {
    let folder = folder("store-memory");
    for (file, text) in [("agent.yaml", AGENT), ("answers.yaml", ANSWERS)] {
        std::fs::write(folder.join(file), text).expect("a file");
    }
    let run = |more: &str| {
        let fixed = "run agent.yaml --llm script:answers.yaml";
        chartc(&folder, &fixed.split(' ').chain(more.split(' ')).collect::<Vec<_>>())
    };
    let remembered = |file: &str| {
        let store = chartc_store::memory::Store::open(&folder.join(file)).expect("memories");
        store.agent("ada").and_then(|agent| agent.search("", 100)).expect("they can be read")
    };
    let (code, out, err) = run("--memory plain.db --turns 5 --trace t.jsonl");
    assert_eq!(code, 0, "{out}{err}");
    let text = std::fs::read_to_string(folder.join("t.jsonl")).expect("a trace");
    let plain = prompts(&chartc_runtime::trace::read(&text).expect("a trace"));
    assert!(plain.len() == 5 && plain[4].contains("trading again"), "{plain:?}");
    // Turn by turn, each in a process of its own.
    let stored = "--memory m.db --store s.db --run ada";
    for turns in 1..=5 {
        let (code, out, err) = run(&format!("{stored} --turns {turns}"));
        assert_eq!(code, 0, "{out}{err}");
        assert_eq!(remembered("m.db").len(), turns, "{out}{err}");
    }
    let lines = Store::open(&folder.join("s.db")).and_then(|store| store.lines("ada"));
    assert_eq!(prompts(&lines.expect("as written")), plain);
    assert_eq!(remembered("m.db"), remembered("plain.db"));
    let (code, out, err) = chartc(&folder, &["store", "s.db", "resume", "ada"]);
    assert_eq!((code, remembered("m.db").len()), (0, 5), "{out}{err}");
    let (code, out, err) = chartc(&folder, &["replay", "--store", "s.db", "ada"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = chartc(&folder, &["store", "s.db", "fork", "ada", "--at", "20"]);
    assert!(code == 0 && err.contains("the fork has no `--memory`: m.db holds"), "{out}{err}");
    let (code, out, err) = chartc(&folder, &["store", "s.db", "resume", "ada@20"]);
    assert_eq!((code, remembered("m.db").len()), (0, 5), "{out}{err}");
    let refused = [
        ("--store s.db --run ada", "was begun with `--memory m.db`"),
        ("--store s.db --run eva --memory :memory:", "does not go with --store"),
        (
            "--store s.db --run eva --world w.yaml",
            "does not go with --store: what an action has done",
        ),
    ];
    for (more, why) in refused {
        let (code, out, err) = run(more);
        let flat = err.replace("\n  │ ", " ").replace('\n', " ");
        assert!(code == 2 && flat.contains(why), "{more}: {code} {out}{err}");
    }
}
