//! Programs that bind by the types which the server infers, such as those in Go, get the types that they would expect.

use crate::servers::{Scratch, on_servers};

use super::case::{Case, Faults, cases, committed, prepared};
use super::driver::Driver;

fn the_server_infers_the_types_of_parameters(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for case in cases(&catalog, scratch.server) {
        faults.collect(|| infers(&case, &mut driver));
    }
    faults.report();
}
on_servers!(the_server_infers_the_types_of_parameters: postgres);

fn infers(case: &Case<'_>, driver: &mut Driver) {
    let mut wrong = Vec::new();
    for query in &case.queries {
        let mut columns = query.parameters.iter().map(|parameter| &*parameter.name).collect::<Vec<_>>();
        let mut sql = query.sql.clone();
        if let Some(at) = query.keys_at {
            // One key.
            columns.pop();
            let key: Vec<String> =
                (0..query.key_columns.len()).map(|of| format!("${}", columns.len() + of + 1)).collect();
            columns.extend(query.key_columns.iter().map(|at| &*case.table().columns[*at].name));
            let end = at + query.parameters.last().unwrap().placeholder.len();
            sql.replace_range(at..end, &format!("({})", key.join(", ")));
        }
        if let Err(error) = driver.try_run(&format!("PREPARE inferred AS {sql}")) {
            wrong.push(format!("{}: {error}", query.name));
            continue;
        }
        let types = "SELECT array_to_string(parameter_types, ',') FROM pg_prepared_statements WHERE name = 'inferred'";
        let types = driver.rows(types).remove(0).remove(0).unwrap();
        driver.run("DEALLOCATE inferred");
        for (name, found) in columns.into_iter().zip(types.split(',')) {
            let allowed: &[&str] = match (name, case.table().column(name)) {
                (_, Some(column)) if matches!(column.ty, claimsmith::schema::ColumnType::Int { .. }) => {
                    &["bigint", "integer"]
                }
                (_, Some(column)) if column.ty.is_time() => &["timestamp without time zone"],
                (_, Some(column)) if column.ty == claimsmith::schema::ColumnType::Json => &["jsonb"],
                (_, Some(_)) | ("token" | "error", None) => &["text", "character varying"],
                ("cutoff" | "since" | "until", None) => &["bigint", "timestamp without time zone"],
                _ => &["bigint", "integer"],
            };
            if !allowed.contains(&found) {
                wrong.push(format!("{name} of {}: {found}", query.name));
            }
        }
    }
    assert!(wrong.is_empty(), "parameters of {}: {}", case.table().name, wrong.join("; "));
}
