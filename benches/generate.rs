//! Times parsing, checking and rendering: `cargo bench`.
//!
//! The input is made from the definitions in `schemas/`, many times over under other names, so that the figures can be
//! compared between sizes: they should grow like the number of tables.

use std::path::Path;
use std::sync::Arc;

use claimsmith::diagnostic::Source;
use claimsmith::engine::Engine;
use claimsmith::generate::{self, Options, targets};
use claimsmith::schema::{Catalog, check, load};
use claimsmith::template::Templates;
use claimsmith::{dialect, schema};

fn main() {
    divan::main();
}

/// How many times over the definitions are taken.
const SIZES: [usize; 3] = [1, 10, 100];

/// The definitions `times` over, each time with every name of a table or of an index changed.
fn inputs(times: usize) -> Vec<load::Input> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let files = load::read(&[folder], |path| path.display().to_string()).unwrap_or_default();
    let catalog = load::load(&files).0;
    let names: Vec<String> = catalog.tables.iter().map(|table| table.name.name.clone()).collect();
    let renamed = |file: &load::Input, time: usize| {
        let mut text = file.text.replace("\"name\": \"idx_", &format!("\"name\": \"idx_{time}_"));
        for name in &names {
            text = text.replace(&format!("\"{name}\""), &format!("\"{name}_{time}\""));
            text = text.replace(&format!("\"{name}("), &format!("\"{name}_{time}("));
        }
        Arc::new(Source::new(format!("{time}/{}", file.path), text))
    };
    (0..times).flat_map(|time| files.iter().map(move |file| renamed(file, time)).collect::<Vec<_>>()).collect()
}

fn engines() -> Vec<&'static Engine> {
    dialect::ALL.iter().map(|dialect| dialect.engine()).collect()
}

fn catalog(times: usize) -> Catalog {
    load::load(&inputs(times)).0
}

#[divan::bench(args = SIZES)]
fn parse(bencher: divan::Bencher, times: usize) {
    let inputs = inputs(times);
    bencher.bench(|| schema::load::load(&inputs));
}

#[divan::bench(args = SIZES)]
fn check_all(bencher: divan::Bencher, times: usize) {
    let (catalog, engines) = (catalog(times), engines());
    bencher.bench(|| check::check(&catalog, &engines));
}

#[divan::bench(args = SIZES)]
fn render(bencher: divan::Bencher, times: usize) {
    let catalog = catalog(times);
    let options = Options {
        dialects: dialect::ALL.to_vec(),
        targets: targets::ALL.to_vec(),
        rust: Default::default(),
        source: "schemas",
    };
    let templates = Templates::new(None).ok();
    bencher.bench(|| templates.as_ref().map(|templates| generate::run(&catalog, &options, templates)));
}
