//! Where a store keeps its files if it has less memory than they need: on a disk.
//!
//! The folder of temporary files may be in memory. The folder of the build, where this program is, seldom is, and the type of its
//! file system says so.

use std::path::{Path, PathBuf};

use lacuna_base::{Error, Result};

/// Types of file systems that keep files in memory.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// The folder that was asked for, else that of this program.
///
/// # Errors
/// `InvalidInput` if it is none, or is in memory.
pub(crate) fn chosen(asked: Option<&Path>) -> Result<PathBuf> {
    let folder = match asked {
        Some(folder) => folder.to_owned(),
        None => own_folder()?,
    };
    let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        Error::invalid_input(format!("{} is no folder: a store cannot keep its data there", folder.display()))
    })?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    match kind(&mounts, &folder) {
        Some(kind) if IN_MEMORY.contains(&kind) => Err(Error::invalid_input(format!(
            "{} is in memory ({kind}), where no store waits for a disk: give --data-folder on one",
            folder.display()
        ))),
        _ => Ok(folder),
    }
}

fn own_folder() -> Result<PathBuf> {
    let program = std::env::current_exe().ok();
    program
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_owned)
        .ok_or_else(|| Error::unavailable("the folder of this program is unknown: give --data-folder"))
}

/// The type of the file system of `folder` by the table of mounts: the longest mount point before it, the last of equals.
fn kind<'a>(mounts: &'a str, folder: &Path) -> Option<&'a str> {
    let mount = |line: &'a str| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    };
    let before = mounts.lines().filter_map(mount).filter(|(point, _)| folder.starts_with(point));
    before.max_by_key(|(point, _)| point.components().count()).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_says_the_type() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/vdb /tmp/disk xfs rw 0 0\n";
        let cases = [("/tmp", "tmpfs"), ("/tmp/a", "tmpfs"), ("/tmp/disk/a", "xfs"), ("/tmpx", "ext4")];
        for (folder, expected) in cases {
            assert_eq!(kind(mounts, Path::new(folder)), Some(expected), "{folder}");
        }
        assert_eq!(kind("", Path::new("/tmp")), None);
    }

    #[test]
    fn what_is_no_folder_is_refused() {
        let why = chosen(Some(Path::new("/there/is/none"))).unwrap_err().to_string();
        assert!(why.contains("/there/is/none is no folder"), "{why}");
        if Path::new("/proc/self/mounts").exists() && Path::new("/dev/shm").is_dir() {
            let why = chosen(Some(Path::new("/dev/shm"))).unwrap_err().to_string();
            assert!(why.contains("in memory (tmpfs)"), "{why}");
        }
    }
}
