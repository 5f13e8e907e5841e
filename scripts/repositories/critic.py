"""Stands in for a model that judges: it finds the form in its brief, and passes the work with a passage of the diff."""

import json
import re
import sys

brief = sys.stdin.read()
forms = [json.loads(line) for line in brief.splitlines() if line.startswith('{"critic": ')]
report = [form for form in forms if "criteria" in form][-1]
# Neither a quote nor a backslash, so that the passage is the same in JSON.
added = re.findall(r'^ +\d+ \| \+(?!\+\+)[ \t]*(\w[^"\\\n]{11,})$', brief, re.MULTILINE)
evidence = added[:1]
if evidence:
    evidence = f'"{evidence[0].strip()}"'
else:
    # What was removed is not there any more, and cannot be quoted: a line that was added, or one beside what was changed.
    file = re.findall(r"--- begin (\S+) [0-9a-f]+ ---", brief)[-1]
    last = brief[brief.rindex(f"--- begin {file} "):]
    lines = re.findall(r"^ +([0-9]+) [|] [+]", last, re.MULTILINE) or re.findall(r"^ +([0-9]+) [|]", last, re.MULTILINE)
    evidence = f"{file}:{lines[-1]}"
for criterion in report["criteria"]:
    criterion.update(claim="judged", verdict="Satisfied", evidence=evidence, missing_info=None)
report.update(findings=[], verdict="passed", partial=False)
print(json.dumps(report))
