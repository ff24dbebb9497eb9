//! What the sessions of a real client say about columns.

use std::sync::Arc;

use lacuna_proxy::{Suggestion, Suggestions};
use sqlx::{Connection as _, MySqlConnection};

use super::raw::Raw;
use super::world::{ORDERS, World};

fn observed() -> Option<(World, Arc<Suggestions>)> {
    let suggestions = Arc::new(Suggestions::default());
    let observer = suggestions.clone();
    let world = World::with(|options| options.with_suggestions(observer))?;
    world.admin(&ORDERS);
    Some((world, suggestions))
}

fn of(suggestions: &Suggestions, column: &str) -> Suggestion {
    let all = suggestions.all();
    let found = all.iter().find(|found| found.table == "orders" && found.column == column);
    found.unwrap_or_else(|| panic!("{column}: {all:?}")).clone()
}

/// The numbers of a suggestion that a test compares.
fn numbers(found: &Suggestion) -> [u64; 5] {
    [found.asked, found.repeated, found.spared, found.rows, found.writes]
}

#[test]
fn an_interval_of_a_prepared_statement_is_suggested() {
    let Some((world, suggestions)) = observed() else { return };
    let url = world.url();
    world.runtime.block_on(async {
        let mut connection = MySqlConnection::connect(&url).await.unwrap();
        let mut read = async |low: i64, high: i64| {
            let query =
                sqlx::query("SELECT note FROM orders WHERE customer BETWEEN ? AND ?").bind(low).bind(high);
            query.fetch_all(&mut connection).await.unwrap().len()
        };
        assert_eq!([read(10, 20).await, read(10, 20).await, read(30, 32).await], [11, 11, 3]);
        let mut writer = MySqlConnection::connect(&url).await.unwrap();
        let write = sqlx::query("UPDATE orders SET note = 'x' WHERE customer = ?").bind(31_i64);
        write.execute(&mut writer).await.unwrap();
        assert_eq!([read(10, 20).await, read(30, 32).await], [11, 3]);
    });
    // The second and the third read of 10 to 20 are spared; the write has touched 30 to 32.
    assert_eq!(numbers(&of(&suggestions, "customer")), [5, 3, 2, 39, 1]);
    let report = suggestions.report();
    assert!(report.contains("orders.customer"), "{report}");
    assert_eq!(world.proxy().counts().unfollowed, 0);
}

#[test]
fn texts_with_constants_are_suggested() {
    let Some((world, suggestions)) = observed() else { return };
    let mut raw = Raw::login(world.port(), Raw::NEW);
    for text in [
        "SELECT note FROM `orders` WHERE `Customer` BETWEEN 10 AND 20",
        "SELECT note FROM `orders` WHERE `Customer` BETWEEN 10 AND 20",
        "DELETE FROM orders WHERE customer = 50 # another one",
        "SELECT note FROM `orders` WHERE `Customer` BETWEEN 10 AND 20",
        "DELETE FROM orders WHERE customer = 15",
        "SELECT note FROM `orders` WHERE `Customer` BETWEEN 10 AND 20",
        "SELECT nothing FROM orders WHERE customer = 1",
    ] {
        raw.query(text);
    }
    assert_eq!(numbers(&of(&suggestions, "customer")), [4, 3, 2, 11 + 11 + 11 + 10, 2]);
}
