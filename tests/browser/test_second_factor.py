"""A second factor in a browser: set up from the page, asked for at the login; and the end of other sessions."""

import pyotp
import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
PASSWORD = "correct horse battery"


def test_somebody_sets_up_a_second_factor_logs_in_with_it_and_ends_the_session_elsewhere(
    open_as, owner, live_server, page: Page
) -> None:
    owner.set_password(PASSWORD)
    owner.save()
    here = open_as(owner)
    here.goto("/accounts/second-factor/")
    app = pyotp.TOTP(here.get_by_label("Key", exact=True).input_value())
    expect(here.get_by_role("img", name="QR code with the key")).to_be_visible()
    here.get_by_label("Password").fill(PASSWORD)
    here.get_by_label("Code", exact=True).fill(app.now())
    here.get_by_role("button", name="Activate").click()
    codes = here.locator("pre").inner_text().split()

    page.goto(f"{live_server.url}{settings.SITE_PATH}/accounts/login/")
    page.get_by_label("Username").fill("owner")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Code").fill("1")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("The code is wrong, or it was used.")).to_be_visible()
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Log in")).to_have_count(0)

    here.goto("/accounts/sessions/")
    here.get_by_role("button", name="End all other sessions").click()
    expect(here.get_by_text("You are logged in nowhere else.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Username")).to_be_visible()
