"""Write the kept reports anew: ``python -m tests.golden.refresh``, then read the diff."""

from __future__ import annotations

from tests.golden.projects import GOLDEN, PROJECTS, reports

if __name__ == "__main__":
    for project in PROJECTS:
        (GOLDEN / project).mkdir(exist_ok=True)
        for name, text in reports(project).items():
            (GOLDEN / project / name).write_text(text, encoding="utf-8")
