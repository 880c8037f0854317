"""packaging/kubernetes/indexed-job.yaml: valid for Kubernetes, and what platen's exit codes ask for.

Needs PyYAML; the schema test needs kubernetes_validate, which brings the schemas, too. Each is skipped
without what it needs.
"""

import copy
import pathlib
import unittest

try:
    import yaml
except ImportError:
    yaml = None
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

MANIFEST = pathlib.Path(__file__).parents[2] / "packaging/kubernetes/indexed-job.yaml"
OLDEST = "1.29"  # has backoffLimitPerIndex without being asked


def exit_rules(job):
    """Action by exit code; what is not named is tried again."""
    rules = job["spec"]["podFailurePolicy"]["rules"]
    return {
        code: rule["action"]
        for rule in rules
        if "onExitCodes" in rule
        for code in rule["onExitCodes"]["values"]
    }


@unittest.skipIf(yaml is None, "PyYAML is not installed")
class IndexedJob(unittest.TestCase):
    def setUp(self):
        self.job = yaml.safe_load(MANIFEST.read_text())
        self.pod = self.job["spec"]["template"]["spec"]

    def test_number_of_shards_is_that_of_indexes(self):
        args = self.pod["containers"][0]["args"]
        self.assertEqual(self.job["spec"]["completionMode"], "Indexed")
        shard = args[args.index("--shard") + 1]
        self.assertEqual(shard, f"auto/{self.job['spec']['completions']}")

    def test_exit_codes(self):
        self.assertEqual(exit_rules(self.job), {1: "FailIndex", 2: "FailJob"})
        self.assertEqual(self.pod["restartPolicy"], "Never")
        names = {container["name"] for container in self.pod["containers"]}
        for rule in self.job["spec"]["podFailurePolicy"]["rules"]:
            if "onExitCodes" in rule:
                self.assertIn(rule["onExitCodes"]["containerName"], names)
        self.assertIn("backoffLimitPerIndex", self.job["spec"])  # FailIndex needs it

    @unittest.skipIf(kubernetes_validate is None, "kubernetes_validate is not installed")
    def test_schema(self):
        for version in (OLDEST, kubernetes_validate.latest_version()):
            kubernetes_validate.validate(self.job, version, strict=True)
        wrong = copy.deepcopy(self.job)
        wrong["spec"]["podFailurePolicy"]["rules"][1]["onExitCode"] = {}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(wrong, OLDEST, strict=True)


if __name__ == "__main__":
    unittest.main()
