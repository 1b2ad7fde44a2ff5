//! Renders prompts and the offers of questions.

use super::program::Runner;
use crate::arena::{ChoiceId, ToolId};
use crate::expr::{EvalError, holds, render, render_for, type_text};
use crate::host::summary;
use crate::host::{Host, Offer};
use crate::machine::{Fault, StepKey};
use crate::model::{ChoiceKind, Field, Position, StepKind, Template};
use crate::program::View;
use crate::wording;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The text between a step's own prompt and those of components.
const BETWEEN: &str = "\n\n";

impl<H: Host> Runner<'_, H> {
    /// The rendered prompt of a step, with its components.
    pub(super) fn prompt(
        &mut self,
        key: StepKey,
        options: &str,
        view: &View<'_>,
    ) -> Result<String, Fault> {
        let (chart, step, element) = (self.chart, key.step, self.element_of(key));
        let Some(row) = chart.steps.get(step.index()) else {
            self.data.note(|| format!("no step has the number {}", step.0));
            return Err(Fault);
        };
        let options = matches!(row.kind, StepKind::Ask { .. }).then_some(options);
        let (mut start, mut middle, mut end) = (Vec::new(), Vec::new(), Vec::new());
        for (component, insert) in chart.inserts(step) {
            if let Some(guard) = &insert.guard {
                let fuel = self.fuel();
                let result = holds(guard, &self.context(view, None), &fuel);
                self.burn(&fuel);
                let what = || format!("`if` of `{}` into `{}`", component.name, row.name);
                // A guard that fails counts as false, as everywhere.
                if !self.explain(result, what).unwrap_or(false) {
                    continue;
                }
            }
            match insert.place {
                Position::Start => start.push(&component.text),
                Position::Replace => middle.push(&component.text),
                Position::End => end.push(&component.text),
            }
        }
        // A component with `replace` takes the place of the step's own text.
        if middle.is_empty() {
            middle.extend(chart.own_prompt(step));
        }
        let fuel = self.fuel();
        let context = self.context(view, options);
        let templates = start.into_iter().chain(middle).chain(end);
        let texts: Result<Vec<String>, EvalError> = templates
            .map(|template| render_for(template, element.as_ref(), &context, &fuel))
            .collect();
        self.burn(&fuel);
        Ok(self.explain(texts, || wording::prompt_of(view.tables, step))?.join(BETWEEN))
    }

    /// Adds a note with the reason if something has failed, named by `what`.
    pub(super) fn explain<T>(
        &self,
        result: Result<T, EvalError>,
        what: impl FnOnce() -> String,
    ) -> Result<T, Fault> {
        result.map_err(|error| {
            self.data.note(|| format!("{}: {}", what(), error.message));
            Fault
        })
    }

    /// An option of a question. A text that cannot be rendered is empty, and a note gives the reason.
    pub(super) fn offer(&mut self, id: ChoiceId, tool: Option<ToolId>, view: &View<'_>) -> Offer {
        let chart = self.chart;
        let choice = &chart.choices[id.index()];
        let text = match &choice.text {
            Some(template) => {
                let text = self.text(template, view);
                text.unwrap_or_else(|Fault| {
                    self.data.note(|| {
                        let line = wording::line(view.tables, choice.transition);
                        format!("{line} is offered without its text")
                    });
                    String::new()
                })
            }
            None => tool.map_or_else(String::new, |tool| summary(&chart.tools[tool.index()].doc)),
        };
        let fields: &[Field] = match (&choice.kind, tool) {
            (ChoiceKind::Option(fields), _) => fields,
            (ChoiceKind::Call(..), Some(tool)) => &chart.tools[tool.index()].params,
            (ChoiceKind::Call(..), None) => &[],
        };
        let arguments = fields
            .iter()
            .map(|field| (field.name.clone().into(), type_text(&field.ty, &chart.types).into()))
            .collect();
        let name = tool.map_or(&choice.name, |tool| &chart.tools[tool.index()].name);
        Offer { choice: id, tool, name: name.clone().into(), text: text.into(), arguments }
    }

    /// A tool that the model of an `llm` step may call.
    pub(super) fn tool_offer(&self, id: ToolId) -> Offer {
        let tool = &self.chart.tools[id.index()];
        let typed = |field: &Field| {
            let ty = type_text(&field.ty, &self.chart.types);
            (field.name.clone().into(), ty.into())
        };
        Offer {
            choice: Offer::NO_LINE,
            tool: Some(id),
            name: tool.name.clone().into(),
            text: summary(&tool.doc).into(),
            arguments: tool.params.iter().map(typed).collect(),
        }
    }

    fn text(&mut self, template: &Template, view: &View<'_>) -> Result<String, Fault> {
        let fuel = self.fuel();
        let text = render(template, &self.context(view, None), &fuel);
        self.burn(&fuel);
        self.explain(text, || "text of an option".to_string())
    }
}
