"""The picture of a report in the README: the page of BERT-base, in Chromium without a screen.

    python scripts/screenshot.py GRADUS CHROMIUM docs/report.png

Needs playwright (`conformance/requirements.txt`), and Chromium (`apt-get install chromium`).
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).parent.parent
MODEL = ROOT / "crates/gradus/tests/architectures/bert_base.onnx"
SIZES = "batch=8&seq=384"


def main() -> None:
    program, chromium, picture = sys.argv[1:]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "bert.html"
        shutil.copy(MODEL, folder)
        # The weights, which no file holds: zeros that take no space.
        with open(pathlib.Path(folder) / "weights.bin", "wb") as weights:
            weights.truncate(1 << 30)
        subprocess.run([program, "report", MODEL.name, "-o", page], cwd=folder, check=True, capture_output=True)
        browser = playwright.chromium.launch(executable_path=shutil.which(chromium) or chromium, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 1180, "height": 1240}, color_scheme="light")
        shown.goto(f"{page.as_uri()}#{SIZES}")
        # The groups of the first layer, as a reader opens them.
        for path in ("encoder", "encoder/layer.0"):
            button = shown.locator(f'#cost-rows button[data-path="{path}"]')
            if button.count() > 0 and button.get_attribute("aria-expanded") == "false":
                button.click()
        shown.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
