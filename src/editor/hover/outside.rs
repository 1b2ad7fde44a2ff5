//! Describes names that belong to no chart: ids of sent events, imported files, and declarations of files without charts.

use super::find::contains;
use super::markdown::{Markdown, code};
use chartc_check::compile::Compilation;
use chartc_check::lower::{NameKind, Use};
use chartc_text::span::{FileId, Ident};
use chartc_text::syntax::{Item, Path};

/// Describes a name that is a file or is declared outside of charts. Returns whether anything was added.
pub(super) fn show(markdown: &mut Markdown, done: &Compilation, name: &Use) -> bool {
    if name.kind == NameKind::File {
        file(markdown, done, name.declared.file);
        return true;
    }
    if name.kind == NameKind::SendId {
        markdown.line("The id of what is sent here; `cancel` takes back what did not come yet.");
        return true;
    }
    let Some(file) = done.files.iter().find(|file| file.id == name.declared.file) else {
        return false;
    };
    let around = file.items.iter().find(|noted| contains(noted.span, name.declared));
    match around.map(|noted| (noted, &noted.node)) {
        None | Some((_, Item::Chart(_) | Item::Scenario(_) | Item::Import(_) | Item::Bad(_))) => {
            false
        }
        Some((
            noted,
            Item::Record(_)
            | Item::Enum(_)
            | Item::Function(_)
            | Item::Tool(_)
            | Item::ToolSet(_)
            | Item::Client(_)
            | Item::Component(_),
        )) => {
            markdown.code("chart", done.sources.get(file.id).slice(noted.span));
            markdown.docs(&noted.doc);
            true
        }
    }
}

/// Describes an imported file by its declarations.
fn file(markdown: &mut Markdown, done: &Compilation, id: FileId) {
    markdown.line(code(&done.sources.get(id).name));
    let ident = |name: &Ident| name.node.clone();
    let items = done.files.iter().filter(|file| file.id == id).flat_map(|file| &file.items);
    let names = items.filter_map(|noted| {
        let (word, name) = match &noted.node {
            Item::Chart(chart) => ("chart", ident(&chart.name)),
            Item::Record(record) => ("type", ident(&record.name)),
            Item::Enum(names) => ("enum", ident(&names.name)),
            Item::Function(function) => ("function", ident(&function.name)),
            Item::Tool(tool) => ("tool", Path::text(&tool.name)),
            Item::ToolSet(set) => ("tools", ident(&set.name)),
            Item::Client(client) => ("client", ident(&client.name)),
            Item::Component(component) => ("component", ident(&component.name)),
            Item::Import(_) | Item::Scenario(_) | Item::Bad(_) => return None,
        };
        Some(code(&format!("{word} {name}")))
    });
    markdown.list("Declares", names.collect::<Vec<_>>());
}
