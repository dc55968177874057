//! The text of a statement together with the names of its parameters.

use sea_query::{Expr, QueryStatementWriter, Values};

use super::roles::Value;
use super::{Context, Meaning, Parameter, Query};

/// A statement being written.
pub struct Sql<'a> {
    context: &'a Context<'a>,
    text: String,
    parameters: Vec<Parameter>,
    keys: Option<(usize, Vec<usize>)>,
}

impl<'a> Sql<'a> {
    pub fn new(context: &'a Context<'a>) -> Self {
        Sql { context, text: String::new(), parameters: Vec::new(), keys: None }
    }

    /// Appends text.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends a parameter.
    pub fn parameter(&mut self, meaning: Meaning) -> &mut Self {
        let placeholder = self.placeholder(meaning);
        self.push(&placeholder)
    }

    /// Declares a parameter whose place the caller finds.
    pub fn placeholder(&mut self, meaning: Meaning) -> String {
        let placeholder = self.context.dialect.placeholder(self.parameters.len() + 1);
        let name = self.context.parameter_name(meaning);
        self.parameters.push(Parameter { placeholder: placeholder.clone(), name, meaning });
        placeholder
    }

    /// Appends the list of keys, which are of these columns.
    pub fn keys(&mut self, columns: &[usize]) {
        self.keys = Some((self.text.len(), columns.to_vec()));
        self.parameter(Meaning::Keys);
    }

    /// Appends the conditions, one a line, joined by AND.
    pub fn conditions(&mut self, indent: &str, conditions: &[Condition]) -> &mut Self {
        self.joined(indent, "WHERE ", conditions)
    }

    /// Appends conditions to those that stand there already.
    pub fn further(&mut self, indent: &str, conditions: &[Condition]) -> &mut Self {
        self.joined(indent, "  AND ", conditions)
    }

    fn joined(&mut self, indent: &str, first: &str, conditions: &[Condition]) -> &mut Self {
        for (at, condition) in conditions.iter().enumerate() {
            self.push(&format!("\n{indent}{}", if at == 0 { first } else { "  AND " }));
            match condition {
                Condition::Equal(column) => {
                    let text = format!("{} = ", self.context.column(*column));
                    self.push(&text).parameter(Meaning::Column(*column));
                }
                Condition::Text(text) => _ = self.push(text),
                Condition::Parameter(before, meaning) => _ = self.push(before).parameter(*meaning),
                Condition::InKeys(alias, columns) => {
                    let names: Vec<String> =
                        columns.iter().map(|at| format!("{alias}{}", self.context.column(*at))).collect();
                    let names = if names.len() == 1 { names.concat() } else { format!("({})", names.join(", ")) };
                    let rows = if columns.len() == 1 { "" } else { self.context.dialect.rows_of_values() };
                    self.push(&format!("{names} IN ({rows}")).keys(columns);
                    self.push(")");
                }
                Condition::Keys(before, columns, after) => {
                    self.push(before).keys(columns);
                    self.push(after);
                }
                Condition::Age(column, meaning) => {
                    let millis = self.placeholder(*meaning);
                    let bound = self.context.dialect.earlier(&self.context.table.columns[*column].ty, &millis);
                    let column = self.context.column(*column);
                    self.push(&format!("{column} <= {bound}"));
                }
            }
        }
        self
    }

    /// Appends ` column = value, …`, one a line.
    pub fn assignments(&mut self, indent: &str, values: &[(usize, Value)]) -> &mut Self {
        for (at, (column, value)) in values.iter().enumerate() {
            let start = if at == 0 { format!("\n{indent}SET ") } else { format!(",\n{indent}    ") };
            let left = self.context.column(*column);
            let right = self.value(*column, value);
            self.push(&format!("{start}{left} = {right}"));
        }
        self
    }

    /// The value as text, its parameters declared.
    pub fn value(&mut self, at: usize, value: &Value) -> String {
        let column = &self.context.table.columns[at];
        let dialect = self.context.dialect;
        match value {
            Value::Text(text) => text.clone(),
            Value::Parameter(meaning) => self.placeholder(*meaning),
            Value::Own => self.placeholder(Meaning::Column(at)),
            Value::Now => dialect.now(&column.ty),
            Value::Later(meaning) => {
                let millis = self.placeholder(*meaning);
                dialect.later(&column.ty, &millis)
            }
            Value::Case(condition, then, otherwise) => {
                let (then, otherwise) = (self.value(at, then), self.value(at, otherwise));
                format!("CASE WHEN {condition} THEN {then} ELSE {otherwise} END")
            }
        }
    }

    /// The finished statement.
    pub fn query(&mut self, name: impl Into<String>, about: &str, index: Option<&str>) -> Query {
        let (keys_at, key_columns) = self.keys.take().map_or((None, Vec::new()), |(at, columns)| (Some(at), columns));
        let name = name.into();
        Query {
            base: name.clone(),
            state: None,
            name,
            about: about.lines().map(str::to_owned).collect(),
            parameters: std::mem::take(&mut self.parameters),
            index: index.map(str::to_owned),
            sql: std::mem::take(&mut self.text),
            keys_at,
            key_columns,
        }
    }
}

/// A condition of a WHERE.
pub enum Condition {
    /// The column equals the parameter named like it.
    Equal(usize),
    /// Text.
    Text(String),
    /// Text, and a parameter behind it.
    Parameter(String, Meaning),
    /// The columns, which have this alias before them, are in the list of keys.
    InKeys(&'static str, Vec<usize>),
    /// The list of keys of these columns between two texts.
    Keys(String, Vec<usize>, &'static str),
    /// The column is at most the current time less the parameter, in milliseconds.
    Age(usize, Meaning),
}

/// A parameter for the query builder: it travels as its own meaning.
pub fn parameter(meaning: Meaning) -> Expr {
    Expr::val(meaning.text())
}

/// A value for the query builder.
pub fn expression(context: &Context<'_>, at: usize, value: &Value) -> Expr {
    let column = &context.table.columns[at];
    let dialect = context.dialect;
    match value {
        Value::Text(text) => Expr::cust(text.clone()),
        Value::Parameter(meaning) => parameter(*meaning),
        Value::Own => parameter(Meaning::Column(at)),
        Value::Now => Expr::cust(dialect.now(&column.ty)),
        Value::Later(meaning) => {
            let text = dialect.later(&column.ty, &dialect.placeholder(1));
            Expr::cust_with_values(text, [meaning.text()])
        }
        Value::Case(condition, then, otherwise) => {
            Expr::case(Expr::cust(condition.clone()), expression(context, at, then))
                .finally(expression(context, at, otherwise))
                .into()
        }
    }
}

/// A statement of the query builder, laid out.
pub fn built(context: &Context<'_>, statement: &impl QueryStatementWriter, name: &str, about: &str) -> Query {
    let dialect = context.dialect;
    let (text, Values(values)) = dialect.backend().build(statement);
    // The builder is given no value but by `parameter`.
    let meanings = values.into_iter().filter_map(|value| match value {
        sea_query::Value::String(Some(text)) => Meaning::read(&text),
        _ => None,
    });
    let parameter = |(at, meaning): (usize, Meaning)| Parameter {
        placeholder: dialect.placeholder(at + 1),
        name: context.parameter_name(meaning),
        meaning,
    };
    Query {
        name: name.to_owned(),
        base: name.to_owned(),
        state: None,
        about: about.lines().map(str::to_owned).collect(),
        parameters: meanings.enumerate().map(parameter).collect(),
        index: None,
        sql: lay_out(&text),
        keys_at: None,
        key_columns: Vec::new(),
    }
}

/// Words that begin a line of their own, with its indent.
const BREAKS: [(&str, &str); 8] = [
    (" VALUES ", "\n"),
    (" ON CONFLICT ", "\n"),
    (" SET ", "\n"),
    (" FROM ", "\n"),
    (" WHERE ", "\n"),
    (" AND ", "\n  "),
    (" LIMIT ", "\n"),
    (" FOR UPDATE", "\n"),
];

/// The one-line text of the query builder with line breaks: outside quotes and parentheses.
fn lay_out(text: &str) -> String {
    let mut laid = String::with_capacity(text.len() + 64);
    let (mut quote, mut depth, mut in_set) = (None, 0_usize, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        let at_word = quote.is_none() && depth == 0 && c == ' ';
        if let Some((word, indent)) = BREAKS.iter().find(|(word, _)| at_word && rest.starts_with(word)) {
            laid.push_str(indent);
            laid.push_str(word.trim_start());
            in_set = *word == " SET " || in_set && *word != " WHERE ";
            rest = &rest[word.len()..];
            continue;
        }
        if in_set && quote.is_none() && depth == 0 && rest.starts_with(", ") {
            laid.push_str(",\n    ");
            rest = &rest[2..];
            continue;
        }
        laid.push(c);
        rest = &rest[c.len_utf8()..];
    }
    laid
}

#[cfg(test)]
mod tests {
    use super::lay_out;

    #[test]
    fn breaks_lines_outside_quotes_only() {
        let text = r#"UPDATE "a SET b" SET "x" = 'it''s WHERE', "y" = f(1, 2) WHERE "k" = ? AND "z" = 'AND '"#;
        let laid = "UPDATE \"a SET b\"\nSET \"x\" = 'it''s WHERE',\n    \"y\" = f(1, 2)\nWHERE \"k\" = ?\n  AND \"z\" = 'AND '";
        assert_eq!(lay_out(text), laid);
    }
}
