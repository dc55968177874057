//! `sql/<dialect>/schema.sql`: DDL that can be run on an empty and on a full database; and
//! `sql/<dialect>/queries/<table>.sql`: the statements of each table's workload; and `sql/<dialect>/grants.sql`: which
//! service may read and change which table.

use crate::dialect::Dialect;
use crate::engine::Roles;
use crate::error::Result;
use crate::output::{self, GeneratedFile};
use crate::schema::Table;
use crate::statement::grant::{self, Owner};
use crate::statement::query::{Parameter, Query, queries};
use crate::statement::{self, Kind, Statement};
use crate::template::{ToValue, object, template_object};

use super::super::{Context, Header};
use super::Target;
#[cfg(feature = "schema")]
use super::TemplateContext;

/// SQL files.
pub struct Sql;

const SCHEMA: &str = "sql/schema.sql.jinja";
const QUERIES: &str = "sql/queries.sql.jinja";
const GRANTS: &str = "sql/grants.sql.jinja";

/// One file for each database: `sql/<dialect>/schema.sql`.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchemaFile {
    /// What makes the file known as generated.
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

template_object!(SchemaFile { header, dialect, before, tables, after });

/// A database, by its names.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DialectName {
    /// As in paths: `mysql`.
    pub id: &'static str,
    /// As in texts: `MySQL`.
    pub title: &'static str,
}

template_object!(DialectName { id, title });

/// One table's statements.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableStatements {
    /// The table's name, fit for a line comment.
    pub title: String,
    /// The description, line by line, fit for line comments.
    pub about: Vec<String>,
    /// `CREATE TABLE`, indexes and comments.
    pub statements: Vec<Statement>,
}

template_object!(TableStatements { title, about, statements });

/// One file for each table with a workload and each database: `sql/<dialect>/queries/<table>.sql`.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueriesFile {
    /// What makes the file known as generated.
    pub header: Header,
    /// The database.
    pub dialect: DialectName,
    /// The table's name, fit for a line comment.
    pub title: String,
    /// The statements, in the order of a row's life.
    pub queries: Vec<QueryText>,
}

template_object!(QueriesFile { header, dialect, title, queries });

/// One statement, with everything fit for line comments but its text.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryText {
    /// Unique within the table: `enqueue`, `claim_pending`, `complete` …
    pub name: String,
    /// What it does, line by line, fit for line comments.
    pub about: Vec<String>,
    /// Its parameters, in their order.
    pub parameters: Vec<Parameter>,
    /// The index that it reads, where it does not go by the primary key.
    pub index: Option<String>,
    /// The statement without its semicolon.
    pub sql: String,
}

template_object!(QueryText { name, about, parameters, index, sql });

template_object!(Statement { kind, name, sql });

/// Who may read and change which table: `sql/<dialect>/grants.sql`, for each database that knows roles, where some table has
/// an owner.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrantsFile {
    /// What makes the file known as generated.
    pub header: Header,
    /// The database.
    pub dialect: DialectName,
    /// The services that own tables, in the order of the definitions.
    pub owners: Vec<OwnerText>,
    /// All is one block of code, which happens as a whole or not at all.
    pub is_block: bool,
    /// What is given and taken.
    pub grants: Vec<GrantText>,
}

template_object!(GrantsFile { header, dialect, owners, is_block, grants });

/// A service that owns tables. Everything is fit for a line comment.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnerText {
    /// Its name.
    pub name: String,
    /// A statement that makes its role, as it is called where nobody says otherwise.
    pub create: String,
    /// A statement that calls the role otherwise, run before the file.
    pub set: String,
    /// The role where nobody says otherwise, as it stands in SQL.
    pub role: String,
}

template_object!(OwnerText { name, create, set, role });

/// Statements that belong together.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrantText {
    /// What they do, fit for a line comment.
    pub about: String,
    /// The statements without their semicolons.
    pub statements: Vec<String>,
}

template_object!(GrantText { about, statements });

impl ToValue for Parameter {
    fn to_value(&self) -> minijinja::Value {
        // What it means is for programs; readers have its name.
        let Parameter { placeholder, name, meaning: _ } = self;
        object(vec![("placeholder", placeholder.to_value()), ("name", name.to_value())])
    }
}

impl ToValue for Kind {
    fn to_value(&self) -> minijinja::Value {
        minijinja::Value::from(self.word())
    }
}

impl Target for Sql {
    fn id(&self) -> &'static str {
        "sql"
    }

    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>> {
        let mut files = Vec::new();
        for dialect in context.dialects {
            files.push(schema(context, *dialect)?);
            files.extend(workload(context, *dialect)?);
            files.extend(grants(context, *dialect)?);
        }
        Ok(files)
    }

    fn folders(&self, dialects: &[&'static dyn Dialect]) -> Vec<String> {
        dialects.iter().map(|dialect| folder(*dialect)).collect()
    }

    #[cfg(feature = "schema")]
    fn contexts(&self) -> Vec<TemplateContext> {
        vec![
            TemplateContext::of::<SchemaFile>(SCHEMA),
            TemplateContext::of::<QueriesFile>(QUERIES),
            TemplateContext::of::<GrantsFile>(GRANTS),
        ]
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
    let content = context.templates.render(SCHEMA, &file)?;
    Ok(GeneratedFile { path: format!("{}/schema.sql", folder(dialect)), content })
}

fn workload(context: &Context<'_>, dialect: &dyn Dialect) -> Result<Vec<GeneratedFile>> {
    let engine = dialect.engine();
    let mut files = Vec::new();
    let mut taken = std::collections::BTreeSet::new();
    for table in queries(context.catalog, dialect) {
        let name = context.catalog.tables[table.table].name.to_string();
        let file = QueriesFile {
            header: context.header.clone(),
            dialect: DialectName { id: engine.id, title: engine.title },
            title: line(&name),
            queries: table.queries.into_iter().map(printable).collect(),
        };
        let content = context.templates.render(QUERIES, &file)?;
        let mut stem = output::file_stem(&name);
        while !taken.insert(stem.to_lowercase()) {
            stem.push('_');
        }
        files.push(GeneratedFile { path: format!("{}/queries/{stem}.sql", folder(dialect)), content });
    }
    Ok(files)
}

/// Who may do what, where the database knows that and some table has an owner.
fn grants(context: &Context<'_>, dialect: &dyn Dialect) -> Result<Option<GeneratedFile>> {
    let Some(grants) = grant::grants(context.catalog, dialect) else { return Ok(None) };
    let engine = dialect.engine();
    let owner = |owner: Owner| OwnerText {
        name: line(&owner.name),
        create: line(&owner.create),
        set: line(&owner.set),
        role: line(&owner.role),
    };
    let file = GrantsFile {
        header: context.header.clone(),
        dialect: DialectName { id: engine.id, title: engine.title },
        owners: grants.owners.into_iter().map(owner).collect(),
        is_block: engine.roles == Some(Roles::Settings),
        grants: grants
            .statements
            .into_iter()
            .map(|grant| GrantText { about: line(&grant.about), statements: grant.statements })
            .collect(),
    };
    let content = context.templates.render(GRANTS, &file)?;
    Ok(Some(GeneratedFile { path: format!("{}/grants.sql", folder(dialect)), content }))
}

fn printable(query: Query) -> QueryText {
    let parameters =
        query.parameters.into_iter().map(|parameter| Parameter { name: line(&parameter.name), ..parameter });
    QueryText {
        name: line(&query.name),
        about: query.about.iter().map(|text| line(text)).collect(),
        parameters: parameters.collect(),
        index: query.index.map(|index| line(&index)),
        sql: query.sql,
    }
}

/// A text as one line that can stand behind `--`.
fn line(text: &str) -> String {
    statement::comment_lines(text).join(" ")
}

fn describe(table: &Table, statements: Vec<Statement>) -> TableStatements {
    TableStatements {
        title: line(&table.name.to_string()),
        about: table.description.as_deref().map(statement::comment_lines).unwrap_or_default(),
        statements,
    }
}
