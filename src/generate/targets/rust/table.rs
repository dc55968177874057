//! `rust/tables/<table>.rs`: names, closed sets of values, and the row; the same for every database.

use crate::generate::Header;
use crate::generate::model::{self, Choice};
use crate::schema::{Column, ColumnType, Table};
use crate::template::template_object;

use super::Settings;
use super::events::{self, EventItems};
use super::names::{Idents, TYPES};
use super::needs::{Need, Needs};
use super::publish::{self, Published};
use super::queue::{self, Work};
use super::text::{Constant, Items, List, breaks, code, literal, prose};
use super::value;

/// One file for each table: `rust/tables/<table>.rs`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// What is used of the modules beside `tables`, as it stands behind `use super::super::`; empty where that is nothing.
    pub uses: String,
    /// The definition names an owner: there is a constant of it, and a guard.
    pub owned: bool,
    /// The table's names and what the definition says of it.
    pub constants: Vec<Constant>,
    /// The columns, in the order of the table.
    pub columns: Vec<ColumnItem>,
    /// Lists of columns: all, and those of the primary key, the scope and the idempotency key where there are such.
    pub lists: Vec<List>,
    /// The definition says more of some column than its name and type.
    pub info: bool,
    /// The columns with a closed set of values.
    pub choices: Vec<ChoiceItem>,
    /// The names of the declared event types.
    pub event_types: Vec<Constant>,
    /// All event types.
    pub event_type_list: List,
    /// The payloads of events, and what consumers subscribe to.
    pub events: EventItems,
    /// Attributes of the row's struct.
    pub attributes: Vec<String>,
    /// What the functions of its workload take and give, where there is a database.
    pub work: Option<Work>,
    /// How its rows become messages, where they are relayed.
    pub published: Option<Published>,
}

template_object!(TableFile {
    header,
    uses,
    owned,
    constants,
    columns,
    lists,
    info,
    choices,
    event_types,
    event_type_list,
    events,
    attributes,
    work,
    published,
});

/// A column.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnItem {
    /// The constant of its name.
    pub constant: Constant,
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The field's identifier.
    pub field: String,
    /// The field's type.
    pub ty: String,
    /// The type stands on a line of its own.
    pub breaks: bool,
    /// Attributes of the field.
    pub attributes: Vec<String>,
    /// The definition says more of it than its name and type.
    pub described: bool,
    /// The label as a literal; the empty text where there is none.
    pub label: String,
    /// What it means to the application, as a literal; the empty text where that is not said.
    pub logical_type: String,
    /// The tables whose key it holds without a foreign key, as literals.
    pub reference_to: Items,
    /// It may be NULL.
    pub nullable: bool,
    /// It names a row to people.
    pub is_name_field: bool,
    /// It belongs to the system.
    pub is_system: bool,
}

template_object!(ColumnItem {
    constant,
    docs,
    field,
    ty,
    breaks,
    attributes,
    described,
    label,
    logical_type,
    reference_to,
    nullable,
    is_name_field,
    is_system,
});

/// A closed set of values.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChoiceItem {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The enum's identifier.
    pub name: String,
    /// The column's constant in the module `column`.
    pub column: String,
    /// The values.
    pub variants: Vec<Variant>,
    /// All variants, `Self::…`.
    pub all: List,
    /// All texts, in the same order.
    pub texts: List,
}

template_object!(ChoiceItem { docs, name, column, variants, all, texts });

/// One value of a closed set.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variant {
    /// The identifier.
    pub name: String,
    /// Lines for `///`.
    pub docs: Vec<String>,
}

template_object!(Variant { name, docs });

/// What other files need of a table's module.
pub struct Names {
    /// The fields, in the order of the columns.
    pub fields: Vec<String>,
    /// The enums, each with the position of its column.
    pub choices: Vec<(usize, String)>,
    /// The states, each with its variant of `Status`.
    pub states: Vec<(String, String)>,
    /// How its rows become messages, where they are relayed.
    pub published: Option<Published>,
}

/// The table's file, and the names in it. `origin` is the table whose claim says what the columns mean.
pub fn file(
    header: &Header,
    (table, origin): (&Table, &Table),
    settings: &Settings,
    has_databases: bool,
    needs: &mut Needs,
) -> (TableFile, Names) {
    let mut types = Idents::without(&TYPES);
    let choices: Vec<(Choice, String)> = status_first(model::choices(origin))
        .into_iter()
        .map(|choice| {
            let column = &table.columns[choice.column].name;
            let name = if choice.is_status { "Status" } else { column };
            let name = types.camel(name, &format!("column_{}", choice.column + 1));
            (choice, name)
        })
        .collect();
    let columns = columns((table, origin), &choices, settings, needs);
    if !choices.is_empty() {
        needs.insert(Need::UnknownValue);
    }
    let (event_types, event_type_list) = event_types(table);
    let choice_items: Vec<ChoiceItem> =
        choices.iter().map(|(choice, name)| choice_item(choice, name, &columns[choice.column])).collect();
    let variants = |(choice, item): (&(Choice, String), &ChoiceItem)| {
        let texts = choice.0.values.iter().filter(|_| choice.0.is_status).cloned();
        texts.zip(item.variants.iter().map(|variant| variant.name.clone())).collect::<Vec<_>>()
    };
    let mut names = Names {
        published: None,
        fields: columns.iter().map(|column| column.field.clone()).collect(),
        choices: choices.iter().map(|(choice, name)| (choice.column, name.clone())).collect(),
        states: choices.iter().zip(&choice_items).flat_map(variants).collect(),
    };
    let work = queue::work(table, &columns).filter(|_| has_databases);
    if work
        .as_ref()
        .and_then(|work| work.origin.as_ref())
        .is_some_and(|origin| origin.is_text && origin.pointer.is_some())
    {
        needs.insert(Need::Json);
    }
    if work.is_some() {
        needs.insert(Need::Queue);
    }
    if table.owner.is_some() {
        needs.insert(Need::NotOwner);
    }
    let info = table.columns.iter().any(is_described);
    let of_types = |column: &ColumnItem| {
        column.ty.contains("types::") || column.attributes.iter().any(|attribute| attribute.contains("\"types::"))
    };
    let published = publish::published(table, &columns).filter(|_| work.as_ref().is_some_and(|work| work.claims));
    if let Some(published) = &published {
        needs.insert(Need::Relay);
        let named = table.publish.iter().map(|publish| publish.broker);
        needs.extend(named.chain(settings.brokers.iter().copied()).filter_map(Need::of));
        if published.key.len() > 1 {
            needs.insert(Need::Json);
        }
        if published.bus.is_some() {
            needs.extend([Need::Bus, Need::Json]);
        }
    }
    names.published = published.clone();
    let uses = [
        ("broker", published.is_some()),
        ("bus", published.as_ref().is_some_and(|published| published.bus.is_some())),
        ("queue", work.as_ref().is_some_and(|work| work.claims)),
        ("relay", published.is_some()),
        ("types", info || table.owner.is_some() || !choices.is_empty() || columns.iter().any(of_types)),
    ];
    let file = TableFile {
        header: header.clone(),
        uses: used(&uses),
        owned: table.owner.is_some(),
        constants: constants(table),
        columns,
        lists: lists(table),
        info,
        choices: choice_items,
        event_types,
        event_type_list,
        events: events::items(table, needs),
        attributes: settings.of_table(table),
        work,
        published,
    };
    (file, names)
}

/// What stands behind `use super::super::`.
fn used(modules: &[(&str, bool)]) -> String {
    let used: Vec<&str> = modules.iter().filter(|(_, is_used)| *is_used).map(|(name, _)| *name).collect();
    match used.as_slice() {
        [one] => (*one).to_owned(),
        [] => String::new(),
        several => format!("{{{}}}", several.join(", ")),
    }
}

/// The state column's enum is called `Status`, whatever other columns are called.
fn status_first(mut choices: Vec<Choice>) -> Vec<Choice> {
    choices.sort_by_key(|choice| !choice.is_status);
    choices
}

fn constants(table: &Table) -> Vec<Constant> {
    let optional = [
        ("The database or schema that the table is in.", "DATABASE", &table.name.database),
        ("What kind of table the definition says it is.", "TABLE_TYPE", &table.table_type),
        ("The category of the definition.", "CATEGORY", &table.category),
        ("The only service that may scan the table.", "OWNER", &table.owner),
    ];
    let mut constants = vec![Constant::new(0, "The table's name.", "TABLE", &table.name.name)];
    let given =
        optional.into_iter().filter_map(|(docs, name, text)| Some(Constant::new(0, docs, name, text.as_ref()?)));
    constants.extend(given);
    constants
}

fn lists(table: &Table) -> Vec<List> {
    let claim = table.claim.as_ref();
    let key = claim.map(|claim| claim.idempotency_key.iter().map(|name| literal(name)).collect());
    let lists: [(&str, &str, Vec<String>); 4] = [
        (
            "All columns, in the order of the table.",
            "COLUMNS",
            table.columns.iter().map(|column| literal(&column.name)).collect(),
        ),
        ("The columns of the primary key.", "PRIMARY_KEY", table.names(&table.primary_key).map(literal).collect()),
        (
            "The columns that every claim pins by equality.",
            "SCOPE",
            claim.map(|claim| claim.scope.iter().map(|name| literal(name)).collect()).unwrap_or_default(),
        ),
        ("The columns that identify an event, for enqueueing it once.", "IDEMPOTENCY_KEY", key.unwrap_or_default()),
    ];
    let given = lists.into_iter().filter(|(_, _, items)| !items.is_empty());
    given.map(|(docs, name, items)| List::new(0, docs, name, "&str", &items)).collect()
}

fn columns(
    (table, origin): (&Table, &Table),
    choices: &[(Choice, String)],
    settings: &Settings,
    needs: &mut Needs,
) -> Vec<ColumnItem> {
    let (mut fields, mut constants) = (Idents::default(), Idents::default());
    let mut items = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let fallback = format!("column_{}", at + 1);
        let field = fields.field(&column.name, &fallback);
        let choice = choices.iter().find(|(choice, _)| choice.column == at).map(|(_, name)| &**name);
        let plain = value::rust_type(origin, column, choice);
        let ty = if column.nullable { format!("Option<{plain}>") } else { plain };
        needs.extend(value::needs(origin, column));
        let references: Vec<String> = column.reference_to.iter().map(|table| literal(table)).collect();
        let docs = docs(column);
        items.push(ColumnItem {
            constant: Constant::new(4, &docs[0], constants.constant(&column.name, &fallback), &column.name),
            docs,
            breaks: breaks(4, &format!("pub {field}:"), &format!("{ty},")),
            attributes: attributes((table, origin), column, &field, settings),
            field,
            ty,
            described: is_described(column),
            label: literal(column.label.as_deref().unwrap_or_default()),
            logical_type: literal(column.logical_type.as_deref().unwrap_or_default()),
            reference_to: Items::new(8, &references),
            nullable: column.nullable,
            is_name_field: column.is_name_field,
            is_system: column.is_system,
        });
    }
    items
}

/// Whether the definition says more of the column than how it is stored and what it is for.
fn is_described(column: &Column) -> bool {
    let texts = [&column.label, &column.logical_type].into_iter().flatten().any(|text| !text.is_empty());
    texts || !column.reference_to.is_empty() || column.is_name_field || column.is_system
}

/// What the column is for, or at least what it is.
fn docs(column: &Column) -> Vec<String> {
    let ty = match &column.ty {
        ColumnType::Enum(_) => "ENUM".to_owned(),
        ty => ty.to_string(),
    };
    let about = prose(&column.comment().unwrap_or_default());
    let name = code(&column.name);
    match about.is_empty() {
        true => vec![format!("{name}, `{ty}`.")],
        false => vec![about, String::new(), format!("{name}, `{ty}`.")],
    }
}

fn attributes((table, origin): (&Table, &Table), column: &Column, field: &str, settings: &Settings) -> Vec<String> {
    let mut attributes = Vec::new();
    if field.trim_start_matches("r#") != column.name {
        attributes.push(format!("#[serde(rename = {})]", literal(&column.name)));
    }
    if value::text_in_json(origin, column).is_some() {
        attributes.push(match column.nullable {
            // Else a field that is not there would be an error here, and none where serde by itself reads an `Option`.
            true => "#[serde(default, with = \"types::as_text::option\")]".to_owned(),
            false => "#[serde(with = \"types::as_text\")]".to_owned(),
        });
    }
    attributes.extend(settings.of_column(table, column));
    attributes
}

fn choice_item(choice: &Choice, name: &str, column: &ColumnItem) -> ChoiceItem {
    let mut idents = Idents::default();
    let variants: Vec<Variant> = choice
        .values
        .iter()
        .enumerate()
        .map(|(at, text)| Variant {
            name: idents.camel(text, &format!("value_{}", at + 1)),
            docs: vec![format!("{}.", code(text))],
        })
        .collect();
    let about = if choice.is_status { "The states of a row: the values of" } else { "The values of" };
    let all: Vec<String> = variants.iter().map(|variant| format!("Self::{}", variant.name)).collect();
    let texts: Vec<String> = choice.values.iter().map(|text| literal(text)).collect();
    ChoiceItem {
        docs: vec![format!("{about} {}.", code(&column.constant.text))],
        name: name.to_owned(),
        column: column.constant.name.clone(),
        variants,
        all: List::new(4, "All values, in the order of the definition.", "ALL", "Self", &all),
        texts: List::new(4, "Their texts, in the same order.", "TEXTS", "&'static str", &texts),
    }
}

fn event_types(table: &Table) -> (Vec<Constant>, List) {
    let mut idents = Idents::default();
    let types = table.claim.as_ref().and_then(|claim| claim.event.as_ref()).map(|event| &event.types);
    let mut constants = Vec::new();
    for (at, event) in types.into_iter().flatten().enumerate() {
        let about = prose(event.description().unwrap_or_default());
        let docs = if about.is_empty() { format!("{}.", code(event.name())) } else { about };
        let name = idents.constant(event.name(), &format!("type_{}", at + 1));
        constants.push(Constant::new(4, &docs, name, event.name()));
    }
    let items: Vec<String> = constants.iter().map(|constant| constant.literal.clone()).collect();
    (constants, List::new(4, "All of them, in the order of the definition.", "ALL", "&str", &items))
}
