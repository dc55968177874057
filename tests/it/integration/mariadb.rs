//! The workers of `examples/integration` with the generated functions of this engine.

use super::hubspot;
pub use crate::rust::generated::{mariadb as db, queue, tables};

#[path = "../../../examples/integration/crm.rs"]
pub mod crm;
#[path = "../../../examples/integration/workers.rs"]
pub mod workers;

super::process::processes!();
