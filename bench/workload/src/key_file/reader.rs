//! A file as a stream of bytes: unpacked when its name ends in `.gz`, and its progress is reported.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use lacuna_base::{Error, Result};

/// The unpacked bytes of a file.
pub(crate) type Input<'a> = Box<dyn BufRead + 'a>;

/// Bytes asked of the system at a time; `progress` is called once for each.
const BUFFER_BYTES: usize = 1 << 18;

/// Opens the file at `path`; `progress` is called with the number of bytes taken from it so far.
pub(crate) fn open<'a>(path: &Path, progress: impl FnMut(u64) + 'a) -> Result<Input<'a>> {
    let file = File::open(path).map_err(|error| open_error(path, error))?;
    let metadata = file.metadata().map_err(|error| open_error(path, error))?;
    if metadata.is_dir() {
        return Err(Error::invalid_input(format!("{} is a directory; give a file", path.display())));
    }
    let packed = metered(file, progress);
    Ok(if is_gzip(path) {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(packed)))
    } else {
        Box::new(packed)
    })
}

/// The bytes of `file`; `progress` is called with the number taken from it so far.
pub(crate) fn metered<R: Read>(file: R, progress: impl FnMut(u64)) -> impl BufRead {
    BufReader::with_capacity(BUFFER_BYTES, Metered { file, seen: 0, progress })
}

/// The error of a read from the file at `path`, without its name.
pub(crate) fn read_error(path: &Path, error: io::Error) -> Error {
    let damaged = matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    );
    if is_gzip(path) && damaged {
        Error::invalid_input("the file is not sound gzip; pack it again or give it without .gz")
            .with_source(error)
    } else {
        Error::unavailable(format!("the file cannot be read: {error}")).with_source(error)
    }
}

pub(crate) fn open_error(path: &Path, error: io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be read; change its permissions".to_owned(),
        _ => error.to_string(),
    };
    Error::invalid_input(format!("cannot open {}: {reason}", path.display())).with_source(error)
}

fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

struct Metered<R, P> {
    file: R,
    seen: u64,
    progress: P,
}

impl<R: Read, P: FnMut(u64)> Read for Metered<R, P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.seen += count as u64;
        (self.progress)(self.seen);
        Ok(count)
    }
}
