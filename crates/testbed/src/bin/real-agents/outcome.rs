//! What came of it: the last line, and what a run's record says about its guards.

use std::collections::BTreeSet;

use serde_json::Value;

/// Who ran, who failed, who was not there.
#[derive(Default)]
pub struct Tally {
    ran: Vec<String>,
    failed: Vec<String>,
    missing: Vec<String>,
}

impl Tally {
    pub fn ran(&mut self, name: &str, failed: impl Iterator<Item = &'static str>) {
        self.ran.push(name.to_owned());
        let loops: Vec<&str> = failed.collect();
        if !loops.is_empty() {
            self.failed.push(format!("{name} in {}", loops.join(" and ")));
        }
    }

    pub fn missing(&mut self, name: &str) {
        self.missing.push(name.to_owned());
    }

    pub fn is_good(&self) -> bool {
        self.failed.is_empty()
    }

    pub fn line(&self) -> String {
        let all = self.ran.len() + self.missing.len();
        let mut line = format!("real agents: {} of {all} ran", self.ran.len());
        for (label, names) in [("", &self.ran), ("not found: ", &self.missing), ("FAILED: ", &self.failed)] {
            if !names.is_empty() {
                line += " (";
                line += label;
                line += &names.join(", ");
                line.push(')');
            }
        }
        line
    }
}

/// What a run's records say about the guards of its critics' calls.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Guards {
    /// Layers that were up in some call.
    pub up: BTreeSet<String>,
    /// Layers that stopped something.
    pub stopped: BTreeSet<String>,
}

impl Guards {
    /// From the lines of `gadfly show RUN --log --json`.
    pub fn read(records: &str) -> Self {
        let mut guards = Self::default();
        let mut critics = BTreeSet::new();
        let records = records.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for record in records {
            let data = &record["data"];
            let layer = |v: &Value| v["layer"].as_str().map(str::to_owned);
            match record["event"].as_str().unwrap_or_default() {
                "effect_requested" if data["kind"]["turn"]["role"] == "critic" => {
                    critics.extend(data["id"].as_str().map(str::to_owned));
                }
                _ if !data["effect"].as_str().is_some_and(|effect| critics.contains(effect)) => {}
                "guarded" => {
                    let list = data["guards"].as_array().into_iter().flatten();
                    guards.up.extend(list.filter_map(layer));
                }
                "stopped" => guards.stopped.extend(layer(data)),
                _ => {}
            }
        }
        guards
    }

    /// Which guards a critic's write met; none if the record names none that could have kept it out.
    pub fn account(&self) -> Option<String> {
        let list = |layers: &BTreeSet<String>| {
            layers.iter().map(|l| l.replace('_', " ")).collect::<Vec<_>>().join(", ")
        };
        if !self.stopped.is_empty() {
            return Some(format!("stopped by {}; up were {}", list(&self.stopped), list(&self.up)));
        }
        // Refusals hold only those who ask.
        let holds = self.up.iter().any(|layer| layer != "protocol");
        holds.then(|| format!("up were {}", list(&self.up)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_who_ran_who_was_not_there_and_who_failed() {
        let mut tally = Tally::default();
        tally.ran("claude 2.1", [].into_iter());
        tally.missing("gemini");
        assert_eq!(tally.line(), "real agents: 1 of 2 ran (claude 2.1) (not found: gemini)");
        assert!(tally.is_good());
        tally.ran("codex 0.1", ["audit"].into_iter());
        assert!(tally.line().ends_with("(FAILED: codex 0.1 in audit)") && !tally.is_good());
    }

    #[test]
    fn a_write_is_accounted_for_by_who_stopped_it_or_else_by_a_sandbox() {
        let asked = |id: &str, role: &str| {
            format!(
                r#"{{"event":"effect_requested","data":{{"id":"{id}","kind":{{"turn":{{"role":"{role}"}}}}}}}}"#
            )
        };
        let up = |id: &str, layer: &str| {
            format!(r#"{{"event":"guarded","data":{{"effect":"{id}","guards":[{{"layer":"{layer}"}}]}}}}"#)
        };
        let stopped = r#"{"event":"stopped","data":{"effect":"run#2","layer":"own_mode","what":"Write"}}"#;
        let (worker, critic) = (&asked("run#1", "worker"), &asked("run#2", "critic"));
        let account = |records: &[&str]| Guards::read(&records.join("\n")).account();
        assert_eq!(account(&[critic, &up("run#2", "protocol"), "no json"]), None);
        assert_eq!(account(&[worker, &up("run#1", "landlock")]), None, "a worker's guards hold no critic");
        assert_eq!(account(&[critic, &up("run#2", "landlock")]), Some("up were landlock".into()));
        assert_eq!(
            account(&[critic, &up("run#2", "compared"), stopped]),
            Some("stopped by own mode; up were compared".into())
        );
    }
}
