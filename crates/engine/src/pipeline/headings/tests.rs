//! Which lines are headings, and which headings open a section somebody asks for.

use super::*;

fn has(text: &str, section: &str) -> bool {
    has_section(&headings(text), section)
}

#[test]
fn numbering_levels_case_and_decoration_do_not_count() {
    for text in [
        "## Robustness Plan",
        "# 4. Robustness Plan",
        "###### 4) robustness plan",
        "## 2.3 Robustness Plan ##",
        "## 2.3. Robustness  Plan",
        "## §2 Robustness Plan",
        "## IV. ROBUSTNESS PLAN",
        "## iv) Robustness Plan",
        "## (4) Robustness Plan",
        "## A. Robustness Plan",
        "## 4: Robustness Plan",
        "## 4.Robustness Plan",
        "## **4. Robustness Plan**",
        "## _Robustness_ `Plan`",
        "## Robustness Plan {#sec:robust .unnumbered}",
        "## Robustness\u{a0}Plan:",
        "## ✅ Robustness Plan ✅",
        "## [Robustness Plan](#robust)",
        "## <a id=\"r\"></a>Robustness Plan",
        "## 4\\. Robustness Plan",
        "   ## Robustness Plan\r",
        "Robustness Plan\n===============",
        "4. is prose\n\nRobustness\nPlan\n---",
        "\\section{Robustness Plan}",
        "  \\subsection*{4. Robustness~Plan}\\label{sec:r}",
        "\\chapter[Short]{\\textbf{Robustness} Plan\\label{x}} % and so on",
        "\\clearpage\\paragraph{Robustness\n  Plan}",
        "## Robustness Plan: what we try",
        "## 4. Robustness Plan (pre-registered)",
        "## Robustness Plan — a list",
        "## Robustness Plan - a list",
        "## Section 4 — Robustness Plan",
        "## Section IV: Robustness Plan and Pre-Planned Responses",
        "## Part 4. Robustness Plan",
        "## Step 4 - Robustness Plan",
        "## Robustness Plan & Threats",
    ] {
        assert!(has(text, "Robustness Plan"), "{text:?} gave {:?}", headings(text));
    }
}

#[test]
fn what_only_looks_like_a_heading_opens_no_section() {
    for text in [
        "Threats",
        "**Threats**",
        "#Threats",
        "####### Threats",
        "    ## Threats",
        "> ## Threats",
        "- Threats\n---",
        "Threats\n\n---",
        "---\ntitle: Threats\n---\ntext",
        "---\nThreats\n---\ntext",
        "```markdown\n## Threats\n```",
        "~~~~\n```\n## Threats\n~~~\n## Threats\n~~~~",
        "- ```markdown\n  ## Threats\n  ```",
        "```\n## Threats",
        "<!--\n## Threats\n-->",
        "<pre>\n## Threats\n</pre>",
        "% \\section{Threats}",
        "text % \\section{Threats}",
        "\\begin{verbatim}\n\\section{Threats}\n\\end{verbatim}",
        "\\begin{comment}\n\\section{Threats}\n\\end{comment}",
        "\\iffalse\n\\section{Threats}\n\\fi",
        "\\verb|\\section{Threats}|",
        "write `\\section{Threats}` here",
        "\\titleformat{\\section}{Threats}",
        "\\sectionmark{Threats}",
        "\\\\section{Threats}",
        "\\end{document}\n\\section{Threats}",
        "## Threatsome",
        "## Threats more",
        "## Section of Threats",
        "## Sections 1 Threats",
        "## No Threats",
    ] {
        assert!(!has(text, "Threats"), "{text:?} gave {:?}", headings(text));
    }
}

#[test]
fn what_follows_a_fence_counts_again() {
    let memo = "# Memo\n```markdown\n## 1. Estimand\n```\n## 2. Threats\n\\begin{verbatim}\nx\n\\end{verbatim}\n\\section{Data}";
    assert_eq!(headings(memo), ["memo", "threats", "data"]);
    assert!(!has(memo, "Estimand"));
}

#[test]
fn a_memo_as_people_write_it_has_its_sections() {
    let memo = "# Strategy Memo\n\n## 1. Estimand\ntext\n## 2. Specification\n## 3. Assumptions\n## 4. Robustness Plan\n## 5. Threats\n";
    let found = headings(memo);
    for section in ["Estimand", "Specification", "Assumptions", "Robustness Plan", "Threats"] {
        assert!(has_section(&found, section), "{section}");
    }
    assert!(!has_section(&found, "Budget"));
}

#[test]
fn a_number_that_is_the_heading_stays() {
    assert_eq!(normalised("## 2024"), "2024");
    assert_eq!(normalised("1."), "1");
    assert_eq!(normalised("Mix. of methods"), "mix. of methods");
    assert_eq!(normalised("2-stage least squares"), "2-stage least squares");
    assert_eq!(normalised("C++"), "c++");
    assert_eq!(normalised("Café"), "café");
    assert_eq!(normalised("3.1.4 Übersicht!"), "übersicht");
}

#[test]
fn a_hostile_text_is_read_in_reasonable_time() {
    let many = "\\section{".repeat(20_000);
    assert!(headings(&many).is_empty());
    assert_eq!(headings(&"# a\n".repeat(20_000)).len(), MOST);
    assert!(headings(&format!("# {}", "x".repeat(100_000)))[0].len() <= LONGEST);
    assert!(headings(&"\\".repeat(200_000)).is_empty());
}
