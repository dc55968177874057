//! What is known of tables: from definitions, from DDL in the linted files, and from names.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::{Catalog, Column, ColumnType, Index, IndexOrigin, Predicate, Site, Table, TableName};
use crate::sql::ast::{Comparison, ExprKind};
use crate::sql::ddl::{self, Change, Ddl};

use super::Options;
use super::roles::{self, Roles};

/// A table that statements may be about.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its columns and indexes.
    pub table: Table,
    /// What its columns are for.
    pub roles: Roles,
    /// Columns that every claim must pin, in lower case.
    pub scope: Vec<String>,
    /// Workers take rows from it.
    pub queue: bool,
    /// It has a definition.
    pub defined: bool,
    /// All its columns are known.
    pub columns_known: bool,
    /// All its indexes are known, and what each of them serves.
    pub indexes_known: bool,
    /// What DDL says of its columns and definitions cannot say.
    pub traits: Traits,
}

/// Names of columns, in lower case, of which DDL says something that definitions cannot say.
#[derive(Clone, Debug, Default)]
pub struct Traits {
    /// They become the time of each change.
    pub touched: BTreeSet<String>,
    /// They are computed from others.
    pub computed: BTreeSet<String>,
    /// Their types were not understood.
    pub untyped: BTreeSet<String>,
}

impl Traits {
    fn learn(&mut self, column: &ddl::Column, typed: bool) {
        let name = column.name.to_lowercase();
        let sets = [
            (&mut self.touched, column.touched_by_updates),
            (&mut self.computed, column.computed),
            (&mut self.untyped, !typed),
        ];
        for (set, is) in sets {
            match is {
                true => _ = set.insert(name.clone()),
                false => _ = set.remove(&name),
            }
        }
    }
}

/// All tables by their names in lower case.
#[derive(Debug, Default)]
pub struct Tables {
    known: BTreeMap<String, Known>,
    defined: Vec<String>,
}

impl Tables {
    /// The tables of the definitions.
    pub fn of(catalog: &Catalog, options: &Options) -> Tables {
        let mut tables = Tables::default();
        for table in catalog.tables.iter().chain(&options.foreign.tables) {
            let name = table.name.name.to_lowercase();
            // A project's own table hides one of the same name elsewhere.
            if tables.known.contains_key(&name) && !catalog.tables.iter().any(|own| std::ptr::eq(own, table)) {
                continue;
            }
            let claim = table.claim.as_ref();
            let scope = match claim {
                Some(claim) if claim.global => Vec::new(),
                Some(claim) if !claim.scope.is_empty() => claim.scope.iter().map(|name| name.to_lowercase()).collect(),
                _ => default_scope(table, options),
            };
            let named = claim.is_none() && table.inbox.is_none() && table.archive_of.is_none();
            let queue = claim.is_some() || named && roles::named_like_a_queue(&name, &options.queue_tables);
            let known = Known {
                roles: roles::of(table),
                scope,
                queue,
                defined: true,
                columns_known: true,
                indexes_known: true,
                traits: Traits::default(),
                table: table.clone(),
            };
            tables.defined.push(name.clone());
            tables.known.insert(name, known);
        }
        tables
    }

    /// The table of this name.
    pub fn get(&self, name: &str) -> Option<&Known> {
        self.known.get(&name.to_lowercase())
    }

    /// Names of the tables that definitions make.
    pub fn defined(&self) -> &[String] {
        &self.defined
    }

    /// Learns from a statement about a table. Tables with definitions are what these say.
    pub fn learn(&mut self, ddl: &Ddl, options: &Options) {
        let mut name = ddl.table.to_lowercase();
        if name.is_empty() {
            return self.drop_index(ddl);
        }
        for change in &ddl.changes {
            if self.known.get(&name).is_some_and(|known| known.defined) {
                return;
            }
            match change {
                Change::Create => {
                    // `IF NOT EXISTS` and dumps repeat a table: the later one wins.
                    self.known.insert(name.clone(), Known::bare(&ddl.table, options));
                }
                Change::Like(other) => {
                    let like = self.get(other).cloned();
                    if let (Some(mut like), Some(known)) = (like, self.known.get_mut(&name)) {
                        like.table.name = known.table.name.clone();
                        (like.queue, like.defined) = (known.queue, false);
                        *known = like;
                    }
                }
                Change::Drop => _ = self.known.remove(&name),
                Change::Rename(to) => {
                    if let Some(mut known) = self.known.remove(&name) {
                        known.table.name = TableName::parse(to);
                        name = to.to_lowercase();
                        known.queue = roles::named_like_a_queue(&name, &options.queue_tables);
                        self.known.insert(name.clone(), known);
                    }
                }
                change => {
                    let known = self.known.get_mut(&name);
                    known.into_iter().for_each(|known| known.learn(change, options));
                }
            }
        }
    }

    fn drop_index(&mut self, ddl: &Ddl) {
        for change in &ddl.changes {
            if let Change::DropIndex(index) = change {
                self.known.values_mut().filter(|known| !known.defined).for_each(|known| known.drop_index(index));
            }
        }
    }
}

fn default_scope(table: &Table, options: &Options) -> Vec<String> {
    let has = |scope: &&String| table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(scope));
    options.scope.iter().filter(has).map(|scope| scope.to_lowercase()).collect()
}

impl Known {
    /// A table of which nothing but the name is known.
    pub fn bare(name: &str, options: &Options) -> Known {
        Known {
            table: Table {
                name: TableName { database: None, name: name.to_owned() },
                table_type: None,
                category: None,
                description: None,
                owner: None,
                renamed_from: None,
                columns: Vec::new(),
                primary_key: Vec::new(),
                indexes: Vec::new(),
                foreign_keys: Vec::new(),
                claim: None,
                retention: None,
                publish: None,
                bus: None,
                inbox: None,
                metrics: None,
                allow: BTreeMap::new(),
                archive_of: None,
                claim_draft: None,
                broken: Vec::new(),
                site: Site::default(),
            },
            roles: Roles::default(),
            scope: Vec::new(),
            queue: roles::named_like_a_queue(name, &options.queue_tables),
            defined: false,
            columns_known: false,
            indexes_known: false,
            traits: Traits::default(),
        }
    }

    /// Position of the column, whatever its case.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    fn learn(&mut self, change: &Change, options: &Options) {
        match change {
            Change::Column(column) => self.column(column),
            Change::DropColumn(name) => {
                // Positions in keys would shift: the name goes, the place stays.
                if let Some(at) = self.position(name) {
                    self.table.columns[at].name = String::new();
                    self.table.indexes.retain(|index| !index.columns.contains(&at));
                }
            }
            Change::RenameColumn(before, after) => {
                if let Some(at) = self.position(before) {
                    self.table.columns[at].name.clone_from(after);
                }
            }
            Change::PrimaryKey(parts) => {
                let columns: Option<Vec<usize>> =
                    parts.iter().map(|part| self.position(part.column.as_deref()?)).collect();
                self.table.primary_key = columns.unwrap_or_default();
            }
            Change::Index(index) => self.index(index),
            Change::DropIndex(name) => self.drop_index(name),
            Change::Create | Change::Like(_) | Change::Drop | Change::Rename(_) => {}
        }
        self.scope = default_scope(&self.table, options);
    }

    fn drop_index(&mut self, name: &str) {
        self.table.indexes.retain(|index| index.name.as_deref().is_none_or(|own| !own.eq_ignore_ascii_case(name)));
    }

    fn column(&mut self, column: &ddl::Column) {
        self.columns_known = true;
        self.indexes_known |= self.table.columns.is_empty();
        let ty = ColumnType::parse(&column.type_text);
        self.traits.learn(column, ty.is_ok());
        let made = Column {
            name: column.name.clone(),
            ty: ty.unwrap_or(ColumnType::Varchar(255)),
            nullable: column.nullable,
            default: None,
            auto_increment: column.numbered,
            numbered: column.numbered,
            key_length: None,
            label: None,
            description: None,
            logical_type: None,
            reference_to: Vec::new(),
            is_name_field: false,
            is_system: false,
            binary: false,
            collation: None,
            renamed_from: None,
            site: Site::default(),
        };
        let at = match self.position(&column.name) {
            Some(at) => {
                self.table.columns[at] = made;
                at
            }
            None => {
                self.table.columns.push(made);
                self.table.columns.len() - 1
            }
        };
        if column.primary {
            self.table.primary_key = vec![at];
        }
        if column.unique {
            self.table.indexes.push(plain(None, vec![at], true, None));
        }
    }

    fn index(&mut self, index: &ddl::Index) {
        let columns: Option<Vec<usize>> = index
            .parts
            .iter()
            .map(|part| self.position(part.column.as_deref()?).filter(|_| !part.descending && !part.prefix))
            .collect();
        let predicate = index.predicate.as_ref().map(|predicate| self.predicate(predicate));
        match (columns, predicate) {
            (Some(columns), None) => {
                self.table.indexes.push(plain(index.name.clone(), columns, index.unique, None));
            }
            (Some(columns), Some(Some(predicate))) => {
                self.table.indexes.push(plain(index.name.clone(), columns, index.unique, Some(predicate)));
            }
            // Expressions, descending parts, other predicates: what the index serves is not known.
            _ => {
                self.indexes_known = false;
                self.table.indexes.push(plain(index.name.clone(), Vec::new(), false, None));
            }
        }
    }

    /// `column = 'value'`.
    fn predicate(&self, expr: &crate::sql::Expr) -> Option<Predicate> {
        let ExprKind::Compare(Comparison::Equal, left, right) = &expr.kind else { return None };
        let (ExprKind::Column { name, .. }, ExprKind::Text(value) | ExprKind::Number(value)) =
            (&left.kind, &right.kind)
        else {
            return None;
        };
        Some(Predicate { column: self.position(name)?, value: value.clone() })
    }
}

fn plain(name: Option<String>, columns: Vec<usize>, unique: bool, predicate: Option<Predicate>) -> Index {
    Index { name, columns, unique, origin: IndexOrigin::Declared, predicate, description: None, site: Site::default() }
}
