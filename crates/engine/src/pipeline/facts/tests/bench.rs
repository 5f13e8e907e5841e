//! A project on paper: clo-author's twelve entries, and files, verdicts and answers put beside them.

use std::collections::{BTreeMap, BTreeSet};

use crate::artifact::{ArtifactFile as File, Manifest};
use crate::digest::Digest;
use crate::pipeline::facts::{AgentReadiness, Gap, Holds, ProjectFacts};
use crate::pipeline::headings::headings;
use crate::pipeline::listing::{ListedFile, Listing, Pattern};
use crate::pipeline::registry::{Atom, Check, Need, PairWeight, Product, Registry, RegistryEntry};
use crate::pipeline::verdict::{OtherLens, PairVerdict};

pub(super) const MEMO: &str = "quality_reports/strategy/x/strategy_memo.md";
const WHOLE: &str =
    "## 1. Estimand\n## 2. Specification\n## 3. Assumptions\n## 4. Robustness Plan\n## 5. Threats\n";

#[derive(Default)]
pub(super) struct Bench {
    pub registry: Registry,
    pub listing: Listing,
    pub headings: BTreeMap<String, Vec<String>>,
    pub verdicts: Vec<PairVerdict>,
    pub manual: BTreeMap<String, bool>,
    pub assume: bool,
    pub enabled: BTreeSet<String>,
    pub skills: BTreeMap<String, String>,
}

pub(super) fn path(of: &str) -> Need {
    atom(of, Check::Path(Pattern::new(of)))
}

pub(super) fn score(critic: &str, at_least: u32) -> Need {
    atom(&format!("{critic} score >= {at_least}"), Check::Score { critic: critic.into(), at_least })
}

fn atom(text: &str, check: Check) -> Need {
    Need::Atom(Atom { text: text.into(), line: 1, check })
}

pub(super) fn share(points: u32, component: &str) -> PairWeight {
    PairWeight::Share { points, component: component.into(), binary: false }
}

fn made(of: &[&str]) -> Vec<Product> {
    of.iter().map(|of| Product { patterns: vec![Pattern::new(of)], ..Product::default() }).collect()
}

fn folder(of: &str, files: &[&str], sections: &[&str]) -> Vec<Product> {
    vec![Product {
        patterns: vec![Pattern::new(of)],
        files: files.iter().map(|file| Pattern::new(&format!("{of}{file}"))).collect(),
        sections: sections.iter().map(|&section| section.to_owned()).collect(),
        line: 1,
    }]
}

fn entry(
    agent: &str,
    requires: Need,
    produces: Vec<Product>,
    critic: &str,
    weight: PairWeight,
) -> RegistryEntry {
    let critic = (!critic.is_empty()).then(|| critic.to_owned());
    RegistryEntry { agent: agent.into(), requires, produces, critic, weight, ..RegistryEntry::default() }
}

impl Bench {
    pub fn of(entries: Vec<RegistryEntry>) -> Self {
        Self { registry: Registry { entries }, ..Self::default() }
    }

    /// The twelve, in their order, for the project `x`.
    pub fn paper() -> Self {
        let idea = || atom("Research idea or research spec", Check::Manual);
        let memo = || Need::All(vec![path(MEMO), score("strategist-critic", 80)]);
        let reviewed = || Need::All(vec![score("writer-critic", 80), score("coder-critic", 80)]);
        let (literature, data) = ("quality_reports/literature/x/", "quality_reports/data-assessment/x/");
        let bibliography =
            ["annotated_bibliography.md", "references.bib", "frontier_map.md", "positioning.md"];
        let sources = ["data_sources.md", "data_dictionary.md", "access_instructions.md"];
        let sections = ["Estimand", "Specification", "Assumptions", "Robustness Plan", "Threats"];
        let theory =
            ["theory_memo.md", "assumptions.tex", "results.tex", "proofs.tex", "notation_glossary.md"];
        let tables = Check::Contains { folder: Pattern::new("paper/tables/"), endings: vec![".tex".into()] };
        let tables = atom("`paper/tables/` contains `.tex` files", tables);
        let code = ["scripts/", "paper/tables/", "paper/figures/", "quality_reports/results_summary.md"];
        let paper = ["paper/main.tex", "paper/sections/*.tex", "quality_reports/claim_source_map_x.md"];
        let talk = Product {
            patterns: vec![Pattern::new("paper/talks/"), Pattern::new("paper/quarto/")],
            ..Product::default()
        };
        let ready = Need::All(vec![
            atom("Overall score >= 95", Check::Overall { at_least: 95 }),
            atom("all components >= 80", Check::Components { at_least: 80 }),
        ]);
        let review = |of: &str| made(&[&format!("quality_reports/reviews/{of}")]);
        let binary = PairWeight::Share { points: 500, component: "replication".into(), binary: true };
        let shared = PairWeight::Shared { with: "code".into() };
        let mut entries = vec![
            entry(
                "librarian",
                idea(),
                folder(literature, &bibliography, &[]),
                "librarian-critic",
                share(1000, "literature"),
            ),
            entry("explorer", idea(), folder(data, &sources, &[]), "explorer-critic", share(1000, "data")),
            entry(
                "strategist",
                Need::Any(vec![path(literature), path(data)]),
                folder("quality_reports/strategy/x/", &["strategy_memo.md"], &sections),
                "strategist-critic",
                share(2500, "identification"),
            ),
            entry(
                "theorist",
                path(MEMO),
                folder("quality_reports/theory/x/", &theory, &[]),
                "theorist-critic",
                share(2000, "theory"),
            ),
            entry(
                "data-engineer",
                memo(),
                made(&["data/cleaned/", "paper/figures/"]),
                "coder-critic",
                shared,
            ),
            entry("coder", memo(), made(&code), "coder-critic", share(1500, "code")),
            entry(
                "writer",
                Need::All(vec![score("coder-critic", 80), tables]),
                made(&paper),
                "writer-critic",
                share(1000, "polish"),
            ),
            entry("editor", reviewed(), review("editorial_decision.md"), "", PairWeight::None),
            entry(
                "domain-referee",
                reviewed(),
                review("x_referee_domain.md"),
                "",
                share(1250, "paper quality"),
            ),
            entry(
                "methods-referee",
                reviewed(),
                review("x_referee_methods.md"),
                "",
                share(1250, "paper quality"),
            ),
            entry(
                "storyteller",
                score("writer-critic", 80),
                vec![talk],
                "storyteller-critic",
                PairWeight::Advisory,
            ),
            entry("verifier", ready, made(&["quality_reports/verification_report.md"]), "", binary),
        ];
        entries[3].conditional = Some("theory papers".into());
        Self::of(entries)
    }

    pub fn facts(&self) -> ProjectFacts<'_> {
        ProjectFacts {
            registry: &self.registry,
            listing: &self.listing,
            headings: &self.headings,
            verdicts: &self.verdicts,
            manual: &self.manual,
            assume_manual: self.assume,
            enabled: &self.enabled,
            skills: &self.skills,
        }
    }

    pub fn standing(&self, agent: &str) -> AgentReadiness {
        self.facts().standing(self.registry.get(agent).unwrap())
    }

    pub fn gaps(&self, agent: &str) -> Vec<Gap> {
        match self.standing(agent) {
            AgentReadiness::Blocked { gaps } => gaps,
            other => panic!("{agent} is {other:?}"),
        }
    }

    /// What keeps an agent from being dispatched, whether it is done or not.
    pub fn unmet(&self, agent: &str) -> Vec<String> {
        let said = self.facts().explain(self.registry.get(agent).unwrap());
        said.into_iter().filter(|e| e.holds != Holds::Yes).map(|e| e.because).collect()
    }

    /// The names of those who stand so.
    pub fn named(&self, standing: &str) -> String {
        let is = |found: &AgentReadiness| serde_json::to_value(found).unwrap()["standing"] == standing;
        let all = self.facts().standings();
        all.into_iter().filter(|(_, s)| is(s)).map(|(agent, _)| agent).collect::<Vec<_>>().join(" ")
    }

    pub fn file(&mut self, path: &str, text: &str) {
        self.headings.insert(path.into(), headings(text));
        self.listing.insert(path.into(), ListedFile { digest: Digest::of(text.as_bytes()), mode: 0o644 });
    }

    /// The files are written and judged with this score; 80 passes.
    pub fn judged(&mut self, agent: &str, score: u32, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.file(path, text);
        }
        let entry = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            mode: 0o644,
            blob: Digest::of(text.as_bytes()),
        };
        let files: Vec<File> = files.iter().map(entry).collect();
        let critic = self.registry.get(agent).unwrap().critic.clone().unwrap_or_else(|| agent.to_owned());
        self.verdicts.push(PairVerdict {
            agent: agent.into(),
            critic,
            lens: None,
            score,
            threshold: 80,
            rounds: 1,
            escalated: false,
            artifact: Manifest::new(files.clone()).digest(),
            files,
            rubric: Digest::of(b"rubric"),
            reply: Digest::of(b"reply"),
            open: Vec::new(),
            other: Vec::new(),
            rejected: false,
            made: Vec::new(),
        });
    }

    pub fn other_lens(&mut self, critic: &str, score: u32) {
        self.verdicts.last_mut().unwrap().other.push(OtherLens { critic: critic.into(), lens: None, score });
    }

    pub fn memo(&mut self, score: u32) {
        self.judged("strategist", score, &[(MEMO, WHOLE)]);
    }

    /// Everything an agent makes is there and judged.
    pub fn finish(&mut self, agent: &str, score: u32) {
        let entry = self.registry.get(agent).unwrap().clone();
        let mut paths: Vec<String> = Vec::new();
        for product in &entry.produces {
            paths.extend(product.files.iter().map(|file| file.0.clone()));
            if let Some(pattern) = product.patterns.first().filter(|_| product.files.is_empty()) {
                let file = if pattern.is_folder() {
                    format!("{pattern}{agent}.tex")
                } else {
                    pattern.0.replace('*', "a")
                };
                paths.push(file);
            }
        }
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), WHOLE)).collect();
        self.judged(agent, score, &files);
    }
}
