# Prints build/entry_points.h from the rows of entry points in gpuexec.h (GXI_DRIVER) and
# entry_points.rows. What includes it defines the macros of the rows that it needs:
#
#   HEADER_ROW(name, params, arguments)     each row of GXI_DRIVER; arguments: the names of the
#                                           parameters
#   DRIVER_ROW(name, version, symbol, suffix, params)      each entry point that the CPU device has;
#                                                          name: CUDA's
#   MISSING_ROW(name, version, symbol, suffix)             each that it lacks
#   MISSING_SYMBOL(symbol)                  the symbols of those, also with suffixes
#
# The n-th interface of an entry point has the symbol name_vn, the first one just the name. The
# suffix is that of the variant for per-thread default streams; it may be empty. tests/header/abi
# compares all of this with CUDA's headers.

# Calls on a stream have a variant with _ptsz; copies and fills without a stream, one with _ptds.
function suffix_of(name, params) {
    if (name ~ /^cu(StreamDestroy|LaunchGridAsync)$/) return ""
    if (params ~ /gxi_cu_stream stream/ ||
        name ~ /^cu(LaunchKernelEx|GraphInstantiateWithParams)$/) return "_ptsz"
    return name ~ /^cuMem(cpy|set)/ ? "_ptds" : ""
}
function symbol_of(i,    k, rank) {
    for (k = rank = 1; k <= rows; k++) if (name[k] == name[i] && version[k] < version[i]) rank++
    return name[i] (rank > 1 ? "_v" rank : "")
}
function names_of(params,    word, n, i, list) {
    n = params == "void" ? 0 : split(params, word, ",")
    for (i = 1; i <= n; i++) {
        sub(/.*[ *]/, "", word[i])
        list = list (i > 1 ? ", " : "") word[i]
    }
    return list
}
# A row is "need, name, version, (parameters)", a missing one "MISSING, name, version, suffix".
function read(row, in_header,    field, params, base) {
    if (match(row, /\(.*\)/)) {
        params = substr(row, RSTART + 1, RLENGTH - 2)
        row = substr(row, 1, RSTART - 1)
    }
    split(row, field, / *, */)
    base = field[2]
    if (in_header) print "HEADER_ROW(" base ", (" params "), (" names_of(params) "))"
    if (base !~ /^(cu|simgpu)/) return
    sub(/_[0-9]+$/, "", base)
    name[++rows] = base
    version[rows] = field[3] + 0
    missing[rows] = field[1] == "MISSING"
    list[rows] = params
    suffix[rows] = missing[rows] ? field[4] : suffix_of(base, params)
    if ((base, field[3]) in known || (params == "") != missing[rows] || params ~ /\(/) {
        print "entry_points.awk: " base ", " field[3] ": two rows, or not a row" >"/dev/stderr"
        failed = 1
    }
    known[base, field[3]] = 1
}
function read_all(in_header,    row, n, i) {
    gsub(/[ \t]+/, " ", text)
    n = split(text, row, /ROW\(/)
    for (i = 2; i <= n; i++) {
        sub(/\) *$/, "", row[i])
        read(row[i], in_header)
    }
    text = ""
    reading = 0
}

BEGIN {
    macros = split("HEADER_ROW DRIVER_ROW MISSING_ROW MISSING_SYMBOL", macro, " ")
    for (i = 1; i <= macros; i++) print "#ifndef " macro[i] "\n#define " macro[i] "(...)\n#endif"
}
/^#define GXI_DRIVER\(ROW\)/ { reading = 1; next }
/^ROW\(/ { reading = 1 }
reading { text = text $0 " " }
reading && FILENAME ~ /gpuexec\.h$/ { if (!sub(/\\ $/, "", text)) read_all(1) }
END {
    read_all(0)
    for (i = 1; i <= rows; i++) {
        symbol = symbol_of(i)
        entry = name[i] ", " version[i] ", " symbol ", " suffix[i]
        if (!missing[i]) print "DRIVER_ROW(" entry ", (" list[i] "))"
        else print "MISSING_ROW(" entry ") MISSING_SYMBOL(" symbol ")" \
            (suffix[i] == "" ? "" : " MISSING_SYMBOL(" symbol suffix[i] ")")
    }
    for (i = 1; i <= macros; i++) print "#undef " macro[i]
    exit failed
}
