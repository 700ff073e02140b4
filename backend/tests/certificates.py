"""Certificates of an authority that only the tests know, and a server that shows one."""

import ssl
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Certificates(NamedTuple):
    """Files in PEM format.

    Attributes:
        authority: what clients trust.
        chain: what a server for `localhost` shows.
        key: the server's private key.
    """

    authority: Path
    chain: Path
    key: Path


def certificates_in(directory: Path) -> Certificates:
    """Write the certificate of an authority, and one that it signs for `localhost`."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name, name = _named("Authority of the tests"), _named("localhost")
    authority = (
        _certificate(ca_name, ca_name, ca_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    leaf = (
        _certificate(name, ca_name, key)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    found = Certificates(*(directory / each for each in ("authority.pem", "chain.pem", "server.key")))
    found.authority.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    found.chain.write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    private = serialization.PrivateFormat.PKCS8
    found.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption())
    )
    return found


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
    )


def server_context(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """Return what a server shows, and the certificate by which clients know it."""
    made = certificates_in(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.chain, made.key)
    return context, made.authority


@contextmanager
def serving_https(directory: Path) -> Generator[tuple[str, Path]]:
    """Serve 404 over HTTPS; yields the address and the certificate to trust."""
    context, trusted = server_context(directory)

    class Nothing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        do_HEAD = do_GET

        def do_POST(self) -> None:
            # A server that ends the connection before it has read everything may take its answer back.
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_error(501)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - a name of the library
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def finish_request(self, request: Any, client_address: Any) -> None:
            try:
                with context.wrap_socket(request, server_side=True) as encrypted:
                    super().finish_request(encrypted, client_address)
            except OSError:
                return  # a client that does not trust it goes away

    server = Server(("127.0.0.1", 0), Nothing)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}", trusted
    finally:
        server.shutdown()
        server.server_close()
