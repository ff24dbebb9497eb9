//! The client's answer to a greeting.

use crate::mysql::wire::{Capabilities, Fields};

/// What a client asks for; nothing if its packet is cut, which the server will say.
pub(super) fn capabilities(body: &[u8]) -> Capabilities {
    let mut fields = Fields::new(body);
    let Some(low) = fields.int16() else { return Capabilities::default() };
    let low = Capabilities(low.into());
    if !low.has(Capabilities::PROTOCOL_41) {
        return low;
    }
    let high = fields.int16().unwrap_or(0);
    // The longest packet, the character set, and what is always zero.
    let mariadb = fields.bytes(4 + 1 + 19).and_then(|_| fields.int32());
    let mariadb = mariadb.filter(|_| !low.has(Capabilities::MYSQL)).unwrap_or(0);
    Capabilities(low.0 | (u64::from(high) << 16) | (u64::from(mariadb) << 32))
}

/// The sentence for a client that asks for what was not offered.
pub(super) fn refusal(asked: Capabilities) -> Option<&'static str> {
    if asked.has(Capabilities::TLS) {
        return Some(
            "the proxy offers no TLS before MySQL and MariaDB: connect without it (ssl-mode=DISABLED, --skip-ssl)",
        );
    }
    let is_refused = asked.has(Capabilities(Capabilities::COMPRESS.0 | Capabilities::COMPRESS_ZSTD.0));
    is_refused.then_some("the proxy offers no compression: connect without it")
}

/// Whether the answers to such a client are understood: not those of before MySQL 4.1, and not if it has asked for cached definitions
/// although they were not offered.
pub(super) const fn may_be_followed(asked: Capabilities) -> bool {
    asked.has(Capabilities::PROTOCOL_41) && !asked.has(Capabilities::CACHE_METADATA)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(flags: u32, mariadb: u32) -> Vec<u8> {
        [&flags.to_le_bytes()[..], &[0; 4 + 1 + 19], &mariadb.to_le_bytes(), b"root\0\0"].concat()
    }

    #[test]
    fn abilities_are_read_from_whole_and_cut_packets() {
        let all = Capabilities(0x0014_0100_8200);
        assert_eq!(capabilities(&login(0x0100_8200, 0x14)), all);
        assert_eq!(
            capabilities(&login(0x0100_8201, 0x14)),
            Capabilities(0x0100_8201),
            "MySQL has none of MariaDB's"
        );
        assert_eq!(capabilities(&login(0x8200, 0)[..4]), Capabilities(0x8200));
        assert_eq!(capabilities(&[0x05, 0x04]), Capabilities(0x0405), "a client of before 4.1");
        assert_eq!(capabilities(&[5]), Capabilities::default());
    }

    #[test]
    fn what_was_not_offered_is_refused() {
        let asked = |flags| refusal(capabilities(&login(flags, 0)));
        assert_eq!(asked(0x8200), None);
        assert!(asked(0x8a00).unwrap().contains("no TLS"));
        assert!(asked(0x8220).unwrap().contains("no compression"));
        assert!(asked(0x0400_8200).unwrap().contains("no compression"));
        let caching = capabilities(&login(0x8200, 0x10));
        assert!(refusal(caching).is_none() && !may_be_followed(caching));
        assert!(may_be_followed(capabilities(&login(0x8200, 4))) && !may_be_followed(Capabilities(5)));
    }
}
