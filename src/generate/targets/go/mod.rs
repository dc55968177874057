//! `go/tables.go`: names, row structs, closed sets of values; `go/events.go`: the events that tables carry. One package,
//! the same whatever the databases are, that needs the standard library only.

mod events;
mod names;
mod text;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::generate::model::{self, Choice, Form};
use crate::output::GeneratedFile;
use crate::schema::{Catalog, Column, ColumnType, Table, quoted};
use crate::template::template_object;

use super::super::{Context, Header};
use super::Target;
#[cfg(feature = "schema")]
use super::TemplateContext;
use names::{Names, exported, words};
use text::{comment, tag};

pub use events::{EventCode, EventsFile, SelectorCode, TableEvents, TypeCode};

/// Go files.
pub struct Go;

const TABLES: &str = "go/tables.go.jinja";
const EVENTS: &str = "go/events.go.jinja";

/// One file, whatever the databases are: `go/tables.go`. Names are exported identifiers of which none is given twice in the
/// package; `Hex`, `UTC`, `Decimal`, `Date`, `TimeOfDay` and those of `go/events.go` are kept for the templates themselves.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TablesFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// Some column holds JSON, bytes or a time in UTC.
    pub uses_json: bool,
    /// Some column holds bytes.
    pub uses_hex: bool,
    /// Some column holds a time in UTC.
    pub uses_utc: bool,
    /// The tables, in the order of the definitions.
    pub tables: Vec<TableCode>,
}

template_object!(TablesFile { header, uses_json, uses_hex, uses_utc, tables });

/// One table.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableCode {
    /// The table's name, fit for a comment.
    pub title: String,
    /// The description as one line, fit for a comment; the empty text where there is none.
    pub about: String,
    /// The constants of its name and, where the definition says so, of its owner and of the table whose archive it is.
    pub constants: Vec<Constant>,
    /// The constants of the names of its columns, in their order.
    pub columns: Vec<Constant>,
    /// The lists of columns: all, and those of the primary key and the scope where there are such.
    pub lists: Vec<ListCode>,
    /// The closed sets of values: states and members of ENUM.
    pub choices: Vec<ChoiceCode>,
    /// Name of the row struct, such as `WalletOutboxRow`.
    pub row: String,
    /// The fields of the row struct, one for each column.
    pub fields: Vec<FieldCode>,
}

template_object!(TableCode { title, about, constants, columns, lists, choices, row, fields });

/// A constant.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Constant {
    /// What it is, fit for a comment behind the name; the empty text where the block says it.
    pub about: String,
    /// The name.
    pub name: String,
    /// The name with blanks behind it, as wide as the widest of its block.
    pub padded: String,
    /// The value as a literal.
    pub value: String,
}

template_object!(Constant { about, name, padded, value });

/// A list of columns.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListCode {
    /// What it is, fit for a comment behind the name.
    pub about: String,
    /// The name.
    pub name: String,
    /// The constants of the columns.
    pub items: Vec<String>,
}

template_object!(ListCode { about, name, items });

/// A closed set of values.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChoiceCode {
    /// What a value is, fit for a comment behind the name.
    pub about: String,
    /// Name of the type, such as `WalletOutboxStatus`.
    pub ty: String,
    /// Name of the list of all values, such as `WalletOutboxStatuses`.
    pub list: String,
    /// The values.
    pub values: Vec<Constant>,
}

template_object!(ChoiceCode { about, ty, list, values });

/// A field of a struct.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldCode {
    /// The name.
    pub name: String,
    /// What it is, fit for a comment behind the name.
    pub about: String,
    /// The type.
    pub ty: String,
    /// The struct tag with its backticks.
    pub tag: String,
}

template_object!(FieldCode { name, about, ty, tag });

impl Target for Go {
    fn id(&self) -> &'static str {
        "go"
    }

    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>> {
        let mut names = Names::of_package();
        let tables = tables(context.catalog, &mut names);
        let uses = |form: Form| forms(context.catalog).any(|found| found == form);
        let (uses_hex, uses_utc) = (uses(Form::Hex), uses(Form::Utc));
        let uses_json = uses(Form::Json) || uses_utc;
        let file = TablesFile { header: context.header.clone(), uses_json, uses_hex, uses_utc, tables };
        let mut files =
            vec![GeneratedFile { path: "go/tables.go".to_owned(), content: context.templates.render(TABLES, &file)? }];
        if let Some(file) = events::file(context, &mut names) {
            let content = context.templates.render(EVENTS, &file)?;
            files.push(GeneratedFile { path: "go/events.go".to_owned(), content });
        }
        Ok(files)
    }

    fn folders(&self, _: &[&'static dyn Dialect]) -> Vec<String> {
        vec!["go".to_owned()]
    }

    #[cfg(feature = "schema")]
    fn contexts(&self) -> Vec<TemplateContext> {
        vec![TemplateContext::of::<TablesFile>(TABLES), TemplateContext::of::<EventsFile>(EVENTS)]
    }
}

fn forms(catalog: &Catalog) -> impl Iterator<Item = Form> {
    let of = |table| {
        let origin = model::origin(catalog, table);
        table.columns.iter().map(move |column| model::form(origin, column))
    };
    catalog.tables.iter().flat_map(of)
}

/// What the names of a table's declarations begin with, and those that every table has.
struct TableNames {
    base: String,
    table: String,
    columns: String,
    row: String,
}

fn tables(catalog: &Catalog, names: &mut Names) -> Vec<TableCode> {
    // All tables before all columns and values, so that a new column renames no table.
    let tables: Vec<_> = catalog
        .tables
        .iter()
        .map(|table| {
            let fixed = |base: &str| [format!("{base}Table"), format!("{base}Columns"), format!("{base}Row")];
            let (base, [name, columns, row]) = names.base(&table.name.to_string(), fixed);
            (table, TableNames { base, table: name, columns, row })
        })
        .collect();
    tables.into_iter().map(|(table, own)| describe(table, model::origin(catalog, table), own, names)).collect()
}

fn describe(table: &Table, origin: &Table, own: TableNames, names: &mut Names) -> TableCode {
    let title = comment(&table.name.to_string());
    let base = &own.base;
    let constants = constants(table, &own, names);
    let column = |column: &Column| {
        (names.take(&format!("{base}Column{}", exported(&column.name, "Column"))), quoted(&column.name))
    };
    let columns = block(table.columns.iter().map(column).collect());
    let lists = lists(table, &own, &columns, names);
    let (choices, types) = choices(table, origin, base, names);
    let mut fields = Names::of_struct();
    let field = |(at, column): (usize, &Column)| {
        let choice = types.iter().find(|(column, _)| *column == at).map(|(_, ty)| &**ty);
        field(origin, column, choice, &mut fields)
    };
    TableCode {
        title,
        about: table.description.as_deref().map(comment).unwrap_or_default(),
        fields: table.columns.iter().enumerate().map(field).collect(),
        constants,
        columns,
        lists,
        choices,
        row: own.row,
    }
}

fn constants(table: &Table, own: &TableNames, names: &mut Names) -> Vec<Constant> {
    let title = comment(&table.name.to_string());
    let base = &own.base;
    let one = |about: String, name: String, value: String| Constant { about, padded: name.clone(), name, value };
    let mut constants =
        vec![one("is the name of the table.".to_owned(), own.table.clone(), quoted(&table.name.to_string()))];
    if let Some(owner) = &table.owner {
        let about = format!("is the only service that may scan {title}.");
        constants.push(one(about, names.take(&format!("{base}Owner")), quoted(owner)));
    }
    if let Some(archived) = &table.archive_of {
        let about = format!("is the table whose finished rows {title} takes.");
        constants.push(one(about, names.take(&format!("{base}ArchiveOf")), quoted(&archived.to_string())));
    }
    constants
}

fn lists(table: &Table, own: &TableNames, columns: &[Constant], names: &mut Names) -> Vec<ListCode> {
    let title = comment(&table.name.to_string());
    let base = &own.base;
    let of = |positions: &[usize]| positions.iter().map(|at| columns[*at].name.clone()).collect::<Vec<_>>();
    let all = columns.iter().map(|column| column.name.clone()).collect();
    let mut lists = vec![ListCode {
        about: format!("are the columns of {title}, in their order."),
        name: own.columns.clone(),
        items: all,
    }];
    let claim = table.claim.iter();
    let scope: Vec<usize> = claim.flat_map(|claim| &claim.scope).filter_map(|name| table.position(name)).collect();
    for (word, about, positions) in [
        ("PrimaryKey", "is the primary key of", &table.primary_key),
        ("Scope", "are the columns that every claim pins of", &scope),
    ] {
        if !positions.is_empty() {
            let name = names.take(&format!("{base}{word}"));
            lists.push(ListCode { about: format!("{about} {title}."), name, items: of(positions) });
        }
    }
    lists
}

/// The closed sets of values, and their types by the positions of their columns.
fn choices(table: &Table, origin: &Table, base: &str, names: &mut Names) -> (Vec<ChoiceCode>, Vec<(usize, String)>) {
    let title = comment(&table.name.to_string());
    let mut types = Vec::new();
    let mut code = Vec::new();
    for Choice { column, values, is_status } in model::choices(origin) {
        let name = &table.columns[column].name;
        let (one, all, about) = match is_status {
            true => ("Status".to_owned(), "Statuses".to_owned(), format!("is the state of a row of {title}.")),
            false => {
                let words = exported(name, "Column");
                (words.clone(), format!("{words}Values"), format!("is a value of {} of {title}.", comment(name)))
            }
        };
        let ty = names.take(&format!("{base}{one}"));
        let list = names.take(&format!("{base}{all}"));
        let value = |value: &String| (names.take(&format!("{ty}{}", part(value))), quoted(value));
        let values = block(values.iter().map(value).collect());
        types.push((column, ty.clone()));
        code.push(ChoiceCode { about, ty, list, values });
    }
    (code, types)
}

/// A value as the end of a name.
fn part(value: &str) -> String {
    match words(value) {
        words if words.is_empty() => "Value".to_owned(),
        words => words,
    }
}

/// Constants of one block, by their names and values.
fn block(constants: Vec<(String, String)>) -> Vec<Constant> {
    // gofmt counts characters, whatever their width.
    let width = constants.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let constant = |(name, value): (String, String)| Constant {
        about: String::new(),
        padded: format!("{name:width$}"),
        name,
        value,
    };
    constants.into_iter().map(constant).collect()
}

fn field(origin: &Table, column: &Column, choice: Option<&str>, names: &mut Names) -> FieldCode {
    let (ty, options) = match choice {
        Some(ty) => (ty.to_owned(), ""),
        None => types(origin, column),
    };
    // A nil json.RawMessage is null already.
    let pointer = if column.nullable && ty != "json.RawMessage" { "*" } else { "" };
    let texts = [column.label.as_deref(), column.description.as_deref()];
    let texts = texts.into_iter().flatten().map(comment).filter(|text| !text.is_empty());
    let (tag, lost) = match tag(&column.name, options) {
        Some(tag) => (tag, None),
        // A lie about the key would be worse than none.
        None => ("`json:\"-\"`".to_owned(), Some("encoding/json cannot hold this name.".to_owned())),
    };
    let head = format!("is the column {}.", comment(&column.name));
    FieldCode {
        name: names.take(&exported(&column.name, "Column")),
        about: [head].into_iter().chain(texts).chain(lost).collect::<Vec<_>>().join(" "),
        ty: format!("{pointer}{ty}"),
        tag,
    }
}

/// The type of the column's values in a row, and the options of its tag.
fn types(origin: &Table, column: &Column) -> (String, &'static str) {
    let sign = |unsigned: bool| if unsigned { "u" } else { "" };
    let ty = match (model::form(origin, column), &column.ty) {
        (Form::BigInt, ColumnType::Int { unsigned, .. }) => return (format!("{}int64", sign(*unsigned)), ",string"),
        (Form::Number, ColumnType::Int { bytes: 3, unsigned }) => return (format!("{}int32", sign(*unsigned)), ""),
        (Form::Number, ColumnType::Int { bytes, unsigned }) => {
            return (format!("{}int{}", sign(*unsigned), 8 * bytes), "");
        }
        (Form::Number, ColumnType::Float) => "float32",
        (Form::Number, _) => "float64",
        (Form::Boolean, _) => "bool",
        (Form::Decimal, _) => "Decimal",
        (Form::BigInt | Form::Text, _) => "string",
        (Form::Hex, _) => "Hex",
        (Form::Date, _) => "Date",
        (Form::Time, _) => "TimeOfDay",
        (Form::Utc, _) => "UTC",
        (Form::Json, _) => "json.RawMessage",
    };
    (ty.to_owned(), "")
}
