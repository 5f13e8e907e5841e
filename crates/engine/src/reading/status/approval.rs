//! What stands beside an approval, weighed: a point, a paragraph or a remark that asks for something leaves a doubt.

use super::body::{Body, is_minor};
use super::{Bullet, Status, StatusReply, scope};
use crate::brief::one_line;
use crate::reading::doubt::{self, Rule, Scope, Section, Weight};
use crate::reading::forms;
use crate::reading::lines::{self, Kind, Line, Tick};
use crate::reading::quoted::Shown;
use crate::reading::{Unread, quote};

/// The longest reason that is kept, in characters.
const LONGEST_REASON: usize = 600;
/// Points and paragraphs that are weighed beside an approval; nobody approves in so many.
const MOST_WEIGHED: usize = 1_000;

impl Body {
    pub fn approved(self, stated: &str, lines: &[Line<'_>], shown: &Shown) -> Result<StatusReply, Unread> {
        let mut deviations = Vec::new();
        if self.items.len() + self.prose.len() > MOST_WEIGHED {
            return Err(Unread::new(
                "it approves in far more lines than can be weighed: give one or two sentences",
            ));
        }
        let (mut addressed, mut notes, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        let signed = signature(lines);
        for point in self.items.iter().filter(|point| signed != Some(point.text.as_str())) {
            let text = without_shown_quotes(&point.text, shown);
            let against = match point.section {
                Section::Optional => doubt::is_pressing(&text) || lacks_what_is_asked(&text, shown),
                Section::Praise => doubt::is_pressing(&text),
                _ if shown.has_line(&point.text) && point.tick != Tick::Open => false,
                Section::Addressed => {
                    point.tick == Tick::Open || doubt::item(point.tick, &text) == Weight::Against
                }
                Section::Unresolved | Section::Demands => {
                    !(doubt::says_nothing(&text) || point.tick == Tick::Done || doubt::is_met(&text))
                }
                Section::None if is_minor(&text) => {
                    doubt::is_pressing(&text) || lacks_what_is_asked(&text, shown)
                }
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
        let is_shown = |said: &str| shown.has_line(said) || shown.has_text(said);
        let unnumbered = |said: &str| lines::item(said).is_some_and(|item| is_shown(item.text));
        for said in self.quotes.iter().filter(|said| !is_shown(said) && !unnumbered(said)) {
            if let Some((rule, passage)) = doubt::against(&without_shown_quotes(said, shown), Scope::Prose) {
                return Err(Unread::torn(rule.sentence(), stated, &passage));
            }
        }
        for (section, said) in &self.prose {
            let text = without_shown_quotes(said, shown);
            let minor = is_minor(&text) || *section == Section::Optional;
            if minor {
                if doubt::is_pressing(&text) || lacks_what_is_asked(&text, shown) {
                    return Err(Unread::torn(Rule::Demand.sentence(), stated, said));
                }
                notes.push(one_line(said));
                continue;
            }
            // `<one or two sentences that say why>`: the form, sent back unfilled.
            let within = |open, close| text.trim().starts_with(open) && text.trim().ends_with(close);
            let unfilled =
                (within('<', '>') && !text.contains(['|', '/'])) || within('{', '}') || within('[', ']');
            if unfilled && text.split_whitespace().count() > 3 {
                return Err(Unread::torn("it repeats the form in place of a reason", stated, said));
            }
            // A heading by itself asks for nothing; what stands below it is weighed.
            let heading = *section == Section::Praise;
            let found = doubt::against(&text, Scope::Prose);
            if let Some((rule, passage)) = found.filter(|(rule, _)| {
                !heading
                    || !matches!(
                        rule,
                        Rule::Demand | Rule::Defect | Rule::Shortfall | Rule::Unclear | Rule::Unaffirmed
                    )
            }) {
                return Err(Unread::torn(rule.sentence(), stated, &passage));
            }
            if *section != Section::Praise {
                reason.push(one_line(said));
            }
        }
        let lines = without_footer(lines);
        let ending = lines.iter().rev().find(|line| !line.raw.trim().is_empty() && line.kind != Kind::Rule);
        let last = ending.map_or("", |line| line.raw);
        // Who closed a sentence before leaves the last one open only where it was cut.
        let closed = |text: &str| {
            let decorates =
                |c: char| matches!(c, '*' | '_' | '`' | '"' | '”' | ')' | ' ') || forms::is_pictograph(c);
            text.trim_end_matches(decorates).ends_with(['.', '!', '?', '。'])
        };
        let prose = ending.is_some_and(|line| matches!(line.kind, Kind::Plain(_)));
        // Who begins sentences with small letters closes none either.
        let casual = last.split(". ").all(|said| said.trim_start().starts_with(|c: char| c.is_lowercase()));
        let open_end = prose
            && !closed(last)
            && !casual
            && last.split_whitespace().count() >= 8
            && (last.contains(". ") || doubt::turns(last) || self.prose.iter().any(|(_, said)| closed(said)));
        if last.trim() != stated && (open_end || doubt::is_cut_off(last)) {
            return Err(Unread::torn(Rule::CutOff.sentence(), stated, last));
        }
        let said = self.items.iter().map(|point| point.text.as_str());
        let said: Vec<&str> = said.chain(self.prose.iter().map(|(_, said)| said.as_str())).collect();
        if let Some((problem, passage)) = scope::doubt(&said, shown) {
            return Err(Unread::torn(problem, stated, &passage));
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
}

/// `— Critic`, `- Reviewer 2`: the last line by itself, a dash and a name.
fn signature<'t>(lines: &[Line<'t>]) -> Option<&'t str> {
    let mut said = lines.iter().rev().skip_while(|line| line.raw.trim().is_empty());
    let (last, before) = (said.next()?, said.next());
    let Kind::Item(item) = &last.kind else { return None };
    let is_named = |word: &str| {
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '(')
            || forms::is_one_of(word, &["the", "your", "of"])
    };
    let is_alone = before.is_some_and(|line| line.raw.trim().is_empty());
    let is_name = item.text.split_whitespace().count() <= 4 && item.text.split_whitespace().all(is_named);
    let is_fine = item.tick == Tick::None && doubt::item(item.tick, item.text) == Weight::Unsure;
    (is_alone && is_name && is_fine && last.raw.trim().starts_with(['—', '–', '-'])).then_some(item.text)
}

/// The lines up to what a tool prints of itself below a reply: `tokens: 812 in / 64 out · $0.003`.
fn without_footer<'l, 't>(lines: &'l [Line<'t>]) -> &'l [Line<'t>] {
    let is_footer = |line: &Line<'_>| {
        let lower = line.raw.to_lowercase();
        let names = ["token", "cost", "session", "duration", "elapsed", "latency", "usage"];
        lower.contains(|c: char| c.is_ascii_digit())
            && lower.len() < 200
            && names.iter().any(|name| lower.contains(name))
            && (lower.contains(['·', '|', '$']) || lower.starts_with('[') || lower.starts_with("token"))
    };
    let end = lines.iter().rposition(|line| !line.raw.trim().is_empty()).unwrap_or(0);
    match lines.get(end) {
        Some(line) if is_footer(line) => {
            let above = &lines[..end];
            let rule = |line: &Line<'_>| line.kind == Kind::Rule || line.raw.trim().is_empty();
            &above[..above.iter().rposition(|line| !rule(line)).map_or(0, |at| at + 1)]
        }
        _ => lines,
    }
}

/// Does a remark that is called small say that something is not there which the brief speaks of: `Minor: the statistical test
/// is not named`?
fn lacks_what_is_asked(text: &str, shown: &Shown) -> bool {
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .take(40)
        .collect();
    let carries =
        |word: &str| word.len() >= 3 && !forms::is_one_of(word, &["the", "and", "was", "are", "not"]);
    doubt::says_it_lacks(text)
        && words.windows(2).any(|pair| {
            pair.iter().all(|word| carries(word)) && shown.mentions(&format!("{} {}", pair[0], pair[1]))
        })
}

/// `described as "several"`: a quantity that is none says so, also where it is quoted.
fn is_put_vaguely(text: &str, passage: &str) -> bool {
    let first = passage.split_whitespace().next().unwrap_or_default();
    let before =
        text.split(passage).next().unwrap_or_default().trim_end_matches(|c: char| !c.is_alphanumeric());
    before.ends_with(" as")
        && forms::is_one_of(first, &["several", "some", "many", "few", "various", "numerous"])
}

/// The text without passages between quotation marks that stand in the work: they are the work's words.
fn without_shown_quotes(text: &str, shown: &Shown) -> String {
    let mut kept = text.to_owned();
    for passage in quote::all(text) {
        if passage.len() >= 2 && shown.has_text(passage) && !is_put_vaguely(text, passage) {
            kept = kept.replacen(passage, "…", 1);
        }
    }
    kept
}
