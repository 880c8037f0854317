"""platen fetch against a hub on loopback. Standard library only, but for one test that needs the
package huggingface_hub and is skipped where it is not installed.

    PLATEN_PROGRAM=build/bin/platen PLATEN_SNAPSHOT=tests/golden/snapshots/tiny-a \
        python3 -B -m unittest fetch_test
"""

import importlib.util
import os
import random
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

from mock_hub import File, Hub

PROGRAM = os.environ["PLATEN_PROGRAM"]
SNAPSHOT = os.environ["PLATEN_SNAPSHOT"]
WEIGHTS = random.Random(1).randbytes(3_000_000)


def small_repository():
    return {
        "config.json": File(b'{"model_type": "glm_ocr"}'),
        "tokenizer.json": File(b"{}\n"),
        "model.safetensors": File(WEIGHTS, large=True),
        "README.md": File(b"# not needed\n"),
        "figures/one.png": File(b"\x89PNG" * 10, large=True),
    }


class FetchTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="platen-fetch-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = os.path.join(self.folder, "hub")
        self.hub = self.serve(small_repository())

    def serve(self, files, **options):
        hub = Hub(files, **options)
        self.addCleanup(hub.close)
        return hub

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items()
                if not k.startswith("HF_") and not k.lower().endswith("_proxy")}
        kept.update(HF_HUB_CACHE=self.cache, HF_ENDPOINT=self.hub.endpoint)
        kept.update({k: v for k, v in more.items() if v is not None})
        return kept

    def run_program(self, *words, **environment):
        return subprocess.run([PROGRAM, *words], env=self.environment(**environment),
                              capture_output=True, text=True, timeout=120, cwd=self.folder)

    def start(self, *words, **environment):
        return subprocess.Popen([PROGRAM, *words], env=self.environment(**environment),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder)

    def fetch(self, *words, code=0, **environment):
        result = self.run_program("fetch", *(words or ("owner/name",)), **environment)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def model(self, *parts):
        return os.path.join(self.cache, "models--owner--name", *parts)

    def snapshot(self, *parts):
        return self.model("snapshots", self.hub.commit, *parts)

    def partial(self, name="model.safetensors"):
        return self.model("blobs", self.hub.files[name].digest + ".incomplete")

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def assert_fetched(self, names=("config.json", "tokenizer.json", "model.safetensors")):
        for name in names:
            file = self.hub.files[name]
            depth = name.count("/")
            self.assertEqual(os.readlink(self.snapshot(name)),
                             "../" * (depth + 2) + "blobs/" + file.digest)
            self.assertEqual(self.read(self.snapshot(name)), file.content)
        self.assertEqual(self.read(self.model("refs", "main")), self.hub.commit.encode())
        self.assertFalse([n for n in os.listdir(self.model("blobs")) if "incomplete" in n])

    def assert_nothing_named(self):
        """Nothing that a reader of the cache would take for a model."""
        self.assertFalse(os.path.exists(self.model("refs", "main")))
        self.assertFalse(os.path.exists(self.snapshot("model.safetensors")))

    # The way it should go.

    def test_fills_the_cache_with_what_a_model_is_run_with(self):
        result = self.fetch()
        self.assert_fetched()
        self.assertFalse(os.path.lexists(self.snapshot("README.md")))
        self.assertFalse(os.path.lexists(self.snapshot("figures")))
        self.assertIn(self.snapshot(), result.stdout)
        self.assertIn("3 downloaded now", result.stdout)
        for _, path, headers in self.hub.seen("store"):
            self.assertNotIn("Range", headers, path)

    def test_all_takes_every_file(self):
        self.fetch("owner/name", "--all")
        self.assert_fetched(self.hub.files)

    def test_a_second_run_downloads_nothing(self):
        self.fetch()
        before = len(self.hub.seen("store"))
        result = self.fetch()
        self.assertEqual(len(self.hub.seen("store")), before)
        self.assertIn("0 downloaded now", result.stdout)

    def test_revisions_are_branches_tags_and_commits(self):
        self.hub.revisions["refs/pr/1"] = self.hub.commit
        self.fetch("owner/name@refs/pr/1")
        self.assertEqual(self.read(self.model("refs", "refs", "pr", "1")),
                         self.hub.commit.encode())
        self.assertTrue(self.hub.seen("hub", "/revision/refs%2Fpr%2F1"))
        shutil.rmtree(self.model("refs"))
        self.fetch("owner/name", "--revision", self.hub.commit)
        self.assertFalse(os.path.exists(self.model("refs")))
        self.assertTrue(os.path.exists(self.snapshot("model.safetensors")))

    def test_a_listing_may_have_pages(self):
        self.hub.page_size = 2
        self.fetch("owner/name", "--all")
        self.assert_fetched(self.hub.files)
        self.assertEqual(len(self.hub.seen("hub", "/tree/")), 3)

    def test_names_are_encoded_in_urls(self):
        self.hub.files["figures/a b#1%2F?.txt"] = File(b"text")
        self.fetch("owner/name", "--all")
        self.assert_fetched(self.hub.files)

    def test_an_empty_file_needs_no_request(self):
        self.hub.files["LICENSE"] = File(b"")
        self.fetch()
        self.assert_fetched(("LICENSE", "model.safetensors"))
        self.assertFalse(self.hub.seen("store", "LICENSE"))

    # The token.

    def test_the_token_goes_to_the_hub_alone(self):
        self.hub.token = "hf_secret"
        self.fetch(HF_TOKEN="hf_secret")
        self.assert_fetched()
        self.assertTrue(self.hub.seen("store"))
        for server, path, headers in self.hub.requests:
            self.assertEqual(headers.get("Authorization"),
                             "Bearer hf_secret" if server == "hub" else None, path)

    def test_without_a_token_it_says_what_to_do(self):
        self.hub.token = "hf_secret"
        result = self.fetch(code=3)
        self.assertIn("set HF_TOKEN", result.stderr)
        result = self.fetch(code=3, HF_TOKEN="hf_wrong")
        self.assertIn("HF_TOKEN is not accepted", result.stderr)
        self.assertNotIn("hf_wrong", result.stderr)
        result = self.fetch(code=3, HF_TOKEN="hf_se\ncret")
        self.assertIn("HF_TOKEN: has characters", result.stderr)
        self.hub.token, self.hub.gated = None, True
        self.assertIn("accept the model's terms", self.fetch(code=3).stderr)

    # Names, revisions, endpoints that are refused.

    def test_what_is_not_there_is_said(self):
        result = self.fetch("owner/other", code=3)
        self.assertIn("check the model's name", result.stderr)
        result = self.fetch("owner/name@v9", code=3)
        self.assertIn("no revision v9", result.stderr)
        self.fetch("../name", code=2)
        self.fetch("name", code=2)
        self.fetch("owner/name@../x", code=2)
        self.fetch("owner/name", "--revision", "/x", code=2)
        self.fetch("owner/name", "owner/name", code=2)

    def test_a_repository_without_safetensors_is_refused(self):
        del self.hub.files["model.safetensors"]
        self.hub.files["model.gguf"] = File(b"GGUF", large=True)
        result = self.fetch(code=3)
        self.assertIn("GGUF is not read", result.stderr)
        self.assertFalse(self.hub.seen("store"))

    def test_only_https_but_to_this_machine(self):
        for endpoint in ("http://example.org", "ftp://127.0.0.1", "http://127.0.0.1.example.org",
                         "http://me:pw@127.0.0.1", "file:///etc", "nonsense://x", "http://[::2]"):
            result = self.fetch(code=3, HF_ENDPOINT=endpoint)
            self.assertRegex(result.stderr, "only https|user's name|is not a URL", endpoint)
        for location in ("http://example.org/x", "file:///etc/passwd"):
            self.hub.redirect_to = location
            result = self.fetch(code=3)
            self.assertIn("only https", result.stderr, location)

    def test_a_server_with_an_unknown_certificate_is_not_asked(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("unknown_server.pem")  # made for this test, signed by itself
        self.hub.hub.socket = context.wrap_socket(self.hub.hub.socket, server_side=True)
        endpoint = self.hub.endpoint.replace("http:", "https:").replace("127.0.0.1", "localhost")
        result = self.fetch(code=3, HF_ENDPOINT=endpoint, HF_TOKEN="hf_secret")
        self.assertIn("certificate is not trusted", result.stderr)
        self.assertFalse(self.hub.requests)

    def test_offline_is_offline(self):
        result = self.fetch(code=3, HF_HUB_OFFLINE="1")
        self.assertIn("HF_HUB_OFFLINE", result.stderr)
        self.assertFalse(self.hub.requests)

    # A hub that is broken or hostile.

    def test_a_missing_or_odd_commit_is_refused(self):
        for answer in (b"{}", b'{"sha": "../../.."}', b"[]", b"<html>", b'{"sha": null}'):
            self.hub.revision_answer = answer
            result = self.fetch(code=3)
            self.assertIn("/revision/main", result.stderr)
        self.hub.revision_answer = b'{"sha": "%s"}' % (b"d" * 40)
        self.assertIn("another commit", self.fetch("owner/name@" + "e" * 40, code=3).stderr)
        self.assertFalse(os.path.exists(self.cache))

    def test_hostile_paths_stop_everything(self):
        good = [f.entry(p) for p, f in self.hub.files.items()]
        for path in ("../../evil", "/tmp/evil", "a/../../evil", "a\nb", ""):
            self.hub.entries = good + [dict(good[0], path=path)]
            result = self.fetch("owner/name", "--all", code=3)
            self.assertIn("not a plain path", result.stderr)
        self.hub.entries = good + [good[0]]
        self.assertIn("twice", self.fetch(code=3).stderr)
        self.assertFalse(self.hub.seen("store"))
        self.assertFalse(os.path.exists(self.cache))

    def test_a_listing_goes_on_at_the_same_host_only(self):
        self.hub.page_size = 2
        self.hub.next_host = self.hub.store_url
        result = self.fetch(code=3)
        self.assertIn("another host", result.stderr)
        self.assertFalse(self.hub.seen("store"))

    def test_a_listing_without_end_is_refused(self):
        self.hub.entries = [self.hub.files["config.json"].entry("f%d" % i) for i in range(300)]
        self.hub.page_size = 1
        self.assertIn("does not end", self.fetch(code=3).stderr)

    def test_an_answer_that_is_too_large_is_refused(self):
        self.hub.revision_answer = b'{"sha": "' + b"a" * (17 << 20) + b'"}'
        self.assertIn("too large", self.fetch(code=3).stderr)

    def test_redirects_end(self):
        self.hub.redirect_to = self.hub.endpoint + "/owner/name/resolve/" + self.hub.commit + "/x"
        self.assertIn("too many redirects", self.fetch(code=3).stderr)

    def test_wrong_bytes_are_deleted_and_named(self):
        for name in ("model.safetensors", "config.json"):
            file = self.hub.files[name]
            file.sent = bytes([file.content[0] ^ 1]) + file.content[1:]
            result = self.fetch(code=3)
            self.assertIn(name + ": the bytes that came are not those", result.stderr)
            self.assertIn("announced " + file.digest, result.stderr)
            self.assertFalse(os.path.exists(self.partial(name)))
            self.assertFalse(os.path.exists(self.model("blobs", file.digest)))
            self.assert_nothing_named()
            file.sent = None
            shutil.rmtree(self.cache)
        self.fetch()
        self.assert_fetched()

    def test_more_bytes_than_announced_are_refused(self):
        file = self.hub.files["model.safetensors"]
        file.sent = file.content + b"more"
        self.assertIn("sends more than the 3,000,000 bytes", self.fetch(code=3).stderr)
        self.assert_nothing_named()

    def test_too_little_room_is_said_before_anything_comes(self):
        entries = [f.entry(p) for p, f in self.hub.files.items()]
        for entry in entries:
            if entry["path"] == "model.safetensors":
                entry["lfs"]["size"] = 1 << 43
        self.hub.entries = entries
        result = self.fetch(code=3)
        self.assertRegex(result.stderr, r"no room: 8\.80 TB are needed, .* are free")
        self.assertFalse(self.hub.seen("store"))

    # Connections that break, and going on.

    def test_a_busy_server_is_asked_again(self):
        self.hub.api_status = [503]
        self.hub.files["model.safetensors"].status = [500, 429]
        result = self.fetch()
        self.assertIn("status 503; trying again", result.stderr)
        self.assert_fetched()

    def test_a_server_that_stays_broken_is_given_up(self):
        self.hub.files["model.safetensors"].status = [500] * 5
        result = self.fetch(code=3)
        self.assertIn("5 times in a row; the same command goes on", result.stderr)
        self.assert_nothing_named()
        self.fetch()
        self.assert_fetched()

    def test_a_connection_that_breaks_goes_on_from_there(self):
        self.hub.files["model.safetensors"].drop_after = [1_000_000]
        self.fetch()
        self.assert_fetched()
        ranges = [h.get("Range") for _, _, h in self.hub.seen("store", "model.safetensors")]
        self.assertEqual(ranges, [None, "bytes=1000000-"])

    def test_a_server_that_ignores_range_starts_again(self):
        self.hub.ranges = False
        self.hub.files["model.safetensors"].drop_after = [1_000_000]
        self.fetch()
        self.assert_fetched()
        self.assertEqual(len(self.hub.seen("store", "model.safetensors")), 2)

    def test_a_server_that_sends_another_range_starts_again(self):
        self.hub.wrong_range = True
        self.hub.files["model.safetensors"].drop_after = [1_000_000]
        self.fetch()
        self.assert_fetched()
        ranges = [h.get("Range") for _, _, h in self.hub.seen("store", "model.safetensors")]
        self.assertEqual(ranges, [None, "bytes=1000000-", None])

    def leave_partial(self, content, name="model.safetensors"):
        os.makedirs(self.model("blobs"))
        with open(self.partial(name), "wb") as file:
            file.write(content)

    def test_what_an_earlier_run_left_is_used(self):
        self.leave_partial(WEIGHTS[:2_000_000])
        self.fetch()
        self.assert_fetched()
        ranges = [h.get("Range") for _, _, h in self.hub.seen("store", "model.safetensors")]
        self.assertEqual(ranges, ["bytes=2000000-"])

    def test_a_file_that_is_whole_needs_its_checksum_alone(self):
        self.leave_partial(WEIGHTS)
        self.fetch()
        self.assert_fetched()
        self.assertFalse(self.hub.seen("store", "model.safetensors"))

    def test_what_is_left_of_other_bytes_is_fetched_again(self):
        for content in (b"x" * 2_000_000, b"x" * 3_000_000, b"x" * 4_000_000):
            self.leave_partial(content)
            self.fetch()
            self.assert_fetched()
            shutil.rmtree(self.cache)

    def test_a_server_without_the_rest_starts_again(self):
        self.leave_partial(WEIGHTS[:2_000_000])
        self.hub.refuses_ranges = True
        self.fetch()
        self.assert_fetched()

    def test_a_file_that_is_shorter_than_announced_is_given_up(self):
        file = self.hub.files["model.safetensors"]
        file.sent = file.content[:-1]
        self.assertIn("5 times in a row", self.fetch(code=3).stderr)
        self.assert_nothing_named()
        self.assertLess(len(self.hub.seen("store", "model.safetensors")), 8)

    def test_a_silent_connection_is_given_up(self):
        self.hub.files["model.safetensors"].byte_delay = 20
        process = self.start("fetch", "owner/name", HF_HUB_DOWNLOAD_TIMEOUT="1")
        self.wait_until(lambda: len(self.hub.seen("store", "model.safetensors")) == 2)
        self.hub.files["model.safetensors"].byte_delay = 0
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertIn("trying again", err)
        self.assert_fetched()

    def wait_until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.01)

    def start_slow(self):
        self.hub.files["model.safetensors"].byte_delay = 0.05
        process = self.start("fetch", "owner/name")
        self.wait_until(lambda: os.path.exists(self.partial())
                        and os.path.getsize(self.partial()) > 300_000)
        return process

    def assert_goes_on(self):
        self.assert_nothing_named()
        self.hub.files["model.safetensors"].byte_delay = 0
        there = os.path.getsize(self.partial())
        self.hub.requests.clear()
        self.fetch()
        self.assert_fetched()
        ranges = [h.get("Range") for _, _, h in self.hub.seen("store", "model.safetensors")]
        self.assertEqual(ranges, ["bytes=%d-" % there])

    def test_kill_and_go_on(self):
        process = self.start_slow()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assert_goes_on()

    def test_interrupt_and_go_on(self):
        process = self.start_slow()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("the same command goes on", err)
        self.assert_goes_on()

    def test_two_at_once_share_one_download(self):
        first = self.start_slow()
        second = self.start("fetch", "owner/name")
        self.wait_until(lambda: len(self.hub.seen("hub", "/tree/")) == 2)
        for process in (first, second):
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, out + err)
        self.assertIn("another platen fetch", err)
        self.assert_fetched()
        self.assertEqual(len(self.hub.seen("store", "model.safetensors")), 1)

    # Links that somebody else has put into the cache.

    def test_links_in_the_cache_are_not_followed(self):
        victim = os.path.join(self.folder, "victim")
        with open(victim, "wb") as file:
            file.write(b"mine")
        os.makedirs(self.model("blobs"))
        os.symlink(victim, self.partial())
        self.fetch(code=3)
        self.assertEqual(self.read(victim), b"mine")

    # What others make of the cache.

    def test_platen_takes_the_model_by_its_name(self):
        files = {}
        for name in os.listdir(SNAPSHOT):
            with open(os.path.join(SNAPSHOT, name), "rb") as file:
                files[name] = File(file.read(), large=name.endswith(".safetensors"))
        self.hub = self.serve(files)
        result = self.run_program("inspect", "owner/name")
        self.assertEqual(result.returncode, 3)
        self.assertIn("platen fetch owner/name", result.stderr)
        self.assertFalse(self.hub.requests)
        self.fetch()
        before = len(self.hub.requests)
        for name in ("owner/name", "owner/name@main", "owner/name@" + self.hub.commit[:7]):
            result = self.run_program("inspect", name)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn(self.snapshot(), result.stdout)
        result = self.run_program("doctor", "--model", "owner/name")
        self.assertIn(self.snapshot() + ": usable", result.stdout)
        packed = self.run_program("pack", "owner/name", XDG_CACHE_HOME=self.folder + "/cache")
        self.assertEqual(packed.returncode, 0, packed.stderr)
        self.assertIn(self.folder + "/cache/platen/", packed.stdout)
        self.assertFalse([n for n in os.listdir(self.snapshot()) if "packed" in n])
        self.assertEqual(len(self.hub.requests), before)

    @unittest.skipUnless(importlib.util.find_spec("huggingface_hub"),
                         "the Python package huggingface_hub is not installed")
    def test_the_hubs_own_client_reads_the_cache_offline(self):
        self.fetch()
        script = """if True:
            import huggingface_hub as hub
            print(hub.snapshot_download("owner/name", local_files_only=True))
            print(hub.hf_hub_download("owner/name", "model.safetensors"))
            info = hub.scan_cache_dir()
            assert not info.warnings, info.warnings
            repo, = info.repos
            revision, = repo.revisions
            print(repo.repo_id, revision.commit_hash, *sorted(revision.refs), revision.size_on_disk)
        """
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                                env=self.environment(HF_HUB_OFFLINE="1"), timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        size = sum(len(self.hub.files[n].content)
                   for n in ("config.json", "tokenizer.json", "model.safetensors"))
        self.assertEqual(result.stdout.splitlines(), [
            self.snapshot(),
            self.snapshot("model.safetensors"),
            "owner/name %s main %d" % (self.hub.commit, size),
        ])


if __name__ == "__main__":
    unittest.main()
