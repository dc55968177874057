//! A name that statements must quote.

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::schema::Table;

use super::super::rule::{Judge, Usage, check};

check! {
    "json" Note High "reserved-word" "a name that is a word of SQL on some database"
    does "Reports names of tables and columns that have to be quoted on some version of some database."
    why "Generated statements quote all names; those that people write often do not, and fail on one database or after an upgrade: words such as `rank`, `groups`, `system`, `library` and `qualify` became reserved in some version and not in all."
    bad "{ \"tableName\": \"notes\", \"columns\": [{ \"name\": \"id\", \"type\": \"BIGINT\", \"primaryKey\": true }, { \"name\": \"rank\", \"type\": \"INT\" }] }"
    good "{ \"tableName\": \"notes\", \"columns\": [{ \"name\": \"id\", \"type\": \"BIGINT\", \"primaryKey\": true }, { \"name\": \"place\", \"type\": \"INT\" }] }"
    allow "The table is as it is, and everybody quotes the name."
    judge Judge::Table(judge)
}

/// Words that a database refuses as names of columns unless they are quoted.
pub const WORDS: &str = "add all alter analyze and as asc between both by call cascade case change check collate column condition \
    constraint continue convert create cross cube cume_dist cursor database databases default delayed delete \
    dense_rank desc describe distinct div drop each else elseif empty enclosed escaped except exists exit \
    explain false fetch first_value float for force foreign from fulltext function generated grant group \
    grouping groups having if ignore in index infile inner inout insert int interval into is iterate join \
    json_table key keys kill lag last_value lateral lead leading leave left library like limit linear lines \
    load lock long loop match mod natural not nth_value ntile null of on optimize option or order out outer \
    outfile over partition percent_rank primary procedure purge qualify range rank read reads recursive \
    references regexp release rename repeat replace require resignal restrict return revoke right rlike row \
    row_number rows schema schemas select sensitive separator set show signal spatial specific sql ssl \
    starting stored system table terminated then to trailing trigger true undo union unique unlock unsigned \
    update usage use using values varying virtual when where while window with write xor";

fn judge(table: &Table, _: &Usage, _: &[&'static dyn Dialect], found: &mut Vec<Diagnostic>) {
    let reserved = |name: &str| WORDS.split_whitespace().any(|word| name.eq_ignore_ascii_case(word));
    let mut report = |what: &str, name: &str, place| {
        if reserved(name) {
            let message = format!("the {what} `{name}` is called like a word of SQL");
            found.push(
                Diagnostic::new(&CHECK.rule, place, message)
                    .help("quote it wherever you write it, or call it otherwise"),
            );
        }
    };
    report("table", &table.name.name, table.site.at("tableName"));
    for column in &table.columns {
        report("column", &column.name, column.site.at("name").or_else(|| column.site.place()));
    }
}
