//! Owners → statements that give each its own tables and take them from all others.
//!
//! What an owner's role is called is known only where the statements run, so they are put together there: out of variables
//! that have the owner's name where nobody has set them.

use std::collections::BTreeSet;

use crate::dialect::{Dialect, Needs};
use crate::engine::Roles;
use crate::schema::{Catalog, Table};

use super::quoted;

/// What tables may be asked for by their owners.
const RIGHTS: &str = "SELECT, INSERT, UPDATE, DELETE";

/// All that is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grants {
    /// The owners, in the order of the definitions.
    pub owners: Vec<Owner>,
    /// The statements, without their semicolons.
    pub statements: Vec<Grant>,
}

/// A service that owns tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub name: String,
    /// A statement that makes its role, as it is called where nobody says otherwise.
    pub create: String,
    /// A statement that calls the role otherwise, run before all others.
    pub set: String,
    /// The role where nobody says otherwise, as it stands in SQL.
    pub role: String,
}

/// One statement, or several that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What it does.
    pub about: String,
    /// The statements; none has a semicolon at its end.
    pub statements: Vec<String>,
}

/// What is granted on this database; none where it knows no roles, or no table has an owner.
pub fn grants(catalog: &Catalog, dialect: &dyn Dialect) -> Option<Grants> {
    let roles = dialect.engine().roles?;
    let owned: Vec<(&Table, &str)> =
        catalog.tables.iter().filter_map(|table| Some((table, table.owner.as_deref()?))).collect();
    let mut names: Vec<&str> = Vec::new();
    for (_, owner) in &owned {
        if !names.contains(owner) {
            names.push(owner);
        }
    }
    if names.is_empty() {
        return None;
    }
    let variables = variables(&names);
    let script = Script { dialect, names: &names, variables: &variables };
    let owners = (0..names.len()).map(|at| script.owner(roles, at)).collect();
    let mut statements = match roles {
        Roles::Variables => script.by_variables(&owned),
        Roles::Settings => script.by_settings(&owned),
    };
    let texts = || statements.iter().flat_map(|grant| &grant.statements);
    let frame = dialect.frame(&Needs {
        backslash: texts().any(|text| text.contains('\\')),
        beyond_ascii: !texts().all(|text| text.is_ascii()),
        circular: false,
        bare_timestamp: false,
    });
    let settings = |about: &str, statements: Vec<String>| {
        (!statements.is_empty()).then(|| Grant { about: about.to_owned(), statements })
    };
    statements.splice(0..0, settings("How the texts below are read.", frame.before));
    statements.extend(settings("Settings as they were.", frame.after));
    Some(Grants { owners, statements })
}

/// A variable for each owner: letters of ASCII, digits and underscores, none twice.
fn variables(names: &[&str]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let variable = |name: &&str| {
        let held = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        // Longer names than any database takes for a variable.
        let base: String = "role_".chars().chain(name.chars().map(held)).take(50).collect();
        let mut variable = base.clone();
        let mut number = 1;
        while !taken.insert(variable.clone()) {
            number += 1;
            variable = format!("{base}_{number}");
        }
        variable
    };
    names.iter().map(variable).collect()
}

struct Script<'a> {
    dialect: &'a dyn Dialect,
    names: &'a [&'a str],
    variables: &'a [String],
}

impl Script<'_> {
    fn owner(&self, roles: Roles, at: usize) -> Owner {
        let (name, variable) = (self.names[at], &self.variables[at]);
        let literal = |text: &str| self.dialect.literal(text);
        let role = self.role(roles, name);
        let (create, set) = match roles {
            Roles::Variables => {
                (format!("CREATE ROLE IF NOT EXISTS {role}"), format!("SET @{variable} = {}", literal("'another'")))
            }
            Roles::Settings => {
                (format!("CREATE ROLE {role}"), format!("SET claimsmith.{variable} = {}", literal("another")))
            }
        };
        Owner { name: name.to_owned(), create, set, role }
    }

    /// The role as it stands in a statement.
    fn role(&self, roles: Roles, name: &str) -> String {
        match roles {
            Roles::Variables => self.dialect.literal(name),
            Roles::Settings => self.dialect.ident(name),
        }
    }

    /// For each table its owner, by position, and the others.
    fn others(&self, owner: &str) -> (usize, Vec<usize>) {
        let own = self.names.iter().position(|name| *name == owner).unwrap_or_default();
        (own, (0..self.names.len()).filter(|at| *at != own).collect())
    }

    /// The text of a statement is put together in a variable, and prepared from there.
    fn by_variables(&self, owned: &[(&Table, &str)]) -> Vec<Grant> {
        let literal = |text: &str| self.dialect.literal(text);
        let run = |text: String| {
            let prepared =
                ["PREPARE claimsmith FROM @claimsmith", "EXECUTE claimsmith", "DEALLOCATE PREPARE claimsmith"];
            [format!("SET @claimsmith = {text}")].into_iter().chain(prepared.map(str::to_owned))
        };
        // An account of any host is the same without its host, and so is a role, which has none.
        let names = self.names.iter().zip(self.variables).map(|(name, variable)| {
            let role = literal(&self.role(Roles::Variables, name));
            format!("SET @{variable} = REPLACE(IFNULL(@{variable}, {role}), '@''%''', '')")
        });
        // Cut off, a list of accounts would be another one.
        let length = "SET @claimsmith_length = @@group_concat_max_len, SESSION group_concat_max_len = 65535";
        let about = "The roles, unless they are set already.".to_owned();
        let mut grants = vec![Grant { about, statements: names.chain([length.to_owned()]).collect() }];
        for (table, owner) in owned {
            let name = quoted(self.dialect, &table.name);
            let (own, others) = self.others(owner);
            let own = &self.variables[own];
            let grant = format!("CONCAT({}, @{own})", literal(&format!("GRANT {RIGHTS} ON {name} TO ")));
            let mut statements: Vec<String> = run(grant).collect();
            if !others.is_empty() {
                statements.extend(run(self.revoke(table, own, &others)));
            }
            grants.push(Grant { about: format!("{}, of {owner}.", table.name), statements });
        }
        let about = "The setting as it was.".to_owned();
        let restore = "SET SESSION group_concat_max_len = @claimsmith_length".to_owned();
        grants.push(Grant { about, statements: vec![restore] });
        grants
    }

    /// The text that takes a table from those of the others that have something of it: what was never granted cannot be
    /// revoked. Two owners may share a role.
    fn revoke(&self, table: &Table, own: &str, others: &[usize]) -> String {
        let literal = |text: &str| self.dialect.literal(text);
        let database = table.name.database.as_deref().map_or("DATABASE()".to_owned(), literal);
        // The list writes accounts with their hosts, and quotes in them as they are.
        let held = |list: &str| {
            format!(
                "SELECT REPLACE(REPLACE(GRANTEE, '@''%''', ''), '@''''', '') FROM information_schema.{list} \
                 WHERE TABLE_SCHEMA = {database} AND TABLE_NAME = {}",
                literal(&table.name.name)
            )
        };
        let mut others: Vec<String> = others.iter().map(|at| format!("SELECT @{}", self.variables[*at])).collect();
        if let Some(first) = others.first_mut() {
            first.push_str(" AS account");
        }
        let revoke = literal(&format!("REVOKE ALL PRIVILEGES ON {} FROM ", quoted(self.dialect, &table.name)));
        format!(
            "IFNULL((SELECT CONCAT({revoke}, GROUP_CONCAT(account SEPARATOR ', '))\n  FROM ({}) AS others\n  \
             WHERE account <> @{own} AND REPLACE(account, '''''', '''') IN (\n    {}\n    UNION {})), 'DO 0')",
            others.join(" UNION "),
            held("TABLE_PRIVILEGES"),
            held("COLUMN_PRIVILEGES")
        )
    }

    /// One block of code, which happens as a whole or not at all.
    fn by_settings(&self, owned: &[(&Table, &str)]) -> Vec<Grant> {
        let literal = |text: &str| self.dialect.literal(text);
        let mut block = String::from("DECLARE\n");
        for (name, variable) in self.names.iter().zip(self.variables) {
            let name = literal(name);
            block += &format!(
                "  {variable} text := quote_ident(coalesce(nullif(current_setting('claimsmith.{variable}', true), ''), {name}));\n"
            );
        }
        block += "BEGIN\n";
        let mut schemas = BTreeSet::new();
        for (table, owner) in owned {
            let name = quoted(self.dialect, &table.name);
            let (own, others) = self.others(owner);
            let own = &self.variables[own];
            if let Some(schema) = &table.name.database
                && schemas.insert((schema, own))
            {
                let usage = literal(&format!("GRANT USAGE ON SCHEMA {} TO ", self.dialect.ident(schema)));
                block += &format!("  EXECUTE {usage} || {own};\n");
            }
            let grant = literal(&format!("GRANT {RIGHTS} ON {name} TO "));
            let revoke = literal(&format!("REVOKE ALL ON {name} FROM "));
            // Two owners may share a role.
            let others = others.iter().map(|at| &*self.variables[*at]);
            let others = ["'PUBLIC'"].into_iter().chain(others).collect::<Vec<_>>().join(", ");
            block += &format!("  EXECUTE {grant} || {own};\n");
            block += &format!("  EXECUTE {revoke} || array_to_string(array_remove(ARRAY[{others}], {own}), ', ');\n");
        }
        block += "END";
        let mut tag = "$claimsmith$".to_owned();
        while block.contains(&tag) {
            tag = tag.replacen("$", "$_", 1);
        }
        let about = "Each table for its owner, and for no other of them nor for everybody.".to_owned();
        vec![Grant { about, statements: vec![format!("DO {tag}\n{block}\n{tag}")] }]
    }
}
