"""The rooms of the apps: the imports between them, and the folders that ARCHITECTURE.md names."""

import re
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
APPS = ("curation", "annotation", "mlworkers", "semblance")
# The most arrows between the direct children (files and folders) of a package. They are never raised.
MOST_ARROWS = {
    "annotation": 56,
    "annotation.bws": 13,
    "curation": 70,
    "curation.people": 10,
    "mlworkers": 46,
    "mlworkers.science": 21,
}
# Django finds these by their names, and they are the same in every app.
ENTRIES = {"forms", "management", "migrations", "templatetags", "views"}


def arrows(package: str) -> list[str]:
    """The distinct imports between the direct children of a package, as `one -> other`."""
    graph = grimp.build_graph(package.partition(".")[0], cache_dir=None)
    inside = {module for module in graph.modules if module.startswith(f"{package}.")}

    def child(module: str) -> str:
        return module.removeprefix(f"{package}.").partition(".")[0]

    between = {
        (child(importer), child(imported))
        for importer in inside
        for imported in graph.find_modules_directly_imported_by(importer) & inside
    }
    return sorted(f"{one} -> {other}" for one, other in between if one != other)


def rooms_there() -> set[str]:
    """Every folder of code, such as `curation/people/mail`, without the apps and their entry points."""
    folders = {path.parent.relative_to(ROOT) for app in APPS for path in (ROOT / app).rglob("__init__.py")}
    return {str(folder) for folder in folders if len(folder.parts) > 1 and folder.parts[1] not in ENTRIES}


def rooms_named(text: str) -> set[str]:
    """The folders that the section "Rooms" of ARCHITECTURE.md names.

    A line begins with a room's name, indented below the room that it is in. Words with a stroke at the end that come
    later, there or in a line that goes on with the text, are folders in the room.
    """
    block = text.partition("\n## Rooms\n")[2].partition("```\n")[2].partition("```")[0]
    above: dict[int, str] = {}
    named = set()
    for line in re.sub(r"\n {12,}", " ", block).splitlines():
        found = re.match(r"( *)(\w+)/ (.*)", line)
        if not found:
            continue
        depth = len(found[1])
        above = {each: room for each, room in above.items() if each < depth}
        room = f"{above[max(above)]}/{found[2]}" if above else found[2]
        above[depth] = room
        named |= {room, *(f"{room}/{inner}" for inner in re.findall(r"(?<![\w/`])(\w+)/(?= |$)", found[3]))}
    return named
