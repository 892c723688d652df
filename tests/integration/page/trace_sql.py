"""trace_sql.py FILE [kernels=N] [copies=N] [bytes=N]: loads the file of a timeline into Perfetto's
trace processor (PyPI: perfetto, which fetches a program on first use, or uses the one that
TRACE_PROCESSOR names), and compares what that finds by SQL. Exit code 77, after a line that says
why: it is not available here."""
import os
import sys

QUERIES = {
    "kernels": "select count(*) as n from slice where category = 'kernel'",
    "copies": "select count(*) as n from slice where category = 'copy'",
    "bytes": "select sum(extract_arg(arg_set_id, 'args.bytes')) as n from slice "
             "where category = 'copy'",
}
CHECKS = {  # what must be 0
    "events that it could not read":
        "select ifnull(sum(value), 0) as n from stats where severity in ('error', 'data_loss')",
    "events without a lane": "select count(*) as n from slice where track_id not in "
                             "(select id from track)",
}


def main():
    try:
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    except ImportError as error:
        print("no Python package perfetto: %s" % error)
        return 77
    try:
        config = TraceProcessorConfig(bin_path=os.environ.get("TRACE_PROCESSOR"))
        processor = TraceProcessor(trace=sys.argv[1], config=config)
    except Exception as error:  # it fetches a program, and starts it as a server
        print("Perfetto's trace processor does not start: %s" % str(error).split("\n")[0])
        return 77
    failed = 0
    expected = [(QUERIES[name], int(value), name)
                for name, value in (text.split("=") for text in sys.argv[2:])]
    for query, value, name in expected + [(q, 0, name) for name, q in CHECKS.items()]:
        found = next(iter(processor.query(query))).n or 0
        if found != value:
            print("failed: %s %s instead of %d" % (found, name, value))
            failed += 1
    processor.close()
    print("%d passed, %d failed" % (len(expected) + len(CHECKS) - failed, failed))
    return failed > 0


sys.exit(main())
