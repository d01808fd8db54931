"""Files that a model file names, included ones and meshes: one rule for where they may be."""

from __future__ import annotations

from pathlib import Path

from cotree.errors import FileError


def named_file(file: str, folder: Path | None, root: Path | None) -> Path:
    """The file that a model file in ``folder`` names by a relative path; it must lie inside of ``root``.

    Links are followed first. The root is the folder of the model file unless the user has allowed another one.
    """
    if folder is None or root is None:
        raise FileError(f"'{file}' is named by a model that is in no file", remedy="Give the parts themselves")
    given = Path(file)
    if given.is_absolute() or "\\" in file or ":" in file or "\0" in file:
        raise FileError(f"the path '{file}' is not used", expected="a path from this file on, with /")
    try:
        path = (folder / given).resolve()
    except (OSError, RuntimeError, ValueError):  # names that are too long, links in a circle
        raise FileError(f"the path '{file[:80]}' leads nowhere", remedy="Check the path") from None
    if not path.is_relative_to(root.resolve()):
        raise FileError(
            f"'{file}' lies outside of the folder of the model file",
            expected="a file inside of it",
            remedy="Move it there, or allow a folder around both: --within FOLDER, or load(path, within=FOLDER)",
        )
    return path
