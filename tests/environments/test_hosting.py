"""Binder and JupyterHub: the image, its settings, and the page that describes them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.parse
from pathlib import Path

import pytest
import yaml
from documents import write_tools
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "binder" / "README.md").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8")
VALUES = yaml.safe_load((ROOT / "binder" / "values.yaml").read_text(encoding="utf-8"))


def dockerfile(folder):
    """Return the log and the Dockerfile that repo2docker prints for a folder, without Docker."""
    tool = shutil.which("jupyter-repo2docker", path=str(Path(sys.executable).parent))
    if not tool:
        pytest.skip("jupyter-repo2docker is not installed")
    user = ["--user-id", "1000", "--user-name", "jovyan"]
    command = [tool, "--no-build", "--debug", *user, str(folder)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def test_binder_builds_an_image_with_the_requirements(tmp_path):
    shutil.copytree(ROOT / "binder", tmp_path / "binder")
    log = dockerfile(tmp_path)
    assert "python=3.13" in log
    install = log.index('pip install --no-cache-dir -r "binder/requirements.txt"')
    assert log.index(" src/ ${REPO_DIR}/") < install < log.index("RUN ./binder/postBuild")
    assert "apt.txt" not in log
    for name in ("runtime.txt", "postBuild"):
        (tmp_path / "binder" / name).unlink()
    log_without = dockerfile(tmp_path)
    assert "python=3.13" not in log_without
    assert "RUN ./binder/postBuild" not in log_without


def pinned(project, constraints):
    """Map the direct dependencies of the image to whether an allowed version is pinned."""
    (extras,) = re.findall(r"^\./\[(.*)\]$", REQUIREMENTS, flags=re.MULTILINE)
    direct = [*project["dependencies"]]
    for extra in extras.split(","):
        assert f"--extra {extra} " in constraints.splitlines()[1]
        direct += project["optional-dependencies"][extra]
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", constraints, flags=re.MULTILINE))
    return {r.name: r.specifier.contains(pins.get(r.name, "0")) for r in map(Requirement, direct)}


def test_the_image_installs_pinned_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    constraints = (ROOT / "binder" / "constraints.txt").read_text(encoding="utf-8")
    assert REQUIREMENTS.splitlines()[0] == "-c constraints.txt"
    dependencies = pinned(project, constraints)
    assert {"pytensor", "jupyterlab", "nbgitpuller"} <= set(dependencies)
    assert [name for name, fits in dependencies.items() if not fits] == []
    head = [line for line in constraints.splitlines() if line.startswith("#")]
    assert re.search(r"uv pip compile .*--exclude-newer 20\d\d-\d\d-\d\d ", head[1])
    assert "--output-file binder/constraints.txt" in head[1]
    assert "--python-version 3.13 " in head[1]
    assert (ROOT / "binder" / "runtime.txt").read_text().strip() == "python-3.13"
    assert "://" not in constraints
    old = re.sub(r"^pytensor==.*", "pytensor==2.38.3", constraints, flags=re.MULTILINE)
    assert not pinned(project, old)["pytensor"]


def test_the_hub_admits_no_user_before_it_is_configured():
    """JupyterHub 5 admits only listed users, except with its dummy authenticator."""
    config = VALUES["hub"]["config"]
    assert config["JupyterHub"] == {"authenticator_class": "generic-oauth"}
    settings = config["GenericOAuthenticator"]
    assert not any("allow_all" in name or "existing" in name for name in settings)
    assert settings["allowed_users"] == []
    filled = ("client_id", "client_secret", "authorize_url", "token_url", "userdata_url")
    assert {settings[name] for name in filled} == {""}
    https = VALUES["proxy"]["https"]
    assert https["enabled"]
    assert settings["oauth_callback_url"] == f"https://{https['hosts'][0]}/hub/oauth_callback"
    (version,) = re.findall(r"helm upgrade .*--version (\S+)", PAGE)
    assert version.partition(".")[0] >= "4"  # version 4 of the chart is the first with JupyterHub 5
    assert f"JupyterHub {version}" in (ROOT / "binder" / "values.yaml").read_text(encoding="utf-8")


def test_post_build_converts_notebooks_and_fills_caches(tmp_path):
    """Run the script with stubs of the tools, which record their arguments."""
    tools, home = tmp_path / "tools", tmp_path / "home"
    home.mkdir()
    ran = f'if [ "$1" = -c ]; then echo {tmp_path}/prefix\nelse echo "$1" > {tmp_path}/ran; fi'
    write_tools(tools, python=ran, scantape=f'echo "$@" > {tmp_path}/calls')
    environment = {**os.environ, "HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}"}
    subprocess.run(
        ["bash", ROOT / "binder" / "postBuild"], cwd=tmp_path, env=environment, check=True
    )
    assert (tmp_path / "ran").read_text().strip() == "binder/warm.py"
    assert (tmp_path / "calls").read_text().strip() == "lessons course --no-open"
    config = json.loads((home / ".jupyter" / "jupyter_server_config.json").read_text())
    assert config["ServerApp"]["default_url"] == "/lab/tree/course/index.ipynb"
    overrides = tmp_path / "prefix" / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    assert json.loads(overrides.read_text())
    compile((ROOT / "binder" / "warm.py").read_text(), "warm.py", "exec")


def test_all_links_open_the_table_of_lessons():
    page = "lab/tree/course/index.ipynb"
    assert (ROOT / "notebooks" / "index.md").exists()
    assert VALUES["singleuser"]["defaultUrl"] == f"/{page}"
    links = urllib.parse.unquote(urllib.parse.unquote(PAGE))
    targets = re.findall(r"urlpath=([\w./]+?\.ipynb)", links)
    assert targets == [page, page, "lab/tree/lessons/index.ipynb", "lab/tree/lessons/index.ipynb"]
    assert links.count("git-pull?repo=https://github.com/OWNER/lessons&urlpath=") == 2


def test_the_citation_matches_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["license"] == project["license"]
    assert citation["abstract"] == f"{project['description']}."
    assert {"message", "title", "type", "authors", "cff-version"} <= set(citation)
    assert "version" not in citation  # versions are tags
