"""The addresses under /nbddp/api, with Jupyter's own authentication, authorization and protection against forgery."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from nbddp import __version__
from nbddp.sentence import Words, sentence
from nbddp.server.compiler import Compiler, TookTooLong
from nbddp.server.folders import Folders, GoesOn, NotHere
from nbddp.server.language import in_its_language

LARGEST = 16 << 20  # bytes of a body; the page leaves outputs out, so that this is a lot of code
BYTE = re.compile(r"[0-9]{1,18}")
GRADES = ("epoch", "now", "kill")

T = TypeVar("T")


def refusal(status: int, text: str | Words) -> web.HTTPError:
    """What a page shows to its user; what only a program can have done wrong is told in English."""
    return web.HTTPError(status, in_its_language(text))


class Api(APIHandler):
    """What the routes have in common."""

    auth_resource = "contents"  # who may read files may ask about them; who may not write them may not stop runs

    def initialize(self, compiler: Compiler, folders: Folders | None) -> None:
        self.compiler = compiler
        self._folders = folders

    async def of_folders(self, ask: Callable[[Folders], T]) -> T:
        """In a thread: disks may be slow, and stopping takes seconds."""
        if self._folders is None:
            raise refusal(404, sentence("This server does not keep its files in a folder."))
        try:
            return await asyncio.to_thread(ask, self._folders)
        except NotHere as error:
            raise refusal(404, error.args[0]) from None
        except GoesOn as error:
            raise refusal(409, error.args[0]) from None

    def object_in_body(self) -> dict[str, Any]:
        try:
            body = json.loads(self.request.body)
        except RecursionError:
            raise web.HTTPError(400, "The body is nested too deeply to be a notebook.") from None
        except ValueError as error:
            raise web.HTTPError(400, f"The body is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise web.HTTPError(400, "The body must be a JSON object.")
        return body

    def answer(self, value: object) -> None:
        """Infinity is no JSON, and a browser would refuse all of the answer for it."""
        self.finish(json.dumps(_finite(value), allow_nan=False))


@web.stream_request_body
class OfNotebook(Api):
    """A question about a notebook in the body, which is not kept beyond a limit, however long it is."""

    async def prepare(self) -> None:  # type: ignore[override]  # so does jupyter_server's own APIHandler
        self._body = bytearray()
        self._received = 0
        await super().prepare()

    def data_received(self, chunk: bytes) -> None:
        self._received += len(chunk)
        if self._received <= LARGEST:
            self._body += chunk

    @web.authenticated
    @authorized("read")  # type: ignore[untyped-decorator]
    async def post(self, what: str) -> None:
        if self._received > LARGEST:
            raise refusal(413, sentence("The notebook is larger than %1 MiB without its outputs.", LARGEST >> 20))
        self.request.body = bytes(self._body)
        try:
            said = await self.compiler.ask(what, await self._placed(self.object_in_body()))
        except TookTooLong as error:
            raise refusal(422, error.args[0]) from None
        if "refused" in said:
            raise refusal(400, said["words"])
        if "defect" in said:
            raise web.HTTPError(500, said["defect"])
        self.answer(said)

    async def _placed(self, body: dict[str, Any]) -> dict[str, Any]:
        """A page names folders as the server does; the compiler is told where that is."""
        if "folder" not in body:
            return body
        folder = body["folder"]
        return {**body, "folder": self._folders and await self.of_folders(lambda folders: folders.place(folder))}


class Version(Api):
    """Which nbddp the server has: the page asks a kernel where there is none."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        self.answer({"version": __version__})


class Runs(Api):
    """A row for each run in the folders that are named."""

    _track_activity = False  # a page asks every few seconds, also when nobody is there

    @web.authenticated
    @authorized
    async def get(self) -> None:
        names = self.get_query_arguments("folder")
        self.answer({"runs": await self.of_folders(lambda folders: folders.rows(names))})


class OneRun(Api):
    """All of one run that a page draws; what a person says of it; its end for good."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self) -> None:
        folder, name = self.get_query_argument("folder"), self.get_query_argument("name")
        self.answer(await self.of_folders(lambda folders: folders.snapshot(folder, name)))

    @web.authenticated
    @authorized("write")  # type: ignore[untyped-decorator]
    async def patch(self) -> None:
        body = self.object_in_body()
        folder, name, title, note = (body.get(key) for key in ("folder", "name", "title", "note"))
        if not isinstance(folder, str) or not isinstance(name, str) or not all(map(_is_text, (title, note))):
            raise web.HTTPError(400, 'The body must have a "folder" and a "name", and may have a "title" and a "note".')
        self.answer(await self.of_folders(lambda folders: folders.describe(folder, name, title, note)))

    @web.authenticated
    @authorized("write")  # type: ignore[untyped-decorator]
    async def delete(self) -> None:
        folder, name = self.get_query_argument("folder"), self.get_query_argument("name")
        await self.of_folders(lambda folders: folders.delete(folder, name))
        self.set_status(204)
        self.finish()


class RunText(Api):
    """Its script, or the log of a rank, on from a byte: Jupyter's own addresses serve no hidden folder."""

    _track_activity = False  # a page reads on in the log of a run that goes on

    @web.authenticated
    @authorized
    async def get(self) -> None:
        folder, name, what = (self.get_query_argument(key) for key in ("folder", "name", "what"))
        start = self.get_query_argument("start", "")
        if start and not BYTE.fullmatch(start):
            raise web.HTTPError(400, '"start" must be the number of a byte.')
        if what == "script":
            self.answer(await self.of_folders(lambda folders: folders.script(folder, name)))
        else:
            at = int(start) if start else None
            self.answer(await self.of_folders(lambda folders: folders.log(folder, name, what, at)))


class StopRun(Api):
    @web.authenticated
    @authorized("write")  # type: ignore[untyped-decorator]
    async def post(self) -> None:
        body = self.object_in_body()
        folder, name, grade = (body.get(key) for key in ("folder", "name", "grade"))
        if not isinstance(folder, str) or not isinstance(name, str) or grade not in GRADES:
            raise web.HTTPError(400, f'The body must have a "folder", a "name", and a "grade" of {", ".join(GRADES)}.')
        left = await self.of_folders(lambda folders: folders.stop(folder, name, grade))
        self.answer({"left": left})


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and value - value != 0 else value


def routes(base: str, root: Path | None) -> list[tuple[str, type[Api], dict[str, Any]]]:
    """`root` is the folder of the server's files; without one there are no runs to see."""
    shared = {"compiler": Compiler(), "folders": None if root is None else Folders(root)}
    handlers: dict[str, type[Api]] = {
        "version": Version,
        "(export|check)": OfNotebook,
        "runs": Runs,
        "run": OneRun,
        "run/text": RunText,
        "run/stop": StopRun,
    }
    return [(url_path_join(base, "nbddp/api", path), handler, shared) for path, handler in handlers.items()]
