"""The base of all models, and the text type that Postgres can store."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import DateTime, Dialect, MetaData, Text, TypeDecorator, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase

from app.schemas.text import storable_text


class StorableText(TypeDecorator[str]):
    """Text of any origin; characters that Postgres cannot store are replaced visibly."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace NUL and lone surrogates."""
        return None if value is None else storable_text(value)


class Base(DeclarativeBase):
    """Declarative base: all times have a time zone, and all constraints have predictable names."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        str: StorableText,
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        list[str]: ARRAY(StorableText),
        list[UUID]: ARRAY(Uuid),
    }
