//! What is listed of how a project wants work judged, and what is not.

use insta::assert_snapshot;

use super::*;
use crate::config::{Overrides, parse};
use crate::place::{ConfigLayer, Source};

const PROJECT: &str = r#"
[defaults]
worker = "pen"
critic = "easy"
[budget]
calls = 3
[loops.abstract]
protocol = "score"
task = "Write the abstract of the paper, in which everything that was found is said."
rubric = "rubric.md"
threshold = 70
out = "abstract.md"
[goals.fix]
goal = "Make it."
until = ["make", { file = "done.md" }]
worker = "pen"
strict_critic = false
"#;

const USER: &str = "[agents.pen]\nkind = \"person\"\n[agents.easy]\nkind = \"person\"\n";

fn config(layer: ConfigLayer, text: &str, root: &Path) -> Config {
    let layers = [(ConfigLayer::User, USER), (layer, text)].map(|(layer, text)| {
        let (partial, problems) = parse(&Source::new(layer, "gadfly.toml", root, text));
        assert_eq!(problems, []);
        partial
    });
    Config::from_layers(layers).0
}

fn shown(entries: &[TrustEntry]) -> String {
    entries.iter().map(|e| e.text.clone()).collect::<Vec<_>>().join("\n")
}

fn abstract_of(config: &Config, flags: &Overrides, root: &Path) -> Vec<TrustEntry> {
    of_loop(&config.loop_for(Some("abstract"), flags).0, root)
}

#[test]
fn who_judges_by_what_and_within_which_limits_is_listed_and_who_works_is_not() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("rubric.md"), "- short\n").unwrap();
    let theirs = config(ConfigLayer::Project, PROJECT, root.path());
    assert_snapshot!(shown(&abstract_of(&theirs, &Overrides::default(), root.path())), @"
    say how `abstract` is judged: critic easy
    say how `abstract` is judged: rubric rubric.md
    say how `abstract` is judged: threshold 70
    say how `abstract` is judged: calls 3
    say how `abstract` is judged: protocol score
    say how `abstract` is judged: task Write the abstract of the pape…
    ");
    let work = theirs.loop_for(None, &Overrides::default()).0;
    assert_snapshot!(shown(&of_loop(&work, root.path())), @"
    say how work is judged: critic easy
    say how work is judged: calls 3
    ");
    let goal = theirs.goal_for(Some("fix"), &Overrides::of_goal()).0;
    assert_snapshot!(shown(&of_goal(&goal, root.path())), @"
    say how goal `fix` is judged: critic easy
    say how goal `fix` is judged: until all of: `make` exits with 0; d…
    say how goal `fix` is judged: calls 3
    say how goal `fix` is judged: goal Make it.
    say how goal `fix` is judged: strict_critic false
    ");
    let own = config(ConfigLayer::User, PROJECT, root.path());
    assert_eq!(abstract_of(&own, &Overrides::default(), root.path()), []);
    assert_eq!(of_goal(&own.goal_for(Some("fix"), &Overrides::of_goal()).0, root.path()), []);
}

#[test]
fn what_a_flag_says_needs_no_word_and_leaves_the_rest_as_it_was_agreed_to() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("rubric.md"), "- short\n").unwrap();
    let theirs = config(ConfigLayer::Project, PROJECT, root.path());
    let all = abstract_of(&theirs, &Overrides::default(), root.path());
    let flags = Overrides::default().typed("critic", &["pen"]).typed("threshold", &["90"]);
    let fewer = abstract_of(&theirs, &flags, root.path());
    assert_eq!(fewer.len() + 2, all.len());
    assert!(fewer.iter().all(|entry| all.contains(entry)));
}

#[test]
fn a_rubric_is_agreed_to_by_its_content_and_wherever_the_project_lies() {
    let digest = |rubric: &str| {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("rubric.md"), rubric).unwrap();
        let entries = abstract_of(
            &config(ConfigLayer::Project, PROJECT, root.path()),
            &Overrides::default(),
            root.path(),
        );
        entries.into_iter().find(|entry| entry.text.contains("rubric")).unwrap().digest
    };
    assert_eq!(digest("- short\n"), digest("- short\n"));
    assert_ne!(digest("- short\n"), digest("- anything\n"));
}

#[test]
fn the_model_of_a_projects_own_judge_is_part_of_it() {
    let root = Path::new("/nowhere");
    let text = "[agents.j]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1/v1\"\n";
    let of = |text: &str, judges: &[&str]| {
        let judges: Vec<String> = judges.iter().map(|j| (*j).to_owned()).collect();
        of_judges(WORK, &judges, &config(ConfigLayer::Project, text, root), root)
    };
    let entries = of(text, &["j", "easy"]);
    assert_eq!(entries.len(), 1, "{}", shown(&entries));
    assert_ne!(entries, of(&text.replace("\"m\"", "\"tiny\""), &["j"]));
    assert_eq!(of(text, &["easy"]), []);
}
