"""Code blocks and commands in documents."""

import re

FENCED = re.compile(r"^ *(`{3,}|~{3,})(.*?)\n(.*?)^ *\1", flags=re.DOTALL | re.MULTILINE)
TOOLS = {
    "docker", "git", "helm", "jupyter", "jupyter-repo2docker", "make", "marimo", "nbgrader", "npm",
    "pip", "python", "scantape", "twine",
}  # fmt: skip


def write_tools(folder, **scripts):
    """Write executable shell scripts, which replace tools, into a new folder."""
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)


def code_blocks(text, *languages):
    """Return the contents of the code blocks in these languages."""
    return [content for _, name, content in FENCED.findall(text) if name in languages]


def commands_of(text):
    """Return the commands of a `--help` or of a code block, without their comments."""
    lines = re.split(r"\n| && ", re.sub(r"\\\n\s*", " ", text))
    lines = [re.sub(r"^([A-Z_]+=\S+ )*", "", line.strip()) for line in lines]
    lines = [line for line in lines if line.partition(" ")[0] in TOOLS]
    return [" ".join(re.split(" # | {3,}", line)[0].split()) for line in lines]
