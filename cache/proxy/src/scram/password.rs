//! The proxy as a client that knows the password.

use pbkdf2::pbkdf2_hmac;
use sha2::Sha256;

use super::attributes::{Attributes, text};
use super::client::{AwaitedProof, ClientLogin};
use super::server::Proven;
use super::{Failure, Key, Verifier, hash, hmac};

/// Most iterations that a server may ask for: a hundred times PostgreSQL's.
const MAX_ITERATIONS: u32 = 409_600;

/// A login by a password, which is not bound to a certificate.
///
/// The password counts as its bytes: RFC 4013 (`SASLprep`) changes passwords with other letters than ASCII, of which few.
#[derive(Debug)]
pub(crate) struct PasswordLogin {
    nonce: String,
}

impl PasswordLogin {
    pub(crate) const fn new(nonce: String) -> Self {
        Self { nonce }
    }

    /// The first message.
    pub(crate) fn first(&self) -> String {
        format!("n,,n=,r={}", self.nonce)
    }

    /// Takes the answer to it, and gives the last message.
    pub(crate) fn prove(self, password: &str, answer: &[u8]) -> Result<(String, AwaitedProof), Failure> {
        let mut attributes = Attributes::new(text(answer)?);
        attributes.nonce()?;
        let salt = attributes.bytes('s')?;
        let iterations: u32 = attributes.value('i')?.parse().map_err(|_| Failure::Malformed)?;
        if !(1..=MAX_ITERATIONS).contains(&iterations) {
            return Err(Failure::Malformed);
        }
        let mut salted = Key::default();
        pbkdf2_hmac::<Sha256>(password.as_bytes(), &salt, iterations, &mut salted);
        let client_key = hmac(&salted, "Client Key");
        let (stored_key, server_key) = (hash(&client_key), hmac(&salted, "Server Key"));
        let verifier = Verifier { iterations, salt, stored_key, server_key };
        let proven = Proven { client_key, answer: String::new() };
        ClientLogin::new(&verifier, &proven, None, self.nonce).prove(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange of RFC 7677, section 3, but for the name, which PostgreSQL takes from elsewhere.
    #[test]
    fn a_password_proves_what_its_keys_prove() {
        let answer = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let login = PasswordLogin::new("rOprNGfwEbeRWgbNEkqO".to_owned());
        let (last, _) = login.prove("pencil", answer.as_bytes()).unwrap();
        let stored: Verifier = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$\
             WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
            .parse()
            .unwrap();
        let mut salted = Key::default();
        pbkdf2_hmac::<Sha256>(b"pencil", &stored.salt, stored.iterations, &mut salted);
        let client_key = hmac(&salted, "Client Key");
        assert_eq!((hash(&client_key), hmac(&salted, "Server Key")), (stored.stored_key, stored.server_key));
        assert!(last.starts_with("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p="), "{last}");
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for answer in ["", "r=abcd", "r=abcd,s=AA==,i=0", "r=abcd,s=AA==,i=99999999", "r=other,s=AA==,i=1"] {
            let login = PasswordLogin::new("abc".to_owned());
            assert!(login.prove("x", answer.as_bytes()).is_err(), "{answer}");
        }
    }
}
