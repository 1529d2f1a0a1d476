"""The site in a real browser, as people use it: `.ci/run docs` builds it and runs these tests.

They need playwright, axe-core and a Chromium, and skip where one of these or the site itself is missing.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from harness.paths import ROOT

pytestmark = pytest.mark.slow

SITE = ROOT / "build" / "site"
PAGES = (
    "index.html", "start.html", "guide.html", "declaring.html", "speed.html", "performance.html", "functions.html",
    "autograd.html",
    "operators/sections/index.html", "operators/sections/arithmetic.html", "operators/softmax.html",
    "operators/sigmoid.html", "operators/where.html", "operators/tan.html", "modules/optim.html",
    "repository/changelog.html", "gallery/index.html", "gallery/recurrences.html",
)  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing is printed for a request."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the site, which a server on this machine has."""
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built: sphinx-build -W docs build/site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Files, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install '.[browser]'")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no browser, so nobody has looked at the site: apt-get install chromium")
    with playwright.sync_playwright() as running:
        # A container's root has no sandbox; the pages are this project's own.
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose mistakes, as the console shows them, are an error at the end."""
    context = browser.new_context()
    opened, messages = context.new_page(), []
    opened.on("console", lambda each: messages.append(each.text) if each.type == "error" else None)
    opened.on("pageerror", lambda each: messages.append(str(each)))
    opened.on("requestfailed", lambda each: messages.append(f"{each.url}: {each.failure}"))
    yield opened
    context.close()
    assert messages == []


@pytest.mark.parametrize("name", PAGES)
def test_pages_load_from_this_machine_alone(page: Any, address: str, name: str) -> None:
    requests: list[str] = []
    page.on("request", lambda each: requests.append(each.url))
    assert page.goto(f"{address}/{name}").status == 200
    assert [each for each in requests if not each.startswith((address, "data:", "blob:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible(page: Any, address: str, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install '.[browser]'")
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}/{name}")
    page.wait_for_load_state("networkidle")
    violations = axe.Axe().run(page, options={"preload": False}).response["violations"]
    serious = [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_a_phone(page: Any, address: str, name: str) -> None:
    page.set_viewport_size({"width": 375, "height": 700})
    page.goto(f"{address}/{name}")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_search_finds_an_operator(page: Any, address: str) -> None:
    page.goto(f"{address}/search.html?q=softmax")
    page.wait_for_selector("#search-results li a")
    links = page.eval_on_selector_all("#search-results li a", "each => each.map(link => link.getAttribute('href'))")
    assert any("operators/softmax.html" in link for link in links[:5]), links[:10]


def test_folds_open(page: Any, address: str) -> None:
    page.goto(f"{address}/operators/softmax.html")
    fold = page.locator("details.fold", has_text="The entry in ops.yaml")
    code = fold.locator("pre")
    assert not code.is_visible()
    fold.locator("summary").click()
    assert code.is_visible()
    assert "func: softmax" in code.inner_text()


def test_dark_mode_changes_the_background(page: Any, address: str) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    backgrounds = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{address}/operators/sigmoid.html")
        page.wait_for_load_state("networkidle")  # or the next page would end requests of this one
        backgrounds.add(page.evaluate(background))
    assert len(backgrounds) == 2


def test_formulas_are_typeset(page: Any, address: str) -> None:
    page.goto(f"{address}/operators/tan.html")
    fraction = page.locator("mfrac").first.bounding_box()
    assert fraction
    assert fraction["height"] > 20
