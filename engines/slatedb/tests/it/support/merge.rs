//! Merges that append, so that a lost operand shows.

use bytes::Bytes;
use slatedb::{MergeOperator, MergeOperatorError};

pub(crate) struct Concatenate;

impl MergeOperator for Concatenate {
    fn merge(
        &self,
        _key: &Bytes,
        existing: Option<Bytes>,
        operand: Bytes,
    ) -> Result<Bytes, MergeOperatorError> {
        let mut value = existing.unwrap_or_default().to_vec();
        value.extend_from_slice(&operand);
        Ok(value.into())
    }
}
