//! Errors as a server says them to a client.

use super::Fields;

/// How bad an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The session goes on.
    Error,
    /// The connection ends.
    Fatal,
}

/// The message `ErrorResponse` that ends a connection, with an SQLSTATE and a sentence.
pub(crate) fn error_response(code: &str, sentence: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for (field, text) in [(b'S', "FATAL"), (b'V', "FATAL"), (b'C', code), (b'M', sentence)] {
        body.push(field);
        // A zero byte would end the text.
        body.extend(text.bytes().filter(|&byte| byte != 0));
        body.push(0);
    }
    body.push(0);
    super::message(b'E', &body)
}

/// Severity and SQLSTATE of an `ErrorResponse`, by its fields that are never translated. They stand before the long ones,
/// so a beginning is enough.
pub(crate) fn severity_and_code(body: &[u8]) -> Option<(Severity, &[u8])> {
    let mut fields = Fields::new(body);
    let (mut severity, mut code) = (None, None);
    while let Some(field) = fields.byte().filter(|&field| field != 0) {
        let Some(text) = fields.text() else { break };
        match field {
            b'V' => severity = Some(if text == b"ERROR" { Severity::Error } else { Severity::Fatal }),
            b'C' => code = Some(text),
            _ => {}
        }
    }
    severity.zip(code)
}

/// What an `ErrorResponse` says, for people.
pub(crate) fn error_sentence(body: &[u8]) -> String {
    let mut fields = Fields::new(body);
    while let Some(field) = fields.byte().filter(|&field| field != 0) {
        let Some(text) = fields.text() else { break };
        if field == b'M' {
            return String::from_utf8_lossy(text).into_owned();
        }
    }
    "an error without a sentence".to_owned()
}
