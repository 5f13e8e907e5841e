//! More runs of the kind that is there already: rows copied in the database, which takes a tenth of the time that
//! writing them takes. It knows the tables of the journal; nothing but a fill may.

use std::path::Path;

use gadfly_engine::Digest;
use gadfly_journal::RunId;
use rusqlite::{Connection, params};

use super::{Fault, begins_ms};

struct Template {
    number: i64,
    summary: serde_json::Value,
    took_ms: u64,
}

/// Copies of `templates` in turn, as runs number `from` to `until`.
pub(super) fn add(dir: &Path, templates: &[RunId], from: u32, until: u32) -> Result<Vec<RunId>, Fault> {
    let mut conn = Connection::open(dir.join("journal.db"))?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    let templates: Vec<Template> =
        templates.iter().map(|run| template(&conn, run)).collect::<Result<_, Fault>>()?;
    let mut added = Vec::new();
    let all = conn.transaction()?;
    for (n, template) in (from..until).zip(templates.iter().cycle()) {
        let run = RunId::derived(&Digest::of(format!("copy {n}").as_bytes()));
        let (created, updated) = (begins_ms(n), begins_ms(n) + template.took_ms);
        let mut summary = template.summary.clone();
        summary["run"] = run.as_str().into();
        (summary["created_ms"], summary["updated_ms"]) = (created.into(), updated.into());
        let sql = "INSERT INTO runs(id, created, updated, next, ended, outcome, summary)
                   SELECT ?1, ?2, ?3, next, ended, outcome, ?4 FROM runs WHERE number = ?5";
        let row = params![
            run.as_str(),
            i64::try_from(created)?,
            i64::try_from(updated)?,
            summary.to_string(),
            template.number
        ];
        all.prepare_cached(sql)?.execute(row)?;
        let number = all.last_insert_rowid();
        for sql in [
            "INSERT INTO records(run, seq, size, body, input_texts, step_texts)
             SELECT ?1, seq, size, body, input_texts, step_texts FROM records WHERE run = ?2 ORDER BY seq",
            "INSERT INTO marks SELECT ?1, kind, seq FROM marks WHERE run = ?2",
            "INSERT INTO meters SELECT ?1, body FROM meters WHERE run = ?2",
            "INSERT INTO refs SELECT ?1, blob FROM refs WHERE run = ?2",
        ] {
            all.prepare_cached(sql)?.execute([number, template.number])?;
        }
        added.push(run);
    }
    all.commit()?;
    Ok(added)
}

fn template(conn: &Connection, run: &RunId) -> Result<Template, Fault> {
    let sql = "SELECT number, updated - created, summary FROM runs WHERE id = ?1";
    let row =
        conn.query_row(sql, [run.as_str()], |r| Ok((r.get(0)?, r.get::<_, i64>(1)?, r.get::<_, String>(2)?)));
    let (number, took_ms, summary) = row?;
    Ok(Template { number, summary: serde_json::from_str(&summary)?, took_ms: u64::try_from(took_ms)? })
}
