"""Configure Sphinx for the site of all lessons; `additions` extends Sphinx.

    sphinx-build -W -c notebooks/site notebooks site

Every lesson runs in a separate kernel.  The pages need no kernel, server, or network.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbclient import NotebookClient
from traitlets.config import Config

sys.path.insert(0, str(Path(__file__).parent))

from additions import setup  # noqa: F401

os.environ["SCANTAPE_STATIC"] = "1"
os.environ["TQDM_DISABLE"] = "1"
os.environ["PYTHONWARNINGS"] = "ignore:PyTensor could not link to a BLAS:UserWarning"

client_class: Any = NotebookClient
start_client = client_class.__init__


def start_local_client(client: Any, *arguments: Any, **options: Any) -> None:
    """Start a lesson's kernel with sockets in a new folder, and wait up to ten minutes for it.

    MyST-NB has no setting for kernels. On a busy machine, a kernel may need more than a minute to
    start. With TCP, two kernels that start at the same time can choose the same port, and then one
    kernel stops. Windows supports only TCP.
    """
    client.folder = TemporaryDirectory()  # exists as long as the client
    kernel = {"transport": "ipc", "ip": f"{client.folder.name}/kernel"}
    if sys.platform == "win32":
        kernel = {"transport_encryption": "auto"}
    settings = {"startup_timeout": 600, "shutdown_kernel": "immediate"}
    start_client(client, *arguments, config=Config(KernelManager=kernel), **settings, **options)


client_class.__init__ = start_local_client

project = html_title = "Scantape"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["site", "**.ipynb", "**.ipynb_checkpoints"]
default_role = "code"  # docstrings use single backticks
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True

myst_enable_extensions = ["deflist", "dollarmath", "tasklist"]
myst_heading_anchors = 4

nb_execution_mode = "force"
nb_execution_excludepatterns = [  # pages without code need no kernel
    page.name
    for page in Path(__file__).parents[1].glob("*.md")
    if "{code-cell}" not in page.read_text(encoding="utf-8")
]
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True
nb_code_prompt_show = "Show the output"
nb_code_prompt_hide = "Hide the output"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # load no scripts from the network
nb_mime_priority_overrides = [("html", "text/latex", 25)]

html_theme = "furo"
html_css_files = ["scantape.css"]
html_math_renderer = "mathml"
html_permalinks_icon = "#"
html_copy_source = html_show_sphinx = html_show_copyright = False
html_show_search_summary = False  # a page without a server cannot load the summaries
html_use_index = False
html_theme_options: dict[str, list[str]] = {"top_of_page_buttons": []}
pygments_style, pygments_dark_style = "xcode", "lightbulb"  # themes with enough contrast
