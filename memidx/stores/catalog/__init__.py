"""The catalog: pages, sections, names, tags, fields, links and diagnostics of one snapshot, in one SQLite file.

Written once, in path order, without a journal, so that the same rows give the same bytes. An update copies the file
and changes the copy. Paths are stored as bytes: git's paths need not be UTF-8.
"""

from memidx.stores.catalog.reading import Catalog
from memidx.stores.catalog.rows import Counts, NameHit, PageRow, SectionRow, page_names
from memidx.stores.catalog.writing import CatalogWriter, room_for_catalog

__all__ = ["Catalog", "CatalogWriter", "Counts", "NameHit", "PageRow", "SectionRow", "page_names", "room_for_catalog"]
