//! `sql/<dialect>/schema.sql`: DDL that can be run on an empty and on a full database.

use serde::Serialize;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::output::GeneratedFile;
use crate::schema::Table;
use crate::statement::{self, Statement};

use super::super::{Context, Header};
use super::Target;

/// SQL files.
pub struct Sql;

/// What `sql/schema.sql.jinja` gets. Version 1.
#[derive(Debug, Serialize)]
pub struct SchemaFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// The database.
    pub dialect: DialectName,
    /// Settings and databases, before all tables.
    pub before: Vec<Statement>,
    /// The tables, in an order in which they can be created.
    pub tables: Vec<TableStatements>,
    /// Foreign keys of circles and settings put back, after all tables.
    pub after: Vec<Statement>,
}

/// A database, by its names.
#[derive(Debug, Serialize)]
pub struct DialectName {
    /// As in paths.
    pub id: &'static str,
    /// As in texts.
    pub title: &'static str,
}

/// One table's statements.
#[derive(Debug, Serialize)]
pub struct TableStatements {
    /// The table's name, fit for a line comment.
    pub title: String,
    /// The description, one entry a line, fit for line comments.
    pub about: Vec<String>,
    /// `CREATE TABLE`, indexes and comments.
    pub statements: Vec<Statement>,
}

impl Target for Sql {
    fn id(&self) -> &'static str {
        "sql"
    }

    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>> {
        context.dialects.iter().map(|dialect| schema(context, *dialect)).collect()
    }

    fn folders(&self, dialects: &[&'static dyn Dialect]) -> Vec<String> {
        dialects.iter().map(|dialect| folder(*dialect)).collect()
    }
}

fn folder(dialect: &dyn Dialect) -> String {
    format!("sql/{}", dialect.engine().id)
}

fn schema(context: &Context<'_>, dialect: &dyn Dialect) -> Result<GeneratedFile> {
    let script = statement::schema(context.catalog, dialect);
    let engine = dialect.engine();
    let file = SchemaFile {
        header: context.header.clone(),
        dialect: DialectName { id: engine.id, title: engine.title },
        before: script.before,
        tables: script
            .tables
            .into_iter()
            .map(|table| describe(&context.catalog.tables[table.table], table.statements))
            .collect(),
        after: script.after,
    };
    let content = context.templates.render("sql/schema.sql.jinja", &file)?;
    Ok(GeneratedFile { path: format!("{}/schema.sql", folder(dialect)), content })
}

fn describe(table: &Table, statements: Vec<Statement>) -> TableStatements {
    TableStatements {
        title: statement::comment_lines(&table.name.to_string()).join(" "),
        about: table.description.as_deref().map(statement::comment_lines).unwrap_or_default(),
        statements,
    }
}
