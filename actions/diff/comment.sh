#!/usr/bin/env bash
# Writes a comment about the models that HEAD changes since BASE: comment.sh BASE FILE PATTERN...
#
# Patterns are those of Git. The file is empty if no model changed. Names of files are data: none is
# read by a shell or as Markdown.
set -euo pipefail
base=$1 file=$2
shift 2
[ $# -gt 0 ] || set -- '*.onnx' '*.xml' '*.pdmodel'
before=$(mktemp -d)/before
trap 'git worktree remove --force "$before" 2>/dev/null || true' EXIT
git worktree add --quiet --detach "$before" "$(git merge-base "$base" HEAD)"

# What a code block may not have.
fenced() {
    printf '```text\n%s\n```\n\n' "$(cat | tr -d '\r' | sed 's/`/'"'"'/g')"
}

changed() {
    git diff --name-only -z --no-renames --diff-filter="$1" "$base"...HEAD -- "${@:2}"
}

{
    while IFS= read -r -d '' model; do
        status=0
        gradus diff "$before/$model" "./$model" --format markdown 2>"$before.error" || status=$?
        if [ "$status" -gt 1 ]; then
            echo "A model cannot be compared with what it was:"
            fenced <"$before.error"
        fi
    done < <(changed M "$@")
    for kind in 'A New' 'D Removed'; do
        names=$(changed "${kind%% *}" "$@" | tr '\n\0' ' \n')
        if [ -n "$names" ]; then
            echo "${kind#* } models:"
            fenced <<<"$names"
        fi
    done
} >"$file.long"
# A comment has at most 65,536 letters.
head -c 60000 "$file.long" >"$file"
if [ "$(wc -c <"$file.long")" -gt 60000 ]; then
    printf '\n```\n\n</details>\n\nThe rest is left out: `gradus diff` shows it.\n' >>"$file"
fi
rm "$file.long"
