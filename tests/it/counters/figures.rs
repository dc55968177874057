//! The figures in `tests/README.md`: written when `CLAIMSMITH_UPDATE` is `1`; those of the tests are checked otherwise.

use std::sync::Mutex;

use crate::servers::{Server, say};

use super::measure::Counted;
use super::probe::Probe;

/// The counters of one statement, for the reader.
pub struct Figure {
    text: &'static str,
    returned: u64,
    examined: u64,
    locked: Option<u64>,
    sorts: bool,
}

impl Figure {
    pub fn of(text: &'static str, counted: &Counted) -> Figure {
        let (examined, sorts) = (counted.examined, counted.sorts);
        Figure { text, returned: counted.returned, examined, locked: counted.locked, sorts }
    }
}

/// Two digits and zeros: what is left does not change from run to run.
fn rounded(number: u64) -> String {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    let digits = ((number + unit / 2) / unit * unit).to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How often a statement's rows go into those of the claim that the incident had.
fn ratio(figures: &[Figure], figure: &Figure) -> String {
    let claim = figures.iter().find(|figure| figure.text.contains(" by OR, no index")).unwrap();
    match (claim.examined + figure.examined / 2) / figure.examined.max(1) {
        0 => "less".to_owned(),
        times => rounded(times),
    }
}

/// The engine and its version, such as `PostgreSQL 15.4`.
fn title(probe: &mut Probe) -> String {
    let sql = if probe.server == Server::Sqlite { "SELECT sqlite_version()" } else { "SELECT version()" };
    let text = probe.rows(sql, &[]).rows[0][0].clone().unwrap();
    let number = text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|word| word.contains('.'));
    format!("{} {}", probe.server.engine().title, number.unwrap_or_default())
}

/// The engine's table, where `compared` with how much the claim of the incident reads.
pub fn table(probe: &mut Probe, figures: &[Figure], compared: bool) -> String {
    let server = probe.server;
    let read = if server == Server::Sqlite { "steps" } else { "rows read" };
    let mut columns = vec![(format!("{} | rows returned | {read}", title(probe)), " --- | ---: | ---:")];
    if server != Server::Sqlite {
        columns.push(("rows locked".to_owned(), " ---:"));
    }
    columns.push(("sorted".to_owned(), " ---"));
    if compared {
        columns.push(("the OR claim reads so many times as much".to_owned(), " ---:"));
    }
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let (heads, rules): (Vec<String>, Vec<&str>) = columns.into_iter().unzip();
    let mut text = row(&heads) + &format!("|{} |\n", rules.join(" |"));
    for figure in figures {
        let mut cells = vec![figure.text.to_owned(), rounded(figure.returned), rounded(figure.examined)];
        cells.extend((server != Server::Sqlite).then(|| figure.locked.map_or("?".to_owned(), rounded)));
        cells.push(if figure.sorts { "yes" } else { "no" }.to_owned());
        cells.extend(compared.then(|| ratio(figures, figure)));
        text += &row(&cells);
    }
    text
}

/// Puts the engine's table into the section of this name, or compares it with the committed one, whatever the version of the
/// server that this was made with.
pub fn place(server: Server, section: &str, table: &str, write: bool) {
    // Each engine's test comes here by itself.
    static FILE: Mutex<()> = Mutex::new(());
    let _guard = FILE.lock();
    let path = format!("{}/tests/README.md", env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(&path).unwrap();
    let (start, end) = (format!("<!-- {section}: {} -->\n", server.id()), "<!-- end of figures -->");
    let (before, rest) = readme.split_once(&start).unwrap_or_else(|| panic!("no {start} in {path}"));
    let (committed, after) = rest.split_once(end).unwrap();
    if write {
        std::fs::write(&path, format!("{before}{start}{table}{end}{after}")).unwrap();
        return;
    }
    let split =
        |table: &str| table.trim_start_matches("| ").split_once(" | ").map(|(a, b)| (a.to_owned(), b.to_owned()));
    let ((theirs, committed), (ours, table)) = (split(committed).unwrap(), split(table).unwrap());
    assert_eq!(
        committed, table,
        "{path} has figures of {theirs}, and these are of {ours}: run the tests with CLAIMSMITH_UPDATE=1 to renew them"
    );
}

/// Whether the figures are to be written.
pub fn updating() -> bool {
    std::env::var("CLAIMSMITH_UPDATE").as_deref() == Ok("1")
}

/// Compares the engine's table with the committed one, or writes it. What could not be counted is not compared.
pub fn check(probe: &mut Probe, figures: &[Figure]) {
    let counts = |figure: &Figure| probe.server == Server::Sqlite || figure.locked.is_some();
    if figures.iter().all(counts) {
        place(probe.server, "figures", &table(probe, figures, false), updating());
    } else {
        say(&format!("skipped: the figures of {}: locks could not be counted\n", probe.server.engine().title));
    }
}
