//! One table of the file: settings are taken out by name, and what is left at the end is unknown.

use super::{
    fault::{Fault, Wrong},
    value::kind,
};
use std::collections::BTreeMap;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// A table that has not been read to its end.
#[derive(Clone)]
pub(super) struct Table<'t> {
    /// Before each name in a message, `fingerprint.` for example.
    prefix: String,
    at: usize,
    entries: BTreeMap<String, Entry<'t>>,
    asked: Vec<&'static str>,
}

#[derive(Clone)]
struct Entry<'t> {
    name_at: usize,
    at: usize,
    value: DeValue<'t>,
    inherited: bool,
}

/// A value and where it stands.
#[derive(Clone)]
pub(super) struct Setting<T> {
    pub(super) at: usize,
    pub(super) value: T,
    /// Taken over from `[defaults]`.
    pub(super) inherited: bool,
}

impl<'t> Table<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, Fault> {
        let root = DeTable::parse(text)?;
        Ok(Self::new(
            String::new(),
            root.span().start,
            root.into_inner(),
            false,
        ))
    }

    fn new(prefix: String, at: usize, table: DeTable<'t>, inherited: bool) -> Self {
        let entry = |(name, value): (Spanned<_>, Spanned<_>)| {
            let (name_at, at) = (name.span().start, value.span().start);
            let entry = Entry {
                name_at,
                at,
                value: value.into_inner(),
                inherited,
            };
            (String::from(name.into_inner()), entry)
        };
        Self {
            prefix,
            at,
            entries: table.into_iter().map(entry).collect(),
            asked: Vec::new(),
        }
    }

    /// Where the table begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Takes over what this table does not say itself.
    pub(super) fn inherit(&mut self, defaults: &Self) {
        for (name, default) in &defaults.entries {
            match (
                self.entries.get_mut(name).map(|own| &mut own.value),
                &default.value,
            ) {
                (Some(DeValue::Table(own)), DeValue::Table(defaults)) => {
                    for (name, default) in defaults {
                        own.entry(name.clone()).or_insert_with(|| default.clone());
                    }
                }
                (Some(_), _) => {}
                (None, _) => {
                    let default = Entry {
                        inherited: true,
                        ..default.clone()
                    };
                    self.entries.insert(name.clone(), default);
                }
            }
        }
    }

    fn entry(&mut self, name: &'static str) -> Option<Entry<'t>> {
        self.asked.push(name);
        self.entries.remove(name)
    }

    /// The setting of this name, as `read` understands it.
    pub(super) fn take<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Wrong>,
    ) -> Result<Option<Setting<T>>, Fault> {
        let Some(Entry {
            at,
            value,
            inherited,
            ..
        }) = self.entry(name)
        else {
            return Ok(None);
        };
        match read(&value) {
            Ok(value) => Ok(Some(Setting {
                at,
                value,
                inherited,
            })),
            Err(wrong) => Err(wrong.of(&format!("{}{name}", self.prefix), at)),
        }
    }

    /// The setting of this name, or the value that it has where nobody sets it.
    pub(super) fn or<T>(
        &mut self,
        name: &'static str,
        default: T,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Wrong>,
    ) -> Result<T, Fault> {
        Ok(self
            .take(name, read)?
            .map_or(default, |setting| setting.value))
    }

    /// A setting that fits some routes only: where it does not, `wrong` is said of one that stands
    /// on the route itself, and a default is left out.
    pub(super) fn take_if<T>(
        &mut self,
        (fits, wrong, instead): (bool, &str, &str),
        name: &'static str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Wrong>,
    ) -> Result<Option<Setting<T>>, Fault> {
        match self.take(name, read)? {
            Some(setting) if !fits && !setting.inherited => {
                Err(Wrong::new(format!("{name} {wrong}"), instead).at(setting.at))
            }
            setting => Ok(setting.filter(|_| fits)),
        }
    }

    /// Where the setting of this name stands.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.entries.get(name).map(|entry| entry.name_at)
    }

    /// The table of this name.
    pub(super) fn table(&mut self, name: &'static str) -> Result<Option<Self>, Fault> {
        match self.entry(name) {
            None => Ok(None),
            Some(Entry {
                at,
                value: DeValue::Table(table),
                inherited,
                ..
            }) => {
                let prefix = format!("{}{name}.", self.prefix);
                Ok(Some(Self::new(prefix, at, table, inherited)))
            }
            Some(Entry { at, value, .. }) => {
                let wrong = format!("{name} is {}", kind(&value));
                Err(Wrong::new(wrong, format!("a table [{name}]")).at(at))
            }
        }
    }

    /// The tables of `[[name]]`.
    pub(super) fn tables(&mut self, name: &'static str) -> Result<Vec<Self>, Fault> {
        let Some(Entry { at, value, .. }) = self.entry(name) else {
            return Ok(Vec::new());
        };
        let no_list = |at| {
            Wrong::new(
                format!("{name} is no list of tables"),
                format!("[[{name}]]"),
            )
            .at(at)
        };
        let DeValue::Array(elements) = value else {
            return Err(no_list(at));
        };
        let table =
            |element: Spanned<DeValue<'t>>| match (element.span().start, element.into_inner()) {
                (at, DeValue::Table(table)) => Ok(Self::new(String::new(), at, table, false)),
                (at, _) => Err(no_list(at)),
            };
        elements.into_iter().map(table).collect()
    }

    /// Refuses what nobody asked for.
    pub(super) fn finish(self) -> Result<(), Fault> {
        let Some((name, entry)) = self.entries.iter().min_by_key(|(_, entry)| entry.name_at) else {
            return Ok(());
        };
        let close = self.asked.iter().find(|known| is_close(known, name));
        let instead = match close {
            Some(known) => format!("{}{known}", self.prefix),
            None => format!("one of {}", self.asked.join(", ")),
        };
        Err(Wrong::new(format!("{}{name} is unknown", self.prefix), instead).at(entry.name_at))
    }
}

/// Whether one name may be meant where the other stands: at most two edits apart.
fn is_close(a: &str, b: &str) -> bool {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.bytes()) {
            left = (left + 1)
                .min(*cell + 1)
                .min(diagonal + usize::from(x != y));
            diagonal = std::mem::replace(cell, left);
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().is_some_and(|distance| *distance <= 2)
}
