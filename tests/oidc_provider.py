"""A small provider of OpenID Connect in a process of its own, for tests: `python -m tests.oidc_provider`.

It prints its port. Everybody who comes to /authorize is the person that was put to /person last: {"claims": {…}} and
what the provider does wrong, "fault". It checks what a site has to send: client, redirect, code (once) and PKCE (S256).
"""

import base64
import hashlib
import json
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT, SECRET, KID = "semblance", "a secret: with a colon", "key-1"
ROOT = Path(__file__).resolve().parents[1]


class RunningProvider:
    """The process, as a test speaks to it."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"

    def person(self, *, fault: str = "", **claims: Any) -> None:
        body = json.dumps({"claims": claims, "fault": fault}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.issuer}/person", body)).close()

    def asked(self) -> list[str]:
        """The paths that were asked for since the last person."""
        with urllib.request.urlopen(f"{self.issuer}/asked") as answer:
            return json.load(answer)


@contextmanager
def provider_running() -> Iterator[RunningProvider]:
    command = [sys.executable, "-m", "tests.oidc_provider"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield RunningProvider(int(process.stdout.readline()))
        finally:
            process.terminate()


class _Provider(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric import rsa

        super().__init__(("127.0.0.1", 0), _Answer)
        self.key, self.other = (rsa.generate_private_key(65537, 2048) for _number in range(2))
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.claims: dict[str, Any] = {}
        self.fault = ""
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []

    def id_token(self, nonce: str) -> str:
        import jwt

        at = int(time.time())
        claims = {
            "iss": self.issuer, "aud": CLIENT, "iat": at, "exp": at + 300, "nonce": nonce, **self.claims,
        }  # fmt: skip
        claims |= {
            "expired": {"iat": at - 900, "exp": at - 600},
            "nonce": {"nonce": "another"},
            "issuer": {"iss": "https://elsewhere.example.org"},
            "audience": {"aud": "another"},
            "two audiences": {"aud": [CLIENT, "another"], "azp": "another"},
        }.get(self.fault, {})
        if self.fault == "no signature":
            return jwt.encode(claims, None, algorithm="none", headers={"kid": KID})
        if self.fault == "public key as secret":  # which is why the token may not choose how it is checked
            return jwt.encode(claims, "x" * 64, algorithm="HS256", headers={"kid": KID})
        key = self.other if self.fault == "another key" else self.key
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": KID})


class _Answer(BaseHTTPRequestHandler):
    server: _Provider

    def log_message(self, *_arguments: object) -> None:
        pass

    def say(self, value: object, status: int = 200, **headers: str) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path == "/asked":
            return self.say(self.server.asked)
        self.server.asked.append(path)
        site = self.server
        if path == "/.well-known/openid-configuration":
            pages = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
            document = {name: f"{site.issuer}/{page}" for name, page in pages.items()}
            document |= {"issuer": site.issuer, "userinfo_endpoint": f"{site.issuer}/userinfo"}
            document |= {"issuer": "https://other.example.org"} if site.fault == "document" else {}
            if site.fault == "redirect":
                return self.say({}, 302, Location=f"{site.issuer}/elsewhere")
            return self.say(document)
        if path == "/authorize":
            asked = {name: values[0] for name, values in query.items()}
            wanted = {"client_id": CLIENT, "response_type": "code", "code_challenge_method": "S256"}
            if any(asked.get(name) != value for name, value in wanted.items()) or not asked.get("nonce"):
                return self.say({"error": "invalid_request"}, 400)
            code = secrets.token_urlsafe(16)
            site.codes[code] = asked
            answer = {"error": "access_denied"} if site.fault == "denied" else {"code": code}
            back = urlencode({**answer, "state": asked["state"]})
            return self.say({}, 302, Location=f"{asked['redirect_uri']}?{back}")
        if path == "/jwks":
            import jwt

            key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(site.key.public_key()))
            return self.say({"keys": [{**key, "kid": KID, "use": "sig", "alg": "RS256"}]})
        if path == "/userinfo" and self.headers.get("Authorization") == "Bearer access":
            other = {"sub": "somebody else"} if site.fault == "userinfo" else {}
            return self.say({"sub": site.claims.get("sub"), **other})
        return self.say({}, 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        site = self.server
        if self.path == "/person":
            said = json.loads(body)
            site.claims, site.fault = said["claims"], said["fault"]
            site.asked.clear()
            return self.say({})
        site.asked.append(self.path)
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        asked = site.codes.pop(sent.get("code", ""), {})
        challenge = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        checks = [
            self.headers.get("Authorization") == basic,
            asked.get("redirect_uri") == sent.get("redirect_uri"),
            asked.get("code_challenge") == base64.urlsafe_b64encode(challenge).decode().rstrip("="),
        ]
        if not all(checks):
            return self.say({"error": "invalid_grant", "checks": checks}, 400)
        return self.say(
            {"access_token": "access", "token_type": "Bearer", "id_token": site.id_token(asked["nonce"])}
        )


if __name__ == "__main__":
    with _Provider() as server:
        print(server.server_port, flush=True)  # noqa: T201
        server.serve_forever()
