//! Whether work was judged differently: by somebody whom the project's files chose among the user's own agents, by their
//! words, or by another brief or to another end than in the same place without them.

use std::collections::BTreeMap;

use super::hostile::{Row, SWAYED};
use super::world::{Form, World};
use super::{Bench, COLUMNS, Column, Matrix, Tried, refused};

/// What a command with the same work in every project comes to where nothing of the project's says how it is judged.
pub struct Plain(BTreeMap<&'static str, (i32, String)>);

/// The commands that judge the same work, and name critic and rubric, or leave them to the user's own configuration.
const SAME_WORK: [&str; 5] = ["review", "review-rubric", "run", "run-critic", "batch"];

impl Plain {
    pub fn new(matrix: &Matrix) -> Self {
        let row = Row { name: "plain", named: "abstract", make: |world, _| world.write("gadfly.toml", "") };
        let same = COLUMNS.iter().filter(|column| SAME_WORK.contains(&column.name));
        let tried = same.map(|column| {
            let mut bench: Bench<'_> = matrix.bench(&row, Form::Words, column.name);
            let tried = bench.tries(column, &[]);
            assert_eq!(tried.said.code, 3, "{} is not judged: {:?}", column.name, tried.said);
            (column.name, (tried.said.code, tried.brief))
        });
        Self(tried.collect())
    }

    /// What was judged differently before anybody agreed.
    pub fn differs(&self, tried: &Tried, column: &Column) -> Vec<String> {
        let mut wrong: Vec<String> =
            tried.swayed.iter().map(|how| format!("judged differently: {how}")).collect();
        if let Some((code, brief)) = self.0.get(column.name)
            && !refused(tried)
            && (tried.said.code, &tried.brief) != (*code, brief)
        {
            wrong.push(format!("judged differently: not to {code} by\n{brief}\nbut by\n{}", tried.brief));
        }
        wrong
    }
}

/// The commands whose work is the change in which the project's words stand: those reach the judge as what is judged.
const OF_A_CHANGE: [&str; 5] =
    ["review-uncommitted", "review-diff", "review-untrusted", "hook", "hook-untrusted"];

/// Who judged, or by which words, as only the project wants it.
pub fn swayed(world: &World<'_>, column: &Column) -> Vec<String> {
    let mut found = Vec::new();
    if !world.asked_easy().is_empty() {
        found.push("by an agent of the user's that the project chose".to_owned());
    }
    let words = [world.asked(), world.asked_easy()].iter().any(|asked| asked.contains(SWAYED));
    if words && !OF_A_CHANGE.contains(&column.name) {
        found.push("by the project's words".to_owned());
    }
    found
}

/// A brief without the marks that are others in each run.
pub fn unmarked(brief: &str) -> String {
    let mark = |word: &str| word.len() == 20 && word.chars().all(|c| c.is_ascii_hexdigit());
    brief.split(' ').map(|word| if mark(word) { "MARK" } else { word }).collect::<Vec<_>>().join(" ")
}
