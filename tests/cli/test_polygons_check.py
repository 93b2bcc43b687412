"""``polygons check``: what is printed, what is written, and the exit status."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from scan_files import TARGET, box, write_png_scan

from medotter_viewer.cli import main
from medotter_viewer.cli.output import ProgressLine

SQUARE = "TC1,1,0,0,10,0,10,10,0,10\n"


@pytest.fixture
def submission(tmp_path: Path):
    def write(text: str) -> str:
        path = tmp_path / "sub.csv"
        path.write_text(text)
        return str(path)

    return write


def test_a_good_submission_is_ok_in_one_line(submission, capsys) -> None:
    path = submission(SQUARE)
    assert main(["polygons", "check", path]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (f"{path}: ok: polygons 1, lines 1\n", "")


def test_a_malformed_submission_fails_and_the_json_says_where(submission, tmp_path: Path, capsys) -> None:
    path = submission(SQUARE + "TC1,1,0,0,10,0,10\n")
    assert main(["polygons", "check", path, "--json", str(tmp_path / "out.json")]) == 1
    message = "line 2: odd number of coordinates, 5: every x needs a y"
    assert capsys.readouterr().err == message + "\n"
    finding = {"severity": "error", "code": "malformed-line", "file": path, "where": "2", "message": message}
    expected = {"status": "malformed", "lines": 2, "polygons": 1, "findings": [finding]}
    assert json.loads((tmp_path / "out.json").read_text()) == expected


def test_warnings_do_not_fail(submission, capsys) -> None:
    assert main(["polygons", "check", submission("\ufeff" + SQUARE + SQUARE)]) == 0
    out, err = capsys.readouterr()
    assert "warning: byte-order-mark: line 1: " in out
    assert "warning: duplicate-polygon: line 2: repeats line 1" in out
    assert err == ""


def test_what_the_contests_reader_accepts_is_accepted_when_asked(submission) -> None:
    path = submission("TC1,1, 5,5,7\n")
    assert main(["polygons", "check", path]) == 1
    assert main(["polygons", "check", path, "--contest-reader"]) == 0


def test_scans_and_slices_are_those_of_the_folder(submission, tmp_path: Path, capsys) -> None:
    scan = tmp_path / "scans" / "TC1"
    (scan / "auxiliary").mkdir(parents=True)
    (scan / "pngs").mkdir()
    (scan / "structures.dat").write_text("radiomics_gtv")
    tags = "(0020.0032),0,0,0\n(0020.0037),1,0,0,0,1,0\n(0018.0050),1\n(0028.0010),8\n(0028.0011),8\n(0028.0030),1,1\n"
    (scan / "auxiliary" / "1.dat").write_text(tags)
    lines = [SQUARE, SQUARE.replace("TC1", "TC9"), SQUARE.replace(",1,", ",2,", 1)]
    path = submission("".join(lines))
    assert main(["polygons", "check", path, "--scans", str(scan.parent)]) == 1
    err = capsys.readouterr().err.splitlines()
    assert err == ["line 2: unknown scan 'TC9': no scan folder of that name", "line 3: scan 'TC1' has no slice 2"]


def test_few_errors_are_shown_and_all_are_counted(submission, capsys) -> None:
    assert main(["polygons", "check", submission("TC1\n" * 50)]) == 1
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 21
    assert err[-1] == "and 30 errors more: see --json FILE"


def test_a_zip_with_two_files_is_malformed_and_a_missing_file_is_an_error(tmp_path: Path, capsys) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.writestr("a.csv", SQUARE)
        archive.writestr("b.csv", SQUARE)
    assert main(["polygons", "check", str(tmp_path / "s.zip")]) == 1
    assert "its members: a.csv, b.csv" in capsys.readouterr().err
    assert main(["polygons", "check", str(tmp_path / "none.csv")]) == 1
    assert "no such file" in capsys.readouterr().err


def test_progress_counts_the_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.csv"
    path.write_text("".join(f"S,1,{n},0,{n},1,0,2\n" for n in range(150_000)))
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(ProgressLine, "__call__", lambda _self, done, total: told.append((done, total)))
    assert main(["polygons", "check", str(path)]) == 0
    total = -(-path.stat().st_size // 1_000_000)
    assert {all_mb for _, all_mb in told} == {total}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert (len(told) >= 3, told[-1]) == (True, (total, total))


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the peak of memory is read from /proc")
def test_after_a_million_polygons_the_next_line_is_refused_by_its_number_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    with path.open("w") as file:
        for start in range(0, 1_000_000, 10_000):  # no two are the same
            file.write("".join(f"S,1,{n},0,{n},1,0,2\n" for n in range(start, start + 10_000)))
        file.write("S,1,0,0,1,0,1,1\n")
    code = (
        "import sys; from medotter_viewer.cli import main; code = main(['polygons', 'check', sys.argv[1]]);"
        "print(code, [w.split()[1] for w in open('/proc/self/status') if w.startswith('VmHWM')][0])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    assert done.stderr == "line 1,000,001 is one too many: at most 1,000,000 lines are allowed\n"
    assert f"{path}: malformed: polygons 1000000, lines 1000001" in done.stdout
    exit_code, peak_kb = map(int, done.stdout.split()[-2:])
    assert exit_code == 1
    assert peak_kb < 200 * 1024


def test_with_scans_it_says_which_have_no_polygon_and_which_polygons_lie_elsewhere(tmp_path: Path, capsys) -> None:
    for name in ("TC1", "TC2", "TC3"):
        write_png_scan(tmp_path / "tc", name, {TARGET: {1: [box(5, 5, 10)]}})
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "submission.csv").write_text("TC1,1,5,5,15,5,15,15\nTC2,1,-5,-5,-15,-5,-15,-15\n")
    out = tmp_path / "o.json"
    scans = str(tmp_path / "tc")
    assert main(["polygons", "check", str(tmp_path / "model"), "--scans", scans, "--json", str(out)]) == 0
    findings = {note["code"]: note for note in json.loads(out.read_text())["findings"]}
    assert set(findings) == {"polygons-outside-image", "scan-not-submitted"}
    assert findings["polygons-outside-image"]["where"] == "TC2"
    assert findings["scan-not-submitted"]["message"].endswith("which count as without prediction: TC3")
    (tmp_path / "model" / "submission.zip").write_bytes(b"")
    assert main(["polygons", "check", str(tmp_path / "model")]) == 1
    assert "holds both submission.csv and submission.zip; keep one" in capsys.readouterr().err
