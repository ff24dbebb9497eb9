//! What client and server can do, as they say it in their first packets.

/// A set of abilities: the bits of the protocol, and above them the bits that MariaDB has added in bytes that MySQL leaves empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Capabilities(pub(crate) u64);

impl Capabilities {
    /// Set by MySQL, and by clients that send none of MariaDB's bits (once `LONG_PASSWORD`).
    pub(crate) const MYSQL: Self = Self(1);
    pub(crate) const COMPRESS: Self = Self(1 << 5);
    pub(crate) const PROTOCOL_41: Self = Self(1 << 9);
    pub(crate) const TLS: Self = Self(1 << 11);
    /// Results end with an OK, and their definitions with nothing.
    pub(crate) const DEPRECATE_EOF: Self = Self(1 << 24);
    /// A result may come without its definitions, and says so.
    pub(crate) const OPTIONAL_METADATA: Self = Self(1 << 25);
    pub(crate) const COMPRESS_ZSTD: Self = Self(1 << 26);
    /// Values may stand before the text of a command.
    pub(crate) const QUERY_ATTRIBUTES: Self = Self(1 << 27);
    /// MariaDB leaves definitions out that the client has from an earlier execution.
    pub(crate) const CACHE_METADATA: Self = Self(1 << 36);

    /// What a session that is followed must not have, and the proxy does not offer.
    pub(crate) const NOT_OFFERED: Self =
        Self(Self::COMPRESS.0 | Self::TLS.0 | Self::COMPRESS_ZSTD.0 | Self::CACHE_METADATA.0);

    /// Whether one of `others` is among these.
    pub(crate) const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Those that both sides have.
    pub(crate) const fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    pub(crate) const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}
