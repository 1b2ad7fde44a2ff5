//! Compares a saved machine with another version of its chart.

use super::Saved;
use crate::semantics::{Change, Comparison, Difference, Numbers};
use crate::tables::{Tables, TypedRow};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec;

impl Saved {
    /// Compares the machine and its children with versions of their charts, whose tables are found by chart name. Whether the values fit
    /// their types is checked when the run continues.
    pub fn compare_all<'t>(&self, tables: &dyn Fn(&str) -> Option<Tables<'t>>) -> Comparison {
        let Some(own) = tables(&self.chart) else {
            let differences = vec![Difference::Chart(self.chart.clone())];
            return Comparison { differences, ..Comparison::default() };
        };
        let mut found = self.compare(&own);
        for (_, child) in &self.children {
            let Comparison { differences, changes } = child.compare_all(tables);
            let differences = differences.into_iter().map(|one| child.differs(one));
            found.differences.extend(differences);
            let chart = || child.chart.clone();
            let changes = changes.into_iter().map(|one| Change::Child(chart(), Box::new(one)));
            found.changes.extend(changes);
        }
        found
    }

    /// Wraps a difference of a child chart, so that it names that chart.
    pub(crate) fn differs(&self, one: Difference) -> Difference {
        if matches!(one, Difference::Chart(_)) {
            return one;
        }
        Difference::Child(self.chart.clone(), Box::new(one))
    }

    /// Compares the machine with a version of its chart, without its children. The result is empty for the version that saved it.
    pub fn compare(&self, tables: &Tables<'_>) -> Comparison {
        if self.is_of(tables) {
            return Comparison::default();
        }
        let numbers = Numbers::of(tables);
        let mut found = self.registers.compare(&numbers);
        if let Some(types) = &self.types {
            types.compare(&numbers, &mut found.differences);
        }
        let rows = tables.types.iter().filter_map(|row| match row.of {
            TypedRow::Param(name) | TypedRow::Variable(name) => Some(name),
            TypedRow::Answer(_) | TypedRow::Event(..) | TypedRow::Record(..) => None,
        });
        let declared: BTreeSet<&str> = rows.collect();
        let mut had = BTreeSet::new();
        for name in self.variables.keys() {
            let now = numbers.variable(name);
            had.insert(now);
            if !declared.contains(now) {
                found.changes.push(Change::Dropped(name.clone()));
            } else if now != name {
                found.changes.push(Change::Variable(name.clone(), now.to_string()));
            }
        }
        if self.begun {
            let added = declared.iter().filter(|name| !had.contains(*name));
            found.changes.extend(added.map(|name| Change::Added((*name).to_string())));
        }
        found
    }
}
