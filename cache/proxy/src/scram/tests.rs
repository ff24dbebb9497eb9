use proptest::prelude::*;

use super::*;

/// The example of RFC 7677: user `user`, password `pencil`.
const SALT: &str = "W22ZaJ0SNY7soEsUEjb6gQ==";
const CLIENT_NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
const SERVER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const LAST: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
const SERVER_PROOF: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

/// What a client with a password knows and a proxy does not: `Hi` of RFC 5802 section 2.2, and the key from it.
fn client_key(password: &str, salt: &[u8], iterations: u32) -> (Key, Key) {
    let block = [salt, &1_u32.to_be_bytes()].concat();
    let round = |message: &[u8]| -> Key {
        let mut mac = Hmac::<Sha256>::new_from_slice(password.as_bytes()).unwrap();
        mac.update(message);
        mac.finalize().into_bytes().into()
    };
    let mut last = round(&block);
    let mut salted = last;
    for _ in 1..iterations {
        last = round(&last);
        salted = xor(&salted, &last);
    }
    (hmac(&salted, "Client Key"), hmac(&salted, "Server Key"))
}

fn verifier(password: &str) -> Verifier {
    let salt = attributes::decode(SALT).unwrap();
    let (client, server_key) = client_key(password, &salt, 4_096);
    Verifier { iterations: 4_096, salt, stored_key: hash(&client), server_key }
}

fn first(flag: &str) -> String {
    format!("{flag}n=user,r={CLIENT_NONCE}")
}

fn begun<'a>(verifier: &'a Verifier, endpoint: Option<&[u8]>) -> ServerLogin<'a> {
    let mechanism = if endpoint.is_some() { PLUS } else { PLAIN };
    let flag = if endpoint.is_some() { BOUND } else { UNBOUND };
    ServerLogin::begin(verifier, endpoint, mechanism, first(flag).as_bytes(), SERVER_NONCE).unwrap()
}

#[test]
fn the_example_of_the_standard_logs_in() {
    let verifier = verifier("pencil");
    let login = begun(&verifier, None);
    assert_eq!(login.answer(), format!("r={CLIENT_NONCE}{SERVER_NONCE},s={SALT},i=4096"));
    let proven = login.finish(LAST.as_bytes()).unwrap();
    assert_eq!(proven.answer, SERVER_PROOF);
    assert_eq!(format!("{proven:?}"), "Proven", "the key is not printed");
    assert_eq!(proven.client_key, client_key("pencil", &verifier.salt, 4_096).0);
}

#[test]
fn the_key_of_a_proof_logs_in_at_the_database() {
    let verifier = verifier("pencil");
    for endpoint in [None, Some(&b"the server's certificate"[..])] {
        let proven = begun(&verifier, None).finish(LAST.as_bytes()).unwrap();
        let client = ClientLogin::new(&verifier, &proven, endpoint, "proxy".to_owned());
        let mechanism = if endpoint.is_some() { PLUS } else { PLAIN };
        let begin = |endpoint| {
            ServerLogin::begin(&verifier, endpoint, mechanism, client.first().as_bytes(), "server").unwrap()
        };
        let server = begin(endpoint);
        let (last, asked) = client.prove(server.answer().as_bytes()).unwrap();
        let answer = server.finish(last.as_bytes()).unwrap().answer;
        asked.finish(answer.as_bytes()).unwrap();
        if endpoint.is_some() {
            let other = begin(Some(&b"another one"[..]));
            let (last, _) = client.prove(other.answer().as_bytes()).unwrap();
            assert_eq!(other.finish(last.as_bytes()).unwrap_err(), Failure::OtherCertificate);
        }
    }
}

#[test]
fn another_password_and_other_keys_are_refused() {
    let (right, wrong) = (verifier("pencil"), verifier("crayon"));
    assert_eq!(begun(&wrong, None).finish(LAST.as_bytes()).unwrap_err(), Failure::WrongPassword);
    let proven = begun(&right, None).finish(LAST.as_bytes()).unwrap();
    let client = ClientLogin::new(&right, &proven, None, "proxy".to_owned());
    for answer in ["r=proxy1,s=AAAA,i=4096", &format!("r=proxy1,s={SALT},i=4097")] {
        assert_eq!(client.prove(answer.as_bytes()).unwrap_err(), Failure::OtherKeys);
    }
    for answer in ["r=proxy,s=AAAA,i=4096", "r=other1,s=AAAA,i=4096", "e=other-error", "", "m=x,r=proxy1"] {
        assert_eq!(client.prove(answer.as_bytes()).unwrap_err(), Failure::Malformed, "{answer}");
    }
    let (_, asked) = client.prove(format!("r=proxy1,s={SALT},i=4096").as_bytes()).unwrap();
    assert_eq!(asked.finish(SERVER_PROOF.as_bytes()).unwrap_err(), Failure::WrongServer);
}

#[test]
fn changed_messages_are_refused() {
    let verifier = verifier("pencil");
    let endpoint = Some(&b"certificate"[..]);
    let begin = |endpoint, mechanism, message: &str| {
        ServerLogin::begin(&verifier, endpoint, mechanism, message.as_bytes(), SERVER_NONCE).map(drop)
    };
    assert_eq!(begin(endpoint, PLAIN, &first("y,,")), Err(Failure::Downgraded));
    assert_eq!(begin(None, PLAIN, &first("y,,")), Ok(()), "no binding was offered");
    let malformed = [
        (None, PLUS, first(BOUND)),
        (endpoint, PLUS, first("n,,")),
        (endpoint, PLAIN, first(BOUND)),
        (endpoint, PLUS, first("p=tls-unique,,")),
        (endpoint, &b"SCRAM-SHA-1"[..], first("n,,")),
        (None, PLAIN, first("n,a=other,")),
        (None, PLAIN, "n,,r=nonce,n=user".to_owned()),
        (None, PLAIN, "n,,m=must,n=user,r=nonce".to_owned()),
        (None, PLAIN, "n,,n=user,r=".to_owned()),
        (None, PLAIN, "n,,n=user,r=no nce".to_owned()),
        (None, PLAIN, String::new()),
    ];
    for (endpoint, mechanism, message) in malformed {
        assert_eq!(begin(endpoint, mechanism, &message), Err(Failure::Malformed), "{message}");
    }
    let finish = |message: &str| begun(&verifier, None).finish(message.as_bytes()).unwrap_err();
    assert_eq!(finish(&LAST.replace("biws", "eSws")), Failure::OtherCertificate, "`y,,` after `n,,`");
    assert_eq!(finish(&LAST.replace("r=r", "r=R")), Failure::Malformed);
    assert_eq!(finish(&LAST.replace("dHzb", "dHzc")), Failure::WrongPassword);
    assert_eq!(finish(&LAST.replace(",p=", ",x=1,p=")), Failure::Malformed);
    for end in 0..LAST.len() {
        assert!(begun(&verifier, None).finish(&LAST.as_bytes()[..end]).is_err(), "{end} bytes");
    }
}

#[test]
fn verifiers_are_read_as_the_database_writes_them() {
    let key = "A".repeat(43) + "=";
    let text = format!("SCRAM-SHA-256$4096:{SALT}${key}:{key}");
    let read: Verifier = text.parse().unwrap();
    assert_eq!((read.iterations, read.stored_key), (4_096, [0; 32]));
    assert_eq!(format!("{read:?}"), "Verifier", "keys are not printed");
    for wrong in [
        "md5a6343a68d964ca596d9752250d54bb8a",
        &text.replace("256", "1"),
        &text.replace("4096", "0"),
        &text.replace("4096", "-1"),
        &text.replace(SALT, ""),
        &text.replace(&key, "AAAA"),
        &text[..text.len() - 1],
        "",
    ] {
        assert!(wrong.parse::<Verifier>().is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn no_message_makes_a_panic(message in "\\PC{0,80}", end in 0_usize..200, flip: u8) {
        let verifier = verifier_of_no_work();
        let messages = [message.into_bytes(), {
            let mut last = LAST.as_bytes()[..end.min(LAST.len())].to_vec();
            if let Some(byte) = last.get_mut(usize::from(flip)) {
                *byte ^= flip;
            }
            last
        }];
        for message in messages {
            for (endpoint, mechanism) in [(None, PLAIN), (Some(&b"x"[..]), PLUS)] {
                let _ = ServerLogin::begin(&verifier, endpoint, mechanism, &message, "n");
            }
            prop_assert!(begun(&verifier, None).finish(&message).is_err());
        }
    }
}

fn verifier_of_no_work() -> Verifier {
    Verifier { iterations: 1, salt: vec![1], stored_key: [1; 32], server_key: [2; 32] }
}
