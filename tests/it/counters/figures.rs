//! The figures in `tests/README.md`: written when `CLAIMSMITH_UPDATE` is `1`, checked otherwise.

use std::sync::Mutex;

use crate::servers::Server;

use super::measure::Counted;

/// The counters of one statement, for the reader.
pub struct Figure {
    text: &'static str,
    returned: u64,
    examined: u64,
    locked: u64,
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

fn table(server: Server, figures: &[Figure]) -> String {
    let read = if server == Server::Sqlite { "steps" } else { "rows read" };
    let locks = server.is_mysql_like();
    let (head, rule) = if locks { (" rows locked |", " ---: |") } else { ("", "") };
    let mut text = format!(
        "| {} | rows returned | {read} |{head} sorted |\n| --- | ---: | ---: |{rule} --- |\n",
        server.engine().title
    );
    for figure in figures {
        let locked = if locks { format!(" {} |", rounded(figure.locked)) } else { String::new() };
        let sorted = if figure.sorts { "yes" } else { "no" };
        text += &format!(
            "| {} | {} | {} |{locked} {sorted} |\n",
            figure.text,
            rounded(figure.returned),
            rounded(figure.examined)
        );
    }
    text
}

/// Compares the engine's table with the committed one, or writes it.
pub fn check(server: Server, figures: &[Figure]) {
    // Each engine's test comes here by itself.
    static FILE: Mutex<()> = Mutex::new(());
    let _guard = FILE.lock();
    let path = format!("{}/tests/README.md", env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(&path).unwrap();
    let (start, end) = (format!("<!-- figures: {} -->\n", server.id()), "<!-- end of figures -->");
    let (before, rest) = readme.split_once(&start).unwrap_or_else(|| panic!("no {start} in {path}"));
    let (committed, after) = rest.split_once(end).unwrap();
    let table = table(server, figures);
    if std::env::var("CLAIMSMITH_UPDATE").as_deref() == Ok("1") {
        std::fs::write(&path, format!("{before}{start}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(committed, table, "run the tests with CLAIMSMITH_UPDATE=1 to renew {path}");
    }
}
