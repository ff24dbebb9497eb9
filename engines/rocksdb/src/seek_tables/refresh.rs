//! Which tables there are now, and what is known of each.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lacuna_rocksdb_property::{PROPERTY_NAME, SeekRun, SeekTable};
use rust_rocksdb::{Error, LiveFile};

use super::SeekTables;
use crate::live_tables::{FileKey, LiveTables};
use crate::raw_table::{NotOpened, RawTable};

impl SeekTables {
    /// Reads those that are new and forgets those that are gone; returns how many were read. Worth it once flushes and
    /// compactions have replaced many, and never needed for a right answer.
    ///
    /// # Errors
    /// As [`load`](Self::load); what was known is then kept.
    pub fn refresh<D: LiveTables>(&mut self, db: &D) -> Result<usize, Error> {
        let files = db.live_tables()?;
        let mut levels: BTreeMap<i32, Vec<Arc<SeekTable>>> = BTreeMap::new();
        let (mut known, mut read) = (HashMap::new(), 0);
        for file in files.iter().filter(|file| file.column_family_name == self.family) {
            let key = FileKey::of(file);
            let found = self.known.remove(&key).map(|table| (table, true));
            read += usize::from(found.is_none());
            let (table, is_read) = found.unwrap_or_else(|| self.open(file, &key));
            levels.entry(file.level).or_default().push(Arc::clone(&table));
            if is_read {
                known.insert(key, table);
            }
        }
        let level_0 =
            levels.remove(&0).unwrap_or_default().into_iter().map(|table| SeekRun::new(vec![table]));
        self.runs = level_0.chain(levels.into_values().map(SeekRun::new)).collect();
        self.known = known;
        Ok(read)
    }

    /// The facts that a file gives about its table, and whether they are final.
    fn open(&self, file: &LiveFile, key: &FileKey) -> (Arc<SeekTable>, bool) {
        let table = RawTable::open(&self.options, key.path(), &mut 0);
        let is_read = matches!(table, Ok(_) | Err(NotOpened::Foreign | NotOpened::OtherOrder));
        let property = table.as_ref().ok().and_then(|table| table.property(PROPERTY_NAME));
        let ends = (file.start_key.clone().unwrap_or_default(), file.end_key.clone().unwrap_or_default());
        (Arc::new(SeekTable::new(ends.0, ends.1, property, self.lacuna.spec().codec())), is_read)
    }
}
