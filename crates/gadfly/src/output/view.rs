//! What the person or program in front of a run sees: live lines, plain lines, or JSON events.

use gadfly_engine::input::What;
use gadfly_engine::{Class, EffectKind};
use gadfly_journal::{Record, RunId};
use gadfly_runtime::Update;

use super::live::Live;
use super::story::Story;
use super::{events, print, terminal};
use crate::exit::Code;

pub struct View {
    story: Story,
    live: Option<Live>,
    json: bool,
}

impl View {
    pub fn new(json: bool) -> Self {
        let live = (!json && terminal::is_live()).then(Live::default);
        Self { story: Story::new(live.is_none()), live, json }
    }

    /// What happened before, so that the rest can be told: nothing of it is shown.
    pub fn remember(&mut self, record: &Record) {
        let _ = self.story.record(record);
    }

    /// Whether there is something to redraw from time to time.
    pub const fn is_live(&self) -> bool {
        self.live.is_some()
    }

    pub fn update(&mut self, update: &Update) -> Result<(), Code> {
        match update {
            Update::Record { run, record } => self.record(run, record),
            Update::Progress { effect, text, .. } => {
                if let Some(live) = &mut self.live {
                    live.streamed(effect, text);
                }
                Ok(())
            }
        }
    }

    pub fn record(&mut self, run: &RunId, record: &Record) -> Result<(), Code> {
        let lines = self.story.record(record);
        if self.json {
            return events::of_record(run, record).iter().try_for_each(|line| print::out(line));
        }
        if let Some(live) = &mut self.live {
            live.erase();
        }
        print::err_lines(&lines);
        if let Some(live) = &mut self.live {
            if let What::Replied { effect, .. } = &record.input.what {
                live.end(effect);
            }
            for effect in record.step.effects.iter().filter(|e| e.class != Class::Person) {
                if let EffectKind::Turn(turn) = &effect.kind {
                    let who = format!("{} {}", turn.role.name(), self.story.agent(&turn.agent));
                    live.begin(effect.id.clone(), who);
                }
            }
            live.draw();
        }
        Ok(())
    }

    pub fn tick(&mut self) {
        if let Some(live) = &mut self.live {
            live.draw();
        }
    }

    /// A line that stays.
    pub fn say(&mut self, line: &str) {
        self.close();
        print::err(line);
    }

    /// Takes the live lines away.
    pub fn close(&mut self) {
        if let Some(live) = &mut self.live {
            live.erase();
        }
    }
}
