#!/usr/bin/env bash
# Writes a comment about the models that HEAD changes since BASE: comment.sh BASE FILE PATTERN...
#
# Patterns are those of Git. The file is empty if no model changed. Names of files are data: none is
# read by a shell or as Markdown.
set -euo pipefail
base=$1 file=$2
shift 2
[ $# -gt 0 ] || set -- '*.onnx' '*.xml' '*.pdmodel'
# A comment has at most 65,536 letters.
room=${GRADUS_COMMENT_BYTES:-60000}
scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/before" 2>/dev/null || true; rm -rf "$scratch"' EXIT
git worktree add --quiet --detach "$scratch/before" "$(git merge-base "$base" HEAD)"

# The input as a code block, without what ends one.
fenced() {
    printf '```text\n%s\n```\n\n' "$(tr -d '\r' | sed 's/`/'"'"'/g')"
}

changed() {
    git diff --name-only -z --no-renames --diff-filter="$1" "$base"...HEAD -- "${@:2}"
}

: >"$file"
left=0
# Adds a part to the comment, or counts it where there is no room for it.
add() {
    if [ $(($(wc -c <"$file") + $(wc -c <"$scratch/part"))) -le "$room" ]; then
        cat "$scratch/part" >>"$file"
    else
        left=$((left + 1))
    fi
}

while IFS= read -r -d '' model; do
    status=0
    gradus diff "$scratch/before/$model" "./$model" --format markdown >"$scratch/part" 2>"$scratch/error" || status=$?
    if [ "$status" -gt 1 ]; then
        { echo "A model cannot be compared with what it was:"; fenced <"$scratch/error"; } >"$scratch/part"
    fi
    add
done < <(changed M "$@")
for kind in 'A New' 'D Removed'; do
    names=$(changed "${kind%% *}" "$@" | tr '\n\0' ' \n')
    if [ -n "$names" ]; then
        { echo "${kind#* } models:"; fenced <<<"$names"; } >"$scratch/part"
        add
    fi
done
if [ "$left" -gt 0 ]; then
    echo "$left more parts have no room here: \`gradus diff\` shows them." >>"$file"
fi
