//! Messages as frames, and back: [`docs/format/node-filters.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/node-filters.md).

use lacuna_base::Result;

use super::{LeaseUse, Message, TableDelta, Version};
use crate::key_id::{KeyId, TableId};
use crate::slots::Slots;
use crate::wire::{self, Reader, Writer, malformed};

/// Bits of a table in a delta.
const RESET: u8 = 1;
const SLOTS: u8 = 2;

/// The kind of a frame that carries another one.
const CARRIES: u8 = 11;

impl Message {
    /// The message as a frame.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = wire::begin(self.kind());
        match self {
            Self::Request { number, applied, ring, lease_use } => {
                writer.number(*number);
                put_version(&mut writer, *applied);
                writer.word(*ring);
                writer.byte(match lease_use {
                    LeaseUse::None => 0,
                    LeaseUse::Answer => 1,
                    LeaseUse::Count => 2,
                });
            }
            Self::Grant { number, version, ring, length, catalog } => {
                writer.number(*number);
                put_version(&mut writer, *version);
                [*ring, *length, *catalog].into_iter().for_each(|word| writer.word(word));
            }
            Self::Delta { incarnation, sequence, tables } => {
                writer.word(*incarnation);
                writer.number(*sequence);
                tables.iter().for_each(|(table, delta)| put_table_delta(&mut writer, *table, delta));
            }
            Self::Applied(version) | Self::Missing(version) | Self::Gap(version) => {
                put_version(&mut writer, *version);
            }
            Self::AppliedAnd { applied, frame } => {
                put_version(&mut writer, *applied);
                writer.fixed(frame);
            }
            Self::AskCatalog => {}
            Self::Catalog { incarnation, tables } => {
                writer.word(*incarnation);
                for (table, generation) in tables {
                    writer.wide(table.0);
                    writer.number(*generation);
                }
            }
            Self::AskChunk { table, sequence, index } => {
                writer.wide(table.0);
                writer.word(*sequence);
                writer.number(*index);
            }
            Self::Chunk { table, version, open, generation, index, count, check, bytes } => {
                writer.wide(table.0);
                put_version(&mut writer, *version);
                put_slots(&mut writer, *open);
                [*generation, *index, *count, u64::from(*check)].into_iter().for_each(|n| writer.number(n));
                writer.bytes(bytes);
            }
        }
        wire::close(writer)
    }

    /// The message of a frame.
    ///
    /// # Errors
    /// `Corrupt` if the frame is cut or damaged, `Unsupported` if it is newer. Either way: as if it had been lost.
    pub fn from_bytes(frame: &[u8]) -> Result<Self> {
        let (kind, mut reader) = wire::open(frame)?;
        let message = Self::read(kind, &mut reader)?;
        if reader.is_at_end() { Ok(message) } else { Err(malformed("end")) }
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Request { .. } => 1,
            Self::Grant { .. } => 2,
            Self::Delta { .. } => 3,
            Self::Applied(_) => 4,
            Self::Missing(_) => 5,
            Self::Gap(_) => 6,
            Self::AskCatalog => 7,
            Self::Catalog { .. } => 8,
            Self::AskChunk { .. } => 9,
            Self::Chunk { .. } => 10,
            Self::AppliedAnd { .. } => CARRIES,
        }
    }

    fn read(kind: u8, reader: &mut Reader<'_>) -> Result<Self> {
        Ok(match kind {
            1 => Self::Request {
                number: reader.number()?,
                applied: version(reader)?,
                ring: reader.word()?,
                lease_use: match reader.byte()? {
                    0 => LeaseUse::None,
                    1 => LeaseUse::Answer,
                    2 => LeaseUse::Count,
                    _ => return Err(malformed("use of a lease")),
                },
            },
            2 => Self::Grant {
                number: reader.number()?,
                version: version(reader)?,
                ring: reader.word()?,
                length: reader.word()?,
                catalog: reader.word()?,
            },
            3 => Self::Delta {
                incarnation: reader.word()?,
                sequence: reader.number()?,
                tables: until_end(reader, table_delta)?,
            },
            4 => Self::Applied(version(reader)?),
            5 => Self::Missing(version(reader)?),
            6 => Self::Gap(version(reader)?),
            7 => Self::AskCatalog,
            8 => Self::Catalog {
                incarnation: reader.word()?,
                tables: until_end(reader, |reader| Ok((TableId(reader.wide()?), reader.number()?)))?,
            },
            9 => Self::AskChunk {
                table: TableId(reader.wide()?),
                sequence: reader.word()?,
                index: reader.number()?,
            },
            10 => Self::Chunk {
                table: TableId(reader.wide()?),
                version: version(reader)?,
                open: slots(reader)?,
                generation: reader.number()?,
                index: reader.number()?,
                count: reader.number()?,
                check: u32::try_from(reader.number()?).map_err(|_| malformed("checksum"))?,
                bytes: reader.bytes()?.to_vec(),
            },
            CARRIES => Self::AppliedAnd { applied: version(reader)?, frame: carried(reader)? },
            _ => return Err(malformed("kind")),
        })
    }
}

fn put_version(writer: &mut Writer, version: Version) {
    writer.word(version.incarnation);
    writer.number(version.sequence);
    writer.word(version.digest);
}

fn version(reader: &mut Reader<'_>) -> Result<Version> {
    Ok(Version { incarnation: reader.word()?, sequence: reader.number()?, digest: reader.word()? })
}

/// A frame inside of another one carries none itself, so that frames are never deeper.
fn carried(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    match reader.take_rest() {
        [_, CARRIES, ..] => Err(malformed("frame in a frame")),
        frame => Ok(frame.to_vec()),
    }
}

fn put_slots(writer: &mut Writer, slots: Slots) {
    slots.words().into_iter().for_each(|word| writer.word(word));
}

fn slots(reader: &mut Reader<'_>) -> Result<Slots> {
    Ok(Slots::from_words([reader.word()?, reader.word()?, reader.word()?, reader.word()?]))
}

fn put_table_delta(writer: &mut Writer, table: TableId, delta: &TableDelta) {
    writer.wide(table.0);
    let reset = if delta.is_reset { RESET } else { 0 };
    writer.byte(if delta.open.is_some() { reset | SLOTS } else { reset });
    if let Some(open) = delta.open {
        put_slots(writer, open);
    }
    writer.number(delta.keys.len() as u64);
    delta.keys.iter().for_each(|key| writer.word(*key));
    writer.number(delta.dead.len() as u64);
    for (id, time) in &delta.dead {
        [id.hash(), id.check(), *time].into_iter().for_each(|word| writer.word(word));
    }
}

fn table_delta(reader: &mut Reader<'_>) -> Result<(TableId, TableDelta)> {
    let (table, bits) = (TableId(reader.wide()?), reader.byte()?);
    if bits > RESET | SLOTS {
        return Err(malformed("bits of a table"));
    }
    let open = (bits & SLOTS != 0).then(|| slots(reader)).transpose()?;
    let keys = (0..reader.number()?).map(|_| reader.word()).collect::<Result<_>>()?;
    let dead =
        |reader: &mut Reader<'_>| Ok((KeyId::from_halves(reader.word()?, reader.word()?), reader.word()?));
    let dead = (0..reader.number()?).map(|_| dead(reader)).collect::<Result<_>>()?;
    Ok((table, TableDelta { is_reset: bits & RESET != 0, open, keys, dead }))
}

fn until_end<T>(
    reader: &mut Reader<'_>,
    mut item: impl FnMut(&mut Reader<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut items = Vec::new();
    while !reader.is_at_end() {
        items.push(item(reader)?);
    }
    Ok(items)
}
