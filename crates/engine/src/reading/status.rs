//! A critic's verdict on a draft: a status, the fixes a rejection lists, what it says of the items raised before, the
//! reason of an approval. In words or as JSON. What it means for the loop is decided in `protocol/revise`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::doubt::{self, Rule, Scope, Section, Weight};
use super::forms::{self, Says, Statement};
use super::json::{self, text_of};
use super::lines::{self, Item, Kind, Line, Tick};
use super::quoted::Shown;
use super::{LONGEST_REPLY, Unread, clean, quote, reasoning};
use crate::brief::one_line;

/// The longest list that is read; what follows is noted.
const MOST_BULLETS: usize = 100;
/// The longest bullet, in characters.
const LONGEST_BULLET: usize = 2_000;
/// The longest reason that is kept, in characters.
const LONGEST_REASON: usize = 600;
/// Points and paragraphs that are weighed beside an approval; nobody approves in so many.
const MOST_WEIGHED: usize = 1_000;

/// What an agent is held to that can be.
pub const SCHEMA: &str = include_str!("status/schema.json");

pub const APPROVED: &str = "[STATUS: APPROVED]";
pub const REJECTED: &str = "[STATUS: REJECTED]";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Approved,
    Rejected,
}

/// One point of a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bullet {
    /// The text without its mark and without the numbers it cites.
    pub text: String,
    /// The text with those numbers, for a reader to whom they mean something else.
    pub whole: String,
    /// Numbers it cites at its beginning: `3:`, `#3`, `(3)`, `Item 3`, `1, 2:`.
    pub cites: Vec<u32>,
    /// The number it is listed under: perhaps that of an item, perhaps only a list's.
    pub listed: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusReply {
    pub status: Status,
    pub open: Vec<Bullet>,
    pub addressed: Vec<Bullet>,
    pub notes: Vec<String>,
    pub deviations: Vec<String>,
    /// What the critic says for its approval.
    pub reason: String,
    /// It lists what is still open under a heading of its own: then nothing else is.
    pub lists_open: bool,
}

/// Reads a reply to a brief that showed these texts.
pub fn read(reply: &str, shown: &Shown) -> Result<StatusReply, Unread> {
    if reply.len() > LONGEST_REPLY {
        return Err(Unread::new("the reply is far too long: send only the verdict"));
    }
    let text = clean::reply(reply);
    let own = shown.without_quotations(&text);
    let read = read_own(&own, shown);
    if read.is_err() && own.len() != text.len() {
        // Nothing readable is left without what is quoted. What is quoted cannot approve; a rejection stands.
        let whole = read_own(&text, shown).ok().filter(|whole| whole.status == Status::Rejected);
        return whole.map_or(read, Ok);
    }
    read
}

fn read_own(text: &str, shown: &Shown) -> Result<StatusReply, Unread> {
    let text = reasoning::without_thinking(text, states_a_verdict);
    if text.trim().is_empty() {
        return Err(Unread::new("the reply is empty"));
    }
    let is_report = |object: &Map<String, Value>| json::first(object, &STATUS_KEYS).is_some();
    if let Some(found) = json::find(&text, &is_report, &STATUS_KEYS, shown)? {
        let around = lines::read(&found.around);
        // A token in words beside it counts, too, and may contradict it.
        if !statements(&around).iter().any(|(_, s)| s.labelled) {
            return from_json(&found, shown);
        }
    }
    from_lines(&lines::read(&text), shown)
}

fn states_a_verdict(text: &str) -> bool {
    text.lines().any(|line| forms::status(line).is_some_and(|s| s.labelled || line.contains('[')))
        || relaxed_status(text)
}

fn relaxed_status(text: &str) -> bool {
    text.contains('{')
        && super::relaxed::objects(text, 20).iter().any(|object| {
            object.as_object().is_some_and(|object| json::first(object, &STATUS_KEYS).is_some())
        })
}

/// The first line of a draft that states a verdict about itself.
pub fn status_line(text: &str) -> Option<String> {
    let line = text.lines().find(|line| {
        forms::status(&clean::line(line)).is_some_and(|s| s.labelled && s.says != Says::Other)
    })?;
    Some(line.trim().chars().take(200).collect())
}

/// Lines that state a status, outside of fences if there are any there.
fn statements<'l, 't>(lines: &'l [Line<'t>]) -> Vec<(usize, Statement<'t>)> {
    let stated = |fenced: bool| -> Vec<(usize, Statement<'t>)> {
        let of = lines.iter().enumerate().filter(|(_, line)| line.fenced == fenced);
        of.filter_map(|(at, line)| forms::status(line.raw).map(|s| (at, s))).collect()
    };
    let outside = stated(false);
    if outside.is_empty() { stated(true) } else { outside }
}

fn from_lines(lines: &[Line<'_>], shown: &Shown) -> Result<StatusReply, Unread> {
    let mut stated = statements(lines);
    // An unlabelled word beside a labelled statement is a word: `Accepted` as a heading, `Fail` in a list.
    if stated.iter().any(|(_, s)| s.labelled) {
        stated.retain(|(_, s)| s.labelled);
    }
    let Some((first, _)) = stated.first().cloned() else {
        return Err(Unread::new(format!(
            "no line states the status: begin with `{APPROVED}` or `{REJECTED}`"
        )));
    };
    let of = |says: Says| stated.iter().find(|(_, s)| s.says == says);
    let raw = |at: usize| lines.get(at).map_or("", |line| line.raw.trim());
    let body = Body::read(lines, &stated);
    match (of(Says::Approved), of(Says::Rejected), of(Says::Other)) {
        (Some((yes, _)), Some((no, _)), _) => {
            let announced = no < yes && is_announced(lines, *yes);
            if announced && let Ok(rejected) = body.rejected() {
                return Ok(rejected);
            }
            Err(Unread::torn("it states two different verdicts", raw(*yes.min(no)), raw(*yes.max(no))))
        }
        (Some((yes, _)), None, Some((other, _))) => {
            Err(Unread::torn("it states two different verdicts", raw(*yes), raw(*other)))
        }
        (None, None, _) => Err(Unread::torn(
            "the status is neither approved nor rejected",
            raw(first),
            &body.items.first().map_or(String::new(), |i| i.text.clone()),
        )),
        (None, Some(_), _) => body.rejected(),
        (Some((yes, statement)), None, None) => {
            if !lines.iter().any(|line| line.fenced) && is_open_bracket(raw(*yes)) {
                return Err(Unread::new("the status line is cut off"));
            }
            if let Some((rule, passage)) = behind(statement) {
                return Err(Unread::torn(rule.sentence(), raw(*yes), &passage));
            }
            body.approved(raw(*yes), lines, shown)
        }
    }
}

/// `[STATUS: APPROVED` without its closing bracket.
fn is_open_bracket(line: &str) -> bool {
    line.matches('[').count() > line.matches(']').count()
}

/// A verdict that is only announced for later: `After these fixes:`.
fn is_announced(lines: &[Line<'_>], at: usize) -> bool {
    let before = lines[..at].iter().rev().find(|line| !line.raw.trim().is_empty());
    [lines.get(at), before].into_iter().flatten().any(|line| {
        let lower = line.raw.to_lowercase();
        ["after ", "once ", "when ", "if ", "would be", "then "].iter().any(|word| lower.contains(word))
    })
}

/// What stands behind the token on its line: a condition, a demand, another status.
fn behind(statement: &Statement<'_>) -> Option<(Rule, String)> {
    const CONDITIONS: &[&str] = &[
        "with",
        "pending",
        "once",
        "if",
        "provided",
        "subject",
        "conditional",
        "conditionally",
        "after",
        "when",
        "as",
        "assuming",
        "contingent",
        "but",
        "except",
        "however",
        "although",
        "unless",
        "until",
        "cannot",
        "not",
        "would",
        "could",
        "should",
        "may",
        "might",
        "or",
        "for",
        "only",
        "upon",
        "following",
        "minus",
    ];
    let first = statement.after.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?;
    if forms::is_one_of(first, CONDITIONS) {
        return Some((Rule::Condition, statement.after.to_owned()));
    }
    None
}

/// One point with where it stands.
#[derive(Clone, Debug)]
struct Point {
    section: Section,
    tick: Tick,
    listed: Option<u32>,
    text: String,
    from_table: bool,
}

#[derive(Default, Debug)]
struct Body {
    items: Vec<Point>,
    /// Paragraphs outside of lists, with the section they stand in.
    prose: Vec<(Section, String)>,
}

impl Body {
    fn read(lines: &[Line<'_>], stated: &[(usize, Statement<'_>)]) -> Self {
        let mut body = Self::default();
        let mut section = Section::None;
        let mut open: Option<usize> = None;
        let mut paragraph = false;
        let mut header = true;
        for (at, line) in lines.iter().enumerate() {
            if let Some((_, statement)) = stated.iter().find(|(n, _)| *n == at) {
                if !statement.after.is_empty() {
                    body.prose.push((Section::None, statement.after.to_owned()));
                }
                (open, paragraph) = (None, false);
                section = Section::None;
                continue;
            }
            // A status word among the fixes is only shown, be it in a fence or not.
            match &line.kind {
                Kind::Blank => {
                    (open, paragraph, header) = (None, false, true);
                }
                Kind::Rule | Kind::Quote(_) => paragraph = false,
                Kind::Heading(text) => {
                    section = doubt::section(text);
                    (open, paragraph) = (None, false);
                    body.prose.push((Section::Praise, (*text).to_owned()));
                }
                Kind::Row(cells) => {
                    let is_header = header && lines.get(at + 1).is_some_and(|next| next.kind == Kind::Rule);
                    header = false;
                    if !is_header {
                        body.row(section, cells);
                    }
                }
                Kind::Item(item) => {
                    let nested = open.is_some_and(|indent| line.indent >= indent + 2);
                    if nested && let Some(last) = body.items.last_mut() {
                        last.text.push(' ');
                        last.text.push_str(item.text);
                        continue;
                    }
                    open = Some(line.indent);
                    body.point(section, item);
                }
                Kind::Plain(text) if open.is_some() && !is_minor(text) => {
                    if let Some(last) =
                        body.items.last_mut().filter(|last| last.text.len() < 4 * LONGEST_BULLET)
                    {
                        last.text.push(' ');
                        last.text.push_str(text);
                    }
                }
                Kind::Plain(text) => {
                    if paragraph && !is_minor(text) {
                        if let Some((_, last)) =
                            body.prose.last_mut().filter(|(_, last)| last.len() < 64 << 10)
                        {
                            last.push('\n');
                            last.push_str(text);
                        }
                    } else {
                        body.prose.push((section, (*text).to_owned()));
                    }
                    (open, paragraph) = (None, true);
                }
            }
        }
        body
    }

    fn point(&mut self, section: Section, item: &Item<'_>) {
        let (mut section, mut text) = (section, item.text);
        // `- Still unresolved: 2: name the test`, `- Minor: a comma`, `- Strengths: clear prose`.
        if let Some((label, rest)) = text.split_once(':')
            && label.chars().count() <= 40
            && !label.contains(['"', '“', '`'])
        {
            let labelled = doubt::section(label);
            if is_minor(text)
                || matches!(labelled, Section::Optional | Section::Praise) && !rest.trim().is_empty()
            {
                section = if labelled == Section::Praise { Section::Praise } else { Section::Optional };
            } else if matches!(labelled, Section::Addressed | Section::Unresolved)
                && citations(label).0.is_empty()
                && !has_digit(label)
            {
                (section, text) = (labelled, rest.trim());
            }
        }
        self.items.push(Point {
            section,
            tick: item.tick,
            listed: item.number,
            text: text.to_owned(),
            from_table: false,
        });
    }

    fn row(&mut self, section: Section, cells: &[String]) {
        let tick =
            cells.iter().map(|cell| lines::ticked(cell)).find(|tick| *tick != Tick::None).unwrap_or_default();
        let fails = cells.iter().any(|cell| {
            forms::is_one_of(cell.trim(), &["fail", "failed", "no", "unmet", "missing", "rejected"])
                || cell.to_lowercase().starts_with("not ")
        });
        let met = cells.iter().skip(1).any(|cell| doubt::is_met(cell));
        let tick = match (tick, fails, met) {
            (Tick::Open, _, _) | (_, true, _) => Tick::Open,
            (Tick::Done, ..) | (_, _, true) => Tick::Done,
            _ => Tick::None,
        };
        let is_number = |cell: &&String| !cell.chars().all(|c| c.is_ascii_digit() || c == '#' || c == '.');
        let text = cells
            .iter()
            .filter(|cell| !cell.is_empty())
            .filter(is_number)
            .cloned()
            .collect::<Vec<_>>()
            .join(" — ");
        if !text.is_empty() {
            self.items.push(Point { section, tick, listed: None, text, from_table: true });
        }
    }

    fn approved(self, stated: &str, lines: &[Line<'_>], shown: &Shown) -> Result<StatusReply, Unread> {
        let mut deviations = Vec::new();
        if self.items.len() + self.prose.len() > MOST_WEIGHED {
            return Err(Unread::new(
                "it approves in far more lines than can be weighed: give one or two sentences",
            ));
        }
        let (mut addressed, mut notes, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for point in &self.items {
            let text = without_shown_quotes(&point.text, shown);
            let against = match point.section {
                Section::Optional | Section::Praise => doubt::is_pressing(&text),
                _ if shown.has_line(&point.text) && point.tick != Tick::Open => false,
                Section::Addressed => {
                    point.tick == Tick::Open || doubt::item(point.tick, &text) == Weight::Against
                }
                Section::Unresolved | Section::Demands => {
                    !(doubt::says_nothing(&text) || point.tick == Tick::Done || doubt::is_met(&text))
                }
                Section::None if is_minor(&text) => doubt::is_pressing(&text),
                Section::None => match doubt::item(point.tick, &text) {
                    Weight::Fine => false,
                    Weight::Against => true,
                    // `Sample size: n = 12 per group`, where the rubric speaks of it: what was found.
                    Weight::Unsure => !text.split_once(':').is_some_and(|(label, value)| {
                        !value.trim().is_empty() && shown.mentions(label.trim_matches(['*', '_', '`', ' ']))
                    }),
                },
            };
            if against {
                return Err(Unread::torn(Rule::Demand.sentence(), stated, &point.text));
            }
            let bullet = Bullet::read(point);
            match point.section {
                Section::Optional => notes.push(bullet.whole),
                _ if is_minor(&point.text) => notes.push(bullet.whole),
                _ => {
                    reasons.push(bullet.whole.clone());
                    addressed.push(bullet);
                }
            }
        }
        let mut reason: Vec<String> = Vec::new();
        for (section, said) in &self.prose {
            let text = without_shown_quotes(said, shown);
            let minor = is_minor(&text) || *section == Section::Optional;
            if minor {
                if doubt::is_pressing(&text) {
                    return Err(Unread::torn(Rule::Demand.sentence(), stated, said));
                }
                notes.push(one_line(said));
                continue;
            }
            // A heading by itself asks for nothing; what stands below it is weighed.
            let heading = *section == Section::Praise;
            let found = doubt::against(&text, Scope::Prose);
            if let Some((rule, passage)) =
                found.filter(|(rule, _)| !heading || !matches!(rule, Rule::Demand | Rule::Defect))
            {
                return Err(Unread::torn(rule.sentence(), stated, &passage));
            }
            if *section != Section::Praise {
                reason.push(one_line(said));
            }
        }
        let last = lines.iter().rev().find(|line| !line.raw.trim().is_empty()).map_or("", |line| line.raw);
        if last.trim() != stated && doubt::is_cut_off(last) {
            return Err(Unread::torn(Rule::CutOff.sentence(), stated, last));
        }
        if reason.is_empty() {
            reason = reasons;
        }
        if reason.is_empty() && notes.is_empty() {
            deviations.push("an approval without a reason".into());
        }
        let reason: String = one_line(&reason.join(" ")).chars().take(LONGEST_REASON).collect();
        Ok(StatusReply {
            status: Status::Approved,
            open: Vec::new(),
            addressed,
            notes,
            deviations,
            reason,
            lists_open: false,
        })
    }

    fn rejected(mut self) -> Result<StatusReply, Unread> {
        let mut deviations: Vec<String> = Vec::new();
        if self.items.iter().any(|point| !point.from_table) {
            self.items.retain(|point| !point.from_table || point.tick != Tick::None);
        }
        let listed =
            self.items.iter().any(|p| p.section == Section::Unresolved && !doubt::says_nothing(&p.text));
        let (mut open, mut addressed, mut notes) = (Vec::<Bullet>::new(), Vec::new(), Vec::new());
        let mut known: BTreeSet<String> = BTreeSet::new();
        for point in &self.items {
            let bullet = Bullet::read(point);
            if doubt::says_nothing(&bullet.whole) {
                continue;
            }
            match standing(point, &bullet, listed) {
                Standing::Open => {
                    if known.insert(bullet.whole.clone()) {
                        open.push(bullet);
                    }
                }
                Standing::Addressed => addressed.push(bullet),
                Standing::Note => notes.push(bullet.whole),
            }
        }
        let spoken = self.items.iter().any(|p| p.section != Section::Praise);
        for (section, text) in &self.prose {
            if is_minor(text) || *section == Section::Optional {
                notes.push(one_line(text));
            }
        }
        if open.is_empty() && !spoken {
            // No list at all: what is said in paragraphs is what has to be done.
            let paragraphs = self.prose.iter().filter(|(section, text)| {
                !matches!(section, Section::Praise | Section::Optional)
                    && !is_minor(text)
                    && !is_preamble(text)
            });
            for (section, text) in paragraphs {
                let point = Point {
                    section: *section,
                    tick: Tick::None,
                    listed: None,
                    text: text.clone(),
                    from_table: false,
                };
                let bullet = Bullet::read(&point);
                if open.iter().all(|known| known.whole != bullet.whole) {
                    open.push(bullet);
                }
            }
            deviations.push("fixes in sentences, not in a list".into());
        }
        if open.is_empty() {
            return Err(Unread::new(
                "it rejects and lists nothing to fix: each fix is a line that begins with `- `",
            ));
        }
        if open.len() > MOST_BULLETS {
            deviations.push(format!("{} open bullets; the first {MOST_BULLETS} are read", open.len()));
            open.truncate(MOST_BULLETS);
        }
        Ok(StatusReply {
            status: Status::Rejected,
            open,
            addressed,
            notes,
            deviations,
            reason: String::new(),
            lists_open: listed,
        })
    }
}

enum Standing {
    Open,
    Addressed,
    Note,
}

/// What a point of a rejection is: by its tick, its words or its heading.
fn standing(point: &Point, bullet: &Bullet, listed: bool) -> Standing {
    if point.tick == Tick::Open {
        return Standing::Open;
    }
    if point.tick == Tick::Done {
        return Standing::Addressed;
    }
    let done = says_done(&bullet.text) || doubt::is_met(&point.text);
    match point.section {
        Section::Unresolved => Standing::Open,
        Section::Addressed => Standing::Addressed,
        Section::Praise | Section::Optional => Standing::Note,
        _ if is_minor(&point.text) => Standing::Note,
        _ if done => Standing::Addressed,
        Section::None if listed => Standing::Note,
        Section::Demands | Section::None => Standing::Open,
    }
}

/// `addressed, n = 12`, `resolved`, `now stated`: and not `not addressed`.
fn says_done(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(6).collect();
    let denied = [
        "not",
        "still",
        "partially",
        "partly",
        "no",
        "un",
        "never",
        "missing",
        "unresolved",
        "unaddressed",
        "open",
    ];
    if words.iter().any(|word| denied.contains(word)) {
        return false;
    }
    let first = words.iter().take(4).any(|word| {
        ["addressed", "resolved", "fixed", "done", "corrected", "implemented", "satisfied", "completed"]
            .contains(word)
    });
    first && doubt::against(text, Scope::Prose).is_none()
}

fn is_minor(text: &str) -> bool {
    let plain = text.trim_start_matches(['*', '_', '(', ' ']);
    let lower: String = plain.chars().take(24).flat_map(char::to_lowercase).collect();
    [
        "minor:",
        "minor (",
        "minor -",
        "minor —",
        "optional:",
        "nit:",
        "nitpick:",
        "suggestion:",
        "non-blocking",
        "minor**:",
        "optional**:",
        "minor:**",
        "note:",
    ]
    .iter()
    .any(|lead| lower.starts_with(lead))
}

fn is_preamble(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let begins = [
        "here is",
        "here are",
        "below",
        "okay",
        "ok,",
        "sure",
        "let me",
        "i have compared",
        "i have reviewed",
        "i reviewed",
        "i compared",
        "thank",
        "after reviewing",
        "my review",
        "assistant",
        "critic",
    ];
    let asks = doubt::against(&lower, Scope::Prose).is_some();
    (begins.iter().any(|b| lower.starts_with(b)) && !asks) || lower.split_whitespace().count() < 2
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// The text without passages between quotation marks that stand in the work: they are the work's words.
fn without_shown_quotes(text: &str, shown: &Shown) -> String {
    let mut kept = text.to_owned();
    for passage in quote::all(text) {
        if passage.len() >= 2 && shown.has_text(passage) {
            kept = kept.replacen(passage, "…", 1);
        }
    }
    kept
}

impl Bullet {
    fn read(point: &Point) -> Self {
        let folded: String = one_line(&point.text).chars().take(LONGEST_BULLET).collect();
        let (tick, body) = lines::tick(&folded);
        let body = if tick == Tick::None { folded.as_str() } else { body };
        let (cites, rest) = citations(body);
        let rest = lines::tick(rest).1;
        let text = if rest.is_empty() { body.to_owned() } else { rest.to_owned() };
        // `1. ✓ stated`, `2. ✗ no test`: who ticks off a list counts the items of before.
        let counted = point.listed.filter(|_| cites.is_empty() && point.tick != Tick::None);
        let cites = if let Some(n) = counted { vec![n] } else { cites };
        Self { text, whole: body.to_owned(), cites, listed: point.listed }
    }
}

/// Reads the item numbers at the beginning of a bullet. A bare number followed by words ("3 sentences
/// lack units") cites nothing: a colon, dot, bracket, dash or the end must follow.
fn citations(text: &str) -> (Vec<u32>, &str) {
    let mut rest = text.trim_start_matches(['*', '_']);
    let lower = rest.to_ascii_lowercase();
    let mut explicit = false;
    for word in ["items ", "item ", "point ", "points ", "bullet ", "issue ", "fix ", "no. ", "nr. "] {
        if lower.starts_with(word)
            && lower[word.len()..].starts_with(|c: char| c.is_ascii_digit() || c == '#')
        {
            rest = rest[word.len()..].trim_start();
            explicit = true;
            break;
        }
    }
    let mut numbers = Vec::new();
    loop {
        let bare = rest.trim_start_matches(['#', '(', '[', '*']);
        explicit |= rest.starts_with('#');
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let Some(n) = (digits <= 4).then(|| bare[..digits].parse::<u32>().ok()).flatten() else { break };
        numbers.push(n);
        rest = &bare[digits..];
        let after = rest.trim_start();
        let Some(next) = [", ", "& ", "and ", ","].iter().find_map(|s| after.strip_prefix(s)) else { break };
        if !next.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '#') {
            break;
        }
        rest = next.trim_start();
    }
    let ends = rest.is_empty()
        || rest.starts_with([':', ')', ']', '*'])
        || rest.starts_with(". ")
        || [" —", " –", " - ", " ✓", " ✗", " ❌", " ✅"].iter().any(|d| rest.starts_with(d));
    if numbers.is_empty() || !(ends || explicit) {
        return (Vec::new(), text);
    }
    let rest = rest.trim_start_matches([':', ')', ']', '.', '*', ' ', '—', '–', '-']);
    (numbers, rest)
}

const STATUS_KEYS: [&str; 5] = ["status", "verdict", "decision", "approved", "result"];
const REASON_KEYS: [&str; 8] =
    ["reason", "text", "summary", "explanation", "comment", "rationale", "justification", "message"];
const FIX_KEYS: [&str; 14] = [
    "items",
    "fixes",
    "feedback",
    "issues",
    "required_changes",
    "changes",
    "findings",
    "open",
    "unresolved",
    "problems",
    "bullets",
    "still_unresolved",
    "required_fixes",
    "errors",
];
const NOTE_KEYS: [&str; 7] =
    ["notes", "minor", "optional", "suggestions", "strengths", "remarks", "reasoning"];

/// A verdict in JSON: a status, a list of fixes, a reason.
fn from_json(found: &json::Found, shown: &Shown) -> Result<StatusReply, Unread> {
    let object = &found.object;
    let said = json::first(object, &STATUS_KEYS);
    let word = match said {
        Some(Value::Bool(true)) => "status: approved".to_owned(),
        Some(Value::Bool(false)) => "status: rejected".to_owned(),
        Some(Value::String(word)) => word.clone(),
        _ => return Err(Unread::new("the status is neither approved nor rejected")),
    };
    let labelled = format!("status: {word}");
    let Some(statement) = forms::status(&word).or_else(|| forms::status(&labelled)) else {
        return Err(Unread::torn("the status is neither approved nor rejected", &word, ""));
    };
    let mut body = Body::default();
    for (key, value) in object {
        let key = key.as_str();
        if STATUS_KEYS.contains(&key) && Some(value) == said {
            continue;
        }
        let section = match key {
            "addressed" | "resolved" => Section::Addressed,
            "strengths" => Section::Praise,
            key if NOTE_KEYS.contains(&key) => Section::Optional,
            "open" | "unresolved" | "still_unresolved" => Section::Unresolved,
            key if FIX_KEYS.contains(&key) => Section::Demands,
            _ => Section::None,
        };
        match value {
            Value::Array(list) => {
                for entry in list {
                    if let Some(point) = json_point(section, entry) {
                        body.items.push(point);
                    }
                }
            }
            Value::String(text) if key == "reasoning" => {
                body.prose.push((Section::Praise, one_line(&text.chars().take(200).collect::<String>())));
            }
            Value::String(text)
                if REASON_KEYS.contains(&key) || FIX_KEYS.contains(&key) || NOTE_KEYS.contains(&key) =>
            {
                let lines = lines::read(text);
                let inner = Body::read(&lines, &statements(&lines));
                body.items.extend(inner.items.into_iter().map(|mut point| {
                    if point.section == Section::None {
                        point.section = section;
                    }
                    point
                }));
                body.prose.extend(
                    inner
                        .prose
                        .into_iter()
                        .map(|(inner, text)| (if inner == Section::None { section } else { inner }, text)),
                );
            }
            _ => {}
        }
    }
    body.prose.retain(|(section, text)| !(*section == Section::Praise && text.is_empty()));
    // What is thought before the verdict is no part of it.
    if object.contains_key("reasoning") {
        body.prose.retain(|(section, _)| *section != Section::Praise);
    }
    let around = lines::read(&found.around);
    let beside = Body::read(&around, &[]);
    body.prose.extend(beside.prose.into_iter().filter(|(_, text)| !is_preamble(text)));
    body.items.extend(beside.items);
    let mut read = match statement.says {
        Says::Rejected => body.rejected()?,
        Says::Other => return Err(Unread::torn("the status is neither approved nor rejected", &word, "")),
        Says::Approved => {
            if let Some((rule, passage)) = behind(&statement) {
                return Err(Unread::torn(rule.sentence(), &word, &passage));
            }
            if found.broken {
                return Err(Unread::new("beside the report stands another one that cannot be read"));
            }
            body.approved(&word, &[], shown)?
        }
    };
    read.deviations.extend(found.slips.iter().map(|slip| slip.name().to_owned()));
    Ok(read)
}

fn json_point(section: Section, entry: &Value) -> Option<Point> {
    let point = |text: String, tick: Tick, listed: Option<u32>| Point {
        section,
        tick,
        listed,
        text,
        from_table: false,
    };
    match entry {
        Value::String(text) => {
            let (tick, rest) = lines::tick(text);
            let item = lines::item(text);
            Some(match item {
                Some(item) => point(item.text.to_owned(), item.tick, item.number),
                None => point(rest.to_owned(), tick, None),
            })
        }
        Value::Object(object) => {
            let number = json::first(object, &["number", "item", "id", "n"]).and_then(|v| {
                v.as_u64()
                    .and_then(|n| u32::try_from(n).ok())
                    .or_else(|| v.as_str().and_then(|s| s.trim_start_matches('#').parse().ok()))
            });
            let state = json::first(object, &["state", "status", "verdict"])
                .and_then(text_of)
                .unwrap_or_default()
                .to_lowercase();
            let tick = match state.as_str() {
                "addressed" | "resolved" | "fixed" | "done" | "met" | "pass" | "passed" => Tick::Done,
                "" => Tick::None,
                _ => Tick::Open,
            };
            let said =
                |keys: &[&str]| json::first(object, keys).and_then(text_of).filter(|t| !t.trim().is_empty());
            let what = said(&[
                "issue",
                "problem",
                "what",
                "description",
                "says",
                "text",
                "point",
                "comment",
                "item",
            ]);
            let fix =
                said(&["fix", "remedy", "suggestion", "remediation", "change", "required", "correct_form"]);
            let text = match (what, fix) {
                (Some(what), Some(fix)) if what != fix => format!("{what} → {fix}"),
                (Some(one), _) | (None, Some(one)) => one,
                (None, None) if tick == Tick::Done => "addressed".to_owned(),
                (None, None) => return None,
            };
            let text = number.map_or(text.clone(), |n| format!("{n}: {text}"));
            Some(point(text, tick, None))
        }
        _ => None,
    }
}

/// The rule book's own form, for people: what is read from whatever form the critic used.
pub fn rendered(reply: &StatusReply, iteration: u32) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    match reply.status {
        Status::Approved => {
            let _ = writeln!(out, "{APPROVED}");
            if !reply.reason.is_empty() {
                let _ = writeln!(out, "{}", reply.reason);
            }
        }
        Status::Rejected => {
            let _ = writeln!(out, "{REJECTED}");
            if iteration > 1 && !reply.addressed.is_empty() {
                let _ = writeln!(out, "Addressed from iteration {}:", iteration - 1);
                for bullet in &reply.addressed {
                    let _ = writeln!(out, "- ✓ {}", bullet.whole);
                }
                let _ = writeln!(out, "Still unresolved:");
            }
            for bullet in &reply.open {
                let _ = writeln!(out, "- {}", bullet.whole);
            }
        }
    }
    for note in &reply.notes {
        let _ = writeln!(out, "{}", if is_minor(note) { note.clone() } else { format!("Minor: {note}") });
    }
    out
}

#[cfg(test)]
mod tests;
