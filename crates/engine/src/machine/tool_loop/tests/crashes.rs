//! The process dies at every point of a run, before or after what it was doing was done. The run ends the same way.

use super::*;
use crate::replay::replay;
use crate::text::Text;

/// A model that goes by what it is told, and the folder it works in.
struct World {
    game: Game,
    /// The file the work is about, as it is on disk.
    file: Option<String>,
}

impl World {
    fn start() -> Self {
        // Something is left over from before: the work must not begin with it.
        Self { game: game().start(), file: Some("left over".into()) }
    }

    /// Does what is asked for, as far as it changes anything.
    fn perform(&mut self) {
        let EffectKind::Tool(tool) = self.game.open().kind else { return };
        if tool.begin.is_some() {
            self.file = None;
        }
        if let ToolAction::WriteFile { content, .. } = tool.action {
            self.file = Some(self.game.engine.texts().unwrap().get(&content).to_owned());
        }
    }

    fn reply(&mut self) {
        let effect = self.game.open();
        match &effect.kind {
            EffectKind::Turn(turn) if turn.agent == "ann" => self.work(),
            EffectKind::Turn(_) => _ = self.game.says(&approval()),
            EffectKind::Look(_) if self.is_fresh() => _ = self.game.sees(&[]),
            EffectKind::Look(_) => {
                let file = self.file.clone();
                self.game.sees(&[("src/a.rs", file.as_deref())]);
            }
            EffectKind::Verify(_) => _ = self.game.verifies(0, "fine"),
            EffectKind::Tool(tool) => {
                let end = match tool.action {
                    ToolAction::RunCommand { .. } => ToolEnd::Ran(RunEnd::Code(0)),
                    _ => ToolEnd::Done,
                };
                self.game.did(end, "fine");
            }
            EffectKind::Accept(_) => _ = self.game.accepted(),
            other => panic!("{}\n{}", other.name(), self.game.log()),
        }
    }

    /// Nobody has worked yet.
    fn is_fresh(&self) -> bool {
        !self.game.records.iter().flat_map(|(_, step)| &step.effects).any(is_turn)
    }

    /// Writes until it is told that this was done, then tests once, then it is done.
    fn work(&mut self) {
        let results = results(&self.game);
        let good = results.iter().filter(|text| text.ends_with("fine")).count();
        match good {
            0 => _ = self.game.wants(&[write_a()]),
            1 => _ = self.game.wants(&[("run_command", r#"{"command":"make test"}"#)]),
            _ => _ = self.game.says("Done."),
        }
    }

    fn play(&mut self) {
        for _ in 0..100 {
            if self.game.engine.outcome().is_some() {
                return;
            }
            self.perform();
            self.reply();
        }
        panic!("it never ends\n{}", self.game.log());
    }
}

#[test]
fn a_crash_at_any_point_leads_to_the_same_end() {
    let mut whole = World::start();
    whole.play();
    let inputs = whole.game.records.len();
    assert!(inputs > 10);
    for cut in 1..inputs {
        for done in [false, true] {
            let mut world = World::start();
            while world.game.records.len() < cut {
                world.perform();
                world.reply();
            }
            if done {
                world.perform();
            }
            world.game.resume();
            world.play();
            let at = format!("cut at {cut}, done: {done}\n{}", world.game.log());
            assert_eq!(world.game.class(), "approved", "{at}");
            assert_eq!(world.file.as_deref(), Some(FILE), "{at}");
            assert!(world.game.log().contains("accepted a"), "{at}");
            let records = world.game.records.iter().map(|(input, step)| (input, step));
            if let Err(difference) = replay(Protocols::shipped(), records) {
                panic!("{difference}\n{at}");
            }
        }
    }
}

#[test]
fn a_lost_read_is_repeated_and_the_model_is_told_of_a_lost_write() {
    let mut game = begun(game());
    game.wants(&[("list_files", "{}"), write_a(), ("run_command", r#"{"command":"make"}"#)]);
    game.resume();
    assert!(tool(&game).begin.is_some(), "the first of them still begins the work");
    game.did(ToolEnd::Done, "nothing").resume();
    assert!(matches!(tool(&game).action, ToolAction::RunCommand { .. }), "{}", game.log());
    game.did(ToolEnd::Ran(RunEnd::Code(0)), "");
    assert_eq!(results(&game)[1], super::super::UNKNOWN);
    assert_eq!(steps(&game), ["1 list_files ok", "2 write_file unknown", "3 run_command ok"]);
}

#[test]
fn if_the_first_of_them_is_lost_the_folder_is_put_back_once_more() {
    let mut game = begun(game());
    game.wants(&[write_a(), ("list_files", "{}")]).replies(Reply::Cancelled { sent: true }).resume();
    assert!(matches!(tool(&game).action, ToolAction::ListFiles { .. }) && tool(&game).begin.is_some());
    game.did(ToolEnd::Done, "nothing");
    assert_eq!(results(&game), [super::super::UNDONE, "nothing"]);
    // What never left this machine is simply done again.
    game.wants(&[write_a()]).replies(Reply::Cancelled { sent: false }).resume();
    assert!(matches!(tool(&game).action, ToolAction::WriteFile { .. }), "{}", game.log());
}

#[test]
fn a_tool_that_could_not_be_used_at_all_parks_the_run_and_is_tried_again() {
    let mut game = begun(game());
    game.wants(&[write_a()]).fails(FailureKind::Misconfigured);
    assert_eq!(game.class(), "failed");
    game.resume();
    assert!(tool(&game).begin.is_some());
    game.did(ToolEnd::Done, "wrote");
    assert_eq!(results(&game), ["wrote"]);
}

#[test]
fn a_reply_that_names_a_call_without_bringing_it_is_refused() {
    let mut game = begun(game());
    let call = crate::tool::ToolCall { id: "x".into(), name: "y".into(), args: Digest::of(b"absent") };
    let text = Text::new("");
    let answer = crate::effect::Answer {
        parts: vec![Part::Blob(text.digest()), Part::Call(call)],
        stop: crate::effect::StopReason::ToolUse,
        usage: crate::budget::Usage::default(),
        model: None,
        took_ms: 1,
        report: None,
        violations: Vec::new(),
        session: None,
    };
    let what = InputKind::Replied { effect: game.open().id, reply: Reply::Done(answer) };
    assert!(game.try_put("calls", what, vec![text]).is_err());
}
