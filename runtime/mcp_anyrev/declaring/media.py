"""Pictures, sound and files, as handlers return them.

Rule: what is here can be a content block of its own, wherever content can stand; how a revision sends it is for its adapter to say.
Specification: server/tools#tool-result, server/resources#resource-contents
"""

from __future__ import annotations

import base64
import mimetypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from mcp_contract import JsonObject, check_mime_type, check_uri
from pydantic_core import PydanticSerializationUnexpectedValue, core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

_UNKNOWN = "application/octet-stream"


class Media:
    """Bytes and what they are.

    Args:
        data: the bytes, or the path of a file that is read now.
        mime_type: what they are. Of a file it need not be given where the name tells it.

    Raises:
        TypeError: it is neither bytes nor a path.
        ValueError: nothing says what the bytes are, they are of another kind, or that is no media type.
        OSError: the file cannot be read.

    Attributes:
        data: the bytes.
        mime_type: what they are.
    """

    __slots__ = ("data", "mime_type")

    kind: ClassVar[str]

    def __init__(
        self, data: bytes | bytearray | memoryview | str | os.PathLike[str], mime_type: str | None = None
    ) -> None:
        noun = type(self).__name__
        if isinstance(data, bytes | bytearray | memoryview):
            self.data = bytes(data)
        elif isinstance(data, str | os.PathLike):
            self.data = Path(data).read_bytes()
            mime_type = mime_type or mimetypes.guess_type(os.fspath(data))[0]
        else:
            raise TypeError(f"{noun} takes bytes or a path, not {type(data).__name__}")
        self.mime_type = self._checked(mime_type)

    def _checked(self, mime_type: str | None) -> str:
        noun = type(self).__name__
        if mime_type is None:
            raise ValueError(f'nothing says which type of {self.kind} it is; write {noun}(data, "{self.kind}/…")')
        if not mime_type.lower().startswith(f"{self.kind}/"):
            raise ValueError(f"{mime_type!r} is no type of {self.kind}; {noun} takes {self.kind}/…")
        check_mime_type(mime_type)
        return mime_type

    def block(self) -> JsonObject:
        """The content block, in canonical form."""
        return {"type": self.kind, "data": self._encoded(), "mimeType": self.mime_type}

    def contents(self, uri: str) -> JsonObject:
        """The contents of a resource, in canonical form.

        Args:
            uri: the address of the resource.
        """
        return {"uri": uri, "mimeType": self.mime_type, "blob": self._encoded()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """What an annotation says that has it beside other types: only that it is one, and that it is no JSON."""
        no_json = core_schema.plain_serializer_function_ser_schema(_no_json)
        return core_schema.is_instance_schema(cls, serialization=no_json)

    def _encoded(self) -> str:
        return base64.b64encode(self.data).decode()


def _no_json(value: Any) -> Any:
    raise PydanticSerializationUnexpectedValue(f"{type(value).__name__} is no JSON")


class Image(Media):
    """A picture: `Image(data, "image/png")` or `Image("chart.png")`. See `Media` for what it takes."""

    __slots__ = ()

    kind = "image"


class Audio(Media):
    """Sound: `Audio(data, "audio/wav")` or `Audio("greeting.wav")`. See `Media` for what it takes."""

    __slots__ = ()

    kind = "audio"


class File(Media):
    """Any file: `File("report.pdf")`, or `File(data, "text/csv", name="table.csv")`. It is sent as an embedded resource.

    Args:
        data: see `Media`.
        mime_type: see `Media`; without one, and where the name does not tell, it is any bytes.
        name: its name; that of the path if not given.
        uri: its address, where it has one; one that only holds the name if not given.

    Raises:
        ValueError: the address is no URI; see `Media` for more.
    """

    __slots__ = ("uri",)

    kind = "file"

    def __init__(
        self,
        data: bytes | bytearray | memoryview | str | os.PathLike[str],
        mime_type: str | None = None,
        *,
        name: str | None = None,
        uri: str | None = None,
    ) -> None:
        if name is None and isinstance(data, str | os.PathLike):
            name = Path(data).name
        if mime_type is None and name is not None:
            mime_type = mimetypes.guess_type(name)[0]
        super().__init__(data, mime_type)
        self.uri = uri or f"attachment:///{quote(name or 'file')}"
        check_uri(self.uri)

    def _checked(self, mime_type: str | None) -> str:
        check_mime_type(mime_type or _UNKNOWN)
        return mime_type or _UNKNOWN

    def block(self) -> JsonObject:
        """See `Media.block`."""
        return {"type": "resource", "resource": self.contents(self.uri)}

    def contents(self, uri: str) -> JsonObject:
        """See `Media.contents`. What is text by its type, and can be read as such, is sent as text."""
        if self.mime_type.startswith("text/"):
            try:
                return {"uri": uri, "mimeType": self.mime_type, "text": self.data.decode()}
            except UnicodeDecodeError:
                pass
        return super().contents(uri)
