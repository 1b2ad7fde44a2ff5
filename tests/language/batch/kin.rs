//! Charts that run charts, in the interpreter.

use super::act::{AFTER_END, Act, CIRCLES, step};
use super::answers;
use super::driver::kin::Kin;
use super::driver::{self, Script, Scripted, Step};
use super::random::Random;
use chartc_core::family::MemberPath;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{ErrorKind, Input, Record};
use chartc_core::plan::Plan;
use chartc_core::saved::Saved;
use chartc_core::semantics::is_legal;
use chartc_core::store::bits;

/// What happened in a family.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Happened {
    /// Members at most, beside the outermost.
    pub(crate) children: usize,
    /// Answers to members.
    pub(crate) answers: usize,
}

/// The step that an act becomes: answers and some events are meant for any member.
fn next(plans: &[Plan], act: Act, kin: &mut Kin<Interpreter<Scripted>>, now: &mut u64) -> Step {
    let chart = plans[0].chart();
    match act {
        Act::Answer(which, seed) if !kin.open.is_empty() => {
            let (member, open) = &kin.open[usize::from(which) % kin.open.len()];
            let machine = kin.family.member(member);
            let name = machine.map_or(chart.name.as_str(), |machine| &machine.tables().name);
            let plan = plans.iter().find(|plan| plan.chart().name == name).unwrap_or(&plans[0]);
            let offers = open.offers.clone();
            let open = answers::Open { key: open.key, tool: open.tool, offers };
            let mut random = Random::new(u64::from(seed));
            let outcome = answers::outcome(plan.chart(), &mut random, &open);
            Step::Tell(member.clone(), *now, Input::Answer(open.key, outcome))
        }
        Act::Event(which, _) | Act::Answer(which, _) | Act::Set(which, _) => {
            // The charts of a family declare the same events first.
            let mut follower = kin.follower(usize::from(which / 16));
            follower.enabled.retain(|event| event.index() < chart.events.len());
            step(chart, act, &follower, None, now)
        }
        Act::Start | Act::Turn | Act::Wait(_) | Act::Due => {
            let due = kin.family.next_deadline();
            step(chart, act, &kin.follower(0), due, now)
        }
    }
}

/// Runs acts on the first of the charts and those that it runs. With `restart`, the family is stopped and written down
/// whenever it is at rest, and goes on as it was read.
///
/// # Errors
/// A member in an illegal configuration, or a snapshot that cannot be read.
pub(crate) fn play(
    plans: &[Plan],
    mut script: Script,
    acts: &[Act],
    restart: bool,
) -> Result<(Script, String, Happened), String> {
    let mut happened = Happened::default();
    let host = Scripted::of(&script);
    script.kin = true;
    let Ok(machine) = Interpreter::new(&plans[0], host.clone(), script.params.clone()) else {
        return Ok((script, driver::UNMADE.to_owned(), happened));
    };
    let machine = machine.with_charts(plans);
    let mut out = driver::fixed(&machine);
    let mut kin = Kin::of(machine);
    let (mut now, mut after_end, mut circles) = (0, 0, 0);
    for act in acts {
        after_end += u32::from(kin.family.root().ended().is_some());
        if after_end > AFTER_END || circles > CIRCLES {
            break;
        }
        let step = next(plans, *act, &mut kin, &mut now);
        out += &kin.step(&host, &step);
        happened.answers += usize::from(matches!(step, Step::Tell(..)));
        happened.children = happened.children.max(kin.family.members().len() - 1);
        circles += u32::from(kin.log.records.contains(&Record::Error(ErrorKind::Livelock)));
        circles += u32::from(!kin.at_rest);
        legal(&kin).map_err(|member| format!("{member:?} is nowhere legal:\n{out}"))?;
        script.steps.push(step);
        if restart && kin.at_rest {
            let json = serde_json::to_string(&kin.family.save());
            let json = json.map_err(|why| why.to_string())?;
            let read: Saved = serde_json::from_str(&json).map_err(|e| format!("{e}: {json}"))?;
            let made = Interpreter::resume(&plans[0], plans, host.clone(), &read);
            kin.restart(made.map_err(|why| format!("not restored: {why}: {json}"))?);
        }
    }
    Ok((script, out, happened))
}

/// Whether every member that was started is in a configuration that its chart can be in; else one that is not.
fn legal(kin: &Kin<Interpreter<Scripted>>) -> Result<(), MemberPath> {
    for name in kin.family.members() {
        let Some(machine) = kin.family.member(&name) else { continue };
        let tables = machine.tables();
        let mut configuration = vec![0; tables.states.len().div_ceil(64)];
        for state in 0..tables.states.len() {
            if machine.is_active(chartc_core::arena::StateId::at(state)) {
                bits::insert(&mut configuration, state);
            }
        }
        if configuration.iter().any(|word| *word != 0) && !is_legal(tables, &configuration) {
            return Err(name);
        }
    }
    Ok(())
}
