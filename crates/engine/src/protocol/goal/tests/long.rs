//! Five hundred steps with long outputs: prompts stay bounded, and the goal and the policy are in every one.

use super::game::{Plays2, begun, seated};
use crate::budget::Limits;
use crate::effect::EffectKind;
use crate::tool::{SHOWN, ToolEnd};
use crate::tree::RunEnd;
use crate::turn::Role;

/// More than a prompt's past, its beginning and the lines for what is left out can have together.
const MOST: usize = 200 * 1024;

#[test]
fn a_long_goal_has_prompts_of_a_bounded_size_that_still_hold_the_goal() {
    let mut table = seated(|s| s.interval = 5);
    table.settings.limits = Limits { steps: Some(600), turns: Some(700), ..Limits::default() };
    let mut table = begun(table);
    let mut largest = 0;
    for n in 0..500_u32 {
        if matches!(table.open().kind, EffectKind::Look(_)) {
            table.sees(&[]);
        }
        if table.asked(Role::Critic) {
            let prompt = table.prompt(&table.open());
            assert!(prompt.len() < 8 * 1024, "the critic's prompt has {} bytes", prompt.len());
            table.says("PROGRESSING\nyes");
        }
        let EffectKind::Turn(turn) = table.open().kind else { panic!("{}", table.since("> ")) };
        let texts = table.engine.texts().unwrap();
        let size: usize = turn.messages.iter().flat_map(|m| &m.parts).map(|p| p.size(texts)).sum();
        largest = largest.max(size);
        let first = turn.messages[0].render(texts);
        assert!(
            first.contains("GOAL:\nWrite about the moon") && first.contains("risk=write_local"),
            "{first}"
        );
        table.wants(&[("run_command", &format!(r#"{{"command":"make {n}"}}"#))]);
        let output = format!("{n} ").repeat(SHOWN / 5);
        table.did(ToolEnd::Ran(RunEnd::Code(0)), &output[..SHOWN.min(output.len())]);
    }
    assert!(largest < MOST, "the largest prompt has {largest} bytes");
    assert!(largest > 32 * 1024, "the past is used: {largest}");
    let last = table.records.last().unwrap();
    let record = serde_json::to_string(&(&last.0, &last.1)).unwrap();
    assert!(record.len() < 64 * 1024, "a record has {} bytes", record.len());
}
