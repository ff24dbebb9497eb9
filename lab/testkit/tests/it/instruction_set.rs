//! The check that runs its test again, run on a fake whose bytes depend on `LACUNA_ISA`.

use lacuna_testkit::Subject;
use lacuna_testkit::checks::reproducible;

use crate::fakes::integers;

/// In the second process this test prints a digest as the real one does; in the first it must find the fault.
#[test]
fn bytes_and_answers_do_not_depend_on_the_instruction_set() {
    let (open, verified) = (integers::open::<u64, _>, integers::open_verified::<u64, _>);
    let subject = Subject::<u64>::new("fake:isadecides", integers::spec::<u64>, open, verified);
    let verdict = reproducible::bytes_and_answers_do_not_depend_on_the_instruction_set(
        &subject.clone().in_module(module_path!()),
    );
    if std::env::var_os("LACUNA_ISA").is_none() {
        let fault = verdict.expect_err("the salt depends on LACUNA_ISA").to_string();
        assert!(fault.contains("differ under LACUNA_ISA=scalar"), "{fault}");
        let lost = reproducible::bytes_and_answers_do_not_depend_on_the_instruction_set(
            &subject.in_module("it::gone"),
        );
        assert!(lost.expect_err("no such test").to_string().contains("printed no digest"));
    }
}
