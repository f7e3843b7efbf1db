"""A real browser, driven over its debugging pipe: what a page says, asks of the network, and looks like."""

import base64
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Page:
    """An open page and everything that it reported since."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, os.fdopen(read, "rb", buffering=0)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.errors: list[str] = []

    def attach(self) -> Self:
        """Open an empty page and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def open(self, path: Path) -> None:
        """Load a file and wait until all of it is there."""
        self.call("Page.navigate", url=path.as_uri())
        while self._receive().get("method") != "Page.loadEventFired":
            pass

    def visit(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load a file in a window of that size; what is reported counts from here."""
        self.look(width=width, height=height, dark=dark)
        self.requests.clear()
        self.errors.clear()
        self.open(path)

    @property
    def addresses(self) -> list[str]:
        """Return the addresses that were loaded, except images inside the page."""
        return [address for address in self.requests if not address.startswith("data:")]

    def evaluate(self, expression: str) -> Any:
        """The JSON value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def look(self, *, width: int, height: int, dark: bool) -> None:
        """Set the window's size in CSS pixels and the colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of the window, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol; what the page reports meanwhile is kept."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != number:
            pass
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = self._read.read(1 << 16)
            if not chunk:
                raise AssertionError("the browser went away")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(str([item.get("value") for item in params["args"]]))
        elif method == "Page.javascriptDialogOpening":
            self.errors.append(f"dialog: {params['message']}")


@contextmanager
def browser(trusted: Path | None = None) -> Iterator[Page]:
    """A page in a fresh profile, which takes the ``trusted`` certificate for good; it ends with the block."""
    assert CHROMIUM, "no Chromium"
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    profile = tempfile.mkdtemp(prefix="build-dataset-browser-")
    trust = [f"--ignore-certificate-errors-spki-list={_key_of(trusted)}"] if trusted else []
    # The browser reads from its descriptor 3 and writes to 4; plain sh cannot name descriptors above 9.
    shell = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", shell, CHROMIUM, *_FLAGS, *trust, f"--user-data-dir={profile}"],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Page(ours_out, ours_in).attach()
    finally:
        with suppress(OSError):
            os.close(ours_out)
        process.terminate()
        process.wait(timeout=30)
        shutil.rmtree(profile, ignore_errors=True)


def _key_of(certificate: Path) -> str:
    """The hash of a certificate's public key, as Chromium names keys."""
    public = subprocess.run(
        ["openssl", "x509", "-in", str(certificate), "-pubkey", "-noout"], capture_output=True, check=True
    )
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-outform", "der"], input=public.stdout, capture_output=True, check=True
    )
    return base64.b64encode(hashlib.sha256(der.stdout).digest()).decode()
