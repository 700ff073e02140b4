"""What a server of git LFS answers: its batch API with basic transfers."""

import gzip
import hashlib
import json
from dataclasses import dataclass, field

BATCH = "/info/lfs/objects/batch"
STORAGE = "/lfs-storage/"
AUTHORIZATION = "RemoteAuth of-this-object"
"""What objects are asked for with, as the answer of the batch API says."""


def pointer(content: bytes) -> str:
    """Return the text that git keeps in the place of a file."""
    oid = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"


@dataclass
class LfsStore:
    """Objects by their SHA-256, served as they are here.

    `hrefs` names other places of objects, `headers` more headers for them. Answers of the batch API end with
    `padding` blanks, and are compressed if `is_compressed`.
    """

    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])
    hrefs: dict[str, str] = field(default_factory=dict[str, str])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    padding: int = 0
    is_compressed: bool = False

    def add(self, content: bytes) -> str:
        """Keep an object; gives its SHA-256."""
        oid = hashlib.sha256(content).hexdigest()
        self.objects[oid] = content
        return oid

    def batch(self, body: bytes, url: str) -> bytes:
        """Answer a request of the batch API; `url` is the beginning of the places of objects."""
        asked = json.loads(body)
        assert (asked["operation"], asked["transfers"]) == ("download", ["basic"])
        found = [self._object(each, url) for each in asked["objects"]]
        answer = json.dumps({"transfer": "basic", "objects": found}).encode() + b" " * self.padding
        return gzip.compress(answer) if self.is_compressed else answer

    def _object(self, asked: dict[str, object], url: str) -> dict[str, object]:
        oid = str(asked["oid"])
        if oid not in self.objects:
            return {**asked, "error": {"code": 404, "message": "Object does not exist"}}
        href = self.hrefs.get(oid, f"{url}{STORAGE}{oid}")
        return {
            **asked,
            "actions": {
                "download": {"href": href, "header": {"Authorization": AUTHORIZATION, **self.headers}}
            },
        }
