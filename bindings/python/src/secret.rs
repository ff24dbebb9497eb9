//! A secret as Python has it: sixteen bytes. No exception repeats them.

use lacuna_base::Secret;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

use crate::errors::{wrong_type, wrong_value};

/// The secret in `value`, bytes or a bytearray.
///
/// # Errors
/// `TypeError` for a value of another type, `ValueError` for another number of bytes.
pub(crate) fn secret_of(value: &Bound<'_, PyAny>) -> PyResult<Secret> {
    let bytes = match (value.cast::<PyBytes>(), value.cast::<PyByteArray>()) {
        (Ok(bytes), _) => bytes.as_bytes().to_vec(),
        (_, Ok(bytes)) => bytes.to_vec(),
        _ => {
            return Err(wrong_type(
                "secret is not bytes; bytes.fromhex makes them of hexadecimal digits, such as a file for --secret-file holds",
            ));
        }
    };
    let size = bytes.len();
    let bytes = <[u8; Secret::BYTES]>::try_from(bytes);
    bytes.map(Secret::new).map_err(|_| {
        wrong_value(format!(
            "secret has {size} bytes; give {}, such as secrets.token_bytes makes",
            Secret::BYTES
        ))
    })
}
