//! `gadfly show --log`: every record of a run, with what was sent and what came back, whole.

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::{Digest, EffectKind, Part, Reply, Texts};
use gadfly_journal::{Journal, Record, RunId};
use owo_colors::OwoColorize as _;
use serde_json::json;

use super::fault;
use crate::exit::Code;
use crate::output::table::moment;
use crate::output::{brief, events, print, safe};

pub fn print(journal: &Journal, run: &RunId, json: bool) -> Result<(), Code> {
    let mut texts = Texts::default();
    for record in journal.replay(run) {
        let record = record.map_err(fault)?;
        for text in record.input.texts.iter().chain(&record.step.texts) {
            if json && !texts.contains(&text.digest()) {
                // Records name texts by digest: here is what each name stands for, before its first use.
                let data = json!({ "digest": text.digest(), "text": text.as_str() });
                let (seq, at) = (record.seq, record.input.at.wall_ms);
                let line = json!({ "run": run, "seq": seq, "at": at, "event": "text", "data": data });
                print::out(&line.to_string())?;
            }
            texts.insert(text);
        }
        if json {
            events::of_record(run, &record).iter().try_for_each(|line| print::out(line))?;
        } else {
            entry(run, &record, &texts)?;
        }
    }
    Ok(())
}

fn entry(run: &RunId, record: &Record, texts: &Texts) -> Result<(), Code> {
    let at = record.input.at;
    let input = match &record.input.what {
        InputKind::Started(start) => format!("started: {}", safe::line(&start.plan.title, 100)),
        InputKind::Observed { effect, observation } => format!("observed {effect}: {}", compact(observation)),
        InputKind::Replied { effect, reply } => format!("replied {effect}: {}", compact(reply)),
        InputKind::Answered { effect, by, .. } => format!("answered {effect} by {}", safe::line(by, 60)),
        InputKind::Controlled(control) => format!("controlled: {}", compact(control)),
        InputKind::Resumed { .. } => "resumed".to_owned(),
    };
    let active = at.active_ms as f64 / 1000.0;
    print::out(&format!("{:>4}  {}  {active:>8.1}s  {}", record.seq, moment(at.wall_ms), input.bold()))?;
    match &record.input.what {
        InputKind::Replied { reply: Reply::Done(answer), .. } => {
            let said = answer.parts.iter().map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Blob(digest) | Part::Data(digest) => texts.get(digest),
                Part::Slice(slice) => texts.get(&slice.text),
                Part::Call(call) => texts.get(&call.args),
                Part::Result(result) => texts.get(&result.text),
                Part::Image(_) => "[a picture]",
            });
            let said = said.collect::<String>();
            // A reply in another form is shown in the rule book's own; `--json` has it as it came.
            quoted(rendered(record).map_or(said.as_str(), |digest| texts.get(&digest)))?;
        }
        InputKind::Answered { text, .. } => quoted(texts.get(&rendered(record).unwrap_or(*text)))?,
        _ => {}
    }
    for line in events::of_record(run, record) {
        let value: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        let (event, data) = (value["event"].as_str().unwrap_or_default(), &value["data"]);
        if data["kind"].get("turn").is_some() {
            continue; // told below, as the text it stands for
        }
        print::out(&format!("        {event} {}", safe::line(&data.to_string(), 2000)))?;
    }
    for effect in &record.step.effects {
        if let EffectKind::Turn(turn) = &effect.kind {
            let (role, agent) = (turn.role.name(), safe::line(&turn.agent, 60));
            let (id, tokens, money) = (&effect.id, effect.reserve.tokens, effect.reserve.money);
            let reserved = format!("at most {tokens} tokens, {money}");
            print::out(&format!("        asked {id}: {role} {agent}, {reserved}"))?;
            quoted(&brief::render(turn, texts))?;
        }
    }
    if let Some(outcome) = &record.step.outcome {
        print::out(&format!("        outcome {}", outcome.label()))?;
    }
    Ok(())
}

/// The critic's reply of this record in the rule book's own form, if it came in another.
fn rendered(record: &Record) -> Option<Digest> {
    record.step.events.iter().find_map(|event| match &event.what {
        EventKind::Reviewed { review, .. } => review.rendered,
        _ => None,
    })
}

fn quoted(text: &str) -> Result<(), Code> {
    safe::block(text).trim_end().lines().try_for_each(|line| print::out(&format!("        │ {line}")))
}

fn compact(value: &impl serde::Serialize) -> String {
    safe::line(&serde_json::to_string(value).unwrap_or_default(), 400)
}
