//! The command `chartc store FILE migrate --check CHART`: shows which runs of a store can continue in another version of their chart.

use super::Exit;
use super::durable::refused;
use super::files::Root;
use super::output::{StyledText, complain, print, print_json, say};
use super::pick::pick_to_run;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_core::saved::{Comparison, Unfit};
use chartc_core::visible;
use chartc_runtime::Saved;
use chartc_store::{Listed, Store};
use std::collections::BTreeSet;
use std::path::Path;

/// Which version, and how to print.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// File with the other version of the chart; the store is not changed
    #[arg(long, value_name = "FILE", required = true)]
    check: String,
    /// Name of the chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// How to print the results
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
    #[command(flatten)]
    root: Root,
}

/// The result for a run.
enum Fate {
    /// The run has ended.
    Ended,
    /// The run can continue, with these changes.
    Loads(Vec<String>),
    /// The run cannot continue, for these reasons.
    Refused(Vec<String>),
}

impl Fate {
    /// The result as JSON has it.
    fn word(&self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Loads(changes) if changes.is_empty() => "as_it_is",
            Self::Loads(_) => "changed",
            Self::Refused(_) => "refused",
        }
    }
}

pub(super) fn run(path: &Path, args: &Args) -> miette::Result<Exit> {
    // 0 states: `check` lines are not decided, because they have no effect on saved runs.
    let checked = match pick_to_run(&args.check, args.chart.as_deref(), &args.root, 0)? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let charts = checked.family();
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let store = Store::open(path).map_err(refused)?;
    let listed = store.list().map_err(refused)?;
    let name = &checked.chart().name;
    let (own, others): (Vec<_>, Vec<_>) = listed.iter().partition(|row| row.chart == *name);
    let mut fates = Vec::new();
    for row in own {
        fates.push((row.run.as_str(), fate(&store, row, &plans)?));
    }
    let loads = !fates.iter().any(|(_, fate)| matches!(fate, Fate::Refused(_)));
    if args.format == "json" {
        print_json(&json(name, loads, &fates))?;
    } else {
        show(name, &fates)?;
    }
    let others: BTreeSet<&str> = others.iter().map(|row| row.chart.as_str()).collect();
    if fates.is_empty() && !others.is_empty() {
        let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        complain(format!(
            "{} has no run of `{name}`, only of {}: a run goes on in a chart of the same name",
            path.display(),
            others.join(", ")
        ));
    }
    Ok(if loads { Exit::Clean } else { Exit::Findings })
}

/// The result for a run, as `chartc run --store` would find it.
fn fate(store: &Store, row: &Listed, plans: &[Plan<'_>]) -> miette::Result<Fate> {
    let Some(saved) = store.session(&row.run).map_err(refused)? else {
        // The run has not started, so nothing in it depends on the chart.
        return Ok(Fate::Loads(Vec::new()));
    };
    if saved.status().is_some() {
        return Ok(Fate::Ended);
    }
    Ok(of(&saved, plans))
}

fn of(saved: &Saved, plans: &[Plan<'_>]) -> Fate {
    let tables =
        |name: &str| plans.iter().find(|plan| plan.chart().name == name).map(|plan| plan.tables());
    let Comparison { differences, changes } = saved.compare(tables);
    if !differences.is_empty() {
        return Fate::Refused(differences.iter().map(ToString::to_string).collect());
    }
    // The comparison covers structure. Whether the values fit shows only when they are loaded.
    match Interpreter::resume(&plans[0], plans, (), saved.machine()) {
        Ok(_) => Fate::Loads(changes.iter().map(ToString::to_string).collect()),
        Err(Unfit::Differs(all)) => Fate::Refused(all.iter().map(ToString::to_string).collect()),
        Err(why) => Fate::Refused(vec![why.to_string()]),
    }
}

fn show(chart: &str, fates: &[(&str, Fate)]) -> miette::Result<()> {
    let mut out = StyledText::default();
    let (mut going, mut loading) = (0, 0);
    for (run, fate) in fates {
        let (words, lines) = match fate {
            Fate::Ended => ("has ended", &[][..]),
            Fate::Loads(changes) if changes.is_empty() => ("loads as it is", &[][..]),
            Fate::Loads(changes) => ("loads with changes", changes.as_slice()),
            Fate::Refused(reasons) => ("is refused", reasons.as_slice()),
        };
        out.line(visible::line(&format!("{run}: {words}")));
        for line in lines {
            out.line(visible::line(&format!("  {line}")));
        }
        going += usize::from(!matches!(fate, Fate::Ended));
        loading += usize::from(matches!(fate, Fate::Loads(_)));
    }
    print(&out)?;
    let runs = if going == 1 {
        format!("run of `{chart}` loads")
    } else {
        format!("runs of `{chart}` load")
    };
    say(format!("{loading} of {going} {runs} in this version"))
}

fn json(chart: &str, loads: bool, fates: &[(&str, Fate)]) -> String {
    let runs = fates.iter().map(|(run, fate)| {
        let (changes, reasons) = match fate {
            Fate::Ended => (&[][..], &[][..]),
            Fate::Loads(changes) => (changes.as_slice(), &[][..]),
            Fate::Refused(reasons) => (&[][..], reasons.as_slice()),
        };
        serde_json::json!({
            "run": run,
            "result": fate.word(),
            "changes": changes,
            "reasons": reasons,
        })
    });
    let runs: Vec<_> = runs.collect();
    let all = serde_json::json!({ "chart": chart, "loads": loads, "runs": runs });
    format!("{}\n", serde_json::to_string_pretty(&all).unwrap_or_default())
}
