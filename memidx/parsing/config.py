"""Settings from `.memidx/config.yaml` and from `MEMIDX_…` variables.

Both give text; one table of converters, made from the settings' own types, reads it. YAML is read so that scalars
stay text (`CBaseLoader`), and nothing is constructed from tags.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, get_type_hints

from memidx.ground.codes import CODES, SEVERITIES
from memidx.ground.composite import check_weights
from memidx.ground.errors import ConfigError
from memidx.ground.languages import LANGUAGES
from memidx.ground.nearest import did_you_mean
from memidx.ground.settings import Settings

CHOICES: Mapping[str, tuple[str, ...]] = {
    "vector.graph": ("auto", "always", "never"),
    "fusion.form": ("convex", "rrf"),
    "ranking.default": ("authority", "relevance", "composite"),
    "lexical.language": ("none", *LANGUAGES),
}
# A value of -1 stands for the calibration that comes with the model.
CALIBRATED = frozenset({"ranking.min_similarity", "ranking.answer_floor"})
YAML_NUMBERS = {".nan": "nan", ".inf": "inf", "+.inf": "inf", "-.inf": "-inf"}
GLOBS = frozenset({"pages.include", "pages.exclude", "pages.kinds"})
_PLAIN_GLOB = re.compile(r"(?:\*\*/)?\*?[\w./-]{0,500}\*?")
SENTINEL = 0.5  # the relevance of a page that words found: a floor at or above it would drop those too
POSITIVE = frozenset(
    {
        "authority.least",
        "authority.most",
        "pages.max_bytes",
        "sections.max_chars",
        "query.limit",
        "query.window",
        "fusion.k",
        "build.keep",
    }
)
MIN_SECTION_CHARS = 200


def parse_config(text: str, where: str, base: Settings | None = None) -> Settings:
    """Read the text of a config file over ``base``. Raises ConfigError that names ``where:line:col``."""
    settings = base or Settings()
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return settings  # the file that `init` writes says nothing yet: no need for the YAML library
    import yaml  # not on the path of a vault without a config file

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        at = f"{where}:{mark.line + 1}:{mark.column + 1}" if mark else where
        raise ConfigError(f"{at}: not valid YAML: {getattr(error, 'problem', error)}", hint="mend the file") from error
    if root is None:
        return settings
    for part, part_node, at in _pairs(root, where, ""):
        known = settings._fields
        if part not in known:
            raise ConfigError(
                f"{at}: unknown setting '{part}'", hint=did_you_mean(part, known) or f"known: {', '.join(known)}"
            )
        for name, node, place in _pairs(part_node, where, part):
            settings = _with(settings, part, name, _value_of(node, place), place)
    return settings


def apply_environment(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """``MEMIDX_QUERY_LIMIT=5`` sets ``query.limit``. An unknown ``MEMIDX_`` name is an error."""
    for variable in sorted(name for name in environ if name.startswith("MEMIDX_")):
        part, _, name = variable.removeprefix("MEMIDX_").lower().partition("_")
        if part not in settings._fields:
            parts = settings._asdict().items()
            names = [f"MEMIDX_{known}_{name}".upper() for known, section in parts for name in section._fields]
            raise ConfigError(f"environment: unknown setting {variable}", hint=did_you_mean(variable, names))
        text = environ[variable]
        settings = _with(settings, part, name, _from_text(part, name, text, variable), variable)
    return settings


def set_option(settings: Settings, dotted: str, value: str, where: str) -> Settings:
    """Set one setting, given as ``part.name``, from text."""
    part, _, name = dotted.partition(".")
    if part not in settings._fields:
        raise ConfigError(f"{where}: unknown setting '{dotted}'", hint=did_you_mean(part, settings._fields))
    return _with(settings, part, name, _from_text(part, name, value, where), where)


def _from_text(part: str, name: str, text: str, where: str) -> Any:
    """A variable's text: lists and mappings are given as flow YAML, ``[a, b]``."""
    hint = get_type_hints(type(getattr(Settings(), part))).get(name)
    if hint in (str, int, float, bool, None):
        return text
    import yaml

    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: not a list: {text}", hint="write it as [a, b]") from error
    return () if node is None else _value_of(node, where)


def _pairs(node: Any, where: str, part: str) -> list[tuple[str, Any, str]]:
    at = f"{where}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
    if node.id == "scalar" and node.value in ("", "null", "~"):
        return []
    if node.id != "mapping":
        what = f"'{part}'" if part else "the config"
        raise ConfigError(f"{at}: {what} must be a mapping of settings", hint="write `name: value` lines")
    return [(str(k.value), v, f"{where}:{k.start_mark.line + 1}:{k.start_mark.column + 1}") for k, v in node.value]


def _value_of(node: Any, where: str) -> Any:
    """Text, a tuple of text, or a mapping of text to tuples. Deeper nesting is refused."""
    if node.id == "scalar":
        return str(node.value)
    if node.id == "sequence":
        if any(item.id != "scalar" for item in node.value):
            raise ConfigError(f"{where}: a list of plain values is expected here")
        return tuple(str(item.value) for item in node.value)
    result = {}
    for key, item in node.value:
        value = _value_of(item, where)
        if isinstance(value, Mapping):
            raise ConfigError(f"{where}: nested too deeply")
        result[str(key.value)] = (value,) if isinstance(value, str) else value
    return result


def _with(settings: Settings, part: str, name: str, value: Any, where: str) -> Settings:
    section = getattr(settings, part)
    hints = get_type_hints(type(section))
    if name not in hints:
        known = section._fields
        raise ConfigError(
            f"{where}: unknown setting '{part}.{name}'",
            hint=did_you_mean(name, known) or f"known in {part}: {', '.join(known)}",
        )
    dotted_name = f"{part}.{name}"
    converted = _convert(value, hints[name], dotted_name, where)
    if dotted_name in GLOBS:
        _check_globs(converted, dotted_name, where)
    changed = settings._replace(**{part: section._replace(**{name: converted})})
    if dotted_name == "ranking.composite" and (why := check_weights(changed.ranking.composite)):
        raise ConfigError(f"{where}: ranking.composite: {why}")
    return changed


def _check_globs(found: Any, dotted: str, where: str) -> None:
    every = [g for globs in found.values() for g in globs] if isinstance(found, Mapping) else found
    if not all(map(_PLAIN_GLOB.fullmatch, every)):  # the usual ones need no library
        from memidx.parsing.globs import glob_problem

        for glob in every:
            if (why := glob_problem(glob)) is not None:
                raise ConfigError(f"{where}: {dotted}: '{glob[:80]}' {why}")


def _convert(value: Any, hint: Any, dotted: str, where: str) -> Any:
    if hint in (int, float, bool, str):
        if not isinstance(value, str):
            raise ConfigError(f"{where}: {dotted} takes one value, not a list or mapping")
        return _scalar(value, hint, dotted, where)
    if str(hint).startswith("tuple"):
        if isinstance(value, Mapping):
            raise ConfigError(f"{where}: {dotted} takes a list")
        return (value,) if isinstance(value, str) else tuple(value)
    if value == "":
        value = {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: {dotted} takes a mapping")
    if dotted == "check.severity":
        return {code: _severity(code, levels, where) for code, levels in value.items()}
    part, _, name = dotted.partition(".")
    default = getattr(getattr(Settings(), part), name)
    if all(isinstance(v, float) for v in default.values()):
        return {**default, **{k: _scalar(v[0] if v else "", float, f"{dotted}.{k}", where) for k, v in value.items()}}
    return {str(k): tuple(v) for k, v in value.items()}


def _severity(code: str, levels: Any, where: str) -> str:
    if code not in CODES:
        raise ConfigError(f"{where}: check.severity: there is no finding '{code}'", hint=did_you_mean(code, CODES))
    level = levels[0] if len(levels) == 1 else ""
    if level not in SEVERITIES:
        raise ConfigError(f"{where}: check.severity.{code} cannot be '{level}'", hint=f"one of {', '.join(SEVERITIES)}")
    return str(level)


def _scalar(text: str, hint: type, dotted: str, where: str) -> Any:
    if hint is bool:
        if text.lower() in ("true", "yes", "on", "1"):
            return True
        if text.lower() in ("false", "no", "off", "0"):
            return False
        raise ConfigError(f"{where}: {dotted} is true or false, not '{text}'")
    if hint is str:
        allowed = CHOICES.get(dotted)
        if allowed and text not in allowed:
            raise ConfigError(f"{where}: {dotted} cannot be '{text}'", hint=f"one of {', '.join(allowed)}")
        return text
    try:
        number = int(text) if hint is int else float(YAML_NUMBERS.get(text.lower(), text))
    except ValueError as error:
        kind = "a whole number" if hint is int else "a number"
        raise ConfigError(f"{where}: {dotted} must be {kind}, not '{text}'") from error
    if not (number == -1 and dotted in CALIBRATED):
        _check_number(number, text, dotted, where)
    return number


def _check_number(number: float, text: str, dotted: str, where: str) -> None:
    if not math.isfinite(number) or number < 0 or (number == 0 and dotted in POSITIVE):
        raise ConfigError(
            f"{where}: {dotted} must be finite and {'above' if dotted in POSITIVE else 'at least'} 0, not '{text}'"
        )
    if dotted == "ranking.relevance_floor" and number >= SENTINEL:
        raise ConfigError(
            f"{where}: ranking.relevance_floor must be below {SENTINEL}, not '{text}': pages that words found count as "
            f"{SENTINEL} relevant, and would be dropped"
        )
    if dotted == "fusion.page" and number > 1:
        raise ConfigError(f"{where}: fusion.page is a share, at most 1, not '{text}'")
    if dotted == "sections.max_chars" and number < MIN_SECTION_CHARS:
        raise ConfigError(f"{where}: sections.max_chars must be at least {MIN_SECTION_CHARS}, not '{text}'")
