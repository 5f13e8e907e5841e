//! A goal's policy for a worker with tools of its own. Nobody stands before its tools and nobody can be asked, so what
//! would need a question is not allowed. What it may use is said in the names of our tools; which of its own these
//! are, and whether it can be kept to them, its kind knows.

use serde::{Deserialize, Serialize};

use super::names;
use crate::protocol::goal::Policy;
use crate::tool::Risk;

/// Our tools that every such agent has some form of, with what using them counts as.
const TOOLS: [(&str, Risk); 7] = [
    ("read_file", Risk::ReadOnly),
    ("list_files", Risk::ReadOnly),
    ("search_files", Risk::ReadOnly),
    ("write_file", Risk::WriteLocal),
    ("edit_file", Risk::WriteLocal),
    ("run_command", Risk::WriteLocal),
    ("fetch_url", Risk::NetworkGet),
];

/// What a worker with tools of its own may not use.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OwnTools {
    /// Denied by name, or not on the list of those that may be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Beyond the risk that goes without asking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<String>,
}

impl OwnTools {
    pub fn of(policy: &Policy) -> Self {
        let is_listed = |list: &[String], name: &str| list.iter().any(|pattern| names(pattern, name));
        let mut own = Self::default();
        for (name, risk) in TOOLS {
            let unlisted = !policy.allow.is_empty() && !is_listed(&policy.allow, name);
            if unlisted || is_listed(&policy.deny, name) {
                own.denied.push(name.to_owned());
            } else if risk > policy.risk {
                own.beyond.push(name.to_owned());
            }
        }
        own
    }

    pub fn may(&self, tool: &str) -> bool {
        !self.denied.iter().chain(&self.beyond).any(|name| name == tool)
    }

    /// It may change nothing, by whatever tool.
    pub fn reads_only(&self) -> bool {
        !["write_file", "edit_file", "run_command"].iter().any(|tool| self.may(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_asked_about_is_not_allowed_to_whoever_cannot_be_asked() {
        let policy = |risk, deny: &[&str], allow: &[&str]| {
            let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            OwnTools::of(&Policy { risk, deny: list(deny), allow: list(allow) })
        };
        let usual = policy(Risk::WriteLocal, &[], &[]);
        assert_eq!((usual.denied.len(), usual.beyond.join(" ")), (0, "fetch_url".into()));
        let reads = policy(Risk::ReadOnly, &[], &[]);
        assert!(reads.reads_only() && reads.may("search_files") && reads.denied.is_empty());
        let listed = policy(Risk::SpendsMoney, &["run_*"], &["read_file", "run_command"]);
        assert!(listed.may("read_file") && !listed.may("run_command") && listed.beyond.is_empty());
        assert!(listed.denied.contains(&"write_file".to_owned()), "not on the list: {listed:?}");
        assert_eq!(policy(Risk::NetworkGet, &[], &[]), OwnTools::default());
    }
}
