//! What a line stands in, per language.

use super::*;

/// Each line of the text that ends in a `@@name` mark has to stand in that part (`@@-`: in none).
fn check(path: &str, marked: &str) {
    let mut plain = String::new();
    let mut expected = Vec::new();
    for (number, line) in (1u32..).zip(marked.lines()) {
        let (line, mark) = line.split_once("@@").unwrap_or((line, ""));
        plain.push_str(line.trim_end());
        plain.push('\n');
        if !mark.is_empty() {
            expected.push((number, (mark != "-").then(|| mark.to_owned())));
        }
    }
    assert!(!expected.is_empty(), "{path} marks no line");
    let outline = Outline::of(path, &plain);
    for (number, part) in expected {
        assert_eq!(outline.around(number), part, "{path}:{number} in\n{plain}");
    }
}

#[test]
fn sections_of_prose() {
    check(
        "paper.md",
        "---\ntitle: x\n---\nIntro.@@-\n# Methods@@Methods\ntext@@Methods\n## Sampling ##@@Methods › Sampling\n\
         ```\n# not a heading@@Methods › Sampling\n```\nmore@@Methods › Sampling\n## Analysis\n\
         x@@Methods › Analysis\n#5 is a number@@Methods › Analysis\n\nResults\n=======\ny@@Results\n",
    );
    check("paper.tex", "\\section{A}\nx@@A\n\\subsection*{B}\ny@@A › B\n\\section{C}\nz@@C\n");
    check("draft", "Title\n\n## One\nx@@One\n## Two\ny@@Two\n");
    check("notes.txt", "no heading at all@@-\n");
}

#[test]
fn functions_of_rust() {
    check(
        "src/a.rs",
        "use std::fmt;@@-\n\npub struct Parser {@@Parser\n    at: usize,@@Parser\n}\n\n\
         impl<'a> fmt::Display for Parser {\n    /// Writes.@@impl<'a> fmt::Display for Parser › fmt\n\
         \x20   fn fmt(@@impl<'a> fmt::Display for Parser › fmt\n        &self,\n    ) -> fmt::Result\n    where\n\
         \x20       Self: Sized,\n    {\n        if self.at > 1 {\n            x(|y| {\n\
         \x20               deep();@@impl<'a> fmt::Display for Parser › fmt\n            });\n        }\n    }\n}\n\n\
         pub(crate) async fn load() {\n    one();@@load\n}@@load\n\nconst A: u8 = 1;@@-\nmod b;@@-\n\n\
         #[cfg(test)]@@tests\nmod tests {\n    fn t() {\n        x@@tests › t\n    }\n}\n",
    );
}

#[test]
fn functions_of_python() {
    check(
        "a.py",
        "import os@@-\n\nclass Store(Base):\n    size = 1@@Store\n\n    @property\n    def path(self):\n\
         \x20       # why@@Store › path\n        if x:\n            return 1@@Store › path\n\n    async def load(\n\
         \x20       self,\n    ):\n        pass@@Store › load\n\nprint(x)@@-\n\nif __name__ == \"__main__\":\n\
         \x20   main()@@-\n",
    );
}

#[test]
fn functions_of_other_languages() {
    check(
        "a.go",
        "func (s *Server) Run(a int) error {\n\treturn nil@@Run\n}\n\ntype T struct {\n\tA int@@T\n}\n",
    );
    check(
        "a.ts",
        "export class View {\n  render() {\n    return 1;@@View › render\n  }\n}\n\
         export const load = async (a) => {\n  x();@@load\n};\nfoo(bar, () => {\n  y();@@-\n});\n\
         describe('store', () => {\n  it('saves', () => {\n    z();@@store › saves\n  });\n});\n",
    );
    check(
        "A.java",
        "public class A {\n    private static int f(int a) {\n        for (;;) {\n            g(a);@@A › f\n        }\n    }\n}\n",
    );
    check("a.c", "#include <x.h>@@-\nint main(void)\n{\n    run();@@main\n}\n\nint x;@@-\n");
    check("a.rb", "class A\n  def go(x)\n    puts x@@A › go\n  end@@A › go\nend\n");
    check("a.sh", "setup() {\n  make@@setup\n}\nsetup@@-\n");
    check("a.toml", "x = 1@@-\n[one]\ny = 2@@one\n[[two.three]]\nz = 3@@two.three\n");
    check("a.json", "{ \"a\": 1 }@@-\n");
}

#[test]
fn a_hostile_text_is_outlined_in_one_pass() {
    let mut stairs = String::new();
    for depth in 0..3_000 {
        stairs.push_str(&" ".repeat(depth));
        stairs.push_str("fn a() {\n");
    }
    assert_eq!(Outline::of("a.rs", &stairs).around(3_000).as_deref(), Some("a › a › a › a"));
    let long = format!("fn {}() {{\n  x\n", "n".repeat(500));
    assert_eq!(Outline::of("a.rs", &long).around(2).map(|name| name.len()), Some(NAME));
    assert_eq!(
        Outline::of("a.rs", &"(".repeat(5_000_000)),
        Outline { parts: vec![], turns: vec![(1, None)] }
    );
}
