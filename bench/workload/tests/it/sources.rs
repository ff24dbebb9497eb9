//! Key and query sources: what reads, what does not, and what is said then.

use lacuna_workload::{
    ErrorKind, Kept, KeyShape, KeySource, KeyType, Keys, Lengths, QueryShape, QuerySource, ReadOptions, Want,
};

#[test]
fn key_sources_read_as_typed() {
    for (text, shape, count) in [
        ("uniform:10_000", KeyShape::Uniform, 10_000),
        ("normal:10k", KeyShape::Normal, 10_000),
        ("zipf:1M", KeyShape::Zipf, 1_000_000),
        ("clustered:1e6", KeyShape::Clustered, 1_000_000),
        ("skew99:2^10", KeyShape::Skew99, 1_024),
    ] {
        let source = KeySource::parse(text).unwrap();
        assert_eq!(source, KeySource::Generated { shape, count }, "{text}");
        assert_eq!(KeySource::parse(&source.to_string()).unwrap(), source, "{text}");
        assert_eq!(source.describe().lines().count(), 2, "{text}");
    }
    for text in ["keys.u64", "unifrom:3", "C:keys.txt", "dir/keys.txt.gz"] {
        let source = KeySource::parse(text).unwrap();
        assert_eq!(source, KeySource::File(text.into()));
        assert_eq!((source.to_string().as_str(), source.describe().lines().count()), (text, 2));
    }
}

#[test]
fn wrong_key_sources_say_what_to_give() {
    for (text, said) in [
        ("", "the keys are missing"),
        ("uniform:", "keys `uniform:`: `` is not a count"),
        ("uniform:many", "`many` is not a count"),
        ("zipf:5G", "at most 4,294,967,296"),
        ("normal:1:2", "`1:2` is not a count"),
    ] {
        let error = KeySource::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{text}");
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

#[test]
fn misspelt_generator_is_explained() {
    let source = KeySource::parse("unifrom:1k").unwrap();
    let message = source.load(&ReadOptions::default(), 1, &mut |_| {}).unwrap_err().to_string();
    assert!(message.contains("neither a key file nor one of uniform:N"), "{message}");
}

#[test]
fn generated_keys_are_integers_only() {
    let source = KeySource::parse("uniform:10").unwrap();
    let load = |key_type| source.load(&ReadOptions { key_type: Some(key_type), sort: false }, 1, &mut |_| {});
    assert!(matches!(load(KeyType::U64).unwrap(), Keys::U64(keys) if keys.len() == 10));
    assert!(load(KeyType::Text).unwrap_err().to_string().contains("generated keys are u64, not text"));
}

#[test]
fn query_sources_read_as_typed() {
    let lengths = Lengths::parse("1-32").unwrap();
    let plain = |shape| QuerySource { shape, count: 1_000, want: Want::Empty, kept: Kept::All };
    for (text, source) in [
        ("points:1k", plain(QueryShape::Points)),
        ("uniform:1k:1-32", plain(QueryShape::Uniform { lengths })),
        ("correlated:1k:1-32:8", plain(QueryShape::Correlated { lengths, degree: 8 })),
        ("split:1k:1-2^5:8", plain(QueryShape::Split { lengths, degree: 8 })),
        ("heldout:1k:1-32", QuerySource { kept: Kept::NineTenths, ..plain(QueryShape::HeldOut { lengths }) }),
        ("offset:1k:1-32:1k", plain(QueryShape::Offset { lengths, distance: 1_000 })),
        ("shift:1k:2^37-2^38", plain(QueryShape::Shift { from: 1 << 37, to: 1 << 38 })),
        ("lastbyte:1k", QuerySource { kept: Kept::NineTenths, ..plain(QueryShape::LastByte) }),
        ("half:1k", QuerySource { kept: Kept::Half, ..plain(QueryShape::Points) }),
        (
            "half:1k:1-32",
            QuerySource { kept: Kept::Half, ..plain(QueryShape::Offset { lengths, distance: 0 }) },
        ),
        ("half:lastbyte:1k", QuerySource { kept: Kept::Half, ..plain(QueryShape::LastByte) }),
        ("points:1k:hit", QuerySource { want: Want::Hit, ..plain(QueryShape::Points) }),
        (
            "half:points:1k:any",
            QuerySource { want: Want::Any, kept: Kept::Half, ..plain(QueryShape::Points) },
        ),
    ] {
        assert_eq!(QuerySource::parse(text).unwrap(), source, "{text}");
        assert_eq!(QuerySource::parse(&source.to_string()).unwrap(), source, "{text} as {source}");
        assert_eq!(source.describe().lines().count(), 2, "{text}");
    }
}

#[test]
fn wrong_query_sources_say_what_to_give() {
    for (text, said) in [
        ("", "`` is not a kind of query; give points:N, uniform:N:LO-HI"),
        ("range:1k", "`range` is not a kind of query"),
        ("points", "the form is points:N"),
        ("points:x", "`x` is not a count"),
        ("points:1k:1-32", "the form is points:N"),
        ("points:1G", "at most 268,435,456"),
        ("uniform:1k", "the form is uniform:N:LO-HI"),
        ("uniform:1k:0-5", "at least 1"),
        ("uniform:1k:5-1", "backwards"),
        ("uniform:1k:2^64", "`2^64` is not a count"),
        ("uniform:1k:1-2:3", "the form is uniform:N:LO-HI"),
        ("correlated:1k:1-32", "the form is correlated:N:LO-HI:D"),
        ("correlated:1k:1-32:0", "the correlation degree is 0"),
        ("split:1k:1-32:many", "`many` is not a count"),
        ("heldout:1k", "the form is heldout:N:LO-HI"),
        ("offset:1k:1-32", "the form is offset:N:LO-HI:D"),
        ("shift:1k:9-3", "backwards"),
        ("lastbyte:1k:2", "the form is lastbyte:N"),
        ("half", "is not half:N, half:N:LO-HI"),
        ("half:half:1k", "`half` is not a count"),
        ("half:points", "the form is points:N"),
        ("half:1k:1-32:4", "is not half:N"),
        ("points:1k:miss", "the form is points:N"),
    ] {
        let error = QuerySource::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{text}");
        let message = error.to_string();
        assert!(
            message.contains(said) && message.contains(&format!("queries `{text}`")),
            "{text}: {message}"
        );
    }
}
