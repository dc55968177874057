//! `typescript/schema.ts`: names, row types, closed sets of values, and what the definitions say of tables and columns;
//! `typescript/events.ts`: the events that tables carry. Both are the same whatever the databases are.

mod events;
mod names;
mod text;
mod unions;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::generate::model::{self, Form};
use crate::output::GeneratedFile;
use crate::schema::{Catalog, Column, Table};
use crate::template::template_object;

use super::super::{Context, Header};
use super::Target;
#[cfg(feature = "schema")]
use super::TemplateContext;
use names::{Names, TableNames};
use text::{code, comment, key, literal};
use unions::Unions;

pub use events::{ConsumerCode, EventCode, EventsFile, FieldCode, TableEvents, TypeCode};
pub use unions::Union;

/// TypeScript files.
pub struct TypeScript;

const SCHEMA: &str = "typescript/schema.ts.jinja";
const EVENTS: &str = "typescript/events.ts.jinja";

/// One file, whatever the databases are: `typescript/schema.ts`. Names of exports are identifiers of which none is given twice;
/// the types for values (`BigIntString` …), `Column`, `ColumnType`, `Table`, `TableName`, `Rows`, `tables` and `isOneOf` are
/// kept for the template itself.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchemaFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// The tables, in the order of the definitions.
    pub tables: Vec<TableCode>,
}

template_object!(SchemaFile { header, tables });

/// One table.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableCode {
    /// The table's name, fit for a sentence of a comment.
    pub title: String,
    /// The description, one entry a line, fit for a comment.
    pub about: Vec<String>,
    /// The table's name as it stands before the colon of a property.
    pub key: String,
    /// Name of the constant that holds what the definition says, such as `walletOutbox`.
    pub constant: String,
    /// Name of the list of column names, such as `walletOutboxColumns`.
    pub columns_constant: String,
    /// Name of the row type, such as `WalletOutboxRow`.
    pub row: String,
    /// The properties of the constant, but for `columns`.
    pub properties: Vec<Property>,
    /// The columns, in their order.
    pub columns: Vec<ColumnCode>,
    /// The closed sets of values: states, members of ENUM, event types.
    pub unions: Vec<Union>,
}

template_object!(TableCode { title, about, key, constant, columns_constant, row, properties, columns, unions });

/// One column.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnCode {
    /// Label and description, one entry a line, fit for a comment; an empty line between the two.
    pub about: Vec<String>,
    /// The column's name as a string literal.
    pub name: String,
    /// The column's name as it stands before the colon of a property.
    pub key: String,
    /// The type of its values in a row, with `| null` where the column may be NULL.
    pub ty: String,
    /// The properties of what the definition says of the column.
    pub properties: Vec<Property>,
}

template_object!(ColumnCode { about, name, key, ty, properties });

/// A property of an object literal.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Property {
    /// Its name.
    pub key: &'static str,
    /// Its value as an expression on one line.
    pub value: String,
    /// The entries, where the value is a list that is written out; else none.
    pub entries: Vec<String>,
}

template_object!(Property { key, value, entries });

impl Target for TypeScript {
    fn id(&self) -> &'static str {
        "typescript"
    }

    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>> {
        let file = SchemaFile { header: context.header.clone(), tables: tables(context.catalog) };
        let content = context.templates.render(SCHEMA, &file)?;
        let mut files = vec![GeneratedFile { path: "typescript/schema.ts".to_owned(), content }];
        if let Some(file) = events::file(context) {
            let content = context.templates.render(EVENTS, &file)?;
            files.push(GeneratedFile { path: "typescript/events.ts".to_owned(), content });
        }
        Ok(files)
    }

    fn folders(&self, _: &[&'static dyn Dialect]) -> Vec<String> {
        vec!["typescript".to_owned()]
    }

    #[cfg(feature = "schema")]
    fn contexts(&self) -> Vec<TemplateContext> {
        vec![TemplateContext::of::<SchemaFile>(SCHEMA), TemplateContext::of::<EventsFile>(EVENTS)]
    }
}

fn tables(catalog: &Catalog) -> Vec<TableCode> {
    let mut names = Names::new();
    // All tables before all sets of values, so that a new ENUM renames no table.
    let tables: Vec<_> = catalog.tables.iter().map(|table| (table, names.table(&table.name.to_string()))).collect();
    tables.into_iter().map(|(table, own)| describe(table, model::origin(catalog, table), own, &mut names)).collect()
}

fn describe(table: &Table, origin: &Table, own: TableNames, names: &mut Names) -> TableCode {
    let unions = Unions::new(table, origin, &own, names);
    let columns = table.columns.iter().enumerate();
    TableCode {
        title: code(&table.name.to_string()),
        about: table.description.as_deref().map(comment).unwrap_or_default(),
        key: key(&table.name.to_string()),
        properties: table_properties(table, &own, &unions),
        columns: columns.map(|(at, column)| describe_column(origin, column, unions.of_column(at))).collect(),
        unions: unions.into_vec(),
        constant: own.constant,
        columns_constant: own.columns,
        row: own.row,
    }
}

fn table_properties(table: &Table, own: &TableNames, unions: &Unions) -> Vec<Property> {
    let names = |positions: &[usize]| table.names(positions).map(literal).collect();
    let scope = table.claim.iter().flat_map(|claim| &claim.scope).map(|column| literal(column));
    let archive_of = table.archive_of.as_ref().map(ToString::to_string);
    let texts = [
        ("tableType", table.table_type.as_deref()),
        ("category", table.category.as_deref()),
        ("description", table.description.as_deref()),
        ("owner", table.owner.as_deref()),
        ("archiveOf", archive_of.as_deref()),
    ];
    let mut properties = vec![Property::text("name", &table.name.to_string())];
    properties.extend(texts.into_iter().filter_map(|(key, text)| Some(Property::text(key, text?))));
    properties.push(Property::code("columnNames", &own.columns));
    properties.push(Property::list("primaryKey", names(&table.primary_key)));
    properties.push(Property::list("scope", scope.collect()));
    properties.extend(unions.events.as_ref().map(|union| Property::code("eventTypes", &union.list)));
    properties
}

fn describe_column(origin: &Table, column: &Column, union: Option<&Union>) -> ColumnCode {
    let (ty, meta) = types(origin, column);
    let ty = union.map_or(ty, |union| &union.ty);
    let label = column.label.as_deref().map(comment).unwrap_or_default();
    let description = column.description.as_deref().map(comment).unwrap_or_default();
    let between = (!label.is_empty() && !description.is_empty()).then(String::new);
    ColumnCode {
        about: label.into_iter().chain(between).chain(description).collect(),
        name: literal(&column.name),
        key: key(&column.name),
        ty: if column.nullable { format!("{ty} | null") } else { ty.to_owned() },
        properties: column_properties(column, meta, union),
    }
}

fn column_properties(column: &Column, meta: &str, union: Option<&Union>) -> Vec<Property> {
    let texts = [
        ("label", column.label.as_deref()),
        ("description", column.description.as_deref()),
        ("logicalType", column.logical_type.as_deref()),
    ];
    let mut properties = vec![Property::text("name", &column.name), Property::text("type", meta)];
    properties.push(Property::code("nullable", if column.nullable { "true" } else { "false" }));
    properties.extend(texts.into_iter().filter_map(|(key, text)| Some(Property::text(key, text?))));
    if !column.reference_to.is_empty() {
        properties
            .push(Property::list("referenceTo", column.reference_to.iter().map(|table| literal(table)).collect()));
    }
    for (key, is) in [("isNameField", column.is_name_field), ("isSystem", column.is_system)] {
        properties.extend(is.then(|| Property::code(key, "true")));
    }
    properties.extend(union.map(|union| Property::code("values", &union.list)));
    properties
}

/// The type of the column's values in a row, and the name of it that the program can read.
fn types(origin: &Table, column: &Column) -> (&'static str, &'static str) {
    match model::form(origin, column) {
        Form::Boolean => ("boolean", "boolean"),
        Form::Number if origin.holds_epoch_ms(column) => ("EpochMillis", "epochMillis"),
        Form::Number => ("number", "number"),
        Form::BigInt => ("BigIntString", "bigint"),
        Form::Decimal => ("DecimalString", "decimal"),
        Form::Text => ("string", "string"),
        Form::Hex => ("HexString", "hex"),
        Form::Date => ("DateString", "date"),
        Form::Time => ("TimeString", "time"),
        Form::Utc => ("UtcString", "utc"),
        Form::Json => ("JsonValue", "json"),
    }
}

impl Property {
    fn code(key: &'static str, value: &str) -> Property {
        Property { key, value: value.to_owned(), entries: Vec::new() }
    }

    fn text(key: &'static str, text: &str) -> Property {
        Property { key, value: literal(text), entries: Vec::new() }
    }

    fn list(key: &'static str, entries: Vec<String>) -> Property {
        Property { key, value: format!("[{}]", entries.join(", ")), entries }
    }
}
