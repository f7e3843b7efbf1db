"""Doctors elsewhere: sign up, review over HTTPS, a database that is lost and restored; all as docs/remote.md says."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import polars as pl
import pytest

from build_dataset.annotation.label_studio.server import Account
from build_dataset.annotation.label_studio.tasks import QUESTION_ID
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import exchange
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from tests.services.browser import CHROMIUM, browser
from tests.services.label_studio_browser import Desk
from tests.services.label_studio_server import ADMIN, LI, ZHANG, Expert, free_port, launch_server, stop_server
from tests.services.remote import (
    NGINX,
    POSTGRES,
    Postgres,
    RemoteInstallation,
    make_certificates,
    nginx,
    postgres,
    settings_of_guide,
)
from tests.services.reviewing import PREFILLED, QUESTIONS, answer, pulled, question, tables

pytestmark = [
    pytest.mark.skipif(NGINX is None, reason="no nginx on this machine"),
    pytest.mark.skipif(POSTGRES is None, reason="no PostgreSQL on this machine"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl on this machine"),
    pytest.mark.timeout(1200),  # the database is migrated once, and twice restored
]
SURGERY = answer(PREFILLED | {"clinical_department": "外科"})


@dataclass(frozen=True)
class Remote:
    """The whole of it, at one address."""

    url: str
    authority: Path
    database: Postgres
    installation: RemoteInstallation
    home: Path
    port: int

    def start(self) -> None:
        launch_server(self.installation, self.home, self.port, timeout=600)

    def visitor(self) -> httpx.Client:
        """A browser that has not logged in."""
        return httpx.Client(base_url=self.url, verify=str(self.authority), timeout=60, follow_redirects=True)

    def send_form(self, http: httpx.Client, page: str, account: Account) -> httpx.Response:
        """Fill in a page's form as a browser does: with its hidden token and where it comes from."""
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', http.get(page).text)[:1]
        data = {"csrfmiddlewaretoken": token, "email": account.email, "password": account.password}
        return http.post(page, data=data, headers={"Origin": self.url, "Referer": self.url + page})

    def invite(self, *accounts: Account) -> None:
        """Send the invitation to people, who sign up; who has an account already keeps it."""
        token = {"Authorization": f"Token {ADMIN.token}"}
        invitation = self.visitor().get("/api/invite", headers=token).json()["invite_url"]
        for account in accounts:
            visitor = self.visitor()
            self.send_form(visitor, invitation, account)
            assert all(cookie.secure for cookie in visitor.cookies.jar)

    def expert(self, account: Account) -> Expert:
        http = self.visitor()
        self.send_form(http, "/user/login/", account)
        return Expert(http)


@pytest.fixture(scope="module")
def remote(label_studio_template, tmp_path_factory) -> Iterator[Remote]:
    folder = tmp_path_factory.mktemp("remote")
    authority = make_certificates(folder)
    inside, outside = free_port(), free_port()
    host = f"localhost:{outside}"
    with postgres() as database, nginx(folder, outside, inside):
        settings = settings_of_guide(host, database.port)
        installation = RemoteInstallation(label_studio_template[0].venv, settings)
        home = folder / "home"
        home.mkdir()
        found = Remote(f"https://{host}", authority, database, installation, home, inside)
        try:
            found.start()
            yield found
        finally:
            stop_server(home)


@pytest.fixture
def params(remote, monkeypatch) -> ReviewParams:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    monkeypatch.setenv("SSL_CERT_FILE", str(remote.authority))
    return ReviewParams(url=remote.url, bootstrap=100)


def answer_some(expert: Expert, project: int, most: int, result=None) -> set[str]:
    """Take so many questions from the queue; their ids."""
    done = set()
    while len(done) < most and (task := expert.next_task(project)) is not None:
        expert.submit(task["id"], result or answer())
        done.add(task["data"][QUESTION_ID])
    return done


def said(context) -> pl.DataFrame:
    return pulled(context).select("question_id", "dimension", "reviewer", "label").sort(pl.all())


def test_a_certificate_of_nobody_we_trust_is_told_in_one_line(remote, params, context, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(UserError, match=r"certificate of https://.* cannot be verified .*SSL_CERT_FILE"):
        exchange.pull(params, context)
    monkeypatch.setenv("SSL_CERT_FILE", str(remote.home / "nothing.pem"))
    with pytest.raises(UserError, match=r"SSL_CERT_FILE=.*nothing\.pem: No such file"):
        exchange.pull(params, context)


def test_doctors_sign_up_and_review_and_nothing_is_lost_with_the_database(remote, params, context, tmp_path):
    context.dataset = DatasetParams(name="remote", raw=context.raw, build=context.build)
    stranger = remote.visitor()
    assert remote.send_form(stranger, "/user/signup/", ZHANG).status_code == 403, "without an invitation"
    remote.invite(ZHANG, LI)
    whoami = remote.expert(ZHANG).http.get("/api/current-user/whoami")
    assert whoami.json()["email"] == ZHANG.email
    found = tables(map(question, range(1, QUESTIONS + 1)))
    project = exchange.push(found, params, context).project
    zhang, li = remote.expert(ZHANG), remote.expert(LI)
    if CHROMIUM is not None:
        with browser(trusted=remote.authority.with_name("review.pem")) as page:
            desk = Desk(page, remote.url)
            desk.log_in(ZHANG)
            desk.begin(project)
            desk.submit()
    first = 4 - (CHROMIUM is not None)
    answer_some(zhang, project, first)
    answer_some(li, project, QUESTIONS, SURGERY)
    [report] = exchange.pull(params, context)
    assert (report.new, report.questions, dict(report.rejects)) == (QUESTIONS + 4, QUESTIONS, {})
    assert exchange.push(found, params, context).unchanged == QUESTIONS

    copy = tmp_path / "label_studio.dump"
    remote.database.run("pg_dump", "--format=custom", "--file", str(copy), "label_studio")
    later = answer_some(zhang, project, 2)
    exchange.pull(params, context)
    before = said(context)
    assert before["reviewer"].value_counts().sort("count").rows() == [(ZHANG.email, 5 * 6), (LI.email, 5 * QUESTIONS)]

    stop_server(remote.home)
    remote.database.run("dropdb", "label_studio", user="postgres")
    remote.database.create()
    remote.database.run("pg_restore", "--dbname=label_studio", "--no-owner", str(copy))
    remote.start()
    [report] = exchange.pull(params, context)
    assert (report.kept, report.newly_gone) == (2, 2), "given after the backup"
    assert said(context).equals(before)
    assert exchange.push(found, params, context).unchanged == QUESTIONS
    # What was given after the backup is asked again; the ids of lost annotations are given again as well.
    again = answer_some(zhang, project, QUESTIONS, SURGERY)
    assert later <= again
    [report] = exchange.pull(params, context)
    assert (report.kept, dict(report.rejects)) == (0, {})
    rows = said(context)
    assert rows.select("question_id", "dimension", "reviewer").is_unique().all()
    assert rows["reviewer"].value_counts()["count"].to_list() == [5 * QUESTIONS] * 2


def test_a_server_made_anew_gets_everything_from_the_build(remote, params, context, tmp_path):
    context.dataset = DatasetParams(name="anew", raw=context.raw, build=context.build)
    remote.invite(ZHANG, LI)
    found = tables(map(question, range(1, QUESTIONS + 1)))
    project = exchange.push(found, params, context).project
    answer_some(remote.expert(ZHANG), project, QUESTIONS)
    answer_some(remote.expert(LI), project, QUESTIONS, SURGERY)
    exchange.pull(params, context)
    before = said(context)

    stop_server(remote.home)
    remote.database.run("dropdb", "label_studio", user="postgres")
    remote.database.create()
    remote.start()
    remote.invite(LI, ZHANG)  # in another order: each now has the other's former id
    report = exchange.push(found, params, context)
    assert (report.created, report.added, report.restored) == (True, QUESTIONS, 2 * QUESTIONS)
    exchange.pull(params, context)
    assert said(context).equals(before)
    assert remote.expert(LI).next_task(report.project) is None
