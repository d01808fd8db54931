"""A page in Chromium; what it says and asks for is kept."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run"
)
PATIENT = 600_000
"""Milliseconds after which a page counts as one that never answers, however busy the machine is."""
NO_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null"
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits until what was asked for has been drawn."""


class Opened:
    """A page; ``before`` is a script that runs first."""

    def __init__(self, browser: Any, path: Path, width: int = 1100, before: str = "", **options: Any) -> None:
        self.page = browser.new_page(**{"viewport": {"width": width, "height": 800}, **options})
        self.page.set_default_timeout(PATIENT)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.route("http*://**", lambda route: route.abort())
        if before:
            self.page.add_init_script(before)
        self.page.goto(path.as_uri())

    def __call__(self, script: str) -> Any:
        return self.page.evaluate(script)

    def scene(self) -> np.ndarray:
        """The pixels of the scene after what was asked for has been drawn, (height, width, 3)."""
        from matplotlib.image import imread

        self(DRAWN)
        picture = imread(io.BytesIO(self.page.locator("#scene-view").screenshot()), format="png")
        return np.asarray(255 * picture[:, :, :3])

    def quiet(self) -> bool:
        """Whether nothing was complained about and only files of this machine were asked for."""
        return not self.complaints and all(url.startswith(("file:", "blob:", "data:")) for url in self.requests)
