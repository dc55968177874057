//! `rust/<dialect>/<table>.rs`: names of indexes and constraints, and rows out of and into one database.

use std::collections::{BTreeMap, BTreeSet};

use crate::dialect::{Dialect, InlineUnique};
use crate::generate::Header;
use crate::schema::names::{self, TableNames};
use crate::schema::{ColumnType, Index, Table};
use crate::statement::{self, query::Query};
use crate::template::template_object;

use super::names::Idents;
use super::table::Names;
use super::text::{Constant, Items, code, words};
use super::work::{self, Work};
use super::{plan, value};

/// One file for each table and database: `rust/<dialect>/<table>.rs`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowsFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// The table's module in `tables`.
    pub module: String,
    /// The path of sqlx's `Database`.
    pub database: String,
    /// The path of sqlx's row.
    pub row: String,
    /// Rows are decoded here; false where the database shares its driver with another one, whose files do it.
    pub decodes: bool,
    /// What this file uses of its parent module, as it stands behind `use super::`.
    pub imports: Items,
    /// The same, name by name.
    pub functions: Vec<String>,
    /// The columns, in the order of the table.
    pub fields: Vec<Field>,
    /// Some name is so long that rustfmt would break lines.
    pub wide: bool,
    /// The enums of the table's module.
    pub choices: Vec<String>,
    /// The statement that inserts a row.
    pub insert: Constant,
    /// The names of indexes.
    pub indexes: Vec<Constant>,
    /// The names of constraints.
    pub constraints: Vec<Constant>,
    /// The statements of the table's workload.
    pub queries: Vec<Constant>,
    /// How rows are taken: `select_then_update`, `update_from_select` or `update_by_row_id`.
    pub take: &'static str,
    /// The functions of the table's workload.
    pub work: Option<Work>,
    /// The constants of statements that are alone in what they do, by what that is.
    pub s: BTreeMap<String, String>,
}

template_object!(RowsFile {
    header,
    module,
    database,
    row,
    decodes,
    imports,
    functions,
    fields,
    wide,
    choices,
    insert,
    indexes,
    constraints,
    queries,
    take,
    work,
    s,
});

/// How a column is read and written.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Field {
    /// The field's identifier.
    pub name: String,
    /// The function that reads it.
    pub read: String,
    /// Of a decimal number, the digits behind the point.
    pub scale: Option<u8>,
    /// The field of `row` as the driver takes it.
    pub bind: String,
}

template_object!(Field { name, read, scale, bind });

/// A table and what is decided about it elsewhere.
pub struct Subject<'a> {
    /// The table, with the indexes of its workload.
    pub table: &'a Table,
    /// Its module in `tables`.
    pub module: &'a str,
    /// The names in that module.
    pub names: &'a Names,
    /// The names of its objects in the database.
    pub objects: &'a TableNames,
    /// The statements of its workload.
    pub queries: &'a [Query],
}

/// The file of a table on a database.
pub fn file(header: &Header, subject: &Subject<'_>, dialect: &dyn Dialect, decodes: bool) -> RowsFile {
    let (table, driver) = (subject.table, dialect.driver());
    let mut imports = BTreeSet::new();
    let mut fields = Vec::new();
    for (at, (column, name)) in table.columns.iter().zip(&subject.names.fields).enumerate() {
        let wire = dialect.wire(column);
        let is_choice = subject.names.choices.iter().any(|(column, _)| *column == at);
        let (read, scale) = value::read(column, wire);
        let (bind, function) = value::bind("row", column, name, wire, is_choice);
        if decodes {
            imports.insert(read.clone());
        }
        imports.extend(function);
        fields.push(Field { name: name.clone(), read, scale, bind });
    }
    let queries = queries(subject.queries);
    let built = work::work(subject, &queries, dialect);
    let (work, s) = match built {
        Some(built) => {
            imports.extend(built.imports);
            (Some(built.work), built.names)
        }
        None => (None, BTreeMap::new()),
    };
    RowsFile {
        take: plan::take(dialect),
        work,
        s,
        header: header.clone(),
        module: subject.module.to_owned(),
        database: driver.database.to_owned(),
        row: driver.row.to_owned(),
        decodes,
        imports: Items::imports(&imports),
        functions: imports.into_iter().collect(),
        wide: subject.names.fields.iter().any(|name| name.chars().count() > 34),
        fields,
        choices: subject.names.choices.iter().map(|(_, name)| name.clone()).collect(),
        insert: Constant::new(0, "Inserts a row with all its columns.", "INSERT", &insert(table, dialect)),
        indexes: indexes(subject),
        constraints: constraints(subject, dialect),
        queries,
    }
}

fn queries(queries: &[Query]) -> Vec<Constant> {
    let mut idents = Idents::default();
    let of = |(at, query): (usize, &Query)| {
        let mut docs: Vec<String> = query.about.iter().map(|line| words(line)).collect();
        let parameters: Vec<String> = query.parameters.iter().map(|parameter| code(&parameter.name)).collect();
        if !parameters.is_empty() {
            docs.extend([String::new(), format!("Parameters: {}.", parameters.join(", "))]);
        }
        let name = idents.constant(&query.name, &format!("statement_{}", at + 1));
        Constant::lines(4, docs, name, &query.sql)
    };
    queries.iter().enumerate().map(of).collect()
}

fn insert(table: &Table, dialect: &dyn Dialect) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| dialect.ident(&column.name)).collect();
    let values: Vec<String> = (1..=columns.len()).map(|n| dialect.placeholder(n)).collect();
    let name = statement::quoted(dialect, &table.name);
    format!("INSERT INTO {name} ({}) VALUES ({})", columns.join(", "), values.join(", "))
}

fn indexes(subject: &Subject<'_>) -> Vec<Constant> {
    let mut idents = Idents::default();
    let of = |(at, (index, name)): (usize, (&Index, &String))| {
        let usual = index.name.clone().unwrap_or_else(|| names::derived(subject.table, index));
        let columns: Vec<String> = subject.table.names(&index.columns).map(code).collect();
        let unique = if index.unique { "Unique, on" } else { "On" };
        let docs = format!("{unique} {}.", columns.join(", "));
        Constant::new(4, &docs, idents.constant(&usual, &format!("index_{}", at + 1)), name)
    };
    subject.table.indexes.iter().zip(&subject.objects.indexes).enumerate().map(of).collect()
}

fn constraints(subject: &Subject<'_>, dialect: &dyn Dialect) -> Vec<Constant> {
    let (table, objects) = (subject.table, subject.objects);
    let mut idents = Idents::default();
    let mut constants = Vec::new();
    if let Some(name) = primary_key(subject, dialect) {
        constants.push(Constant::new(4, "The primary key.", idents.constant("PRIMARY_KEY", ""), &name));
    }
    for (index, name) in table.indexes.iter().zip(&objects.indexes).filter(|(index, _)| index.unique) {
        let columns: Vec<String> = table.names(&index.columns).map(code).collect();
        let usual = index.name.clone().unwrap_or_else(|| names::derived(table, index));
        let docs = format!("No two rows agree in {}.", columns.join(", "));
        constants.push(Constant::new(4, &docs, idents.constant(&usual, "unique"), name));
    }
    for (key, name) in table.foreign_keys.iter().zip(&objects.foreign_keys) {
        let columns: Vec<&str> = table.names(&key.columns).collect();
        let usual = key.name.clone().unwrap_or_else(|| format!("fk_{}_{}", table.name.name, columns.join("_")));
        let docs = format!("The foreign key to {}.", code(&key.target.to_string()));
        constants.push(Constant::new(4, &docs, idents.constant(&usual, "foreign_key"), name));
    }
    for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| dialect.check(column).is_some()) {
        let name = names::check(table, objects, at, dialect.engine());
        let usual = format!("ck_{}_{}", table.name.name, column.name);
        let docs = match &column.ty {
            ColumnType::Enum(_) => format!("The values of {}.", code(&column.name)),
            ty => format!("What {} can hold as `{ty}`.", code(&column.name)),
        };
        constants.push(Constant::new(4, &docs, idents.constant(&usual, "check"), &name));
    }
    constants
}

/// The name of the primary key, where it has one.
fn primary_key(subject: &Subject<'_>, dialect: &dyn Dialect) -> Option<String> {
    let table = subject.table;
    let numbered = table.primary_key.iter().any(|at| table.columns[*at].auto_increment);
    let layout = dialect.layout();
    if table.primary_key.is_empty() || numbered && layout.numbered_is_primary_key {
        return None;
    }
    Some(match layout.inline_uniques {
        InlineUnique::Key => "PRIMARY".to_owned(),
        _ => subject.objects.primary_key.clone(),
    })
}
