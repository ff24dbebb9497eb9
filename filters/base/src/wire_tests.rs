//! Every number has one form, and bytes that no writer gives are refused.

use proptest::prelude::*;

use super::*;

fn number_of(bytes: &[u8]) -> Result<u64> {
    let mut reader = Reader::new(bytes, "a number");
    let number = reader.number()?;
    if reader.is_at_end() { Ok(number) } else { Err(reader.malformed("end")) }
}

fn check_forms(number: u64) {
    let mut bytes = Vec::new();
    write_number(&mut bytes, number);
    assert_eq!(number_of(&bytes).unwrap(), number);
    let (last, first) = bytes.split_last().unwrap();
    assert!(number_of(&[first, &[last | 0x80, 0]].concat()).is_err(), "{number} with a needless byte");
    assert!(number_of(first).is_err(), "{number} cut");
}

#[test]
fn every_size_of_number_has_one_form() {
    (0..64).map(|bits| u64::MAX >> bits).chain([0]).for_each(check_forms);
    assert!(number_of(&[0xFF; 10]).is_err(), "more than 64 bits");
}

#[test]
fn what_was_written_comes_back() {
    let mut writer = Writer::default();
    writer.byte(7);
    writer.word(u64::MAX - 1);
    writer.wide(u128::MAX - 2);
    writer.fixed(&[1, 2, 3]);
    writer.number(128);
    writer.bytes("Köln".as_bytes());
    writer.bytes_mut().push(9);
    let bytes = writer.into_bytes();
    let mut reader = Reader::new(&bytes, "it");
    assert_eq!(reader.byte().unwrap(), 7);
    assert_eq!((reader.word().unwrap(), reader.wide().unwrap()), (u64::MAX - 1, u128::MAX - 2));
    assert_eq!((reader.fixed::<3>().unwrap(), reader.small().unwrap()), ([1, 2, 3], 128));
    assert_eq!(reader.text().unwrap(), "Köln");
    assert_eq!((reader.rest(), reader.take_rest(), reader.is_at_end()), (&[9][..], &[9][..], true));
}

#[test]
fn lengths_beyond_the_end_are_damage() {
    let mut bytes = Vec::new();
    write_number(&mut bytes, u64::MAX);
    assert!(Reader::new(&bytes, "it").bytes().is_err());
    assert!(Reader::new(&bytes, "it").small().is_err(), "more than 32 bits");
    assert_eq!(
        Reader::new(&[1, 0xFF], "it").text().unwrap_err().to_string(),
        "it is cut or damaged at its text"
    );
}

proptest! {
    #[test]
    fn numbers_have_one_form(number: u64, bits in 0..64) {
        check_forms(number >> bits);
    }

    /// Whatever the bytes are: what is read is what would be written, or damage.
    #[test]
    fn hostile_bytes_are_read_as_written_or_refused(bytes: Vec<u8>) {
        let mut reader = Reader::new(&bytes, "it");
        while !reader.is_at_end() {
            let before = reader.rest();
            let Ok(string) = reader.bytes() else { break };
            let mut again = Vec::new();
            write_bytes(&mut again, string);
            prop_assert!(before.starts_with(&again));
        }
        while reader.number().is_ok() {}
    }
}
