//! Expressions that read parts of values or build values.

use super::super::EvalError;
use super::super::access::{elements_with, field, index_with, slice_with};
use super::super::fuel::fail;
use super::super::{Map, Value};
use super::{Evaluated, Evaluator, Scope, take};
use crate::arena::LocalId;
use crate::model::{Expr, Type};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

impl<'e> Evaluator<'e> {
    /// `x.f`. The field of an optional record that is `none` is `none`, too.
    pub(super) fn field<'s>(
        &self,
        of: &Expr,
        name: &str,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let value = self.eval(of, scope, depth)?;
        if *value == Value::None && matches!(of.ty, Type::Optional(_)) {
            return Ok(value);
        }
        match value {
            Cow::Borrowed(value) => field(value, name).map(Cow::Borrowed),
            // The rest of an owned value is dropped, so its field has to be copied.
            Cow::Owned(value) => self.fuel.copy(field(&value, name)?).map(Cow::Owned),
        }
    }

    pub(super) fn index<'s>(
        &self,
        of: &Expr,
        at: &Expr,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let value = self.eval(of, scope, depth)?;
        let at = self.eval(at, scope, depth)?;
        match value {
            Cow::Borrowed(value) => index_with(value, &at, self.fuel),
            Cow::Owned(value) => {
                take(index_with(&value, &at, self.fuel)?, self.fuel).map(Cow::Owned)
            }
        }
    }

    pub(super) fn slice<'s>(
        &self,
        of: &Expr,
        from: Option<&Expr>,
        to: Option<&Expr>,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let value = self.eval(of, scope, depth)?;
        let from = from.map(|from| self.eval(from, scope, depth)).transpose()?;
        let to = to.map(|to| self.eval(to, scope, depth)).transpose()?;
        slice_with(&value, from.as_deref(), to.as_deref(), self.fuel).map(Cow::Owned)
    }

    pub(super) fn map<'s>(
        &self,
        entries: &[(Expr, Expr)],
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let mut map = Map::new();
        for (key, value) in entries {
            let Value::Text(key) = self.owned(key, scope, depth)? else {
                return fail!("keys are Text");
            };
            map.insert(key, self.owned(value, scope, depth)?);
        }
        Ok(Cow::Owned(Value::Map(map)))
    }

    pub(super) fn comprehension<'s>(
        &self,
        item: &Expr,
        local: LocalId,
        source: &Expr,
        filter: Option<&Expr>,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let source = self.eval(source, scope, depth)?;
        let mut items = Vec::new();
        // Each node that an iteration evaluates is charged, so the fuel bounds the whole comprehension.
        for element in elements_with(&source, self.fuel)? {
            let inner = Scope { outer: scope, local, value: &element };
            if let Some(filter) = filter
                && !self.bool(filter, Some(&inner), depth)?
            {
                continue;
            }
            items.push(self.owned(item, Some(&inner), depth)?);
        }
        Ok(Cow::Owned(Value::List(items)))
    }

    pub(super) fn list<'s>(
        &self,
        items: &[Expr],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Evaluated<'s> {
        self.all_owned(items, scope, depth).map(Value::List).map(Cow::Owned)
    }

    pub(super) fn record<'s>(
        &self,
        fields: &[(String, Expr)],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Evaluated<'s> {
        let mut record = Map::new();
        for (name, value) in fields {
            record.insert(name.clone(), self.owned(value, scope, depth)?);
        }
        Ok(Cow::Owned(Value::Map(record)))
    }

    pub(super) fn all<'s>(
        &self,
        exprs: &[Expr],
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Result<Vec<Cow<'s, Value>>, EvalError>
    where
        'e: 's,
    {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(expr, scope, depth)?);
        }
        Ok(values)
    }

    pub(super) fn all_owned(
        &self,
        exprs: &[Expr],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Result<Vec<Value>, EvalError> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.owned(expr, scope, depth)?);
        }
        Ok(values)
    }
}
