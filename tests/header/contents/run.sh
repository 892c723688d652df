#!/bin/sh
# Checks the header's CONTENTS against its >>tag marks: the same tags in the same order, no section
# over 800 lines, no reference to an unknown tag; the version in the banner against the macros; the
# rows of >>options against the parts that GPUEXEC_CORE_ONLY omits; that
# no section calls one below it: a static function that is declared before it is defined is declared
# in the section that defines it; that only the functions that read texts of other programs search
# in texts: what gpuexec knows is data, not words in its messages; and that no code distinguishes
# the CPU device from other drivers. Then the lines of all files (lines.sh), the folders of tests
# (folders.sh), phrases (phrases.sh), what in tests a stopped machine would break (stalls.sh), what
# features.md and concurrency.md name (features.sh), that entry points of the driver are declared
# once (entry_points.sh), CHANGELOG.md's names (changes.sh), the private names (names.sh), and the
# links of Markdown files (links.sh).
cd "$(dirname "$0")/../../.." || exit 1
. tests/header/contents/lines.sh
. tests/header/contents/folders.sh
. tests/header/contents/phrases.sh
. tests/header/contents/stalls.sh
. tests/header/contents/features.sh
. tests/header/contents/entry_points.sh
. tests/header/contents/changes.sh
. tests/header/contents/names.sh
. tests/header/contents/links.sh
checked=$(check_lines; check_folders; check_phrases; check_stalls; check_features
    check_entry_points; check_changes; check_names; check_links)
printf '%s\n' "$checked" | grep -v '^[0-9]* passed, [0-9]* failed$'
# A summary that is missing is a failure: its checks did not finish.
counts=$(printf '%s\n' "$checked" | awk '
    /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3; n++ }
    END { print "-v passed=" p + 0 " -v failed=" f + (n != 10) }')
awk $counts '
    function check(ok, what) { if (ok) passed++; else { failed++; print "failed: " what } }
    BEGIN {
        # what the driver and NVRTC say; PTX and sources; names in images; options of the caller;
        # the file of a timeline
        split("gxi_add_driver_log gxi_driver_fault_of gxi_nvrtc_cure gxi_ptx_space " \
              "gxi_is_cuda_c gxi_include_scan_text gxi_fail_no_kernel " \
              "gxi_ptx_operand gxi_ptx_has_multi_grid gxi_ptx_has_fetches " \
              "gxi_compile_load_cached gxi_put_lane_name", list, " ")
        for (i in list) readers[list[i]] = 1
    }
    function close_section() {
        if (mark && NR - start > longest) { longest = NR - start; longest_name = mark }
    }

    /^    CONTENTS/  { in_contents = 1; next }
    in_contents && /^    ---/ { in_contents = 0; next }
    in_contents {                                            # ">>tag  words" or ">>tag, tag, tag"
        if (match($0, /^ *>>[a-z, -]*[a-z]/)) {
            line = substr($0, RSTART, RLENGTH)
            sub(/^ *>>/, "", line)
            sub(/   .*/, "", line)
            n = split(line, tags, /, */)
            for (i = 1; i <= n; i++) listed[++listed_count] = tags[i]
        }
        next
    }
    match($0, /^ *(\/\* *)?>>[a-z][a-z-]*/) {                # a mark is the first word on its line
        close_section()
        mark = substr($0, RSTART, RLENGTH)
        sub(/.*>>/, "", mark)
        marks[++mark_count] = mark
        known[mark] = 1
        start = NR
    }
    {
        rest = $0
        while (match(rest, /[ (]>>[a-z][a-z-]*/)) {          # a reference to a mark
            tag = substr(rest, RSTART + 3, RLENGTH - 3)
            if (!(tag in referenced)) referenced[tag] = NR
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    /gxi_is_cpu_device|SIM[L]INK|"simgpu_|linked by the CPU device/ {
        check(0, "line " NR ": knows the CPU device: " $0)
    }
    /^GPUEXEC_API / && $0 !~ /^GPUEXEC_API [a-zA-Z_ ]*[ *]gpuexec_[a-z0-9_]*\(/ {
        check(0, "line " NR ": a public function that tag tools cannot find: " $0)
    }
    /^static .*gxi_[a-z0-9_]*\(/ {                   # its parameters may continue on the next lines
        match($0, /gxi_[a-z0-9_]*\(/)
        called = substr($0, RSTART, RLENGTH - 1)
    }
    called != "" && /[{=]/ {
        if (!(called in defined)) defined[called] = mark
        called = ""
    }
    called != "" && /;/ {
        declared[called] = mark
        called = ""
    }
    /^[a-zA-Z]/ && match($0, /(gxi|gpuexec)_[a-z0-9_]*\(/) {
        within = substr($0, RSTART, RLENGTH - 1)
    }
    /strstr\(/ {
        check(within in readers,
            "line " NR ": " within " searches in a text: store what it looks for as data, or " \
              "list it as a reader of texts of other programs")
        searches[within] = 1
    }
    /^      Name after GPUEXEC_NO_ / { in_parts = 1; next }
    in_parts && /^ *$/ { in_parts = 0 }
    in_parts && /^      [A-Z]+ +[^ ]/ { described[$1] = 1 }
    /^#undef GPUEXEC_NO_/ { parts[substr($2, 12)] = 1 }
    /^    Version [0-9]/ { banner = $2; sub(/\.$/, "", banner) }
    /^#define GPUEXEC_VERSION_(MAJOR|MINOR|PATCH) / {
        version = version (version == "" ? "" : ".") $3
    }
    END {
        NR++
        close_section()
        check(listed_count >= 10, "CONTENTS: only " listed_count + 0 " tags found")
        check(listed_count == mark_count,
            "CONTENTS has " listed_count " tags, the file has " mark_count " marks")
        for (i = 1; i <= listed_count || i <= mark_count; i++)
            if (listed[i] != marks[i]) {
                check(0, "tag " i " of CONTENTS is \"" listed[i] "\", " \
                    "mark " i " is \"" marks[i] "\"")
                break
            }
        if (i > listed_count && i > mark_count) passed++
        for (tag in referenced) check(tag in known,
            "line " referenced[tag] " refers to >>" tag ", which is missing")
        check(longest <= 800, "section >>" longest_name " has " longest " lines, more than 800")
        for (f in readers) check(f in searches,
            f " does not search in a text any more: take it from the list")
        for (f in defined) functions++
        check(functions > 250, "only " functions " functions found")
        for (f in declared)
            check(!(f in defined) || declared[f] == defined[f],
                  ">>" declared[f] " calls " f " upward, which is in >>" defined[f])
        for (part in parts) {
            part_count++
            check(part in described, ">>options has no row for GPUEXEC_NO_" part)
        }
        for (part in described) check(part in parts, "GPUEXEC_CORE_ONLY keeps " part)
        check(part_count > 15, "only " part_count + 0 " parts can be omitted")
        check(banner != "" && banner == version,
            "the banner says version " banner ", the macros say " version)
        printf "suite contents: %d passed, %d failed, 0 skipped\n", passed, failed
        exit failed > 0
    }
' gpuexec.h
