"""An expert before a real screen: logs in, presses keys, and looks."""

import json
import time
from typing import Any

from build_dataset.annotation.label_studio.server import Account
from tests.services.browser import Page

ALT = 1
CTRL = 2
SHIFT = 8
_NAMED = {"Tab": ("Tab", 9), "Enter": ("Enter", 13), "End": ("End", 35), "Escape": ("Escape", 27)}
FIELDS = "textarea, input:not([type=radio]):not([type=checkbox])"
"""Fields for text; those of one line are inputs."""
_SCREEN = "document.querySelectorAll('.bd .lsf-choices, .bd textarea').length > 0"


class Desk:
    """A page of Label Studio, 1440 by 900, in which somebody works."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.resize(1440, 900)

    def log_in(self, account: Account) -> None:
        """Log in as that person, whoever was there before."""
        self.page.call("Network.clearBrowserCookies")
        self._go(f"{self.url}/user/login/")
        self.wait("document.querySelector('input[name=password]')")
        form = "document.querySelector('input[name={0}]').value = {1}"
        self.page.evaluate(form.format("email", json.dumps(account.email)))
        self.page.evaluate(form.format("password", json.dumps(account.password)))
        self.page.evaluate("document.querySelector('input[name=password]').form.submit()")
        self.wait("!location.pathname.startsWith('/user/login') && document.readyState == 'complete'")

    def begin(self, project: int) -> None:
        """Open the stream of questions, one after the other."""
        self._go(f"{self.url}/projects/{project}/data?labeling=1")
        self.wait(_SCREEN)
        time.sleep(1.0)  # labels are filled in and keys bound after the screen is there

    def press(self, key: str, modifiers: int = 0, *, pause: float = 0.3) -> None:
        """Press and release a key: a character, or Tab, Enter, End; then wait ``pause`` seconds."""
        name, code = _NAMED.get(key, (key, ord(key.upper()[0])))
        event: dict[str, Any] = {"key": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        event["code"] = name if key in _NAMED else f"{'Digit' if key.isdigit() else 'Key'}{key.upper()}"
        text = "" if modifiers & CTRL or key in _NAMED else key
        self.page.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        self.page.call("Input.dispatchKeyEvent", type="keyUp", **event)
        time.sleep(pause)

    def type(self, text: str) -> None:
        """Write into the field that has the focus."""
        self.page.call("Input.insertText", text=text)
        time.sleep(0.3)

    def submit(self) -> None:
        """Submit with the keyboard and wait for what comes next."""
        self.press("Enter", CTRL)
        time.sleep(1.5)

    def tab_to(self, selector: str, most: int = 60, *, back: bool = False) -> int:
        """Press Tab until an element has the focus; how often."""
        for count in range(1, most + 1):
            self.press("Tab", SHIFT if back else 0)
            if self.page.evaluate(f"document.activeElement.matches({json.dumps(f':is({selector})')})"):
                return count
        where = "document.activeElement.outerHTML.slice(0, 200)"
        raise AssertionError(f"Tab does not reach {selector} but {self.page.evaluate(where)}")

    def texts(self) -> list[str]:
        """Return the content of the visible text fields."""
        fields = f"[...document.querySelector('.bd').querySelectorAll({json.dumps(FIELDS)})]"
        return list(self.page.evaluate(f"{fields}.filter(e => e.offsetParent).map(e => e.value)"))

    def sees(self, text: str) -> bool:
        """Return whether a text can be read on the page."""
        return text in str(self.page.evaluate("document.body.innerText"))

    def chosen(self) -> str:
        """The labels that are chosen, with their codes and keys."""
        return str(
            self.page.evaluate(
                "[...document.querySelectorAll('.bd .ant-radio-wrapper-checked')].map(e => e.innerText).join(' ')"
            )
        )

    def resize(self, width: int, height: int) -> None:
        """Make the window so large."""
        self.page.look(width=width, height=height, dark=False)
        time.sleep(0.5)

    def cut(self) -> list[str]:
        """Labels of which a part cannot be read."""
        choices = "[...document.querySelectorAll('.bd .lsf-choice')]"
        wide = f"{choices}.filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1)"
        return list(self.page.evaluate(f"{wide}.map(e => e.innerText)"))

    def scrolls(self) -> bool:
        """Return whether anything but the question's own column is larger than the window."""
        return bool(
            self.page.evaluate(
                "document.documentElement.scrollHeight > innerHeight + 1 ||"
                " document.querySelector('.bd-labels').getBoundingClientRect().bottom > innerHeight - 48"
            )
        )

    def wait(self, condition: str, seconds: float = 60.0) -> None:
        """Wait until a JavaScript condition holds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if self.page.evaluate(f"Boolean({condition})"):
                    return
            except AssertionError:
                pass  # the page is changing under us
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds:.0f} s: {condition}")

    def _go(self, url: str) -> None:
        self.page.call("Page.navigate", url=url)
        time.sleep(0.5)
