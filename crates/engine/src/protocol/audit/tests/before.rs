//! Those who come before the executor: a design, and tests that nobody changes unseen.

use super::game::*;
use crate::tree::WorkspacePlan;

const TEST: (&str, Option<&str>) = ("tests/a_test.rs", Some("#[test]\nfn t() { assert!(b()); }\n"));
const A: (&str, Option<&str>) = ("src/a.rs", Some("fn a() {}\nfn b() {}\n"));

/// The architect has spoken and the tests are written: the executor is asked.
fn begun() -> Game {
    let mut settings = settings();
    settings.scope = vec!["src/**".into()];
    settings.architect = Some("emil".into());
    settings.test_writer = Some("dora".into());
    let mut table = Game::seated(settings);
    table.workspace = Some(WorkspacePlan { project: "/project".into(), ..WorkspacePlan::default() });
    let mut game = table.begun();
    assert!(game.prompt(&game.open_of("emil")).contains("a exists"), "{}", game.log());
    game.says("Reuse what a does.");
    assert!(game.prompt(&game.open_of("dora")).contains("Reuse what a does."), "{}", game.log());
    game.says("written").sees(&[TEST]);
    game
}

#[test]
fn design_and_tests_come_first_and_the_tests_are_in_scope() {
    let mut game = begun();
    let told = game.prompt(&game.open_of("ann"));
    assert!(told.contains("Reuse what a does.") && told.contains("tests/a_test.rs"), "{told}");
    game.works(&[A, TEST]).reports(&clean(1)).accepted();
    assert_eq!(game.class(), "approved", "{}", game.log());
    assert_eq!(game.log().matches("round 1 of 3").count(), 1, "what comes first is no round: {}", game.log());
}

#[test]
fn a_test_that_was_written_first_may_not_be_changed_by_the_work() {
    for changed in [Some("#[test]\nfn t() {}\n"), None] {
        let mut game = begun();
        let test = ("tests/a_test.rs", changed);
        let files: &[_] = if changed.is_some() { &[A, test] } else { &[A] };
        game.works(files).reports(&clean(1));
        let log = game.log();
        assert!(
            log.contains("A test that was written for this task before the work was changed by it"),
            "{log}"
        );
        assert!(game.prompt(&game.open_of("dora")).contains("Put the test back"), "{log}");
    }
}
