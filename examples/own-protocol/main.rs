//! `gadfly` with a protocol of its own: `vote`. One critic judges every draft several times, each time afresh, and the majority
//! decides. All of it is in this folder: the rules are `vote.rs`, and below are its options, how its settings are made, and
//! who takes part. Command line, `gadfly.toml`, page and MCP know it by that.

mod vote;

use gadfly_engine::Limits;
use gadfly_engine::judging::Seat;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::work::Work;
use gadfly_project::config::ProtocolCard;
use gadfly_project::config::keys::{Fixed, Shape, key, on};
use gadfly_project::{LoopConfig, Problem, Sourced, options, rubric};
use gadfly_runtime::prepare::{
    Material, ProtocolEntry, Request, RoleAssignment, RoleList, RunSettings, rounds_of, small,
};

use vote::VoteSettings;

options! {
    VoteOptions, OPTIONS in Loop {
        voices: Sourced<u64> = key(Shape::Whole { min: 1, max: 9 })
            .or(Fixed::Whole(3))
            .says("How often the critic judges each draft")
            .flag(on::RUN | on::REVIEW, "N")
            .label("Voices")
            .model("How often the critic judges each draft; the majority decides.");
    }
}

static PROTOCOLS: [ProtocolEntry; 1] = [ProtocolEntry {
    card: &ProtocolCard {
        name: "vote",
        says: "the critic judges several times, and the majority decides",
        critics: 1,
        edits_files: false,
        takes: &["rubric", "draft", "out"],
        options: OPTIONS,
    },
    book: vote::RULE_BOOK,
    settings,
    of_task: None,
    inherits: None,
}];

fn settings(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn RunSettings>> {
    let given = request.criteria.clone();
    let (rubric, found) = rubric::for_loop(config.options.rubric.as_ref(), given);
    problems.extend(found);
    let draft = match &material.given {
        Some(Work::Draft(draft)) => Some(*draft),
        _ => None,
    };
    Some(Box::new(VoteSettings {
        task: material.task.digest(),
        rubric: rubric?.items.into_iter().map(|item| item.value).collect(),
        draft,
        worker: config.options.worker.as_ref().filter(|_| request.review.is_none()).map(|w| w.value.clone()),
        critic: config.critic()?.value,
        rounds: small(config.options.rounds.value),
        voices: small(VoteOptions::read(&config.table).voices.value),
        out: material.target.clone(),
    }))
}

impl RunSettings for VoteSettings {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        let book = vote::RULE_BOOK;
        let settings = serde_json::to_value(self)?;
        Ok(NodePlan { protocol: book.name.into(), version: book.version, limits, settings })
    }

    fn cast(&self) -> Vec<RoleAssignment> {
        let seat = Seat { agent: self.critic.clone(), fallback: None, lens: None };
        let mut cast = RoleList::new(self.worker.as_ref(), self.rounds).judged_by(&[seat]);
        for critic in cast.iter_mut().filter(|part| part.role == "critic") {
            critic.calls = critic.calls.saturating_mul(self.voices);
        }
        cast
    }

    fn rounds(&self) -> u32 {
        rounds_of(self.worker.as_ref(), self.rounds)
    }
}

fn main() -> std::process::ExitCode {
    gadfly::main_with(&PROTOCOLS)
}
