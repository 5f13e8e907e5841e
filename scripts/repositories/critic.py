"""Stands in for a model that judges: it finds the form in its brief, and passes the work with a passage of the diff."""

import json
import re
import sys

brief = sys.stdin.read()
forms = [json.loads(line) for line in brief.splitlines() if line.startswith('{"critic": ')]
report = [form for form in forms if "criteria" in form][-1]
added = re.findall(r'^\s+\d+ \| \+(?!\+\+)\s*([^"\\\n]{12,})$', brief, re.MULTILINE)
removed = re.findall(r'^\s+\| -(?!--)\s*([^"\\\n]{12,})$', brief, re.MULTILINE)
passage = (added + removed + ["nothing"])[0].strip()
for criterion in report["criteria"]:
    criterion.update(claim="judged", verdict="Satisfied", evidence=f'"{passage}"', missing_info=None)
report.update(findings=[], verdict="passed", partial=False)
print(json.dumps(report))
