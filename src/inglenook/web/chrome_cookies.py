"""Cookies out of a Chrome or Chromium profile on Linux, where they were stored without a keyring.

With a keyring (GNOME, KDE), on macOS and on Windows the key is not ours to read. The cipher is
AES-128 in CBC mode under a key that every Chromium knows. Source:
https://source.chromium.org/chromium/chromium/src/+/main:components/os_crypt/sync/os_crypt_linux.cc
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from inglenook.errors import ConfigError
from inglenook.web.cookie_file import copied, newest, stamp_of
from inglenook.web.tab import BrowserCookie

log = logging.getLogger(__name__)

PROFILES = tuple(
    f"{root}/{profile}/{file}"
    for root in (
        ".config/chromium",
        ".config/google-chrome",
        "snap/chromium/common/chromium",
        ".var/app/org.chromium.Chromium/config/chromium",
    )
    for profile in ("Default", "Profile *")
    for file in ("Cookies", "Network/Cookies")
)
SAME_SITE: dict[int, Literal["none", "lax", "strict"]] = {0: "none", 1: "lax", 2: "strict"}
UNIX_EPOCH_S = 11_644_473_600
"""`expires_utc` counts microseconds since 1601."""
FIXED_KEY = b"v10"
"""What a value begins with that is encrypted under the key which every Chromium knows."""
BLOCK_BYTES = 16
FIRST_WITH_HASH = 24
"""From this version of the database on, a value is preceded by the SHA-256 of its domain."""
QUERY = """
SELECT name, value, encrypted_value, host_key, path, is_secure, is_httponly, samesite, expires_utc
FROM cookies WHERE top_frame_site_key = '' AND is_wanted(host_key)
"""
Decrypt = Callable[[bytes], bytes]


class ChromeCookies:
    def __init__(self, home: Path) -> None:
        """`home`: the user's home directory.

        Raises:
            ConfigError: It holds no profile, or the cipher is not installed.
        """
        self._database = newest(home, PROFILES, "Chromium or Chrome")
        self._decrypt = _decryption()

    def stamp(self) -> object:
        return stamp_of(self._database)

    def read(self, is_wanted: Callable[[str], bool]) -> Sequence[BrowserCookie]:
        with copied(self._database) as connection:
            connection.create_function("is_wanted", 1, is_wanted)
            ((version,),) = connection.execute("SELECT value FROM meta WHERE key = 'version'")
            rows = connection.execute(QUERY).fetchall()
        cookies: list[BrowserCookie] = []
        unreadable = 0
        for name, value, encrypted, host, path, secure, http_only, same_site, expires in rows:
            plain = value or self._value(encrypted, host, has_hash=int(version) >= FIRST_WITH_HASH)
            if plain is None:
                unreadable += 1
                continue
            cookies.append(
                BrowserCookie(
                    name=name,
                    value=plain,
                    domain=host,
                    path=path,
                    is_secure=bool(secure),
                    is_http_only=bool(http_only),
                    same_site=SAME_SITE.get(same_site),
                    expires_at_s=expires / 1_000_000 - UNIX_EPOCH_S if expires else None,
                )
            )
        if unreadable:
            log.warning(
                "%d of the browser's cookies are under a key of the keyring and were left out; "
                "Firefox's can be read (web.cookies)",
                unreadable,
            )
        return cookies

    def _value(self, encrypted: bytes, host: str, *, has_hash: bool) -> str | None:
        """None: it is under another key."""
        if not encrypted:
            return ""
        data = encrypted.removeprefix(FIXED_KEY)
        if data == encrypted or len(data) % BLOCK_BYTES:
            return None
        plain = self._decrypt(data)
        digest = hashlib.sha256(host.encode()).digest() if has_hash else b""
        padding = plain[-1] if plain else 0
        if not plain.startswith(digest) or not 1 <= padding <= BLOCK_BYTES:
            return None
        return plain[len(digest) : -padding].decode("utf-8", errors="replace")


def _decryption() -> Decrypt:
    try:
        ciphers: Any = import_module("cryptography.hazmat.primitives.ciphers")
    except ImportError:
        raise ConfigError(
            'web.cookies = "chrome": Chromium encrypts its cookies, and the package `cryptography` '
            "is not installed here. Install it (the extra `inglenook[cookies]` does), or use "
            '"firefox", which needs nothing.'
        ) from None
    key = hashlib.pbkdf2_hmac("sha1", b"peanuts", b"saltysalt", 1, 16)

    def decrypt(data: bytes) -> bytes:
        cipher = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CBC(b" " * BLOCK_BYTES))
        decryptor = cipher.decryptor()
        plain: bytes = decryptor.update(data) + decryptor.finalize()
        return plain

    return decrypt
