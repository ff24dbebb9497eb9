//! The folder of a report, written whole or not at all and never over another file.

use std::fs;
use std::path::Path;

use lacuna_base::{Error, Result};
use lacuna_bench::Outcome;
use lacuna_bench::report::{Provenance, REPORT_FILES, is_report_file, report_texts};

use crate::pending_file::PendingFile;

/// The option that names the folder.
pub(crate) const OPTION: &str = "--report";

/// The files of a report on their way into a folder. Dropped before [`write`](Self::write), it leaves the folder as it was.
#[derive(Debug)]
pub(crate) struct ReportFolder {
    files: Vec<PendingFile>,
}

impl ReportFolder {
    /// Makes the folder if it is missing. `spare` refuses a file that a command reads.
    ///
    /// # Errors
    /// `InvalidInput` if a report cannot be written there, or only over another file; as `spare`.
    pub(crate) fn create(folder: &Path, spare: impl Fn(&Path) -> Result<()>) -> Result<Self> {
        let refused = |reason: String| {
            Error::invalid_input(format!("the report cannot be written into {}: {reason}", folder.display()))
        };
        if folder.is_file() {
            return Err(refused("it is a file; give a folder".to_owned()));
        }
        fs::create_dir_all(folder).map_err(|error| refused(error.to_string()).with_source(error))?;
        REPORT_FILES.iter().try_for_each(|name| spare(&folder.join(name)))?;
        let file = |name: &&str| {
            let path = folder.join(name);
            if path.is_file() && !is_report_file(&path) {
                return Err(refused(format!("its {name} is no file of a report; give another folder")));
            }
            PendingFile::create(&path)
        };
        Ok(Self { files: REPORT_FILES.iter().map(file).collect::<Result<_>>()? })
    }

    /// Writes the files.
    ///
    /// # Errors
    /// As [`PendingFile::commit`].
    pub(crate) fn write(self, title: &str, provenance: &Provenance, outcomes: &[Outcome]) -> Result<()> {
        let texts = report_texts(title, provenance, outcomes);
        self.files.into_iter().zip(texts).try_for_each(|(file, text)| file.commit(text.as_bytes()))
    }
}
