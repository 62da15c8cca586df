#!/usr/bin/env python3
"""Checks docs/field.md against the tests and the conditions that it names.

    check-field.py               every test named exists, every code named exists, every test in Tests/field is named
    check-field.py --self-test   plants a violation of each rule: every time the check must complain
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "field.md"
# Here every test is a kind of trouble, so each has its place in the document.
MAPPED = "field"
# Whatever changes there, something of all this must have been found.
FEWEST_KINDS = 60


def python_tests():
    """`gateway/test_service.py Life.test_x`"""
    found = set()
    for path in sorted((ROOT / "Tests").glob("*/test_*.py")):
        for node in ast.parse(path.read_text(), str(path)).body:
            if isinstance(node, ast.ClassDef):
                found |= {
                    f"{path.parent.name}/{path.name} {node.name}.{method.name}" for method in node.body
                    if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.name.startswith("test_")}
    return found


def swift_tests():
    """`DutyTests.duty1_x`: the suite and its function. A file with several suites may have any of its functions in each."""
    found = set()
    for path in sorted((ROOT / "Tests").glob("*/*.swift")):
        text = path.read_text()
        suites = re.findall(r"^\s*(?:@Suite\b.*\s)?(?:struct|class|enum|extension) (\w+)", text, re.M)
        for test in re.findall(r"@Test\b(?:(?!@Test\b)[\s\S])*?\bfunc (\w+)", text):
            found |= {f"{suite}.{test}" for suite in suites}
    return found


def codes():
    """The codes of docs/conditions.md."""
    return set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "conditions.md").read_text(), re.M))


def kinds(text):
    """(line, kind, what is done, tests) of each row of each table."""
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and not line.startswith("| kind |"):
            yield number, cells


def problems(text, tests, known, mapped):
    named, count = set(), 0
    for number, cells in kinds(text):
        count += 1
        if len(cells) != 3:
            yield f"line {number}: {len(cells)} cells instead of 3"
            continue
        kind, done, shown = cells
        if "`" in kind:
            yield f"line {number}: code in the first cell"
        for code in re.findall(r"`([^`]*)`", done):
            if code not in known:
                yield f"line {number}: no condition is called {code}"
        here = re.findall(r"`([^`]*)`", shown)
        if not here:
            yield f"line {number}: no test"
        if re.sub(r"`[^`]*`", "", shown).strip():
            yield f"line {number}: the third cell holds more than tests"
        for test in here:
            if test not in tests:
                yield f"line {number}: there is no test {test}"
        named |= set(here)
    if count < FEWEST_KINDS:
        yield f"{count} kinds, and there were {FEWEST_KINDS} or more"
    for test in sorted(mapped - named):
        yield f"{test} is named nowhere"


def given():
    tests = python_tests()
    return tests | swift_tests(), codes(), {test for test in tests if test.startswith(MAPPED + "/")}


def self_test():
    text, (tests, known, mapped) = DOCUMENT.read_text(), given()
    row = next(line for line in text.splitlines() if line.startswith("| ") and "`field/" in line)
    test, code = re.search(r"`(field/[^`]*)`", row)[1], sorted(known & set(re.findall(r"`(\w+)`", text)))[0]
    swift = re.search(r"`(\w+Tests\.\w+)`", text)[1]
    planted = {
        "a test of Python that went": (text, tests - {test}, known, mapped),
        "a test of Swift that went": (text, tests - {swift}, known, mapped),
        "a code that went": (text, tests, known - {code}, mapped),
        "a test that nobody named": (text, tests, known, mapped | {"field/test_new.py New.test_new"}),
        "a kind without a test": (text.replace(row, row.rsplit(" | ", 1)[0] + " |  |"), tests, known, mapped),
        "a test that is no code": (text.replace(row, row.replace("`", "")), tests, known, mapped),
        "most of the kinds went": ("\n".join(text.splitlines()[:30]), tests, known, set()),
    }
    missed = [name for name, arguments in planted.items() if not list(problems(*arguments))]
    for name in missed:
        print(f"not caught: {name}")
    return 1 if missed else 0


def main():
    found = list(problems(DOCUMENT.read_text(), *given()))
    for problem in found:
        print(f"docs/field.md: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(self_test() if "--self-test" in sys.argv[1:] else main())
