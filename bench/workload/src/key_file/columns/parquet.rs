//! A column of an Apache Parquet file. The file says what its values are.

use std::fs::File;
use std::path::Path;

use lacuna_base::{Date, Error, KeyType, Result, TimeUnit, TypedKey as _};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit as FileUnit, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::FirstRow;
use crate::key_file::reader::open_error;
use crate::key_file::{Collected, ReadOptions};
use crate::key_text::number_key;
use crate::{Key, TypedKeys};

/// Rows that are read at a time.
const ROWS: usize = 1 << 14;

/// Reads the keys.
pub(super) fn read(
    path: &Path,
    column: &str,
    first_row: Option<FirstRow>,
    options: &ReadOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<TypedKeys> {
    if first_row.is_some() {
        return Err(Error::invalid_input("a Parquet file names its columns apart; leave out --first-row"));
    }
    let file = File::open(path).map_err(|error| open_error(path, error))?;
    let file = SerializedFileReader::new(file).map_err(unreadable)?;
    let place = place_of(&file, column)?;
    let found = Values::of(&file.metadata().file_metadata().schema_descr().column(place))?;
    if found.is_unsaid && options.key_type.is_none() {
        return Err(Error::invalid_input(
            "the column does not say what its byte strings are; give --key-type text or hex",
        ));
    }
    let key_type = found.read_as(options.key_type)?;
    let mut rows =
        Rows { collected: Collected::new(key_type, options.sort), values: found, key_type, count: 0 };
    let mut seen = 0;
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(unreadable)?;
        rows.take(group.get_column_reader(place).map_err(unreadable)?)?;
        seen += u64::try_from(group.metadata().compressed_size()).unwrap_or(0);
        progress(seen);
    }
    rows.collected.finish()
}

/// What the integers of a column count, and the type of its keys.
#[derive(Debug, Clone, Copy)]
struct Values {
    key_type: KeyType,
    /// Nanoseconds of one unit of a moment.
    unit_nanos: i64,
    /// Whether these are byte strings of which the file does not say what they stand for.
    is_unsaid: bool,
}

impl Values {
    fn of(column: &ColumnDescriptor) -> Result<Self> {
        if column.max_rep_level() > 0 {
            return Err(unusable(column, "holds lists"));
        }
        let plain = |key_type| Ok(Self { key_type, unit_nanos: 1, is_unsaid: false });
        let moments = |unit_nanos| {
            let key_type = KeyType::Timestamp(TimeUnit::Microseconds);
            Ok(Self { key_type, unit_nanos, is_unsaid: false })
        };
        let (logical, converted) = (column.logical_type_ref(), column.converted_type());
        match (logical, converted, column.physical_type()) {
            (Some(LogicalType::Date), ..) | (_, ConvertedType::DATE, _) => plain(KeyType::Date),
            (Some(LogicalType::Timestamp(moment)), ..) => moments(match moment.unit {
                FileUnit::MILLIS => 1_000_000,
                FileUnit::MICROS => 1_000,
                FileUnit::NANOS => 1,
            }),
            (_, ConvertedType::TIMESTAMP_MILLIS, _) => moments(1_000_000),
            (_, ConvertedType::TIMESTAMP_MICROS, _) => moments(1_000),
            (Some(LogicalType::Decimal(_)), ..) | (_, ConvertedType::DECIMAL, _) => {
                Err(unusable(column, "holds decimals"))
            }
            (Some(LogicalType::Float16), ..) => Err(unusable(column, "holds floats of 16 bits")),
            (Some(LogicalType::Integer(integer)), ..) if !integer.is_signed => plain(KeyType::U64),
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
                _,
            ) => plain(KeyType::U64),
            (Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), ..)
            | (_, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON, _) => plain(KeyType::Text),
            (_, _, PhysicalType::INT32 | PhysicalType::INT64) => plain(KeyType::I64),
            (_, _, PhysicalType::FLOAT | PhysicalType::DOUBLE) => plain(KeyType::F64),
            (_, _, PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY) => {
                let is_unsaid = logical.is_none() && converted == ConvertedType::NONE;
                Ok(Self { key_type: KeyType::Hex, unit_nanos: 1, is_unsaid })
            }
            (_, _, PhysicalType::BOOLEAN | PhysicalType::INT96) => {
                Err(unusable(column, "holds truth values or moments of the old form"))
            }
        }
    }

    /// The type of the keys: the file's, or the one asked for where both have the same keys.
    fn read_as(self, asked: Option<KeyType>) -> Result<KeyType> {
        match (self.key_type, asked) {
            (found, None) => Ok(found),
            (found, Some(asked)) if found.name() == asked.name() => Ok(asked),
            (KeyType::Hex | KeyType::Text, Some(asked)) if asked.is_bytes() => Ok(asked),
            (found, Some(asked)) => Err(Error::invalid_input(format!(
                "the column holds values of type {}, not {}; leave out --key-type",
                found.name(),
                asked.name()
            ))),
        }
    }

    fn integer(self, value: i64, key_type: KeyType) -> Key<'static> {
        Key::U64(match key_type {
            KeyType::U64 => value.cast_unsigned(),
            KeyType::Date => Date { days: i32::try_from(value).unwrap_or(i32::MAX) }.to_key(),
            KeyType::Timestamp(unit) => {
                let nanos = i128::from(value) * i128::from(self.unit_nanos);
                let units = nanos.div_euclid(i128::from(unit.micros()) * 1_000);
                i64::try_from(units).unwrap_or(if units < 0 { i64::MIN } else { i64::MAX }).to_key()
            }
            _ => value.to_key(),
        })
    }
}

/// Values on their way to keys.
struct Rows {
    collected: Collected,
    values: Values,
    key_type: KeyType,
    count: u64,
}

impl Rows {
    fn take(&mut self, column: ColumnReader) -> Result<()> {
        let (values, key_type) = (self.values, self.key_type);
        // An unsigned integer of 32 bits is stored in a signed one.
        let narrow = move |value: &i32| match key_type {
            KeyType::U64 => i64::from(value.cast_unsigned()),
            _ => i64::from(*value),
        };
        match column {
            ColumnReader::Int32ColumnReader(column) => {
                self.take_all(column, move |value| Ok(values.integer(narrow(value), key_type)))
            }
            ColumnReader::Int64ColumnReader(column) => {
                self.take_all(column, move |value| Ok(values.integer(*value, key_type)))
            }
            // Every number of 32 bits is one of 64.
            ColumnReader::FloatColumnReader(column) => {
                self.take_all(column, |value| number_key(f64::from(*value)))
            }
            ColumnReader::DoubleColumnReader(column) => self.take_all(column, |value| number_key(*value)),
            ColumnReader::ByteArrayColumnReader(column) => self.take_all(column, |value| Ok(bytes(value))),
            ColumnReader::FixedLenByteArrayColumnReader(column) => {
                self.take_all(column, |value| Ok(bytes(value)))
            }
            ColumnReader::BoolColumnReader(_) | ColumnReader::Int96ColumnReader(_) => {
                unreachable!("the type of the column was checked")
            }
        }
    }

    fn take_all<T: DataType>(
        &mut self,
        mut column: ColumnReaderImpl<T>,
        key: impl Fn(&T::T) -> Result<Key<'_>>,
    ) -> Result<()> {
        loop {
            let (mut values, mut levels) = (Vec::with_capacity(ROWS), Vec::with_capacity(ROWS));
            let (rows, _, _) =
                column.read_records(ROWS, Some(&mut levels), None, &mut values).map_err(unreadable)?;
            for value in &values {
                self.count += 1;
                let count = self.count;
                let place = || format!("value number {count}");
                let key = key(value).map_err(|error| error.with_context(place()))?;
                self.collected.add(&key, place)?;
            }
            if rows == 0 {
                return Ok(());
            }
        }
    }
}

fn bytes(value: &ByteArray) -> Key<'_> {
    Key::Bytes(value.data().into())
}

/// The place of the column with this name, the names of nested ones joined by dots.
fn place_of(file: &SerializedFileReader<File>, column: &str) -> Result<usize> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let mut places = columns.iter().enumerate().filter(|(_, found)| found.path().string() == column);
    let (place, other) = (places.next(), places.next());
    if other.is_some() {
        return Err(Error::invalid_input(format!(
            "the file has several columns `{column}`; give each a name of its own"
        )));
    }
    place.map(|(place, _)| place).ok_or_else(|| {
        let names: Vec<_> = columns.iter().take(20).map(|found| found.path().string()).collect();
        Error::invalid_input(format!("there is no column `{column}`; the file has {}", names.join(", ")))
    })
}

fn unusable(column: &ColumnDescriptor, what: &str) -> Error {
    Error::invalid_input(format!("the column {} {what}, which are no keys", column.path().string()))
}

fn unreadable(error: ParquetError) -> Error {
    Error::invalid_input(format!("the file is not sound Parquet: {error}")).with_source(error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use parquet::data_type::{ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::{Keys, parse_key};

    /// The keys of a file of one column `c`, in which a missing value is a null.
    fn read_back<T: DataType>(
        column: &str,
        values: &[T::T],
        levels: Option<&[i16]>,
        asked: Option<KeyType>,
    ) -> Result<TypedKeys> {
        // Tests run at the same time, some of them with equal columns.
        static FILES: AtomicU64 = AtomicU64::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("lacuna-{}-{number}.parquet", std::process::id()));
        let schema = Arc::new(parse_message_type(&format!("message keys {{ {column}; }}")).unwrap());
        let mut file =
            SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::default()).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut writer = group.next_column().unwrap().unwrap();
        writer.typed::<T>().write_batch(values, levels, None).unwrap();
        writer.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        let read = read(&path, "c", None, &ReadOptions { key_type: asked, sort: true }, &mut |_| {});
        std::fs::remove_file(&path).unwrap();
        read
    }

    #[test]
    fn the_file_says_what_its_values_are() {
        let found = read_back::<Int64Type>("OPTIONAL INT64 c", &[5, -7], Some(&[1, 0, 1]), None).unwrap();
        assert_eq!(
            found,
            TypedKeys { keys: Keys::U64(vec![(-7_i64).to_key(), 5_i64.to_key()]), key_type: KeyType::I64 }
        );
        let days = read_back::<Int32Type>("REQUIRED INT32 c (DATE)", &[19_753], None, None).unwrap();
        assert_eq!(
            days,
            TypedKeys { keys: Keys::U64(vec![Date { days: 19_753 }.to_key()]), key_type: KeyType::Date }
        );
        let moments =
            read_back::<Int64Type>("REQUIRED INT64 c (TIMESTAMP(MILLIS,true))", &[1_500, 2_000], None, None);
        assert_eq!(moments.unwrap().key_type, KeyType::Timestamp(TimeUnit::Milliseconds));
        let unsigned =
            read_back::<Int32Type>("REQUIRED INT32 c (INTEGER(32,false))", &[-1], None, None).unwrap();
        assert_eq!(
            unsigned,
            TypedKeys { keys: Keys::U64(vec![u64::from(u32::MAX)]), key_type: KeyType::U64 }
        );
        let words = [ByteArray::from("b"), ByteArray::from("a")];
        let texts = read_back::<ByteArrayType>("REQUIRED BYTE_ARRAY c (STRING)", &words, None, None).unwrap();
        assert_eq!(
            texts,
            TypedKeys { keys: Keys::Bytes(["a", "b"].iter().collect()), key_type: KeyType::Text }
        );
    }

    #[test]
    fn texts_are_known_or_asked_about() {
        let words = [ByteArray::from("1234"), ByteArray::from("cafe")];
        let texts =
            TypedKeys { keys: Keys::Bytes(["1234", "cafe"].iter().collect()), key_type: KeyType::Text };
        let read = |column: &str, values: &[ByteArray], asked| {
            read_back::<ByteArrayType>(column, values, None, asked)
        };
        for column in ["ENUM", "JSON", "UTF8"].map(|old| format!("REQUIRED BYTE_ARRAY c ({old})")) {
            assert_eq!(read(&column, &words, None).unwrap(), texts, "{column}");
        }
        let plain = "REQUIRED BYTE_ARRAY c";
        let asked = read(plain, &words, None).unwrap_err().to_string();
        assert!(asked.contains("give --key-type text or hex"), "{asked}");
        assert_eq!(read(plain, &words, Some(KeyType::Text)).unwrap(), texts);
        let hex = read(plain, &words, Some(KeyType::Hex)).unwrap();
        assert_eq!(hex, TypedKeys { key_type: KeyType::Hex, ..texts });
        // One of them that is no text makes hexadecimal of none.
        let mixed = [ByteArray::from("1234"), ByteArray::from("a\nb")];
        assert!(read(plain, &mixed, None).is_err());
    }

    /// As writers did that knew only the old annotations.
    #[test]
    fn old_annotations_are_read_alone() {
        let of = |old| {
            let column = parquet::schema::types::Type::primitive_type_builder("c", PhysicalType::BYTE_ARRAY)
                .with_converted_type(old)
                .build()
                .unwrap();
            let path = parquet::schema::types::ColumnPath::new(vec!["c".to_owned()]);
            let column = ColumnDescriptor::new(Arc::new(column), 0, 0, path);
            Values::of(&column).unwrap()
        };
        for old in [ConvertedType::ENUM, ConvertedType::JSON, ConvertedType::UTF8] {
            assert_eq!(of(old).key_type, KeyType::Text, "{old}");
        }
        assert!(of(ConvertedType::NONE).is_unsaid && !of(ConvertedType::BSON).is_unsaid);
    }

    #[test]
    fn numbers_of_32_bits_are_the_same_numbers_in_64() {
        let values = [0.1_f32, -1.5, f32::INFINITY];
        let found = read_back::<FloatType>("REQUIRED FLOAT c", &values, None, None).unwrap();
        let widened = [-1.5_f64, f64::from(0.1_f32), f64::INFINITY].map(lacuna_base::TypedKey::to_key);
        assert_eq!(found, TypedKeys { keys: Keys::U64(widened.to_vec()), key_type: KeyType::F64 });
        assert_eq!(parse_key(KeyType::F64, b"0.10000000149011612").unwrap(), Key::U64(widened[1]));
        assert_ne!(parse_key(KeyType::F64, b"0.1").unwrap(), Key::U64(widened[1]));
    }

    #[test]
    fn not_a_number_is_refused_by_its_place() {
        let narrow = read_back::<FloatType>("REQUIRED FLOAT c", &[1.0, f32::NAN], None, None);
        let wide = read_back::<DoubleType>("REQUIRED DOUBLE c", &[1.0, f64::NAN], None, None);
        for error in [narrow.unwrap_err(), wide.unwrap_err()] {
            assert!(error.to_string().contains("value number 2: NaN is no key"), "{error}");
        }
    }

    #[test]
    fn another_type_is_refused() {
        let asked = Some(KeyType::U64);
        let error = read_back::<Int64Type>("REQUIRED INT64 c", &[5], None, asked).unwrap_err().to_string();
        assert!(error.contains("holds values of type i64, not u64"), "{error}");
        let error = read_back::<Int64Type>("REQUIRED INT64 d", &[5], None, None).unwrap_err().to_string();
        assert!(error.contains("there is no column `c`; the file has d"), "{error}");
    }
}
