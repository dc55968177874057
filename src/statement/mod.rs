//! Catalog → SQL statements, each with the object that it makes.

mod comment;
pub mod grant;
mod index;
pub mod query;
mod table;

pub use index::add as add_index;

use crate::diagnostic::Diagnostic;
use crate::dialect::{Dialect, Needs};
use crate::schema::check::is_allowed;
use crate::schema::names::{self, TableNames};
use crate::schema::{Catalog, Column, ColumnType, Table, TableName, order, rules};
use crate::workload;

/// One SQL statement without its semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statement {
    /// What it makes.
    pub kind: Kind,
    /// The name of what it makes, as it stands in the database: **not** quoted. Empty for a setting.
    pub name: String,
    /// The statement without its semicolon.
    pub sql: String,
}

/// What a statement makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "snake_case"))]
pub enum Kind {
    /// A setting of the session, or its restoration.
    Setting,
    /// A database (schema).
    Database,
    /// A table with everything that stands inside `CREATE TABLE`.
    Table,
    /// An index.
    Index,
    /// A comment.
    Comment,
    /// A foreign key that had to wait for its table.
    ForeignKey,
}

impl Kind {
    /// The word by which templates know it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Setting => "setting",
            Kind::Database => "database",
            Kind::Table => "table",
            Kind::Index => "index",
            Kind::Comment => "comment",
            Kind::ForeignKey => "foreign_key",
        }
    }
}

/// All statements that make a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Settings and databases.
    pub before: Vec<Statement>,
    /// The tables, in an order in which they can be created.
    pub tables: Vec<TableScript>,
    /// Foreign keys of circles, and settings put back.
    pub after: Vec<Statement>,
}

/// All statements that make one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableScript {
    /// Position in [`Catalog::tables`].
    pub table: usize,
    /// The statements.
    pub statements: Vec<Statement>,
}

/// What statements about one table need.
struct Context<'a> {
    dialect: &'a dyn Dialect,
    table: &'a Table,
    names: &'a TableNames,
    /// Positions of foreign keys that wait until all tables exist.
    deferred: Vec<usize>,
}

impl Context<'_> {
    /// The table, quoted, with its database.
    fn table_name(&self) -> String {
        quoted(self.dialect, &self.table.name)
    }
}

/// The table's name, quoted, with its database.
pub fn quoted(dialect: &dyn Dialect, name: &TableName) -> String {
    let table = dialect.ident(&name.name);
    match &name.database {
        Some(database) => format!("{}.{table}", dialect.ident(database)),
        None => table,
    }
}

/// The statements that make the catalog, with the indexes of its workload, on one database. They can be run again: what exists stays as it is.
pub fn schema(catalog: &Catalog, dialect: &dyn Dialect) -> Script {
    let catalog = &workload::indexed(catalog, dialect.engine());
    let names = names::assign(catalog, dialect.engine());
    let order = order::order(catalog);
    let mut script = Script::default();
    for at in &order.tables {
        let deferred = order.deferred.iter().filter(|(table, _)| table == at).map(|(_, key)| *key).collect();
        let context = Context { dialect, table: &catalog.tables[*at], names: &names[*at], deferred };
        let mut statements = vec![table::create(&context)];
        statements.extend(index::create_all(&context));
        statements.extend(comment::create_all(&context));
        script.tables.push(TableScript { table: *at, statements });
        script.after.extend(table::deferred_foreign_keys(&context));
    }
    let frame = dialect.frame(&needs(catalog, &script, !order.deferred.is_empty()));
    let setting = |sql| Statement { kind: Kind::Setting, name: String::new(), sql };
    script.before.extend(frame.before.into_iter().map(setting));
    script.before.extend(databases(catalog, dialect));
    script.after.extend(frame.after.into_iter().map(setting));
    script
}

fn needs(catalog: &Catalog, script: &Script, circular: bool) -> Needs {
    let statements = || script.tables.iter().flat_map(|table| &table.statements);
    let bare =
        |column: &Column| matches!(column.ty, ColumnType::Timestamp(_)) && !column.nullable && column.default.is_none();
    Needs {
        backslash: statements().any(|statement| statement.sql.contains('\\')),
        beyond_ascii: statements().any(|statement| !statement.sql.is_ascii()),
        circular,
        bare_timestamp: catalog.tables.iter().flat_map(|table| &table.columns).any(bare),
    }
}

fn databases(catalog: &Catalog, dialect: &dyn Dialect) -> Vec<Statement> {
    let named: std::collections::BTreeSet<&String> =
        catalog.tables.iter().filter_map(|table| table.name.database.as_ref()).collect();
    let create = |name: &String| {
        let sql = dialect.create_database(name)?;
        Some(Statement { kind: Kind::Database, name: name.clone(), sql })
    };
    named.into_iter().filter_map(create).collect()
}

/// A text as lines that can stand behind `--`.
pub fn comment_lines(text: &str) -> Vec<String> {
    comment::lines(Some(text))
}

/// How the database holds the catalog in another way than its definition says: one finding for each way, at the first of
/// its columns.
pub fn differences(catalog: &Catalog, dialect: &dyn Dialect) -> Vec<Diagnostic> {
    let title = dialect.engine().title;
    let mut ways: Vec<(String, Diagnostic, Vec<String>)> = Vec::new();
    for table in catalog.tables.iter().filter(|table| table.archive_of.is_none()) {
        for (at, column) in table.columns.iter().enumerate() {
            let in_key =
                table.primary_key.contains(&at) || table.indexes.iter().any(|index| index.columns.contains(&at));
            let Some(difference) = dialect.difference(column, in_key) else { continue };
            let name = format!("{}.{}", table.name, column.name);
            let finding = Diagnostic::new(&rules::ENGINE_DIFFERENCE, column.site.at("type"), "");
            if is_allowed(table, &finding) {
                continue;
            }
            match ways.iter_mut().find(|(way, _, _)| *way == difference) {
                Some((_, _, names)) => names.push(name),
                None => ways.push((difference, finding, vec![name])),
            }
        }
    }
    let finish = |(way, mut finding, names): (String, Diagnostic, Vec<String>)| {
        finding.message = match names.len() {
            1 => format!("on {title} {way}: `{}`", names[0]),
            count => format!("on {title} {way}: {count} columns, the first is `{}`", names[0]),
        };
        finding
    };
    let mut findings: Vec<Diagnostic> = ways.into_iter().map(finish).collect();
    let with_foreign_key = catalog.tables.iter().find(|table| !table.foreign_keys.is_empty());
    if let Some(table) = with_foreign_key.filter(|_| !dialect.engine().enforces_foreign_keys) {
        let message = format!("on {title} foreign keys are enforced only on connections that ask for it");
        let finding = Diagnostic::new(&rules::ENGINE_DIFFERENCE, table.foreign_keys[0].site.place(), message);
        let finding = finding.help("run `PRAGMA foreign_keys = ON` on every connection, as sqlx does by itself");
        findings.extend(Some(finding).filter(|finding| !is_allowed(table, finding)));
    }
    findings
}
