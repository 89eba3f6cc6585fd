"""The tables of a book.

Every number that joins two tables is an integer key, and the points of one attempt lie together:
a study is read by walking its own rows, however many others the book holds.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    select,
    update,
)

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
)

# AUTOINCREMENT: folders are named after the id, so no id may ever come back.
studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("spec", Text, nullable=False),
    sqlite_autoincrement=True,
)

trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study", ForeignKey("studies.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("setting", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("origin_index", Integer, nullable=False),
    Column("spec", Text, nullable=False),
    UniqueConstraint("study", "number"),
    UniqueConstraint("study", "setting", "origin", "origin_index"),
)

# `parts` counts the pieces in which points came.
attempts = Table(
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("trial", ForeignKey("trials.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("token", Text, nullable=False, unique=True),
    Column("code", Text, nullable=False),
    Column("claimed_at", Float, nullable=False),
    Column("host", Text, nullable=False, default=""),
    Column("pid", Integer),
    Column("source", Integer),
    Column("resumed_at", Integer),
    Column("offset", Integer, nullable=False, default=0),
    Column("last_step", Integer, nullable=False, default=-1),
    Column("parts", Integer, nullable=False, default=0),
    Column("outcome", Text),
    Column("seconds", Float, nullable=False, default=0.0),
    UniqueConstraint("trial", "number"),
)

notes = Table(
    "notes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("attempt", ForeignKey("attempts.id"), nullable=False),
    Column("text", Text, nullable=False),
    UniqueConstraint("attempt", "text"),
)

# Metrics that are logged together share one row of steps and seconds.
blocks = Table(
    "blocks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("attempt", ForeignKey("attempts.id"), nullable=False),
    Column("count", Integer, nullable=False),
    Column("first_step", Integer, nullable=False),
    Column("last_step", Integer, nullable=False),
    Column("steps", LargeBinary, nullable=False),
    Column("seconds", LargeBinary, nullable=False),
    Index("blocks_of_attempt", "attempt"),
)

columns = Table(
    "columns",
    metadata,
    Column("block", ForeignKey("blocks.id", ondelete="CASCADE"), primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("values", LargeBinary, nullable=False),
)

_VERSION = "schema"


def create_tables(connection: Connection, version: int) -> None:
    """An empty book."""
    metadata.create_all(connection)
    connection.execute(insert(meta).values(name=_VERSION, value=version))


def read_version(connection: Connection) -> int:
    return int(connection.execute(select(meta.c.value).where(meta.c.name == _VERSION)).scalar_one())


def write_version(connection: Connection, version: int) -> None:
    connection.execute(update(meta).where(meta.c.name == _VERSION).values(value=version))
