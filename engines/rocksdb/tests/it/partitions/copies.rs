//! Copies of a database without the partition files, with those of another, and with numbers that are used again.

use std::fs;

use rust_rocksdb::backup::{BackupEngine, BackupEngineOptions, RestoreOptions};
use rust_rocksdb::checkpoint::Checkpoint;
use rust_rocksdb::{DB, Env, Options, SstFileWriter};

use super::{Home, filters};
use crate::support::key;

/// A database of two tables, all of whose gaps are denied.
fn two_tables(home: &Home) -> super::Opened {
    let opened = home.open();
    opened.write(0, 2);
    opened.write(1, 2);
    assert!(opened.passed() < 5);
    assert_eq!(home.files(), 2);
    opened
}

#[test]
fn a_checkpoint_answers_rightly_without_the_files_and_with_them() {
    let home = Home::new();
    let opened = two_tables(&home);
    Checkpoint::new(&opened.db).unwrap().create_checkpoint(home.path("copy")).unwrap();
    let copy = home.open_at(&home.path("copy"), &home.path("none"));
    assert_eq!(copy.passed(), 199, "every gap in both tables, but the one below the second");
    let stats = copy.store.stats();
    assert!(stats.missing >= 199 && stats.unasked() == stats.missing, "{stats}");
    drop(copy);
    for entry in fs::read_dir(home.partitions()).unwrap() {
        let from = entry.unwrap().path();
        fs::copy(&from, home.path("none").join(from.file_name().unwrap())).unwrap();
    }
    assert!(home.open_at(&home.path("copy"), &home.path("none")).passed() < 5);
}

#[test]
fn a_restored_backup_answers_rightly_among_the_files_of_what_came_after() {
    let home = Home::new();
    let opened = two_tables(&home);
    let backups = BackupEngineOptions::new(home.path("backup")).unwrap();
    let mut engine = BackupEngine::open(&backups, &Env::new().unwrap()).unwrap();
    engine.create_new_backup(&opened.db).unwrap();
    // The files go with their tables, and the numbers of the tables will be used again.
    opened.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    opened.write(3, 5);
    drop(opened);
    DB::destroy(&Options::default(), home.path("db")).unwrap();
    engine.restore_from_latest_backup(home.path("db"), home.path("db"), &RestoreOptions::default()).unwrap();
    let restored = home.open();
    assert_eq!(restored.passed(), 199, "the files of the two tables are gone");
    let left = home.files();
    assert_eq!(restored.lacuna.remove_unused_partitions(&restored.options, &restored.db).unwrap(), left);
    restored.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    assert!(restored.passed() < 5, "compaction writes new ones");
    assert_eq!(home.files(), 1);
}

#[test]
fn a_database_made_anew_in_the_same_place_meets_old_files() {
    let home = Home::new();
    drop(two_tables(&home));
    DB::destroy(&Options::default(), home.path("db")).unwrap();
    let anew = home.open();
    // Other keys under the numbers of the old tables.
    anew.write(0, 1);
    assert!(anew.passed() < 5);
    assert_eq!(home.files(), 3);
    assert_eq!(anew.lacuna.remove_unused_partitions(&anew.options, &anew.db).unwrap(), 2);
    assert!(anew.passed() < 5, "its own file stays");
}

#[test]
fn swapped_and_damaged_files_are_read_as_if_there_were_none() {
    let home = Home::new();
    drop(two_tables(&home));
    let mut files: Vec<_> =
        fs::read_dir(home.partitions()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let bytes = files.iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
    fs::write(&files[0], &bytes[1]).unwrap();
    fs::write(&files[1], &bytes[0]).unwrap();
    let opened = home.open();
    assert_eq!(opened.passed(), 199);
    assert!(opened.store.stats().damaged >= 199, "{}", opened.lacuna.stats());
    drop(opened);
    fs::write(&files[0], &bytes[0]).unwrap();
    fs::write(&files[1], &bytes[1][..bytes[1].len() / 2]).unwrap();
    assert!((30..70).contains(&home.open().passed()), "half of one table");
}

#[test]
fn ingested_tables_bring_their_files() {
    let home = Home::new();
    let opened = home.open();
    let ingest = |options: &Options, name: &str, first: u64| {
        let mut writer = SstFileWriter::create(options);
        writer.open(home.path(name)).unwrap();
        (first..10_000).step_by(2).for_each(|number| writer.put(key(number), b"value").unwrap());
        writer.finish().unwrap();
        opened.db.ingest_external_file(vec![home.path(name)]).unwrap();
    };
    ingest(&opened.options, "even.sst", 0);
    // Written elsewhere, where the files stayed.
    let (_, _, elsewhere) = filters(&home.path("elsewhere"));
    ingest(&elsewhere, "odd.sst", 1);
    assert_eq!(home.files(), 1);
    let passed = opened.passed();
    assert!((99..105).contains(&passed), "{passed}: one of two tables");
    opened.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    assert!(opened.passed() < 5);
    assert_eq!(home.files(), 1, "the file of the ingested table went with it");
}
