"""A Hugging Face hub on loopback that can be told to misbehave. Standard library only.

The hub listens on 127.0.0.1; the files of its store lie on a second server, reached by the name
localhost, to which /resolve redirects.
"""

import hashlib
import http.server
import json
import re
import threading
import time
import urllib.parse


def git_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class File:
    def __init__(self, content, large=False):
        self.content = content
        self.large = large
        self.digest = hashlib.sha256(content).hexdigest() if large else git_sha1(content)
        self.sent = None  # other bytes than those announced
        self.drop_after = []  # for the next requests: bytes after which the connection ends
        self.status = []  # for the next requests: another status
        self.byte_delay = 0  # seconds before each 64 kB

    def entry(self, path):
        entry = {"type": "file", "path": path, "size": len(self.content), "oid": self.digest}
        if self.large:
            entry["oid"] = "0" * 40  # of the pointer
            entry["lfs"] = {"oid": self.digest, "size": len(self.content), "pointerSize": 134}
        return entry


class Hub:
    """commits: revision -> commit; files: path -> File; `requests` has (server, path, headers)."""

    def __init__(self, files, repository="owner/name", revisions=None):
        self.repository = repository
        self.files = files
        self.commit = "c0ffee" + "0" * 34
        self.revisions = {"main": self.commit} if revisions is None else revisions
        self.page_size = 1000
        self.ranges = True  # does the store know Range?
        self.wrong_range = False  # does it answer with another range than asked for?
        self.refuses_ranges = False  # does it answer 416 to every range?
        self.token = None  # who may read it
        self.gated = False
        self.api_status = []  # for the next requests to the API
        self.next_host = None  # where the next page of a listing lies
        self.redirect_to = None
        self.entries = None  # of the listing, in place of those of `files`
        self.revision_answer = None
        self.requests = []
        self.lock = threading.Lock()
        self.hub = self._serve("hub")
        self.store = self._serve("store")
        self.endpoint = "http://127.0.0.1:%d" % self.hub.server_address[1]
        self.store_url = "http://localhost:%d" % self.store.server_address[1]

    def close(self):
        for server in (self.hub, self.store):
            server.shutdown()
            server.server_close()

    def seen(self, server, part=""):
        with self.lock:
            return [r for r in self.requests if r[0] == server and part in r[1]]

    def _serve(self, role):
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                with hub.lock:
                    hub.requests.append((role, self.path, dict(self.headers)))
                try:
                    hub.answer(role, self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # a client that went away

        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def answer(self, role, request):
        path = urllib.parse.urlsplit(request.path)
        if role == "store":
            return self.send_file(request, urllib.parse.unquote(path.path[len("/store/"):]))
        if self.token and request.headers.get("Authorization") != "Bearer " + self.token:
            return self.send(request, 401, b"{}", {"X-Error-Code": "RepoNotFound"})
        if self.gated:
            return self.send(request, 403, b"{}", {"X-Error-Code": "GatedRepo"})
        api = "/api/models/%s/" % self.repository
        if path.path.startswith(api):
            return self.answer_api(request, path.path[len(api):], path.query)
        match = re.fullmatch("/%s/resolve/([0-9a-f]{40})/(.*)" % self.repository, path.path)
        if match and match.group(1) == self.commit:
            to = self.redirect_to or self.store_url + "/store/" + match.group(2)
            return self.send(request, 302, b"Found", {"Location": to})
        return self.send(request, 404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def answer_api(self, request, rest, query):
        if self.api_status:
            return self.send(request, self.api_status.pop(0), b"later")
        if rest.startswith("revision/"):
            revision = urllib.parse.unquote(rest[len("revision/"):])
            if self.revision_answer is not None:
                return self.send(request, 200, self.revision_answer)
            if revision not in self.revisions and revision != self.commit:
                return self.send(request, 404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return self.send(request, 200, json.dumps({"sha": self.commit}).encode())
        if rest != "tree/" + self.commit:
            return self.send(request, 404, b"{}")
        entries = self.entries
        if entries is None:
            entries = [file.entry(path) for path, file in sorted(self.files.items())]
        start = int(urllib.parse.parse_qs(query).get("cursor", ["0"])[0])
        headers = {}
        if start + self.page_size < len(entries):
            headers["Link"] = '<%s%s?recursive=true&cursor=%d>; rel="next"' % (
                self.next_host or self.endpoint,
                urllib.parse.urlsplit(request.path).path,
                start + self.page_size,
            )
        page = entries[start:start + self.page_size]
        return self.send(request, 200, json.dumps(page).encode(), headers)

    def send_file(self, request, path):
        file = self.files[path]
        if file.status:
            return self.send(request, file.status.pop(0), b"<html>busy</html>" * 100)
        content = file.content if file.sent is None else file.sent
        start, status, headers = 0, 200, {}
        asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        if asked and self.ranges:
            start, status = int(asked.group(1)), 206
            if self.wrong_range:
                start = max(start - 7, 0)
            if start >= len(content) or self.refuses_ranges:
                return self.send(request, 416, b"")
            headers["Content-Range"] = "bytes %d-%d/%d" % (start, len(content) - 1, len(content))
        end = len(content)
        if file.drop_after:
            end = min(end, start + file.drop_after.pop(0))
        request.send_response(status)
        request.send_header("Content-Length", str(len(content) - start))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        for at in range(start, end, 1 << 16):
            if file.byte_delay:
                time.sleep(file.byte_delay)
            request.wfile.write(content[at:min(at + (1 << 16), end)])
        if end < len(content):
            request.close_connection = True

    def send(self, request, status, body, headers=None):
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
