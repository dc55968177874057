//! Closed sets of values: a list, a type and a type guard for each.

use crate::generate::model;
use crate::schema::Table;
use crate::template::template_object;

use super::names::{Names, TableNames, UnionNames};
use super::text::{code, literal};

/// A closed set of values.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Union {
    /// What the values are, as the beginning of a sentence of a comment.
    pub about: String,
    /// Name of the list of all, such as `walletOutboxStatuses`.
    pub list: String,
    /// Name of the type, such as `WalletOutboxStatus`.
    pub ty: String,
    /// Name of the type guard, such as `isWalletOutboxStatus`.
    pub guard: String,
    /// The values as string literals.
    pub members: Vec<String>,
}

template_object!(Union { about, list, ty, guard, members });

/// The closed sets of values of a table.
pub struct Unions {
    of_columns: Vec<(usize, Union)>,
    /// The types of events, where they are declared.
    pub events: Option<Union>,
}

impl Unions {
    /// Those of this table, and their names. `origin` says what its columns mean.
    pub fn new(table: &Table, origin: &Table, own: &TableNames, names: &mut Names) -> Unions {
        let title = code(&table.name.to_string());
        let of_columns = model::choices(origin).into_iter().map(|choice| {
            let column = &table.columns[choice.column].name;
            let (about, names) = match choice.is_status {
                true => (
                    format!("States of a row of {title}, in the order of its life"),
                    names.union(own, "Status", "Statuses"),
                ),
                false => (format!("Values of {} of {title}", code(column)), names.column(own, column)),
            };
            (choice.column, union(about, names, choice.values.iter().map(|value| literal(value)).collect()))
        });
        let of_columns = of_columns.collect();
        let types: Vec<String> = model::event_types(table).map(literal).collect();
        let about = format!("Types of the events in {title}");
        let events = (!types.is_empty()).then(|| union(about, names.union(own, "EventType", "EventTypes"), types));
        Unions { of_columns, events }
    }

    /// That of the column at this position.
    pub fn of_column(&self, at: usize) -> Option<&Union> {
        self.of_columns.iter().find(|(column, _)| *column == at).map(|(_, union)| union)
    }

    /// All, those of columns first.
    pub fn into_vec(self) -> Vec<Union> {
        self.of_columns.into_iter().map(|(_, union)| union).chain(self.events).collect()
    }
}

fn union(about: String, names: UnionNames, members: Vec<String>) -> Union {
    Union { about, list: names.list, ty: names.ty, guard: names.guard, members }
}
