//! The secret that filters are hashed under.

use std::ffi::c_char;
use std::fmt;

use lacuna_base::Secret as CoreSecret;

use crate::arguments::{lent, set};
use crate::status::{Status, attempt};

/// Bytes of a secret.
pub const SECRET_BYTES: usize = 16;

/// What an enemy must not guess: bytes of the system's source of randomness, the same for all filters of a program. Take them
/// from a file or from the environment, never from the arguments of a program, which others see. A filter holds a key that was
/// made of them, and is opened without them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Secret {
    /// The bytes.
    pub bytes: [u8; SECRET_BYTES],
}

const _: () = assert!(SECRET_BYTES == CoreSecret::BYTES, "the header names the number of bytes");

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The secret at `secret`; `None` for null.
///
/// # Safety
/// If `secret` is not null, it is readable.
pub(crate) unsafe fn secret_at(secret: *const Secret) -> Option<CoreSecret> {
    // SAFETY: as the caller promises; bytes stand anywhere.
    unsafe { secret.as_ref() }.map(|secret| CoreSecret::new(secret.bytes))
}

/// Reads a secret from 32 hexadecimal digits, as `openssl rand -hex 16` prints them into the file that `lacuna build --secret-file`
/// takes; white space around them is passed over. On failure nothing is written, and no message repeats the text. From any thread.
///
/// # Safety
/// `size` bytes are readable at `text`, and `secret` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_secret_read(text: *const c_char, size: usize, secret: *mut Secret) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let text = unsafe { lent(text.cast::<u8>(), size, "the text of the secret") }?;
        let read: CoreSecret = str::from_utf8(text).unwrap_or_default().trim().parse()?;
        // SAFETY: as the caller promises.
        unsafe { set(secret, Secret { bytes: read.to_bytes() }, "secret") }
    })
}
