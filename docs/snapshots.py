"""Pictures of mechanisms in space for the documentation: the view of a report, photographed in Chromium.

Only writing the pictures anew needs Chromium and playwright; the pages use the files that are kept in the repository.
"""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

WIDTH, HEIGHT = 1000, 900
"""Size of the window, in which the view is about 900 pixels wide."""
WIDE = 1280
"""Width of a picture of the page itself."""
COLOURS = 256
"""Enough for a drawing, and a small file."""
SWITCHES = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 180_000.0
"""Longest wait for the browser, in ms."""
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
"""Waits until what was asked for is on the screen."""
FRAMES, PAUSE, FILM = 36, 70, 640
"""Pictures of a film, ms between them, and its width in pixels."""
STYLE = "div.scene { height: 520px !important; border-radius: 0 !important; }"


def browser() -> str | None:
    """Where Chromium is: ``CHROMIUM``, or on the path."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    try:
        import playwright  # noqa: F401
    except ImportError:
        return None
    return found


class Camera:
    """One browser for many pictures."""

    def __enter__(self) -> Self:
        from playwright.sync_api import sync_playwright

        path = browser()
        if path is None:
            raise SystemExit("pictures in space need Chromium and playwright; name it by CHROMIUM=/path/to/chromium")
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._browser.close()
        self._playwright.stop()

    def snapshot(self, report: Path, target: Path, share: float = 0.35, before: str = "", top: int = 0) -> None:
        """The view of a report at a share of its run, after a script ``before`` that may turn it.

        With ``top`` it is so many pixels of the page from its top.
        """
        page = self._opened(report, before, top)
        _seek(page, share)
        picture = page.screenshot() if top else page.locator("div.scene").screenshot()
        page.close()
        target.write_bytes(smaller(picture))

    def film(self, report: Path, target: Path, start: float, end: float, before: str = "") -> None:
        """The view of a report between two shares of its run, as a moving picture that repeats."""
        from PIL import Image

        page = self._opened(report, before, 0)
        frames = []
        for k in range(FRAMES):
            _seek(page, start + (end - start) * k / FRAMES)
            frame = Image.open(io.BytesIO(page.locator("div.scene").screenshot())).convert("RGB")
            frames.append(frame.resize((frame.width * FILM // frame.width, frame.height * FILM // frame.width)))
        page.close()
        frames[0].save(target, save_all=True, append_images=frames[1:], duration=PAUSE, loop=0, quality=70, method=6)

    def _opened(self, report: Path, before: str, top: int) -> Any:
        """A page that is ready and stands still."""
        size = {"width": WIDE if top else WIDTH, "height": top or HEIGHT}
        page = self._browser.new_page(viewport=size, color_scheme="light")
        page.set_default_timeout(PATIENCE)
        page.goto(report.resolve().as_uri())
        if not top:
            page.add_style_tag(content=STYLE)
        if not page.evaluate("window.cotree ? window.cotree.ready : false"):
            raise SystemExit(f"{report.name} shows nothing in space")
        page.evaluate("window.dispatchEvent(new Event('resize')); cotree.pause()")
        page.evaluate(DRAWN)
        if before:
            page.evaluate(before)
        return page


def _seek(page: Any, share: float) -> None:
    page.evaluate(f"cotree.seek(cotree.start + {share} * cotree.duration)")
    page.evaluate(DRAWN)


def smaller(picture: bytes) -> bytes:
    """The same picture with few colours."""
    from PIL import Image

    out, image = io.BytesIO(), Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def snapshot(report: Path, target: Path, **options: Any) -> None:
    """One picture; without Chromium the old one is kept."""
    _with_camera("snapshot", report, target, options)


def film(report: Path, target: Path, **options: Any) -> None:
    """One moving picture; without Chromium the old one is kept."""
    _with_camera("film", report, target, options)


def _with_camera(how: str, report: Path, target: Path, options: dict[str, Any]) -> None:
    if browser() is None:
        print(f"{target.name} is kept: there is no Chromium here")
        return
    with Camera() as camera:
        getattr(camera, how)(report, target, **options)
