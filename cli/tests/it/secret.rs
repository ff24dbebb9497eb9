//! `--secret-file`: filters under a secret are built, opened and proved, and no message repeats it.

use crate::support::Folder;

const SECRET: &str = "00112233445566778899aabbccddeeff";
const BUILD: &str = "build --keys uniform:2k --bits-per-key 14 --secret-file secret.txt --out f --filter";

#[test]
fn a_filter_under_a_secret_is_opened_without_it() {
    let folder = Folder::new();
    folder.write("secret.txt", format!("{SECRET}\n"));
    for spec in ["ribbon:secret", "grafite:secret"] {
        let said = folder.lacuna(&format!("{BUILD} {spec}")).done();
        assert!(said.contains(spec) && !said.contains(SECRET), "{said}");
        folder.lacuna("verify f --keys uniform:2k").done();
    }
}

#[test]
fn what_is_wrong_with_a_secret_is_said_without_it() {
    let folder = Folder::new();
    let cases = [
        (&SECRET[1..], "ribbon:secret", "32 hexadecimal digits"),
        (SECRET, "ribbon", "name one of them or leave out --secret-file"),
    ];
    for (text, spec, said) in cases {
        folder.write("secret.txt", text);
        let sentence = folder.lacuna(&format!("{BUILD} {spec}")).sentence(2);
        assert!(sentence.contains(said) && !sentence.contains(&SECRET[1..]), "{sentence}");
    }
    let run = folder.lacuna("build --keys uniform:2k --bits-per-key 14 --out f --filter ribbon:secret");
    assert!(run.sentence(2).contains("give one with the plan"), "{run:?}");
}
