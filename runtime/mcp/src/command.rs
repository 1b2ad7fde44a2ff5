//! Tools that are programs. Each call starts the program, writes the arguments to its standard input as JSON, and reads its standard output
//! to the end.

use crate::config::{Limits, Program};
use crate::fault::Fault;
use crate::holes::{Part, parts};
use crate::process::{Running, StderrListener, start, told};
use crate::result::{Wanted, arguments};
use chartc_core::expr::Value;
use serde_json::Value as Json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Makes one call.
pub(crate) async fn call(
    tool: &str,
    program: &Program,
    (limits, base, heard): (Limits, &[(String, String)], &StderrListener),
    given: &[(String, Value)],
    wanted: &Wanted,
) -> Result<Value, Fault> {
    let json = Json::Object(arguments(given, None));
    let program = Program { argv: filled(&program.argv, &json)?, ..program.clone() };
    let (mut running, pipes) = start(tool, &program, base, heard)
        .map_err(|why| Fault::Start(format!("`{}`: {why}", program.argv[0])))?;
    let (mut stdin, mut stdout) = (pipes.stdin, pipes.stdout);
    let input = json.to_string();
    let work = async {
        let write = async {
            // An error here only means that the program does not read its input, which it need not do.
            drop(stdin.write_all(input.as_bytes()).await);
            drop(stdin);
        };
        let mut output = Vec::new();
        // One byte above the limit is enough to know that the output is too long.
        let most = u64::try_from(limits.output).unwrap_or(u64::MAX).saturating_add(1);
        let mut bounded = (&mut stdout).take(most);
        let read = bounded.read_to_end(&mut output);
        // Both at once: a program that fills its output pipe before it reads its input would otherwise wait for ever.
        let ((), read) = tokio::join!(write, read);
        read.map_err(|why| Fault::Gone(why.to_string()))?;
        if output.len() > limits.output {
            return Err(Fault::TooLong { bytes: output.len(), limit: limits.output });
        }
        let status = running.wait().await.map_err(|why| Fault::Gone(why.to_string()))?;
        Ok((output, status))
    };
    let ended = timeout(limits.idle, work).await;
    match ended {
        Err(_) => {
            let what = format!("`{}`{}", program.argv[0], running.tail.told());
            Err(Fault::Silent { what, after: limits.idle })
        }
        Ok(Err(fault)) => Err(fault),
        Ok(Ok((output, status))) => {
            let wrote = wrote(&mut running).await;
            if !status.success() {
                return Err(Fault::Failed(format!("{}{wrote}", told(status))));
            }
            let text = String::from_utf8(output)
                .map_err(|_| Fault::Protocol("its output is not UTF-8".into()))?;
            Ok(wanted.text(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
        }
    }
    // Dropping `running` kills the program's process group, and so everything that it has started.
}

async fn wrote(running: &mut Running) -> String {
    running.drained().await;
    running.tail.told()
}

/// Fills in the placeholders of a command line. An argument with a placeholder whose value is `none` is left out. If an argument consists
/// only of a placeholder for a list, it becomes one argument for each item.
fn filled(argv: &[String], json: &Json) -> Result<Vec<String>, Fault> {
    let mut out = Vec::new();
    for text in argv {
        let parts = parts(text).map_err(|why| Fault::Start(why.to_owned()))?;
        if let [Part::Hole(name)] = parts.as_slice()
            && let Some(Json::Array(items)) = json.get(name)
        {
            for item in items {
                out.push(checked(plain(item), item, name, &out)?);
            }
            continue;
        }
        let mut argument = String::new();
        let mut is_there = true;
        for (nth, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => argument.push_str(text),
                Part::Hole(name) => match json.get(name) {
                    None | Some(Json::Null) => is_there = false,
                    // Only a value at the beginning of an argument can make it look like an option.
                    Some(value) if nth == 0 => {
                        argument = checked(plain(value), value, name, &out)?;
                    }
                    Some(value) => argument.push_str(&plain(value)),
                },
            }
        }
        if is_there {
            out.push(argument);
        }
    }
    if out.is_empty() {
        return Err(Fault::Start("nothing is left of its command".into()));
    }
    Ok(out)
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

/// Refuses a text that the program would read as an option, unless `--` comes before it.
fn checked(text: String, value: &Json, name: &str, before: &[String]) -> Result<String, Fault> {
    let is_option = value.is_string() && text.starts_with('-');
    if is_option && !before.iter().any(|argument| argument == "--") {
        return Err(Fault::Refused(format!(
            "the argument `{name}` begins with `-`, and the program would take it for an option; put \"--\" before {{{name}}} in the command if the program knows that"
        )));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill(argv: &[&str], json: Json) -> Result<Vec<String>, Fault> {
        filled(&argv.iter().map(ToString::to_string).collect::<Vec<_>>(), &json)
    }

    #[test]
    fn arguments_stay_arguments() {
        let argv = ["git", "log", "-n", "{n}", "--since={since}", "--", "{paths}", "{{}}"];
        let given = json!({"n": 3, "paths": ["a b", "$(x); y"]});
        let told = fill(&argv, given).expect("it is filled");
        assert_eq!(told, ["git", "log", "-n", "3", "--", "a b", "$(x); y", "{}"]);
    }

    #[test]
    fn a_value_does_not_become_an_option() {
        assert!(matches!(fill(&["rm", "{x}"], json!({"x": "-rf"})), Err(Fault::Refused(_))));
        assert!(matches!(fill(&["rm", "{x}"], json!({"x": ["-rf"]})), Err(Fault::Refused(_))));
        assert_eq!(fill(&["f", "{x}"], json!({"x": -1})), Ok(vec!["f".into(), "-1".into()]));
        let behind = fill(&["rm", "--", "{x}"], json!({"x": "-rf"}));
        assert_eq!(behind, Ok(vec!["rm".into(), "--".into(), "-rf".into()]));
    }
}
