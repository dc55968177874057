//! A row goes into the database and comes out as it was.

use claimsmith_consumer_committed::{SCHEMA, db};
use db::tables::customers::{Row, Type};
use sqlx::Connection;

#[tokio::test]
async fn a_customer_comes_back() -> Result<(), Box<dyn std::error::Error>> {
    let mut connection = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
    sqlx::raw_sql(SCHEMA).execute(&mut connection).await?;
    let customer = Row {
        id: 1,
        name: "Grüße & Co".to_owned(),
        r#type: Type::Person,
        note: Some("'".to_owned()),
        created_at: "2026-01-31T23:59:59.123Z".parse()?,
    };
    db::sqlite::customers::insert(&mut connection, &customer).await?;
    let rows: Vec<Row> = sqlx::query_as("SELECT * FROM customers")
        .fetch_all(&mut connection)
        .await?;
    assert_eq!(rows, [customer]);
    Ok(())
}
