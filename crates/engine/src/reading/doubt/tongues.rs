//! What speaks against an approval in languages other than English: stems of demand, lack and condition, and the phrases in
//! which they deny that anything is wrong. A sentence that holds one of the latter and nothing else is left alone.

use std::sync::LazyLock;

use regex::Regex;

/// Something is asked for, lacking or conditional, in words that no English sentence holds.
const AGAINST: &str = r"(?xi)
    # German
    \b(?:fehlt|fehlen|fehlend\w*|müssen|müsste\w*|sollte[nst]*|allerdings|jedoch|unklar\w*|unvollständig\w*|ergänz\w+|nachgereicht|nachzu\w+|nachtrag\w*|nachgetragen|korrigier\w+|überarbeit\w+|vorausgesetzt|sofern|sobald|nirgend\w*|niemals|wäre[n]?|könnte[n]?|würde[n]?|hätte[n]?|nicht|keine[nrms]?|ohne|abgelehnt|ablehn\w*)\b
    # French
    | \b(?:manque\w*|faut|faudra\w*|devra\w*|doivent|veuillez|cependant|toutefois|néanmoins|incompl[eè]t\w*|ajoute[rz]|précise[rz]|corrige[rz]|serait|faudrait|pourrait|devrait|mériterait|il\s+reste\s+à|à\s+condition|sous\s+réserve|aucune?|n['’](?:est|a|indique|y|ont|apparaît)\b)
    # Spanish and Portuguese
    | \b(?:hay\s+que|es\s+necesario|é\s+necessário|sin\s+embargo|no\s+obstante|contudo|porém|agreg(?:ar|ue|uen)|añad\w+|acrescent\w+|corrij\w+|siempre\s+que|desde\s+que|ningun\w*|ningún|nenhum\w*|conv(?:endría|iene)|sería|habría|debería|podría|faltaría|seria|deveria|poderia|conviria|aunque|embora|não|tampoco)\b
    # Italian and Dutch
    | \b(?:tuttavia|bisogna|sarebbe|dovrebbe|andrebbe|potrebbe|converrebbe|aggiung\w+|a\s+condizione|nessun\w*|però|manca(?:no)?|devono|ontbreekt|ontbreken|moeten|echter|toevoeg\w*|toegevoegd|mits|geen|niet|maar)\b
    # Swedish, Danish and Turkish
    | \b(?:saknas|inte|måste|dock|mangler|ikke|eksik\w*|ancak|değil|gerek\w*|fakat)\b
    # Russian, Polish
    | (?:не\s|нет\s|без\s|нужно|необходимо|следует|однако|отсутству|добав|исправ|\bbrak\w*|należy|jednak|trzeba|\bnie\b)
    # Chinese
    | (?:缺|未|没有|沒有|不|需要|必须|必須|请|請|但|应该|應該|补充|補充|修改|改正|前提|如果|除非)
    # Japanese
    | (?:ない|なし|必要|ただし|べき|しかし|不足|追加|修正|してください|条件|未)
    # Korean
    | (?:없|부족|필요|하지만|추가|수정|해야|않)";

/// The same in words that English has, too: they count in a sentence of another language.
const AGAINST_THERE: &str = r"(?xi)\b(?:muss|nur|solo|bitte|kein|soll|doit|pas|sans|mais|falta\w*|debe\w*|deve\w*|incomplet\w+|por\s+favor|sem|pero|mas|no|non|sin|moet|men|utan|ma)\b";

/// Nothing is wrong, in so many words.
const PRAISE: &str = r"(?xi)
    \b(?:kein\w*|ohne|nicht\s+mehr|nichts)\s+(?:\w+\s+){0,4}?(?:überflüssig\w*|unnötig\w*|zwei\b|parallel\w*|gleichzeitig\w*|gemeinsam\w*|geteilt\w*|doppel\w*|zykl\w*|überschneid\w*|überlapp\w*|konflikt\w*|abhängig\w*|vorauss\w*|kreis\w*|offen\w*|grund|einwand|beanstandung\w*|änderung\w*|einwänd\w*|mängel\w*|problem\w*|befund\w*|anmerkung\w*|abz[uü]g\w*|punktabz\w*|fehler\w*|korrektur\w*|lücke\w*|zweifel\w*|bedenken|abweichung\w*)\b
    | \bkeine?\s+\w+\s+(?:ist|sind)\s+(?:überflüssig|unnötig|doppelt|offen|unklar)\b|\b(?:0|null|kein\w*)\s+(?:zyklen|\w+\s+ohne\s+\w+)\b
    | \b(?:rien\s+(?:à|d['’]autre\s+à)|nada\s+(?:que|más\s+que|a)|(?:niente|nulla)\s+da|niets\s+(?:te|aan\s+te|meer)|inget\s+att)\s+\w+
    | \b(?:nichts\s+(?:fehlt|zu\s+\w+|\w+)|es\s+fehlt\s+nichts|nicht\s+(?:nötig|erforderlich|notwendig|überschritten|nur|mehr\s+als)|überschreitet\s+[^.;]{0,30}\bnicht|niet\s+meer\s+dan)\b
    | \b(?:aucune?|sans|pas\s+de|ni)\s+(?:[\w'’]+\s+){0,4}?(?:superflu\w*|inutile\w*|redondant\w*|deux\b|parallèle\w*|conflit\w*|dépendance\w*|doublon\w*|chevauche\w*|boucle\w*|circulaire\w*|commun\w*|point\s+ouvert|constat\w*|anomalie\w*|commentaire\w*|modification\w*|changement\w*|erreur\w*|problème\w*|correction\w*|cycles?|déduction\w*|fichiers?\s+(?:en\s+)?(?:partag\w*|commun\w*)|lacune\w*|remarque\w*|objection\w*|défaut\w*|réserve\w*|ambigu\w*)\b
    | \bn['’]hésite[zr]?\b[^.;]*|\bno\s+dude\w*\s+en\b[^.;]*|\bnon\s+esit\w+\b[^.;]*|\bnão\s+hesite\w*\b[^.;]*|\bzögern\s+sie\s+nicht\b[^.;]*
    | \bn['’](?:a|ont)\s+rien\s+(?:abîmé|cassé|perdu|endommagé|supprimé|dégradé|oublié|omis)\w*(?:\s+d['’]autre)?
    | \b(?:rien\s+ne\s+manque|ne\s+(?:manque|dépasse)\s+(?:rien|pas)|n['’]est\s+(?:pas\s+)?nécessaire|pas\s+(?:nécessaire|plus\s+de))\b
    | \b(?:ningun\w*|ningún|sin|no\s+(?:hay|existen?|se\s+requier\w*|requier\w*|necesita\w*)|não\s+há|nenhum\w*|sem)\s+(?:\w+\s+){0,4}?(?:sobra\w*|superflu\w*|redundant\w*|dos\b|duas\b|paralel\w*|conflict\w*|conflito\w*|dependenc\w*|duplicad\w*|solap\w*|circular\w*|compart\w*|hallazgo\w*|achado\w*|incidencia\w*|comentario\w*|comentário\w*|motivo\w*|pendiente\w*|pendência\w*|ciclo\w*|deducc\w*|deduç\w*|archivos?\s+compartid\w*|cambio\w*|error\w*|problema\w*|correc\w*|observaci\w*|objeci\w*|defecto\w*|mudança\w*|alteraç\w*|erro\w*|ressalva\w*)\b
    | \b(?:no\s+falta\s+nada|nada\s+falta|no\s+(?:es|son)\s+necesari\w+|não\s+falta\s+nada|não\s+excede\w*|no\s+(?:supera|sobrepasa|pasa|rebasa|llega)\w*|no\s+excede\w*|não\s+(?:ultrapassa|passa)\w*|non\s+(?:supera|eccede)\w*|ne\s+dépasse\s+pas|overschrijdt\s+\w*\s*niet)\b
    | \b(?:nessun\w*|senza|geen|zonder|non\s+ci\s+sono)\s+(?:\w+\s+){0,2}?(?:cicl\w*|cyc\w*|conflict\w*|conflitt\w*|dipendenz\w*|dubbel\w*|gedeeld\w*|condivis\w*|twee\b|due\b|riliev\w*|bevinding\w*|aanmerking\w*|modific\w*|error\w*|problem\w*|correzion\w*|osservazion\w*|wijziging\w*|fout\w*|opmerking\w*|bezwa\w*)\b
    | (?:нет\s+(?:замечаний|ошибок|проблем|претензий)|без\s+замечаний|не\s+требу\w+|не\s+превыша\w+|не\s+нужн\w+|brak\s+(?:uwag|błędów|zastrzeżeń))
    | (?:(?:没有|沒有|无|無)(?:任何|其他)?(?:问题|問題|缺陷|错误|錯誤|遗漏|遺漏|需要修改|异议|異議|缺失)|(?:不|无|無)(?:需|须|須|必|用)(?:要)?(?:任何|再)?(?:修改|更改|改动|补充|補充|变更)|没有超过|沒有超過|不超过|不超過|未超过|未超過|不(?:适|適)用|不扣分|(?:没有|沒有|无|無)扣分|不存在(?:任何)?(?:问题|問題|缺陷|错误)|未发现(?:任何)?(?:问题|缺陷|错误)|未發現(?:任何)?(?:問題|缺陷)|没有发现(?:任何)?(?:问题|缺陷)|(?:没有|沒有|无|無|不存在)(?:任何)?(?:并行|並行|循环|循環|共用|共享|重复|重複|冲突|衝突|多余|多餘|依赖|依賴|环|交叉|两个|兩個|待办|遗留|其他意见|意见|异议)[^，。；,;]{0,12}|无遗漏|無遺漏|不会?(?:同时|并行|重复|冲突|互相)[^，。；,;]{0,14}|不重复|不冲突)
    | (?:(?:問題|誤り|不備|不足|欠陥|指摘|修正点)は?(?:特に)?(?:ありません|ない|なし|見当たりません|見つかりません)|修正(?:の必要)?は?(?:不要|必要ありません|ありません)|該当(?:なし|しない|しません|は?ありません)|減点(?:なし|は?ありません)|超えて(?:いません|いない)|不要|抜け(?:は)?(?:ありません|ない)|漏れ(?:は)?(?:ありません|ない|なし)|(?:循環|重複|競合|共有|並行|衝突|依存|矛盾)[^、。]{0,8}(?:ありません|ない|なし|しません))
    | (?:(?:수정|고칠|보완|추가)\S*\s*(?:부분|점|것|곳|사항)\S*\s*없\S*|(?:문제|오류|결함|수정\s*사항)(?:가|이|은|는)?\s*(?:없\w*)|넘지\s*않|수정(?:이)?\s*필요\s*(?:없\w*|하지\s*않\w*))";

static AGAINST_THERE_RE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(AGAINST_THERE).ok());
static AGAINST_RE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(AGAINST).ok());
static PRAISE_RE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PRAISE).ok());

/// Words that are English, too, or that English sentences hold: they count only in a sentence of another language.
const ENGLISH: &[&str] = &[
    "the", "is", "are", "and", "of", "to", "with", "this", "that", "it", "has", "have", "was", "all", "in",
    "for", "as", "by",
];

/// Does a sentence in another language ask for something, or say that something is lacking?
pub(super) fn speaks_against(sentence: &str) -> bool {
    let foreign = !is_english(sentence);
    // What is typed on an English keyboard and sounds English was weighed as that.
    if !foreign && is_held_together_in_english(sentence) {
        return false;
    }
    let (Some(against), Some(there), Some(praise)) = (&*AGAINST_RE, &*AGAINST_THERE_RE, &*PRAISE_RE) else {
        return true;
    };
    let rest = praise.replace_all(sentence, " ");
    against.is_match(&rest) || foreign && there.is_match(&rest)
}

/// Does it hold a word that no sentence of another language would?
fn is_held_together_in_english(sentence: &str) -> bool {
    sentence.split(|c: char| !c.is_alphabetic()).any(|word| {
        ["the", "and", "are", "of", "this", "with", "has", "it"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(word))
    })
}

/// Mostly plain letters, and words that English sentences are held together by.
pub(super) fn is_english(sentence: &str) -> bool {
    let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
    let wide = sentence.chars().filter(|c| is_wide(*c)).count();
    if wide * 4 > letters {
        return false;
    }
    let words: Vec<String> = sentence
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let english = words.iter().filter(|word| ENGLISH.contains(&word.as_str())).count();
    let foreign = words.iter().filter(|word| FOREIGN.contains(&word.as_str())).count();
    // A short line without any such word may be in any language; what is English in it was weighed before.
    foreign == 0 || english > foreign
}

const fn is_wide(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Words that hold sentences of other languages together.
const FOREIGN: &[&str] = &[
    "der",
    "das",
    "und",
    "ist",
    "sind",
    "ein",
    "eine",
    "nicht",
    "kein",
    "keine",
    "noch",
    "aber",
    "bitte",
    "muss",
    "fehlt",
    "den",
    "dem",
    "wird",
    "werden",
    "wurde",
    "mit",
    "für",
    "auf",
    "alle",
    "allerdings",
    "jedoch",
    "zu",
    "im",
    "le",
    "la",
    "les",
    "des",
    "du",
    "un",
    "une",
    "et",
    "est",
    "sont",
    "pas",
    "mais",
    "il",
    "dans",
    "pour",
    "avec",
    "sur",
    "que",
    "qui",
    "el",
    "los",
    "las",
    "y",
    "del",
    "por",
    "con",
    "para",
    "pero",
    "falta",
    "debe",
    "se",
    "hay",
    "é",
    "não",
    "uma",
    "dos",
    "das",
    "deve",
    "foi",
    "gli",
    "che",
    "non",
    "sono",
    "manca",
    "het",
    "een",
    "niet",
    "maar",
    "moet",
    "zijn",
    "de",
    "op",
    "van",
    "die",
    "es",
    "è",
    "o",
    "em",
    "che",
    "och",
    "att",
    "är",
    "jest",
    "ve",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_a_regular_expression() {
        assert!(AGAINST_RE.is_some() && AGAINST_THERE_RE.is_some() && PRAISE_RE.is_some());
    }

    #[test]
    fn demands_in_other_languages_are_heard() {
        for text in [
            "Allerdings fehlt noch der statistische Test; bitte ergänzen.",
            "Die Stichprobengröße muss noch angegeben werden.",
            "Il manque la taille de l'échantillon.",
            "Il faudrait préciser le test.",
            "Sin embargo, falta el tamaño de la muestra.",
            "Hay que añadir una prueba.",
            "但是需要补充样本量。",
            "样本量未说明。",
            "ただし、検定名を追加する必要があります。",
            "Однако размер выборки не указан.",
            "El texto es breve, aunque no indica el tamaño de la muestra.",
            "Il testo è conciso, però non viene nominato il test.",
            "De toets ontbreekt echter.",
            "Testet saknas.",
        ] {
            assert!(speaks_against(text), "{text}");
        }
    }

    #[test]
    fn praise_in_other_languages_is_left_alone() {
        for text in [
            "Die Stichprobengröße (n = 12) und der Test sind genannt.",
            "Es gibt keine Beanstandungen.",
            "Tous les critères sont remplis.",
            "Aucune modification nécessaire.",
            "Todos los criterios se cumplen.",
            "No hay errores.",
            "所有标准均已满足。",
            "没有问题。",
            "すべての基準を満たしています。",
            "修正は不要です。",
            "The draft states the sample size and names the test.",
        ] {
            assert!(!speaks_against(text), "{text}");
        }
    }
}
