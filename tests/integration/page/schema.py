"""schema.py FILE [kernels=N] [copies=N] [bytes=N] [events=N]: whether the file of a timeline is
JSON as a whole, and each of its events has the members that the Trace Event Format
(docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU) gives its phase, in the
order that gpuexec writes; and how many there are. Prints what is wrong. Needs only Python 3."""
import json
import sys

NUMBER = (int, float)
PHASES = {  # the members of each phase, in order; "?": optional
    "X": ["ph", "cat", "name", "pid", "tid", "ts", "dur", "args?"],
    "i": ["ph", "s", "cat", "name", "pid", "tid", "ts", "args?"],
    "s": ["ph", "cat", "name", "id", "pid", "tid", "ts"],
    "f": ["ph", "bp", "cat", "name", "id", "pid", "tid", "ts"],
    "M": ["ph", "name", "pid", "tid", "args"],
}
TYPES = {"ph": str, "cat": str, "name": str, "pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER,
         "id": int, "s": str, "bp": str, "args": dict}
ARGS = {  # those that an event of a category must have
    "call": {"driver": str, "result": int},
    "kernel": {"grid": str, "block": str, "shared": int},
    "copy": {"bytes": int, "gbs": NUMBER},
    "fill": {"bytes": int, "gbs": NUMBER},
    "graph": {"nodes": int},
    "memory": {"bytes": int},
}
METADATA = {"process_name": {"name": str}, "thread_name": {"name": str},
            "process_sort_index": {"sort_index": int},
            "gpuexec": {"version": str, "dropped": int, "notes": list}}


def is_a(value, types):
    return isinstance(value, types) and not isinstance(value, bool)


def faults_of(event):
    if not isinstance(event, dict) or event.get("ph") not in PHASES:
        yield "not an event of a known phase"
        return
    names = list(event)
    for name in PHASES[event["ph"]]:
        if names and names[0] == name.rstrip("?"):
            names.pop(0)
        elif not name.endswith("?"):
            yield 'no "%s", or not in its place' % name
    if names:
        yield "more members: %s" % ", ".join(names)
    for name, value in event.items():
        if name in TYPES and not is_a(value, TYPES[name]):
            yield '"%s" has another type' % name
    if event.get("dur", 0) < 0:
        yield "a negative duration"
    args = event.get("args", {})
    expected = METADATA if event["ph"] == "M" else ARGS
    for name, types in expected.get(event.get("name" if event["ph"] == "M" else "cat"), {}).items():
        if not is_a(args.get(name), types):
            yield 'args lack "%s", or it has another type' % name


def main():
    counts = {"kernels": 0, "copies": 0, "bytes": 0, "events": 0}
    failed = passed = 0
    opened = set()
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().split("\n")
    events = json.loads("\n".join(lines))
    if lines[0] != "[" or lines[-1] != "" or len(lines) != len(events) + 3:
        print("failed: not one event on each line")
        failed += 1
    for number, event in enumerate(events, 2):
        faults = list(faults_of(event))
        if faults:
            failed += 1
            if failed < 10:
                print("failed: line %d: %s" % (number, "; ".join(faults)))
            continue
        passed += 1
        key = (event.get("cat"), event.get("id"))
        if event["ph"] == "s":
            opened.add(key)
        elif event["ph"] == "f" and key not in opened:
            print("failed: line %d: an arrow ends that has not begun" % number)
            failed += 1
        counts["events"] += event["ph"] in "Xi"
        counts["kernels"] += event.get("cat") == "kernel"
        if event.get("cat") == "copy":
            counts["copies"] += 1
            counts["bytes"] += event["args"]["bytes"]
    for text in sys.argv[2:]:
        name, value = text.split("=")
        if counts[name] != int(value):
            print("failed: %d %s instead of %s" % (counts[name], name, value))
            failed += 1
    print("%d events passed, %d failed" % (passed, failed))
    return failed > 0


sys.exit(main())
