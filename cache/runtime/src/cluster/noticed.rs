//! Notices as they are sent to listeners, and their bytes.

use std::time::Duration;

use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Command, Notice};

use crate::cluster::frame::malformed;
use crate::cluster::parts::{read_touched, write_touched};

/// A request for notices, and from where on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listen {
    pub(crate) within_ms: u64,
    /// The last position received: the number of a journal, 0 for none, and of its next notice.
    pub(crate) journal: u64,
    pub(crate) next: u64,
    /// How long this caller has been listening. Older notices are not for it.
    pub(crate) age_ms: u64,
}

/// The notices for a listener.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Noticed {
    pub(crate) journal: u64,
    pub(crate) next: u64,
    /// The addresses of others that may have notices, too.
    pub(crate) members: Vec<String>,
    pub(crate) notices: Vec<Notice>,
}

impl Listen {
    pub(crate) fn age(self) -> Duration {
        Duration::from_millis(self.age_ms)
    }

    pub(crate) fn write(self, to: &mut Writer) {
        [self.within_ms, self.journal, self.next, self.age_ms].iter().for_each(|number| to.number(*number));
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (within_ms, journal) = (from.number()?, from.number()?);
        Ok(Self { within_ms, journal, next: from.number()?, age_ms: from.number()? })
    }
}

impl Noticed {
    pub(crate) fn write(&self, to: &mut Writer) {
        to.number(self.journal);
        to.number(self.next);
        to.number(self.members.len() as u64);
        self.members.iter().for_each(|member| to.bytes(member.as_bytes()));
        to.number(self.notices.len() as u64);
        self.notices.iter().for_each(|notice| write_notice(to, notice));
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (journal, next, count) = (from.number()?, from.number()?, from.length()?);
        let members = (0..count).map(|_| Ok(from.text()?)).collect::<Result<_>>()?;
        let notices = (0..from.length()?).map(|_| read_notice(from)).collect::<Result<_>>()?;
        Ok(Self { journal, next, members, notices })
    }
}

/// Bytes of a notice in a message.
pub(crate) fn notice_bytes(notice: &Notice) -> usize {
    let mut writer = Writer::default();
    write_notice(&mut writer, notice);
    writer.as_bytes().len()
}

fn write_notice(to: &mut Writer, notice: &Notice) {
    match notice {
        Notice::MayBeMissing => to.byte(0),
        Notice::SetAside(writes) => {
            to.byte(1);
            to.number(writes.len() as u64);
            for (lsn, command) in writes {
                to.number(*lsn);
                to.bytes(command.as_bytes());
            }
        }
        Notice::BufferedWritesLost => to.byte(2),
        Notice::WritingThrough => to.byte(3),
        Notice::BypassDetected(touched) => {
            to.byte(4);
            write_touched(to, touched);
        }
        // This version of the format has no other.
        _ => to.byte(0),
    }
}

fn read_notice(from: &mut Reader<'_>) -> Result<Notice> {
    Ok(match from.byte()? {
        0 => Notice::MayBeMissing,
        1 => {
            let count = from.length()?;
            let write = |_| Ok((from.number()?, Command::new(from.bytes()?)));
            Notice::SetAside((0..count).map(write).collect::<Result<_>>()?)
        }
        2 => Notice::BufferedWritesLost,
        3 => Notice::WritingThrough,
        4 => Notice::BypassDetected(read_touched(from)?),
        _ => return Err(malformed("notice")),
    })
}
