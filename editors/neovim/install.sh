#!/bin/sh
# Puts charts into Neovim as a package: file type, colours, folds, the language server's settings. Needs a C compiler for the colours.
#
#     install.sh [FOLDER]
#
# FOLDER is the package's; ~/.local/share/nvim/site/pack/chartc/start/chartc without it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-${XDG_DATA_HOME:-$HOME/.local/share}/nvim/site/pack/chartc/start/chartc}
grammar=$here/../../grammar/tree-sitter

mkdir -p "$to/parser" "$to/queries/chart"
cp -R "$here/ftdetect" "$here/ftplugin" "$here/lsp" "$here/lua" "$here/plugin" "$to/"
cp "$grammar"/queries/*.scm "$to/queries/chart/"
if "${CC:-cc}" -O2 -shared -fPIC -I "$grammar/src" "$grammar/src/parser.c" "$grammar/src/scanner.c" -o "$to/parser/chart.so"; then
    echo "installed in $to"
else
    echo "installed in $to, but for the colours: these need a C compiler" >&2
    exit 1
fi
