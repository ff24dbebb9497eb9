//! Transactions that read before they write, over two tables: what they see, what they hold, and how they end.

mod bank;
mod tenures;

use std::time::Duration;

use lacuna_cache::sql::{Cache, DomainType, Policy, Rows, Schema, SqlValue, Statement, Table, WriteError};
use lacuna_cache_protocol::ErrorKind;

use crate::sql::world::Place;

const LONG: Duration = Duration::from_secs(60);

/// Accounts by their numbers, and what was moved by its account.
struct Bank {
    cache: Cache,
    accounts: Table,
    moves: Table,
    _place: Place,
}

fn account(id: i64, cents: i64) -> [(&'static str, SqlValue); 2] {
    [("id", id.into()), ("cents", cents.into())]
}

fn moved(id: i64, account: i64, cents: i64) -> [(&'static str, SqlValue); 3] {
    [("id", id.into()), ("account", account.into()), ("cents", cents.into())]
}

fn cents(rows: &Rows) -> Vec<i64> {
    rows.iter().map(|row| row.integer("cents").unwrap()).collect()
}

impl Bank {
    /// Accounts 0 to 9 with 100 each.
    async fn open(policy: Policy) -> Self {
        let place = Place::new();
        let cache = place.options(policy).with_patience(Duration::from_millis(500)).open().await.unwrap();
        cache.run_sql("CREATE TABLE accounts (id INTEGER PRIMARY KEY, cents BIGINT)").await.unwrap();
        cache
            .run_sql("CREATE TABLE moves (id INTEGER PRIMARY KEY, account BIGINT, cents BIGINT)")
            .await
            .unwrap();
        let schema = |table, domain| Schema::new(table, "id").with_domain(domain, DomainType::Integer);
        let accounts = cache.table(schema("accounts", "id")).await.unwrap();
        let moves = cache.table(schema("moves", "account")).await.unwrap();
        for id in 0..10 {
            accounts.insert(account(id, 100)).await.unwrap();
        }
        Self { cache, accounts, moves, _place: place }
    }

    async fn all(&self) -> (Vec<i64>, Vec<i64>) {
        let accounts = self.accounts.get("id", 0..).await.unwrap();
        (cents(&accounts), cents(&self.moves.get("account", 0..).await.unwrap()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_sees_what_it_writes_and_all_of_it_is_seen_afterwards() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let bank = Bank::open(policy).await;
        let (before, none) = bank.all().await;
        assert_eq!((before, none), (vec![100; 10], vec![]));
        // Acknowledged, and under write-back not in the database yet.
        let first = bank.accounts.get("id", 3..=3).await.unwrap().remove(0);
        bank.accounts.update(&first, [("cents", 70.into())]).await.unwrap();
        let begin = bank.cache.transaction().on(&bank.accounts, "id", 2..=4).on_all(&bank.moves);
        let mut open = begin.begin().await.unwrap();
        let rows = open.get(&bank.accounts, "id", 2..=4).await.unwrap();
        assert_eq!(cents(&rows), [100, 70, 100], "{policy:?}");
        open.update(&bank.accounts, &rows[0], [("cents", 30.into())]).await.unwrap();
        open.delete(&bank.accounts, &rows[2]).await.unwrap();
        open.insert(&bank.moves, moved(1, 2, -70)).await.unwrap();
        let late = Statement::new("UPDATE moves SET cents = cents - 1 WHERE id = 1").expecting(1);
        open.execute(&bank.moves, &[], vec![late]).await.unwrap();
        assert_eq!(cents(&open.get(&bank.accounts, "id", 2..=4).await.unwrap()), [30, 70]);
        let sum = "SELECT SUM(cents) FROM moves WHERE account BETWEEN ? AND ?";
        let answer = open.query(&bank.moves, sum, &[0.into(), 9.into()]).await.unwrap();
        assert_eq!(answer.rows(), [[SqlValue::from(-71)]]);
        open.commit().await.unwrap();
        let (accounts, moves) = bank.all().await;
        assert_eq!(accounts, [100, 100, 30, 70, 100, 100, 100, 100, 100], "{policy:?}");
        assert_eq!(moves, [-71]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_without_a_commit_changes_nothing_and_leaves_nothing_held() {
    let bank = Bank::open(Policy::WriteThrough).await;
    let before = bank.all().await;
    for end in ["rollback", "drop", "refused", "conflict", "late", "cancelled"] {
        let begin = bank.cache.transaction().on_all(&bank.accounts).on_all(&bank.moves);
        let lasts = if end == "late" { Duration::from_millis(100) } else { LONG };
        let mut open = begin.with_duration(lasts).begin().await.unwrap();
        let row = open.get(&bank.accounts, "id", 1..=1).await.unwrap().remove(0);
        open.update(&bank.accounts, &row, [("cents", 0.into())]).await.unwrap();
        match end {
            "rollback" => open.rollback().await,
            "drop" => drop(open),
            "refused" => {
                let twice = open.insert(&bank.accounts, account(2, 5)).await;
                assert!(matches!(twice, Err(WriteError::Refused(_))), "{twice:?}");
                let over = open.insert(&bank.moves, moved(1, 1, 1)).await;
                assert!(
                    matches!(&over, Err(WriteError::NotDone(why)) if why.to_string().contains("over")),
                    "{over:?}"
                );
                let over = open.commit().await;
                assert!(matches!(over, Err(WriteError::NotDone(_))), "{over:?}");
            }
            "conflict" => {
                let gone = bank.accounts.known_row(account(77, 5)).unwrap();
                let refused = open.delete(&bank.accounts, &gone).await;
                assert!(
                    matches!(&refused, Err(WriteError::Refused(why)) if why.kind() == ErrorKind::Conflict),
                    "{refused:?}"
                );
                assert_eq!(
                    open.get(&bank.accounts, "id", 0..).await.unwrap_err().kind(),
                    ErrorKind::Conflict
                );
            }
            "late" => {
                tokio::time::sleep(Duration::from_millis(400)).await;
                // It holds nothing any more, though its handle is still there.
                assert_eq!(bank.all().await, before);
                let over = open.commit().await;
                assert!(
                    matches!(&over, Err(WriteError::NotDone(why)) if why.to_string().contains("with_duration"))
                );
            }
            _ => {
                let slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) \
                            UPDATE accounts SET cents = (SELECT MAX(i) FROM n) WHERE id = 1";
                let slow = open.execute(&bank.accounts, &[], vec![Statement::new(slow)]);
                assert!(
                    tokio::time::timeout(Duration::from_millis(20), slow).await.is_err(),
                    "it takes longer"
                );
            }
        }
        let mut after = bank.accounts.get("id", 0..).await;
        // The leases of a caller that stopped waiting are abandoned: new tenures begin.
        for _ in 0..100 {
            if after.is_ok() {
                break;
            }
            after = bank.accounts.get("id", 0..).await;
        }
        assert_eq!(cents(&after.unwrap()), before.0, "{end}");
        assert_eq!(bank.all().await, before, "{end}");
        bank.accounts.update(&row, [("cents", 100.into())]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_a_transaction_holds_waits_for_it() {
    let bank = Bank::open(Policy::WriteThrough).await;
    bank.all().await;
    let hits = bank.accounts.counts().hits;
    bank.accounts.get("id", 7..=9).await.unwrap();
    bank.accounts.get("id", 7..=9).await.unwrap();
    let mut open = bank.cache.transaction().on(&bank.accounts, "id", 2..=4).begin().await.unwrap();
    let row = open.get(&bank.accounts, "id", 2..=2).await.unwrap().remove(0);
    open.update(&bank.accounts, &row, [("cents", 1.into())]).await.unwrap();
    assert_eq!(cents(&bank.accounts.get("id", 7..=9).await.unwrap()), [100; 3]);
    assert!(bank.accounts.counts().hits > hits, "other results stay cached");
    for held in [2..=4, 0..=3, 4..=9] {
        let read = bank.accounts.get("id", held.clone()).await;
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Unavailable, "{held:?} is held");
    }
    let second = bank.cache.transaction().on(&bank.accounts, "id", 4..=5).begin().await;
    assert_eq!(second.unwrap_err().kind(), ErrorKind::Unavailable);
    open.commit().await.unwrap();
    assert_eq!(cents(&bank.accounts.get("id", 2..=4).await.unwrap()), [1, 100, 100]);
    bank.cache.transaction().on(&bank.accounts, "id", 4..=5).begin().await.unwrap().commit().await.unwrap();
}

/// It was never sent, and its caller learns that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_only_waited_for_a_transaction_is_not_done() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let bank = Bank::open(policy).await;
        let open = bank.cache.transaction().on_all(&bank.accounts).with_duration(LONG).begin().await.unwrap();
        let late = bank.accounts.insert(account(10, 100)).await;
        assert!(matches!(late, Err(WriteError::NotDone(_))), "{policy:?}: {late:?}");
        open.rollback().await;
        assert_eq!(bank.all().await.0.len(), 10, "{policy:?}");
        bank.cache.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_transaction_does_not_hold_is_refused_with_the_way_to_hold_it() {
    let bank = Bank::open(Policy::WriteThrough).await;
    let before = bank.all().await;
    let says = |refused: &str| {
        assert!(refused.contains("on_all"), "it says what to do: {refused}");
    };
    let mut open = bank.cache.transaction().on(&bank.accounts, "id", 2..=4).begin().await.unwrap();
    says(&open.get(&bank.accounts, "id", 2..=5).await.unwrap_err().to_string());
    says(&open.get(&bank.moves, "account", 1..=1).await.unwrap_err().to_string());
    let sum = "SELECT SUM(cents) FROM accounts WHERE id >= ?";
    says(&open.query(&bank.accounts, sum, &[3.into()]).await.unwrap_err().to_string());
    let nothing = "SELECT COUNT(*) FROM accounts WHERE id > 9 AND id < 3";
    assert_eq!(open.query(&bank.accounts, nothing, &[]).await.unwrap().rows(), [[SqlValue::from(0)]]);
    let refused = |done: Result<(), WriteError>| match done {
        Err(WriteError::Refused(why)) => says(&why.to_string()),
        other => panic!("{other:?}"),
    };
    refused(open.insert(&bank.accounts, account(11, 1)).await);
    let beyond = bank.accounts.known_row(account(9, 100)).unwrap();
    refused(open.update(&bank.accounts, &beyond, [("cents", 1.into())]).await);
    refused(open.delete(&bank.accounts, &beyond).await);
    refused(open.insert(&bank.moves, moved(1, 1, 1)).await);
    let all = vec![Statement::new("UPDATE accounts SET cents = 0")];
    refused(open.execute(&bank.accounts, &[], all).await);
    let end = vec![Statement::new("COMMIT")];
    let done = open.execute(&bank.accounts, &[bank.accounts.write_set("id").unwrap()], end).await;
    assert!(matches!(done, Err(WriteError::Refused(_))), "{done:?}");
    // None of these has ended it.
    assert_eq!(open.get(&bank.accounts, "id", 2..=4).await.unwrap().len(), 3);
    open.commit().await.unwrap();
    assert_eq!(bank.all().await, before);

    let none = bank.cache.transaction().begin().await.unwrap_err();
    assert!(none.kind() == ErrorKind::InvalidInput && none.to_string().contains("on_all"), "{none}");
    for wrong in [
        bank.cache.transaction().on(&bank.accounts, "cents", 1..=2),
        bank.cache.transaction().on(&bank.accounts, "id", "a".."b"),
        bank.cache.transaction().on(&bank.accounts, "id", 5..5),
        lacuna_cache::sql::open("sqlite::memory:").await.unwrap().transaction().on_all(&bank.accounts),
    ] {
        assert_eq!(wrong.begin().await.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_empty_text_is_held_like_other_texts() {
    let place = Place::new();
    let cache = place.open(Policy::WriteBack).await;
    cache.run_sql("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, note INTEGER)").await.unwrap();
    let schema = Schema::new("words", "id").with_domain("id", DomainType::Integer);
    let words = cache.table(schema.with_domain("word", DomainType::Text)).await.unwrap();
    words.insert([("id", 1.into()), ("word", "".into()), ("note", 1.into())]).await.unwrap();
    let row = words.get("word", ""..="z").await.unwrap().remove(0);
    // Acknowledged, and not in the database yet.
    words.update(&row, [("note", 2.into())]).await.unwrap();
    let mut open =
        cache.transaction().on(&words, "word", "m"..="p").on(&words, "id", 5..=9).begin().await.unwrap();
    let empty = open.get(&words, "word", ""..="").await.unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::InvalidInput);
    let sql = "SELECT COUNT(*) FROM words WHERE word = ?";
    let empty = open.query(&words, sql, &["".into()]).await.unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::InvalidInput);
    let nothing = "SELECT COUNT(*) FROM words WHERE word > 'b' AND word < 'a'";
    assert_eq!(open.query(&words, nothing, &[]).await.unwrap().rows(), [[SqlValue::from(0)]]);
    open.rollback().await;
    let mut open = cache.transaction().on(&words, "word", ""..="").begin().await.unwrap();
    assert_eq!(open.get(&words, "word", ""..="").await.unwrap()[0].integer("note"), Some(2));
    open.rollback().await;
    cache.stop().await.unwrap();
}
